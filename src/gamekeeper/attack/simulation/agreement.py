"""How well a score of records agrees with the true chance of a correct match, 1/F.

Correlations, and a calibration table: records grouped by score, with the sum of 1/F and the number
of population uniques per group. Every score is grouped by tenths of its ranks; one that is a
probability also in steps of a tenth, with a group of its own for 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.judging.rank_plots import mid_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_BANDS = 11
"""The steps of a probability: ten, and one for 1 itself."""

N_TENTHS = 10
"""The groups by rank."""


def pearson(first: NDArray[Any], second: NDArray[Any]) -> float | None:
    """Return the correlation of two columns; None where one of them does not vary.

    Examples
    --------
    >>> round(pearson(np.array([1, 2, 3]), np.array([1, 2, 4])), 4)
    0.982
    """
    if len(first) < 2 or (first == first[0]).all() or (second == second[0]).all():
        return None
    # Scores may be as large as factorials: their squares would not fit.
    left = first / np.abs(first).max()
    right = second / np.abs(second).max()
    left, right = left - left.mean(), right - right.mean()
    spread = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return min(1.0, max(-1.0, float((left * right).sum()) / spread)) if spread else None


def spearman(first: NDArray[Any], second: NDArray[Any]) -> float | None:
    """Return the correlation of the ranks of two columns, with equal values at mid-rank."""
    return pearson(mid_ranks(first), mid_ranks(second))


def band_of_probability(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the group of each probability: 0 for [0, 0.1), ..., 9 for [0.9, 1), 10 for 1."""
    # A score that is 1 but for rounding belongs to the ones.
    return np.floor(np.clip(scores, 0.0, 1.0) * 10 + 1e-9).astype(np.int64)


def band_of_rank(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the tenth of its ranks that each score is in, 0 for the lowest; ties together.

    Examples
    --------
    >>> band_of_rank(np.array([3.0, 1.0, 1.0, 9.0])).tolist()
    [6, 2, 2, 8]
    """
    if not len(scores):
        return np.zeros(0, np.int64)
    return np.floor((mid_ranks(scores) - 0.5) * 10 / len(scores)).astype(np.int64)
