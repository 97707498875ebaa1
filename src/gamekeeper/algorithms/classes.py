"""Classes of equal rows of codes, as numbers 0, 1, ... or as packed words, and disjoint sets.

The codes of a key are packed into one integer, and packed integers are numbered afresh only where
the next variable would not fit. So most keys cost one sort of the records, or one count where there
are few possible keys.

Disjoint sets are united by union-find with path compression (Tarjan, Efficiency of a good but not
linear set union algorithm, 1975), in near-constant time a call. Their items are names and pairs as
well as numbers, and `scipy.sparse.csgraph` alone takes longer to load than most questions of forms.

For comparisons on some columns, rows are fields of 64-bit words: every column has as many bits as
its largest code needs, and never lies across two words. So nine variables of a census file are one
word, and two rows agree on a set of columns if they are equal after the bits of the others are
cleared. Nothing is hashed away: comparisons are exact.

A cell that can stand for several values is compared in the same way. The categories of such a
column are sets of values, dealt to levels so that those of one level have no value in common
(`CellSets`). At a level a value lies in one category or in none, so that whoever is compared with
rows of that level is written in its categories, and fits where the codes are equal. A suppressed
cell is a column left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import LimitError, Reason

Codes = NDArray[np.integer[Any]]
Keys = NDArray[np.uint64]
_MOST_NUMBERS = 2**62
_DENSE = 4


def dense_numbers(keys: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Number keys of 0 and more 0, 1, ... without a gap, in their order.

    Examples
    --------
    >>> dense_numbers(np.array([7, 3, 7, 5]))
    array([2, 0, 2, 1])
    """
    if int(keys.max(initial=0)) > _DENSE * len(keys):
        return np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64, copy=False)
    # Few possible keys: counting them takes a tenth of the time of sorting them.
    own = keys.astype(np.int64, copy=False)
    return (np.cumsum(np.bincount(own) > 0) - 1)[own]


