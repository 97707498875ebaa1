"""What a recoding may choose, what that loses, how its classes are counted, and what it must reach.

A variable has values 0 .. n-1 and allowed categories, each a set of values (nodes of a partition
graph; they need not form a tree). A categorization is a choice of categories that has every value
in exactly one; a recoding has a categorization for each variable. Where a variable may only be
categorized in certain ways (levels of a hierarchy, what others' forms have), the ways are listed.
Loss adds up over categories. In bits, a category loses for each of its records the logarithm to
base 2 of (records in the category / records with the value): what a reader would have to be told
to know the value again.

All categorizations that some categories allow are counted and listed in the order of the smallest
value that is not yet covered: what is left to cover is a set of values that comes up again and
again; each is counted once. For trees and for bands there are few such sets.

Classes of records are counted from the nearest table that is already there, in whole numbers: how
many records a class has, and its size, which is the same or the sum of weights in some small unit.
A table keeps one record for each class; that is enough to count the classes of anything coarser.

Only measures that never grow where categories are merged can be searched exactly: what is unsafe
stays so under anything finer. Classes only merge, so records in classes below k and the number of
classes (the sum of 1/f over records: the right matches that a prosecutor expects) are among them.
So is IS of records and of the file: where a minimal unique set S of s variables out of M is lost,
(M-s)! goes and at most M-s sets with (M-s-1)! each come. The SUDA score of 2002 is not: it can
rise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import equal_rows

Chosen = tuple[tuple[int, ...], ...]
"""Of each variable the numbers of the categories that are chosen, in ascending order."""


@dataclass(frozen=True, eq=False, slots=True)
class Choice:
    """What may be chosen for one variable.

    Allowed categories are their values in ascending order. `ways` are the categorizations to choose
    from, as numbers of categories; any that the categories allow, where None. At least `least`
    categories are wanted.
    """

    n_values: int
    categories: tuple[tuple[int, ...], ...]
    losses: NDArray[np.float64]
    ways: tuple[tuple[int, ...], ...] | None = None
    least: int = 1
    members: NDArray[np.int64] = field(init=False)
    starts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [len(category) for category in self.categories]
        flat = np.array([v for category in self.categories for v in category], dtype=np.int64)
        object.__setattr__(self, "members", flat)
        object.__setattr__(self, "starts", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """What is chosen from, as numbers of categories: the ways where listed, else each category."""
        if self.ways is not None:
            return self.ways
        return tuple((number,) for number in range(len(self.categories)))

    @property
    def sets(self) -> list[int]:
        """The categories as numbers whose bits are values."""
        return [sum(1 << value for value in category) for category in self.categories]

    def labels(self, chosen: Iterable[int]) -> NDArray[np.int32]:
        """Return for each value the place of its category among those chosen; -1 where it has none.

        Examples
        --------
        >>> Choice(3, ((0,), (1, 2)), np.zeros(2)).labels([0, 1]).tolist()
        [0, 1, 1]
        """
        labels = np.full(self.n_values, -1, dtype=np.int32)
        for place, category in enumerate(chosen):
            labels[self.members[self.starts[category] : self.starts[category + 1]]] = place
        return labels

    def inside(self, labels: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Tell of each category whether it lies within a block of a partition of the values.

        Examples
        --------
        >>> Choice(3, ((0,), (1, 2)), np.zeros(2)).inside(np.array([0, 0, 1])).tolist()
        [True, False]
        """
        found = labels[self.members]
        low = np.minimum.reduceat(found, self.starts[:-1])
        return low == np.maximum.reduceat(found, self.starts[:-1])

    def loss(self, chosen: Iterable[int]) -> float:
        """Return what a categorization loses."""
        return float(self.losses[list(chosen)].sum())


