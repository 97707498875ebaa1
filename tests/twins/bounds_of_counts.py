"""An older search for the bounds of counts, kept to compare.

Walks and programs close the bounds of each component (`count_components`).
"""

# pyright: basic

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from tests.twins.count_components import (
    DUAL,
    PRIMAL,
    components,
    program_by_rows,
    repair,
    run_again_if_needed,
    silent_solver,
    tightened,
)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


_BELIEVED = 2**20

_DENOMINATORS = (1, 12, 5040)

_LAST_DENOMINATOR = 2**30


@dataclass(frozen=True, eq=False)
class Verdict:
    bound: int | None = None
    vertex: Floats | None = None
    table: Integers | None = None
    is_empty: bool = False
    nodes: int = 0


class CountProgram:
    def __init__(self, component):
        self._component = component
        self._branches: Any = None
        is_long = np.any(np.diff(component.starts[component.n_rows :]) > 1)
        self._n_branched = len(component.row_lower) if is_long else component.n_rows
        self._costs = np.zeros(len(component.cells), np.int64)
        self._highs = silent_solver(presolve="off", simplex_strategy=PRIMAL)
        self._highs.passModel(_model(component, component.n_rows))

    def relaxed(self, members, sign):
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

    def whole(self, members, sign, low, high, seconds=None, max_nodes=None):
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
                float(low),
                float(high),
                len(members),
                members.astype(np.int32),
                np.ones(len(members)),
            )
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
        if table is None or status != statuses.kOptimal or (not is_believed):
            return Verdict(None, vertex, table, nodes=nodes)
        return Verdict(sign * int(table[members].sum()), vertex, table, nodes=nodes)

    def within(self, limits):
        component = self._component
        if self._branches is None:
            self._branches = silent_solver(presolve="off", simplex_strategy=DUAL)
            self._branches.passModel(_model(component, self._n_branched))
        n = len(component.cells)
        self._branches.changeColsBounds(
            n,
            np.arange(n, dtype=np.int32),
            limits.lower.astype(np.float64),
            limits.upper.astype(np.float64),
        )
        sums = np.arange(component.n_rows, self._n_branched)
        if len(sums):
            self._branches.changeRowsBounds(
                len(sums),
                sums.astype(np.int32),
                *_row_limits(limits.row_lower, limits.row_upper, sums),
            )
        status = run_again_if_needed(self._branches)
        if status == highspy.HighsModelStatus.kInfeasible:
            _, exists, ray = self._branches.getDualRay()
            return Verdict(is_empty=exists and _is_proof(component, limits, np.array(ray)))
        if status != highspy.HighsModelStatus.kOptimal:
            return Verdict()
        vertex = np.array(self._branches.getSolution().col_value)
        return Verdict(None, vertex, _table(component, vertex, limits))

    def _set_costs(self, members, sign):
        before = np.flatnonzero(self._costs)
        self._costs[before] = 0
        self._costs[members] = sign
        changed = np.union1d(before, members)
        self._highs.changeColsCost(
            len(changed), changed.astype(np.int32), self._costs[changed].astype(np.float64)
        )


def _is_proof(component, limits, ray):
    size = np.abs(ray).max(initial=0.0)
    if not np.isfinite(size) or size == 0.0:
        return False
    nothing = np.zeros(len(component.cells), np.int64)
    return any(dual_bound(component, nothing, sign * ray / size, limits) > 0 for sign in (1, -1))


def dual_bound(component, costs, duals, limits=None):
    limits = component.limits() if limits is None else limits
    lower, upper = (limits.lower, limits.upper)
    denominator = next(
        (d for d in _DENOMINATORS if np.all(np.abs(duals * d - np.rint(duals * d)) < 1e-06 * d)),
        _LAST_DENOMINATOR,
    )
    scaled = np.rint(duals * denominator)
    n = len(duals)
    low, high = (limits.row_lower[:n], limits.row_upper[:n])
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


def _whole(values, kind):
    if kind is object:
        return np.array([int(value) for value in values], object)
    return values.astype(np.int64)


