"""Recoding and suppression together: the recoding for which loss and suppressed cells cost least.

Every record has a price under a recoding: what its cells cost that are to be suppressed. It never
grows where categories are merged. From the prices under some partitions follow linear bounds of the
price under any recoding (`price_masters`). By Benders' way (Hooker 2000) the master takes what is
cheapest by loss and by what the bounds say, the true prices are found there, and a bound is made
that is as high as these. The master's value is a lower bound all along. Where recodings are too
many to list, it is first a linear program, in which categories are chosen in parts, until bounds
add little; then the integer program.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import inf

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.partitions import joined_blocks
from gamekeeper.algorithms.classes import EqualRows, dense_numbers, numbers_as_they_come
from gamekeeper.algorithms.recoding_search import cuts, price_masters
from gamekeeper.algorithms.recoding_search.choices import (
    MOST_LISTED,
    Choice,
    Chosen,
    Labels,
    Records,
    listed_choices,
    recoding_labels,
    total_loss,
)
from gamekeeper.algorithms.recoding_search.search import levels_of, with_category, with_way
from gamekeeper.budget import memory_budget
from gamekeeper.results import Progress

_MOST_GROUPS = 64
_MOST_LEVELS = 5
# How far categories must be chosen in the linear program to be put together in a partition.
_THRESHOLDS = (0.999, 0.5, 0.2, 0.05)
_MARGIN_THRESHOLDS = (0.5, 0.05)
_FAN_VARIABLES = 2
# The linear program ends where a round of further partitions adds less than this share.
_LEAST_GAIN = 0.002
_SHARE_OF_FANS = 0.3
_SHARE_OF_PROGRAM = 0.8
_LEAST_ROUNDS = 8
_SHARE_OF_MERGES = 0.5
# The integer program looks at the clock seldom: it is begun with so many times what the linear one took.
_TIMES_OF_PARTS = 20
_FEW_CATEGORIES = 50
# Prices of records that are kept, besides those of recodings that the program chose.
_MOST_BYTES = 1 << 28

Prices = Callable[[Labels, NDArray[np.bool_] | None], NDArray[np.float64]]
"""What the cells of each different record cost that a recoding leaves to be suppressed; asked of some
records, where told, with anything for the others."""


class PriceSearch:
    """A search for the recoding that costs least, by its loss and the prices of records."""

    def __init__(
        self,
        choices: Sequence[Choice],
        records: Records,
        prices: Prices,
        cell_prices: Sequence[float],
        *,
        seconds: float | None,
        most_listed: int,
    ) -> None:
        self._ends = inf if seconds is None else time.monotonic() + seconds
        self.n_recodings, listed = listed_choices(choices, most_listed)
        self._is_listed = listed is not None
        self._choices = listed or choices
        self._records = records
        self._prices = prices
        self._cells = np.array(cell_prices, dtype=np.float64)
        self.best: Chosen | None = None
        self.least = inf
        self.lower = 0.0
        self._shares: price_masters.Shares = [np.zeros(len(c.categories)) for c in choices]
        self._known: dict[bytes, int] = {}
        self._fanned: set[int] = set()
        self._has_thresholds = False
        self._seconds_of_parts = 0.0
        self._tried: dict[Chosen, int] = {}
        self.n_prices = 1
        budget = memory_budget()
        self._room = _MOST_BYTES if budget is None else min(_MOST_BYTES, budget // 4)
        self._finest = [np.arange(c.n_values, dtype=np.int32) for c in choices]
        first = prices(self._finest, None)
        # Who needs no cell as the file is needs none under any recoding.
        self._risky = first > 0
        self._dearest = float(first.max(initial=0.0))
        rows = records.rows[self._risky]
        self._counts = records.counts[self._risky].astype(np.float64)
        self._groups = self._grouped(rows)
        self._bounds = price_masters.RecordBounds(
            self._choices, rows, records.counts[self._risky], self._cells, self._groups
        )
        self._of_risky: list[NDArray[np.float64]] = []
        self._keep(self._finest, first[self._risky])

    def run(self, progress: Progress | None) -> bool:
        """Search; tell whether it came to its end: nothing better is left, or nothing at all."""
        return self._listed(progress) if self._is_listed else self._by_program(progress)

    def _listed(self, progress: Progress | None) -> bool:
        master = price_masters.ListedPrices(self._choices)
        rounds = 0
        self._first_fans(range(len(self._choices)), self._until(_SHARE_OF_FANS))
        while True:
            rounds += 1
            if progress is not None:
                progress(rounds, None)
            if time.monotonic() >= self._ends and self.best is not None:
                return False
            chosen, bound = master.cheapest()
            self.lower = max(self.lower, bound)
            if self._is_reached():
                return True
            if chosen in self._tried:
                # Its price is known: what is left is a matter of rounding.
                return bound >= self.least * (1 - 10 * cuts.BELIEVED)
            self._try(chosen)
            master.say(self._bounds.tightest(self._chosen_shares(chosen)))

    def _by_program(self, progress: Progress | None) -> bool:
        n_groups = int(self._groups.max(initial=-1)) + 1
        master = price_masters.ProgramPrices(self._choices, n_groups)
        # What loses least and what has fewest categories, so that there is an answer at any time.
        self._try(cuts.CoverMaster(self._choices).cheapest().chosen)
        coarsest = [way for c in self._choices if (way := cuts.fewest_categories(c)) is not None]
        if len(coarsest) == len(self._choices):
            self._try(tuple(coarsest))
        if self._in_parts(master, progress):
            return True
        self._improve(self._shares)
        rounds = 0
        while True:
            rounds += 1
            if progress is not None:
                progress(rounds, None)
            left = self._ends - time.monotonic()
            if left <= _TIMES_OF_PARTS * self._seconds_of_parts:
                return self._is_reached()
            chosen, bound, values = master.whole(None if left == inf else max(left, 0.05))
            self.lower = max(self.lower, bound)
            if self._is_reached():
                return True
            if chosen is None:
                return bound == inf
            if chosen in self._tried:
                found = self._bounds.tightest(self._chosen_shares(chosen))
                if master.say(found, values) <= 0:
                    return self.lower >= self.least * (1 - 10 * cuts.BELIEVED)
                continue
            self._try(chosen)
            master.say(self._bounds.tightest(self._chosen_shares(chosen)), values)

    def _in_parts(self, master: price_masters.ProgramPrices, progress: Progress | None) -> bool:
        """Raise the lower bound by the linear program; tell whether the search is over."""
        ends = self._until(_SHARE_OF_PROGRAM)
        before, rounds = 0.0, 0
        while True:
            rounds += 1
            if progress is not None:
                progress(rounds, None)
            # The first few answers are waited for, so that something is proven at any time.
            left = inf if rounds <= _LEAST_ROUNDS else self._ends - time.monotonic()
            began = time.monotonic()
            answer = master.in_parts(max(left, 0.05))
            self._seconds_of_parts = time.monotonic() - began
            if answer is None:
                return False
            values, value = answer
            self.lower = max(self.lower, value)
            if self._is_reached():
                return True
            self._shares = master.shares(values)
            if time.monotonic() > ends and rounds > _LEAST_ROUNDS:
                return False
            more = master.say(self._bounds.tightest(self._shares), values)
            if more > price_masters.TOLD_APART * 10 * max(value, 1.0):
                continue
            # Only what thresholds gave may be found to be of little use: margins come before.
            if self._has_thresholds and value < before * (1 + _LEAST_GAIN):
                return False
            if not self._look_further(self._shares, ends):
                return False
            before = value

    def _look_further(self, shares: price_masters.Shares, ends: float) -> bool:
        """Find prices under partitions of what is chosen in parts; tell whether any was new."""
        n_before = self.n_prices
        self._try(cuts.nearest_recoding(self._choices, shares))
        # Where choosing in parts says least: variables whose cells would count for most.
        doubts = [
            min(self._cells[v], self._dearest)
            * float(np.minimum(own, 1 - own) @ np.diff(choice.starts))
            for v, (choice, own) in enumerate(zip(self._choices, shares, strict=True))
        ]
        order = [v for v in np.argsort(doubts)[::-1].tolist() if doubts[v] > 0]
        if self._first_fans(order, ends):
            self._margins(self._finest, ends)
            return True
        self._has_thresholds = True
        for threshold in _THRESHOLDS:
            if self._is_enough(ends):
                break
            labels = [
                self._joined(v, np.flatnonzero(own >= threshold)) for v, own in enumerate(shares)
            ]
            self._priced(labels)
            for variable in order[:_FAN_VARIABLES]:
                if not self._is_enough(ends):
                    self._fan(labels, variable)
            if threshold in _MARGIN_THRESHOLDS:
                self._margins(labels, ends)
        return self.n_prices > n_before

    def _first_fans(self, variables: Sequence[int], ends: float) -> bool:
        """Find prices with one variable coarser and the others as they are; tell whether any was new."""
        new = [variable for variable in variables if variable not in self._fanned]
        for variable in new:
            if self._is_enough(ends):
                break
            self._fanned.add(variable)
            self._fan(self._finest, variable)
        return bool(new)

    def _margins(self, labels: Labels, ends: float) -> None:
        """Find prices where all but one or two variables are all in one: for these nothing is lost."""
        whole = [np.zeros(len(own), dtype=np.int32) for own in labels]
        every = range(len(labels))
        for kept in (*combinations(every, 1), *combinations(every, 2)):
            if self._is_enough(ends):
                return
            self._priced([labels[v] if v in kept else whole[v] for v in every])

    def _joined(self, variable: int, categories: NDArray[np.int64]) -> NDArray[np.int32]:
        choice, labels = self._choices[variable], self._finest[variable]
        blocks = [choice.categories[number] for number in categories.tolist()]
        merged = joined_blocks(labels, [block for block in blocks if len(block) > 1])
        return labels if merged is None else merged

    def _fan(self, labels: Labels, variable: int) -> None:
        """Find prices where one variable is as fine as can be, at its levels, and all in one."""
        numbers = [
            self._priced([*labels[:variable], own, *labels[variable + 1 :]])
            for own in self._levels(variable)
        ]
        self._bounds.add_fan(variable, numbers)

    def _levels(self, variable: int) -> list[NDArray[np.int32]]:
        choice = self._choices[variable]
        ways = levels_of(choice)
        step = max(1, -(-len(ways) // _MOST_LEVELS))
        found = [
            self._finest[variable],
            *(choice.labels(way) for way in ways[::step]),
            np.zeros(choice.n_values, dtype=np.int32),
        ]
        return list({numbers_as_they_come(own).tobytes(): own for own in found}.values())

    def _priced(self, labels: Labels) -> int:
        """Return the number of a partition, of which prices are found if they are not known."""
        number = self._known.get(_name(labels))
        if number is None:
            self.n_prices += 1
            number = self._keep(labels, self._prices(labels, self._risky)[self._risky])
        return number

    def _keep(self, labels: Labels, prices: NDArray[np.float64]) -> int:
        self._of_risky.append(prices)
        number = self._known[_name(labels)] = self._bounds.add(labels, prices)
        return number

    def _try(self, chosen: Chosen | None) -> None:
        """Take a recoding if it is the cheapest so far."""
        if chosen is None or chosen in self._tried:
            return
        self._tried[chosen] = self._priced(recoding_labels(self._choices, chosen))
        price = float(self._of_risky[self._tried[chosen]] @ self._counts)
        total = total_loss(self._choices, chosen) + price
        if total < self.least:
            self.best, self.least = chosen, total

    def _improve(self, shares: price_masters.Shares) -> None:
        """Put categories together, or take them apart, one at a time, while that is cheaper."""
        ends = self._until(_SHARE_OF_MERGES)
        order = sorted(
            (-float(share), variable, number)
            for variable, own in enumerate(shares)
            for number, share in enumerate(own)
            if self._choices[variable].ways is None and (share > 0 or len(own) < _FEW_CATEGORIES)
        )
        levels = [(v, way) for v, choice in enumerate(self._choices) for way in levels_of(choice)]
        moves = [(v, partial(with_way, way=way)) for v, way in levels]
        moves += [(v, partial(with_category, number=number)) for _, v, number in order]
        before = inf
        while self.least < before:
            before = self.least
            for variable, move in moves:
                if self._is_enough(ends):
                    return
                assert self.best is not None
                trial = move(self._choices, self.best, variable)
                if trial is not None and total_loss(self._choices, trial) < self.least:
                    self._try(trial)

    def _chosen_shares(self, chosen: Chosen) -> list[NDArray[np.float64]]:
        shares = [np.zeros(len(choice.categories)) for choice in self._choices]
        for own, numbers in zip(shares, chosen, strict=True):
            own[list(numbers)] = 1.0
        return shares

    def _grouped(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return groups of records by the variable whose cells are dearest, neighbours together."""
        if not len(rows) or self._is_listed:
            return np.zeros(len(rows), dtype=np.int64)
        known = np.where(np.isfinite(self._cells), self._cells, -1.0)
        values = rows[:, int(known.argmax())]
        order = np.argsort(values, kind="stable")
        groups = np.empty(len(rows), dtype=np.int64)
        groups[order] = np.arange(len(rows)) * _MOST_GROUPS // len(rows)
        # All that have a value are in the group of the first of them.
        own = EqualRows.of(dense_numbers(values[order]))
        groups[order] = groups[order][own.firsts][own.numbers]
        return dense_numbers(groups)

    def _until(self, share: float) -> float:
        now = time.monotonic()
        return inf if self._ends == inf else now + share * max(0.0, self._ends - now)

    def _is_enough(self, ends: float) -> bool:
        """Tell whether no more prices are to be kept: for want of time, or of memory."""
        n_bytes = 8 * len(self._of_risky) * len(self._counts)
        return time.monotonic() > ends or n_bytes >= self._room

    def _is_reached(self) -> bool:
        return self.best is not None and self.lower >= self.least * (1 - cuts.BELIEVED)


