"""Recoding and suppression together: the recoding for which loss and suppressed cells cost least.

The cells that a recoding leaves to be suppressed have a price that never grows where categories are
merged: what was enough for a finer recoding is enough for a coarser one. So of any partition N of
the values with the price p(N), everything at least as fine costs at least p(N) beside its loss.
These are the cuts, by Benders' way (Hooker 2000): the master takes the cheapest recoding by loss
and by what the cuts say of its price, the true price is found, and a cut is made of it and of
something coarser. The master's value is a lower bound all along.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.choices import (
    Choice,
    Chosen,
    recoding_labels,
    total_loss,
)
from gamekeeper.algorithms.recoding_search.class_tables import Labels
from gamekeeper.algorithms.recoding_search.covers import count_ways, list_ways
from gamekeeper.algorithms.recoding_search.improving import levels_of
from gamekeeper.algorithms.recoding_search.masters import BELIEVED, CoverMaster
from gamekeeper.algorithms.recoding_search.unsafe import joined_blocks, merging_steps
from gamekeeper.results import Progress

MOST_LISTED = 100_000
_SHARE_OF_LEVELS = 0.3
_SHARE_OF_MERGES = 0.3
_KEPT_PRICES = (0.85, 0.6, 0.95, 0.35)

Price = Callable[[Labels], float]


@dataclass(frozen=True, eq=False, slots=True)
class FoundTogether:
    """What a search found.

    Attributes
    ----------
    chosen
        The recoding.
    loss, price
        What it loses, and what the cells that it leaves cost.
    lower_bound
        Nothing costs less in all.
    n_prices
        How often a price was found.
    """

    chosen: Chosen
    loss: float
    price: float
    lower_bound: float
    n_prices: int
    n_recodings: int | None
    is_optimal: bool

    @property
    def total(self) -> float:
        """What it costs in all."""
        return self.loss + self.price

    @property
    def gap(self) -> float:
        """By which share of its cost it may be above the least."""
        return 0.0 if self.total <= 0 else max(0.0, (self.total - self.lower_bound) / self.total)


def search_together(
    choices: Sequence[Choice],
    price: Price,
    *,
    seconds: float | None = None,
    most_listed: int = MOST_LISTED,
    progress: Progress | None = None,
) -> FoundTogether:
    """Search for the recoding whose loss and price are least together.

    Parameters
    ----------
    choices
        What may be chosen for each variable.
    price
        What the cells cost that a recoding leaves to be suppressed; it must never be higher where
        blocks are merged.
    seconds
        After this time the best so far is returned.
    most_listed
        Up to so many recodings are gone through; more are left to HiGHS.
    progress
        Told how many rounds are done; it may raise.

    Examples
    --------
    >>> ages = Choice(2, ((0,), (1,), (0, 1)), np.array([0.0, 0.0, 2.0]))
    >>> search_together([ages], lambda labels: 3.0 if labels[0].max() else 0.0).chosen
    ((2,),)
    >>> search_together([ages], lambda labels: 1.0 if labels[0].max() else 0.0).total
    1.0
    """
    return _Together(choices, price, seconds, most_listed).run(progress)


class _ListedPrices:
    """All recodings with the least that each can cost."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._ways = [choice.ways or () for choice in choices]
        total = np.zeros(1)
        for choice, ways in zip(choices, self._ways, strict=True):
            own = np.array([choice.loss(way) for way in ways])
            total = (total[:, None] + own[None, :]).ravel()
        self._losses = total.reshape([len(ways) for ways in self._ways])
        self._least = self._losses.copy()

    def cheapest(self, seconds: float | None, slack: float) -> tuple[Chosen | None, float]:
        if self._least.size == 0:
            return None, inf
        number = int(self._least.argmin())
        places = np.unravel_index(number, self._least.shape)
        chosen = tuple(ways[place] for ways, place in zip(self._ways, places, strict=True))
        return chosen, float(self._least.ravel()[number])

    def say(self, inside: Sequence[NDArray[np.bool_]], price: float) -> None:
        finer = [
            np.flatnonzero([bool(own[list(way)].all()) for way in ways])
            for ways, own in zip(self._ways, inside, strict=True)
        ]
        at = np.ix_(*finer)
        self._least[at] = np.maximum(self._least[at], self._losses[at] + price)


