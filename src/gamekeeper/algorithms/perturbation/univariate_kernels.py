"""The cheapest way to cut sorted numbers in groups of k to 2k - 1, compiled."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import kernel


@kernel
def last_sizes(values, k):
    """Return for every number of first values the size of the last group of their cheapest cut.

    0 where there are fewer than k of them. Squared errors of a group are added up value by value
    around its running mean, so that large numbers close together lose no digits.
    """
    n = len(values)
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    sizes = np.zeros(n + 1, np.int64)
    for end in range(k, n + 1):
        mean, error = 0.0, 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            value = values[end - size]
            step = value - mean
            mean += step / size
            error += step * (value - mean)
            if size >= k and least[end - size] + error < least[end]:
                least[end] = least[end - size] + error
                sizes[end] = size
    return sizes
