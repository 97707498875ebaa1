"""Labels of an axis whose published counts are the counts of other labels added up.

A column that mixes regions with the country, or codes of several levels, is no axis of a table:
somebody is counted twice. Counts show it. Where one label has, in every line that is published, the
sum of the same other labels, that is either a sum or chance. Chance is judged by the counts. That
two counts of about n agree has, if people fall as they please, a probability of some
1 / sqrt(4 pi n) at most, and counts from 0 to n that know nothing of each other agree once in n + 1
lines; the larger of the two is taken. Rounding widens what agrees, and counts that are all multiples
of a number, rounded ones that are read as exact, agree so much the sooner. The improbabilities of all lines
of a table are multiplied, in bits, and must outweigh the number of sums that were tried by
`ENOUGH_BITS`.

Tried are: the sum of all others; families of labels that are given; every run of neighbours; every
set of labels, where there are at most `MOST_SUBSETS`; and with more labels, sets that follow from
the counts by linear algebra, where there are more lines than labels. Not tried are arbitrary sets
of many labels in few lines.

That is what speaks for a sum. `possible_sums` asks what speaks against one: whether, in each line, the
limits of a label and of some others leave it possible that these are its parts. Where one label holds
others, the total of a line is the sum of labels without them, so that a total above all of those
speaks against it as well. Every hierarchy has a label that passes, so that where none does, no label
is the sum of others. Somebody may be counted twice all the same, where labels divide the same people in
two ways (men and women, young and old), or a label holds others beside people who have no label.
The search gives up after `MOST_WORK`, and then says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Lines = tuple[Integers, Integers]
"""Lower and upper limits of the counts of a table: a row for each line, a column for each label."""

Sum = tuple[int, tuple[int, ...]]

ENOUGH_BITS = 4.0
MOST_SUBSETS = 12
_SURE_BITS = 9.0
_MOST_RUNS = 150
_MOST_SPAN = 400
_MOST_LINES = 64
MOST_WORK = 100_000_000
_WORK_OF_STEP = 2_000


def find_sums(tables: Sequence[Lines], families: Iterable[Sequence[Sum]] = ()) -> list[Sum]:
    """Return labels that are sums of others by their counts, each with its parts.

    There are the lines of every published table that has the axis, and families of sums that are
    likely together, such as all codes with what begins with them.

    Examples
    --------
    >>> counts = np.array([[30, 12, 18, 9], [41, 20, 21, 7]])
    >>> find_sums([(counts, counts)])
    [(0, (1, 2))]
    """
    usable = [table for table in tables if table[0].shape[1] >= 3 and len(table[0])]
    wide = max(usable, key=lambda table: len(table[0]), default=None)
    if wide is None:
        return []
    found: dict[int, tuple[int, ...]] = {}
    for family in families:
        for whole, parts in _likely(tables, list(family)):
            found.setdefault(whole, _counted(wide, parts))
    most = _most_bits(tables)
    worth = np.flatnonzero(most >= ENOUGH_BITS)
    for whole, parts, cost in _tried(wide, worth.tolist()) if worth.size else ():
        if whole not in found and most[whole] - cost >= ENOUGH_BITS:
            bits = sum_bits(tables, whole, parts)
            if bits is not None and bits - cost >= ENOUGH_BITS:
                found[whole] = _counted(wide, parts)
    return sorted(found.items())


def _likely(tables: Sequence[Lines], family: list[Sum]) -> list[Sum]:
    """Return the sums of a family that are no chance: together, or else each of them alone."""
    bits = [sum_bits(tables, whole, parts) for whole, parts in family]
    agreeing = [
        (one, bit) for one, bit in zip(family, bits, strict=True) if bit is not None and bit > 0
    ]
    is_whole = None not in bits and sum(bit for _, bit in agreeing) >= ENOUGH_BITS
    cost = 0.0 if is_whole else ENOUGH_BITS + math.log2(max(1, len(family)))
    return [one for one, bit in agreeing if bit >= cost]


def sum_bits(tables: Sequence[Lines], whole: int, parts: Sequence[int]) -> float | None:
    """Return how improbable it is, in bits, that counts add up by chance; None if they do not.

    A table and its margins say the same thing twice, so that only the table that says most counts.

    Examples
    --------
    >>> counts = np.array([[30, 12, 18], [41, 20, 21]])
    >>> round(sum_bits([(counts, counts)], 0, [1, 2]), 1)
    8.8
    >>> sum_bits([(counts, counts)], 1, [0, 2]) is None
    True
    """
    most = 0.0
    own = list(parts)
    for lower, upper in tables:
        low, high = lower[:, own].sum(axis=1), _added(upper[:, own])
        if np.any(low > upper[:, whole]) or np.any(high < lower[:, whole]):
            return None
        known = (high < UNBOUNDED) & (upper[:, whole] < UNBOUNDED)
        if np.count_nonzero((lower[known][:, own] > 0).any(axis=0)) < 2:
            continue
        width = 1 + (upper - lower)[known, whole] + (high - low)[known]
        bits = np.log2(_spread(upper[known, whole], _grain(lower, upper)) / width)
        most = max(most, float(np.maximum(0, bits).sum()))
    return most


def _spread(counts: Integers, grain: int) -> Floats:
    """Return one over the probability that another count agrees with each of these by chance.

    `grain` is what all counts are multiples of: they agree so much the sooner.
    """
    sizes = counts.astype(np.float64)
    return np.minimum(sizes / grain + 1, np.sqrt(4 * np.pi * np.maximum(sizes, 1)) / grain)


def _grain(lower: Integers, upper: Integers) -> int:
    """Return the largest number that all exact counts are multiples of, 1 where there is none.

    A few counts that have a divisor in common have it by chance: 1,203, 4,512 and 5,715 have 3.
    """
    exact = lower[lower == upper]
    grain = max(1, int(np.gcd.reduce(exact, initial=0)))
    return grain if exact.size * math.log2(grain) >= _SURE_BITS else 1


def _most_bits(tables: Sequence[Lines]) -> Floats:
    """Return, for each label, the bits that counts could have that add up to it in every line."""
    return np.max(
        [
            np.where(
                upper < UNBOUNDED,
                np.log2(_spread(upper, _grain(lower, upper)) / (1.0 + upper - lower)),
                0.0,
            )
            .clip(min=0)
            .sum(axis=0)
            for lower, upper in tables
        ],
        axis=0,
    )


def _telling(table: Lines) -> Lines:
    """Return the lines with the largest counts: enough to reject what does not add up."""
    lower, upper = table
    known = (upper < UNBOUNDED).sum(axis=1)
    order = np.lexsort((-lower.sum(axis=1), -known))[:_MOST_LINES]
    return lower[order], upper[order]


def _tried(table: Lines, worth: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Return sums that the telling lines allow, with the bits that trying so many of them costs.

    `worth` are the labels for which counts could show anything.
    """
    n_labels = table[0].shape[1]
    lines = _telling(table)
    largest = int(np.argmax(table[0].sum(axis=0)))
    yield largest, tuple(label for label in range(n_labels) if label != largest), 0.0
    if n_labels <= MOST_SUBSETS:
        yield from _subsets(lines, worth)
        return
    if n_labels <= _MOST_RUNS:
        yield from _runs(lines, worth)
    else:
        yield from _neighbours(lines, worth)
    if n_labels <= _MOST_SPAN:
        yield from _spanned(table)


