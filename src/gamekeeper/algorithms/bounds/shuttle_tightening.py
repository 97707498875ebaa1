"""From the fixed point of a shuttle to exact bounds, by trial, retraction and linear programs.

A bound is exact once a feasible table attains it. To settle one, the sum is bounded to that value
as a trial, the dependencies propagate, and cells are fixed one after the other, with everything
retracted that led to a contradiction. A table that is found is kept: it settles the bounds of all
other cells that it attains. If there is none, the bound moves, for good. Where propagation alone
does not end soon, a linear program moves the bound as far as it can prove in whole numbers, says
where tables may be, and prunes a search that branches on its fractions. Worst cases are
exponential; the steps for each bound are limited.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms import linear_programs
from gamekeeper.algorithms.bounds import shuttle_kernels
from gamekeeper.algorithms.bounds.shuttle import TightBounds
from gamekeeper.algorithms.linear.components import SearchLimits
from gamekeeper.algorithms.linear.facts import NO_LIMIT, NoNumbersError
from gamekeeper.algorithms.linear.programs import contradicts, dual_bound
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.results import Progress

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What a linear program told.

    The most, whether nothing is possible (both proven), and the cells at the most, as floats.
    """

    most: int | None
    is_impossible: bool
    values: NDArray[np.float64] | None


class LinearRelaxation:
    """The rows of some constraints as a linear program whose limits change."""

    def __init__(self, constraints: CountConstraints) -> None:
        facts = self._facts = constraints.facts
        self._columns = np.arange(constraints.size, dtype=np.int32)
        self._rows = np.arange(facts.n_rows, dtype=np.int32)
        # Without a presolve the basis stays, and a program without a solution gives its proof.
        self._solver: Any = linear_programs.silent_solver(presolve="off", solver="simplex")
        none = np.zeros(constraints.size), np.full(constraints.size, np.inf)
        rows = np.zeros(facts.n_rows), np.full(facts.n_rows, np.inf)
        self._solver.passModel(
            linear_programs.program_by_rows(none, rows, facts.starts, facts.members)
        )

    def largest(
        self, weights: Integers, cells: tuple[Integers, Integers], rows: tuple[Integers, Integers]
    ) -> Relaxed:
        """Bound a weighted sum of cells from above, within limits of cells and of rows."""
        solver, facts = self._solver, self._facts
        solver.changeColsCost(len(self._columns), self._columns, -weights.astype(np.float64))
        solver.changeColsBounds(len(self._columns), self._columns, *_limits(*cells))
        solver.changeRowsBounds(len(self._rows), self._rows, *_limits(*rows))
        status = linear_programs.run_once(solver)
        limits = SearchLimits(*(_with_none(own) for own in (*cells, *rows)))
        if status is linear_programs.Status.OPTIMAL:
            solution = solver.getSolution()
            bound = dual_bound(facts, limits, -weights, np.array(solution.row_dual))
            most = None if bound is None else math.floor(-bound)
            return Relaxed(most, False, np.asarray(solution.col_value))
        ray = (
            linear_programs.proof_of_nothing(solver)
            if status is linear_programs.Status.EMPTY
            else None
        )
        return Relaxed(None, ray is not None and contradicts(facts, limits, ray), None)


def _with_none(limits: Integers) -> Integers:
    return np.where(limits >= UNBOUNDED, NO_LIMIT, limits)


