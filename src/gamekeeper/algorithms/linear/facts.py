"""What is known of hidden numbers: limits of each, and limits of whole-numbered sums of them.

A fact is a row `low <= sum of coefficient times number <= high` with whole coefficients: cells that
add up to a published one, a percentage or a mean that was rounded, the difference of two versions.
Coefficients may be negative or larger than 1, and numbers need be neither whole nor above 0. All
limits are whole numbers: numbers with decimals are scaled by a power of ten before. `NO_LIMIT`
stands for none. Open numbers that hang together are components, each to be solved by itself.

Single rows imply limits, again and again until nothing changes: in a row, each number is at most
what the others leave when they are as small as they can be, and at least what they leave when as
large as they can be. Each step is kept with the row it came from, so that a limit can be traced
back to the rows and first limits that prove it. Everything is calculated in whole numbers; of
numbers that need not be whole, a limit is rounded away from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

NO_LIMIT = 2**62
"""An upper limit, or with a minus a lower one, of what has none."""


class NoNumbersError(ValueError):
    """Nothing satisfies the facts; `rows` are some that contradict each other, where known."""

    def __init__(self, rows: Iterable[int] = ()) -> None:
        super().__init__("no numbers satisfy the facts")
        self.rows = tuple(rows)


@dataclass(frozen=True, eq=False, repr=False)
class LinearFacts:
    """Limits of numbers and of sums of them.

    The numbers of row r are `members[starts[r]:starts[r + 1]]`, with these `factors`; its limits
    are `low` and `high`. `whole` says whether the numbers are known to be whole, and `scale` by how
    much they were multiplied to make limits whole.

    Examples
    --------
    >>> facts = LinearFacts.of([(0, 9), (0, 9)], [({0: 1, 1: 1}, 5, 5)], whole=True)
    >>> facts.admits([2, 3]), facts.admits([2, 4])
    (True, False)
    """

    lower: Integers
    upper: Integers
    starts: Integers
    members: Integers
    factors: Integers
    low: Integers
    high: Integers
    whole: bool = True
    scale: int = 1

    @classmethod
    def of(
        cls,
        limits: Sequence[tuple[int | None, int | None]],
        rows: Iterable[tuple[Mapping[int, int], int | None, int | None]],
        *,
        whole: bool,
        scale: int = 1,
    ) -> LinearFacts:
        """Return facts from plain values, None where there is no limit."""
        listed = [(dict(own), low, high) for own, low, high in rows]
        lengths = [len(own) for own, _, _ in listed]
        return cls(
            _limits([low for low, _ in limits], -NO_LIMIT),
            _limits([high for _, high in limits], NO_LIMIT),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array([one for own, _, _ in listed for one in own], np.int64),
            np.array([factor for own, _, _ in listed for factor in own.values()], np.int64),
            _limits([low for _, low, _ in listed], -NO_LIMIT),
            _limits([high for _, _, high in listed], NO_LIMIT),
            whole,
            scale,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.low)

    @cached_property
    def entry_rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), np.diff(self.starts))

    def row(self, number: int) -> dict[int, int]:
        """Return the coefficients of a row."""
        own = slice(self.starts[number], self.starts[number + 1])
        return dict(zip(self.members[own].tolist(), self.factors[own].tolist(), strict=True))

    def admits(self, numbers: Sequence[int] | Integers, times: int = 1) -> bool:
        """Whether numbers, of which each stands for 1/times of itself, satisfy every fact."""
        given = np.asarray(numbers)
        if given.dtype.kind != "i":
            given = np.array([int(number) for number in numbers], object)
        pairs = ((given, self.lower, self.upper), (self.sums(given), self.low, self.high))
        for own, low, high in pairs:
            has_low, has_high = low > -NO_LIMIT, high < NO_LIMIT
            if np.any(own[has_low] < low[has_low].astype(object) * times):
                return False
            if np.any(own[has_high] > high[has_high].astype(object) * times):
                return False
        return True

    def sums(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of each row, in numbers of any size."""
        largest = max(abs(int(one)) for one in (numbers.min(initial=0), numbers.max(initial=0)))
        factor = int(np.abs(self.factors).max(initial=1))
        longest = int(np.diff(self.starts).max(initial=1))
        kind = np.int64 if largest * factor * longest < NO_LIMIT else object
        found = np.zeros(self.n_rows, kind)
        values = self.factors.astype(kind) * numbers.astype(kind)[self.members]
        np.add.at(found, self.entry_rows, values)
        return found


@dataclass(frozen=True)
class Certificate:
    """A proof of a largest or least value of a number from rows, each taken so many times."""

    target: int
    is_upper: bool
    rows: Mapping[int, Fraction]
    bound: Fraction

    def left_over(self, facts: LinearFacts) -> dict[int, Fraction]:
        """Return what the rows leave of the number: its coefficient less that in their sum."""
        left: dict[int, Fraction] = {self.target: Fraction(1)}
        for row, times in self.rows.items():
            for member, factor in facts.row(row).items():
                left[member] = left.get(member, Fraction(0)) - times * factor
        return {member: factor for member, factor in left.items() if factor}


