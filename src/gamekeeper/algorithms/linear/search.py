"""How small and how large hidden numbers can be, given linear facts about them, with proofs.

First what single rows tell (`propagation`), then a search in each component of open numbers
(`component_search`). A bound comes with a certificate that all of it follows from rows, unless whole
numbers had to be tried one by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gamekeeper.algorithms.linear import component_search
from gamekeeper.algorithms.linear.components import components
from gamekeeper.algorithms.linear.facts import NO_LIMIT, Certificate, LinearFacts, verified
from gamekeeper.algorithms.linear.propagation import propagate
from gamekeeper.results import Progress


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
        # Bounds may be numbers of numpy, and so may what is said of them.
        return bool(
            self._is_near(self.least[at], self.reached_least[at])
            and (self.endless[at] or self._is_near(self.most[at], self.reached_most[at]))
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
        self.lower = _told(self.limits.lower)
        self.upper = _told(self.limits.upper)
        self.programs = 0
        sums = np.full(len(facts.lower), -1, np.int64)
        sums[self.wanted] = self.wanted
        self.components = components(facts, self.limits.lower, self.limits.upper, sums)
        self._searches: list[component_search.ComponentSearch] = []
        self._place: dict[int, tuple[component_search.ComponentSearch, int]] = {}

    def run(
        self,
        progress: Progress | None = None,
        *,
        max_seconds: float | None = None,
        only_known: bool = False,
        expect: component_search.Expect | None = None,
        probe: float = component_search.PROBE,
    ) -> None:
        """Settle the bounds of every number that is asked for.

        With `only_known`, a number is left as soon as two values of it are shown to be possible.
        `expect` is told after `probe` seconds how long all of it will take; what it raises ends the work.
        """
        total = 2 * sum(len(part.sums) for part in self.components)
        clock = component_search.SearchClock(total, progress, max_seconds, expect, probe)
        for part in self.components:
            if clock.is_over:
                return
            search = component_search.ComponentSearch(part, clock, only_known=only_known)
            self._place.update({k: (search, at) for at, k in enumerate(part.sums.tolist())})
            try:
                search.start()
                search.run()
            finally:
                self.programs = clock.relaxations + clock.programs
                for number, low, high in zip(
                    part.sums.tolist(), _told(search.least), _told(search.most), strict=True
                ):
                    self.lower[number], self.upper[number] = low, high

    def found(self) -> FactBounds:
        """Return what is known so far."""
        own = self.wanted.tolist()
        low: list[Fraction | None] = []
        high: list[Fraction | None] = []
        endless: list[bool] = []
        for number in own:
            search, at = self._place.get(number, (None, 0))
            if search is not None and search.point is not None:
                low.append(_fraction(search.seen_least[at]))
                high.append(_fraction(search.seen_most[at]))
            else:
                # A number with one possible value takes it wherever anything satisfies the facts.
                is_fixed = self.lower[number] == self.upper[number]
                low.append(self.lower[number] if is_fixed else None)
                high.append(self.upper[number] if is_fixed else None)
            endless.append(search is not None and bool(search.endless[at]))
        return FactBounds(
            tuple(own),
            tuple(self.lower[n] for n in own),
            tuple(self.upper[n] for n in own),
            tuple(low),
            tuple(high),
            tuple(endless),
        )

    def proof(self, number: int, *, is_upper: bool) -> Certificate | None:
        """Return rows that prove a bound; None where it stands on integer programs or on too many."""
        search, at = self._place.get(number, (None, 0))
        target = at, 1 if is_upper else -1
        if search is None or target not in search.proofs:
            found = self.limits.proof(number, is_upper=is_upper)
            return found if found is not None and self._is_enough(found) else None
        multiples = search.proofs[target]
        if multiples is None:
            return None
        own = multiples.by_row(-1 if is_upper else 1)
        rows = {int(search.part.rows[row]): times for row, times in own.items()}
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


def _told(limits: Any) -> list[Fraction | None]:
    return [_fraction(limit) for limit in limits.tolist()]


def _fraction(limit: Any) -> Fraction | None:
    return None if abs(limit) >= NO_LIMIT else Fraction(limit)
