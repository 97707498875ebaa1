"""An older way to the bounds of numbers by linear facts, kept to compare: two programs for each."""

# pyright: basic

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.components import connected
from gamekeeper.algorithms.linear.elimination import exact_corner, exact_multiples
from gamekeeper.algorithms.linear.facts import (
    NO_LIMIT,
    LinearFacts,
    NoNumbersError,
    verified,
)
from gamekeeper.algorithms.linear_programs import DUAL, PRIMAL, program_by_rows, silent_solver
from gamekeeper.errors import Cancelled

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FactComponent:
    numbers: Integers
    rows: Integers
    facts: LinearFacts


def components(facts, lower, upper, wanted):
    is_open = lower < upper
    entry_open = is_open[facts.members]
    rows, numbers = (facts.entry_rows[entry_open], facts.members[entry_open])
    of_row, of_number = connected(numbers, rows, len(lower), facts.n_rows)
    chosen = np.unique(of_number[wanted[is_open[wanted]]])
    has_open = np.bincount(rows, minlength=facts.n_rows) > 0
    own_rows = _by_label(np.where(has_open, of_row, -1), chosen)
    own_numbers = _by_label(np.where(is_open, of_number, -1), chosen)
    return [
        _component(facts, lower, upper, *own) for own in zip(own_numbers, own_rows, strict=True)
    ]


def _by_label(labels, chosen):
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    for first, last in zip(
        np.searchsorted(ordered, chosen), np.searchsorted(ordered, chosen + 1), strict=True
    ):
        yield order[first:last]


