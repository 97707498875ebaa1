"""Recoding and suppression together: the recoding for which loss and suppressed cells cost least.

Every record has a price under a recoding: what its cells cost that are to be suppressed. It never
grows where categories are merged, and `record_bounds` says what follows for recodings that were not
looked at. How it is searched is in `price_search`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.algorithms.recoding_search.choices import Choice, Chosen, total_loss
from gamekeeper.algorithms.recoding_search.class_tables import Records
from gamekeeper.algorithms.recoding_search.covers import MOST_LISTED
from gamekeeper.algorithms.recoding_search.price_search import Prices, PriceSearch
from gamekeeper.results import Progress


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
    `record_bounds` says what must hold of them; `cell_prices` are infinite where a variable is
    never suppressed. After so many seconds the best so far is returned. Up to `most_listed`
    recodings are gone through; more are left to HiGHS.

    Examples
    --------
    >>> import numpy as np
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
