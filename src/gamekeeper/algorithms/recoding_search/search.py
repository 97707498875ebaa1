"""Recoding by search: the least loss under which a file meets its targets, with a proof.

By implicit hitting sets (Moreno-Centeno and Karp 2013). The master gives the cheapest recoding that
no cut forbids; its loss is a lower bound. The targets are looked at. Met, it is the answer: nothing
cheaper is left. Missed, it is made coarser while it is missed, and what comes out is a cut
(`unsafe`). On the way there is a safe recoding, an upper bound (`improving`), so that the search
can be stopped at any time and says how far the best can be away.

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
    Choice,
    Chosen,
    recoding_labels,
    total_loss,
)
from gamekeeper.algorithms.recoding_search.class_tables import ClassCounter, ClassTable, Records
from gamekeeper.algorithms.recoding_search.covers import MOST_LISTED, listed_choices
from gamekeeper.algorithms.recoding_search.improving import Splitter, coarsest_way, levels_of
from gamekeeper.algorithms.recoding_search.masters import BELIEVED, CoverMaster, ListedMaster
from gamekeeper.algorithms.recoding_search.targets import (
    MonotoneAttack,
    SmallClasses,
    Target,
)
from gamekeeper.algorithms.recoding_search.unsafe import UnsafeGrower, UnsafeRecoding
from gamekeeper.results import Progress

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

    Attributes
    ----------
    chosen
        The cheapest recoding that is known to be safe; None where there is none or none was found.
    loss
        What it loses; infinite without one.
    lower_bound
        Nothing safe loses less; infinite where it is proven that nothing is safe.
    cuts
        The proof: unsafe recodings. Each recoding cheaper than the lower bound is at least as fine
        as one of them.
    n_recodings
        How many recodings there are to choose from; None where that was too long to count.
    n_checks
        How often classes were counted or the file was attacked.
    is_over
        Whether the search came to its end: nothing better is left, or nothing at all.
    n_failed
        How many answers of a stand-in failed the real attack.
    is_stand_in
        Whether the targets only stood in for a real attack. Then nothing is known of what loses
        less: the lower bound is 0.
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
    >>> from gamekeeper.algorithms.recoding_search.choices import bits_lost
    >>> from gamekeeper.algorithms.recoding_search.class_tables import distinct_records
    >>> from gamekeeper.algorithms.recoding_search.targets import SmallClasses
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
        self,
        verify: Callable[[Chosen], bool] | None,
        most_verified: int,
        progress: Progress | None,
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
