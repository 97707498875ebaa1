"""What numbers lost: how far cells moved, and means and covariances after and before.

IL1s is the sum over cells of |before - after| by sqrt(2) times the standard deviation of the variable
before, with divisor n - 1 (Yancey, Winkler and Creecy 2002). A variable that did not vary has no such
scale: where its cells moved the loss is not known. Cells that are missing before or after are lost,
counted, and not among those that moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CellLoss:
    """IL1s of some variables; None where a variable that did not vary has moved cells."""

    total: float | None
    per_cell: float | None
    n_cells: int
    n_lost: int


def il1s(before: ArrayLike, after: ArrayLike) -> CellLoss:
    """Return how far cells moved.

    Examples
    --------
    >>> loss = il1s([[1.0], [3.0]], [[2.0], [3.0]])
    >>> round(loss.total, 6), loss.n_cells
    (0.5, 2)
    """
    old, new = (np.asarray(values, dtype=np.float64) for values in (before, after))
    there = np.isfinite(old) & np.isfinite(new)
    n_lost = int(np.count_nonzero(np.isfinite(old) & ~np.isfinite(new)))
    total = 0.0
    for place in range(old.shape[1]):
        known = old[np.isfinite(old[:, place]), place]
        both = there[:, place]
        moved = float(np.abs(old[both, place] - new[both, place]).sum())
        spread = float(known.std(ddof=1)) if len(known) > 1 and known.max() > known.min() else 0.0
        if moved and not spread:
            return CellLoss(None, None, int(there.sum()), n_lost)
        total += moved / (np.sqrt(2) * spread) if moved else 0.0
    n_cells = int(there.sum())
    return CellLoss(float(total), float(total / n_cells) if n_cells else None, n_cells, n_lost)


@dataclass(frozen=True, slots=True)
class Moments:
    """Means and covariances of the records that have all the numbers."""

    n_records: int
    means: Floats
    covariances: Floats


def complete_moments(values: ArrayLike, weights: ArrayLike | None = None) -> Moments:
    """Return the moments of records without a missing cell, by weight where weights are given.

    Covariances have the sum of weights as divisor.

    Examples
    --------
    >>> complete_moments([[1.0], [3.0], [np.nan]]).means.tolist()
    [2.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    whole = np.isfinite(numbers).all(axis=1)
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    whole &= given > 0
    kept, share = numbers[whole], given[whole]
    n_columns = numbers.shape[1]
    if not len(kept):
        nothing = np.full((n_columns, n_columns), np.nan)
        return Moments(0, nothing[0], nothing)
    share = share / share.sum()
    means = (share[:, None] * kept).sum(axis=0)
    apart = kept - means
    covariances = np.empty((n_columns, n_columns))
    for row in range(n_columns):
        covariances[row] = (share[:, None] * apart[:, row : row + 1] * apart).sum(axis=0)
    return Moments(int(whole.sum()), means, covariances)
