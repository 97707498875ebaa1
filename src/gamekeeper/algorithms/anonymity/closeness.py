"""t-closeness: how far the values of a sensitive variable in a class are from those of the file.

The distance is the earth mover's, over the values that are known. With equal distances between
values it is half the sum of |p_i - q_i|. With ordered values it is the sum over i of
|sum_(j<=i) (p_j - q_j)| / (m - 1), with m the number of values of the variable that occur in the file.
A file is t-close where no class is further away than t. Li, Li and Venkatasubramanian 2007. Linear in
the pairs of class and value; a class is never spread out over all values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.anonymity.diversity import ValueCounts

Floats = NDArray[np.float64]


def equal_distance(found: ValueCounts) -> Floats:
    """Return t of each class with equal distances between values; NaN for a class without values.

    Examples
    --------
    >>> from gamekeeper.algorithms.anonymity.diversity import count_values
    >>> counts = count_values(np.array([0, 0, 1, 1]), np.array([1, 2, 1, 1]), 2)
    >>> equal_distance(counts)
    array([0.25, 0.25])
    """
    whole, totals = _whole(found), found.totals()
    n_cells = int(whole.sum())
    if not n_cells:
        return np.full(found.n_classes, np.nan)
    # |p - q| as whole numbers over n_c N, so that equal shares differ by exactly nothing. What a
    # class does not have differs by the whole of q.
    of_class, of_file = found.counts * n_cells, whole[found.values] * totals[found.classes]
    apart = np.abs(of_class - of_file) - of_file
    sums = np.zeros(found.n_classes, dtype=np.int64)
    np.add.at(sums, found.classes, apart)
    sums, most = sums + totals * n_cells, 2 * totals * n_cells
    return np.divide(sums, most, out=np.full(len(sums), np.nan), where=most > 0)


def ordered_distance(found: ValueCounts) -> Floats:
    """Return t of each class where values are in the order of their codes; NaN without values.

    Examples
    --------
    The salaries of the paper, 3k to 11k: {3k, 4k, 5k}, {6k, 8k, 11k} and {7k, 9k, 10k}.

    >>> from gamekeeper.algorithms.anonymity.diversity import count_values
    >>> counts = count_values(np.array([0, 0, 0, 1, 2, 1, 2, 2, 1]), np.arange(1, 10), 9)
    >>> ordered_distance(counts).round(3)
    array([0.375, 0.167, 0.236])
    """
    whole, totals = _whole(found), found.totals()
    n_cells = int(whole.sum())
    occurring = np.flatnonzero(whole)
    if not n_cells:
        return np.full(found.n_classes, np.nan)
    if len(occurring) == 1:
        return np.where(totals > 0, 0.0, np.nan)
    # Shares of the file up to each value, and their running sum: between two values of a class its
    # own share is constant, and the sum of distances there follows from where the file crosses it.
    reached = np.cumsum(whole[occurring]) / n_cells
    running = np.concatenate(([0.0], np.cumsum(reached)))
    places = np.searchsorted(occurring, found.values)
    cumulated = np.cumsum(found.counts)
    firsts = np.searchsorted(found.classes, np.arange(found.n_classes))
    before = np.concatenate(([0], cumulated))[firsts]
    own = (cumulated - before[found.classes]) / totals[found.classes]
    is_last = np.append(found.classes[1:] != found.classes[:-1], True)
    ends = np.where(is_last, len(occurring), np.append(places[1:], 0))
    sums = np.bincount(
        found.classes,
        weights=_distances(own, places, ends, reached, running),
        minlength=found.n_classes,
    )
    has_values = totals > 0
    sums[has_values] += running[places[firsts[has_values]]]
    return np.where(has_values, sums / (len(occurring) - 1), np.nan)


def _distances(
    own: Floats,
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    reached: Floats,
    running: Floats,
) -> Floats:
    """Return the sum of |own - reached[i]| over begin <= i < end, for each line."""
    crossing = np.clip(np.searchsorted(reached, own), begins, ends)
    below = own * (crossing - begins) - (running[crossing] - running[begins])
    above = running[ends] - running[crossing] - own * (ends - crossing)
    return below + above


def _whole(found: ValueCounts) -> NDArray[np.int64]:
    """Return how often each value occurs in the file, by its code."""
    made = np.zeros(found.n_values + 1, dtype=np.int64)
    np.add.at(made, found.values, found.counts)
    return made