def bits_lost(
    categories: Sequence[Sequence[int]], counts: NDArray[np.integer] | NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return what each category loses in bits, from how many records have each value.

    A category all of whose records have one value loses nothing.

    Examples
    --------
    >>> bits_lost([[0], [0, 1], [1, 2]], np.array([2, 2, 0])).tolist()
    [0.0, 4.0, 0.0]
    """
    lost = np.zeros(len(categories))
    for number, category in enumerate(categories):
        own = counts[list(category)].astype(np.float64)
        own = own[own > 0]
        if len(own) > 1:
            total = own.sum()
            lost[number] = max(0.0, float(total * np.log2(total) - (own * np.log2(own)).sum()))
    return lost


def total_loss(choices: Sequence[Choice], chosen: Chosen) -> float:
    """Return what a recoding loses."""
    return sum(choice.loss(own) for choice, own in zip(choices, chosen, strict=True))


def categories_inside(
    choices: Sequence[Choice], labels: Sequence[NDArray[np.integer]]
) -> tuple[NDArray[np.bool_], ...]:
    """Return for each variable which of its categories lie within blocks of a partition."""
    return tuple(choice.inside(own) for choice, own in zip(choices, labels, strict=True))


def recoding_labels(choices: Sequence[Choice], chosen: Chosen) -> list[NDArray[np.int32]]:
    """Return for each variable the place of every value's category."""
    return [choice.labels(own) for choice, own in zip(choices, chosen, strict=True)]


MOST_LISTED = 100_000
"""Up to so many recodings are gone through; more are left to HiGHS."""

MOST_SETS = 200_000
"""More sets of values than this are not looked at when categorizations are counted."""


def listed_choices(choices: Sequence[Choice], most: int) -> tuple[int | None, list[Choice] | None]:
    """Return how many recodings there are, and choices with all their ways, where these are few.

    None where that is too long to count, and where there are more than `most`.
    """
    counts = [count_ways(choice) for choice in choices]
    known = [count for count in counts if count is not None]
    n_recodings = prod(known) if len(known) == len(counts) else None
    if n_recodings is None or n_recodings > most:
        return n_recodings, None
    return n_recodings, [replace(c, ways=tuple(list_ways(c)), least=1) for c in choices]


def count_ways(choice: Choice, most_sets: int = MOST_SETS) -> int | None:
    """Return how many categorizations with enough categories there are; None if too long to count.

    Examples
    --------
    >>> count_ways(Choice(3, ((0,), (1,), (2,), (0, 1), (1, 2)), np.zeros(5)))
    3
    """
    if choice.ways is not None:
        return sum(len(way) >= choice.least for way in choice.ways)
    starting = _by_first(choice)
    # What is left to cover, by its smallest value, with the categories so far (as far as they
    # matter) and the number of ways in which one gets there.
    by_low: list[dict[tuple[int, int], int]] = [{} for _ in range(choice.n_values)]
    by_low[0] = {((1 << choice.n_values) - 1, 0): 1}
    done = total = 0
    for low in range(choice.n_values):
        for (rest, taken), n_ways in by_low[low].items():
            done += 1
            if done > most_sets:
                return None
            now = min(taken + 1, choice.least)
            for category in starting[low]:
                if category & rest == category:
                    after = rest & ~category
                    if after:
                        place = (after & -after).bit_length() - 1
                        by_low[place][after, now] = by_low[place].get((after, now), 0) + n_ways
                    elif now >= choice.least:
                        total += n_ways
        by_low[low] = {}
    return total


def list_ways(choice: Choice) -> Iterator[tuple[int, ...]]:
    """Yield every categorization with at least as many categories as asked for."""
    if choice.ways is not None:
        yield from (way for way in choice.ways if len(way) >= choice.least)
        return
    starting = _by_first(choice)
    numbers = {own: number for number, own in enumerate(choice.sets)}

    # A stack and not recursion: there can be as many steps as values.
    stack: list[tuple[int, tuple[int, ...]]] = [((1 << choice.n_values) - 1, ())]
    while stack:
        rest, taken = stack.pop()
        if not rest:
            if len(taken) >= choice.least:
                yield tuple(sorted(taken))
            continue
        stack += [
            (rest & ~category, (*taken, numbers[category]))
            for category in reversed(starting[(rest & -rest).bit_length() - 1])
            if category & rest == category
        ]


def _by_first(choice: Choice) -> list[list[int]]:
    starting: list[list[int]] = [[] for _ in range(choice.n_values)]
    for category, own in zip(choice.categories, choice.sets, strict=True):
        starting[category[0]].append(own)
    return starting


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
    found = equal_rows(codes)
    sizes = found.sizes if weights is None else found.sums(weights)
    rows = np.ascontiguousarray(codes[found.firsts], dtype=np.int32)
    return Records(rows, found.sizes, sizes)


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


@dataclass(frozen=True, slots=True)
class SmallClasses:
    """At most so many records lie in classes of a size below k."""

    k: int
    most: int = 0

    def shares(self, table: ClassTable) -> NDArray[np.int64]:
        """Return what each class adds to the measure."""
        return np.where(table.sizes < self.k, table.counts, 0)


@dataclass(frozen=True, slots=True)
class ClassNumber:
    """There are at most so many classes: of each, one right match is expected."""

    most: int

    def shares(self, table: ClassTable) -> NDArray[np.int64]:
        """Return what each class adds to the measure."""
        return np.ones(len(table.counts), np.int64)


ClassTarget = SmallClasses | ClassNumber


@dataclass(frozen=True, slots=True)
class MonotoneAttack:
    """A measure of an attack is at most so much.

    `measure` gets a partition of the values of each variable. It must not grow where blocks are
    merged; whoever gives it vouches for that.
    """

    measure: Callable[[Labels], float]
    most: float


Target = ClassTarget | MonotoneAttack


def is_met(target: Target, labels: Labels, table: ClassTable) -> bool:
    """Tell whether a recoding, of which the classes are given, meets a target."""
    if isinstance(target, MonotoneAttack):
        return target.measure(labels) <= target.most
    return int(target.shares(table).sum()) <= target.most
