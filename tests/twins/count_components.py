"""An older way to the bounds of counts, kept to compare: rows of ones over whole numbers from 0 up.

Limits of cells are propagated, components are stated in counts above the lower ones, walks and
programs close the bounds.
"""

# pyright: basic

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compiling import inner, kernel
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


PRIMAL, DUAL = (4, 1)


def silent_solver(**options: bool | float | str):
    highs = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    return highs


def program_by_rows(columns, rows, starts, members, factors=None):
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = (len(columns[0]), len(rows[0]))
    model.col_cost_ = np.zeros(len(columns[0]))
    model.col_lower_, model.col_upper_ = columns
    model.row_lower_, model.row_upper_ = rows
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = starts.astype(np.int32)
    model.a_matrix_.index_ = members.astype(np.int32)
    model.a_matrix_.value_ = (
        np.ones(len(members)) if factors is None else factors.astype(np.float64)
    )
    return model


def run_again_if_needed(highs):
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        highs.clearSolver()
        highs.run()
    return highs.getModelStatus()


def row_sums(starts, values):
    running = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    return running[starts[1:]] - running[starts[:-1]]


@dataclass(frozen=True, eq=False)
class Limits:
    lower: Integers
    upper: Integers
    unbounded: NDArray[np.bool_]


class CountLimits(NamedTuple):
    lower: Integers
    upper: Integers
    row_lower: Integers
    row_upper: Integers

    def copied(self):
        return CountLimits(*(limits.copy() for limits in self))


@dataclass(frozen=True, eq=False)
class CountComponent:
    cells: Integers
    starts: Integers
    members: Integers
    row_lower: Integers
    row_upper: Integers
    cell_starts: Integers
    cell_rows: Integers
    upper: Integers
    sums: Integers
    n_rows: int

    def members_of(self, row):
        return self.members[self.starts[row] : self.starts[row + 1]]

    def totals(self, table):
        return row_sums(self.starts, table[self.members])

    def limits(self):
        return CountLimits(np.zeros_like(self.upper), self.upper, self.row_lower, self.row_upper)

    def propagate(self, limits, rows, n_rows):
        broken = propagate(
            self.starts,
            self.members,
            limits.row_lower,
            limits.row_upper,
            self.cell_starts,
            self.cell_rows,
            limits.lower,
            limits.upper,
            rows,
            n_rows,
        )
        return broken < 0

    def admits(self, table, limits=None):
        low, high, row_low, row_high = self.limits() if limits is None else limits
        totals = self.totals(table)
        return bool(
            np.all(table >= low)
            and np.all(table <= high)
            and np.all(totals >= row_low)
            and np.all(totals <= row_high)
        )


def tightened(rows, lower, upper):
    lower, upper = (np.maximum(lower, 0), upper.copy())
    if np.any(lower > upper):
        raise NoNumbersError
    cell_starts, cell_rows = rows_of_cells(rows.starts, rows.cells, len(lower))
    broken = propagate(
        rows.starts,
        rows.cells,
        rows.lower,
        rows.upper,
        cell_starts,
        cell_rows,
        lower,
        upper,
        np.arange(len(rows)),
        len(rows),
    )
    if broken >= 0:
        raise NoNumbersError
    unbounded = upper >= UNBOUNDED
    cut = lower.copy()
    np.maximum.at(cut, rows.cells, np.repeat(rows.lower, np.diff(rows.starts)))
    upper[unbounded] = cut[unbounded]
    return Limits(lower, upper, unbounded)


def connected(of_row, of_cell, n_rows, n_cells):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array(
        (np.ones(len(of_row), np.int8), (of_row + n_cells, of_cell)),
        shape=(n_cells + n_rows, n_cells + n_rows),
    )
    numbers = connected_components(graph, directed=False)[1].astype(np.int64)
    return (numbers[:n_cells], numbers[n_cells:])


def components(rows, limits, sums):
    n_cells, n_rows = (len(limits.lower), len(rows))
    is_open = limits.lower < limits.upper
    spread = np.where(is_open, limits.upper - limits.lower, 0)
    below, most = (rows.sums(limits.lower), rows.sums(spread))
    low = np.maximum(rows.lower - below, 0)
    high = np.where(rows.upper >= UNBOUNDED, UNBOUNDED, rows.upper - below)
    high[high >= most] = UNBOUNDED
    counts_row = (low > 0) | (high < UNBOUNDED)
    of_row = np.repeat(np.arange(n_rows), np.diff(rows.starts))
    kept = counts_row[of_row] & is_open[rows.cells]
    of_row, of_cell = (of_row[kept], rows.cells[kept])
    label, _ = connected(of_row, of_cell, n_rows, n_cells)
    open_cells = np.flatnonzero(
        is_open & ((sums >= 0) | (np.bincount(of_cell, minlength=n_cells) > 0))
    )
    found: list[CountComponent] = []
    open_cells = open_cells[np.argsort(label[open_cells], kind="stable")]
    by_label = np.argsort(label[of_cell], kind="stable")
    of_row, of_cell = (of_row[by_label], of_cell[by_label])
    entry_label = label[of_cell]
    labels, firsts = np.unique(label[open_cells], return_index=True)
    ends = np.append(firsts, len(open_cells))[1:]
    for one, start, end in zip(labels.tolist(), firsts.tolist(), ends.tolist(), strict=True):
        cells = open_cells[start:end]
        first, last = np.searchsorted(entry_label, [one, one + 1])
        found.append(
            _component(
                np.sort(cells), of_row[first:last], of_cell[first:last], low, high, spread, sums
            )
        )
    return found


