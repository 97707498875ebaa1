"""MDAV: groups of at least k records that are near one another, for their means to be released.

While 3k or more records are left: the record r that is farthest from the mean of what is left, with
its k - 1 nearest, is a group; then the record s that is farthest from r among what is left, with its
k - 1 nearest. With 2k to 3k - 1 left there is one more group around the record that is farthest from
their mean, and the rest is the last group; fewer than 2k records are one group. Distances are
Euclid's, of values by their standard deviation (divisor n - 1) unless told otherwise; a variable that
does not vary adds nothing. Of equally near or far records the earlier is taken.

Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation,
Data Mining and Knowledge Discovery 11 (2005), with groups of fixed size. A heuristic: the least loss
is not claimed. Time is about n²m/k, memory n(m + 4) numbers.
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
    values: ArrayLike,
    k: int,
    *,
    standardize: bool = True,
    progress: Progress | None = None,
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
    from gamekeeper.algorithms.perturbation.mdav_kernels import mdav

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
