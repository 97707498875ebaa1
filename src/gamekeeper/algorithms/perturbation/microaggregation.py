"""Groups of at least k records that are near one another, for their means to be released.

Distances are Euclid's, of values by their standard deviation (divisor n - 1) unless told otherwise;
a variable that does not vary adds nothing. Of equally near or far records the earlier is taken.

**MDAV**: while 3k or more records are left, the record r that is farthest from the mean of what is
left, with its k - 1 nearest, is a group; then the record s that is farthest from r among what is
left, with its k - 1 nearest. With 2k to 3k - 1 left there is one more group around the record that
is farthest from their mean, and the rest is the last group; fewer than 2k records are one group.
Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through
microaggregation, Data Mining and Knowledge Discovery 11 (2005), with groups of fixed size. A
heuristic: the least loss is not claimed. Time is about n²m/k, memory n(m + 4) numbers.

**V-MDAV**: groups of k to 2k - 1. While k or more records are left, the one that is farthest from
the mean of all, with its k - 1 nearest, begins a group. Then, as long as it has fewer than 2k - 1,
the record that is nearest to any of its members joins, if that is nearer than `gain` times its
distance from the nearest other record that is left. The rest, fewer than k, goes to the group with
the nearest mean each, of equal ones the earlier. A gain of 0 lets nobody join; 0.2 is for scattered
records, 1.1 for records in clusters. Solanas and Martínez-Ballesté, V-MDAV: a multivariate
microaggregation with variable group size, COMPSTAT (2006). A heuristic too. Time is about n²m,
memory n(m + 4) numbers.

**One variable** has an optimum: of all ways to put n values in groups of at least k, one with the
least sum of squared deviations from the means of groups consists of runs of the sorted values of k
to 2k - 1 each; the cheapest such cut is a shortest path. Equal values may fall in two groups, where
the earlier record is in the first. Of equally cheap cuts one with small last groups is taken; sums
are floats, so that cuts which differ by rounding alone count as equally cheap. Hansen and
Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE Transactions on
Knowledge and Data Engineering 15 (2003). Time n log n + nk, memory three numbers per record.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# Cells looked at between two words about how far the work is: a fraction of a second.
_CELLS = 200_000_000
# Measured: half a thousand-millionth of a second for each of n²m/k. Two hours.
_MOST_WORK = 15_000_000_000_000


def mdav_groups(
    values: ArrayLike, k: int, *, standardize: bool = True, progress: Progress | None = None
) -> Labels:
    """Return the number of the group of every record, in the order in which groups are made.

    A group has k records at least. The last may have up to 2k - 1, and if there are fewer than k
    records, their one group has as many as there are. No cell is missing. `progress` is told how
    many records have a group, and of how many; it may raise to cancel.

    Examples
    --------
    >>> mdav_groups([[1.0], [2.0], [9.0], [8.0], [1.5]], 2).tolist()
    [1, 1, 0, 0, 1]
    """
    numbers = checked_numbers(values)
    if k < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"Groups of {k} records were asked for.",
            "A group has a record at least.",
            "Give a positive whole number.",
        )
    if len(numbers) ** 2 * numbers.shape[1] > k * _MOST_WORK:
        raise too_many_records(f"Groups of {k} of {len(numbers):,} records were asked for.")
    labels = np.zeros(len(numbers), np.int64)
    if not numbers.size:
        return labels
    from gamekeeper.algorithms.perturbation.kernels import mdav

    scaled = standardized(numbers) if standardize else numbers
    n_records, n_columns = scaled.shape
    x, ids = np.ascontiguousarray(scaled.T).copy(), np.arange(n_records)
    sums, lost = np.zeros(n_columns), np.zeros(n_columns)
    state = np.array([n_records, n_records, 0])
    # More than all records in a group is all of them in one.
    least = min(k, n_records)
    left = n_records
    while left:
        most = max(2, _CELLS // (n_columns * int(state[0])))
        left = int(mdav(x, least, ids, labels, sums, lost, state, most))
        if progress is not None:
            progress(n_records - left, n_records)
    return labels


def too_many_records(asked: str) -> LimitError:
    """Return the error that groups of so many records would take too long."""
    return LimitError(
        Reason.TOO_LARGE,
        asked,
        "That would take more than two hours: the time grows with the square of the records.",
        "Make groups within classes of other variables (within), or of each variable by itself"
        " (one by one).",
    )


def standardized(values: Floats) -> Floats:
    """Return values by their mean and standard deviation (divisor n - 1); 0 where they are all equal.

    Examples
    --------
    >>> standardized(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-0.7071067811865475, 0.0], [0.7071067811865475, 0.0]]
    """
    if len(values) < 2:
        return np.zeros_like(values)
    deviations = values - values.mean(axis=0)
    spread = values.std(axis=0, ddof=1)
    varies = values.max(axis=0) > values.min(axis=0)
    return np.where(varies, deviations / np.where(varies, spread, 1.0), 0.0)


def checked_numbers(values: ArrayLike) -> Floats:
    """Return values as a table of finite numbers, or raise without showing one."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 2:
        raise InputError(
            Reason.BAD_OPTION,
            "Numbers of records were to be changed.",
            f"They have {numbers.ndim} dimensions.",
            "Give a row per record and a column per variable.",
        )
    n_faults = int(np.count_nonzero(~np.isfinite(numbers).all(axis=1)))
    if n_faults:
        raise InputError(
            Reason.BAD_OPTION,
            f"Numbers of {len(numbers):,} records were to be changed.",
            f"{n_faults:,} records have a cell that is missing or no finite number.",
            "Leave these records aside, or fill the cells first.",
        )
    return numbers