def _limits(lower: Integers, upper: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return lower.astype(np.float64), np.where(upper >= UNBOUNDED, np.inf, upper.astype(np.float64))


_LEAST_STEPS, _MOST_STEPS = 64, 256
# Of 90 searches that found a table of Rochdale's, 89 retracted nothing and one twice; those that
# retracted more went on for ever.
_FAILURES, _JOINED_FAILURES = 16, 4
_VISITS_AT_ONCE = 2_000_000
_KEPT_TABLES = 64
_FRACTION = 1e-6
# Other bounds that are tried for the same table. Measured on the Rochdale table (eight axes of two
# categories) from its 2-way margins: one in nine holds, and 90 tables do instead of 238.
_FIRST_TRIED, _MOST_TRIED = 8, 32


class Tightening:
    """Trials on the nodes of a shuttle that has reached its fixed point.

    Proven bounds are written into `work`; all else is retracted, however the work ends.
    """

    def __init__(
        self,
        constraints: CountConstraints,
        work: shuttle_kernels.NodeWork,
        cells: Integers,
        row_nodes: Integers,
        *,
        groups: Sequence[Integers],
        nodes: Integers,
        largest: int,
        ceiling: int,
    ) -> None:
        self._constraints = constraints
        self._work = work
        self._cells = cells
        self._row_nodes = row_nodes
        self._nodes = nodes.reshape(-1)
        self._shape = nodes.shape
        limits = np.zeros(nodes.shape, np.int64)
        self._view = CountMargin(tuple(groups), limits, limits)
        self._largest = largest
        self._ceiling = ceiling
        # A sum is without an upper bound only if a cell of it is in no row that has one.
        self._is_unbounded = work.upper[self._nodes] >= UNBOUNDED
        # Nothing is attained as yet: one less than possible, one more than possible.
        self._highest = work.lower[self._nodes] - 1
        self._lowest = work.upper[self._nodes] + 1
        self._tables: deque[tuple[Integers, Integers]] = deque(maxlen=_KEPT_TABLES)
        self._n_tables = self._n_steps = self._left = 0
        self._progress: Progress | None = None
        self._done = (0, 0)
        # Twice the number of a cell, and one more for its upper bound.
        self._waiting = np.zeros(0, np.int64)
        self._n_tried = _FIRST_TRIED
        # Searches without linear programs: where most stop, the programs come first.
        self._n_stopped = self._n_found = 0

    def run(self, asked: Integers, max_steps: int, progress: Progress | None) -> TightBounds:
        """Settle both bounds of the cells asked for, as far as the steps for each suffice."""
        self._progress = progress
        self._done = (0, 2 * len(asked))
        self._left = max_steps
        # At random, for neighbours mostly exclude each other.
        self._waiting = np.random.default_rng(1).permutation(
            np.concatenate([2 * asked, 2 * asked + 1])
        )
        try:
            if self._trial(None, 0, False, self._work.lower[self._cells]) == shuttle_kernels.NONE:
                raise NoNumbersError
            for cell in asked.tolist():
                for is_upper in (False, True):
                    self._left = max_steps
                    self._settle(cell, is_upper)
                    self._done = (self._done[0] + 1, self._done[1])
        finally:
            self._retract(0)
        self._tell()
        return self._result(asked)

    def _result(self, asked: Integers) -> TightBounds:
        lower, upper = self._work.lower[self._nodes], self._work.upper[self._nodes]
        tight_lower, tight_upper = lower == self._lowest, upper == self._highest
        n_open = np.count_nonzero(~tight_lower[asked]) + np.count_nonzero(~tight_upper[asked])
        return TightBounds(
            lower.reshape(self._shape), upper.reshape(self._shape),
            tight_lower.reshape(self._shape), tight_upper.reshape(self._shape),
            int(n_open), self._n_steps, self._n_tables,
        )  # fmt: skip

    def _settle(self, cell: int, is_upper: bool) -> None:
        """Move one bound until a table attains it."""
        node = int(self._nodes[cell])
        guide = self._guide(cell, is_upper)
        is_relaxed = halves = False
        while True:
            bound, attained = self._bounds(cell, is_upper)
            # Without an upper bound every table will do, and none was found.
            if bound in (attained, UNBOUNDED):
                return
            ended = shuttle_kernels.STOPPED
            if is_relaxed or self._n_stopped <= self._n_found:
                # The bound itself first: mostly it is exact. Then halves of what is left.
                value = (bound + attained + (1 if is_upper else 0)) // 2 if halves else bound
                ended = self._trial(cell, value, is_upper, guide, branches=is_relaxed)
                if not is_relaxed:
                    self._n_stopped += ended == shuttle_kernels.STOPPED
                    self._n_found += ended == shuttle_kernels.FOUND
                if ended == shuttle_kernels.NONE:
                    self._keep(node, value - 1 if is_upper else value + 1, is_upper)
                    halves = True
            if ended == shuttle_kernels.STOPPED:
                if is_relaxed or self._left <= 0:
                    return
                is_relaxed, halves = True, False
                guide = self._close(cell, is_upper)
            elif ended == shuttle_kernels.FOUND and not is_relaxed:
                guide = self._guide(cell, is_upper)

    def _close(self, cell: int, is_upper: bool) -> Integers:
        """Move a bound as far as a linear program proves; return the whole numbers near to it."""
        relaxed = self._relaxed(cell, is_upper)
        if relaxed.is_impossible:
            raise NoNumbersError
        if relaxed.most is not None:
            most = relaxed.most if is_upper else -relaxed.most
            self._keep(int(self._nodes[cell]), most, is_upper)
        self._is_found(relaxed, None, is_upper)
        return self._near(relaxed)

    def _bounds(self, cell: int, is_upper: bool) -> tuple[int, int]:
        low, high = self._limits(cell)
        return (high, int(self._highest[cell])) if is_upper else (low, int(self._lowest[cell]))

    def _limits(self, cell: int) -> tuple[int, int]:
        node = self._nodes[cell]
        return int(self._work.lower[node]), int(self._work.upper[node])

    def _keep(self, node: int, value: int, is_upper: bool) -> None:
        if not shuttle_kernels.bound_node(self._work, node, value, is_upper, self._ceiling):
            raise NoNumbersError
        shuttle_kernels.forget_trail(self._work)

    def _trial(
        self, cell: int | None, value: int, is_upper: bool, guide: Integers, branches: bool = True
    ) -> int:
        """Look for a table that has a cell at a value or beyond; retract in the end."""
        others = [] if cell is None else self._unsettled()
        try:
            if not self._cap(value if is_upper else 0):
                return shuttle_kernels.NONE
            # For the upper bound of a cell, tables are sought that have at least the value.
            if cell is not None and not self._bound(int(self._nodes[cell]), value, not is_upper):
                return shuttle_kernels.NONE
            mark = int(self._work.numbers[shuttle_kernels.N_TRAIL])
            if self._join(others):
                if self._search(guide, _JOINED_FAILURES) == shuttle_kernels.FOUND:
                    self._n_tried = min(2 * self._n_tried, _MOST_TRIED)
                    return shuttle_kernels.FOUND
                self._n_tried = max(1, self._n_tried // 2)
                self._retract(mark)
            ended = self._search(guide)
            if ended == shuttle_kernels.STOPPED and branches and self._left > 0:
                self._retract(mark)
                return self._branch(cell, is_upper)
            return ended
        finally:
            self._retract(0)

    def _unsettled(self) -> list[tuple[int, int, bool]]:
        """Return some bounds that no table attains as yet: nodes, values, and whether upper ones."""
        cells, is_upper = self._waiting // 2, self._waiting % 2 == 1
        lower, upper = self._work.lower[self._nodes[cells]], self._work.upper[self._nodes[cells]]
        is_open = np.where(is_upper, self._highest[cells] < upper, self._lowest[cells] > lower)
        self._waiting = self._waiting[is_open]
        some = np.flatnonzero(is_open)[: self._n_tried]
        values = np.where(is_upper, upper, lower)[some]
        return list(
            zip(self._nodes[cells[some]].tolist(), values.tolist(), is_upper[some].tolist(), strict=True)
        )  # fmt: skip

    def _join(self, others: list[tuple[int, int, bool]]) -> bool:
        """Bound other sums to values that no table attains, where nothing contradicts."""
        is_joined = False
        for node, value, is_upper in others:
            mark = int(self._work.numbers[shuttle_kernels.N_TRAIL])
            if self._bound(node, value, not is_upper):
                is_joined = True
            else:
                self._retract(mark)
        return is_joined

    def _cap(self, value: int) -> bool:
        """Give every cell an upper bound that some table keeps, if there is one at all.

        A table that cannot be reduced has no cell above the largest lower limit, of the trial too.
        """
        largest = max(self._largest, value)
        unbounded = self._cells[self._work.upper[self._cells] >= UNBOUNDED].tolist()
        return all(
            self._bound(node, max(largest, int(self._work.lower[node])), True) for node in unbounded
        )

    def _branch(self, cell: int | None, is_upper: bool) -> int:
        """Search on from here, pruned and guided by linear programs."""
        others: list[tuple[int, int, int, bool]] = []
        while self._left > 0:
            self._left -= 1
            self._n_steps += 1
            mark = int(self._work.numbers[shuttle_kernels.N_TRAIL])
            relaxed = self._relaxed(cell, is_upper)
            if self._is_found(relaxed, cell, is_upper):
                return shuttle_kernels.FOUND
            ended = shuttle_kernels.NONE
            if not self._is_pruned(relaxed, cell, is_upper):
                ended = self._search(self._near(relaxed))
            if ended == shuttle_kernels.FOUND:
                return shuttle_kernels.FOUND
            is_alive = False
            if ended == shuttle_kernels.STOPPED:
                self._retract(mark)
                at, split, is_below = self._fraction(relaxed)
                node = int(self._cells[at])
                others.append((mark, node, split + 1 if is_below else split, not is_below))
                is_alive = self._bound(node, split if is_below else split + 1, is_below)
            while not is_alive:
                if not others:
                    return shuttle_kernels.NONE
                mark, node, value, is_below = others.pop()
                self._retract(mark)
                is_alive = self._bound(node, value, is_below)
        return shuttle_kernels.STOPPED

    def _relaxed(self, cell: int | None, is_upper: bool) -> Relaxed:
        """Return the linear program for one side of a cell, within the bounds as they are now."""
        self._tell()
        lower, upper = self._work.lower, self._work.upper
        return self._relaxation.largest(
            self._weights(cell) * (1 if is_upper else -1),
            (lower[self._cells], upper[self._cells]),
            (lower[self._row_nodes], upper[self._row_nodes]),
        )

    @cached_property
    def _relaxation(self) -> LinearRelaxation:
        return LinearRelaxation(self._constraints)

    def _weights(self, cell: int | None) -> Integers:
        if cell is None:
            return np.zeros(len(self._cells), np.int64)
        return (self._view.cells == cell).astype(np.int64)

    def _is_found(self, relaxed: Relaxed, cell: int | None, is_upper: bool) -> bool:
        """Return whether the linear program found a table for the trial; keep any table."""
        if relaxed.values is None:
            return False
        table = np.rint(relaxed.values).astype(np.int64)
        # Near to whole numbers is no proof; the table itself is.
        if np.abs(relaxed.values - table).max() > _FRACTION or not self._constraints.admits(table):
            return False
        self._record(table)
        if cell is None:
            return True
        low, high = self._limits(cell)
        value = int(self._weights(cell) @ table)
        return value >= low if is_upper else value <= high

    def _is_pruned(self, relaxed: Relaxed, cell: int | None, is_upper: bool) -> bool:
        """Return whether it is proven that the trial cannot succeed from here."""
        if relaxed.is_impossible or cell is None or relaxed.most is None:
            return relaxed.is_impossible
        low, high = self._limits(cell)
        return relaxed.most < low if is_upper else -relaxed.most > high

    def _near(self, relaxed: Relaxed) -> Integers:
        """Return the whole numbers near to a linear program, or else the lower bounds."""
        if relaxed.values is None:
            return self._work.lower[self._cells]
        return np.rint(relaxed.values).astype(np.int64)

    def _fraction(self, relaxed: Relaxed) -> tuple[int, int, bool]:
        """Return an open cell, where to split its values, and whether to begin below."""
        lower, upper = self._work.lower[self._cells], self._work.upper[self._cells]
        is_open = lower < upper
        if relaxed.values is None:
            at = int(np.argmax(np.where(is_open, upper - lower, -1)))
            return at, int(lower[at] + upper[at]) // 2, True
        apart = np.abs(relaxed.values - np.rint(relaxed.values))
        if np.any(is_open & (apart > _FRACTION)):
            at = int(np.argmax(np.where(is_open, apart, -1.0)))
        else:
            at = int(np.argmax(np.where(is_open, upper - lower, -1)))
        value = float(relaxed.values[at])
        split = min(max(int(np.floor(value)), int(lower[at])), int(upper[at]) - 1)
        return at, split, value - split < 0.5

    def _search(self, guide: Integers, max_failures: int = _FAILURES) -> int:
        """Search by propagation for a while; a table that is found is kept."""
        # About one way down: measured, more is worth less than a linear program.
        budget = min(max(_LEAST_STEPS, len(self._cells)), _MOST_STEPS, self._left)
        at_once = max(1, _VISITS_AT_ONCE // len(self._work.lower))
        failures = max_failures
        self._work.numbers[shuttle_kernels.N_DECISIONS] = 0
        while True:
            self._tell()
            self._make_room()
            ended, steps, failed = shuttle_kernels.search_tables(
                self._work, self._cells, guide, UNBOUNDED, min(budget, at_once), failures
            )
            self._n_steps += steps
            self._left -= steps
            budget -= steps
            failures -= failed
            if ended == shuttle_kernels.FOUND:
                self._record(self._work.lower[self._cells])
            if ended != shuttle_kernels.STOPPED or budget <= 0 or failures <= 0:
                return ended

    def _record(self, table: Integers) -> None:
        """Keep a feasible table: it attains bounds of many cells."""
        sums = self._view.sums(table.reshape(self._constraints.shape)).reshape(-1)
        np.minimum(self._lowest, sums, out=self._lowest)
        np.maximum(self._highest, sums, out=self._highest)
        self._highest[self._is_unbounded] = UNBOUNDED
        self._tables.append((table, sums))
        self._n_tables += 1

    def _guide(self, cell: int, is_upper: bool) -> Integers:
        """Return the table known that is nearest to a bound of a cell, or else lower bounds."""
        if not self._tables:
            return self._work.lower[self._cells]
        sums = [int(of_table[cell]) for _, of_table in self._tables]
        return self._tables[sums.index(max(sums) if is_upper else min(sums))][0]

    def _bound(self, node: int, value: int, is_upper: bool) -> bool:
        self._make_room()
        return bool(shuttle_kernels.bound_node(self._work, node, value, is_upper, UNBOUNDED))

    def _make_room(self) -> None:
        work = self._work
        while (
            work.numbers[shuttle_kernels.N_TRAIL] + len(work.lower) > len(work.trail)
            or work.numbers[shuttle_kernels.N_DECISIONS] == len(work.decisions)
        ):  # fmt: skip
            work = shuttle_kernels.more_trail(work)
        self._work = work

    def _retract(self, to: int) -> None:
        self._work.numbers[shuttle_kernels.N_DECISIONS] = 0
        shuttle_kernels.retract(self._work, to)

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(*self._done)
