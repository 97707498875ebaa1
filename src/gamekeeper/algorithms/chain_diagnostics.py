"""Did chains of models agree: potential scale reduction and effective sample sizes.

An edge is a series of zeros and ones per chain. R-hat compares the spread of the means of half
chains with the spread inside them (Gelman and Rubin 1992, split as in Gelman and others 2013); it
is 1 when all are the same and infinite when chains are constant and differ. The effective sample
size divides the number of draws by the integrated autocorrelation time, cut off at the first
negative pair of autocorrelations (Geyer 1992).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def r_hat(series: NDArray[np.floating]) -> float:
    """Return the split potential scale reduction of series, a row per chain.

    Examples
    --------
    >>> r_hat(np.array([[0.0, 1, 0, 1], [1, 0, 1, 0]])), r_hat(np.array([[0.0] * 4, [1.0] * 4]))
    (0.7071067811865476, inf)
    """
    half = series.shape[1] // 2
    if half == 0:
        return float("inf")
    halves = np.concatenate([series[:, :half], series[:, half : 2 * half]])
    means = halves.mean(axis=1)
    within = halves.var(axis=1, ddof=1).mean() if half > 1 else 0.0
    between = means.var(ddof=1)
    if between == 0.0:
        # Nothing tells the halves apart; series of two draws have no more to say.
        return float(np.sqrt((half - 1) / half)) if within > 0.0 else 1.0
    if within == 0.0:
        return float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def effective_size(series: NDArray[np.floating]) -> float:
    """Return the number of independent draws that series, a row per chain, are worth.

    Constant series are worth what they hold.

    Examples
    --------
    >>> effective_size(np.zeros((2, 50)))
    100.0
    """
    n_chains, n = series.shape
    centred = series - series.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(power, axis=1)[:, :n] / n
    within = covariance[:, 0].mean() * n / max(n - 1, 1)
    between = series.mean(axis=1).var(ddof=1) if n_chains > 1 else 0.0
    total = within * (n - 1) / n + between
    if total <= 0.0:
        return float(n_chains * n)
    # Differences between chains count as correlation that never dies out.
    correlation = 1.0 - (within - covariance.mean(axis=0) * n / max(n - 1, 1)) / total
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0.0)
    kept = pairs[: negative[0]] if len(negative) else pairs
    time = max(2.0 * np.minimum.accumulate(kept).sum() - 1.0, 1.0) if len(kept) else 1.0
    return float(n_chains * n / time)


def models_carrying(weights: NDArray[np.floating], mass: float = 0.95) -> int:
    """Return the smallest number of models whose weights reach a share of the whole.

    Examples
    --------
    >>> models_carrying(np.array([0.5, 0.3, 0.15, 0.05]), 0.9)
    3
    """
    if len(weights) == 0:
        return 0
    reached = np.cumsum(np.sort(weights)[::-1])
    # A rounding error must not ask for one model more.
    return min(int(np.searchsorted(reached, mass * reached[-1] * (1 - 1e-12))) + 1, len(weights))
