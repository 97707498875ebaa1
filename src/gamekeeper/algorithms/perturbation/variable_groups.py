"""V-MDAV: groups of k to 2k - 1 near records, as many as belong together.

While k or more records are left, the one that is farthest from the mean of all, with its k - 1 nearest,
begins a group. Then, as long as it has fewer than 2k - 1, the record that is nearest to any of its
members joins, if that is nearer than `gain` times its distance from the nearest other record that is
left. The rest, fewer than k, goes to the group with the nearest mean each. Distances are Euclid's, of
values by their standard deviation (divisor n - 1). Of equally near or far records the earlier is taken,
and of groups the earlier. A gain of 0 lets nobody join; 0.2 is for scattered records, 1.1 for records
in clusters.

Solanas and Martínez-Ballesté, V-MDAV: a multivariate microaggregation with variable group size,
COMPSTAT (2006). A heuristic: the least loss is not claimed. Time is about n²m, memory n(m + 4) numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gamekeeper.algorithms.perturbation.mdav import (
    Labels,
    checked_numbers,
    standardized,
    too_many_records,
)

# Some two thousand-millionths of a second for each of n²m. Two hours.
_MOST_WORK = 4_000_000_000_000


def variable_mdav_groups(
    values: ArrayLike, k: int, gain: float = 0.2, *, standardize: bool = True
) -> Labels:
    """Return the number of the group of every record, in the order in which groups are made.

    `gain` is how readily a near record joins a group that has k already. No cell is missing; fewer
    than 2k records are one group.

    Examples
    --------
    >>> variable_mdav_groups([[1], [2], [3], [11], [12], [13], [14]], 3, 1.1).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    numbers = checked_numbers(values)
    n_records, n_columns = numbers.shape
    if n_records**2 * n_columns > _MOST_WORK:
        raise too_many_records(f"Groups of {k} or more of {n_records:,} records were asked for.")
    labels = np.full(n_records, -1, np.int64)
    if n_records < 2 * k or not numbers.size:
        return np.zeros(n_records, np.int64)
    from gamekeeper.algorithms.perturbation.variable_group_kernels import variable_groups

    x = np.ascontiguousarray(standardized(numbers) if standardize else numbers)
    n_groups = int(variable_groups(x, x.mean(axis=0), k, gain * gain, labels))
    rest = np.flatnonzero(labels < 0)
    if len(rest):
        inside = labels >= 0
        sizes = np.bincount(labels[inside], minlength=n_groups)
        sums = [np.bincount(labels[inside], column[inside], n_groups) for column in x.T]
        means = np.stack(sums, axis=1) / sizes[:, None]
        apart = ((x[rest, None, :] - means[None, :, :]) ** 2).sum(axis=2)
        labels[rest] = apart.argmin(axis=1)
    return labels
