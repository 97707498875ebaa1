"""What suppressed cells cost at least under any recoding, and the cheapest one by that and its loss.

Let p(N) be what the cells of a record cost under a partition N of the values. Only the categories
that its own values are in matter to a record, one of each variable. If a recoding C puts value and
block together otherwise than N does in the variables V (its category is not inside the block of N),
then the cells of C and those of V do for N as well: who agrees on what is left under C agrees under
N. So with w for the price of a cell

    p(C) >= p(N) - sum of w over V

and, for one variable u whose category under C is known to lie within a block of N', which is N but
for u,

    p(C) >= p(N') - sum of w over V without u.

Either is linear in what is chosen, since of the categories that hold a value exactly one is. The
best of many such bounds for each record, summed over records, is a bound of the price of the file
that is as high as its price at the recoding for which it was made. No cell needs to count for more
than p(N), nor one that is never suppressed: below 0 nothing is said. The same holds with 1 for the
price of every cell and p(N) = 1 for records that are in a small class.

The cheapest recoding is found from a list, where each has the highest that was said of it, or by
HiGHS: its program has a column for the price of each group of records, and is solved with
categories chosen in parts, or whole. Both start without a price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear_programs import Status, run_once
from gamekeeper.algorithms.recoding_search.choices import Choice, Chosen, Labels, categories_inside
from gamekeeper.algorithms.recoding_search.cuts import CoverMaster, listed_losses, sums_of_one_each

Shares = Sequence[NDArray[np.float64]]
"""Of each variable how far each category is chosen, from 0 to 1; those that hold a value sum to 1."""

_LEAST = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class PriceBound:
    """The price of some records is at least `base` less the slopes of what is chosen."""

    base: float
    slopes: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True, eq=False, slots=True)
class _Priced:
    """A partition, which categories lie within its blocks, and the price of each record."""

    inside: tuple[NDArray[np.bool_], ...]
    prices: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class _Fan:
    """Partitions that differ in one variable: for each of its categories one that it lies within.

    `variable` is -1 for a single partition, whose price falls by that of a cell for each variable.
    """

    variable: int
    others: tuple[NDArray[np.bool_], ...]
    level: NDArray[np.int64]
    members: tuple[int, ...]


class RecordBounds:
    """Prices of records under some partitions, and the bounds that follow for every recoding.

    Rows are the different records, as numbers of values, and `counts` says how many each stands
    for. A cell price is infinite where a variable is never suppressed. There is one bound for each
    group of rows.
    """

    def __init__(
        self,
        choices: Sequence[Choice],
        rows: NDArray[np.integer],
        counts: NDArray[np.integer],
        cell_prices: NDArray[np.float64],
        groups: NDArray[np.int64],
    ) -> None:
        self._choices = choices
        self._rows = [np.ascontiguousarray(rows[:, v], dtype=np.int64) for v in range(len(choices))]
        self._counts = counts.astype(np.float64)
        self._cells = cell_prices
        self._groups = groups
        self._n_groups = int(groups.max(initial=-1)) + 1
        self._sizes = [np.diff(choice.starts) for choice in choices]
        self._priced: list[_Priced] = []
        self._fans: list[_Fan] = []

    def add(self, labels: Labels, prices: NDArray[np.float64]) -> int:
        """Keep the prices of all rows under a partition; return its number."""
        inside = categories_inside(self._choices, labels)
        number = len(self._priced)
        self._priced.append(_Priced(inside, prices.astype(np.float64)))
        self._fans.append(_Fan(-1, inside, np.zeros(0, np.int64), (number,)))
        return number

    def add_fan(self, variable: int, numbers: Sequence[int]) -> None:
        """Keep that partitions differ in one variable alone, the finest first."""
        inside = [self._priced[number].inside[variable] for number in numbers]
        level = np.full(len(inside[0]), -1, np.int64)
        for place in range(len(inside) - 1, -1, -1):
            level[inside[place]] = place
        others = self._priced[numbers[0]].inside
        self._fans.append(_Fan(variable, others, level, tuple(numbers)))

    def tightest(self, shares: Shares) -> list[PriceBound]:
        """Return for each group the highest bound, record by record, for what is chosen."""
        best = np.zeros(len(self._counts))
        which = np.full(len(best), -1, np.int64)
        for number, fan in enumerate(self._fans):
            value = self._value(fan, shares)
            is_better = value > best + _LEAST
            best[is_better], which[is_better] = value[is_better], number
        return self._summed(which)

    def _covered(self, variable: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each value the sum of the weights of categories that hold it."""
        choice = self._choices[variable]
        spread = np.repeat(weights, self._sizes[variable])
        return np.bincount(choice.members, spread, choice.n_values).astype(np.float64)

    def _value(self, fan: _Fan, shares: Shares) -> NDArray[np.float64]:
        """Return the bound of each row."""
        if fan.variable < 0:
            value = self._priced[fan.members[0]].prices.copy()
        else:
            value = np.zeros(len(self._counts))
            own, rows = shares[fan.variable], self._rows[fan.variable]
            for place, number in enumerate(fan.members):
                chosen = np.where(fan.level == place, own, 0.0)
                if chosen.any():
                    value += self._covered(fan.variable, chosen)[rows] * self._priced[number].prices
        for variable, (inside, share) in enumerate(zip(fan.others, shares, strict=True)):
            crossing = np.where(inside, 0.0, share)
            if variable == fan.variable or crossing.max(initial=0.0) <= _LEAST:
                continue
            mass = self._covered(variable, crossing)[self._rows[variable]]
            value -= np.minimum(self._cells[variable], self._highest(fan)) * mass
        return value

    def _highest(self, fan: _Fan) -> NDArray[np.float64]:
        """Return the highest price of each row: no cell needs to count for more."""
        return np.max([self._priced[number].prices for number in fan.members], axis=0)

    def _summed(self, which: NDArray[np.int64]) -> list[PriceBound]:
        n_groups = self._n_groups
        base = np.zeros(n_groups)
        slopes = [np.zeros((n_groups, len(choice.categories))) for choice in self._choices]
        for number in np.unique(which[which >= 0]).tolist():
            fan, at = self._fans[number], np.flatnonzero(which == number)
            groups, counts = self._groups[at], self._counts[at]
            highest = self._highest(fan)[at]
            if fan.variable < 0:
                prices = self._priced[fan.members[0]].prices[at]
                base += np.bincount(groups, counts * prices, n_groups)
            else:
                for place, member in enumerate(fan.members):
                    prices = counts * self._priced[member].prices[at]
                    self._spread(slopes, fan.variable, at, groups, -prices, fan.level == place)
            for variable, inside in enumerate(fan.others):
                if variable == fan.variable or inside.all():
                    continue
                weights = counts * np.minimum(self._cells[variable], highest)
                self._spread(slopes, variable, at, groups, weights, ~inside)
        return [
            PriceBound(float(base[group]), tuple(own[group] for own in slopes))
            for group in range(n_groups)
        ]

    def _spread(
        self,
        slopes: list[NDArray[np.float64]],
        variable: int,
        at: NDArray[np.int64],
        groups: NDArray[np.int64],
        weights: NDArray[np.float64],
        chosen: NDArray[np.bool_],
    ) -> None:
        """Add weights of rows to the slopes of the chosen categories that hold their values."""
        choice = self._choices[variable]
        flat = groups * choice.n_values + self._rows[variable][at]
        by_value = np.bincount(flat, weights, self._n_groups * choice.n_values)
        by_value = by_value.reshape(self._n_groups, choice.n_values)
        sums = np.add.reduceat(by_value[:, choice.members], choice.starts[:-1], axis=1)
        slopes[variable][:, chosen] += sums[:, chosen]


