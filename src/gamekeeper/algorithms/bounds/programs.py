"""Linear and integer programs over one component of open cells, solved by HiGHS, and branching.

The relaxation is one model that is kept: only the objective changes, and the primal simplex method
starts from the last vertex (after a change of objective the dual method, HiGHS' own choice, was
measured to take 40 times as long).

What is exact. HiGHS calculates in floating point, so nothing it says is taken as it is. A table is
rounded and checked in whole numbers. A bound is calculated again in whole numbers from the duals,
rounded to fractions with one denominator: any duals give a valid bound (Neumaier and Shcherbina
2004), and as a bound of a whole number may be rounded up, a small loss costs nothing. The same
holds for a proof that there is no table. Only the verdict of an integer program that there is
nothing better has no such proof. It is believed where all counts above the lower limits are at most
2**20, far from where HiGHS' tolerances of 1e-6 and the precision of floats could hide a table, and
reported as unproven otherwise.

Branching has a proof throughout. At each node the limits of the cells are propagated and a linear
program gives a vertex. Where it is fractional, a cell is split at the fraction, the nearer side
first: every side that is given up was refuted by propagation or by a certificate checked in whole
numbers, until a table is found or there is none. Exponential in the worst case, hence the limit of
nodes. On the Rochdale table from its 2-way margins a search took some 50 nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear_programs import (
    DUAL,
    PRIMAL,
    program_by_rows,
    run_again_if_needed,
    silent_solver,
)
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountComponent, CountLimits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BELIEVED = 2**20
# The first that fits the duals is taken: small ones keep the numbers small and the bound exact.
_DENOMINATORS = (1, 12, 5040)
_LAST_DENOMINATOR = 2**30


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a program found.

    - `bound`: a proven lower bound of the objective, None where nothing is proven or there is no
      solution.
    - `vertex`, `table`: the solution, in floating point, and as a table, where it is one.
    - `is_empty`: whether it is proven that there is no solution.
    - `nodes`: how many nodes of branching an integer program took.
    """

    bound: int | None = None
    vertex: Floats | None = None
    table: Integers | None = None
    is_empty: bool = False
    nodes: int = 0


