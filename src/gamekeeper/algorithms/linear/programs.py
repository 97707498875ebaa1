"""Linear and integer programs over one component of open numbers, solved by HiGHS, with exact corners.

HiGHS calculates in floating point, so nothing it says is taken as it is. The numbers it returns are
rounded to fractions with a small denominator and put into every fact, in whole numbers. A bound is
calculated again from the duals, rounded to fractions with one denominator: any duals give a valid
bound (Neumaier and Shcherbina 2004). Only the verdict of an integer program that there is nothing
better has no such proof; it is believed where numbers are far from what tolerances could hide.

Programs with few rows at their limits, those with percentages, end in corners without a small
denominator. A corner is where some limits meet: each number that is not basic is at one of its
limits, each row that is not basic at one of its own, and the basic numbers follow from these rows.
The same equations, transposed, give the multiples of rows that prove the corner best. HiGHS tells
which limits they are; solving for them again in fractions needs none of its digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import NO_LIMIT, FactComponent, LinearFacts, verified
from gamekeeper.algorithms.linear_programs import DUAL, PRIMAL, program_by_rows, silent_solver

Integers = NDArray[np.int64]
_MOST_BASIC = 400
_MOST_STEPS = 400_000

Row = dict[int, Fraction]


def exact_corner(
    facts: LinearFacts, columns: Sequence[str], rows: Sequence[str], free: Sequence[int]
) -> list[Fraction] | None:
    """Return the numbers of a corner; None where they are too many, or it is no corner.

    Each number and row is at its "lower" or "upper" limit, or "basic", or "free"; `free` has what a
    number that is "free" is taken to be.

    Examples
    --------
    >>> facts = LinearFacts.of([(0, 9), (0, 9)], [({0: 3, 1: 1}, 5, 5)], whole=False)
    >>> exact_corner(facts, ["basic", "lower"], ["lower"], [0, 0])
    [Fraction(5, 3), Fraction(0, 1)]
    """
    place, active = _basic(columns, rows)
    if len(place) != len(active) or len(place) > _MOST_BASIC:
        return None
    found = [Fraction(0)] * len(columns)
    for number, own in enumerate(columns):
        if own != "basic":
            limit = {"lower": facts.lower, "upper": facts.upper}.get(own)
            found[number] = Fraction(int(free[number] if limit is None else limit[number]))
    system: list[tuple[Row, Fraction]] = []
    for row in active:
        left = Fraction(int((facts.low if rows[row] == "lower" else facts.high)[row]))
        own_row: Row = {}
        for number, factor in facts.row(row).items():
            if number in place:
                own_row[place[number]] = Fraction(factor)
            else:
                left -= factor * found[number]
        system.append((own_row, left))
    solved = _solve(system, len(place))
    if solved is None:
        return None
    for number, at in place.items():
        found[number] = solved[at]
    return found


def exact_multiples(
    facts: LinearFacts, columns: Sequence[str], rows: Sequence[str], target: int
) -> dict[int, Fraction] | None:
    """Return the multiples of the rows at their limits that make up a number of a corner.

    Examples
    --------
    >>> facts = LinearFacts.of([(0, 9), (0, 9)], [({0: 3, 1: 1}, 5, 5)], whole=False)
    >>> exact_multiples(facts, ["basic", "lower"], ["lower"], 0)
    {0: Fraction(1, 3)}
    """
    place, active = _basic(columns, rows)
    if len(place) != len(active) or len(place) > _MOST_BASIC:
        return None
    system: list[tuple[Row, Fraction]] = [({}, Fraction(int(n == target))) for n in place]
    for at, row in enumerate(active):
        for number, factor in facts.row(row).items():
            if number in place:
                system[place[number]][0][at] = Fraction(factor)
    solved = _solve(system, len(active))
    if solved is None:
        return None
    return {row: times for row, times in zip(active, solved, strict=True) if times}


def _basic(columns: Sequence[str], rows: Sequence[str]) -> tuple[dict[int, int], list[int]]:
    """Return the place of each basic number among them, and the rows at one of their limits."""
    basic = [number for number, own in enumerate(columns) if own == "basic"]
    active = [row for row, own in enumerate(rows) if own in ("lower", "upper")]
    return {number: at for at, number in enumerate(basic)}, active


def _solve(system: list[tuple[Row, Fraction]], n: int) -> list[Fraction] | None:
    """Return the solution of equations, None where there is not exactly one or it takes too long."""
    waiting = [(dict(row), value) for row, value in system]
    done: list[tuple[int, Row, Fraction]] = []
    steps = 0
    while waiting:
        waiting.sort(key=lambda one: -len(one[0]))
        row, value = waiting.pop()
        if not row:
            return None
        pivot = min(row, key=lambda at: (sum(at in other for other, _ in waiting), at))
        inverse = 1 / row.pop(pivot)
        row = {at: factor * inverse for at, factor in row.items()}
        value *= inverse
        done.append((pivot, row, value))
        for at, (other, own) in enumerate(waiting):
            times: Any = other.pop(pivot, None)
            if times is None:
                continue
            steps += len(row) + 1
            for number, factor in row.items():
                left = other.get(number, Fraction(0)) - times * factor
                if left:
                    other[number] = left
                else:
                    other.pop(number, None)
            waiting[at] = other, own - times * value
        if steps > _MOST_STEPS:
            return None
    if len(done) != n:
        return None
    found = [Fraction(0)] * n
    for pivot, row, value in reversed(done):
        found[pivot] = value - sum((f * found[at] for at, f in row.items()), Fraction(0))
    return found


_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 5040)
_LAST_DENOMINATOR = 2**30
_TIMES = (1, 2, 3, 4, 6, 12, 60)
_BELIEVED = 2**20
_MOST_BITS = 2_000
_SLICE = 0.5
"""Seconds after which a program asks whether to go on."""

Watch = Callable[[], bool]
"""Tells whether the work is to stop; it may raise `Cancelled`."""


def _never() -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Solved:
    """What a program found.

    - `bound`: a proven bound of the number, None where nothing is proven.
    - `duals`: the multiples of rows that prove it.
    - `point`, `times`: numbers that satisfy every fact, each `times` too large; None where there
      are none exact.
    - `is_empty`: whether it is proven that nothing satisfies the facts.
    - `is_endless`: whether the program found no limit.
    """

    bound: Fraction | None = None
    duals: dict[int, Fraction] | None = None
    point: NDArray[Any] | None = None
    times: int = 1
    is_empty: bool = False
    is_endless: bool = False


class FactProgram:
    """The persistent relaxation of a component, and integer programs over it."""

    def __init__(self, component: FactComponent, watch: Watch = _never) -> None:
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

    def relaxed(self, numbers: Integers, sign: int, *, cap: int | None = None) -> Solved:
        """Minimise `sign` times the sum of some numbers over real numbers; bound it if it is one."""
        import highspy

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
        if point is None and cap is None and not self.facts.whole:
            point, times = self._corner()
        if len(numbers) != 1 or cap is not None:
            return Solved(point=point, times=times)
        number = int(numbers[0])
        found = self._bound(number, sign, np.array(solution.row_dual))
        value = None if point is None else Fraction(int(point[number]), times)
        if not self.facts.whole and (found is None or found[0] != value):
            # Rounding lost the corner or its proof.
            found = self._proven(number, sign) or found
            exact, larger = self._corner()
            point, times = (point, times) if exact is None else (exact, larger)
        bound, duals = found or (None, None)
        return Solved(bound, duals, point, times)

    def whole(self, number: int, sign: int, low: int, high: int, seconds: float | None) -> Solved:
        """Minimise `sign` times a whole number within limits, over whole numbers."""
        import highspy

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
        if point is None or status != statuses.kOptimal or not is_believed:
            return Solved(point=point)
        return Solved(Fraction(int(point[number])), None, point)

    def _solver_limits(self, number: int) -> tuple[float, float]:
        import highspy

        low, high = int(self.facts.lower[number]), int(self.facts.upper[number])
        base = int(self._base[number])
        return (
            -highspy.kHighsInf if low <= -NO_LIMIT else (low - base) / self.facts.scale,
            highspy.kHighsInf if high >= NO_LIMIT else (high - base) / self.facts.scale,
        )

    def _model(self) -> Any:
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

    def _set_costs(self, numbers: Integers, sign: int) -> None:
        before = np.flatnonzero(self._costs)
        self._costs[before] = 0
        self._costs[numbers] = sign
        changed = np.union1d(before, numbers)
        if len(changed):
            self._highs.changeColsCost(len(changed), changed.astype(np.int32), self._costs[changed])

    def _point(self, vertex: NDArray[np.float64]) -> tuple[NDArray[Any] | None, int]:
        for times in (1,) if self.facts.whole else _TIMES:
            rounded = np.rint(vertex * (self.facts.scale * times))
            if np.abs(rounded).max(initial=0) > 2.0**62:
                return None, 1
            made = self._base.astype(object) * times + rounded.astype(np.int64).astype(object)
            if self.facts.admits(made, times):
                return made, times
        return None, 1

    def _statuses(self) -> tuple[list[str], list[str]] | None:
        """Return the limit that each number and each row is at, where the solver tells."""
        import highspy

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

    def _corner(self) -> tuple[NDArray[Any] | None, int]:
        """Return the numbers of the last program's corner, exact whatever their denominators."""
        told = self._statuses()
        found = None if told is None else exact_corner(self.facts, *told, self._base.tolist())
        if found is None:
            return None, 1
        times = math.lcm(*(own.denominator for own in found))
        if times.bit_length() > _MOST_BITS:
            return None, 1
        made = np.array([int(own * times) for own in found], object)
        return (made, times) if self.facts.admits(made, times) else (None, 1)

    def _proven(self, number: int, sign: int) -> tuple[Fraction, dict[int, Fraction]] | None:
        """Return the bound that the last program's corner proves."""
        told = self._statuses()
        rows = None if told is None else exact_multiples(self.facts, *told, number)
        found = None if rows is None else verified(self.facts, number, rows, is_upper=sign < 0)
        return None if found is None else (found.bound, dict(found.rows))

    def _bound(
        self, number: int, sign: int, duals: NDArray[np.float64]
    ) -> tuple[Fraction, dict[int, Fraction]] | None:
        """Return the bound of a number that duals prove, and how many times each row is taken."""
        if not np.all(np.isfinite(duals)):
            return None
        denominator = next(
            (d for d in _DENOMINATORS if np.all(np.abs(duals * d - np.rint(duals * d)) < 1e-6 * d)),
            _LAST_DENOMINATOR,
        )
        taken = _taken(duals * denominator * sign)
        total = self._total(taken, {number: denominator}, is_upper=sign < 0)
        if total is None:
            return None
        rows = {row: Fraction(times, denominator) for row, times in taken.items()}
        return Fraction(total, denominator), rows

    def _total(self, taken: dict[int, int], left: dict[int, int], *, is_upper: bool) -> int | None:
        """Return the limit of rows taken so many times and of what they leave of some numbers.

        None where a limit that it takes is not there.
        """
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
        if any(abs(limit) >= NO_LIMIT for _, limit in found):
            return None
        return sum(times * limit for times, limit in found)

    def _empty(self) -> Solved:
        """Look for a proof that nothing satisfies the facts."""
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

    def _contradicts(self, ray: NDArray[np.float64]) -> bool:
        """Whether rows taken so many times are above 0 whatever the numbers are, and must be 0."""
        for denominator in (*_DENOMINATORS, _LAST_DENOMINATOR):
            total = self._total(_taken(ray * denominator), {}, is_upper=False)
            if total is not None and total > 0:
                return True
        return False


def _taken(multiples: NDArray[np.float64]) -> dict[int, int]:
    whole = np.rint(multiples).astype(np.int64)
    chosen = np.flatnonzero(whole)
    return dict(zip(chosen.tolist(), whole[chosen].tolist(), strict=True))


def _scaled(limits: Integers, known: NDArray[Any], scale: int) -> NDArray[np.float64]:
    import highspy

    found = np.array(
        [float(int(limit) - int(own)) for limit, own in zip(limits, known, strict=True)]
    )
    found = found / scale if len(found) else np.zeros(0)
    found[limits >= NO_LIMIT] = highspy.kHighsInf
    found[limits <= -NO_LIMIT] = -highspy.kHighsInf
    return found


def _run(highs: Any, watch: Watch) -> Any:
    """Run, and once more from scratch unless a warm start ended well; return the status.

    Every now and then it asks whether to go on, and if so, goes on from where it was.
    """
    import highspy

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


def _run_watched(highs: Any, watch: Watch) -> None:
    """Run an integer program, which cannot go on from where it was, until it ends or is stopped."""
    from gamekeeper.errors import Cancelled

    stopped: list[Cancelled] = []

    def look(event: Any) -> None:
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
