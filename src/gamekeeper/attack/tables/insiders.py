"""What contributors learn of each other: attackers who are in the tables themselves.

Of a hidden cell it is known how small and how large it can be. Whoever is in a cell knows that it
is no less than the own contribution, and whoever is alone in it knows it. A coalition knows what
its members know together: no less than what they add, and all of a cell that nobody else is in. The
attack is run with these limits, once for each coalition, and that is what the "singleton" rules of
other tools approximate.

Of each cell two coalitions are tried: the largest contributors, who know most of it, and those next
to the largest, who want to know the largest. Its contribution is at most what the figure, or the
largest figure that is possible, leaves after their own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.linear.components import Component
from gamekeeper.algorithms.linear.facts import LinearFacts, NoNumbersError
from gamekeeper.algorithms.linear.search import FactSearch
from gamekeeper.data.tables.cell_facts import CellFacts
from gamekeeper.data.tables.magnitudes import Contributors
from gamekeeper.data.tables.table_set import TableSet
from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress
from gamekeeper.wording import at_start, count_of, digits_text

_ORDINALS = {2: "second", 3: "third", 4: "fourth"}


class Standing(StrEnum):
    """How a rule stands."""

    MET = "met"
    BROKEN = "broken"
    NOT_PROVEN = "not proven"


@dataclass(frozen=True, repr=False)
class Interval:
    """What is known of a hidden cell: proven bounds, and values that are shown to be possible."""

    low: Fraction | None
    high: Fraction | None
    reached_low: Fraction | None
    reached_high: Fraction | None
    is_endless: bool
    slack: Fraction = Fraction(0)

    def doubted(self) -> Interval:
        """Return it without what is shown to be possible, where that rests on what nobody said."""
        return replace(self, reached_low=None, reached_high=None, is_endless=False)

    @property
    def is_known(self) -> bool:
        """Whether the figure can be recomputed, but for rounding."""
        return self.low is not None and self.high is not None and self.high - self.low <= self.slack

    @property
    def is_open(self) -> bool:
        """Whether two different figures are shown to be possible."""
        if self.is_endless:
            return True
        return (
            self.reached_low is not None
            and self.reached_high is not None
            and self.reached_high - self.reached_low > self.slack
        )

    @property
    def is_tight(self) -> bool:
        """Whether figures at both ends are shown to be possible."""
        low = self.low is not None and self.low == self.reached_low
        return low and (
            self.is_endless or (self.high is not None and self.high == self.reached_high)
        )

    def is_within(self, percent: Fraction) -> bool:
        """Whether a guess of the middle is off by at most so many percent."""
        return (
            self.low is not None
            and self.high is not None
            and not self.is_endless
            and _is_near(self.low, self.high, percent)
        )

    def is_beyond(self, percent: Fraction) -> bool:
        """Whether possible figures are shown that no guess is so near to."""
        if self.is_endless:
            return True
        if self.reached_low is None or self.reached_high is None:
            return False
        return not _is_near(self.reached_low, self.reached_high, percent)

    @property
    def hiding(self) -> Standing:
        """How it stands that the figure cannot be recomputed."""
        if self.is_known:
            return Standing.BROKEN
        return Standing.MET if self.is_open else Standing.NOT_PROVEN

    def hiding_beyond(self, percent: Fraction) -> Standing:
        """Say how it stands that the figure is not known to within so many percent."""
        if self.is_known or self.is_within(percent):
            return Standing.BROKEN
        return Standing.MET if self.is_beyond(percent) else Standing.NOT_PROVEN

    def reaches(self, low: Fraction, high: Fraction) -> Standing:
        """Say whether an attacker must think figures as low and as high as these possible."""
        if (self.low is not None and self.low > low) or (
            self.high is not None and not self.is_endless and self.high < high
        ):
            return Standing.BROKEN
        is_low = self.reached_low is not None and self.reached_low <= low
        is_high = self.is_endless or (self.reached_high is not None and self.reached_high >= high)
        return Standing.MET if is_low and is_high else Standing.NOT_PROVEN


def _is_near(low: Fraction, high: Fraction, percent: Fraction) -> bool:
    return (high - low) * 100 <= percent * abs(high + low)


@dataclass(frozen=True)
class Coalition:
    """Some contributors to a cell, the largest from some rank on."""

    cell: int
    members: frozenset[int]
    first: int
    is_all: bool

    def words(self, cell: str) -> str:
        """Return who they are."""
        n = len(self.members)
        if self.is_all:
            return (
                f"the only contributor to {cell}" if n == 1 else f"the {n} contributors to {cell}"
            )
        if n == 1:
            rank = _ORDINALS.get(self.first, f"{self.first}th" if self.first > 1 else "")
            return f"the {rank + ' ' if rank else ''}largest contributor to {cell}"
        after = " after the largest" if self.first > 1 else ""
        return f"the {n} largest contributors to {cell}{after}"


@dataclass(frozen=True)
class InsiderGain:
    """What a coalition can recompute."""

    who: Coalition
    cells: tuple[int, ...]


@dataclass(frozen=True)
class LargestKnown:
    """What a coalition knows of the largest contribution to its cell: the most it can be."""

    who: Coalition
    largest: Fraction
    at_most: Fraction
    is_published: bool

    @property
    def cell(self) -> int:
        """The cell."""
        return self.who.cell

    def is_within(self, percent: Fraction) -> bool:
        """Whether it is known to within so many percent; one of 0 tells nothing."""
        return self.largest > 0 and self.at_most * 100 <= self.largest * (100 + percent)


@dataclass(frozen=True)
class Insiders:
    """What was found of attackers who are in the tables, so many together.

    - `largest`: what those next to the largest contributor of a cell know of it.
    - `n_coalitions`, `n_tried`: how many coalitions there are to try, and how many were.
    - `n_untold`: of how many cells too few of the largest contributions are told.
    - `is_named`: whether contributors are known by records.
    """

    size: int
    gains: tuple[InsiderGain, ...]
    largest: tuple[LargestKnown, ...]
    n_coalitions: int
    n_tried: int
    n_untold: int
    is_named: bool

    @property
    def is_stopped(self) -> bool:
        """Whether some were not tried that were to be."""
        return self.n_tried < self.n_coalitions

    @property
    def is_complete(self) -> bool:
        """Whether all were tried who could recompute a cell; of coalitions, those of one cell are."""
        return not self.is_stopped and self.size == 1

    @property
    def cells(self) -> frozenset[int]:
        """The hidden cells that somebody can recompute."""
        return frozenset(cell for gain in self.gains for cell in gain.cells)

    def near(self, percent: Fraction) -> tuple[LargestKnown, ...]:
        """Return where the largest is known to within so many percent, the best known first."""
        own = [one for one in self.largest if one.is_within(percent)]
        return tuple(sorted(own, key=lambda one: (one.at_most / one.largest, one.cell)))

    def sentences(self, tables: TableSet, percent: Fraction, most: int) -> list[str]:
        """Return what insiders learn, in words; of single cells, the first so many."""
        who = "a contributor" if self.size == 1 else f"{self.size} contributors together"
        said: list[str] = []
        if self.n_coalitions and not self.gains:
            said.append(
                f"No hidden cell was found that {who} could recompute and others could not."
            )
        near = self.near(percent)
        shown = sum(one.is_published for one in near)
        if near:
            next_ = "the second largest contributor" if self.size == 1 else f"the next {self.size}"
            cells = count_of(len(near), "cell", "cells")
            told = f" ({shown:,} published, {len(near) - shown:,} hidden)"
            said.append(
                f"In {cells}{told} {next_} can tell the largest to within {digits_text(float(percent))}%."
            )
        for gain in self.gains[:most]:
            words = [tables.words(cell) for cell in gain.cells[:3]]
            more = f" and {len(gain.cells) - 3:,} more" if len(gain.cells) > 3 else ""
            said.append(
                f"{at_start(gain.who.words(tables.words(gain.who.cell)))} can recompute"
                f" {'; '.join(words)}{more}."
            )
        for one in near[:most]:
            figure = "published" if one.is_published else "hidden"
            said.append(
                f"{at_start(one.who.words(tables.words(one.cell)))} ({figure}) can tell that the"
                f" largest has at most {digits_text(one.at_most, 10)}: it has"
                f" {digits_text(one.largest, 10)}."
            )
        if self.n_untold:
            said.append(
                f"Of {count_of(self.n_untold, 'cell')} too few of the largest contributions are told to"
                " say what contributors learn of each other."
            )
        if self.size > 1:
            said.append("Only those of one cell were put together: others together may learn more.")
        if self.is_stopped:
            said.append(
                f"{self.n_tried:,} of {count_of(self.n_coalitions, 'coalition')} of contributors were"
                " tried: others may learn more."
            )
        return said


def insiders_of(
    tables: TableSet,
    known: CellFacts,
    search: FactSearch,
    intervals: dict[int, Interval],
    given: Contributors,
    size: int,
    progress: Progress | None,
    until: float | None,
) -> Insiders:
    """Run the attack for coalitions of so many contributors, as far as time allows."""
    attack = _Attack(known, search, intervals, given)
    tried = 0
    gains: list[InsiderGain] = []
    largest, n_untold = _published(tables, given, size)
    wanted = list(_coalitions(intervals, given, size, ranks=(1,) if tables.whole else (1, 2)))
    for who in wanted:
        if until is not None and time.monotonic() > until:
            break
        try:
            if progress is not None:
                progress(tried, len(wanted))
            gained, at_most = attack.run(who)
        except Cancelled:
            break
        tried += 1
        if gained:
            gains.append(InsiderGain(who, gained))
        if at_most is not None and who.first == 2:
            largest.append(LargestKnown(who, given.of_cell[who.cell][0][1], at_most, False))
    n_untold += sum(
        len(given.of_cell.get(cell, ())) < min(1 + size, given.counts.get(cell, 1 + size))
        for cell in intervals
    )
    return Insiders(
        size, tuple(gains), tuple(largest), len(wanted), tried, n_untold, given.is_named
    )


def _coalitions(
    intervals: dict[int, Interval], given: Contributors, size: int, ranks: tuple[int, ...]
) -> Iterator[Coalition]:
    """Return for each hidden cell its largest contributors, from rank 2 those next to the largest."""
    seen: set[frozenset[int]] = set()
    for cell in intervals:
        own = given.of_cell.get(cell, ())
        for first in ranks:
            members = frozenset(who for who, _ in own[first - 1 : first - 1 + size])
            # What is known of the largest depends on the cell, so that it is tried for each.
            if members and (first == 2 or members not in seen):
                seen.add(members)
                yield Coalition(cell, members, first, given.covers(cell, len(members)))
        # Somebody small in one cell may know others better; what is told of one cell alone is not so.
        for rank, (who, _) in enumerate(own[1:] if given.is_named and size == 1 else (), 2):
            if frozenset([who]) not in seen:
                seen.add(frozenset([who]))
                yield Coalition(cell, frozenset([who]), rank, is_all=False)


def _published(tables: TableSet, given: Contributors, size: int) -> tuple[list[LargestKnown], int]:
    found: list[LargestKnown] = []
    n_untold = 0
    for cell, own in given.of_cell.items():
        figure, count = tables.figures[cell], given.counts.get(cell)
        if figure is None or count is None or count < 2 or cell in tables.published_elsewhere:
            continue
        if len(own) < min(1 + size, count):
            n_untold += 1
            continue
        members = own[1 : 1 + size]
        at_most = abs(figure) - sum((part for _, part in members), Fraction(0))
        who = Coalition(cell, frozenset(one for one, _ in members), 2, False)
        if own[0][1] > 0 and not (tables.whole and own[0][1] == 1):
            found.append(LargestKnown(who, own[0][1], max(at_most, own[0][1]), True))
    return found, n_untold


class _Attack:
    """The attack of one coalition after another, each within the components that it knows of."""

    def __init__(
        self,
        known: CellFacts,
        search: FactSearch,
        intervals: dict[int, Interval],
        given: Contributors,
    ) -> None:
        self._known, self._given, self._intervals = known, given, intervals
        self._parts = search.components
        self._place: dict[int, tuple[int, int]] = {
            number: (part, at)
            for part, own in enumerate(self._parts)
            for at, number in enumerate(own.numbers.tolist())
        }

    def run(self, who: Coalition) -> tuple[tuple[int, ...], Fraction | None]:
        """Return the cells that a coalition can recompute, and what the largest in its cell can be."""
        known = self._limits(who)
        place = self._place.get(int(self._known.number[who.cell]), (-1, -1))[0]
        gained: list[int] = []
        at_most = None
        for part in {place, *known} - {-1}:
            component = self._parts[part]
            facts = _limited(component.facts, known.get(part, {}))
            asked = self._asked(component, who)
            if part == place and who.first == 2:
                at_most = self._upper(component, facts, who)
            if not known.get(part) or not asked:
                continue
            try:
                search = FactSearch(facts, np.array(asked, np.int64))
                search.run(only_known=True)
            except NoNumbersError:
                # The files do not add up there, which is told elsewhere.
                continue
            bounds = search.found()
            gained += [
                int(self._known.cells[component.numbers[number]])
                for at, number in enumerate(bounds.numbers)
                if bounds.least[at] is not None and bounds.least[at] == bounds.most[at]
            ]
        return tuple(sorted(gained)), at_most

    def _own(self, who: Coalition, cell: int) -> tuple[int, Fraction]:
        sizes = [
            self._given.of_contributor[one][cell]
            for one in who.members
            if cell in self._given.of_contributor[one]
        ]
        return len(sizes), sum(sizes, Fraction(0))

    def _limits(self, who: Coalition) -> dict[int, dict[int, tuple[int | None, int | None]]]:
        found: dict[int, dict[int, tuple[int | None, int | None]]] = {}
        cells = {cell for one in who.members for cell in self._given.of_contributor[one]}
        for cell in sorted(cells):
            number = int(self._known.number[cell])
            if number not in self._place:
                continue
            n, size = self._own(who, cell)
            scaled = size * self._known.scale
            part, at = self._place[number]
            facts = self._parts[part].facts
            low = high = None
            if self._given.covers(cell, n):
                low, high = math.floor(scaled), math.ceil(scaled)
            elif int(self._known.facts.lower[number]) >= 0:
                # Others add nothing below 0.
                low = math.floor(scaled)
            if (low is not None and low > facts.lower[at]) or (
                high is not None and high < facts.upper[at]
            ):
                found.setdefault(part, {})[at] = low, high
        return found

    def _asked(self, component: Component, who: Coalition) -> list[int]:
        """Return the hidden cells of a component that others are in, and that nobody knows so far."""
        asked: list[int] = []
        for at, number in enumerate(component.numbers.tolist()):
            cell = int(self._known.cells[number])
            one = self._intervals.get(cell)
            if one is None or one.is_known:
                continue
            if not self._given.covers(cell, self._own(who, cell)[0]):
                asked.append(at)
        return asked

    def _upper(self, component: Component, facts: LinearFacts, who: Coalition) -> Fraction | None:
        at = component.numbers.tolist().index(int(self._known.number[who.cell]))
        try:
            search = FactSearch(facts, np.array([at], np.int64))
            search.run()
        except NoNumbersError:
            return None
        bound = search.found().most[0]
        if bound is None:
            return None
        left = bound / self._known.scale - self._own(who, who.cell)[1]
        return max(left, self._given.of_cell[who.cell][0][1])


def _limited(facts: LinearFacts, limits: dict[int, tuple[int | None, int | None]]) -> LinearFacts:
    lower, upper = facts.lower.copy(), facts.upper.copy()
    for at, (low, high) in limits.items():
        if low is not None:
            lower[at] = max(int(lower[at]), low)
        if high is not None:
            upper[at] = min(int(upper[at]), high)
    # A figure that the files have wrong would leave nothing: what is published is believed.
    odd = lower > upper
    lower[odd], upper[odd] = facts.lower[odd], facts.upper[odd]
    return replace(facts, lower=lower, upper=upper)
