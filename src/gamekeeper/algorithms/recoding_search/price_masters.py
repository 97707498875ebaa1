"""The cheapest recoding by its loss and by what bounds say of its price: listed, or by HiGHS.

Both start without a price and get bounds that are linear in what is chosen (`record_bounds`). Where
recodings are listed, each has the highest that was said of it. The program has a column for the
price of each group of records, and is solved with categories chosen in parts, or whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.choices import Choice, Chosen
from gamekeeper.algorithms.recoding_search.masters import (
    CoverMaster,
    listed_losses,
    sums_of_one_each,
)
from gamekeeper.algorithms.recoding_search.record_bounds import PriceBound

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
        import highspy

        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
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
