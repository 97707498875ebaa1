"""Recoding by search: the least loss under which a file meets its targets, with a proof.

By implicit hitting sets (Moreno-Centeno and Karp 2013). The master gives the cheapest recoding that
no cut forbids; its loss is a lower bound. The targets are looked at. Met, it is the answer: nothing
cheaper is left. Missed, it is made coarser while it is missed, and what comes out is a cut
(`cuts`).

On the way there is a safe recoding, an upper bound, so that the search can be stopped at any time
and says how far the best can be away. It comes fast, by levels first: a few categorizations of a
variable, from fine to coarse, made of its own categories; level h has categories that are at most h
steps of inclusion above the finest. There are few recodings by levels, and the best of them is
found soon. Of a safe recoding one category after the other is split, that which saves most first; a
split that would be unsafe is not made. A category is split into the cheapest parts that are found
by taking one category inside it and the largest that still fit for what is left.

Where a target is not monotone, a stand-in is searched, and each answer is tried by the real attack
(`verify`); an answer that fails is left out, that one alone. The result is then the cheapest that
passed among those that were tried, and never called the least.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, prod

from gamekeeper.algorithms.recoding_search.choices import (
    MOST_LISTED,
    Choice,
    Chosen,
    ClassCounter,
    ClassTable,
    MonotoneAttack,
    Records,
    SmallClasses,
    Target,
    listed_choices,
    recoding_labels,
    total_loss,
)
from gamekeeper.algorithms.recoding_search.cuts import (
    BELIEVED,
    CoverMaster,
    ListedMaster,
    UnsafeGrower,
    UnsafeRecoding,
)
from gamekeeper.results import Progress

_TRIED_PARTS = 12
_MOST_LEVELS = 6


class Splitter:
    """Splits the categories of safe recodings."""

    def __init__(self, choices: Sequence[Choice], is_safe: Callable[[Chosen], bool]) -> None:
        self._choices = choices
        self._is_safe = is_safe
        self._sets = [choice.sets for choice in choices]
        self._splits: dict[tuple[int, int], list[tuple[int, ...]]] = {}

    def finer(self, chosen: Chosen, is_over: Callable[[], bool]) -> Chosen:
        """Return a safe recoding at least as fine as a safe one."""
        tried: set[tuple[int, tuple[int, ...]]] = set()
        while not is_over():
            moves = [move for move in self._moves(chosen) if move[1:3] not in tried]
            if not moves:
                return chosen
            for _, variable, after in sorted(moves):
                tried.add((variable, after))
                trial = (*chosen[:variable], after, *chosen[variable + 1 :])
                if self._is_safe(trial):
                    chosen = trial
                    break
                if is_over():
                    return chosen
            else:
                return chosen
        return chosen

    def _moves(self, chosen: Chosen) -> list[tuple[float, int, tuple[int, ...]]]:
        """Return what can be done to each variable, with the change of loss (below 0)."""
        moves: list[tuple[float, int, tuple[int, ...]]] = []
        for variable, (choice, own) in enumerate(zip(self._choices, chosen, strict=True)):
            now = choice.loss(own)
            if choice.ways is not None:
                inside = choice.inside(choice.labels(own))
                finer = [way for way in choice.ways if way != own and inside[list(way)].all()]
                afters = sorted(finer, key=choice.loss)
            else:
                afters = [
                    tuple(sorted({*own} - {category} | {*parts}))
                    for category in own
                    for parts in self._parts(variable, category)
                ]
            moves += [
                (choice.loss(after) - now, variable, after)
                for after in afters
                if choice.loss(after) < now
            ]
        return moves

    def _parts(self, variable: int, category: int) -> list[tuple[int, ...]]:
        """Return ways to split a category, those that lose least first."""
        if (variable, category) in self._splits:
            return self._splits[variable, category]
        choice, sets = self._choices[variable], self._sets[variable]
        whole = sets[category]
        inside = [n for n, own in enumerate(sets) if own != whole and own & whole == own]
        inside.sort(key=lambda number: (-len(choice.categories[number]), number))
        found: set[tuple[int, ...]] = set()
        for first in inside:
            rest, parts = whole & ~sets[first], [first]
            for number in inside:
                if sets[number] & rest == sets[number]:
                    rest &= ~sets[number]
                    parts.append(number)
            if not rest:
                found.add(tuple(sorted(parts)))
        singles = tuple(n for n in inside if len(choice.categories[n]) == 1)
        if len(singles) == len(choice.categories[category]) > 1:
            found.add(singles)
        by_loss = sorted(found, key=lambda parts: (choice.loss(parts), parts))
        step = max(1, len(by_loss) // _TRIED_PARTS)
        self._splits[variable, category] = by_loss[::step]
        return self._splits[variable, category]


def levels_of(choice: Choice) -> tuple[tuple[int, ...], ...]:
    """Return a few categorizations from fine to coarse; fewer than two where none were found.

    Examples
    --------
    >>> import numpy as np
    >>> bands = ((0,), (1,), (2,), (0, 1), (0, 1, 2))
    >>> levels_of(Choice(3, bands, np.zeros(5)))
    ((0, 1, 2), (2, 3), (4,))
    """
    if choice.ways is not None:
        return choice.ways
    sets = choice.sets
    order = sorted(range(len(sets)), key=lambda number: (len(choice.categories[number]), number))
    heights: dict[int, int] = {}
    for number in order:
        below = [
            heights[other]
            for other in heights
            if sets[other] != sets[number] and sets[other] & sets[number] == sets[other]
        ]
        heights[number] = max(below, default=-1) + 1
    tops = range(max(heights.values()) + 1)
    found: dict[tuple[int, ...], None] = {}
    for top in tops:
        way = _largest_first([n for n in reversed(order) if heights[n] <= top], sets)
        if sum(len(choice.categories[number]) for number in way) == choice.n_values:
            found[way] = None
    ways = [way for way in found if len(way) >= choice.least]
    step = max(1, -(-len(ways) // _MOST_LEVELS))
    return tuple(dict.fromkeys([*ways[::step], *ways[-1:]]))


def coarsest_way(choice: Choice) -> tuple[int, ...] | None:
    """Return a categorization of few categories; None where the simple way leads to none."""
    if choice.ways is not None:
        return min(choice.ways, key=lambda way: (len(way), choice.loss(way)), default=None)
    sizes = [len(category) for category in choice.categories]
    order = sorted(range(len(sizes)), key=lambda number: (-sizes[number], number))
    taken = _largest_first(order, choice.sets)
    is_whole = sum(sizes[number] for number in taken) == choice.n_values
    return taken if is_whole and len(taken) >= choice.least else None


def with_way(
    choices: Sequence[Choice], chosen: Chosen, variable: int, way: tuple[int, ...]
) -> Chosen | None:
    """Return a recoding with one variable categorized otherwise; None where that is not allowed."""
    if len(way) < choices[variable].least:
        return None
    return (*chosen[:variable], way, *chosen[variable + 1 :])


def with_category(
    choices: Sequence[Choice], chosen: Chosen, variable: int, number: int
) -> Chosen | None:
    """Return a recoding with one category more, in place of those that it touches.

    What is left of these is each value by itself; None where that is not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> bands = Choice(3, ((0,), (1,), (2,), (0, 1), (1, 2)), np.zeros(5))
    >>> with_category([bands], ((2, 3),), 0, 4)
    ((0, 4),)
    """
    choice, own = choices[variable], chosen[variable]
    wanted = {*choice.categories[number]}
    touched = [n for n in own if wanted & {*choice.categories[n]}]
    freed = {v for n in touched for v in choice.categories[n]} - wanted
    singles = [n for n, c in enumerate(choice.categories) if len(c) == 1 and c[0] in freed]
    if number in own or len(singles) < len(freed):
        return None
    return with_way(
        choices, chosen, variable, tuple(sorted({*own} - {*touched} | {number, *singles}))
    )


def _largest_first(order: Sequence[int], sets: Sequence[int]) -> tuple[int, ...]:
    """Return categories that do not overlap, taken as they come."""
    taken, covered = list[int](), 0
    for number in order:
        if not sets[number] & covered:
            covered |= sets[number]
            taken.append(number)
    return tuple(sorted(taken))


MOST_VERIFIED = 20
"""So many answers of a stand-in are tried by the real attack."""

# Of an unsafe recoding many classes are small, and each gives a cut. Measured on the Adult file:
# 8 are best where recodings are listed (1 takes a third longer); HiGHS needs 0.8 s with 200 cuts
# each time and answers within 30% of the cheapest while they are unsafe, against 3 to 6 s with up
# to 100 cuts and the cheapest itself each time.
_CUTS_LISTED = 8
_CUTS_AT_ONCE = 200
_CUT_ROWS = 4_000_000
_SLACK = 0.3
_NO_SLACK = 0.004
_FIRST_REPAIR = 16
# Where some records may be in small classes: one cut for each of them proves more and takes longer.
# Of 120 records 12: 0.7 s against more than 30; of the 30,162 of the Adult file 100: the other way.
_MOST_BY_ROWS = 300
_MOST_ROWS = 2000
_SHARE_OF_LEVELS = 0.25


@dataclass(frozen=True, eq=False, slots=True)
class FoundRecoding:
    """What a search found.

    - `chosen`: the cheapest recoding that is known to be safe; None where there is none or none was
      found.
    - `loss`, `lower_bound`: what it loses, infinite without one. Nothing safe loses less than the
      bound, which is infinite where it is proven that nothing is safe.
    - `cuts`: the proof: unsafe recodings. Each recoding cheaper than the lower bound is at least as
      fine as one of them.
    - `n_recodings`: how many there are to choose from; None where that was too long to count.
    - `n_checks`: how often classes were counted or the file was attacked.
    - `is_over`: whether the search came to its end: nothing better is left, or nothing at all.
    - `n_failed`, `is_stand_in`: how many answers failed the real attack, if the targets only stood
      in for one. Then nothing is known of what loses less: the lower bound is 0.
    """

    chosen: Chosen | None
    loss: float
    lower_bound: float
    cuts: tuple[UnsafeRecoding, ...]
    n_recodings: int | None
    n_checks: int
    n_rounds: int
    is_over: bool
    n_failed: int = 0
    is_stand_in: bool = False

    @property
    def is_optimal(self) -> bool:
        """Whether nothing safe loses less; proven by the cuts."""
        return self.is_over and self.chosen is not None and not self.is_stand_in

    @property
    def gap(self) -> float | None:
        """By which share of its loss the recoding may be above the least; None where not known."""
        if self.chosen is None or self.is_stand_in:
            return None
        return 0.0 if self.loss <= 0 else max(0.0, (self.loss - self.lower_bound) / self.loss)


def search_recoding(
    choices: Sequence[Choice],
    records: Records,
    targets: Sequence[Target],
    *,
    seconds: float | None = None,
    most_listed: int = MOST_LISTED,
    verify: Callable[[Chosen], bool] | None = None,
    most_verified: int = MOST_VERIFIED,
    progress: Progress | None = None,
) -> FoundRecoding:
    """Search for the recoding that loses least and meets every target.

    After so many seconds the best so far is returned, with what is proven. Up to `most_listed`
    recodings are gone through; more are left to HiGHS. Where the targets only stand in for a real
    attack, `verify` tells whether an answer passes it; at most `most_verified` are tried.

    Examples
    --------
    >>> import numpy as np
    >>> from gamekeeper.algorithms.recoding_search.choices import bits_lost, distinct_records
    >>> bands = ((0,), (1,), (2,), (1, 2))
    >>> age = Choice(3, bands, bits_lost(bands, np.array([2, 1, 1])))
    >>> people = distinct_records(np.array([[0], [0], [1], [2]]))
    >>> found = search_recoding([age], people, [SmallClasses(2)])
    >>> found.chosen, found.loss, found.is_optimal
    (((0, 3),), 2.0, True)
    """
    search = _Search(choices, records, targets, seconds, most_listed)
    return search.run(verify, most_verified, progress)


class _Search:
    def __init__(
        self,
        choices: Sequence[Choice],
        records: Records,
        targets: Sequence[Target],
        seconds: float | None,
        most_listed: int,
    ) -> None:
        began = time.monotonic()
        self._ends = inf if seconds is None else began + seconds
        self._late = inf if seconds is None else began + seconds * _SHARE_OF_LEVELS
        self._has_levels = False
        self.n_recodings, listed = listed_choices(choices, most_listed)
        self._choices = listed or choices
        if listed is not None:
            self._master: ListedMaster | CoverMaster = ListedMaster(listed)
            self._cuts_at_once, self._slack, by_rows = _CUTS_LISTED, 0.0, False
        else:
            limits = [t.most for t in targets if isinstance(t, SmallClasses)]
            by_rows = len(limits) == 1 and 0 < limits[0] <= _MOST_BY_ROWS
            by_rows &= len(records.rows) <= _MOST_ROWS
            self._master = CoverMaster(self._choices, records.counts, limits[0] if by_rows else 0)
            at_most = max(_CUTS_LISTED, _CUT_ROWS // max(1, len(records.rows)))
            self._cuts_at_once, self._slack = min(_CUTS_AT_ONCE, at_most), _SLACK
        self._targets = targets
        self._needs_classes = any(not isinstance(t, MonotoneAttack) for t in targets)
        self._counter = ClassCounter(records, [choice.n_values for choice in choices])
        self._grower = UnsafeGrower(self._choices, self._counter, targets, by_rows=by_rows)
        self._splitter = Splitter(self._choices, lambda chosen: not self._missed(chosen)[0])
        self._cuts: dict[bytes, UnsafeRecoding] = {}
        self._best: Chosen | None = None
        self._best_loss = inf
        self._lower = 0.0
        self._n_attacks = 0

    def run(
        self, verify: Callable[[Chosen], bool] | None, most_verified: int, progress: Progress | None
    ) -> FoundRecoding:
        rounds = failed = verified = 0
        is_over = False
        if verify is not None:
            self._slack = 0.0
        else:
            self._start()
        while True:
            rounds += 1
            if progress is not None:
                progress(rounds, None)
            left = self._ends - time.monotonic()
            if left <= 0 and rounds > 1:
                break
            answer = self._master.cheapest(None if left == inf else left, self._slack)
            self._lower = max(self._lower, answer.bound)
            if self._is_reached() or answer.bound == inf:
                is_over = True
                break
            if answer.chosen is None:
                break
            missed, table = self._missed(answer.chosen)
            if missed:
                self._forbid(answer.chosen, table, missed)
                if verify is None:
                    self._help(rounds, answer.chosen)
                continue
            if verify is not None:
                verified += 1
                if not verify(answer.chosen):
                    failed += 1
                    if verified >= most_verified:
                        break
                    self._master.leave_out(answer.chosen)
                    continue
            self._take(answer.chosen)
            if answer.is_cheapest or self._is_reached():
                is_over = True
                break
            self._slack = self._slack / 10 if self._slack / 10 > _NO_SLACK else 0.0
        if is_over and self._best is not None:
            self._lower = min(self._lower, self._best_loss)
        return FoundRecoding(
            self._best,
            self._best_loss,
            0.0 if verify is not None and self._best is not None else self._lower,
            tuple(self._cuts.values()),
            self.n_recodings,
            self._counter.counted + self._n_attacks,
            rounds,
            is_over,
            failed,
            verify is not None,
        )

    def _is_reached(self) -> bool:
        return self._best is not None and self._lower >= self._best_loss * (1 - BELIEVED)

    def _take(self, chosen: Chosen) -> None:
        loss = total_loss(self._choices, chosen)
        if loss < self._best_loss:
            self._best, self._best_loss = chosen, loss

    def _missed(self, chosen: Chosen) -> tuple[list[int], ClassTable | None]:
        """Return which targets a recoding misses, and its classes."""
        labels = recoding_labels(self._choices, chosen)
        table = self._counter.count(labels) if self._needs_classes else None
        missed: list[int] = []
        for number, target in enumerate(self._targets):
            if isinstance(target, MonotoneAttack):
                self._n_attacks += 1
                is_missed = target.measure(labels) > target.most
            else:
                assert table is not None
                is_missed = int(target.shares(table).sum()) > target.most
            if is_missed:
                missed.append(number)
        return missed, table

    def _forbid(self, chosen: Chosen, table: ClassTable | None, missed: list[int]) -> None:
        labels = recoding_labels(self._choices, chosen)
        n_before = len(self._cuts)
        for cut in self._grower.grown(labels, table, missed, self._cuts_at_once):
            if cut.key not in self._cuts:
                self._cuts[cut.key] = cut
                self._master.forbid(cut)
        # Every cut forbids what it was made of; were none new, the search would go on for ever.
        assert len(self._cuts) > n_before, "an unsafe recoding was not forbidden"

    def _over(self) -> bool:
        return time.monotonic() >= self._ends

    def _start(self) -> None:
        """Take the coarsest recoding, where it is safe, so that there is an answer at any time."""
        chosen = tuple(way for c in self._choices if (way := coarsest_way(c)) is not None)
        if len(chosen) == len(self._choices) and not self._missed(chosen)[0]:
            self._take(chosen)

    def _help(self, rounds: int, chosen: Chosen) -> None:
        """Look for a better safe recoding, where the search is not about to end."""
        is_late = time.monotonic() > self._late
        if not self._has_levels and (rounds >= _FIRST_REPAIR or is_late):
            self._has_levels = True
            self._by_levels()
        if rounds >= _FIRST_REPAIR and rounds & (rounds - 1) == 0:
            self._repair(chosen)

    def _by_levels(self) -> None:
        """Take the best of few levels for each variable, made finer."""
        ways = [levels_of(choice) for choice in self._choices]
        if isinstance(self._master, ListedMaster) or not all(ways):
            return
        if prod(map(len, ways)) > MOST_LISTED:
            ways = [(own[0], own[-1]) if len(own) > 1 else own for own in ways]
        if prod(map(len, ways)) > MOST_LISTED:
            return
        levels = [
            replace(choice, ways=own) for choice, own in zip(self._choices, ways, strict=True)
        ]
        left = self._ends - time.monotonic()
        seconds = None if left == inf else max(0.0, left * _SHARE_OF_LEVELS)
        found = search_recoding(levels, self._counter.records, self._targets, seconds=seconds)
        self._n_attacks += found.n_checks
        if found.chosen is not None:
            self._take(self._splitter.finer(found.chosen, self._over))

    def _repair(self, chosen: Chosen) -> None:
        """Make an unsafe recoding coarser, one variable after the other, and then finer again."""
        for way in _coarser(self._choices, chosen):
            if self._over():
                return
            if not self._missed(way)[0]:
                self._take(self._splitter.finer(way, self._over))
                return


def _coarser(choices: Sequence[Choice], chosen: Chosen) -> list[Chosen]:
    """Return recodings with more and more variables as coarse as can be, cheapest first."""
    coarse = [coarsest_way(choice) for choice in choices]
    steps = [
        (choice.loss(way) - choice.loss(own), number, way)
        for number, (choice, own, way) in enumerate(zip(choices, chosen, coarse, strict=True))
        if way is not None and way != own
    ]
    found: list[Chosen] = []
    for _, number, way in sorted(steps):
        chosen = (*chosen[:number], way, *chosen[number + 1 :])
        found.append(chosen)
    return found