# Some two thousand-millionths of a second for each of n²m. Two hours.
_MOST_VARIABLE_WORK = 4_000_000_000_000


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
    if n_records**2 * n_columns > _MOST_VARIABLE_WORK:
        raise too_many_records(f"Groups of {k} or more of {n_records:,} records were asked for.")
    labels = np.full(n_records, -1, np.int64)
    if n_records < 2 * k or not numbers.size:
        return np.zeros(n_records, np.int64)
    from gamekeeper.algorithms.perturbation.kernels import variable_groups

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


def group_means(values: ArrayLike, labels: Labels, weights: ArrayLike | None = None) -> Floats:
    """Return for every record the means of its group; by weights, weighted totals stay as they were.

    A group whose weights are all 0 has its plain mean.

    Examples
    --------
    >>> group_means([[1.0], [3.0], [10.0]], np.array([0, 0, 1])).ravel().tolist()
    [2.0, 2.0, 10.0]
    """
    numbers = checked_numbers(values)
    if not len(numbers):
        return numbers.copy()
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    n_groups = int(labels.max()) + 1
    total = np.bincount(labels, given, n_groups)
    given = np.where(total[labels] > 0, given, 1.0)
    total = np.bincount(labels, given, n_groups)
    means = np.empty_like(numbers)
    for place in range(numbers.shape[1]):
        # Around one value of the group, so that a mean of equal values is that value.
        base = np.zeros(n_groups)
        base[labels] = numbers[:, place]
        shift = np.bincount(labels, given * (numbers[:, place] - base[labels]), n_groups)
        means[:, place] = (base + shift / total)[labels]
    return means


def error_share(values: ArrayLike, labels: Labels, *, standardize: bool = True) -> float:
    """Return the squared error within groups as a share of all: 0 nothing is lost, 1 everything.

    Examples
    --------
    >>> round(error_share([[0.0], [2.0], [9.0], [11.0]], np.array([0, 0, 1, 1])), 6)
    0.047059
    """
    numbers = checked_numbers(values)
    if standardize:
        numbers = standardized(numbers)
    within = ((numbers - group_means(numbers, labels)) ** 2).sum()
    total = ((numbers - numbers.mean(axis=0)) ** 2).sum()
    return float(within / total) if total else 0.0


def univariate_groups(values: ArrayLike, k: int) -> Labels:
    """Return the group of every record, counted from the smallest values; one if fewer than 2k.

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
    from gamekeeper.algorithms.perturbation.kernels import last_sizes

    last = last_sizes(values, k)
    sizes: list[int] = []
    end = len(values)
    while end:
        sizes.append(int(last[end]))
        end -= sizes[-1]
    return sizes[::-1]