class CountProgram:
    """The persistent relaxation of a component, and integer programs over it."""

    def __init__(self, component: CountComponent) -> None:
        self._component = component
        self._branches: Any = None
        # A sum of one cell is bounded through the cell; rows are needed for longer ones alone.
        is_long = np.any(np.diff(component.starts[component.n_rows :]) > 1)
        self._n_branched = len(component.row_lower) if is_long else component.n_rows
        self._costs = np.zeros(len(component.cells), np.int64)
        self._highs = silent_solver(presolve="off", simplex_strategy=PRIMAL)
        self._highs.passModel(_model(component, component.n_rows))

    def relaxed(self, members: Integers, sign: int) -> Verdict:
        """Minimise `sign` times the sum of some cells over real numbers."""
        import highspy

        self._set_costs(members, sign)
        status = run_again_if_needed(self._highs)
        if status == highspy.HighsModelStatus.kInfeasible:
            return self.within(self._component.limits())
        if status != highspy.HighsModelStatus.kOptimal:
            return Verdict()
        solution = self._highs.getSolution()
        vertex = np.array(solution.col_value)
        bound = dual_bound(self._component, self._costs, np.array(solution.row_dual))
        return Verdict(bound, vertex, _table(self._component, vertex))

    def whole(
        self,
        members: Integers,
        sign: int,
        low: int,
        high: int,
        seconds: float | None = None,
        max_nodes: int | None = None,
    ) -> Verdict:
        """Minimise `sign` times a sum over tables in which the sum is within limits.

        Without members, any table will do. The bound is the objective of the table, if no other
        is better.
        """
        import highspy

        component = self._component
        highs = silent_solver(mip_rel_gap=0.0, mip_abs_gap=0.5)
        if seconds is not None:
            highs.setOptionValue("time_limit", max(seconds, 0.01))
        if max_nodes is not None:
            highs.setOptionValue("mip_max_nodes", max_nodes)
        if not len(members):
            highs.setOptionValue("mip_max_improving_sols", 1)
        model = _model(component, component.n_rows)
        costs = np.zeros(len(component.cells))
        costs[members] = sign
        model.col_cost_ = costs
        model.integrality_ = [highspy.HighsVarType.kInteger] * len(component.cells)
        highs.passModel(model)
        if len(members):
            highs.addRow(
                float(low), float(high), len(members), members.astype(np.int32), np.ones(len(members))
            )  # fmt: skip
        highs.run()
        status = highs.getModelStatus()
        statuses = highspy.HighsModelStatus
        is_believed = bool(component.upper.max() <= _BELIEVED)
        nodes = max(int(highs.getInfo().mip_node_count), 0)
        if status in (statuses.kInfeasible, statuses.kUnboundedOrInfeasible):
            return Verdict(is_empty=is_believed, nodes=nodes)
        solution = highs.getSolution()
        if not solution.value_valid:
            return Verdict(nodes=nodes)
        vertex = np.array(solution.col_value)
        table = _table(component, vertex)
        if table is None or status != statuses.kOptimal or not is_believed:
            return Verdict(None, vertex, table, nodes=nodes)
        return Verdict(sign * int(table[members].sum()), vertex, table, nodes=nodes)

    def within(self, limits: CountLimits) -> Verdict:
        """Look for real numbers within limits of the cells and rows.

        This is a model of its own, for the dual simplex method, which is the fast one after a
        change of limits and the only one that gives a certificate where there is nothing.
        """
        import highspy

        component = self._component
        if self._branches is None:
            self._branches = silent_solver(presolve="off", simplex_strategy=DUAL)
            self._branches.passModel(_model(component, self._n_branched))
        n = len(component.cells)
        self._branches.changeColsBounds(
            n, np.arange(n, dtype=np.int32),
            limits.lower.astype(np.float64), limits.upper.astype(np.float64),
        )  # fmt: skip
        sums = np.arange(component.n_rows, self._n_branched)
        if len(sums):
            self._branches.changeRowsBounds(
                len(sums), sums.astype(np.int32), *_row_limits(limits.row_lower, limits.row_upper, sums)
            )  # fmt: skip
        status = run_again_if_needed(self._branches)
        if status == highspy.HighsModelStatus.kInfeasible:
            _, exists, ray = self._branches.getDualRay()
            return Verdict(is_empty=exists and _is_proof(component, limits, np.array(ray)))
        if status != highspy.HighsModelStatus.kOptimal:
            return Verdict()
        vertex = np.array(self._branches.getSolution().col_value)
        return Verdict(None, vertex, _table(component, vertex, limits))

    def _set_costs(self, members: Integers, sign: int) -> None:
        before = np.flatnonzero(self._costs)
        self._costs[before] = 0
        self._costs[members] = sign
        changed = np.union1d(before, members)
        self._highs.changeColsCost(
            len(changed), changed.astype(np.int32), self._costs[changed].astype(np.float64)
        )


def _is_proof(component: CountComponent, limits: CountLimits, ray: Floats) -> bool:
    """Return whether duals prove, in whole numbers, that nothing is within the limits."""
    size = np.abs(ray).max(initial=0.0)
    if not np.isfinite(size) or size == 0.0:
        return False
    nothing = np.zeros(len(component.cells), np.int64)
    return any(dual_bound(component, nothing, sign * ray / size, limits) > 0 for sign in (1, -1))


