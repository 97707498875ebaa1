"""How likely each pair is linked, where nobody has more than one partner: marginals of matchings.

Every set of one-to-one links has the product of the odds of its pairs as its weight; the probability
of a pair is the share of the sets that have it. A candidate that most likely belongs to another
record hardly competes, which sums of odds by row and column do not know. Exact marginals are out of
reach (they are permanents); messages are passed between records and candidates until they settle:

    a_ij = 1 / (1 + sum over k != j of odds_ik b_kj),   and b_ij likewise by columns,
    P(ij) = odds_ij a_ij b_ij / (1 + odds_ij a_ij b_ij),

where a_ij is how likely i is free if j is left out. That is exact where the pairs form no cycle, and
settles for one-to-one links in any case (Vontobel 2013). A round costs two looks at each pair.

Pairs that together have less than a hundredth of the odds of a record are not followed. P. O.
Vontobel, The Bethe permanent of a nonnegative matrix (2013).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]

_SMALL_SHARE = 1e-2
_SETTLED = 1e-2
_MOST_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class LinkMarginals:
    """The pairs that are followed, row by row, and the probability of each."""

    rows: Integers = field(repr=False)
    columns: Integers = field(repr=False)
    probabilities: Floats = field(repr=False)

    def of_links(self, columns: Integers) -> Floats:
        """Return the probability of the pair of each row and its column; 0 where not followed."""
        found = np.zeros(len(columns))
        hit = columns[self.rows] == self.columns
        found[self.rows[hit]] = self.probabilities[hit]
        return found


def least_odds(sums: Floats, candidates: Floats) -> Floats:
    """Return from which odds on pairs are followed, of the odds of all pairs of each record.

    Examples
    --------
    >>> least_odds(np.array([9.0, 99.0]), np.array([10.0, 10.0])).tolist()
    [0.01, 0.1]
    """
    return _SMALL_SHARE * (1.0 + sums) / np.maximum(candidates, 1.0)


def link_marginals(
    rows: Integers,
    columns: Integers,
    odds: Floats,
    shape: tuple[int, int],
) -> LinkMarginals:
    """Work out the probability of each pair, until none changes by more than 0.01.

    Parameters
    ----------
    rows, columns, odds
        The pairs that are followed, in the order of their rows, and the odds of each.
    shape
        The numbers of rows and columns.

    Examples
    --------
    >>> one = np.array([0])
    >>> link_marginals(one, one, np.array([3.0]), (1, 1)).probabilities
    array([0.75])
    """
    from gamekeeper.algorithms.linkage.partners.partner_kernels import pass_messages

    starts = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int64)
    room = np.zeros((2, shape[1])), np.zeros(shape[1], np.int64)
    by_row, by_column, found = np.ones(len(odds)), np.ones(len(odds)), np.zeros(len(odds))
    for _ in range(_MOST_ROUNDS):
        if pass_messages(starts, columns, odds, by_row, by_column, found, *room) <= _SETTLED:
            break
    return LinkMarginals(rows, columns, found)
