"""Unsafe combinations: cells of all tables of up to d key variables that too few records are in.

For every set of at most d variables, a combination of their categories is unsafe if at least one
record has it and fewer than k have. It is the rule of mu-Argus: tables of one, two, three variables are
what somebody may know of another person. A threshold may differ by number of variables. One numbering
of records per set, each from that of a smaller set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.results import Progress

_DENSE = 4


@dataclass(frozen=True, slots=True, repr=False)
class UnsafeCombinations:
    """Unsafe combinations by number of variables, by variable and by record.

    Attributes
    ----------
    by_size
        How many there are of 1, 2, ... variables.
    by_variable
        One line per variable: in how many of 1, 2, ... variables it has a part.
    per_record
        How many unsafe combinations the record of each line has.
    """

    by_size: NDArray[np.int64]
    by_variable: NDArray[np.int64]
    per_record: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"UnsafeCombinations({int(self.by_size.sum()):,} of up to {len(self.by_size)} variables)"


def n_sets(n_variables: int, max_size: int) -> int:
    """Return how many sets of variables are looked at.

    Examples
    --------
    >>> n_sets(5, 3)
    25
    """
    return sum(math.comb(n_variables, size) for size in range(1, min(max_size, n_variables) + 1))


def unsafe_combinations(
    codes: NDArray[np.integer[Any]],
    thresholds: Sequence[int],
    *,
    counts: NDArray[np.int64] | None = None,
    counts_missing: bool = True,
    progress: Progress | None = None,
) -> UnsafeCombinations:
    """Count unsafe combinations.

    Parameters
    ----------
    codes
        One line per record, one column per variable; 0 is a missing cell.
    counts
        How many records each line stands for; one if None.
    thresholds
        For combinations of 1, 2, ... variables: fewer records than that are unsafe. As many as
        the largest number of variables to look at.
    counts_missing
        Whether a missing cell is a category like others. If not, a record takes part in no
        combination of a variable that is missing in it.
    progress
        Told how many sets of variables are done, of how many.

    Examples
    --------
    >>> found = unsafe_combinations(np.array([[1, 1], [1, 2], [1, 2]]), [2, 2])
    >>> found.by_size.tolist(), found.by_variable.tolist(), found.per_record.tolist()
    ([1, 1], [[0, 1], [1, 1]], [2, 0, 0])
    """
    n_records, n_variables = codes.shape
    max_size = min(len(thresholds), n_variables)
    by_size = np.zeros(max_size, dtype=np.int64)
    by_variable = np.zeros((n_variables, max_size), dtype=np.int64)
    per_record = np.zeros(n_records, dtype=np.int64)
    total, done = n_sets(n_variables, max_size), 0
    n_codes = [int(codes[:, place].max(initial=0)) + 1 for place in range(n_variables)]

    def descend(
        chosen: tuple[int, ...], rows: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> None:
        nonlocal done
        size = len(chosen)
        for place in range(chosen[-1] + 1 if chosen else 0, n_variables):
            column = codes[rows, place].astype(np.int64)
            kept, before = (rows, numbers)
            if not counts_missing and not column.all():
                has = column > 0
                kept, before, column = rows[has], numbers[has], column[has]
            own = _numbered(before * n_codes[place] + column)
            found = np.bincount(own, None if counts is None else counts[kept])
            unsafe = (found > 0) & (found < thresholds[size])
            n_unsafe = int(np.count_nonzero(unsafe))
            by_size[size] += n_unsafe
            by_variable[[*chosen, place], size] += n_unsafe
            per_record[kept[unsafe[own]]] += 1
            done += 1
            if progress is not None:
                progress(done, total)
            if size + 1 < max_size:
                descend((*chosen, place), kept, own)

    descend((), np.arange(n_records), np.zeros(n_records, dtype=np.int64))
    return UnsafeCombinations(by_size, by_variable, per_record)


def _numbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return keys as numbers 0, 1, ... without a gap, in their order."""
    if int(keys.max(initial=0)) > _DENSE * len(keys):
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)
    # Few possible keys: counting them takes a tenth of the time of sorting them.
    return (np.cumsum(np.bincount(keys) > 0) - 1)[keys]
