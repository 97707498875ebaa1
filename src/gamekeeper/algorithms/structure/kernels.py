"""Compiled clustering, exchanges of links, and search for the matching of classes by labels.

**Clustering**: every cluster keeps its nearest among the clusters after it, and how near that is.
After a merger a row whose nearest has gone is not searched again at once: the old figure stays as a
lower bound, and the row is searched only where that bound is the least of all (as in the generic
algorithm of Müllner 2011). Clusters go by their first record; of equal pairs the first is merged,
by its first and then by its second cluster. For the average criterion sums of dissimilarities are
kept and divided when compared: sums of whole numbers are exact, so equal averages are seen as
equal. Time is about quadratic and at worst cubic, memory is one number per pair of records.

**Links**: two are exchanged, or one is moved to a free record, where linked distances then agree
better. The change of the objective by one exchange takes one look at two rows of distances.

**Classes**: a row of A is matched with the row of B that agrees with it in most techniques, once
the labels of A are mapped to labels of B. Labels are numbered from 0 in each technique; `mapping[t,
l]` is the label of B for label l of A, or -1. Branch and bound decides one label after the other. A
pair of rows can still agree in a technique where the labels are mapped to each other, or may yet
be; the most such agreements of each row, summed, bound what can be reached (for one-to-one
matchings the best assignment does). From one look at all pairs follows the bound of every decision
that can be taken next, and the label with the fewest decisions worth taking is decided first.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numba
import numpy as np

_MANHATTAN, _DIFFERENCES, _TAXONOMIC = 0, 1, 2


@numba.njit(cache=True, nogil=True)
def _between(x, y, kind):
    total = 0.0
    n = len(x)
    if kind in (_MANHATTAN, _DIFFERENCES):
        for k in range(n):
            total += abs(x[k] - y[k])
        return total if kind == _MANHATTAN else total / n
    if kind == _TAXONOMIC:
        for k in range(n):
            total += (x[k] - y[k]) ** 2
        return np.sqrt(total / n)
    for k in range(n):
        total += x[k] - y[k]
    return (total / n) ** 2


@numba.njit(cache=True, nogil=True)
def pair_table(values, kind):
    """Return the dissimilarities of all pairs, row by row of the upper triangle."""
    n = len(values)
    table = np.empty(n * (n - 1) // 2)
    place = 0
    for i in range(n):
        for j in range(i + 1, n):
            table[place] = _between(values[i], values[j], kind)
            place += 1
    return table


@numba.njit(cache=True, nogil=True)
def square_table(values, kind):
    """Return the dissimilarities of all pairs as a square."""
    n = len(values)
    table = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            table[i, j] = table[j, i] = _between(values[i], values[j], kind)
    return table


@numba.njit(cache=True, nogil=True)
def cluster_sums(values, rows, labels, n_clusters, kind):
    """Return for some records the sum of their dissimilarities to the members of each cluster.

    There is one column of labels per clustering; clusters of different clusterings have different
    labels.
    """
    sums = np.zeros((len(rows), n_clusters))
    for r in range(len(rows)):
        for j in range(len(values)):
            entry = _between(values[rows[r]], values[j], kind)
            for t in range(labels.shape[1]):
                sums[r, labels[j, t]] += entry
    return sums


@numba.njit(cache=True, nogil=True)
def _search_row(table, n, sizes, is_centroid, active, position, n_active):
    """Return the first of the nearest clusters after one, and how near it is."""
    row = active[position]
    start = row * n - row * (row + 1) // 2 - row - 1
    nearest, least = -1, np.inf
    for k in range(position + 1, n_active):
        column = active[k]
        entry = table[start + column]
        if not is_centroid:
            entry /= sizes[row] * sizes[column]
        if nearest < 0 or entry < least:
            nearest, least = column, entry
    return nearest, least


@numba.njit(cache=True, nogil=True)
def merge_all(values, table, kind, is_centroid):
    """Merge the nearest two clusters until one is left; the table is used up.

    Returns the clusters kept and removed by each merger, in order, and their dissimilarities.
    """
    n = len(values)
    kept = np.empty(n - 1, np.int64)
    removed = np.empty(n - 1, np.int64)
    heights = np.empty(n - 1)
    sizes = np.ones(n)
    totals = values.copy() if is_centroid else values[:0].copy()
    means = totals.copy()
    active = np.arange(n)
    n_active = n
    nearest = np.full(n, -1, np.int64)
    least = np.full(n, np.inf)
    is_fresh = np.ones(n, np.bool_)
    for position in range(n - 1):
        nearest[position], least[position] = _search_row(
            table, n, sizes, is_centroid, active, position, n_active
        )
    for step in range(n - 1):
        while True:
            at = 0
            for position in range(1, n_active - 1):
                if least[active[position]] < least[active[at]]:
                    at = position
            i = active[at]
            if is_fresh[i]:
                break
            nearest[i], least[i] = _search_row(table, n, sizes, is_centroid, active, at, n_active)
            is_fresh[i] = True
        j = nearest[i]
        kept[step], removed[step], heights[step] = i, j, least[i]
        if is_centroid:
            totals[i] += totals[j]
            means[i] = totals[i] / (sizes[i] + sizes[j])
        gone = np.searchsorted(active[:n_active], j)
        for position in range(gone, n_active - 1):
            active[position] = active[position + 1]
        n_active -= 1
        sizes[i] += sizes[j]
        for position in range(n_active):
            r = active[position]
            if r == i:
                continue
            low, high = (r, i) if r < i else (i, r)
            entry = low * n - low * (low + 1) // 2 - low - 1 + high
            if is_centroid:
                table[entry] = _between(means[i], means[r], kind)
            else:
                low, high = (r, j) if r < j else (j, r)
                table[entry] += table[low * n - low * (low + 1) // 2 - low - 1 + high]
            if r > i:
                if r < j and nearest[r] == j:
                    is_fresh[r] = False
                continue
            new = table[entry] if is_centroid else table[entry] / (sizes[i] * sizes[r])
            if new < least[r]:
                nearest[r], least[r], is_fresh[r] = i, new, True
            elif nearest[r] == i or nearest[r] == j:
                if new == least[r] and is_fresh[r]:
                    nearest[r] = i
                else:
                    is_fresh[r] = False
            elif new == least[r] and is_fresh[r] and i < nearest[r]:
                nearest[r] = i
        nearest[i], least[i] = _search_row(table, n, sizes, is_centroid, active, at, n_active)
        is_fresh[i] = True
    return kept, removed, heights


_LEAST_GAIN = 1e-12
_MOST_SWEEPS = 50


@numba.njit(cache=True, nogil=True)
def _change(a, b, linear, share, columns, i, to_i, k, to_k):
    """Return the change of the objective if i is linked with to_i and, unless k is -1, k with to_k."""
    at_i = columns[i]
    at_k = columns[k] if k >= 0 else -1
    total = 0.0
    for r in range(len(columns)):
        if r in (i, k):
            continue
        j = columns[r]
        total += (a[i, r] - b[to_i, j]) ** 2 - (a[i, r] - b[at_i, j]) ** 2
        if k >= 0:
            total += (a[k, r] - b[to_k, j]) ** 2 - (a[k, r] - b[at_k, j]) ** 2
    # Distances are symmetric, so each difference counts twice; that of i and k stays as it was.
    total *= 2.0 * share
    total += linear[i, to_i] - linear[i, at_i]
    if k >= 0:
        total += linear[k, to_k] - linear[k, at_k]
    return total


@numba.njit(cache=True, nogil=True)
def exchange_links(a, b, linear, share, columns):
    """Exchange links in place while the objective falls."""
    n = len(columns)
    is_used = np.zeros(len(b), np.bool_)
    for i in range(n):
        is_used[columns[i]] = True
    for _ in range(_MOST_SWEEPS):
        is_better = False
        for i in range(n):
            for k in range(i + 1, n):
                if (
                    _change(a, b, linear, share, columns, i, columns[k], k, columns[i])
                    < -_LEAST_GAIN
                ):
                    columns[i], columns[k] = columns[k], columns[i]
                    is_better = True
            for j in range(len(b)):
                if (
                    not is_used[j]
                    and _change(a, b, linear, share, columns, i, j, -1, -1) < -_LEAST_GAIN
                ):
                    is_used[columns[i]] = False
                    is_used[j] = True
                    columns[i] = j
                    is_better = True
        if not is_better:
            return


@numba.njit(cache=True, nogil=True)
def _row_scores(labels, mapping, by_technique, scores):
    """Set the number of techniques in which a row of A agrees with each row of B; return the most."""
    scores[:] = 0
    for t in range(len(labels)):
        target = mapping[t, labels[t]]
        if target >= 0:
            column = by_technique[t]
            for j in range(len(scores)):
                scores[j] += column[j] == target
    most = 0
    for j in range(len(scores)):
        most = max(most, scores[j])
    return most


@numba.njit(cache=True, nogil=True)
def agreement_counts(a, by_technique, shares_a, shares_b, mapping, counts):
    """Count with which labels of B the labels of A go, at the best rows of B for a mapping.

    A row counts as one, divided among its best rows of B. Returns the best row of each, and its
    agreements; of several the one whose share of the file is nearest, and the first.
    """
    scores = np.empty(by_technique.shape[1], np.uint8)
    best = np.empty(len(a), np.int64)
    most = np.empty(len(a), np.int64)
    counts[:] = 0.0
    for i in range(len(a)):
        most[i] = _row_scores(a[i], mapping, by_technique, scores)
        n_best, nearest = 0, np.inf
        for j in range(len(scores)):
            if scores[j] == most[i]:
                n_best += 1
                apart = abs(shares_a[i] - shares_b[j])
                if apart < nearest:
                    best[i], nearest = j, apart
        part = 1.0 / n_best
        for j in range(len(scores)):
            if scores[j] == most[i]:
                for t in range(a.shape[1]):
                    counts[t, a[i, t], by_technique[t, j]] += part
    return best, most


@numba.njit(cache=True, nogil=True)
def score_matrix(a, by_technique, mapping):
    """Return the number of techniques in which each row of A agrees with each row of B."""
    matrix = np.empty((len(a), by_technique.shape[1]), np.uint8)
    for i in range(len(a)):
        _row_scores(a[i], mapping, by_technique, matrix[i])
    return matrix


@numba.njit(cache=True, nogil=True)
def improve(a, by_technique, mapping, n_a, n_b, is_free):
    """Exchange or move single labels while that raises the similarity; return it.

    Labels of B that are not used count as partners of an exchange.
    """
    n_techniques = len(n_a)
    scores = np.empty(by_technique.shape[1], np.uint8)
    most = np.empty(len(a), np.int64)
    for i in range(len(a)):
        most[i] = _row_scores(a[i], mapping, by_technique, scores)
    trial = most.copy()
    is_better = True
    while is_better:
        is_better = False
        for t in range(n_techniques):
            for label in range(n_a[t]):
                for value in range(n_b[t]):
                    old = mapping[t, label]
                    if value == old:
                        continue
                    other = -1
                    if not is_free[t]:
                        for k in range(n_a[t]):
                            if mapping[t, k] == value:
                                other = k
                        # An exchange of two labels is met twice.
                        if 0 <= other < label and old >= 0:
                            continue
                    mapping[t, label] = value
                    if other >= 0:
                        mapping[t, other] = old
                    gain = 0
                    for i in range(len(a)):
                        if a[i, t] == label or (other >= 0 and a[i, t] == other):
                            trial[i] = _row_scores(a[i], mapping, by_technique, scores)
                            gain += trial[i] - most[i]
                    if gain > 0:
                        is_better = True
                        for i in range(len(a)):
                            if a[i, t] == label or (other >= 0 and a[i, t] == other):
                                most[i] = trial[i]
                    else:
                        mapping[t, label] = old
                        if other >= 0:
                            mapping[t, other] = value
    return most.sum()


@numba.njit(cache=True, nogil=True)
def _best_assignment(possible, is_flat):
    """Return the greatest sum of a one-to-one choice, by shortest augmenting paths."""
    n_rows, n_columns = possible.shape
    if is_flat:
        n_rows, n_columns = n_columns, n_rows
    u = np.zeros(n_rows + 1, np.int64)
    v = np.zeros(n_columns + 1, np.int64)
    row_of = np.zeros(n_columns + 1, np.int64)
    way = np.zeros(n_columns + 1, np.int64)
    least = np.empty(n_columns + 1, np.int64)
    is_used = np.empty(n_columns + 1, np.bool_)
    for row in range(1, n_rows + 1):
        row_of[0] = row
        column = 0
        least[:] = 2**62
        is_used[:] = False
        while True:
            is_used[column] = True
            i, delta, following = row_of[column], 2**62, 0
            for j in range(1, n_columns + 1):
                if not is_used[j]:
                    if is_flat:
                        gain = np.int64(possible[j - 1, i - 1])
                    else:
                        gain = np.int64(possible[i - 1, j - 1])
                    reduced = -gain - u[i] - v[j]
                    if reduced < least[j]:
                        least[j], way[j] = reduced, column
                    if least[j] < delta:
                        delta, following = least[j], j
            for j in range(n_columns + 1):
                if is_used[j]:
                    u[row_of[j]] += delta
                    v[j] -= delta
                else:
                    least[j] -= delta
            column = following
            if row_of[column] == 0:
                break
        while column:
            row_of[column] = row_of[way[column]]
            column = way[column]
    return v[0]


@numba.njit(cache=True, nogil=True)
def _decide(possible, a, b, t, label, value, is_free, is_decided, is_taken):
    """Take away the agreements that a decision rules out, and no decision before it did."""
    for i in range(len(a)):
        if a[i, t] == label:
            for j in range(len(b)):
                if b[j, t] != value and not is_taken[t, b[j, t]]:
                    possible[i, j] -= 1
        elif value >= 0 and not is_free and not is_decided[t, a[i, t]]:
            for j in range(len(b)):
                if b[j, t] == value:
                    possible[i, j] -= 1


@numba.njit(cache=True, nogil=True)
def _decision_bounds(possible, a, b, n_a, n_b, is_free, is_decided, is_taken, bounds):
    """Set the bound of each decision on open labels (last: no partner) or -1; return that of none."""
    n_rows, n_techniques = a.shape
    most = np.empty(n_rows, np.int64)
    total = 0
    for i in range(n_rows):
        most[i] = possible[i].max()
        total += most[i]
    width = bounds.shape[2]
    greatest = np.empty(width, np.int64)
    for t in range(n_techniques):
        bounds[t] = -1
        if is_decided[t, : n_a[t]].all():
            continue
        lost = np.zeros(width, np.int64)
        kept = np.zeros((n_a[t], width), np.int64)
        own_lost = np.zeros((n_a[t], width), np.int64)
        of_label = np.zeros(n_a[t], np.int64)
        for i in range(n_rows):
            if is_decided[t, a[i, t]]:
                continue
            greatest[:] = -1
            for j in range(len(b)):
                greatest[b[j, t]] = max(greatest[b[j, t]], np.int64(possible[i, j]))
            # The greatest two, as they are and if this row's label goes to none of them.
            first, second, at = -1, -1, -1
            without, next_without, at_without = -1, -1, -1
            for value in range(n_b[t]):
                if greatest[value] > first:
                    first, second, at = greatest[value], first, value
                elif greatest[value] > second:
                    second = greatest[value]
                reduced = greatest[value] - (not is_taken[t, value])
                if reduced > without:
                    without, next_without, at_without = reduced, without, value
                elif reduced > next_without:
                    next_without = reduced
            for value in range(n_b[t]):
                others = second if value == at else first
                loss = max(greatest[value] - 1, others) - most[i]
                lost[value] += loss
                own_lost[a[i, t], value] += loss
                others = next_without if value == at_without else without
                if_kept = max(greatest[value], others)
                kept[a[i, t], value] += if_kept - most[i]
            of_label[a[i, t]] += most[i] - without
        for label in range(n_a[t]):
            if is_decided[t, label]:
                continue
            for value in range(n_b[t]):
                if is_free[t]:
                    bounds[t, label, value] = total + kept[label, value]
                elif not is_taken[t, value]:
                    bounds[t, label, value] = (
                        total + kept[label, value] + lost[value] - own_lost[label, value]
                    )
            if not is_free[t] and n_a[t] > n_b[t]:
                bounds[t, label, width - 1] = total - of_label[label]
    return total


@numba.njit(cache=True, nogil=True)
def branch(a, b, n_a, n_b, is_free, is_one_to_one, best, most_nodes):
    """Search mappings for a similarity above `best`.

    Returns the best similarity, its mapping (all -2 if none is above), an upper bound, which is
    the best itself once the search is complete, and the number of nodes.
    """
    n_techniques = len(n_a)
    n_levels = n_a.sum()
    width = n_b.max() + 1
    widest = n_a.max()
    possible = np.empty((n_levels + 1, len(a), len(b)), np.uint8)
    possible[0] = n_techniques
    is_decided = np.zeros((n_techniques, widest), np.bool_)
    is_taken = np.zeros((n_techniques, width), np.bool_)
    mapping = np.full((n_techniques, widest), -2, np.int64)
    found = mapping.copy()
    bounds = np.full((n_techniques, widest, width), -1, np.int64)
    # The decisions left at each level, the best of them last.
    options = np.empty((n_levels + 1, width), np.int64)
    option_bounds = np.empty((n_levels + 1, width), np.int64)
    n_options = np.zeros(n_levels + 1, np.int64)
    technique = np.zeros(n_levels + 1, np.int64)
    label_of = np.zeros(n_levels + 1, np.int64)
    is_applied = np.zeros(n_levels + 1, np.bool_)
    level, n_nodes, is_entered = 0, 0, True
    while level >= 0:
        if is_entered:
            is_entered = False
            n_nodes += 1
            n_options[level] = 0
            top = _decision_bounds(
                possible[level], a, b, n_a, n_b, is_free, is_decided, is_taken, bounds
            )
            if is_one_to_one and top > best:
                top = min(top, _best_assignment(possible[level], len(a) > len(b)))
            if top > best and level == n_levels:
                best = top
                found[:] = mapping
            elif top > best:
                fewest, least = width + 1, 0
                for t in range(n_techniques):
                    for label in range(n_a[t]):
                        if is_decided[t, label]:
                            continue
                        n_open, weight = 0, 0
                        for value in range(width):
                            if bounds[t, label, value] > best:
                                n_open += 1
                                weight += bounds[t, label, value] - best
                        if n_open < fewest or (n_open == fewest and weight < least):
                            fewest, least = n_open, weight
                            technique[level], label_of[level] = t, label
                row = bounds[technique[level], label_of[level]]
                for value in range(width):
                    if row[value] > best:
                        place = n_options[level]
                        while place and option_bounds[level, place - 1] > row[value]:
                            options[level, place] = options[level, place - 1]
                            option_bounds[level, place] = option_bounds[level, place - 1]
                            place -= 1
                        options[level, place] = value
                        option_bounds[level, place] = min(row[value], top)
                        n_options[level] += 1
        t, label = technique[level], label_of[level]
        if is_applied[level]:
            is_applied[level] = False
            if mapping[t, label] >= 0:
                is_taken[t, mapping[t, label]] = False
            is_decided[t, label] = False
            mapping[t, label] = -2
        if n_nodes >= most_nodes:
            upper = best
            for k in range(level + 1):
                for place in range(n_options[k]):
                    upper = max(upper, option_bounds[k, place])
            return best, found, upper, n_nodes
        while n_options[level] and option_bounds[level, n_options[level] - 1] <= best:
            n_options[level] -= 1
        if not n_options[level]:
            level -= 1
            continue
        n_options[level] -= 1
        value = options[level, n_options[level]]
        if value == width - 1:
            value = -1
        possible[level + 1] = possible[level]
        _decide(possible[level + 1], a, b, t, label, value, is_free[t], is_decided, is_taken)
        is_applied[level] = True
        is_decided[t, label] = True
        mapping[t, label] = value
        if value >= 0 and not is_free[t]:
            is_taken[t, value] = True
        level += 1
        is_entered = True
    return best, found, best, n_nodes