def _name(labels: Labels) -> bytes:
    """Return what equal partitions share and no others."""
    return b"".join(numbers_as_they_come(own).tobytes() for own in labels)


@dataclass(frozen=True, eq=False, slots=True)
class FoundTogether:
    """The recoding that a search found, what it loses, and what the cells that it leaves cost.

    Nothing costs less in all than `lower_bound`. `n_prices` says how often a price was found.
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
    records: Records,
    prices: Prices,
    cell_prices: Sequence[float],
    *,
    seconds: float | None = None,
    most_listed: int = MOST_LISTED,
    progress: Progress | None = None,
) -> FoundTogether:
    """Search for the recoding whose loss and price are least together.

    `prices` are what the cells of each record cost that a recoding leaves to be suppressed, and
    `price_masters` says what must hold of them; `cell_prices` are infinite where a variable is
    never suppressed. After so many seconds the best so far is returned. Up to `most_listed`
    recodings are gone through; more are left to HiGHS.

    Examples
    --------
    >>> ages = Choice(2, ((0,), (1,), (0, 1)), np.array([0.0, 0.0, 2.0]))
    >>> people = Records(np.array([[0], [1]]), np.ones(2, int), np.ones(2, int))
    >>> def dear(labels, only):
    ...     return np.full(2, 3.0 if labels[0].max() else 0.0)
    >>> search_together([ages], people, dear, [3.0]).chosen
    ((2,),)
    """
    search = PriceSearch(
        choices, records, prices, cell_prices, seconds=seconds, most_listed=most_listed
    )
    is_over = search.run(progress)
    assert search.best is not None, "there is at least one recoding"
    loss = total_loss(choices, search.best)
    lower = min(search.lower, search.least)
    price = search.least - loss
    return FoundTogether(
        search.best, loss, price, lower, search.n_prices, search.n_recodings, is_over
    )
