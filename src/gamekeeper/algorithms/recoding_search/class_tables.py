"""Classes of records under a recoding, counted from the nearest table that is already there.

Whole numbers throughout: how many records a class has, and its size, which is the same or the sum
of weights in some small unit. A table keeps one record for each class; that is enough to count the
classes of anything coarser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.class_numbers import class_numbers

_MOST_NUMBERS = 2**62
_KEPT_TABLES = 6

_PER_RECORD, _PER_CELL = 250, 16

Labels = Sequence[NDArray[np.int32]]
"""For each variable a partition of its values: equal labels are one block."""


def search_bytes(n_records: int, n_columns: int) -> int:
    """Return about how many bytes a search takes; measured with 20,000 and 60,000 records."""
    return n_records * (_PER_RECORD + _PER_CELL * n_columns)


@dataclass(frozen=True, eq=False, slots=True)
class Records:
    """The different records of a file: their values, how many have them, and what those weigh."""

    rows: NDArray[np.int32]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def n_records(self) -> int:
        """How many records there are, equal ones and all."""
        return int(self.counts.sum())


def distinct_records(
    codes: NDArray[np.integer], weights: NDArray[np.int64] | None = None
) -> Records:
    """Return the different records; whole-numbered weights make sizes of classes, else counts do.

    Examples
    --------
    >>> distinct_records(np.array([[1, 0], [0, 0], [1, 0]])).counts.tolist()
    [1, 2]
    """
    (numbers,) = class_numbers(codes) if len(codes) else (np.zeros(0, np.int64),)
    counts = np.bincount(numbers).astype(np.int64)
    firsts = np.zeros(len(counts), np.int64)
    firsts[numbers[::-1]] = np.arange(len(codes))[::-1]
    sizes = counts
    if weights is not None:
        sizes = np.zeros(len(counts), np.int64)
        np.add.at(sizes, numbers, weights)
    return Records(np.ascontiguousarray(codes[firsts], dtype=np.int32), counts, sizes)


@dataclass(frozen=True, eq=False, slots=True)
class ClassTable:
    """Classes: for each the row of one of its records, how many it has, and its size."""

    firsts: NDArray[np.int64]
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def part(self, chosen: NDArray[np.bool_]) -> ClassTable:
        """Return some of the classes."""
        return ClassTable(self.firsts[chosen], self.counts[chosen], self.sizes[chosen])

    def joined(self, other: ClassTable) -> ClassTable:
        """Return the classes of both."""
        return ClassTable(
            np.concatenate([self.firsts, other.firsts]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.sizes, other.sizes]),
        )


class ClassCounter:
    """Counts the classes of a file under recodings."""

    def __init__(self, records: Records, n_values: Sequence[int]) -> None:
        self.records = records
        self.offsets = np.concatenate([[0], np.cumsum(n_values)]).astype(np.int64)
        n_rows = len(records.rows)
        self.finest = ClassTable(np.arange(n_rows), records.counts, records.sizes)
        self._room = [np.empty(n_rows, np.int64) for _ in range(2)]
        self._kept: list[tuple[Labels, ClassTable]] = []
        self.counted = 0

    def count(self, labels: Labels, start: ClassTable | None = None) -> ClassTable:
        """Return the classes under a recoding, from the table of a finer one.

        Without a table to start from, the smallest of those counted last is taken that is of a
        finer recoding.
        """
        if start is not None:
            return self._count(labels, start)
        found = self._count(labels, self._nearest(labels))
        if 2 * len(found.firsts) <= len(self.finest.firsts):
            self._kept = [*self._kept[1 - _KEPT_TABLES :], (labels, found)]
        return found

    def _nearest(self, labels: Labels) -> ClassTable:
        finer = [
            table
            for kept, table in self._kept
            if all(_is_finer(a, b) for a, b in zip(kept, labels, strict=True))
        ]
        return min([self.finest, *finer], key=lambda table: len(table.firsts))

    def _count(self, labels: Labels, start: ClassTable) -> ClassTable:
        from gamekeeper.algorithms.recoding_search.class_kernels import number_classes

        self.counted += 1
        n_rows = len(start.firsts)
        factors = [int(own.max(initial=0)) + 1 for own in labels]
        words, n_words = _packing(factors)
        numbers, firsts = (room[:n_rows] for room in self._room)
        table = np.empty(max(16, 1 << (2 * n_rows - 1).bit_length()), np.int64)
        n_classes = number_classes(
            self.records.rows,
            start.firsts,
            np.concatenate(labels).astype(np.int32) if len(labels) else np.zeros(0, np.int32),
            self.offsets,
            np.array(factors, np.int64),
            words,
            np.empty((n_rows, n_words), np.int64),
            table,
            numbers,
            firsts,
        )
        # Sums as floats are exact: no sum of counts or of scaled weights comes near to 2**53.
        counts = np.bincount(numbers, start.counts, n_classes).astype(np.int64)
        sizes = counts
        if start.sizes is not start.counts:
            sizes = np.bincount(numbers, start.sizes, n_classes).astype(np.int64)
        return ClassTable(start.firsts[firsts[:n_classes]], counts, sizes)

    def values(self, table: ClassTable, variable: int) -> NDArray[np.int32]:
        """Return the values of a variable that the kept records of classes have."""
        return self.records.rows[table.firsts, variable]


def _is_finer(a: NDArray[np.int32], b: NDArray[np.int32]) -> bool:
    """Tell whether each block of the first partition lies in a block of the second."""
    block = np.full(int(a.max(initial=0)) + 1, -1, np.int32)
    block[a] = b
    return bool((block[a] == b).all())


def _packing(factors: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Return in which whole number each variable is packed, and how many there are."""
    words: list[int] = []
    word, span = 0, 1
    for factor in factors:
        if span * factor > _MOST_NUMBERS:
            word, span = word + 1, 1
        span *= factor
        words.append(word)
    return np.array(words, np.int64), word + 1
