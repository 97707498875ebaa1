"""Rows of codes as fields of 64-bit words: a row on some of its columns is a row and a mask.

Every column has as many bits as its largest code needs; a column never lies across two words. So
nine variables of a census file are one word, and two rows agree on a set of columns if they are
equal after the bits of the others are cleared. Nothing is hashed away: comparisons are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_COLUMNS = 64
Codes = NDArray[np.integer[Any]]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, repr=False)
class KeyFields:
    """Where the bits of each column are: the number of its word, its first bit, how many bits."""

    words: tuple[int, ...]
    shifts: tuple[int, ...]
    bits: tuple[int, ...]

    @classmethod
    def for_codes(cls, *matrices: Codes) -> KeyFields:
        """Return fields that hold the codes of several matrices with the same columns."""
        n_columns = matrices[0].shape[1]
        assert n_columns <= MOST_COLUMNS, "a set of columns is one word"
        words: list[int] = []
        shifts: list[int] = []
        sizes: list[int] = []
        word, used = 0, 0
        for column in range(n_columns):
            top = max(int(matrix[:, column].max(initial=0)) for matrix in matrices)
            bits = max(1, top.bit_length())
            if used + bits > 64:
                word, used = word + 1, 0
            words.append(word)
            shifts.append(used)
            sizes.append(bits)
            used += bits
        return cls(tuple(words), tuple(shifts), tuple(sizes))

    @property
    def n_words(self) -> int:
        """How many words a row takes."""
        return max(self.words, default=0) + 1

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.words)

    @property
    def every(self) -> np.uint64:
        """The set of all columns."""
        return np.uint64((1 << self.n_columns) - 1)

    def pack(self, codes: Codes) -> Keys:
        """Return the rows of a matrix, one line of words each."""
        made = np.zeros((len(codes), self.n_words), dtype=np.uint64)
        for column, (word, shift) in enumerate(zip(self.words, self.shifts, strict=True)):
            made[:, word] |= codes[:, column].astype(np.uint64) << np.uint64(shift)
        return made

    def masks(self, sets: NDArray[np.uint64]) -> Keys:
        """Return, for sets of columns (bit c is column c), the bits of their fields."""
        wanted = np.asarray(sets, dtype=np.uint64)
        made = np.zeros((len(wanted), self.n_words), dtype=np.uint64)
        for column in range(self.n_columns):
            has = (wanted >> np.uint64(column)) & np.uint64(1)
            field = ((1 << self.bits[column]) - 1) << self.shifts[column]
            made[:, self.words[column]] |= has * np.uint64(field)
        return made

    def mask_without(self, columns: np.uint64) -> Keys:
        """Return the bits of all fields but those of a set of columns, as one line of words."""
        return self.masks(np.array([self.every & ~columns], dtype=np.uint64))[0]


@dataclass(frozen=True, slots=True, repr=False)
class DistinctRows:
    """The different rows of a file, grouped by what they leave open.

    Attributes
    ----------
    keys
        Their words, with nothing in the fields that are open.
    counts
        How often each occurs, or the sum of the weights.
    open
        For each group the set of columns that are open (suppressed, or missing and not known).
    starts
        Where each group begins among the rows, and the number of rows at last.
    row_of
        For each record the place of its row.
    """

    keys: Keys
    counts: NDArray[np.int64]
    open: NDArray[np.uint64]
    starts: NDArray[np.int64]
    row_of: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """How many different rows there are."""
        return len(self.keys)


def distinct_rows(
    fields: KeyFields,
    keys: Keys,
    open_columns: NDArray[np.uint64] | None = None,
    weights: NDArray[np.int64] | None = None,
) -> DistinctRows:
    """Return the different rows of packed records, each group of open columns together.

    The order of rows depends on what they are, never on that of the records.
    """
    n_records, n_words = keys.shape
    if open_columns is None:
        sets = np.zeros(1 if n_records else 0, dtype=np.uint64)
        group = np.zeros(n_records, np.int64)
        closed = keys
    else:
        sets, group = np.unique(open_columns, return_inverse=True)
        closed = keys & fields.masks(fields.every & ~sets)[group]
    order = _sorted(closed, group if len(sets) > 1 else None)
    is_first = np.ones(n_records, dtype=np.bool_)
    if n_records:
        same = group[order[1:]] == group[order[:-1]]
        for word in range(n_words):
            column = closed[order, word]
            same &= column[1:] == column[:-1]
        is_first[1:] = ~same
    first = np.flatnonzero(is_first)
    row_of = np.empty(n_records, dtype=np.int64)
    row_of[order] = np.cumsum(is_first) - 1
    if weights is None:
        counts = np.diff(first, append=n_records).astype(np.int64)
    else:
        counts = np.add.reduceat(weights[order], first) if n_records else weights[:0]
    rows = order[first]
    starts = np.searchsorted(group[rows], np.arange(len(sets) + 1)).astype(np.int64)
    return DistinctRows(
        np.ascontiguousarray(closed[rows]), counts.astype(np.int64), sets, starts, row_of
    )


def _sorted(keys: Keys, group: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if group is None and keys.shape[1] == 1:
        return np.argsort(keys[:, 0], kind="stable").astype(np.int64)
    columns = [keys[:, word] for word in range(keys.shape[1])]
    return np.lexsort([*columns, *([] if group is None else [group])]).astype(np.int64)
