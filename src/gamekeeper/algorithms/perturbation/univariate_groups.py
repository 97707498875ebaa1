"""Groups of one variable with the least squared error: the optimum, not a heuristic.

Of all ways to put n values in groups of at least k, one with the least sum of squared deviations from
the means of groups consists of runs of the sorted values of k to 2k - 1 each; the cheapest such cut is
a shortest path. Equal values may fall in two groups, where the earlier record is in the first. Of
equally cheap cuts one with small last groups is taken; sums are floats, so that cuts which differ by
rounding alone count as equally cheap.

Hansen and Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE Transactions
on Knowledge and Data Engineering 15 (2003). Time n log n + nk, memory three numbers per record.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gamekeeper.algorithms.perturbation.mdav import Labels, checked_numbers


def univariate_groups(values: ArrayLike, k: int) -> Labels:
    """Return the number of the group of every record, counted from the smallest values.

    Fewer than 2k records are one group.

    Examples
    --------
    >>> univariate_groups([30, 1, 2, 4, 16, 7, 8, 8, 15], 2).tolist()
    [3, 0, 0, 0, 3, 1, 1, 2, 2]
    """
    numbers = checked_numbers(np.asarray(values, dtype=np.float64)[:, None])[:, 0]
    order = np.argsort(numbers, kind="stable")
    labels = np.zeros(len(numbers), np.int64)
    for group, size in enumerate(group_sizes(numbers[order], k)):
        labels[order[:size]] = group
        order = order[size:]
    return labels


def group_sizes(ordered: ArrayLike, k: int) -> list[int]:
    """Return the sizes of the groups of sorted values, from the smallest.

    Examples
    --------
    >>> group_sizes([1, 2, 4, 7, 8, 8, 15, 16, 30], 2)
    [3, 2, 2, 2]
    """
    values = np.asarray(ordered, dtype=np.float64)
    if len(values) < 2 * k:
        return [len(values)] if len(values) else []
    from gamekeeper.algorithms.perturbation.univariate_kernels import last_sizes

    last = last_sizes(values, k)
    sizes: list[int] = []
    end = len(values)
    while end:
        sizes.append(int(last[end]))
        end -= sizes[-1]
    return sizes[::-1]
