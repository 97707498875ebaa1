"""Tightening limits of cells row by row until nothing changes, and repairing tables by random walks.

Within a row of known sum, a cell is at most the row's upper limit less the lower limits of the
others, and at least the row's lower limit less their upper limits. Rows are visited while one of
their cells has changed. The limits reached contain every feasible table; they need not be tight.
One visit costs the length of the row, memory is linear.

A walk over the rows that do not hold takes one of them at random and moves one of its cells towards
its limits, by all that is missing or by part of it. A step that makes the others worse is taken
with a probability that falls with what it costs per unit moved (the Metropolis rule at a fixed
temperature). The right temperature decides: on a 20 x 20 x 10 table from its 2-way margins some
100,000 steps lead from nothing to a table at 0.3, and a million do not at 0.5. Where tables are few
or none, the walk gives up and proves nothing. Every table it returns is exact: sums are whole
numbers throughout. A step costs the number of rows of a cell.

The kernels are compiled, and let go of the interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel
from gamekeeper.algorithms.releases.constraints import UNBOUNDED

_NO_LIMIT = UNBOUNDED


def rows_of_cells(starts, cells, n_cells):
    """Return for each cell the rows it is part of, as starts and rows."""
    row_starts = np.zeros(n_cells + 1, np.int64)
    np.cumsum(np.bincount(cells, minlength=n_cells), out=row_starts[1:])
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return row_starts, rows[np.argsort(cells, kind="stable")]


@kernel
def propagate(
    starts, cells, row_lower, row_upper, cell_starts, cell_rows, lower, upper, waiting, n_waiting
):
    """Tighten lower and upper in place; return -1, or a row that cannot hold.

    `waiting` has a place per row and holds the rows to visit first, `n_waiting` of them. Limits of
    rows are not changed, so that a caller can undo by restoring its cells.
    """
    n_rows = len(starts) - 1
    is_waiting = np.zeros(n_rows, np.bool_)
    queue = np.empty(n_rows + 1, np.int64)
    for k in range(n_waiting):
        queue[k] = waiting[k]
        is_waiting[waiting[k]] = True
    head, tail, count = 0, n_waiting, n_waiting
    while count > 0:
        row = queue[head]
        head = (head + 1) % (n_rows + 1)
        count -= 1
        is_waiting[row] = False
        low, high, n_open = np.int64(0), np.int64(0), 0
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
    starts, cells, row_lower, row_upper, cell_starts, cell_rows, lower, upper,
    table, steps, temperature, random, totals, broken, place,
):  # fmt: skip
    """Change the table in place until every row holds; return the steps taken, or -1 if too few.

    The table must be within the limits of the cells, and stays there. `random` is a Generator. The
    last three have a place for each row, and hold nothing before or after.
    """
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
