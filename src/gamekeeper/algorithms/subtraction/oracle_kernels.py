"""Compiled search for a table with more people in a cell, and the first recovered zero of an ordering.

A zero is not recovered in a cell j while some table that fits the release has every known person
and more than the true count in j. The search tightens limits row by row, then fixes a cell near its
true count and goes on; cells without an upper limit take what all their rows need. Before that,
tables next to the truth are tried. Tables found answer later questions, and so do samples for which
there is none: the answer for a sample holds for every smaller one in the first case and for every
larger one in the second.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numba
import numpy as np

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.propagation_kernels import propagate

FOUND, NONE, UNDECIDED = 1, 0, -1

_NO_LIMIT = UNBOUNDED


@numba.njit(cache=True, nogil=True)
def _find_table(rows, lower, upper, truth, max_nodes):
    """Return FOUND with a table within the limits, NONE, or UNDECIDED after too many steps."""
    starts, cells, row_lower, row_upper, cell_starts, cell_rows = rows
    n_cells, n_rows = len(lower), len(row_lower)
    depth = 4 * n_cells + 64
    lows = np.empty((depth, n_cells), np.int64)
    highs = np.empty((depth, n_cells), np.int64)
    fixed = np.empty(depth, np.int64)
    lows[0], highs[0], fixed[0] = lower, upper, -1
    waiting = np.arange(n_rows)
    height, nodes = 1, 0
    while height > 0:
        nodes += 1
        if nodes > max_nodes:
            return UNDECIDED, lower
        height -= 1
        low, high = lows[height].copy(), highs[height].copy()
        first = waiting
        if fixed[height] >= 0:
            cell = fixed[height]
            first = cell_rows[cell_starts[cell] : cell_starts[cell + 1]]
        bad = propagate(
            starts,
            cells,
            row_lower,
            row_upper,
            cell_starts,
            cell_rows,
            low,
            high,
            first,
            len(first),
        )
        if bad >= 0:
            continue
        chosen, narrowest = -1, _NO_LIMIT
        for cell in range(n_cells):
            if high[cell] >= _NO_LIMIT:
                need = low[cell]
                for k in range(cell_starts[cell], cell_starts[cell + 1]):
                    need = max(need, row_lower[cell_rows[k]])
                # No row with this cell has an upper limit, so more of it never hurts.
                low[cell] = need
                high[cell] = need
            elif low[cell] < high[cell] and high[cell] - low[cell] < narrowest:
                chosen, narrowest = cell, high[cell] - low[cell]
        if chosen < 0:
            return FOUND, low
        if height + 3 > depth:
            return UNDECIDED, lower
        value = min(max(truth[chosen], low[chosen]), high[chosen])
        for kind in range(3):
            # The last one pushed is tried first: the true count itself.
            if (kind == 0 and value == low[chosen]) or (kind == 1 and value == high[chosen]):
                continue
            lows[height], highs[height], fixed[height] = low, high, chosen
            if kind == 0:
                highs[height, chosen] = value - 1
            elif kind == 1:
                lows[height, chosen] = value + 1
            else:
                lows[height, chosen] = value
                highs[height, chosen] = value
            height += 1
    return NONE, lower


@numba.njit(cache=True, nogil=True)
def _is_row_of(rows, row, cell):
    _, _, _, _, cell_starts, cell_rows = rows
    return np.any(cell_rows[cell_starts[cell] : cell_starts[cell + 1]] == row)


@numba.njit(cache=True, nogil=True)
def _next_to_truth(rows, lower, upper, truth, cell):
    """Return whether the truth with one person more in a cell will do, and that table.

    Somebody who is not known may have to leave another cell for it. Most questions of large
    releases have such an answer, and a search for it would fix one cell after the other.
    """
    starts, cells, row_lower, row_upper, cell_starts, cell_rows = rows
    table = truth.copy()
    if truth[cell] >= upper[cell]:
        return False, table
    first_full = -1
    for k in range(cell_starts[cell], cell_starts[cell + 1]):
        row = cell_rows[k]
        if first_full < 0 and _sum_of(rows, truth, row) >= row_upper[row]:
            first_full = row
    table[cell] += 1
    if first_full < 0:
        return True, table
    for place in range(starts[first_full], starts[first_full + 1]):
        other = cells[place]
        if other == cell or truth[other] <= lower[other]:
            continue
        fits = True
        for k in range(cell_starts[cell], cell_starts[cell + 1]):
            row = cell_rows[k]
            if not _is_row_of(rows, row, other):
                fits = fits and _sum_of(rows, truth, row) < row_upper[row]
        for k in range(cell_starts[other], cell_starts[other + 1]):
            row = cell_rows[k]
            if fits and not _is_row_of(rows, row, cell):
                fits = _sum_of(rows, truth, row) > row_lower[row]
        if fits:
            table[other] -= 1
            return True, table
    return False, table


@numba.njit(cache=True, nogil=True)
def _sum_of(rows, table, row):
    starts, cells, _, _, _, _ = rows
    total = 0
    for place in range(starts[row], starts[row + 1]):
        total += table[cells[place]]
    return total


@numba.njit(cache=True, nogil=True)
def remember(pool, sizes, which, cell, table):
    """Keep a table (which = 0) or a sample that leaves none (which = 1); the oldest is dropped."""
    tables, samples, of_cell = pool
    place = sizes[which] % len(tables)
    if which == 0:
        tables[place] = table
    else:
        samples[place] = table
        of_cell[place] = cell
    sizes[which] += 1


@numba.njit(cache=True, nogil=True)
def recovered_in(rows, limits, truth, pool, sizes, sample, cell, max_nodes):
    """Return NONE if no table has the sample and more than the truth in a cell: a zero is recovered."""
    tables, samples, of_cell = pool
    n_cells = len(truth)
    known = np.flatnonzero(sample)
    kept = min(sizes[0], len(tables))
    for k in range(kept):
        table = tables[k]
        if table[cell] <= truth[cell]:
            continue
        fits = True
        for c in known:
            if table[c] < sample[c]:
                fits = False
                break
        if fits:
            return FOUND
    kept = min(sizes[1], len(samples))
    for k in range(kept):
        if of_cell[k] != cell:
            continue
        fits = True
        for c in range(n_cells):
            if samples[k, c] > sample[c]:
                fits = False
                break
        if fits:
            return NONE
    lower = np.maximum(limits[0], sample)
    lower[cell] = max(lower[cell], truth[cell] + 1)
    upper = limits[1].copy()
    for c in range(n_cells):
        if lower[c] > upper[c]:
            return NONE
    is_near, near = _next_to_truth(rows, lower, upper, truth, cell)
    if is_near:
        remember(pool, sizes, 0, cell, near)
        return FOUND
    answer, table = _find_table(rows, lower, upper, truth, max_nodes)
    if answer == FOUND:
        remember(pool, sizes, 0, cell, table)
    elif answer == NONE:
        remember(pool, sizes, 1, cell, sample)
    return answer


@numba.njit(cache=True, nogil=True)
def first_recoveries(rows, limits, truth, candidates, pool, sizes, orders, done, first, asked, max_nodes):  # fmt: skip
    """Fill for each ordering of the people how many must be known for the first recovered zero.

    Everybody together recovers one, nobody none. Orderings may break off; one more than their
    length then stands for a zero that comes later. Returns the number of orderings done: all of
    them, or up to one that met a question it cannot decide, which is left in `asked` with the cell
    at its end.
    """
    n_cells, length = len(truth), orders.shape[1]
    last = min(truth.sum(), length + 1)
    sample = np.zeros(n_cells, np.int64)
    for k in range(done, len(orders)):
        low, high = 0, last
        while high - low > 1:
            middle = (low + high) // 2
            sample[:] = 0
            for person in range(middle):
                sample[orders[k, person]] += 1
            found = False
            for place in range(len(candidates)):
                cell = candidates[place]
                if sample[cell] < truth[cell]:
                    continue
                answer = recovered_in(rows, limits, truth, pool, sizes, sample, cell, max_nodes)
                if answer == UNDECIDED:
                    asked[:n_cells] = sample
                    asked[n_cells] = cell
                    return k
                if answer == NONE:
                    # The cell that gave a zero away is asked first next time.
                    for back in range(place, 0, -1):
                        candidates[back] = candidates[back - 1]
                    candidates[0] = cell
                    found = True
                    break
            if found:
                high = middle
            else:
                low = middle
        first[k] = high
    return len(orders)


@numba.njit(cache=True, nogil=True)
def cell_recoveries(rows, limits, truth, candidates, pool, sizes, orders, done, first, asked, max_nodes):  # fmt: skip
    """Fill for each ordering and candidate how many people must be known for a zero in that cell.

    Returns what `first_recoveries` returns.
    """
    n_cells, length = len(truth), orders.shape[1]
    last = min(truth.sum(), length + 1)
    sample = np.zeros(n_cells, np.int64)
    for k in range(done, len(orders)):
        for place in range(len(candidates)):
            cell = candidates[place]
            low, high, n_met = -1, last, 0
            for person in range(length):
                # Short of the last person of the cell nothing is recovered there.
                if orders[k, person] == cell:
                    low = person
                    n_met += 1
            if n_met < truth[cell]:
                low = last - 1
            while high - low > 1:
                middle = (low + high) // 2
                sample[:] = 0
                for person in range(middle):
                    sample[orders[k, person]] += 1
                answer = recovered_in(rows, limits, truth, pool, sizes, sample, cell, max_nodes)
                if answer == UNDECIDED:
                    asked[:n_cells] = sample
                    asked[n_cells] = cell
                    return k
                if answer == NONE:
                    high = middle
                else:
                    low = middle
            first[k, place] = high
    return len(orders)
