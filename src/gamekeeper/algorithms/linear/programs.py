"""Linear and integer programs over one component of open numbers, and what of them is proven.

The relaxation is one model that is kept: only the objective changes, and the primal simplex method
starts from the last vertex (after a change of objective the dual method, HiGHS' own choice, was
measured to take 40 times as long).

What is exact. HiGHS calculates in floating point, so nothing it says is taken as it is. The numbers
it returns are rounded, those that need not be whole to fractions with a small denominator, and put
into every fact in whole numbers. A bound is calculated again in whole numbers from the duals, rounded
to fractions with one denominator: any duals give a valid bound (Neumaier and Shcherbina 2004), and as
a bound of a whole number may be rounded up, a small loss costs nothing. The same holds for a proof
that there is nothing. Where rounding loses a corner of real numbers or its proof, both are solved for
again (`elimination`). Only the verdict of an integer program that there is nothing better has no such
proof. It is believed where all numbers have at most 2**20 values, far from where HiGHS' tolerances of
1e-6 and the precision of floats could hide a solution, and reported as unproven otherwise.

Branching has a proof throughout. At each node the limits of the numbers are propagated and a linear
program gives a vertex. Where it is fractional, a number is split at the fraction, the nearer side
first: every side that is given up was refuted by propagation or by a certificate checked in whole
numbers, until a solution is found or there is none. Exponential in the worst case, hence the limit of
nodes. On the Rochdale table from its 2-way margins a search took some 50 nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms import linear_programs
from gamekeeper.algorithms.linear.components import Component, SearchLimits
from gamekeeper.algorithms.linear.elimination import exact_corner, exact_multiples
from gamekeeper.algorithms.linear.facts import NO_LIMIT, Integers, LinearFacts, row_sums, verified

Floats = NDArray[np.float64]
# The first that fits the duals is taken: small ones keep the numbers small and the bound exact.
_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 5040)
_LAST_DENOMINATOR = 2**30
_TIMES = (1, 2, 3, 4, 6, 12, 60)
_BELIEVED = 2**20
_MOST_BITS = 2_000
_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Multiples:
    """How many times rows are taken to prove a bound, each so many times too often."""

    rows: Integers
    taken: tuple[int, ...]
    denominator: int

    def by_row(self, sign: int) -> dict[int, Fraction]:
        """Return the rows and how many times each is taken, or the opposite."""
        return {
            row: Fraction(sign * times, self.denominator)
            for row, times in zip(self.rows.tolist(), self.taken, strict=True)
        }


@dataclass(frozen=True, eq=False)
class Solved:
    """What a program found.

    - `bound`: a proven lower bound of the objective, None where nothing is proven; `multiples` of
      rows prove it, where they could be kept.
    - `vertex`: the solution in floating point; `point`: numbers that satisfy every fact, each `times`
      too large, where it is that.
    - `is_empty`: whether it is proven that there is no solution.
    - `is_endless`: whether the objective has no limit.
    - `nodes`: how many nodes of branching it took.
    """

    bound: Fraction | None = None
    multiples: Multiples | None = None
    vertex: Floats | None = None
    point: NDArray[Any] | None = None
    times: int = 1
    is_empty: bool = False
    is_endless: bool = False
    nodes: int = 0


class Program:
    """The persistent relaxation of a component, and integer programs over it."""

    def __init__(self, part: Component, watch: linear_programs.Watch | None = None) -> None:
        self._part, self._facts, self._watch = part, part.facts, watch
        facts = self._facts
        # Models are stated in numbers above this one, so that they are small.
        self._base = np.where(
            facts.lower > -NO_LIMIT, facts.lower, np.where(facts.upper < NO_LIMIT, facts.upper, 0)
        )
        self._far_base = _far_from_end(self._base)
        self._far_known = _far_from_end(facts.sums(self._base))
        self._costs = np.zeros(len(self._base), np.int64)
        self._highs = linear_programs.silent_solver(
            presolve="off", simplex_strategy=linear_programs.PRIMAL
        )
        self._highs.passModel(self._model(facts, facts.n_rows))
        self._branches: Any = None
        # A sum of one number is bounded through the number; rows are needed for longer ones alone.
        self._n_branched = facts.n_rows if part.is_single.all() else part.system.n_rows

    def relaxed(self, members: Integers, sign: int, *, cap: int | None = None) -> Solved:
        """Minimise `sign` times the sum of some numbers over real numbers, perhaps with one capped."""
        self._set_costs(members, sign)
        if cap is None:
            status = linear_programs.run(self._highs, self._watch)
        else:
            (one,) = members.tolist()
            low, high = (
                float(own[one]) for own in self._columns(self._facts.lower, self._facts.upper)
            )
            self._highs.changeColBounds(one, low, float(cap) / self._facts.scale)
            try:
                status = linear_programs.run(self._highs, self._watch)
            finally:
                self._highs.changeColBounds(one, low, high)
        if status is linear_programs.Status.EMPTY:
            return self.within(self._part.limits())
        if status in (linear_programs.Status.ENDLESS, linear_programs.Status.EMPTY_OR_ENDLESS):
            return Solved(is_endless=True)
        if status is not linear_programs.Status.OPTIMAL:
            return Solved()
        solution = self._highs.getSolution()
        vertex = np.array(solution.col_value)
        point, times = self._point(vertex)
        if point is None and cap is None and not self._facts.whole:
            point, times = self._corner()
        if cap is not None or not len(members):
            return Solved(vertex=vertex, point=point, times=times)
        bound, multiples = self._bound(np.array(solution.row_dual))
        if not self._facts.whole and len(members) == 1:
            value = None if point is None else Fraction(sign * int(point[members[0]]), times)
            if bound is None or bound != value:
                # Rounding lost the corner or its proof.
                bound, multiples = self._proven(int(members[0]), sign) or (bound, multiples)
                exact, larger = self._corner()
                point, times = (point, times) if exact is None else (exact, larger)
        return Solved(bound, multiples, vertex, point, times)

    def whole(
        self,
        place: int | None,
        sign: int,
        low: int,
        high: int,
        seconds: float | None = None,
        max_nodes: int | None = None,
    ) -> Solved:
        """Minimise `sign` times a sum over whole numbers for which it is within limits.

        Without a sum, any numbers will do. The bound is the objective of what is found, if there is
        nothing better.
        """
        part, system = self._part, self._part.system
        highs = linear_programs.silent_solver(mip_rel_gap=0.0, mip_abs_gap=0.5)
        if seconds is not None:
            highs.setOptionValue("time_limit", max(seconds, 0.01))
        if max_nodes is not None:
            highs.setOptionValue("mip_max_nodes", max_nodes)
        members = _NOTHING if place is None else part.members_of(place)
        costs = np.zeros(len(self._base))
        costs[members] = sign
        if place is None:
            highs.setOptionValue("mip_max_improving_sols", 1)
        highs.passModel(self._model(system, part.n_rows, costs=costs, is_whole=True))
        if place is not None:
            base = int(self._base[members].sum())
            highs.addRow(
                (low - base) / self._facts.scale, (high - base) / self._facts.scale,
                len(members), members.astype(np.int32), np.ones(len(members)),
            )  # fmt: skip
        status = linear_programs.run_once(highs, self._watch)
        is_believed = part.is_finite and int((system.upper - system.lower).max()) <= _BELIEVED
        nodes = max(int(highs.getInfo().mip_node_count), 0)
        # Where every number has both limits, nothing is endless.
        if status is linear_programs.Status.EMPTY or (
            status is linear_programs.Status.EMPTY_OR_ENDLESS and part.is_finite
        ):
            return Solved(is_empty=is_believed, nodes=nodes)
        solution = highs.getSolution()
        if not solution.value_valid:
            return Solved(nodes=nodes)
        vertex = np.array(solution.col_value)
        point, _ = self._point(vertex)
        if point is None or status is not linear_programs.Status.OPTIMAL or not is_believed:
            return Solved(vertex=vertex, point=point, nodes=nodes)
        return Solved(Fraction(sign * int(point[members].sum())), None, vertex, point, nodes=nodes)

    def within(self, limits: SearchLimits) -> Solved:
        """Look for real numbers within limits of the numbers and rows.

        This is a model of its own, for the dual simplex method, which is the fast one after a
        change of limits and the only one that gives a certificate where there is nothing.
        """
        part, n = self._part, len(self._base)
        if self._branches is None:
            self._branches = linear_programs.silent_solver(
                presolve="off", simplex_strategy=linear_programs.DUAL
            )
            self._branches.passModel(self._model(part.system, self._n_branched))
        self._branches.changeColsBounds(
            n, np.arange(n, dtype=np.int32), *self._columns(limits.lower, limits.upper)
        )
        sums = np.arange(part.n_rows, self._n_branched)
        if len(sums):
            known = _far_from_end(part.totals(self._base))
            self._branches.changeRowsBounds(
                len(sums), sums.astype(np.int32),
                _above(limits.row_lower[sums], known, self._facts.scale),
                _above(limits.row_upper[sums], known, self._facts.scale),
            )  # fmt: skip
        status = linear_programs.run(self._branches, self._watch)
        if status is linear_programs.Status.EMPTY:
            ray = linear_programs.proof_of_nothing(self._branches)
            return Solved(is_empty=ray is not None and contradicts(part.system, limits, ray))
        if status is not linear_programs.Status.OPTIMAL:
            return Solved()
        vertex = np.array(self._branches.getSolution().col_value)
        point, times = self._point(vertex, limits)
        return Solved(vertex=vertex, point=point, times=times)

    def near(self, vertex: Floats) -> Integers:
        """Return the whole numbers near to a vertex, within their limits."""
        system = self._part.system
        rounded = self._base + np.rint(vertex * system.scale).astype(np.int64)
        return np.clip(rounded, system.lower, system.upper)

    def fraction(self, vertex: Floats) -> tuple[int, int, float]:
        """Return the number that is furthest from a whole one, the whole one below, and the rest."""
        values = vertex * self._facts.scale
        rest = values - np.floor(values)
        at = int(np.argmin(np.abs(rest - 0.5)))
        return at, int(np.floor(values[at])) + int(self._base[at]), float(rest[at])

    def _columns(self, lower: Integers, upper: Integers) -> tuple[Floats, Floats]:
        scale = self._facts.scale
        return _above(lower, self._far_base, scale), _above(upper, self._far_base, scale)

    def _model(
        self, facts: LinearFacts, n: int, *, costs: Floats | None = None, is_whole: bool = False
    ) -> Any:
        """Return a program of the first n rows."""
        known = self._far_known
        if n > len(known):
            known = np.concatenate([known, _far_from_end(self._part.totals(self._base))])
        end = facts.starts[n]
        return linear_programs.program_by_rows(
            self._columns(facts.lower, facts.upper),
            (_above(facts.low[:n], known, facts.scale), _above(facts.high[:n], known, facts.scale)),
            facts.starts[: n + 1],
            facts.members[:end],
            facts.factors[:end],
            costs=costs,
            is_whole=is_whole,
        )

    def _set_costs(self, members: Integers, sign: int) -> None:
        before = np.flatnonzero(self._costs)
        self._costs[before] = 0
        self._costs[members] = sign
        changed = np.union1d(before, members)
        if len(changed):
            self._highs.changeColsCost(
                len(changed), changed.astype(np.int32), self._costs[changed].astype(np.float64)
            )

    def _point(
        self, vertex: Floats, limits: SearchLimits | None = None
    ) -> tuple[NDArray[Any] | None, int]:
        """Return the exact numbers that a vertex stands for, and how many times too large they are."""
        facts = self._facts
        for times in (1,) if facts.whole else _TIMES:
            rounded = np.rint(vertex * (facts.scale * times))
            if np.abs(rounded).max(initial=0) > 2.0**61 or self._far_base.dtype == object:
                return None, 1
            kind: Any = np.int64 if times == 1 else object
            made = self._base.astype(kind) * times + rounded.astype(np.int64).astype(kind)
            if limits is None or not facts.whole:
                is_admitted = facts.admits(made, times)
            else:
                is_admitted = self._part.admits(made, limits)
            if is_admitted:
                return made, times
        return None, 1

    def _corner(self) -> tuple[NDArray[Any] | None, int]:
        """Return the numbers of the last program's corner, exact whatever their denominators."""
        told = linear_programs.ends_of(self._highs)
        found = None if told is None else exact_corner(self._facts, *told, self._base.tolist())
        if found is None:
            return None, 1
        times = math.lcm(*(own.denominator for own in found))
        if times.bit_length() > _MOST_BITS:
            return None, 1
        made = np.array([int(own * times) for own in found], object)
        return (made, times) if self._facts.admits(made, times) else (None, 1)

    def _proven(self, number: int, sign: int) -> tuple[Fraction, Multiples] | None:
        """Return the bound that the last program's corner proves."""
        told = linear_programs.ends_of(self._highs)
        rows = None if told is None else exact_multiples(self._facts, *told, number)
        found = None if rows is None else verified(self._facts, number, rows, is_upper=sign < 0)
        if found is None:
            return None
        denominator = math.lcm(*(own.denominator for own in found.rows.values()))
        taken = tuple(int(sign * own * denominator) for own in found.rows.values())
        return sign * found.bound, Multiples(
            np.array(list(found.rows), np.int64), taken, denominator
        )

    def _bound(self, duals: Floats) -> tuple[Fraction | None, Multiples | None]:
        """Return the bound of the objective that duals prove, and the rows that they take."""
        if not np.all(np.isfinite(duals)):
            return None, None
        facts, system = self._facts, self._part.system
        denominator = _denominator(duals)
        own = SearchLimits(facts.lower, facts.upper, facts.low, facts.high)
        taken, total = _combined(facts, own, self._costs, duals, denominator)
        multiples: Multiples | None = None
        if total is not None:
            places = np.flatnonzero(taken)
            multiples = Multiples(places, tuple(taken[places].tolist()), denominator)
        else:
            # Numbers that are endless end where they are cut, which takes no value from a bound.
            _, total = _combined(system, self._part.limits(), self._costs, duals, denominator)
        if total is None:
            return None, None
        bound = Fraction(total, denominator)
        return Fraction(math.ceil(bound)) if facts.whole else bound, multiples


