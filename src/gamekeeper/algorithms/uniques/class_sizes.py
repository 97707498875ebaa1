"""Class sizes of keys with missing cells, by patterns of missing cells.

Under "ignore" a key r is in a class with every record that has, wherever r has a value, the same
value. Under "wildcard" it is in a class with every record that has, on every variable, the same
value or a missing cell on either side. Neither is an equivalence, so a class belongs to a key.

Keys with the same set of missing variables are handled at once: those whose comparison with a
set of other keys rests on the same variables are joined by sorting. With t such sets among n
distinct keys the cost is t n log n, whatever the number of pairs; t is 1 where nothing is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gamekeeper.algorithms.class_numbers import class_numbers
from gamekeeper.results import Progress

_LARGEST_KEY = 2**62


def class_sizes(
    codes: npt.NDArray[np.integer],
    counts: npt.NDArray[Any],
    *,
    missing: str,
    progress: Progress | None = None,
) -> npt.NDArray[Any]:
    """Return, for each distinct key, how many records are in its class.

    Parameters
    ----------
    codes
        One distinct key per row; 0 is a missing cell.
    counts
        How many records have the key, or the sum of their weights.
    missing
        "category", "exclude" (both: the counts as they are), "ignore" or "wildcard".
    progress
        Told how many of the sets of missing variables are done; it may raise.

    Examples
    --------
    >>> keys = np.array([[1, 1], [1, 0], [2, 1]])
    >>> class_sizes(keys, np.array([1, 1, 1]), missing="ignore")
    array([1, 2, 1])
    >>> class_sizes(keys, np.array([1, 1, 1]), missing="wildcard")
    array([2, 2, 1])
    """
    if missing not in ("ignore", "wildcard"):
        return counts.copy()
    masks = np.zeros(len(codes), dtype=np.uint64)
    for place in range(codes.shape[1]):
        masks |= (codes[:, place] == 0).astype(np.uint64) << np.uint64(place)
    patterns, pattern_of = np.unique(masks, return_inverse=True)
    by_pattern = np.split(
        np.argsort(pattern_of, kind="stable"),
        np.cumsum(np.bincount(pattern_of, minlength=len(patterns)))[:-1],
    )
    keys = _Keys(codes)
    sizes = np.zeros_like(counts)
    for done, pattern in enumerate(patterns.tolist()):
        own = by_pattern[done]
        if missing == "ignore" and pattern == 0:  # keys are distinct: only equals are equal
            sizes[own] = counts[own]
            continue
        for unseen, others in _comparisons(pattern, patterns.tolist(), missing).items():
            partners = np.concatenate([by_pattern[place] for place in others])
            own_keys, their_keys = keys.packed(own, partners, unseen)
            sizes[own] += _sums_of_equals(own_keys, their_keys, counts[partners])
        if progress is not None:
            progress(done + 1, len(patterns))
    return sizes


class _Keys:
    """Keys as integers, equal where the keys are equal on the variables that are not left out."""

    def __init__(self, codes: npt.NDArray[np.integer]) -> None:
        self._codes = codes
        self._columns = [np.ascontiguousarray(column) for column in codes.T]
        levels = [int(column.max(initial=0)) + 1 for column in self._columns]
        self._factors = [math.prod(levels[place + 1 :]) for place in range(len(levels))]
        self._whole: npt.NDArray[np.int64] | None = None
        if math.prod(levels) <= _LARGEST_KEY:
            self._whole = np.zeros(len(codes), dtype=np.int64)
            for column, factor in zip(self._columns, self._factors, strict=True):
                self._whole += column * np.int64(factor)

    def packed(
        self, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64], unseen: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the keys of two lists of rows without the variables in the bits of `unseen`."""
        if self._whole is None:
            seen = [not unseen >> place & 1 for place in range(len(self._columns))]
            own, other = class_numbers(self._codes[left][:, seen], self._codes[right][:, seen])
            return own, other
        return self._without(self._whole, left, unseen), self._without(self._whole, right, unseen)

    def _without(
        self, whole: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], unseen: int
    ) -> npt.NDArray[np.int64]:
        kept = whole[rows]
        for place, factor in enumerate(self._factors):
            if unseen >> place & 1:
                kept -= self._columns[place][rows] * np.int64(factor)
        return kept


def _comparisons(pattern: int, patterns: Sequence[int], missing: str) -> dict[int, list[int]]:
    """Return which patterns are compared with a pattern, by the variables left out of it."""
    if missing == "ignore":
        within = [place for place, other in enumerate(patterns) if not other & ~pattern]
        return {pattern: within}
    found: dict[int, list[int]] = {}
    for place, other in enumerate(patterns):
        found.setdefault(pattern | other, []).append(place)
    return found


def _sums_of_equals(
    left: npt.NDArray[np.int64], right: npt.NDArray[np.int64], counts: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return, for each key on the left, the counts of the keys on the right that equal it."""
    few, many = (left, right) if len(left) <= len(right) else (right, left)
    known, place_of_few = np.unique(few, return_inverse=True)
    place_of_many = np.searchsorted(known, many).clip(max=len(known) - 1)
    equal = known[place_of_many] == many
    totals = np.zeros(len(known), dtype=counts.dtype)
    if few is left:
        np.add.at(totals, place_of_many[equal], counts[equal])
        return totals[place_of_few]
    np.add.at(totals, place_of_few, counts)
    return np.where(equal, totals[place_of_many], totals.dtype.type(0))
