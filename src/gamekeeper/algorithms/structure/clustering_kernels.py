"""Sequential agglomerative clustering, and dissimilarities of records, compiled.

Every cluster keeps its nearest among the clusters after it, and how near that is. After a merger
a row whose nearest has gone is not searched again at once: the old figure stays as a lower bound,
and the row is searched only where that bound is the least of all (as in the generic algorithm of
Müllner 2011). Clusters go by their first record; of equal pairs the first is merged, by its first
and then by its second cluster.

For the average criterion sums of dissimilarities are kept and divided when compared: sums of whole
numbers are exact, so equal averages are seen as equal. Time is about quadratic and at worst cubic,
memory is one number per pair of records.
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