def _by_cell(component, duals):
    n_others = len(component.row_lower) - len(duals)
    padded = np.concatenate([duals, np.zeros(n_others, duals.dtype)])
    return np.add.reduceat(padded[component.cell_rows], component.cell_starts[:-1])


def _table(component, vertex, limits=None):
    table = np.rint(vertex).astype(np.int64)
    return table if component.admits(table, limits) else None


def _row_limits(lower, upper, rows):
    high = upper[rows]
    infinite = np.where(high >= UNBOUNDED, np.inf, high.astype(np.float64))
    return (lower[rows].astype(np.float64), infinite)


def _model(component, n):
    return program_by_rows(
        (np.zeros(len(component.cells)), component.upper.astype(np.float64)),
        _row_limits(component.row_lower, component.row_upper, np.arange(n)),
        component.starts[: n + 1],
        component.members[: component.starts[n]],
    )


@dataclass(frozen=True, eq=False)
class Branching:
    table: Integers | None
    is_empty: bool
    nodes: int


def branch(component, program, limits, max_nodes, is_stopped=lambda: False):
    rows = np.arange(len(component.row_lower))
    is_proven = True
    waiting = [limits]
    for nodes in range(max_nodes):
        if not waiting:
            return Branching(None, is_proven, nodes)
        if is_stopped():
            return Branching(None, False, nodes)
        now = waiting.pop()
        low, high = (now.lower, now.upper)
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
            is_proven = False
            continue
        below, above = (now._replace(lower=low.copy(), upper=high.copy()), now)
        below.upper[cell] = floor
        above.lower[cell] = floor + 1
        waiting += [below, above] if part[cell] >= 0.5 else [above, below]
    return Branching(None, is_proven and (not waiting), max_nodes)


Target = tuple[int, int]

_TEMPERATURES = (0.1, 0.13, 0.17, 0.2)

_STEPS_PER_CELL = 25

_FEWEST_STEPS = 2000

_STEPS_PER_FIRST = 2

_FIRST_BUNDLE, _MOST_BUNDLE = (8, 64)

_PATIENCE = 10

_MAX_NODES = 100

_MOST_MOVES = 10

_NODES_PER_JOINED = 3

_MOST_JOINED = 16


@dataclass
class Effort:
    max_programs: int | None = None
    deadline: float | None = None
    relaxations: int = 0
    programs: int = 0
    tables: int = 0

    @property
    def is_spent(self):
        if self.max_programs is not None and self.relaxations + self.programs >= self.max_programs:
            return True
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def nodes(self):
        if self.max_programs is None:
            return None
        return max(self.max_programs - self.relaxations - self.programs, 1)

    @property
    def seconds(self):
        return None if self.deadline is None else self.deadline - time.monotonic()