def dual_bound(
    facts: LinearFacts, limits: SearchLimits, costs: Integers, duals: Floats
) -> Fraction | None:
    """Return a lower bound of whole-numbered costs, proven in whole numbers from any duals.

    Duals are those of the first rows. None where a limit that they take is not there.
    """
    denominator = _denominator(duals)
    _, total = _combined(facts, limits, costs, duals, denominator)
    return None if total is None else Fraction(total, denominator)


def contradicts(facts: LinearFacts, limits: SearchLimits, ray: Floats) -> bool:
    """Whether rows taken so many times prove, in whole numbers, that nothing is within limits."""
    nothing = np.zeros(len(facts.lower), np.int64)
    # The one that fits is mostly enough, and others may be kinder to a row that it rounds away.
    for denominator in dict.fromkeys((_denominator(ray), *_DENOMINATORS, _LAST_DENOMINATOR)):
        for sign in (1, -1):
            _, total = _combined(facts, limits, nothing, sign * ray, denominator)
            if total is not None and total > 0:
                return True
    return False


def rows_of_contradiction(facts: LinearFacts, max_seconds: float | None) -> Integers:
    """Return rows of a certificate that no real numbers satisfy the facts, none without one.

    What floating point says here is only a proposal: whoever asks has to ask again in whole numbers.
    """
    limit = {} if max_seconds is None else {"time_limit": float(max_seconds)}
    highs = linear_programs.silent_solver(
        presolve="off", simplex_strategy=linear_programs.DUAL, **limit
    )
    nothing = np.zeros(1, np.int64)
    highs.passModel(
        linear_programs.program_by_rows(
            (_above(facts.lower, nothing, 1), _above(facts.upper, nothing, 1)),
            (_above(facts.low, nothing, 1), _above(facts.high, nothing, 1)),
            facts.starts,
            facts.members,
            facts.factors,
        )
    )
    if linear_programs.run_once(highs) is not linear_programs.Status.EMPTY:
        return _NOTHING
    ray = linear_programs.proof_of_nothing(highs)
    return _NOTHING if ray is None else np.flatnonzero(np.abs(ray) > 1e-9)