TOLD_APART = 1e-5
"""A bound that says more by less than this share says nothing new."""


class ListedPrices:
    """All recodings with the least that each can cost."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._ways = [choice.ways or () for choice in choices]
        self._losses = listed_losses(choices)
        self._least = self._losses.copy()

    def cheapest(self) -> tuple[Chosen, float]:
        """Return the recoding that can cost least, and what that is."""
        number = int(self._least.argmin())
        places = np.unravel_index(number, self._least.shape)
        chosen = tuple(ways[place] for ways, place in zip(self._ways, places, strict=True))
        return chosen, float(self._least.ravel()[number])

    def say(self, bounds: Sequence[PriceBound]) -> None:
        """Let every recoding cost at least what the bounds say."""
        if not bounds:
            return
        base = sum(bound.base for bound in bounds)
        slopes = [
            np.sum([bound.slopes[v] for bound in bounds], axis=0) for v in range(len(self._ways))
        ]
        less = sums_of_one_each(
            [
                [-own[list(way)].sum() for way in ways]
                for own, ways in zip(slopes, self._ways, strict=True)
            ]
        )
        np.maximum(self._least, self._losses + (base + less), out=self._least)


class ProgramPrices(CoverMaster):
    """The program with one more column for each group of records: its price."""

    def __init__(self, choices: Sequence[Choice], n_groups: int) -> None:
        super().__init__(choices)
        self._n_chosen = self._highs.getNumCol()
        none = np.zeros(0, dtype=np.int32)
        for _ in range(n_groups):
            self._highs.addCol(self._scale, 0.0, inf, 0, none, np.zeros(0))
        self._whole(is_whole=False)

    def _whole(self, *, is_whole: bool) -> None:
        numbers = np.arange(self._n_chosen, dtype=np.int32)
        kinds = np.full(self._n_chosen, int(is_whole), dtype=np.uint8)
        self._highs.changeColsIntegrality(self._n_chosen, numbers, kinds)

    def say(self, bounds: Sequence[PriceBound], over: NDArray[np.float64] | None = None) -> float:
        """Add the bounds that say more than the prices of groups; return by how much."""
        more = 0.0
        for group, bound in enumerate(bounds):
            slopes = self._of_columns(bound.slopes)
            if over is not None:
                said = bound.base - float(slopes @ over[: self._n_chosen])
                gained = said - float(over[self._n_chosen + group])
                if gained <= TOLD_APART * max(1.0, abs(said)):
                    continue
                more += gained
            at = np.flatnonzero(slopes)
            numbers = np.append(at, self._n_chosen + group).astype(np.int32)
            values = np.append(slopes[at], 1.0)
            self._highs.addRow(bound.base, inf, len(numbers), numbers, values)
        return more

    def in_parts(self, seconds: float) -> tuple[NDArray[np.float64], float] | None:
        """Return the answer of the linear program and its value; None where time ran out."""
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        if run_once(self._highs) is not Status.OPTIMAL:
            return None
        value = float(self._highs.getInfo().objective_function_value) / self._scale
        return np.array(self._highs.getSolution().col_value), value

    def shares(self, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return how far each category is chosen."""
        found: list[NDArray[np.float64]] = []
        for number, (choice, columns) in enumerate(zip(self._choices, self._columns, strict=True)):
            own = np.clip(values[self._first[number] : self._first[number + 1]], 0.0, 1.0)
            shares = np.zeros(len(choice.categories))
            for column, share in zip(columns, own.tolist(), strict=True):
                if share > 0:
                    shares[list(column)] += share
            found.append(shares)
        return found

    def _of_columns(self, slopes: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate(
            [
                own if choice.ways is None else np.array([own[list(way)].sum() for way in columns])
                for own, choice, columns in zip(slopes, self._choices, self._columns, strict=True)
            ]
        )

    def whole(self, seconds: float | None) -> tuple[Chosen | None, float, NDArray[np.float64]]:
        """Return the answer of the integer program, a bound of its value, and its columns."""
        self._whole(is_whole=True)
        answer = self.cheapest(seconds, 0.0)
        bound = float(self._highs.getInfo().mip_dual_bound) / self._scale
        values = np.array(self._highs.getSolution().col_value)
        if answer.chosen is None:
            return None, answer.bound, values
        return answer.chosen, max(bound, 0.0), values