def numbers_as_they_come(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Number labels 0, 1, ... in the order of their first records.

    Examples
    --------
    >>> numbers_as_they_come(np.array([7, 3, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def class_numbers(*matrices: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], ...]:
    """Number the distinct keys of one or more matrices of codes, the same number for the same key.

    Keys are numbered without a gap, in the order of their first column, then the second, and so on.

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
            numbers, span = dense_numbers(numbers), n_keys
        numbers, span = numbers * n_codes + codes, span * n_codes
    ends = np.cumsum([len(matrix) for matrix in given])[:-1]
    return tuple(np.split(dense_numbers(numbers), ends))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class EqualRows:
    """The class of each row, and of each class the place of its first row and how many rows it has."""

    numbers: NDArray[np.int64]
    firsts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: NDArray[np.int64]) -> Self:
        """Return the classes of rows that have numbers without a gap.

        Examples
        --------
        >>> found = EqualRows.of(np.array([1, 0, 1]))
        >>> found.firsts, found.sizes
        (array([1, 0]), array([1, 2]))
        """
        sizes = np.bincount(numbers).astype(np.int64)
        firsts = np.zeros(len(sizes), dtype=np.int64)
        firsts[numbers[::-1]] = np.arange(len(numbers))[::-1]
        return cls(numbers, firsts, sizes)

    def sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of whole-numbered weights of each class."""
        made = np.zeros(len(self.sizes), dtype=np.int64)
        np.add.at(made, self.numbers, weights)
        return made


def equal_rows(matrix: NDArray[np.integer[Any]]) -> EqualRows:
    """Return the classes of equal rows of codes, in the order of `class_numbers`."""
    return EqualRows.of(class_numbers(matrix)[0])


class DisjointSets:
    """Sets of hashable items, each item at first alone in a set of its own.

    Examples
    --------
    >>> sets = DisjointSets()
    >>> sets.unite("a", "b"), sets.unite("b", "a")
    (True, False)
    >>> sets.find("a") == sets.find("b")
    True
    """

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def find(self, item: Hashable) -> Hashable:
        """Return the item that stands for the set of this one."""
        root = item
        while (above := self._parent.get(root, root)) != root:
            root = above
        while item != root:
            above = self._parent[item]
            self._parent[item] = root
            item = above
        return root

    def unite(self, a: Hashable, b: Hashable) -> bool:
        """Unite the sets of two items; tell whether they were apart."""
        root_a, root_b = self.find(a), self.find(b)
        if root_a == root_b:
            return False
        self._parent[root_b] = root_a
        return True


MOST_COLUMNS = 64
MOST_HELD = 50_000_000
"""The most values, over all levels of a column, that sets are kept of."""
_MOST_COMPARED = 40_000_000_000


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CellSets:
    """The values that each category of a column can stand for.

    Each category has a level, and no two of a level have a value in common: `category_at` has for
    each level and value the category that has it, or `nobody`. `sizes` says how many values each
    has.
    """

    level_of: NDArray[np.int64]
    category_at: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, sets: Sequence[NDArray[np.integer[Any]]], n_values: int) -> CellSets:
        """Deal sets of values to levels: single values first, then the largest, from the lowest on.

        Bands of one width take as many levels as overlap at one value, which is the fewest there can be.

        Examples
        --------
        >>> bands = [np.array(held) for held in ([0], [1], [1, 2], [2, 3], [3])]
        >>> found = CellSets.of(bands, 4)
        >>> found.level_of.tolist(), found.fits(np.array([2, 2]), np.array([2, 4])).tolist()
        ([0, 0, 1, 2, 0], [True, False])
        """
        sizes = np.array([len(held) for held in sets], dtype=np.int64)
        lowest = [int(held.min()) if len(held) else 0 for held in sets]
        order = sorted(range(len(sets)), key=lambda k: (sizes[k] > 1, -sizes[k], lowest[k]))
        level_of = np.zeros(len(sets), dtype=np.int64)
        levels: list[NDArray[np.int64]] = [np.full(n_values, len(sets), dtype=np.int64)]
        for category in order:
            held = sets[category]
            free = (n for n, own in enumerate(levels) if (own[held] == len(sets)).all())
            level = next(free, len(levels))
            if level == len(levels):
                if (level + 1) * n_values > MOST_HELD:
                    raise _too_many("Too many of their categories overlap at one value.")
                levels.append(np.full(n_values, len(sets), dtype=np.int64))
            levels[level][held] = category
            level_of[category] = level
        return cls(level_of, np.stack(levels), sizes)

    @property
    def nobody(self) -> int:
        """The code of a value that no category of a level has."""
        return len(self.level_of)

    @property
    def overlap(self) -> bool:
        """Whether a value lies in more than one category."""
        return len(self.category_at) > 1

    def fits(self, values: Codes, categories: Codes) -> NDArray[np.bool_]:
        """Tell of each value whether it lies in the category beside it."""
        return self.category_at[self.level_of[categories], values] == categories

    def table(self) -> NDArray[np.bool_]:
        """Return whether each category has each value, a line per category."""
        return self.category_at[self.level_of] == np.arange(self.nobody)[:, None]


Held = Mapping[int, CellSets]
"""What cells can stand for, by the number of their column; a column without it has plain values."""


def fits_in_column(values: Codes, cells: Codes, column: int, held: Held) -> NDArray[np.bool_]:
    """Tell of each value whether the cell beside it, in that column and not suppressed, can be of it."""
    return held[column].fits(values, cells) if column in held else values == cells


@dataclass(frozen=True, slots=True, repr=False)
class KeyFields:
    """Where the bits of each column are: the number of its word, its first bit, how many bits."""

    words: tuple[int, ...]
    shifts: tuple[int, ...]
    bits: tuple[int, ...]

    @classmethod
    def for_codes(cls, *matrices: Codes, held: Held | None = None) -> KeyFields:
        """Return fields that hold the codes of several matrices with the same columns."""
        n_columns = matrices[0].shape[1]
        assert n_columns <= MOST_COLUMNS, "a set of columns is one word"
        words: list[int] = []
        shifts: list[int] = []
        sizes: list[int] = []
        word, used = 0, 0
        for column in range(n_columns):
            top = max(int(matrix[:, column].max(initial=0)) for matrix in matrices)
            if held and column in held:
                top = max(top, held[column].nobody)
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

    def column(self, keys: Keys, column: int) -> NDArray[np.int64]:
        """Return the codes of one column of packed rows."""
        field = np.uint64((1 << self.bits[column]) - 1)
        found = (keys[:, self.words[column]] >> np.uint64(self.shifts[column])) & field
        return found.astype(np.int64)

    def at_levels(self, keys: Keys, held: Held, levels: NDArray[np.int64]) -> Keys:
        """Return packed values in the categories that have them at one level per column of sets."""
        if not held:
            return keys
        bits = sum(1 << column for column in held)
        made = keys & self.mask_without(np.uint64(bits))
        for (column, own), level in zip(held.items(), levels.tolist(), strict=True):
            codes = own.category_at[level][self.column(keys, column)].astype(np.uint64)
            made[:, self.words[column]] |= codes << np.uint64(self.shifts[column])
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


def word_numbers(*packed: Keys) -> tuple[NDArray[np.int64], ...]:
    """Number the different ones among packed rows, the same number for the same row.

    They are in the order of their last word, then of the one before it.
    """
    words = np.concatenate(packed).T[::-1]
    if len(words) == 1:
        numbers = dense_numbers(words[0])
    else:
        # To sort words one by one and then their numbers takes less than to sort rows of words.
        (numbers,) = class_numbers(np.column_stack([dense_numbers(word) for word in words]))
    return tuple(np.split(numbers, np.cumsum([len(keys) for keys in packed])[:-1]))


def sorted_rows(keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return an order of packed rows, and for each place in it whether a different row begins there.

    The order is that of `word_numbers`.
    """
    own = keys[:, 0] if keys.shape[1] == 1 else word_numbers(keys)[0]
    order = np.argsort(own)
    is_first = np.ones(len(keys), dtype=np.bool_)
    is_first[1:] = own[order[1:]] != own[order[:-1]]
    return order.astype(np.int64, copy=False), is_first


@dataclass(frozen=True, slots=True, repr=False)
class DistinctRows:
    """The different rows of a file, grouped by what they leave open and the levels of their sets.

    `keys` are their words, with nothing in fields that are open, and `counts` how often each
    occurs, or the sum of the weights. For each group there are the set of columns that are open
    (suppressed, or missing and not known), the level of its cells in each column of sets, and in
    `starts` where it begins, with the number of rows at last. `row_of` has the place of each
    record's row.
    """

    keys: Keys
    counts: NDArray[np.int64]
    open: NDArray[np.uint64]
    levels: NDArray[np.int64]
    starts: NDArray[np.int64]
    row_of: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """How many different rows there are."""
        return len(self.keys)


def groups_of(
    fields: KeyFields, keys: Keys, open_columns: NDArray[np.uint64], held: Held
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the different sets of open columns with the levels of the rest, and each row's of these."""
    opened, group = np.unique(open_columns, return_inverse=True)
    group = group.reshape(-1)
    levels = np.zeros((len(opened), 0), dtype=np.int64)
    for column, own in held.items():
        bit = np.uint64(column)
        is_open = (open_columns >> bit) & np.uint64(1) == 1
        level = np.where(is_open, 0, own.level_of[fields.column(keys, column) * ~is_open])
        n_levels = len(own.category_at)
        found, group = np.unique(group * n_levels + level, return_inverse=True)
        before, here = np.divmod(found, n_levels)
        opened, levels = opened[before], np.column_stack([levels[before], here])
    return opened, levels, group


def distinct_rows(
    fields: KeyFields,
    keys: Keys,
    open_columns: NDArray[np.uint64] | None = None,
    weights: NDArray[np.int64] | None = None,
    *,
    held: Held | None = None,
) -> DistinctRows:
    """Return the different rows of packed records, each group of open columns and levels together.

    The order of rows depends on what they are, never on that of the records.
    """
    n_records = len(keys)
    if open_columns is None and not held:
        opened = np.zeros(1 if n_records else 0, dtype=np.uint64)
        levels = np.zeros((len(opened), 0), dtype=np.int64)
        group = np.zeros(n_records, np.int64)
        closed = keys
    else:
        none = np.zeros(n_records, dtype=np.uint64)
        given = none if open_columns is None else open_columns
        opened, levels, group = groups_of(fields, keys, given, held or {})
        closed = keys & fields.masks(fields.every & ~opened)[group]
    order, is_first = sorted_rows(
        np.column_stack([closed, group.astype(np.uint64)]) if len(opened) > 1 else closed
    )
    first = np.flatnonzero(is_first)
    row_of = np.empty(n_records, dtype=np.int64)
    row_of[order] = np.cumsum(is_first) - 1
    if weights is None:
        counts = np.diff(first, append=n_records).astype(np.int64)
    else:
        counts = np.add.reduceat(weights[order], first) if n_records else weights[:0]
    rows = order[first]
    starts = np.searchsorted(group[rows], np.arange(len(opened) + 1)).astype(np.int64)
    return DistinctRows(
        np.ascontiguousarray(closed[rows]), counts.astype(np.int64), opened, levels, starts, row_of
    )


def require_comparable(n_people: int, levels: NDArray[np.int64]) -> None:
    """Refuse to go past people once per group of rows where that would take hours."""
    if levels.shape[1] and n_people * len(levels) > _MOST_COMPARED:
        raise _too_many("There are too many different people and ways in which cells overlap.")


def _too_many(found: str) -> LimitError:
    return LimitError(
        Reason.TOO_LARGE,
        "People were to be compared with released records whose cells stand for several values.",
        found,
        "Compare fewer key variables, or fewer records.",
    )
