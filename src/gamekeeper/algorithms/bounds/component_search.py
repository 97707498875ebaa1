"""The exact bounds of sums of cells within one component of open cells.

From outside, bounds are closed in by propagation and by linear programs. From inside, every table
that is met shows how small and how large each sum can be. A bound is settled where the two meet.
Tables come cheaply from random walks that fix many sums at once to their outer bounds and repair
the rest: on a 20 x 20 x 10 table from its 2-way margins some hundred walks settle all 8,000 bounds.
What they leave gets a linear program, whose optimum closes the outer bound in, and a walk from
there; then branching, and an integer program if the two still differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bounds.programs import Branching, CountProgram, Verdict, branch
from gamekeeper.algorithms.releases.constraints import CountComponent, CountLimits, NoTableError

Integers = NDArray[np.int64]
Target = tuple[int, int]
"""The place of a sum, and 1 for its upper or -1 for its lower bound."""

# Temperatures of walks, per row that a cell is part of. Measured on six releases of two to six
# axes, from nothing and up to a million steps: each had its best among these, five of them found
# nothing at 0.05 and only one of those anything at 0.3. The Rochdale table (eight axes of two
# categories, all 2-way margins) found nothing at any, and is left to programs.
_TEMPERATURES = (0.1, 0.13, 0.17, 0.2)
_STEPS_PER_CELL = 25
_FEWEST_STEPS = 2_000
_STEPS_PER_FIRST = 2
_FIRST_BUNDLE, _MOST_BUNDLE = 8, 64
# So many lone targets missed in a row, and the walks leave the rest to programs.
_PATIENCE = 10
_MAX_NODES = 100
# A bound that is further from that of real numbers is left to an integer program.
_MOST_MOVES = 10
# To try whether another bound can be reached in the same table costs a linear program, as a node
# does: worth it where tables are found after many.
_NODES_PER_JOINED = 3
_MOST_JOINED = 16


@dataclass
class Effort:
    """What the search may cost, and what it has cost so far."""

    max_programs: int | None = None
    deadline: float | None = None
    relaxations: int = 0
    programs: int = 0
    tables: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether a limit is reached."""
        if self.max_programs is not None and self.relaxations + self.programs >= self.max_programs:
            return True
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def nodes(self) -> int | None:
        """The programs that are left, as nodes of the branching of an integer program."""
        if self.max_programs is None:
            return None
        return max(self.max_programs - self.relaxations - self.programs, 1)

    @property
    def seconds(self) -> float | None:
        """The time that is left."""
        return None if self.deadline is None else self.deadline - time.monotonic()


