"""Classes of equal keys as numbers 0, 1, ...: what every count of records begins with.

The codes of a key are packed into one integer, and packed integers are numbered afresh only where
the next variable would not fit. So most keys cost one sort of the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_NUMBERS = 2**62


def class_numbers(*matrices: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], ...]:
    """Number the distinct keys of one or more matrices of codes, the same number for the same key.

    Examples
    --------
    >>> release, originals = np.array([[1, 2], [1, 2]]), np.array([[1, 2], [3, 1]])
    >>> class_numbers(release, originals)
    (array([0, 0]), array([0, 1]))
    """
    given = [np.asarray(matrix) for matrix in matrices]
    n_keys = sum(len(matrix) for matrix in given)
    numbers, span = np.zeros(n_keys, dtype=np.int64), 1
    for number in range(given[0].shape[1]):
        # One column at a time: all of them as wide integers would take several times the memory.
        column = np.concatenate([matrix[:, number].astype(np.int64) for matrix in given])
        codes = column - column.min(initial=0)
        n_codes = int(codes.max(initial=0)) + 1
        if span * n_codes > _MOST_NUMBERS:
            _, numbers = np.unique(numbers, return_inverse=True)
            span = n_keys
        numbers, span = numbers * n_codes + codes, span * n_codes
    _, numbers = np.unique(numbers, return_inverse=True)
    ends = np.cumsum([len(matrix) for matrix in given])[:-1]
    return tuple(np.split(numbers.astype(np.int64), ends))