def _denominator(duals: Floats) -> int:
    return next(
        (d for d in _DENOMINATORS if np.all(np.abs(duals * d - np.rint(duals * d)) < 1e-6 * d)),
        _LAST_DENOMINATOR,
    )


def _combined(
    facts: LinearFacts, limits: SearchLimits, costs: Integers, duals: Floats, denominator: int
) -> tuple[NDArray[Any], int | None]:
    """Return rows taken so many times, and the least that costs can be by them; both times too large.

    The costs are the sum of the rows plus what is left over, and each is within its limits.
    """
    n = len(duals)
    low, high = limits.row_lower[:n], limits.row_upper[:n]
    scaled = np.rint(duals * denominator)
    scaled[(scaled < 0) & (high >= NO_LIMIT)] = 0
    scaled[(scaled > 0) & (low <= -NO_LIMIT)] = 0
    limit = np.where(scaled > 0, low, np.where(scaled < 0, high, 0))
    starts, rows, factors = facts.by_number
    most = np.abs(scaled).max(initial=0.0)
    kind: Any = np.int64
    if most * facts.largest_factor * facts.longest >= 2.0**61:
        kind = object
    taken = _whole(scaled, kind)
    padded = np.concatenate([taken, np.zeros(facts.n_rows - n, taken.dtype)])
    of_numbers = row_sums(starts, padded[rows] * factors.astype(kind))
    left = costs.astype(kind) * denominator - of_numbers
    at = np.where(left > 0, limits.lower, np.where(left < 0, limits.upper, 0)).astype(np.int64)
    if np.any(np.abs(at) >= NO_LIMIT):
        return taken, None
    size = np.abs(scaled) @ np.abs(limit.astype(np.float64))
    size += np.abs(left.astype(np.float64)) @ np.abs(at.astype(np.float64))
    if size >= 2.0**62:
        taken, left = taken.astype(object), left.astype(object)
    total = (taken * limit.astype(taken.dtype)).sum() + (left * at.astype(left.dtype)).sum()
    return taken, int(total)


