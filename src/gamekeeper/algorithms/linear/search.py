"""How small and how large hidden numbers can be, given linear facts about them, with proofs.

First what single rows tell (`facts`), then two programs for each number that is still open
(`programs`), and for whole numbers integer programs where the relaxation is not enough. Every
solution is a set of numbers that satisfies the facts and shows for all of them at once how far they
can go, so that most programs need not be solved. What is not settled when the work is stopped keeps
limits that are valid, and is not known to be tight. A clock says how far a search is, and how long
it will take by what it needed so far.

A number is determined if it is a combination of equations and of numbers that are given. That is a
matter of the equations alone, whatever the figures are, and so it tells what can be recomputed
where figures were rounded and every interval is some units wide. Elimination is over the whole
numbers modulo a large prime: a table's equations have small coefficients, so that a wrong verdict
would need a determinant that the prime divides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import (
    NO_LIMIT,
    Certificate,
    FactComponent,
    LinearFacts,
    NoNumbersError,
    components,
    propagate,
    verified,
)
from gamekeeper.algorithms.linear.programs import FactProgram, Solved
from gamekeeper.results import Progress

Integers = NDArray[np.int64]
PROBE = 3.0
"""Seconds of steps after which the rest is estimated."""
_STEPS = 10

Expect = Callable[[float], None]
"""Told how many seconds a search will take in all; it may raise an error to refuse them."""


class SearchClock:
    """Steps of a search, counted and timed.

    The estimate takes each step to need as long as those before did on average, apart from what comes
    before the first. It is told once, after some steps and seconds, and errs on the long side: what a
    step finds often settles later ones.

    Examples
    --------
    >>> clock = SearchClock(total=4)
    >>> clock.begin()
    >>> clock.step()
    >>> clock.watch(), clock.expected() is not None
    (False, True)
    """

    def __init__(
        self,
        total: int,
        progress: Progress | None = None,
        max_seconds: float | None = None,
        expect: Expect | None = None,
        probe: float = PROBE,
    ) -> None:
        self.started = time.monotonic()
        self.until = None if max_seconds is None else self.started + max_seconds
        self.total = total
        self.done = 0
        self._begun = self.started
        self._stepping = 0.0
        self._progress, self._expect, self._probe = progress, expect, probe

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self.until is not None and time.monotonic() > self.until

    @property
    def left(self) -> float | None:
        """The seconds that are left."""
        return None if self.until is None else self.until - time.monotonic()

    def begin(self) -> None:
        """Note that steps begin, after what had to come before them."""
        self._begun = time.monotonic()

    def step(self) -> None:
        """Note that a step was done."""
        now = time.monotonic()
        self._stepping += now - self._begun
        self._begun = now
        self.done += 1
        self.watch()

    def watch(self) -> bool:
        """Tell how far it is, and return whether the time is over."""
        if self._progress is not None:
            self._progress(min(self.done, self.total), self.total)
        is_probed = self.done >= min(_STEPS, self.total) and self._stepping > self._probe
        if self._expect is not None and is_probed:
            told, self._expect = self._expect, None
            told(self.expected() or 0.0)
        return self.is_over

    def expected(self) -> float | None:
        """Return how many seconds all steps will take; None before the first is done."""
        if not self.done:
            return None
        left = max(self.total - self.done, 0)
        return time.monotonic() - self.started + left * self._stepping / self.done


_PRIME = 2**61 - 1
_MOST_ENTRIES = 5_000_000


def determined_numbers(
    facts: LinearFacts, is_open: NDArray[np.bool_], is_equation: NDArray[np.bool_]
) -> list[bool | None]:
    """Return whether each number is determined by equations, all but the open ones given.

    None stands for numbers of which it was not found out, since the equations fill up too much.

    Examples
    --------
    >>> facts = LinearFacts.of(
    ...     [(0, None)] * 4,
    ...     [({0: 1, 1: -1, 2: -1, 3: -1}, 0, 0), ({1: 1, 2: 1}, 5, 5)],
    ...     whole=False,
    ... )
    >>> determined_numbers(facts, np.array([0, 1, 1, 1], bool), np.ones(2, bool))
    [True, False, False, True]
    """
    rows = [
        {member: factor % _PRIME for member, factor in facts.row(row).items() if is_open[member]}
        for row in np.flatnonzero(is_equation).tolist()
    ]
    solved = _solved(row for row in sorted(rows, key=len) if row)
    if solved is None:
        return [None if is_open[number] else True for number in range(len(is_open))]
    return [
        not is_open[number] or len(solved.get(number, (0, 0))) == 1
        for number in range(len(is_open))
    ]


def _solved(rows: Iterable[dict[int, int]]) -> dict[int, dict[int, int]] | None:
    """Return the row of each number that has one, each cleared of the numbers of all others."""
    by_pivot: dict[int, dict[int, int]] = {}
    uses: dict[int, set[int]] = {}
    n_entries = 0
    for given in rows:
        row = dict(given)
        for number in [own for own in row if own in by_pivot]:
            _add(row, by_pivot[number], -row[number])
        if not row:
            continue
        pivot = min(row, key=lambda number: (len(uses.get(number, ())), number))
        inverse = pow(row[pivot], -1, _PRIME)
        row = {number: times * inverse % _PRIME for number, times in row.items()}
        for other in list(uses.get(pivot, ())):
            before = by_pivot[other]
            n_entries -= len(before)
            old = set(before)
            _add(before, row, -before[pivot])
            n_entries += len(before)
            for number in old - set(before):
                uses[number].discard(other)
            for number in set(before) - old:
                uses.setdefault(number, set()).add(other)
        by_pivot[pivot] = row
        for number in row:
            uses.setdefault(number, set()).add(pivot)
        n_entries += len(row)
        if n_entries > _MOST_ENTRIES:
            return None
    return by_pivot


def _add(row: dict[int, int], other: dict[int, int], times: int) -> None:
    for number, factor in other.items():
        value = (row.get(number, 0) + times * factor) % _PRIME
        if value:
            row[number] = value
        else:
            row.pop(number, None)


_ENDLESS_ROOM = 1000


@dataclass(frozen=True, eq=False, repr=False)
class FactBounds:
    """The bounds of some numbers; None where there is none.

    Reached are the smallest and the largest value for which numbers are known that satisfy every
    fact; None where none is known.
    """

    numbers: tuple[int, ...]
    least: tuple[Fraction | None, ...]
    most: tuple[Fraction | None, ...]
    reached_least: tuple[Fraction | None, ...]
    reached_most: tuple[Fraction | None, ...]
    endless: tuple[bool, ...]

    def is_tight(self, at: int) -> bool:
        """Whether both bounds are reached, to less than the last digit of what was published."""
        return self._is_near(self.least[at], self.reached_least[at]) and (
            self.endless[at] or self._is_near(self.most[at], self.reached_most[at])
        )

    @staticmethod
    def _is_near(bound: Fraction | None, reached: Fraction | None) -> bool:
        return bound is not None and reached is not None and abs(bound - reached) < 1


class FactSearch:
    """The search for bounds; what it has found is there whenever it is stopped.

    Raises `NoNumbersError` if nothing satisfies the facts.

    Examples
    --------
    >>> facts = LinearFacts.of(
    ...     [(0, None)] * 3, [({0: 1, 1: 1}, 5, 5), ({1: 1, 2: 1}, 3, 3)], whole=True
    ... )
    >>> search = FactSearch(facts, [0, 1, 2])
    >>> search.run()
    >>> found = search.found()
    >>> [(int(low), int(high)) for low, high in zip(found.least, found.most)]
    [(2, 5), (0, 3), (0, 3)]
    >>> found.is_tight(0), search.proof(0, is_upper=False).rows
    (True, {0: Fraction(1, 1), 1: Fraction(-1, 1)})
    """

    def __init__(self, facts: LinearFacts, wanted: Any) -> None:
        self.facts = facts
        self.wanted = np.asarray(wanted, np.int64)
        self.limits = propagate(facts)
        self.lower: list[Fraction | None] = [
            _known(one, -NO_LIMIT) for one in self.limits.lower.tolist()
        ]
        self.upper: list[Fraction | None] = [
            _known(one, NO_LIMIT) for one in self.limits.upper.tolist()
        ]
        self.reached_low: dict[int, Fraction] = {}
        self.reached_high: dict[int, Fraction] = {}
        self.endless: set[int] = set()
        self.programs = 0
        self._duals: dict[tuple[int, bool], tuple[FactComponent, Mapping[int, Fraction]]] = {}
        self._by_branching: set[tuple[int, bool]] = set()
        self.components = components(facts, self.limits.lower, self.limits.upper, self.wanted)

    def run(
        self,
        progress: Progress | None = None,
        *,
        max_seconds: float | None = None,
        only_known: bool = False,
        expect: Expect | None = None,
        probe: float = PROBE,
    ) -> None:
        """Settle the bounds of every number that is asked for.

        With `only_known`, a number is left as soon as two values of it are shown to be possible.
        `expect` is told after `probe` seconds how long all of it will take; what it raises ends the work.
        """
        asked = set(self.wanted.tolist())
        places = [
            [at for at, number in enumerate(part.numbers.tolist()) if number in asked]
            for part in self.components
        ]
        clock = SearchClock(2 * sum(map(len, places)), progress, max_seconds, expect, probe)
        for part, own in zip(self.components, places, strict=True):
            _Component(self, part, own, clock, only_known).run()

    def found(self) -> FactBounds:
        """Return what is known so far."""
        own = self.wanted.tolist()
        fixed = [self.lower[n] is not None and self.lower[n] == self.upper[n] for n in own]
        # A number with one possible value takes it wherever anything satisfies the facts.
        low = [
            self.lower[n] if is_fixed else self.reached_low.get(n)
            for n, is_fixed in zip(own, fixed, strict=True)
        ]
        high = [
            self.upper[n] if is_fixed else self.reached_high.get(n)
            for n, is_fixed in zip(own, fixed, strict=True)
        ]
        return FactBounds(
            tuple(own),
            tuple(self.lower[n] for n in own),
            tuple(self.upper[n] for n in own),
            tuple(low),
            tuple(high),
            tuple(n in self.endless for n in own),
        )

    def proof(self, number: int, *, is_upper: bool) -> Certificate | None:
        """Return rows that prove a bound; None where it stands on integer programs or on too many."""
        if (number, is_upper) in self._by_branching:
            return None
        if (number, is_upper) not in self._duals:
            found = self.limits.proof(number, is_upper=is_upper)
            return found if found is not None and self._is_enough(found) else None
        part, duals = self._duals[number, is_upper]
        rows = {int(part.rows[row]): times for row, times in duals.items()}
        first = Certificate(number, is_upper, rows, Fraction(0))
        for member, factor in first.left_over(self.facts).items():
            below = self.limits.traced(member, is_upper=(factor > 0) == is_upper)
            if below is None:
                return None
            for row, times in below.items():
                rows[row] = rows.get(row, Fraction(0)) + factor * times
        found = verified(self.facts, number, rows, is_upper=is_upper)
        return found if found is not None and self._is_enough(found) else None

    def _is_enough(self, found: Certificate) -> bool:
        """Whether a proof gives the bound that is told; whole numbers may be rounded at the end."""
        told = (self.upper if found.is_upper else self.lower)[found.target]
        bound = found.bound
        if self.facts.whole:
            bound = Fraction(math.floor(bound) if found.is_upper else math.ceil(bound))
        return told is not None and (bound <= told if found.is_upper else bound >= told)

    def note(self, number: int, bound: Fraction, *, is_upper: bool) -> bool:
        """Note a valid bound; tell whether it is better than what was known."""
        if self.facts.whole:
            bound = Fraction(math.floor(bound) if is_upper else math.ceil(bound))
        known = self.upper if is_upper else self.lower
        before = known[number]
        if before is not None and (bound >= before if is_upper else bound <= before):
            return False
        known[number] = bound
        return True

    def meet(self, number: int, value: Fraction) -> None:
        """Note a value that a number takes in numbers that satisfy every fact."""
        if number not in self.reached_low or value < self.reached_low[number]:
            self.reached_low[number] = value
        if number not in self.reached_high or value > self.reached_high[number]:
            self.reached_high[number] = value

    def keep(
        self, number: int, part: FactComponent, duals: Mapping[int, Fraction], *, is_upper: bool
    ) -> None:
        """Keep the multiples of rows that prove a bound."""
        self._duals[number, is_upper] = part, duals
        self._by_branching.discard((number, is_upper))

    def branched(self, number: int, *, is_upper: bool) -> None:
        """Note that a bound stands on an integer program."""
        self._by_branching.add((number, is_upper))


class _Component:
    """The search within one component."""

    def __init__(
        self,
        search: FactSearch,
        part: FactComponent,
        own: list[int],
        clock: SearchClock,
        only_known: bool,
    ) -> None:
        self.search, self.part, self.own = search, part, own
        self.clock, self.only_known = clock, only_known
        self.numbers = part.numbers.tolist()
        self.places = np.array(own, np.int64)
        self.seen = np.full(len(own), NO_LIMIT, np.int64), np.full(len(own), -NO_LIMIT, np.int64)

    def run(self) -> None:
        """Settle one side of one number after another: all by real numbers, then by whole ones."""
        if self.clock.is_over:
            return
        program = FactProgram(self.part, self.clock.watch)
        first = program.relaxed(np.zeros(0, np.int64), 1)
        self.search.programs += 1
        if first.is_empty:
            raise NoNumbersError(self.part.rows.tolist())
        self._meet(first)
        for sign in (1, -1):
            if self.clock.is_over:
                return
            self.search.programs += 1
            self._meet(program.relaxed(self.places, sign))
        self.clock.begin()
        sides = [(at, is_upper) for at in self.own for is_upper in (False, True)]
        for settle in (self._settle, self._branch) if self.search.facts.whole else (self._settle,):
            for at, is_upper in sides:
                if self.clock.is_over:
                    return
                if not self._is_settled(self.numbers[at], is_upper=is_upper):
                    settle(program, at, is_upper=is_upper)
                if settle == self._settle:
                    self.clock.step()
                else:
                    self.clock.watch()

    def _meet(self, solved: Solved) -> None:
        if solved.point is None:
            return
        values = solved.point[self.places]
        worth = np.arange(len(values))
        if solved.times == 1:
            # Most points show nothing new of most numbers.
            own = values.astype(np.int64)
            worth = np.flatnonzero((own < self.seen[0]) | (own > self.seen[1]))
            np.minimum(self.seen[0], own, out=self.seen[0])
            np.maximum(self.seen[1], own, out=self.seen[1])
        for at in worth.tolist():
            self.search.meet(self.numbers[self.own[at]], Fraction(int(values[at]), solved.times))

    def _is_settled(self, number: int, *, is_upper: bool) -> bool:
        search = self.search
        if self.only_known and search.reached_low.get(number) != search.reached_high.get(number):
            return True
        bound = (search.upper if is_upper else search.lower)[number]
        reached = (search.reached_high if is_upper else search.reached_low).get(number)
        return bound is not None and reached is not None and bound == reached

    def _settle(self, program: FactProgram, at: int, *, is_upper: bool) -> None:
        search, number = self.search, self.numbers[at]
        sign = -1 if is_upper else 1
        search.programs += 1
        solved = program.relaxed(np.array([at]), sign)
        self._meet(solved)
        if solved.is_endless and (search.upper if is_upper else search.lower)[number] is None:
            self._endless(program, at, is_upper=is_upper)
            return
        if solved.bound is not None and search.note(number, solved.bound, is_upper=is_upper):
            assert solved.duals is not None
            search.keep(number, self.part, solved.duals, is_upper=is_upper)

    def _endless(self, program: FactProgram, at: int, *, is_upper: bool) -> None:
        """See that a number without a limit can be far above all that is published."""
        if not is_upper:
            return
        search, number = self.search, self.numbers[at]
        facts = self.part.facts
        finite = [
            own[np.abs(own) < NO_LIMIT] for own in (facts.lower, facts.upper, facts.low, facts.high)
        ]
        largest = max((int(np.abs(own).max(initial=0)) for own in finite), default=0)
        cap = _ENDLESS_ROOM * (largest + search.facts.scale)
        solved = program.relaxed(np.array([at]), -1, cap=cap)
        self._meet(solved)
        reached = search.reached_high.get(number)
        if reached is not None and reached > largest * 2:
            search.endless.add(number)

    def _branch(self, program: FactProgram, at: int, *, is_upper: bool) -> None:
        search, number = self.search, self.numbers[at]
        low, high = search.lower[number], search.upper[number]
        if low is None or high is None:
            return
        search.programs += 1
        sign = -1 if is_upper else 1
        solved = program.whole(at, sign, int(low), int(high), self.clock.left)
        if solved.is_empty:
            raise NoNumbersError(self.part.rows.tolist())
        self._meet(solved)
        if solved.bound is not None and search.note(number, solved.bound, is_upper=is_upper):
            search.branched(number, is_upper=is_upper)


def _known(limit: int, none: int) -> Fraction | None:
    return None if limit == none else Fraction(limit)
