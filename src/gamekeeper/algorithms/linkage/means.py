"""Mean distances over all pairs of two lists of numbers or codes, without making the pairs.

Absolute and relative distances by sorting and running sums, squared ones by moments, codes by
counts. O((n + m) log m) time, linear memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mean_absolute(a: Floats, b: Floats) -> float:
    """Return the mean of |x - y| over all pairs.

    Examples
    --------
    >>> mean_absolute(np.array([0.0, 4.0]), np.array([1.0, 2.0]))
    2.0
    """
    centre = float(b.mean())
    x, y = a - centre, np.sort(b - centre)
    below = np.searchsorted(y, x)
    sums = np.concatenate(([0.0], np.cumsum(y)))
    total = x * (2 * below - len(y)) + sums[-1] - 2 * sums[below]
    return max(float(total.sum()) / (len(x) * len(y)), 0.0)


def mean_squared(a: Floats, b: Floats) -> float:
    """Return the mean of (x - y)^2 over all pairs.

    Examples
    --------
    >>> mean_squared(np.array([0.0, 4.0]), np.array([1.0, 2.0]))
    4.5
    """
    return float(a.var() + b.var() + (a.mean() - b.mean()) ** 2)


def mean_relative(a: Floats, b: Floats) -> float:
    """Return the mean of |x - y| / max(|x|, |y|) over all pairs, 0 where both are 0.

    With the ratio m of the smaller to the larger magnitude it is 1 - m for equal signs and 1 + m
    for opposite ones.

    Examples
    --------
    >>> mean_relative(np.array([1.0, 4.0]), np.array([2.0]))
    0.5
    """
    total = float(len(a) * len(b)) - np.count_nonzero(a == 0) * np.count_nonzero(b == 0)
    for sign in (1, -1):
        magnitudes = sign * a[sign * a > 0]
        total -= _sum_of_ratios(magnitudes, sign * b[sign * b > 0])
        total += _sum_of_ratios(magnitudes, -sign * b[sign * b < 0])
    return max(float(total) / (len(a) * len(b)), 0.0)


def mean_different(a: NDArray[np.integer], b: NDArray[np.integer]) -> float:
    """Return the share of all pairs of codes that differ.

    Examples
    --------
    >>> mean_different(np.array([1, 2]), np.array([2, 2]))
    0.5
    """
    size = int(max(a.max(initial=0), b.max(initial=0))) + 1
    equal = np.bincount(a, minlength=size) @ np.bincount(b, minlength=size)
    return 1.0 - float(equal) / (len(a) * len(b))


def _sum_of_ratios(x: Floats, y: Floats) -> float:
    """Return the sum of min / max over all pairs of positive numbers."""
    if not len(x) or not len(y):
        return 0.0
    ordered = np.sort(y)
    below = np.searchsorted(ordered, x)
    sums = np.concatenate(([0.0], np.cumsum(ordered)))
    inverses = np.concatenate((np.cumsum(1 / ordered[::-1])[::-1], [0.0]))
    return float((sums[below] / x + x * inverses[below]).sum())