def _whole(values: Floats, kind: Any) -> NDArray[Any]:
    if kind is object:
        return np.array([int(value) for value in values], object)
    return values.astype(np.int64)


def _above(limits: Integers, known: NDArray[Any], scale: int) -> Floats:
    """Return how far limits are above what is known, in units, infinite where there is none."""
    found = (limits - known).astype(np.float64)
    if scale > 1:
        found /= scale
    found[limits >= NO_LIMIT] = np.inf
    found[limits <= -NO_LIMIT] = -np.inf
    return found


def _far_from_end(known: NDArray[Any]) -> NDArray[Any]:
    """Return numbers from which any limit can be taken without leaving 64 bits."""
    return known if np.abs(known).max(initial=0) < 2**61 else known.astype(object)


@dataclass(frozen=True, eq=False)
class Branching:
    """Numbers, or whether it is proven that there are none, and how many nodes were looked at."""

    point: Integers | None
    is_empty: bool
    nodes: int


def branch(
    part: Component,
    program: Program,
    limits: SearchLimits,
    max_nodes: int,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Branching:
    """Look for whole numbers within limits, up to some nodes or until it is stopped."""
    rows = np.arange(part.system.n_rows)
    is_proven = True
    waiting = [limits]
    for nodes in range(max_nodes):
        if not waiting:
            return Branching(None, is_proven, nodes)
        if is_stopped():
            return Branching(None, False, nodes)
        now = waiting.pop()
        if not part.propagate(now, rows, len(rows)):
            continue
        solved = program.within(now)
        if solved.point is not None:
            return Branching(solved.point, False, nodes + 1)
        if solved.vertex is None:
            is_proven &= solved.is_empty
            continue
        number, floor, rest = program.fraction(solved.vertex)
        if not now.lower[number] <= floor < now.upper[number]:
            # The vertex is whole but for the tolerance of the solver, and yet no solution.
            is_proven = False
            continue
        below, above = now._replace(lower=now.lower.copy(), upper=now.upper.copy()), now
        below.upper[number] = floor
        above.lower[number] = floor + 1
        waiting += [below, above] if rest >= 0.5 else [above, below]
    return Branching(None, is_proven and not waiting, max_nodes)
