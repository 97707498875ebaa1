"""Repairing tables of whole numbers by a random walk over the rows that do not hold.

A step takes a row at random among those outside their limits and moves one of its cells towards
them, by all that is missing or by part of it. A step that makes the others worse is taken with a
probability that falls with what it costs per unit moved (the Metropolis rule at a fixed
temperature). The right temperature decides: on a 20 x 20 x 10 table from its 2-way margins some
100,000 steps lead from nothing to a table at 0.3, and a million do not at 0.5. Where tables are
few or none, the walk gives up and proves nothing. Every table it returns is exact: sums are whole
numbers throughout. A step costs the number of rows of a cell.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel


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