def dual_bound(
    component: CountComponent, costs: Integers, duals: Floats, limits: CountLimits | None = None
) -> int:
    """Return a lower bound of whole-numbered costs, proven in whole numbers from any duals.

    Duals are those of the first rows. The limits are those of the component unless told.
    """
    limits = component.limits() if limits is None else limits
    lower, upper = limits.lower, limits.upper
    denominator = next(
        (d for d in _DENOMINATORS if np.all(np.abs(duals * d - np.rint(duals * d)) < 1e-6 * d)),
        _LAST_DENOMINATOR,
    )
    scaled = np.rint(duals * denominator)
    n = len(duals)
    low, high = limits.row_lower[:n], limits.row_upper[:n]
    scaled = np.where((scaled < 0) & (high >= UNBOUNDED), 0.0, scaled)
    limit = np.where(scaled > 0, low, np.where(scaled < 0, high, 0))
    reduced = costs * float(denominator) - _by_cell(component, scaled)
    size = np.abs(scaled) @ limit + np.abs(reduced) @ upper.astype(np.float64)
    kind = np.int64 if size < 2.0**62 and np.abs(scaled).max(initial=0) < 2.0**52 else object
    whole = _whole(scaled, kind)
    reduced = _whole(costs, kind) * denominator - _by_cell(component, whole)
    at = _whole(np.where(reduced > 0, lower, upper), kind)
    total = (whole * _whole(limit, kind)).sum() + (reduced * at).sum()
    return -(-int(total) // denominator)


def _whole(values: NDArray[Any], kind: Any) -> NDArray[Any]:
    if kind is object:
        return np.array([int(value) for value in values], object)
    return values.astype(np.int64)


def _by_cell(component: CountComponent, duals: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of the duals of the constraints that hold each cell."""
    n_others = len(component.row_lower) - len(duals)
    padded = np.concatenate([duals, np.zeros(n_others, duals.dtype)])
    # Every cell is in some row: reduceat would return the next value for an empty stretch.
    return np.add.reduceat(padded[component.cell_rows], component.cell_starts[:-1])


def _table(
    component: CountComponent, vertex: Floats, limits: CountLimits | None = None
) -> Integers | None:
    table = np.rint(vertex).astype(np.int64)
    return table if component.admits(table, limits) else None


def _row_limits(lower: Integers, upper: Integers, rows: Integers) -> tuple[Floats, Floats]:
    high = upper[rows]
    infinite = np.where(high >= UNBOUNDED, np.inf, high.astype(np.float64))
    return lower[rows].astype(np.float64), infinite


def _model(component: CountComponent, n: int) -> Any:
    return program_by_rows(
        (np.zeros(len(component.cells)), component.upper.astype(np.float64)),
        _row_limits(component.row_lower, component.row_upper, np.arange(n)),
        component.starts[: n + 1],
        component.members[: component.starts[n]],
    )


@dataclass(frozen=True, eq=False)
class Branching:
    """A table, or whether it is proven that there is none, and the number of nodes looked at."""

    table: Integers | None
    is_empty: bool
    nodes: int


def branch(
    component: CountComponent,
    program: CountProgram,
    limits: CountLimits,
    max_nodes: int,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Branching:
    """Look for a table within limits, up to some nodes or until it is stopped."""
    rows = np.arange(len(component.row_lower))
    is_proven = True
    waiting = [limits]
    for nodes in range(max_nodes):
        if not waiting:
            return Branching(None, is_proven, nodes)
        if is_stopped():
            return Branching(None, False, nodes)
        now = waiting.pop()
        low, high = now.lower, now.upper
        if not component.propagate(now, rows, len(rows)):
            continue
        verdict = program.within(now)
        if verdict.table is not None:
            return Branching(verdict.table, False, nodes + 1)
        if verdict.vertex is None:
            is_proven &= verdict.is_empty
            continue
        part = verdict.vertex - np.floor(verdict.vertex)
        cell = int(np.argmin(np.abs(part - 0.5)))
        floor = int(np.floor(verdict.vertex[cell]))
        if not low[cell] <= floor < high[cell]:
            # The vertex is whole but for the tolerance of the solver, and yet no table.
            is_proven = False
            continue
        below, above = now._replace(lower=low.copy(), upper=high.copy()), now
        below.upper[cell] = floor
        above.lower[cell] = floor + 1
        waiting += [below, above] if part[cell] >= 0.5 else [above, below]
    return Branching(None, is_proven and not waiting, max_nodes)