def _component(cells, of_row, of_cell, low, high, spread, sums):
    order = np.argsort(of_row, kind="stable")
    numbers, row_of = np.unique(of_row[order], return_inverse=True)
    wanted = np.flatnonzero(sums[cells] >= 0)
    wanted = wanted[np.argsort(sums[cells[wanted]], kind="stable")]
    asked, sum_of = np.unique(sums[cells[wanted]], return_inverse=True)
    members = np.concatenate([np.searchsorted(cells, of_cell[order]), wanted])
    lengths = np.bincount(
        np.concatenate([row_of, len(numbers) + sum_of]), minlength=len(numbers) + len(asked)
    )
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    cell_starts, cell_rows = rows_of_cells(starts, members, len(cells))
    return CountComponent(
        cells,
        starts,
        members,
        np.concatenate([low[numbers], np.zeros(len(asked), np.int64)]),
        np.concatenate([high[numbers], np.full(len(asked), UNBOUNDED, np.int64)]),
        cell_starts,
        cell_rows,
        spread[cells],
        asked,
        len(numbers),
    )


_NO_LIMIT = UNBOUNDED


def rows_of_cells(starts, cells, n_cells):
    row_starts = np.zeros(n_cells + 1, np.int64)
    np.cumsum(np.bincount(cells, minlength=n_cells), out=row_starts[1:])
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return (row_starts, rows[np.argsort(cells, kind="stable")])


@kernel
def propagate(
    starts, cells, row_lower, row_upper, cell_starts, cell_rows, lower, upper, waiting, n_waiting
):
    n_rows = len(starts) - 1
    is_waiting = np.zeros(n_rows, np.bool_)
    queue = np.empty(n_rows + 1, np.int64)
    for k in range(n_waiting):
        queue[k] = waiting[k]
        is_waiting[waiting[k]] = True
    head, tail, count = (0, n_waiting, n_waiting)
    while count > 0:
        row = queue[head]
        head = (head + 1) % (n_rows + 1)
        count -= 1
        is_waiting[row] = False
        low, high, n_open = (np.int64(0), np.int64(0), 0)
        for k in range(starts[row], starts[row + 1]):
            low += lower[cells[k]]
            if upper[cells[k]] >= _NO_LIMIT:
                n_open += 1
            else:
                high += upper[cells[k]]
        if low > row_upper[row] or (n_open == 0 and high < row_lower[row]):
            return row
        for k in range(starts[row], starts[row + 1]):
            cell = cells[k]
            changed = False
            if row_upper[row] < _NO_LIMIT:
                most = row_upper[row] - (low - lower[cell])
                if most < upper[cell]:
                    if upper[cell] >= _NO_LIMIT:
                        n_open -= 1
                        high += most
                    else:
                        high -= upper[cell] - most
                    upper[cell] = most
                    changed = True
            others_open = n_open - (1 if upper[cell] >= _NO_LIMIT else 0)
            if others_open == 0:
                rest = high if upper[cell] >= _NO_LIMIT else high - upper[cell]
                least = row_lower[row] - rest
                if least > lower[cell]:
                    low += least - lower[cell]
                    lower[cell] = least
                    changed = True
            if lower[cell] > upper[cell]:
                return row
            if changed:
                for j in range(cell_starts[cell], cell_starts[cell + 1]):
                    other = cell_rows[j]
                    if not is_waiting[other]:
                        is_waiting[other] = True
                        queue[tail] = other
                        tail = (tail + 1) % (n_rows + 1)
                        count += 1
    return -1


@inner
def _outside(total, low, high):
    if total < low:
        return low - total
    if total > high:
        return total - high
    return 0


@kernel
def repair(
    starts,
    cells,
    row_lower,
    row_upper,
    cell_starts,
    cell_rows,
    lower,
    upper,
    table,
    steps,
    temperature,
    random,
    totals,
    broken,
    place,
):
    count = 0
    for row in range(len(totals)):
        totals[row] = 0
        place[row] = -1
        for k in range(starts[row], starts[row + 1]):
            totals[row] += table[cells[k]]
        if _outside(totals[row], row_lower[row], row_upper[row]) > 0:
            place[row] = count
            broken[count] = row
            count += 1
    for step in range(steps):
        if count == 0:
            return step
        row = broken[int(random.random() * count)]
        cell = cells[starts[row] + int(random.random() * (starts[row + 1] - starts[row]))]
        if totals[row] < row_lower[row]:
            size = min(row_lower[row] - totals[row], upper[cell] - table[cell])
            sign = 1
        else:
            size = min(totals[row] - row_upper[row], table[cell] - lower[cell])
            sign = -1
        if size <= 0:
            continue
        if size > 1 and random.random() < 0.5:
            size = 1 + int(random.random() * size)
        change = sign * size
        worse = np.int64(0)
        for k in range(cell_starts[cell], cell_starts[cell + 1]):
            r = cell_rows[k]
            worse += _outside(totals[r] + change, row_lower[r], row_upper[r]) - _outside(
                totals[r], row_lower[r], row_upper[r]
            )
        if worse > 0 and random.random() > np.exp(-worse / (temperature * size)):
            continue
        table[cell] += change
        for k in range(cell_starts[cell], cell_starts[cell + 1]):
            r = cell_rows[k]
            totals[r] += change
            is_broken = _outside(totals[r], row_lower[r], row_upper[r]) > 0
            if is_broken and place[r] < 0:
                place[r] = count
                broken[count] = r
                count += 1
            elif not is_broken and place[r] >= 0:
                count -= 1
                last = broken[count]
                broken[place[r]] = last
                place[last] = place[r]
                place[r] = -1
    return steps if count == 0 else -1