def verified(
    facts: LinearFacts, target: int, rows: Mapping[int, Fraction], *, is_upper: bool
) -> Certificate | None:
    """Return what some rows prove about a number, calculated in exact fractions; None if nothing.

    Any multiples of rows give a valid bound: the number is the sum of the rows plus what is left
    over, and each is within its limits (Neumaier and Shcherbina 2004).

    Examples
    --------
    >>> facts = LinearFacts.of([(0, None), (0, None)], [({0: 1, 1: 1}, 5, 5)], whole=False)
    >>> verified(facts, 0, {0: Fraction(1)}, is_upper=True).bound
    Fraction(5, 1)
    """
    taken = {row: times for row, times in rows.items() if times}
    found = Certificate(target, is_upper, taken, Fraction(0))
    bound = Fraction(0)
    pairs = [(times, int(facts.low[row]), int(facts.high[row])) for row, times in taken.items()]
    pairs += [
        (factor, int(facts.lower[member]), int(facts.upper[member]))
        for member, factor in found.left_over(facts).items()
    ]
    for times, low, high in pairs:
        limit = high if (times > 0) == is_upper else low
        if abs(limit) >= NO_LIMIT:
            return None
        bound += times * limit
    return Certificate(target, is_upper, taken, bound)


def _limits(given: Sequence[int | None], none: int) -> Integers:
    return np.array([none if limit is None else limit for limit in given], np.int64)


def connected(
    of_row: Integers, of_cell: Integers, n_rows: int, n_cells: int
) -> tuple[Integers, Integers]:
    """Return the number of the component of each cell and of each row.

    Entry k says that the row `of_row[k]` holds the cell `of_cell[k]`. What is in no entry is alone.

    Examples
    --------
    >>> rows, cells = np.array([0, 0, 1]), np.array([0, 2, 1])
    >>> [numbers.tolist() for numbers in connected(rows, cells, 2, 4)]
    [[0, 1, 0, 2], [0, 1]]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array(
        (np.ones(len(of_row), np.int8), (of_row + n_cells, of_cell)),
        shape=(n_cells + n_rows, n_cells + n_rows),
    )
    numbers = connected_components(graph, directed=False)[1].astype(np.int64)
    return numbers[:n_cells], numbers[n_cells:]


@dataclass(frozen=True, eq=False)
class FactComponent:
    """Open numbers that hang together, with the rows that join them.

    The facts are of these numbers alone, with all others at their only value.
    """

    numbers: Integers
    rows: Integers
    facts: LinearFacts


def components(
    facts: LinearFacts, lower: Integers, upper: Integers, wanted: Integers
) -> list[FactComponent]:
    """Return the open numbers that hang together with wanted ones, by component."""
    is_open = lower < upper
    entry_open = is_open[facts.members]
    rows, numbers = facts.entry_rows[entry_open], facts.members[entry_open]
    # Rows stand in the place of cells, so that components come in the order of their first rows.
    of_row, of_number = connected(numbers, rows, len(lower), facts.n_rows)
    chosen = np.unique(of_number[wanted[is_open[wanted]]])
    has_open = np.bincount(rows, minlength=facts.n_rows) > 0
    own_rows = _by_label(np.where(has_open, of_row, -1), chosen)
    own_numbers = _by_label(np.where(is_open, of_number, -1), chosen)
    return [
        _component(facts, lower, upper, *own) for own in zip(own_numbers, own_rows, strict=True)
    ]


def _by_label(labels: Integers, chosen: Integers) -> Iterator[Integers]:
    """Return the places of each of some labels, sorted once for all of them."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    for first, last in zip(
        np.searchsorted(ordered, chosen), np.searchsorted(ordered, chosen + 1), strict=True
    ):
        yield order[first:last]


