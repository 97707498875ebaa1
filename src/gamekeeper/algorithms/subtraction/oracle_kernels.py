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

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.propagation_kernels import propagate

FOUND, NONE, UNDECIDED = 1, 0, -1
ASKED, ANY, EACH = range(3)

_NO_LIMIT = UNBOUNDED


@inner
def _copy(source, target):
    for k in range(len(source)):
        target[k] = source[k]


@inner
def _find_table(rows, lower, upper, truth, max_nodes):
    """Return FOUND with a table within the limits, NONE, or UNDECIDED after too many steps.

    The table is left in the place of the lower limits.
    """
    starts, cells, row_lower, row_upper, cell_starts, cell_rows = rows
    n_cells, n_rows = len(lower), len(row_lower)
    depth = 4 * n_cells + 64
    # Lower limits are followed by upper ones.
    stack = np.empty((depth, 2 * n_cells), np.int64)
    both = np.empty(2 * n_cells, np.int64)
    low, high = both[:n_cells], both[n_cells:]
    fixed = np.empty(depth, np.int64)
    waiting = np.empty(n_rows, np.int64)
    for row in range(n_rows):
        waiting[row] = row
    for cell in range(n_cells):
        stack[0, cell] = lower[cell]
        stack[0, n_cells + cell] = upper[cell]
    fixed[0] = -1
    height, nodes = 1, 0
    while height > 0:
        nodes += 1
        if nodes > max_nodes:
            return UNDECIDED
        height -= 1
        _copy(stack[height], both)
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
                # No row with this cell has an upper limit, so more of it never hurts.
                for k in range(cell_starts[cell], cell_starts[cell + 1]):
                    if row_lower[cell_rows[k]] > low[cell]:
                        low[cell] = row_lower[cell_rows[k]]
                high[cell] = low[cell]
            elif low[cell] < high[cell] and high[cell] - low[cell] < narrowest:
                chosen, narrowest = cell, high[cell] - low[cell]
        if chosen < 0:
            _copy(low, lower)
            return FOUND
        if height + 3 > depth:
            return UNDECIDED
        value = truth[chosen] if truth[chosen] > low[chosen] else low[chosen]
        value = high[chosen] if high[chosen] < value else value
        for kind in range(3):
            # The last one pushed is tried first: the true count itself.
            if (kind == 0 and value == low[chosen]) or (kind == 1 and value == high[chosen]):
                continue
            _copy(both, stack[height])
            fixed[height] = chosen
            if kind != 0:
                stack[height, chosen] = value + 1 if kind == 1 else value
            if kind != 1:
                stack[height, n_cells + chosen] = value - 1 if kind == 0 else value
            height += 1
    return NONE


@inner
def _has_row(cell_starts, cell_rows, cell, row):
    for k in range(cell_starts[cell], cell_starts[cell + 1]):  # noqa: SIM110 - a plain loop
        if cell_rows[k] == row:
            return True
    return False


@inner
def _next_to_truth(rows, sums, lower, upper, truth, cell):
    """Return where a person can be taken from if the truth with one more in a cell will do, or -1.

    The cell itself stands for nowhere. Else somebody who is not known has to leave another cell.
    Most questions of large releases have such an answer, and a search for it would fix one cell
    after the other.
    """
    starts, cells, row_lower, row_upper, cell_starts, cell_rows = rows
    if truth[cell] >= upper[cell]:
        return -1
    first_full = -1
    for k in range(cell_starts[cell], cell_starts[cell + 1]):
        row = cell_rows[k]
        if first_full < 0 and sums[row] >= row_upper[row]:
            first_full = row
    if first_full < 0:
        return cell
    for place in range(starts[first_full], starts[first_full + 1]):
        other = cells[place]
        if other == cell or truth[other] <= lower[other]:
            continue
        fits = True
        for k in range(cell_starts[cell], cell_starts[cell + 1]):
            row = cell_rows[k]
            if fits and not _has_row(cell_starts, cell_rows, other, row):
                fits = sums[row] < row_upper[row]
        for k in range(cell_starts[other], cell_starts[other + 1]):
            row = cell_rows[k]
            if fits and not _has_row(cell_starts, cell_rows, cell, row):
                fits = sums[row] > row_lower[row]
        if fits:
            return other
    return -1