class _ProgramPrices(CoverMaster):
    """The integer program with one more column: the price."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(choices)
        self._price = self._highs.getNumCol()
        none = np.zeros(0, dtype=np.int32)
        self._highs.addCol(self._scale, 0.0, inf, 0, none, np.zeros(0))

    def say(self, inside: Sequence[NDArray[np.bool_]], price: float) -> None:
        columns = self.crossing(inside)
        numbers = np.append(columns, self._price).astype(np.int32)
        self._highs.addRow(
            price, inf, len(numbers), numbers, np.append(np.full(len(columns), price), 1.0)
        )

    def cheapest_priced(self, seconds: float | None, slack: float) -> tuple[Chosen | None, float]:
        answer = self.cheapest(seconds, slack)
        bound = float(self._highs.getInfo().mip_dual_bound) / self._scale
        if answer.chosen is None:
            return None, answer.bound
        return answer.chosen, max(bound, 0.0)


class _Together:
    def __init__(
        self, choices: Sequence[Choice], price: Price, seconds: float | None, most_listed: int
    ) -> None:
        self._ends = inf if seconds is None else time.monotonic() + seconds
        counts = [count_ways(choice) for choice in choices]
        self.n_recodings = None
        if all(count is not None for count in counts):
            self.n_recodings = prod(count for count in counts if count is not None)
        self._choices = list(choices)
        self._is_listed = self.n_recodings is not None and self.n_recodings <= most_listed
        self._most_listed = most_listed
        self._price = price
        self._known: dict[Chosen, float] = {}
        self._n_prices = 0
        self._best: Chosen | None = None
        self._best_total = inf
        self._steps = merging_steps(choices)

    def run(self, progress: Progress | None) -> FoundTogether:
        if self._is_listed:
            self._choices = [
                Choice(c.n_values, c.categories, c.losses, tuple(list_ways(c)))
                for c in self._choices
            ]
            master: _ListedPrices | _ProgramPrices = _ListedPrices(self._choices)
        else:
            self._by_levels()
            if self._best is not None and self._ends < inf:
                self._improve()
            self._known.clear()
            master = _ProgramPrices(self._choices)
        lower, rounds, is_over = 0.0, 0, False
        while True:
            rounds += 1
            if progress is not None:
                progress(rounds, None)
            left = self._ends - time.monotonic()
            if left <= 0 and self._best is not None:
                break
            seconds = None if left == inf else max(left, 0.05)
            ask = master.cheapest if isinstance(master, _ListedPrices) else master.cheapest_priced
            chosen, bound = ask(seconds, 0.0)
            lower = max(lower, bound)
            if lower >= self._best_total * (1 - BELIEVED):
                is_over = True
                break
            if chosen is None:
                break
            if chosen in self._known:
                # Its price is in the program already: what is left is a matter of rounding.
                is_over = lower >= self._best_total * (1 - 10 * BELIEVED)
                break
            price = self._found_price(chosen)
            self._take(chosen, price)
            labels = recoding_labels(self._choices, chosen)
            master.say(self._inside(labels), price)
            if price > 0:
                kept = _KEPT_PRICES[rounds % len(_KEPT_PRICES)]
                coarser, least = self._coarser(labels, price, kept)
                master.say(self._inside(coarser), least)
        assert self._best is not None, "there is at least one recoding"
        loss = total_loss(self._choices, self._best)
        return FoundTogether(
            self._best,
            loss,
            self._best_total - loss,
            min(lower, self._best_total),
            self._n_prices,
            self.n_recodings,
            is_over,
        )

    def _found_price(self, chosen: Chosen) -> float:
        if chosen not in self._known:
            self._n_prices += 1
            self._known[chosen] = self._price(recoding_labels(self._choices, chosen))
        return self._known[chosen]

    def _take(self, chosen: Chosen, price: float) -> None:
        total = total_loss(self._choices, chosen) + price
        if total < self._best_total:
            self._best, self._best_total = chosen, total

    def _inside(self, labels: Labels) -> list[NDArray[np.bool_]]:
        return [choice.inside(own) for choice, own in zip(self._choices, labels, strict=True)]

    def _coarser(
        self, labels: Sequence[NDArray[np.int32]], price: float, kept: float
    ) -> tuple[Labels, float]:
        """Merge what is cheap while a share of the price stays: a cut that reaches farther.

        Everything up to some loss is merged at once, and the loss is found by halving: whoever
        wants to get around the cut must choose something dearer.
        """
        found, least = list(labels), price
        low, high = 0, len(self._steps)
        while low < high and time.monotonic() < self._ends:
            middle = (low + high + 1) // 2
            trial = list(labels)
            for variable, blocks in self._steps[:middle]:
                merged = joined_blocks(trial[variable], blocks)
                if merged is not None:
                    trial[variable] = merged
            self._n_prices += 1
            would_be = self._price(trial)
            if would_be >= kept * price:
                found, least, low = trial, would_be, middle
            else:
                high = middle - 1
        return found, least

    def _improve(self) -> None:
        """Merge one category after the other into the best so far, where that is cheaper."""
        assert self._best is not None
        until = min(
            self._ends, time.monotonic() + _SHARE_OF_MERGES * (self._ends - time.monotonic())
        )
        for variable, choice in enumerate(self._choices):
            sets = [frozenset(category) for category in choice.categories]
            for number in np.argsort(choice.losses, kind="stable").tolist():
                if time.monotonic() >= until:
                    return
                own = self._best[variable]
                joined = tuple(n for n in own if sets[n] <= sets[number])
                is_whole = sum(len(sets[n]) for n in joined) == len(sets[number])
                if choice.ways is not None or len(joined) < 2 or not is_whole:
                    continue
                after = tuple(sorted({*own} - {*joined} | {number}))
                if len(after) < choice.least:
                    continue
                trial = (*self._best[:variable], after, *self._best[variable + 1 :])
                if total_loss(self._choices, trial) < self._best_total:
                    self._take(trial, self._found_price(trial))

    def _by_levels(self) -> None:
        """Begin with the best of few levels for each variable."""
        ways = [levels_of(choice) for choice in self._choices]
        if not all(ways) or prod(map(len, ways)) > MOST_LISTED:
            return
        levels = [
            Choice(c.n_values, c.categories, c.losses, own, c.least)
            for c, own in zip(self._choices, ways, strict=True)
        ]
        left = self._ends - time.monotonic()
        seconds = None if left == inf else left * _SHARE_OF_LEVELS
        found = search_together(levels, self._price, seconds=seconds)
        self._n_prices += found.n_prices
        self._take(found.chosen, found.price)