class BoundSearch:
    def __init__(self, component, effort):
        self.component = component
        self.table: Integers | None = None
        n, sums = (component.n_rows, len(component.sums))
        self.least = np.zeros(sums, np.int64)
        self.most = component.totals(component.upper)[n:]
        self._seen_least, self._seen_most = (self.most.copy(), self.least.copy())
        self._effort = effort
        self._n_joined = self._n_vertices = 0
        self._n_found = np.zeros(len(_TEMPERATURES), np.int64)
        self._temperature = self._taken = 0
        self._random = np.random.default_rng(1)
        self._steps = max(_FEWEST_STEPS, _STEPS_PER_CELL * (n + len(component.cells)))

    @property
    def tight_lower(self):
        return (self._seen_least == self.least) & (self.table is not None)

    @property
    def tight_upper(self):
        return (self._seen_most == self.most) & (self.table is not None)

    @property
    def n_settled(self):
        return int(self.tight_lower.sum() + self.tight_upper.sum())

    def start(self):
        component = self.component
        if not component.n_rows:
            self._see(np.zeros(len(component.cells), np.int64))
            self._see(component.upper.copy())
            return True
        nothing = np.zeros(len(component.cells), np.int64)
        table = self._first_by_walks(nothing, 2 * self._steps)
        if table is None and (not self._effort.is_spent):
            table = self._first_by_programs()
        if table is not None:
            self._see(table)
        return self.table is not None

    def run(self, progress):
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

    def _first_by_walks(self, start, steps):
        best: Integers | None = None
        fastest = 0
        for number in range(len(_TEMPERATURES)):
            self._temperature = number
            table = self._walk(self._limits(), start, steps)
            if table is not None:
                best, fastest, steps = (table, number, self._taken)
        self._temperature = fastest
        if best is not None:
            self._steps = max(self._steps, _STEPS_PER_FIRST * steps)
        return best

    def _first_by_programs(self):
        nothing = np.zeros(0, np.int64)
        self._effort.relaxations += 1
        relaxed = self._program.relaxed(nothing, 1)
        if relaxed.is_empty:
            raise NoNumbersError
        if relaxed.table is not None:
            return relaxed.table
        if relaxed.vertex is not None:
            table = self._first_by_walks(self._rounded(relaxed.vertex), 16 * self._steps)
            if table is not None:
                return table
        found = self._branch(self._limits())
        if found.is_empty:
            raise NoNumbersError
        if found.table is not None or self._effort.is_spent:
            return found.table
        whole = self._whole(nothing, 1, 0, 0)
        if whole.is_empty:
            raise NoNumbersError
        if whole.table is None and whole.vertex is not None:
            return self._walk(self._limits(), self._rounded(whole.vertex), self._steps)
        return whole.table

    def _by_walks(self, sums, progress):
        left: list[Target] = []
        size, missed = (_FIRST_BUNDLE, 0)
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
                    size, missed = (min(2 * size, _MOST_BUNDLE), 0)
                    progress(self.n_settled)
                elif chosen <= 1:
                    left.append(waiting.pop(0))
                    missed += 1
                    self._temperature = (self._temperature + 1) % len(_TEMPERATURES)
                else:
                    size = max(1, chosen // 2)
        return left

    def _bundle(self, waiting, size):
        limits, chosen = (self._limits(), 0)
        for target in waiting[: 4 * size]:
            trial = limits.copied()
            if self._fix(target, trial):
                limits, chosen = (trial, chosen + 1)
                if chosen == size:
                    break
            elif not chosen:
                break
        return (limits, chosen)

    def _by_relaxation(self, target, _others):
        self._effort.relaxations += 1
        relaxed = self._program.relaxed(self._members(target), -target[1])
        if relaxed.bound is not None:
            self._close(target, -target[1] * relaxed.bound)
        if relaxed.table is not None:
            self._see(relaxed.table)
        limits = self._limits()
        if self._is_open(target) and relaxed.vertex is not None and self._fix(target, limits):
            self._from_vertex(limits, self._rounded(relaxed.vertex))

    def _from_vertex(self, limits, start):
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

    def _by_branching(self, target, others):
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

    def _branch(self, limits):
        found = branch(
            self.component, self._program, limits, _MAX_NODES, lambda: self._effort.is_spent
        )
        self._effort.relaxations += found.nodes
        return found

    def _joined_by(self, others, limits):
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

    def _by_program(self, target, _others):
        k, side = target
        if side > 0:
            low, high = (int(self._seen_most[k]) + 1, int(self.most[k]))
        else:
            low, high = (int(self.least[k]), int(self._seen_least[k]) - 1)
        whole = self._whole(self._members(target), -side, low, high)
        if whole.table is not None:
            self._see(whole.table)
        if whole.is_empty:
            self._close(target, int(self._seen_most[k] if side > 0 else self._seen_least[k]))
        elif whole.bound is not None:
            self._close(target, -side * whole.bound)

    def _whole(self, members, sign, low, high):
        effort = self._effort
        effort.programs += 1
        found = self._program.whole(members, sign, low, high, effort.seconds, effort.nodes)
        effort.relaxations += found.nodes
        return found

    def _walk(self, limits, start, steps):
        lower, upper, row_lower, row_upper = limits
        table = np.clip(start, lower, upper)
        part = self.component
        per_cell = part.starts[part.n_rows] / len(part.cells)
        self._taken = repair(
            part.starts,
            part.members,
            row_lower,
            row_upper,
            part.cell_starts,
            part.cell_rows,
            lower,
            upper,
            table,
            steps,
            _TEMPERATURES[self._temperature] * per_cell,
            self._random,
            *np.empty((3, len(row_lower)), np.int64),
        )
        return table if self._taken >= 0 else None

    def _limits(self):
        return self.component.limits().copied()

    def _fix(self, target, limits):
        row = self.component.n_rows + target[0]
        limits.row_lower[row] = limits.row_upper[row] = self._outer(target)
        return self.component.propagate(limits, np.full(len(limits.row_lower), row), 1)

    def _see(self, table):
        values = self.component.totals(table)[self.component.n_rows :]
        np.minimum(self._seen_least, values, out=self._seen_least)
        np.maximum(self._seen_most, values, out=self._seen_most)
        self.table = table
        self._effort.tables += 1

    def _members(self, target):
        return self.component.members_of(self.component.n_rows + target[0])

    def _outer(self, target):
        k, side = target
        return int(self.most[k] if side > 0 else self.least[k])

    def _close(self, target, bound):
        k, side = target
        if side > 0:
            self.most[k] = min(int(self.most[k]), bound)
        else:
            self.least[k] = max(int(self.least[k]), bound)

    def _is_open(self, target):
        k, side = target
        if side > 0:
            return bool(self._seen_most[k] < self.most[k])
        return bool(self._seen_least[k] > self.least[k])

    def _rounded(self, vertex):
        return np.clip(np.rint(vertex).astype(np.int64), 0, self.component.upper)

    @cached_property
    def _program(self):
        return CountProgram(self.component)


@dataclass(frozen=True, eq=False)
class IntegerBounds:
    lower: Integers
    upper: Integers
    tight_lower: NDArray[np.bool_]
    tight_upper: NDArray[np.bool_]
    table: Integers | None
    relaxations: int
    programs: int
    tables: int

    @property
    def tight(self):
        return self.tight_lower & self.tight_upper


def _bounds(rows, limits, sums, n_sums, effort, progress):
    parts = components(rows, limits, sums)
    searches = [BoundSearch(part, effort) for part in parts]
    n_open = 2 * sum(len(part.sums) for part in parts)
    table: Integers | None = limits.lower.copy()
    for search in searches:
        if search.start() and table is not None and (search.table is not None):
            table[search.component.cells] += search.table
        else:
            table = None
    lower, tight_lower = (np.zeros(n_sums, np.int64), np.full(n_sums, table is not None))
    asked = sums >= 0
    np.add.at(lower, sums[asked], limits.lower[asked])
    upper, tight_upper = (lower.copy(), tight_lower.copy())
    settled = 0
    for search in searches:
        if table is not None:
            search.run(_told(progress, settled, n_open))
            settled += search.n_settled
        own = search.component.sums
        lower[own] += search.least
        upper[own] += search.most
        tight_lower[own] &= search.tight_lower
        tight_upper[own] &= search.tight_upper
    if progress is not None:
        progress(settled, n_open)
    unbounded = np.unique(sums[asked & limits.unbounded])
    upper[unbounded] = UNBOUNDED
    tight_upper[unbounded] = table is not None
    return IntegerBounds(
        lower,
        upper,
        tight_lower,
        tight_upper,
        table,
        effort.relaxations,
        effort.programs,
        effort.tables,
    )


def _told(progress, before, total):
    if progress is None:
        return lambda settled: None
    return lambda settled: progress(before + settled, total)


def integer_bounds(constraints, max_programs=None):
    return sum_bounds(constraints, np.arange(constraints.size), constraints.size, max_programs)


def sum_bounds(constraints, sums, n_sums, max_programs=None):
    n = constraints.size
    limits = tightened(constraints.rows, np.zeros(n, np.int64), np.full(n, UNBOUNDED, np.int64))
    return _bounds(constraints.rows, limits, sums, n_sums, Effort(max_programs), None)
