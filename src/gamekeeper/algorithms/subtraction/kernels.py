"""Compiled loops for SAP: parts put together, many small tables, and orderings of the people.

Among n known people of two parts with a and b people, the number in the first part is
hypergeometric. So the probability that some cell is fully known, g, follows from the parts: g(n) is
the mean of 1 - (1 - g_a(j)) (1 - g_b(n - j)). All terms are positive, so rounding errors do not
grow. The weights are products of two binomials of any probability, up to a factor that cancels, so
that all n near to each other share them; j stays where all but 1e-17 of the probability is.

A zero is not recovered in a cell j while some table that fits the release has every known person
and more than the true count in j. The search for one tightens limits row by row, then fixes a cell
near its true count and goes on; cells without an upper limit take what all their rows need. Before
that, tables next to the truth are tried. Tables found answer later questions, and so do samples for
which there is none: the answer for a sample holds for every smaller one in the first case and for
every larger one in the second.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from math import sqrt

import numba
import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel
from gamekeeper.algorithms.linear.kernels import propagate
from gamekeeper.algorithms.releases.constraints import UNBOUNDED

LARGEST_SMALL_POPULATION = 56
"""Up to here all numbers of samples are below 2^53, so that a division rounds only once."""

# Hoeffding: a deviation of t has a probability below 2 exp(-2 t^2 / m), here 1e-17.
_SPREAD = 19.9


@numba.njit(cache=True, nogil=True)
def spread(n, size_a, size_b):
    """Return how far the number of known people in a part can be from its mean."""
    return sqrt(_SPREAD * min(n, size_a + size_b - n, size_a, size_b)) + 1.0


@numba.njit(cache=True, nogil=True)
def merge(asked, a, first_a, size_a, b, first_b, size_b):
    """Return g of the union for each number of known people, in increasing order.

    a and b hold g of the parts for the numbers from first_a and first_b on.
    """
    zero_a, one_a = _ends(a, first_a)
    zero_b, one_b = _ends(b, first_b)
    both = size_a + size_b
    out = np.empty(len(asked))
    start = 0
    while start < len(asked):
        n = asked[start]
        least, most = _window(n, first_a, len(a), size_a, first_b, len(b), size_b)
        if most <= zero_a and n - least <= zero_b:
            out[start] = 0.0
            start += 1
            continue
        if least >= one_a or n - most >= one_b:
            out[start] = 1.0
            start += 1
            continue
        # Weights of one binomial serve all numbers of people within about its deviation; further
        # away they could underflow.
        reach = max(8, int(sqrt(min(n, both - n)) / 2))
        stop = start + 1
        while stop < len(asked) and asked[stop] <= n + reach:
            stop += 1
        middle = (n + asked[stop - 1]) // 2
        odds = (middle + 0.5) / (both - middle + 0.5)
        low_a, high_a, low_b, high_b = least, most, n - most, n - least
        for i in range(start + 1, stop):
            least, most = _window(asked[i], first_a, len(a), size_a, first_b, len(b), size_b)
            low_a, high_a = min(low_a, least), max(high_a, most)
            low_b, high_b = min(low_b, asked[i] - most), max(high_b, asked[i] - least)
        weights_a = _binomial(low_a, high_a, size_a, middle * (size_a / both), odds)
        # Reversed, so that both run in the same direction.
        weights_b = _binomial(low_b, high_b, size_b, middle * (size_b / both), odds)[::-1].copy()
        known_a = weights_a * a[low_a - first_a : high_a - first_a + 1]
        known_b = weights_b * b[low_b - first_b : high_b - first_b + 1][::-1]
        for i in range(start, stop):
            least, most = _window(asked[i], first_a, len(a), size_a, first_b, len(b), size_b)
            at_a = least - low_a
            at_b = high_b - (asked[i] - least)
            length = most - least + 1
            out[i] = _share(
                weights_a[at_a : at_a + length], known_a[at_a : at_a + length],
                weights_b[at_b : at_b + length], known_b[at_b : at_b + length],
            )  # fmt: skip
        start = stop
    return out


@numba.njit(cache=True, nogil=True)
def _window(n, first_a, length_a, size_a, first_b, length_b, size_b):
    """Return the least and the largest number of known people in the first part."""
    middle, far = n * (size_a / (size_a + size_b)), spread(n, size_a, size_b)
    least = max(0, n - size_b, first_a, n - first_b - length_b + 1)
    most = min(n, size_a, first_a + length_a - 1, n - first_b)
    return max(least, int(middle - far)), min(most, int(middle + far) + 1)


@numba.njit(cache=True, nogil=True)
def _binomial(low, high, size, middle, odds):
    """Return weights in proportion to size over k times odds^k, 1 near the middle."""
    weights = np.empty(high - low + 1)
    mode = min(max(int(middle), low), high)
    weights[mode - low] = 1.0
    for k in range(mode, high):
        weights[k - low + 1] = weights[k - low] * (odds * (size - k) / (k + 1.0))
    for k in range(mode, low, -1):
        weights[k - low - 1] = weights[k - low] * (k / (odds * (size - k + 1.0)))
    return weights


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _share(weights_a, known_a, weights_b, known_b):
    """Return the weighted mean of 1 - (1 - g_a) (1 - g_b)."""
    total, value = 0.0, 0.0
    for k in range(len(weights_a)):
        total += weights_a[k] * weights_b[k]
        value += known_a[k] * weights_b[k] + (weights_a[k] - known_a[k]) * known_b[k]
    return value / total


@numba.njit(cache=True, nogil=True)
def _ends(values, first):
    """Return up to which number values are 0 and from which they are 1, to within 1e-15."""
    zero = first - 1
    for value in values:
        if value > 1e-18:
            break
        zero += 1
    one = first + len(values)
    for k in range(len(values) - 1, -1, -1):
        if values[k] < 1.0 - 1e-15:
            break
        one -= 1
    return zero, one


@numba.njit(cache=True, nogil=True)
def small_tables(counts, relevant, unsure, gives_away, asked, out):
    """Fill SAP of each table (a row) for each number of people; numbers of samples are integers."""
    top = LARGEST_SMALL_POPULATION
    choose = np.zeros((top + 1, top + 1), np.int64)
    for n in range(top + 1):
        choose[n, 0] = 1
        for k in range(1, n + 1):
            choose[n, k] = choose[n - 1, k - 1] + choose[n - 1, k]
    samples = np.zeros(top + 1, np.int64)
    kept = np.zeros(top + 1, np.int64)
    n_cells = counts.shape[1]
    nothing = np.zeros(n_cells, np.bool_)
    for t in range(len(counts)):
        total = 0
        known_first = 0
        overlap = False
        for c in range(n_cells):
            total += counts[t, c]
            if unsure[t, c]:
                known_first += counts[t, c]
                overlap = overlap or relevant[t, c]
        recovered = choose[total, : total + 1].copy()
        _without_full(counts[t], relevant[t], nothing, total, samples, kept)
        for n in range(total + 1):
            recovered[n] -= samples[n]
        if gives_away[t] and not overlap:
            _without_full(counts[t], relevant[t], unsure[t], total - known_first, samples, kept)
            for n in range(total - known_first + 1):
                recovered[known_first + n] += samples[n]
        for i in range(len(asked)):
            n = min(asked[i], total)
            out[t, i] = recovered[n] / choose[total, n]


@numba.njit(cache=True, nogil=True)
def _without_full(counts, full, without, population, samples, kept):
    """Fill the numbers of samples of a population, without some cells, that hold none of `full`."""
    samples[:] = 0
    samples[0] = 1
    length, rest = 0, population
    for c in range(len(counts)):
        if not full[c] or without[c]:
            continue
        size = counts[c]
        rest -= size
        kept[: length + 1] = samples[: length + 1]
        for _ in range(size):
            length += 1
            for k in range(length, 0, -1):
                samples[k] += samples[k - 1]
        for k in range(length - size + 1):
            samples[k + size] -= kept[k]
    for _ in range(rest):
        length += 1
        for k in range(length, 0, -1):
            samples[k] += samples[k - 1]


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
    starts, cells, factors, row_lower, row_upper, cell_starts, cell_rows = rows
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
            factors,
            row_lower,
            row_upper,
            cell_starts,
            cell_rows,
            low,
            high,
            _NO_LIMIT,
            True,
            first,
            len(first),
        )
        if bad >= 0:
            continue
        if bad < -1:
            return UNDECIDED
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
    starts, cells, _, row_lower, row_upper, cell_starts, cell_rows = rows
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