def _component(
    facts: LinearFacts, lower: Integers, upper: Integers, numbers: Integers, rows: Integers
) -> FactComponent:
    place = np.full(len(lower), -1, np.int64)
    place[numbers] = np.arange(len(numbers))
    lengths = np.diff(facts.starts)[rows]
    at = np.repeat(facts.starts[rows] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    at = at + np.arange(len(at))
    of = np.repeat(np.arange(len(rows)), lengths)
    members, factors = facts.members[at], facts.factors[at]
    inside = place[members] >= 0
    known = np.zeros(len(rows), object)
    np.add.at(known, of[~inside], factors[~inside].astype(object) * lower[members[~inside]])
    low = _less(facts.low[rows], known)
    high = _less(facts.high[rows], known)
    starts = np.concatenate([[0], np.cumsum(np.bincount(of[inside], minlength=len(rows)))])
    own = LinearFacts(
        lower[numbers], upper[numbers], starts.astype(np.int64), place[members[inside]],
        factors[inside], low, high, facts.whole, facts.scale,
    )  # fmt: skip
    return FactComponent(numbers, rows, own)


def _less(limits: Integers, known: NDArray[Any]) -> Integers:
    endless = np.abs(limits) >= NO_LIMIT
    return np.where(
        endless, limits, np.clip(limits.astype(object) - known, -NO_LIMIT, NO_LIMIT)
    ).astype(np.int64)


_MOST_SWEEPS = 200
_MOST_ROWS_OF_PROOF = 20_000
# Beyond this, sums of products of limits and coefficients could leave 64 bits.
_SAFE = 2**61


@dataclass(eq=False, repr=False)
class Limits:
    """The limits of numbers that follow from facts.

    `steps` has for each sweep the numbers whose limits changed: which, whether the upper one, the
    row that told, and the limit before.
    """

    facts: LinearFacts
    lower: Integers
    upper: Integers
    steps: list[tuple[Integers, bool, Integers, Integers]] = field(
        default_factory=list[tuple[Integers, bool, Integers, Integers]]
    )
    _tracer: _Tracer | None = None

    def proof(self, target: int, *, is_upper: bool) -> Certificate | None:
        """Return the rows from which a limit follows; None where it would take too many."""
        rows = self.traced(target, is_upper=is_upper)
        return None if rows is None else verified(self.facts, target, rows, is_upper=is_upper)

    def traced(self, target: int, *, is_upper: bool) -> dict[int, Fraction] | None:
        """Return how many times each row is taken to prove a limit."""
        if self._tracer is None:
            self._tracer = _Tracer(self)
        return self._tracer.rows(target, is_upper=is_upper)


def propagate(facts: LinearFacts) -> Limits:
    """Return the limits that single rows imply, taken together until nothing changes.

    Raises `NoNumbersError` if a row cannot be satisfied.

    Examples
    --------
    >>> facts = LinearFacts.of(
    ...     [(0, None), (0, None)], [({0: 1, 1: 1}, 5, 5), ({1: 1}, 3, 3)], whole=True
    ... )
    >>> found = propagate(facts)
    >>> found.lower.tolist(), found.upper.tolist()
    ([2, 3], [2, 3])
    >>> found.proof(0, is_upper=True).rows
    {0: Fraction(1, 1), 1: Fraction(-1, 1)}
    """
    limits = Limits(facts, facts.lower.copy(), facts.upper.copy())
    if np.any(limits.lower > limits.upper):
        raise NoNumbersError
    rows = np.flatnonzero(np.diff(facts.starts) > 0)
    empty = np.flatnonzero(np.diff(facts.starts) == 0)
    if np.any((facts.low[empty] > 0) | (facts.high[empty] < 0)):
        raise NoNumbersError(empty[(facts.low[empty] > 0) | (facts.high[empty] < 0)].tolist())
    if not len(rows):
        return limits
    entries = _Entries(facts, rows)
    for _ in range(_MOST_SWEEPS):
        changed = False
        for is_upper in (True, False):
            changed |= _sweep(limits, entries, is_upper=is_upper)
        if not changed:
            break
    return limits


class _Entries:
    """The entries of the rows that have some, in plain arrays."""

    def __init__(self, facts: LinearFacts, rows: Integers) -> None:
        finite = [
            np.abs(own[np.abs(own) < NO_LIMIT]).max(initial=0)
            for own in (facts.lower, facts.upper, facts.low, facts.high)
        ]
        longest = int(np.diff(facts.starts).max(initial=1))
        largest = int(np.abs(facts.factors).max(initial=1))
        is_safe = max(map(int, finite)) * largest * longest < _SAFE
        self.kind: Any = np.int64 if is_safe else object
        self.rows = rows
        self.starts = facts.starts[rows]
        self.lengths = np.diff(facts.starts)[rows]
        self.members = facts.members
        self.factors = facts.factors.astype(self.kind)
        self.is_positive = facts.factors > 0
        self.of_entry = np.repeat(np.arange(len(rows)), self.lengths)
        self.whole = facts.whole


def _sweep(limits: Limits, entries: _Entries, *, is_upper: bool) -> bool:
    """Tighten all limits of one side by all rows once."""
    facts = limits.facts
    members = entries.members
    before = limits.upper if is_upper else limits.lower
    found: list[tuple[Integers, Integers, Integers]] = []
    for from_high in (True, False):
        # An upper limit comes from the upper limit of a row where the factor is positive.
        wanted = entries.is_positive == (is_upper == from_high)
        least = np.where(
            entries.is_positive == from_high, limits.lower[members], limits.upper[members]
        )
        # The sum of the others, as small (for a row's upper limit) or as large as it can be.
        endless = np.abs(least) >= NO_LIMIT
        value = np.where(endless, 0, least).astype(entries.kind) * entries.factors
        total = np.add.reduceat(value, entries.starts)
        n_endless = np.add.reduceat(endless.astype(np.int64), entries.starts)
        row_limit = (facts.high if from_high else facts.low)[entries.rows]
        of = entries.of_entry
        if from_high:
            broken = (n_endless == 0) & (row_limit < NO_LIMIT) & (total > row_limit)
        else:
            broken = (n_endless == 0) & (row_limit > -NO_LIMIT) & (total < row_limit)
        if np.any(broken):
            raise NoNumbersError(entries.rows[broken].tolist())
        others = n_endless[of] - endless
        usable = wanted & (others == 0) & (np.abs(row_limit) < NO_LIMIT)[of]
        at = np.flatnonzero(usable)
        if not len(at):
            continue
        room = row_limit.astype(entries.kind)[of[at]] - (total[of[at]] - value[at])
        factor = entries.factors[at]
        up = -((-room) // factor)
        down = room // factor
        # Whole numbers are rounded towards what is possible, others away from it.
        implied = (down if entries.whole else up) if is_upper else (up if entries.whole else down)
        own = members[at]
        if entries.kind is object:
            implied = np.array([max(-NO_LIMIT, min(NO_LIMIT, one)) for one in implied], np.int64)
        better = implied < before[own] if is_upper else implied > before[own]
        found.append((own[better], implied[better], entries.rows[of[at]][better]))
    if not found:
        return False
    numbers, values, rows = (np.concatenate([part[k] for part in found]) for k in range(3))
    if not len(numbers):
        return False
    order = np.lexsort((rows, values if is_upper else -values, numbers))
    first = np.concatenate([[True], numbers[order][1:] != numbers[order][:-1]])
    best = order[first]
    who = numbers[best]
    limits.steps.append((who, is_upper, rows[best], before[who].copy()))
    before[who] = values[best]
    if np.any(limits.lower > limits.upper):
        wrong = np.flatnonzero(limits.lower > limits.upper)
        raise NoNumbersError(sorted(set(rows[best][np.isin(who, wrong)].tolist())))
    return True


class _Tracer:
    """Traces limits back to multiples of rows; what was traced is kept."""

    def __init__(self, limits: Limits) -> None:
        self._facts = limits.facts
        self._history: dict[tuple[int, bool], list[tuple[int, int]]] = {}
        for time, (who, is_upper, rows, _) in enumerate(limits.steps):
            for number, row in zip(who.tolist(), rows.tolist(), strict=True):
                self._history.setdefault((number, is_upper), []).append((time, row))
        self._known: dict[tuple[int, bool, int], dict[int, Fraction] | None] = {}

    def rows(self, target: int, *, is_upper: bool) -> dict[int, Fraction] | None:
        wanted = self._at(target, is_upper, NO_LIMIT)
        waiting = [wanted]
        while waiting:
            number, side, time = waiting[-1]
            if waiting[-1] in self._known:
                waiting.pop()
                continue
            if time < 0:
                self._known[waiting.pop()] = {}
                continue
            row = next(row for at, row in self._history[number, side] if at == time)
            needed = self._needed(number, side, time, row)
            missing = [one for one, _ in needed if one not in self._known]
            if missing:
                waiting += missing
                continue
            self._known[waiting.pop()] = self._combined(number, row, needed)
        return self._known[wanted]

    def _at(self, number: int, is_upper: bool, before: int) -> tuple[int, bool, int]:
        times = [time for time, _ in self._history.get((number, is_upper), ()) if time < before]
        return number, is_upper, times[-1] if times else -1

    def _needed(
        self, number: int, is_upper: bool, time: int, row: int
    ) -> list[tuple[tuple[int, bool, int], Fraction]]:
        """Return the limits of the others in a row that a limit stands on, with their factors."""
        own = self._facts.row(row)
        factor = own[number]
        found: list[tuple[tuple[int, bool, int], Fraction]] = []
        for member, times in own.items():
            if member != number:
                ratio = Fraction(-times, factor)
                side = is_upper if ratio > 0 else not is_upper
                found.append((self._at(member, side, time), ratio))
        return found

    def _combined(
        self, number: int, row: int, needed: list[tuple[tuple[int, bool, int], Fraction]]
    ) -> dict[int, Fraction] | None:
        found = {row: Fraction(1, self._facts.row(row)[number])}
        for one, ratio in needed:
            below = self._known[one]
            if below is None:
                return None
            for other, times in below.items():
                found[other] = found.get(other, Fraction(0)) + ratio * times
        if len(found) > _MOST_ROWS_OF_PROOF:
            return None
        return found