class BoundSearch:
    """Outer bounds of the sums of one component, and the values met, until they agree."""

    def __init__(self, component: CountComponent, effort: Effort) -> None:
        self.component = component
        self.table: Integers | None = None
        n, sums = component.n_rows, len(component.sums)
        self.least = np.zeros(sums, np.int64)
        self.most = component.totals(component.upper)[n:]
        self._seen_least, self._seen_most = self.most.copy(), self.least.copy()
        self._effort = effort
        self._n_joined = self._n_vertices = 0
        self._n_found = np.zeros(len(_TEMPERATURES), np.int64)
        self._temperature = self._taken = 0
        self._random = np.random.default_rng(1)
        self._steps = max(_FEWEST_STEPS, _STEPS_PER_CELL * (n + len(component.cells)))

    @property
    def tight_lower(self) -> NDArray[np.bool_]:
        """Whether some table is known in which each sum is at its lower bound."""
        return (self._seen_least == self.least) & (self.table is not None)

    @property
    def tight_upper(self) -> NDArray[np.bool_]:
        """Whether some table is known in which each sum is at its upper bound."""
        return (self._seen_most == self.most) & (self.table is not None)

    @property
    def n_settled(self) -> int:
        """The number of bounds that are settled."""
        return int(self.tight_lower.sum() + self.tight_upper.sum())

    def start(self) -> bool:
        """Find a first table within what the search may cost; `NoTableError` if there is none."""
        component = self.component
        if not component.n_rows:
            # Nothing ties the cells of such a component: there is one, and it is free.
            self._see(np.zeros(len(component.cells), np.int64))
            self._see(component.upper.copy())
            return True
        nothing = np.zeros(len(component.cells), np.int64)
        table = self._first_by_walks(nothing, 2 * self._steps)
        if table is None and not self._effort.is_spent:
            table = self._first_by_programs()
        if table is not None:
            self._see(table)
        return self.table is not None

    def run(self, progress: Callable[[int], None]) -> None:
        """Settle all bounds, or as many as the search may cost."""
        if self.table is None:
            return
        single = np.diff(self.component.starts[self.component.n_rows :]) == 1
        hard = self._by_walks(np.flatnonzero(single), progress)
        hard += [(int(k), side) for k in np.flatnonzero(~single) for side in (1, -1)]
        for settle in (self._by_relaxation, self._by_branching, self._by_program):
            left = hard
            while left := [target for target in left if self._is_open(target)]:
                if self._effort.is_spent:
                    return
                settle(left.pop(0), left)
                progress(self.n_settled)

    def _first_by_walks(self, start: Integers, steps: int) -> Integers | None:
        """Return a table if there is one at some temperature, and keep the fastest one."""
        best: Integers | None = None
        fastest = 0
        for number in range(len(_TEMPERATURES)):
            self._temperature = number
            table = self._walk(self._limits(), start, steps)
            if table is not None:
                best, fastest, steps = table, number, self._taken
        self._temperature = fastest
        if best is not None:
            # Where the first table was far, the next ones are not near either.
            self._steps = max(self._steps, _STEPS_PER_FIRST * steps)
        return best

    def _first_by_programs(self) -> Integers | None:
        nothing = np.zeros(0, np.int64)
        self._effort.relaxations += 1
        relaxed = self._program.relaxed(nothing, 1)
        if relaxed.is_empty:
            raise NoTableError
        if relaxed.table is not None:
            return relaxed.table
        if relaxed.vertex is not None:
            table = self._first_by_walks(self._rounded(relaxed.vertex), 16 * self._steps)
            if table is not None:
                return table
        found = self._branch(self._limits())
        if found.is_empty:
            raise NoTableError
        if found.table is not None or self._effort.is_spent:
            return found.table
        whole = self._whole(nothing, 1, 0, 0)
        if whole.is_empty:
            raise NoTableError
        if whole.table is None and whole.vertex is not None:
            return self._walk(self._limits(), self._rounded(whole.vertex), self._steps)
        return whole.table

    def _by_walks(self, sums: Integers, progress: Callable[[int], None]) -> list[Target]:
        """Settle what walks can settle; return what they leave."""
        left: list[Target] = []
        size, missed = _FIRST_BUNDLE, 0
        for side in (1, -1):
            waiting = [(int(k), side) for k in self._random.permutation(sums)]
            while waiting := [target for target in waiting if self._is_open(target)]:
                if missed >= _PATIENCE or self._effort.is_spent:
                    left += waiting
                    break
                limits, chosen = self._bundle(waiting, size)
                assert self.table is not None
                table = self._walk(limits, self.table, self._steps) if chosen else None
                if table is not None:
                    self._see(table)
                    size, missed = min(2 * size, _MOST_BUNDLE), 0
                    progress(self.n_settled)
                elif chosen <= 1:
                    left.append(waiting.pop(0))
                    missed += 1
                    self._temperature = (self._temperature + 1) % len(_TEMPERATURES)
                else:
                    size = max(1, chosen // 2)
        return left

    def _bundle(self, waiting: list[Target], size: int) -> tuple[CountLimits, int]:
        """Return limits with the first target and others at their bounds, and how many.

        They are those that propagation does not refute together; none if it refutes the first.
        """
        limits, chosen = self._limits(), 0
        for target in waiting[: 4 * size]:
            trial = limits.copied()
            if self._fix(target, trial):
                limits, chosen = trial, chosen + 1
                if chosen == size:
                    break
            elif not chosen:
                break
        return limits, chosen

    def _by_relaxation(self, target: Target, _others: list[Target]) -> None:
        """Close an outer bound in by a linear program, and walk from its vertex."""
        self._effort.relaxations += 1
        relaxed = self._program.relaxed(self._members(target), -target[1])
        if relaxed.bound is not None:
            self._close(target, -target[1] * relaxed.bound)
        if relaxed.table is not None:
            self._see(relaxed.table)
        limits = self._limits()
        if self._is_open(target) and relaxed.vertex is not None and self._fix(target, limits):
            self._from_vertex(limits, self._rounded(relaxed.vertex))

    def _from_vertex(self, limits: CountLimits, start: Integers) -> None:
        """Walk from near a vertex at several temperatures, the most successful first.

        All are tried for the first targets, and then those that found something. On an 8 x 8 x 8
        table from its 2-way margins this settles 74 of 77 sums of eight cells; the temperature that
        found the first table alone leaves 41.
        """
        order = np.argsort(-self._n_found, kind="stable")
        self._n_vertices += 1
        if self._n_vertices > _PATIENCE:
            order = order[: max(1, np.count_nonzero(self._n_found))]
        for number in order.tolist():
            self._temperature = number
            table = self._walk(limits, start, self._steps)
            if table is not None:
                self._see(table)
                self._n_found[number] += 1
                return

    def _by_branching(self, target: Target, others: list[Target]) -> None:
        """Move an outer bound inwards where branching proves that nothing is there."""
        side = target[1]
        for _ in range(_MOST_MOVES):
            if not self._is_open(target) or self._effort.is_spent:
                return
            limits = self._limits()
            if not self._fix(target, limits):
                self._close(target, self._outer(target) - side)
                continue
            is_joined = self._n_joined > 0
            if is_joined:
                limits = self._joined_by(others, limits)
            found = self._branch(limits)
            if found.table is not None:
                self._see(found.table)
                self._n_joined = min(found.nodes // _NODES_PER_JOINED, _MOST_JOINED)
            elif is_joined:
                self._n_joined = 0
            elif found.is_empty:
                self._close(target, self._outer(target) - side)
            else:
                return

    def _branch(self, limits: CountLimits) -> Branching:
        found = branch(
            self.component, self._program, limits, _MAX_NODES,
            lambda: self._effort.is_spent,
        )  # fmt: skip
        self._effort.relaxations += found.nodes
        return found

    def _joined_by(self, others: list[Target], limits: CountLimits) -> CountLimits:
        """Return limits with further cells at their outer bounds, as far as real numbers allow."""
        joined = 0
        for other in others[: 2 * self._n_joined]:
            trial = limits.copied()
            if not self._is_open(other) or not self._fix(other, trial):
                continue
            self._effort.relaxations += 1
            if self._program.within(trial).vertex is not None:
                limits = trial
                joined += 1
                if joined == self._n_joined:
                    break
        return limits

    def _by_program(self, target: Target, _others: list[Target]) -> None:
        """Close what is left by an integer program over the values not yet met."""
        k, side = target
        if side > 0:
            low, high = int(self._seen_most[k]) + 1, int(self.most[k])
        else:
            low, high = int(self.least[k]), int(self._seen_least[k]) - 1
        whole = self._whole(self._members(target), -side, low, high)
        if whole.table is not None:
            self._see(whole.table)
        if whole.is_empty:
            self._close(target, int(self._seen_most[k] if side > 0 else self._seen_least[k]))
        elif whole.bound is not None:
            self._close(target, -side * whole.bound)

    def _whole(self, members: Integers, sign: int, low: int, high: int) -> Verdict:
        effort = self._effort
        effort.programs += 1
        found = self._program.whole(members, sign, low, high, effort.seconds, effort.nodes)
        effort.relaxations += found.nodes
        return found

    def _walk(self, limits: CountLimits, start: Integers, steps: int) -> Integers | None:
        """Return a table within limits, if a walk finds one."""
        from gamekeeper.algorithms.releases.propagation_kernels import repair

        lower, upper, row_lower, row_upper = limits
        table = np.clip(start, lower, upper)
        part = self.component
        per_cell = part.starts[part.n_rows] / len(part.cells)
        self._taken = repair(
            part.starts, part.members, row_lower, row_upper, part.cell_starts, part.cell_rows,
            lower, upper, table, steps, _TEMPERATURES[self._temperature] * per_cell, self._random,
            *np.empty((3, len(row_lower)), np.int64),
        )  # fmt: skip
        return table if self._taken >= 0 else None

    def _limits(self) -> CountLimits:
        return self.component.limits().copied()

    def _fix(self, target: Target, limits: CountLimits) -> bool:
        row = self.component.n_rows + target[0]
        limits.row_lower[row] = limits.row_upper[row] = self._outer(target)
        return self.component.propagate(limits, np.full(len(limits.row_lower), row), 1)

    def _see(self, table: Integers) -> None:
        values = self.component.totals(table)[self.component.n_rows :]
        np.minimum(self._seen_least, values, out=self._seen_least)
        np.maximum(self._seen_most, values, out=self._seen_most)
        self.table = table
        self._effort.tables += 1

    def _members(self, target: Target) -> Integers:
        return self.component.members_of(self.component.n_rows + target[0])

    def _outer(self, target: Target) -> int:
        k, side = target
        return int(self.most[k] if side > 0 else self.least[k])

    def _close(self, target: Target, bound: int) -> None:
        k, side = target
        if side > 0:
            self.most[k] = min(int(self.most[k]), bound)
        else:
            self.least[k] = max(int(self.least[k]), bound)

    def _is_open(self, target: Target) -> bool:
        k, side = target
        if side > 0:
            return bool(self._seen_most[k] < self.most[k])
        return bool(self._seen_least[k] > self.least[k])

    def _rounded(self, vertex: NDArray[np.float64]) -> Integers:
        return np.clip(np.rint(vertex).astype(np.int64), 0, self.component.upper)

    @cached_property
    def _program(self) -> CountProgram:
        return CountProgram(self.component)