def _subsets(lines: Lines, worth: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...], float]]:
    lower, upper = lines
    n_labels = lower.shape[1]
    sets = ((np.arange(1 << n_labels)[:, None] >> np.arange(n_labels)) & 1).astype(np.int64)
    sets = sets[sets.sum(axis=1) >= 2]
    low = sets @ lower.T
    high = np.minimum(sets @ upper.T, UNBOUNDED)
    for whole in worth:
        top, bottom = upper[:, whole], lower[:, whole]
        fits = (low <= top).all(axis=1) & (high >= bottom).all(axis=1) & (sets[:, whole] == 0)
        for own in sets[fits]:
            parts = tuple(np.flatnonzero(own).tolist())
            is_beside = _is_beside(whole, parts)
            yield whole, parts, _choices(n_labels, 1 if is_beside else len(parts))


def _is_beside(whole: int, parts: tuple[int, ...]) -> bool:
    """Whether parts are a run right after or right before a label, as tables are usually laid out."""
    first, last = parts[0], parts[-1]
    return last - first + 1 == len(parts) and whole in (first - 1, last + 1)


def _runs(lines: Lines, worth: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Return runs of neighbours anywhere that may add up to a label outside of them."""
    lower, upper = lines
    n_labels = lower.shape[1]
    tops, bottoms = upper[:, worth], lower[:, worth]
    cost = 2 * math.log2(n_labels)
    for first in range(n_labels - 1):
        low, high = lower[:, first], upper[:, first]
        for last in range(first + 1, n_labels):
            low = low + lower[:, last]
            high = np.minimum(high + upper[:, last], UNBOUNDED)
            possible = (low[:, None] <= tops).all(axis=0)
            if not possible.any():
                break
            fits = possible & (high[:, None] >= bottoms).all(axis=0)
            for whole in (worth[at] for at in np.flatnonzero(fits).tolist()):
                if not first <= whole <= last:
                    beside = whole in (first - 1, last + 1)
                    yield whole, tuple(range(first, last + 1)), cost / 2 + 1 if beside else cost


def _neighbours(lines: Lines, worth: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Return runs right after or right before a label that may add up to it."""
    lower, upper = lines
    n_labels = lower.shape[1]
    cost = math.log2(n_labels) + 1
    for whole in worth:
        top, bottom = upper[:, whole], lower[:, whole]
        for step in (1, -1):
            low = high = np.zeros(len(top), np.int64)
            at = whole + step
            while 0 <= at < n_labels:
                low = low + lower[:, at]
                high = np.minimum(high + upper[:, at], UNBOUNDED)
                if np.any(low > top):
                    break
                if abs(at - whole) > 1 and not np.any(high < bottom):
                    yield whole, tuple(sorted(range(whole + step, at + step, step))), cost
                at += step


def _spanned(table: Lines) -> Iterator[tuple[int, tuple[int, ...], float]]:
    """Return sums that follow from the counts where labels are dependent, smallest first.

    Labels are taken in rising order; one that is a combination of those before, each taken once or
    not at all, is their sum. Only lines without any doubt are used.
    """
    lower, upper = table
    n_labels = lower.shape[1]
    exact = lower[(lower == upper).all(axis=1)]
    # More lines than some for each label say nothing new.
    order = np.argsort(-exact.sum(axis=1), kind="stable")[: 2 * n_labels + _MOST_LINES]
    counts = exact[order].astype(np.float64)
    if len(counts) <= 2:
        return
    basis = np.zeros((n_labels, len(counts)))
    mixed: list[Floats] = []
    kept: list[int] = []
    for label in np.argsort(counts.sum(axis=0), kind="stable").tolist():
        column = counts[:, label]
        size = float(np.linalg.norm(column))
        if size == 0:
            continue
        rest, shares = column, np.zeros(len(kept))
        known = basis[: len(kept)]
        for _ in range(2):  # A second pass removes what rounding left of the first.
            part = known @ rest
            rest = rest - part @ known
            shares = shares + part
        if float(np.linalg.norm(rest)) > 1e-7 * size:
            if len(kept) + 2 >= len(counts):
                return
            length = float(np.linalg.norm(rest))
            basis[len(kept)] = rest / length
            mixed.append(np.append(shares, length))
            kept.append(label)
            continue
        taken = _solved(mixed, shares)
        if np.all(np.abs(taken - np.round(taken)) < 1e-4) and set(np.round(taken)) <= {0.0, 1.0}:
            parts = tuple(sorted(kept[at] for at in np.flatnonzero(np.round(taken)).tolist()))
            if len(parts) > 1:
                yield label, parts, _choices(n_labels, len(parts))


def _solved(mixed: Sequence[Floats], shares: Floats) -> Floats:
    """Return how often each kept label is in one whose shares of the basis are these."""
    triangle = np.zeros((len(mixed), len(mixed)))
    for at, column in enumerate(mixed):
        triangle[: len(column), at] = column
    return np.asarray(np.linalg.solve(triangle, shares), np.float64)


def _choices(n_labels: int, n_parts: int) -> float:
    return math.log2(n_labels * math.comb(n_labels - 1, n_parts))


def _counted(table: Lines, parts: tuple[int, ...]) -> tuple[int, ...]:
    """Leave out parts that are empty in every line: that they belong to the sum is not shown."""
    return tuple(part for part in parts if table[1][:, part].any())


def _added(upper: Integers) -> Integers:
    open_ = (upper >= UNBOUNDED).any(axis=1)
    return np.where(open_, UNBOUNDED, np.where(upper >= UNBOUNDED, 0, upper).sum(axis=1))


def possible_sums(
    lower: Floats, upper: Floats, totals: Floats, most_work: int = MOST_WORK
) -> tuple[dict[int, tuple[int, ...]], bool]:
    """Return labels that could be sums of others, each with parts, and whether that is all.

    A label (column) has limits in each line, infinite where there is none. `totals` are what the
    whole of each line is at least; minus infinity where nothing is known of it. Where figures may be
    negative, a label may be returned that no set of others adds up to; none is left out.

    Examples
    --------
    >>> inf = math.inf
    >>> counts = np.array([[12.0, 0, 8, 9], [15, 10, 0, 22]])
    >>> hidden = np.array([[12, inf, 8, 9], [15, 10, inf, 22]])
    >>> possible_sums(counts, hidden, np.array([-inf, -inf]))[0][0]
    (1, 2)
    >>> possible_sums(counts, hidden, np.array([33.0, 52]))
    ({}, True)
    """
    n_lines, n_labels = lower.shape
    size = np.abs(np.where(np.isfinite(lower), lower, 0)) + np.abs(
        np.where(np.isfinite(upper), upper, 0)
    )
    if n_labels < 2 or not n_lines:
        return {}, True
    if float(size.sum(axis=1).max()) >= UNBOUNDED:
        return {}, False
    tests = _PossibleSums(lower, upper, totals, most_work)
    found: dict[int, tuple[int, ...]] = {}
    for whole in range(n_labels):
        parts = tests.parts_of(whole)
        if parts:
            found[whole] = parts
        if tests.work > most_work:
            return found, False
    return found, True


class _PossibleSums:
    """A search for parts that a label could have."""

    def __init__(self, lower: Floats, upper: Floats, totals: Floats, most_work: int) -> None:
        self.lower, self.upper, self.most_work = lower, upper, most_work
        # What of each label can be above 0, and below it; of the endless ones, how many there are.
        self.above, self.below = np.maximum(upper, 0), np.minimum(lower, 0)
        self.is_endless = np.isinf(self.above)
        self.finite = np.where(self.is_endless, 0, self.above)
        self.n_endless = self.is_endless.sum(axis=1)
        self.spare = self.finite.sum(axis=1) - totals
        alone = self._leaves_enough(self.finite, self.is_endless)
        # What nobody is in could be part of every sum.
        self.candidates = np.flatnonzero(alone & (upper != 0).any(axis=0))
        self.work = lower.size

    def _leaves_enough(self, finite: Floats, n_endless: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether totals can be reached without some labels, a column for each choice of them."""
        reached = (n_endless < self.n_endless[:, None]) | (finite <= self.spare[:, None])
        return np.asarray(reached.all(axis=0))

    def parts_of(self, whole: int) -> tuple[int, ...]:
        """Return parts that a label could have; none where it has none, or the work is too much."""
        others = self.candidates[self.candidates != whole]
        self.work += 2 * len(self.lower) * (len(others) + 1)
        # The label is no more than its parts, so that the others must reach the total by themselves.
        rest = self.n_endless - self.is_endless[:, whole] > 0
        if not (rest | (self.finite[:, whole] <= self.spare)).all() or not len(others):
            return ()
        return self._beside(whole, set(others.tolist())) or self._searched(whole, others)

    def _beside(self, whole: int, others: set[int]) -> tuple[int, ...]:
        """Return the shortest run of two or more right after or right before a label that fits."""
        top, bottom = self.upper[:, whole], self.lower[:, whole]
        for step in (1, -1):
            sums = np.zeros((4, len(top)))
            at = whole + step
            while at in others and abs(at - whole) < _MOST_RUNS:
                sums = sums + self._added(at)
                self.work += len(top) + _WORK_OF_STEP
                least, most, finite, endless = sums
                is_fit = (least <= top).all() and (most >= bottom).all()
                if not self._leaves_enough(finite[:, None], endless[:, None]).all():
                    break
                if abs(at - whole) > 1 and is_fit:
                    return tuple(sorted(range(whole + step, at + step, step)))
                at += step
        return ()

    def _added(self, label: int) -> Floats:
        every = (self.lower, self.upper, self.finite, self.is_endless)
        return np.stack([own[:, label] for own in every])

    def _searched(self, whole: int, others: NDArray[np.intp]) -> tuple[int, ...]:
        """Return parts by trying, for a line that is missed, every label that could mend it."""
        top, bottom = self.upper[:, whole], self.lower[:, whole]
        nothing: tuple[int, ...] = ()
        sums = np.zeros((4, len(top)))
        waiting: list[tuple[tuple[int, ...], Floats, NDArray[np.intp], NDArray[np.intp], int]]
        waiting = [(nothing, sums, *self._tries(nothing, others, sums, top, bottom), 0)]
        while waiting and self.work <= self.most_work:
            chosen, sums, left, tried, number = waiting.pop()
            if number == len(tried):
                continue
            # Whoever is tried later does without those that were tried before.
            waiting.append((chosen, sums, left, tried, number + 1))
            own: tuple[int, ...] = (*chosen, int(left[tried[number]]))
            more = np.delete(left, tried[: number + 1])
            sums = sums + self._added(own[-1])
            if (sums[0] <= top).all() and (sums[1] >= bottom).all():
                return tuple(sorted(own))
            waiting.append((own, sums, *self._tries(own, more, sums, top, bottom), 0))
        return ()

    def _tries(
        self,
        chosen: tuple[int, ...],
        left: NDArray[np.intp],
        sums: Floats,
        top: Floats,
        bottom: Floats,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the labels that may be added to some parts, and which of them one is needed of."""
        least, most, finite, endless = sums
        self.work += 4 * len(top) * (len(left) + 1) + _WORK_OF_STEP
        lowest = least + self.below[:, left].sum(axis=1)
        fits = (lowest[:, None] + np.maximum(self.lower[:, left], 0) <= top[:, None]).all(axis=0)
        fits &= self._leaves_enough(
            finite[:, None] + self.finite[:, left], endless[:, None] + self.is_endless[:, left]
        )
        left = left[fits]
        above, below = self.above[:, left], self.below[:, left]
        if (most + above.sum(axis=1) < bottom).any() or (least + below.sum(axis=1) > top).any():
            return left, left[:0]
        if not chosen and (most >= bottom).all():
            return left, np.arange(len(left))
        is_low, is_high = most < bottom, least > top
        n_mending = np.where(is_low, (above > 0).sum(axis=1), len(left) + 1)
        n_mending = np.minimum(n_mending, np.where(is_high, (below < 0).sum(axis=1), len(left) + 1))
        line = int(np.argmin(n_mending))
        adds = above[line] if is_low[line] else -below[line]
        tried = np.flatnonzero(adds > 0)
        return left, tried[np.argsort(-adds[tried], kind="stable")]