@inner
def _from_pool(truth, pool, sizes, sample, cell):
    """Return FOUND or NONE where a table or sample that is kept answers, else UNDECIDED."""
    tables, samples, of_cell = pool
    n_cells = len(truth)
    known = np.empty(n_cells, np.int64)
    n_known = 0
    for c in range(n_cells):
        if sample[c] > 0:
            known[n_known] = c
            n_known += 1
    for k in range(sizes[0] if sizes[0] < len(tables) else len(tables)):
        place = 0 if tables[k, cell] > truth[cell] else n_known + 1
        while place < n_known and tables[k, known[place]] >= sample[known[place]]:
            place += 1
        if place == n_known:
            return FOUND
    for k in range(sizes[1] if sizes[1] < len(samples) else len(samples)):
        place = 0 if of_cell[k] == cell else n_cells + 1
        while place < n_cells and samples[k, place] <= sample[place]:
            place += 1
        if place == n_cells:
            return NONE
    return UNDECIDED


@inner
def _recovered_in(rows, sums, limits, truth, pool, sizes, sample, cell, max_nodes):
    """Return NONE if no table has the sample and more than the truth in a cell: a zero is recovered.

    `sums` are those of the truth by row. The pool keeps tables, samples that leave none, and the
    cells of these; the sizes are how many of each there have been. The oldest are dropped.
    """
    tables, samples, of_cell = pool
    answer = _from_pool(truth, pool, sizes, sample, cell)
    if answer != UNDECIDED:
        return answer
    n_cells = len(truth)
    lower, upper = np.empty(n_cells, np.int64), limits[1]
    _copy(limits[0], lower)
    if truth[cell] + 1 > lower[cell]:
        lower[cell] = truth[cell] + 1
    for c in range(n_cells):
        if sample[c] > lower[c]:
            lower[c] = sample[c]
        if lower[c] > upper[c]:
            return NONE
    place = sizes[0] % len(tables)
    other = _next_to_truth(rows, sums, lower, upper, truth, cell)
    if other >= 0:
        _copy(truth, tables[place])
        tables[place, cell] += 1
        tables[place, other] -= 1 if other != cell else 0
        sizes[0] += 1
        return FOUND
    answer = _find_table(rows, lower, upper, truth, max_nodes)
    if answer == FOUND:
        _copy(lower, tables[place])
        sizes[0] += 1
    elif answer == NONE:
        place = sizes[1] % len(samples)
        _copy(sample, samples[place])
        of_cell[place] = cell
        sizes[1] += 1
    return answer


@kernel
def find_recoveries(
    rows, sums, limits, truth, candidates, pool, sizes,
    orders, purpose, done, last, first, asked, max_nodes,
):  # fmt: skip
    """Answer one question, or find for orderings of the people when a zero is recovered.

    A question, ASKED, is a sample with a cell at its end; the answer is returned. Otherwise `first`
    is filled: for each ordering, how many of the people must be known for a recovered zero, in ANY
    of the candidates (everybody together recovers one there, nobody none) or in EACH by itself.
    Orderings may break off; `last` then stands for a zero that comes later, one more than their
    length. Returns the number of orderings done: all of them, or up to one that met a question it
    cannot decide, which is left in `asked`.
    """
    n_cells, n_candidates = len(truth), len(candidates)
    sample = asked[:n_cells]
    if purpose == ASKED:
        return _recovered_in(
            rows, sums, limits, truth, pool, sizes, sample, asked[n_cells], max_nodes
        )
    for k in range(done, len(orders)):
        for column in range(first.shape[1]):
            begin, end, low, high = 0, n_candidates, 0, last
            if purpose == EACH:
                begin, end, low, n_met = column, column + 1, -1, 0
                for person in range(orders.shape[1]):
                    # Short of the last person of the cell nothing is recovered there.
                    if orders[k, person] == candidates[column]:
                        low = person
                        n_met += 1
                if n_met < truth[candidates[column]]:
                    low = last - 1
            while high - low > 1:
                middle = (low + high) // 2
                sample[:] = 0
                for person in range(middle):
                    sample[orders[k, person]] += 1
                is_recovered = False
                for place in range(begin, end):
                    cell = candidates[place]
                    if sample[cell] < truth[cell]:
                        continue
                    answer = _recovered_in(
                        rows, sums, limits, truth, pool, sizes, sample, cell, max_nodes
                    )
                    if answer == UNDECIDED:
                        asked[n_cells] = cell
                        return k
                    if answer == NONE:
                        # The cell that gave a zero away is asked first next time.
                        for back in range(place, begin, -1):
                            candidates[back] = candidates[back - 1]
                        candidates[begin] = cell
                        is_recovered = True
                        break
                if is_recovered:
                    high = middle
                else:
                    low = middle
            first[k, column] = high
    return len(orders)