def _component(facts, lower, upper, numbers, rows):
    place = np.full(len(lower), -1, np.int64)
    place[numbers] = np.arange(len(numbers))
    lengths = np.diff(facts.starts)[rows]
    at = np.repeat(facts.starts[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    at = at + np.arange(len(at))
    of = np.repeat(np.arange(len(rows)), lengths)
    members, factors = (facts.members[at], facts.factors[at])
    inside = place[members] >= 0
    known = np.zeros(len(rows), object)
    np.add.at(known, of[~inside], factors[~inside].astype(object) * lower[members[~inside]])
    low = _less(facts.low[rows], known)
    high = _less(facts.high[rows], known)
    starts = np.concatenate([[0], np.cumsum(np.bincount(of[inside], minlength=len(rows)))])
    own = LinearFacts(
        lower[numbers],
        upper[numbers],
        starts.astype(np.int64),
        place[members[inside]],
        factors[inside],
        low,
        high,
        facts.whole,
        facts.scale,
    )
    return FactComponent(numbers, rows, own)


def _less(limits, known):
    endless = np.abs(limits) >= NO_LIMIT
    return np.where(
        endless, limits, np.clip(limits.astype(object) - known, -NO_LIMIT, NO_LIMIT)
    ).astype(np.int64)


_MOST_SWEEPS = 200

_MOST_ROWS_OF_PROOF = 20000

_SAFE = 2**61


@dataclass(eq=False, repr=False)
class Limits:
    facts: LinearFacts
    lower: Integers
    upper: Integers
    steps: list[tuple[Integers, bool, Integers, Integers]] = field(
        default_factory=list[tuple[Integers, bool, Integers, Integers]]
    )
    _tracer: _Tracer | None = None

    def proof(self, target, *, is_upper):
        rows = self.traced(target, is_upper=is_upper)
        return None if rows is None else verified(self.facts, target, rows, is_upper=is_upper)

    def traced(self, target, *, is_upper):
        if self._tracer is None:
            self._tracer = _Tracer(self)
        return self._tracer.rows(target, is_upper=is_upper)


def propagate(facts):
    limits = Limits(facts, facts.lower.copy(), facts.upper.copy())
    if np.any(limits.lower > limits.upper):
        raise NoNumbersError
    rows = np.flatnonzero(np.diff(facts.starts) > 0)
    empty = np.flatnonzero(np.diff(facts.starts) == 0)
    if np.any((facts.low[empty] > 0) | (facts.high[empty] < 0)):
        raise NoNumbersError(empty[(facts.low[empty] > 0) | (facts.high[empty] < 0)].tolist())
    if not len(rows):
        return limits
    entries = _Entries(facts, rows)
    for _ in range(_MOST_SWEEPS):
        changed = False
        for is_upper in (True, False):
            changed |= _sweep(limits, entries, is_upper=is_upper)
        if not changed:
            break
    return limits


class _Entries:
    def __init__(self, facts, rows):
        finite = [
            np.abs(own[np.abs(own) < NO_LIMIT]).max(initial=0)
            for own in (facts.lower, facts.upper, facts.low, facts.high)
        ]
        longest = int(np.diff(facts.starts).max(initial=1))
        largest = int(np.abs(facts.factors).max(initial=1))
        is_safe = max(map(int, finite)) * largest * longest < _SAFE
        self.kind: Any = np.int64 if is_safe else object
        self.rows = rows
        self.starts = facts.starts[rows]
        self.lengths = np.diff(facts.starts)[rows]
        self.members = facts.members
        self.factors = facts.factors.astype(self.kind)
        self.is_positive = facts.factors > 0
        self.of_entry = np.repeat(np.arange(len(rows)), self.lengths)
        self.whole = facts.whole


def _sweep(limits, entries, *, is_upper):
    facts = limits.facts
    members = entries.members
    before = limits.upper if is_upper else limits.lower
    found: list[tuple[Integers, Integers, Integers]] = []
    for from_high in (True, False):
        wanted = entries.is_positive == (is_upper == from_high)
        least = np.where(
            entries.is_positive == from_high, limits.lower[members], limits.upper[members]
        )
        endless = np.abs(least) >= NO_LIMIT
        value = np.where(endless, 0, least).astype(entries.kind) * entries.factors
        total = np.add.reduceat(value, entries.starts)
        n_endless = np.add.reduceat(endless.astype(np.int64), entries.starts)
        row_limit = (facts.high if from_high else facts.low)[entries.rows]
        of = entries.of_entry
        if from_high:
            broken = (n_endless == 0) & (row_limit < NO_LIMIT) & (total > row_limit)
        else:
            broken = (n_endless == 0) & (row_limit > -NO_LIMIT) & (total < row_limit)
        if np.any(broken):
            raise NoNumbersError(entries.rows[broken].tolist())
        others = n_endless[of] - endless
        usable = wanted & (others == 0) & (np.abs(row_limit) < NO_LIMIT)[of]
        at = np.flatnonzero(usable)
        if not len(at):
            continue
        room = row_limit.astype(entries.kind)[of[at]] - (total[of[at]] - value[at])
        factor = entries.factors[at]
        up = -(-room // factor)
        down = room // factor
        implied = (down if entries.whole else up) if is_upper else up if entries.whole else down
        own = members[at]
        if entries.kind is object:
            implied = np.array([max(-NO_LIMIT, min(NO_LIMIT, one)) for one in implied], np.int64)
        better = implied < before[own] if is_upper else implied > before[own]
        found.append((own[better], implied[better], entries.rows[of[at]][better]))
    if not found:
        return False
    numbers, values, rows = (np.concatenate([part[k] for part in found]) for k in range(3))
    if not len(numbers):
        return False
    order = np.lexsort((rows, values if is_upper else -values, numbers))
    first = np.concatenate([[True], numbers[order][1:] != numbers[order][:-1]])
    best = order[first]
    who = numbers[best]
    limits.steps.append((who, is_upper, rows[best], before[who].copy()))
    before[who] = values[best]
    if np.any(limits.lower > limits.upper):
        wrong = np.flatnonzero(limits.lower > limits.upper)
        raise NoNumbersError(sorted(set(rows[best][np.isin(who, wrong)].tolist())))
    return True


class _Tracer:
    def __init__(self, limits):
        self._facts = limits.facts
        self._history: dict[tuple[int, bool], list[tuple[int, int]]] = {}
        for time, (who, is_upper, rows, _) in enumerate(limits.steps):
            for number, row in zip(who.tolist(), rows.tolist(), strict=True):
                self._history.setdefault((number, is_upper), []).append((time, row))
        self._known: dict[tuple[int, bool, int], dict[int, Fraction] | None] = {}

    def rows(self, target, *, is_upper):
        wanted = self._at(target, is_upper, NO_LIMIT)
        waiting = [wanted]
        while waiting:
            number, side, time = waiting[-1]
            if waiting[-1] in self._known:
                waiting.pop()
                continue
            if time < 0:
                self._known[waiting.pop()] = {}
                continue
            row = next((row for at, row in self._history[number, side] if at == time))
            needed = self._needed(number, side, time, row)
            missing = [one for one, _ in needed if one not in self._known]
            if missing:
                waiting += missing
                continue
            self._known[waiting.pop()] = self._combined(number, row, needed)
        return self._known[wanted]

    def _at(self, number, is_upper, before):
        times = [time for time, _ in self._history.get((number, is_upper), ()) if time < before]
        return (number, is_upper, times[-1] if times else -1)

    def _needed(self, number, is_upper, time, row):
        own = self._facts.row(row)
        factor = own[number]
        found: list[tuple[tuple[int, bool, int], Fraction]] = []
        for member, times in own.items():
            if member != number:
                ratio = Fraction(-times, factor)
                side = is_upper if ratio > 0 else not is_upper
                found.append((self._at(member, side, time), ratio))
        return found

    def _combined(self, number, row, needed):
        found = {row: Fraction(1, self._facts.row(row)[number])}
        for one, ratio in needed:
            below = self._known[one]
            if below is None:
                return None
            for other, times in below.items():
                found[other] = found.get(other, Fraction(0)) + ratio * times
        if len(found) > _MOST_ROWS_OF_PROOF:
            return None
        return found


_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 5040)

_LAST_DENOMINATOR = 2**30

_TIMES = (1, 2, 3, 4, 6, 12, 60)

_BELIEVED = 2**20

_MOST_BITS = 2000

_SLICE = 0.5

Watch = Callable[[], bool]


def _never():
    return False


@dataclass(frozen=True, eq=False)
class Solved:
    bound: Fraction | None = None
    duals: dict[int, Fraction] | None = None
    point: NDArray[Any] | None = None
    times: int = 1
    is_empty: bool = False
    is_endless: bool = False


class FactProgram:
    def __init__(self, component, watch=_never):
        self.facts = component.facts
        self._watch = watch
        facts = self.facts
        finite = np.where(
            facts.lower > -NO_LIMIT, facts.lower, np.where(facts.upper < NO_LIMIT, facts.upper, 0)
        )
        self._base = finite
        self._known = facts.sums(finite.astype(object))
        self._highs = silent_solver(presolve="off", simplex_strategy=PRIMAL)
        self._highs.passModel(self._model())
        self._costs = np.zeros(len(finite))

    def relaxed(self, numbers, sign, *, cap=None):
        statuses = highspy.HighsModelStatus
        self._set_costs(numbers, sign)
        if cap is None:
            status = _run(self._highs, self._watch)
        else:
            (one,) = numbers.tolist()
            low, high = self._solver_limits(one)
            self._highs.changeColBounds(one, low, float(cap) / self.facts.scale)
            try:
                status = _run(self._highs, self._watch)
            finally:
                self._highs.changeColBounds(one, low, high)
        if status == statuses.kInfeasible:
            return self._empty()
        if status in (statuses.kUnbounded, statuses.kUnboundedOrInfeasible):
            return Solved(is_endless=True)
        if status != statuses.kOptimal:
            return Solved()
        solution = self._highs.getSolution()
        point, times = self._point(np.array(solution.col_value))
        if point is None and cap is None and (not self.facts.whole):
            point, times = self._corner()
        if len(numbers) != 1 or cap is not None:
            return Solved(point=point, times=times)
        number = int(numbers[0])
        found = self._bound(number, sign, np.array(solution.row_dual))
        value = None if point is None else Fraction(int(point[number]), times)
        if not self.facts.whole and (found is None or found[0] != value):
            found = self._proven(number, sign) or found
            exact, larger = self._corner()
            point, times = (point, times) if exact is None else (exact, larger)
        bound, duals = found or (None, None)
        return Solved(bound, duals, point, times)

    def whole(self, number, sign, low, high, seconds):
        facts = self.facts
        statuses = highspy.HighsModelStatus
        highs = silent_solver(mip_rel_gap=0.0, mip_abs_gap=0.5)
        if seconds is not None:
            highs.setOptionValue("time_limit", max(seconds, 0.01))
        model = self._model()
        costs = np.zeros(len(self._base))
        costs[number] = sign
        model.col_cost_ = costs
        model.integrality_ = [highspy.HighsVarType.kInteger] * len(self._base)
        highs.passModel(model)
        base = int(self._base[number])
        highs.changeColBounds(number, float(low - base), float(high - base))
        _run_watched(highs, self._watch)
        status = highs.getModelStatus()
        spans = np.where(facts.upper < NO_LIMIT, facts.upper - self._base, _BELIEVED + 1)
        is_believed = bool(spans.max(initial=0) <= _BELIEVED)
        if status == statuses.kInfeasible:
            return Solved(is_empty=is_believed)
        solution = highs.getSolution()
        if not solution.value_valid:
            return Solved()
        point, _ = self._point(np.array(solution.col_value))
        if point is None or status != statuses.kOptimal or (not is_believed):
            return Solved(point=point)
        return Solved(Fraction(int(point[number])), None, point)

    def _solver_limits(self, number):
        low, high = (int(self.facts.lower[number]), int(self.facts.upper[number]))
        base = int(self._base[number])
        return (
            -highspy.kHighsInf if low <= -NO_LIMIT else (low - base) / self.facts.scale,
            highspy.kHighsInf if high >= NO_LIMIT else (high - base) / self.facts.scale,
        )

    def _model(self):
        facts = self.facts
        return program_by_rows(
            (
                _scaled(facts.lower, self._base, facts.scale),
                _scaled(facts.upper, self._base, facts.scale),
            ),
            (
                _scaled(facts.low, self._known, facts.scale),
                _scaled(facts.high, self._known, facts.scale),
            ),
            facts.starts,
            facts.members,
            facts.factors,
        )

    def _set_costs(self, numbers, sign):
        before = np.flatnonzero(self._costs)
        self._costs[before] = 0
        self._costs[numbers] = sign
        changed = np.union1d(before, numbers)
        if len(changed):
            self._highs.changeColsCost(len(changed), changed.astype(np.int32), self._costs[changed])

    def _point(self, vertex):
        for times in (1,) if self.facts.whole else _TIMES:
            rounded = np.rint(vertex * (self.facts.scale * times))
            if np.abs(rounded).max(initial=0) > 2.0**62:
                return (None, 1)
            made = self._base.astype(object) * times + rounded.astype(np.int64).astype(object)
            if self.facts.admits(made, times):
                return (made, times)
        return (None, 1)

    def _statuses(self):
        kinds = highspy.HighsBasisStatus
        names = {
            kinds.kLower: "lower",
            kinds.kUpper: "upper",
            kinds.kBasic: "basic",
            kinds.kZero: "free",
        }
        basis = self._highs.getBasis()
        if not basis.valid:
            return None
        columns, rows = (
            [names.get(one, "") for one in own] for own in (basis.col_status, basis.row_status)
        )
        return None if "" in columns or "" in rows else (columns, rows)

    def _corner(self):
        told = self._statuses()
        found = None if told is None else exact_corner(self.facts, *told, self._base.tolist())
        if found is None:
            return (None, 1)
        times = math.lcm(*(own.denominator for own in found))
        if times.bit_length() > _MOST_BITS:
            return (None, 1)
        made = np.array([int(own * times) for own in found], object)
        return (made, times) if self.facts.admits(made, times) else (None, 1)

    def _proven(self, number, sign):
        told = self._statuses()
        rows = None if told is None else exact_multiples(self.facts, *told, number)
        found = None if rows is None else verified(self.facts, number, rows, is_upper=sign < 0)
        return None if found is None else (found.bound, dict(found.rows))

    def _bound(self, number, sign, duals):
        if not np.all(np.isfinite(duals)):
            return None
        denominator = next(
            (
                d
                for d in _DENOMINATORS
                if np.all(np.abs(duals * d - np.rint(duals * d)) < 1e-06 * d)
            ),
            _LAST_DENOMINATOR,
        )
        taken = _taken(duals * denominator * sign)
        total = self._total(taken, {number: denominator}, is_upper=sign < 0)
        if total is None:
            return None
        rows = {row: Fraction(times, denominator) for row, times in taken.items()}
        return (Fraction(total, denominator), rows)

    def _total(self, taken, left, *, is_upper):
        facts = self.facts
        limits: list[tuple[int, Integers, int]] = []
        for row, times in taken.items():
            limits.append((times, facts.high if (times > 0) == is_upper else facts.low, row))
            for member, factor in facts.row(row).items():
                left[member] = left.get(member, 0) - times * factor
        for member, times in left.items():
            if times:
                side = facts.upper if (times > 0) == is_upper else facts.lower
                limits.append((times, side, member))
        found = [(times, int(side[at])) for times, side, at in limits]
        if any((abs(limit) >= NO_LIMIT for _, limit in found)):
            return None
        return sum((times * limit for times, limit in found))

    def _empty(self):
        highs = silent_solver(presolve="off", simplex_strategy=DUAL)
        highs.passModel(self._model())
        highs.run()
        _, exists, ray = highs.getDualRay()
        if not exists:
            return Solved()
        size = np.abs(ray).max(initial=0.0)
        if not np.isfinite(size) or size == 0:
            return Solved()
        return Solved(
            is_empty=any(self._contradicts(sign * np.array(ray) / size) for sign in (1, -1))
        )

    def _contradicts(self, ray):
        for denominator in (*_DENOMINATORS, _LAST_DENOMINATOR):
            total = self._total(_taken(ray * denominator), {}, is_upper=False)
            if total is not None and total > 0:
                return True
        return False


def _taken(multiples):
    whole = np.rint(multiples).astype(np.int64)
    chosen = np.flatnonzero(whole)
    return dict(zip(chosen.tolist(), whole[chosen].tolist(), strict=True))


def _scaled(limits, known, scale):
    found = np.array(
        [float(int(limit) - int(own)) for limit, own in zip(limits, known, strict=True)]
    )
    found = found / scale if len(found) else np.zeros(0)
    found[limits >= NO_LIMIT] = highspy.kHighsInf
    found[limits <= -NO_LIMIT] = -highspy.kHighsInf
    return found


def _run(highs, watch):
    statuses = highspy.HighsModelStatus
    for again in (False, True):
        if again:
            highs.clearSolver()
        while True:
            highs.setOptionValue("time_limit", highs.getRunTime() + _SLICE)
            highs.run()
            if highs.getModelStatus() != statuses.kTimeLimit:
                break
            if watch():
                return statuses.kTimeLimit
        if highs.getModelStatus() == statuses.kOptimal:
            break
    return highs.getModelStatus()


def _run_watched(highs, watch):
    stopped: list[Cancelled] = []

    def look(event):
        try:
            if stopped or watch():
                event.interrupt()
        except Cancelled as error:
            stopped.append(error)
            event.interrupt()

    highs.cbMipInterrupt.subscribe(look)
    highs.run()
    if stopped:
        raise stopped[0]
