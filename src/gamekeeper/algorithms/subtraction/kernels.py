"""Compiled loops for SAP: two parts of a population put together, and many small tables.

Among n known people of two parts with a and b people, the number in the first part is
hypergeometric. So the probability that some cell is fully known, g, follows from the parts:
g(n) is the mean of 1 - (1 - g_a(j)) (1 - g_b(n - j)). All terms are positive, so rounding errors do not
grow. The weights are products of two binomials of any probability, up to a factor that cancels, so
that all n near to each other share them; j stays where all but 1e-17 of the probability is.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from math import sqrt

import numba
import numpy as np

LARGEST_SMALL_POPULATION = 56
"""Up to here all numbers of samples are below 2^53, so that a division rounds only once."""

# Hoeffding: a deviation of t has a probability below 2 exp(-2 t^2 / m), here 1e-17.
_SPREAD = 19.9


@numba.njit(cache=True, nogil=True)
def spread(n, size_a, size_b):
    """Return how far the number of known people in a part can be from its mean."""
    return sqrt(_SPREAD * min(n, size_a + size_b - n, size_a, size_b)) + 1.0


@numba.njit(cache=True, nogil=True)
def merge(asked, a, first_a, size_a, b, first_b, size_b):
    """Return g of the union for each number of known people, in increasing order.

    a and b hold g of the parts for the numbers from first_a and first_b on.
    """
    zero_a, one_a = _ends(a, first_a)
    zero_b, one_b = _ends(b, first_b)
    both = size_a + size_b
    out = np.empty(len(asked))
    start = 0
    while start < len(asked):
        n = asked[start]
        least, most = _window(n, first_a, len(a), size_a, first_b, len(b), size_b)
        if most <= zero_a and n - least <= zero_b:
            out[start] = 0.0
            start += 1
            continue
        if least >= one_a or n - most >= one_b:
            out[start] = 1.0
            start += 1
            continue
        # Weights of one binomial serve all numbers of people within about its deviation; further
        # away they could underflow.
        reach = max(8, int(sqrt(min(n, both - n)) / 2))
        stop = start + 1
        while stop < len(asked) and asked[stop] <= n + reach:
            stop += 1
        middle = (n + asked[stop - 1]) // 2
        odds = (middle + 0.5) / (both - middle + 0.5)
        low_a, high_a, low_b, high_b = least, most, n - most, n - least
        for i in range(start + 1, stop):
            least, most = _window(asked[i], first_a, len(a), size_a, first_b, len(b), size_b)
            low_a, high_a = min(low_a, least), max(high_a, most)
            low_b, high_b = min(low_b, asked[i] - most), max(high_b, asked[i] - least)
        weights_a = _binomial(low_a, high_a, size_a, middle * (size_a / both), odds)
        # Reversed, so that both run in the same direction.
        weights_b = _binomial(low_b, high_b, size_b, middle * (size_b / both), odds)[::-1].copy()
        known_a = weights_a * a[low_a - first_a : high_a - first_a + 1]
        known_b = weights_b * b[low_b - first_b : high_b - first_b + 1][::-1]
        for i in range(start, stop):
            least, most = _window(asked[i], first_a, len(a), size_a, first_b, len(b), size_b)
            at_a = least - low_a
            at_b = high_b - (asked[i] - least)
            length = most - least + 1
            out[i] = _share(
                weights_a[at_a : at_a + length], known_a[at_a : at_a + length],
                weights_b[at_b : at_b + length], known_b[at_b : at_b + length],
            )  # fmt: skip
        start = stop
    return out


@numba.njit(cache=True, nogil=True)
def _window(n, first_a, length_a, size_a, first_b, length_b, size_b):
    """Return the least and the largest number of known people in the first part."""
    middle, far = n * (size_a / (size_a + size_b)), spread(n, size_a, size_b)
    least = max(0, n - size_b, first_a, n - first_b - length_b + 1)
    most = min(n, size_a, first_a + length_a - 1, n - first_b)
    return max(least, int(middle - far)), min(most, int(middle + far) + 1)


@numba.njit(cache=True, nogil=True)
def _binomial(low, high, size, middle, odds):
    """Return weights in proportion to size over k times odds^k, 1 near the middle."""
    weights = np.empty(high - low + 1)
    mode = min(max(int(middle), low), high)
    weights[mode - low] = 1.0
    for k in range(mode, high):
        weights[k - low + 1] = weights[k - low] * (odds * (size - k) / (k + 1.0))
    for k in range(mode, low, -1):
        weights[k - low - 1] = weights[k - low] * (k / (odds * (size - k + 1.0)))
    return weights


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _share(weights_a, known_a, weights_b, known_b):
    """Return the weighted mean of 1 - (1 - g_a) (1 - g_b)."""
    total, value = 0.0, 0.0
    for k in range(len(weights_a)):
        total += weights_a[k] * weights_b[k]
        value += known_a[k] * weights_b[k] + (weights_a[k] - known_a[k]) * known_b[k]
    return value / total


@numba.njit(cache=True, nogil=True)
def _ends(values, first):
    """Return up to which number values are 0 and from which they are 1, to within 1e-15."""
    zero = first - 1
    for value in values:
        if value > 1e-18:
            break
        zero += 1
    one = first + len(values)
    for k in range(len(values) - 1, -1, -1):
        if values[k] < 1.0 - 1e-15:
            break
        one -= 1
    return zero, one


@numba.njit(cache=True, nogil=True)
def small_tables(counts, relevant, unsure, gives_away, asked, out):
    """Fill SAP of each table (a row) for each number of people; numbers of samples are integers."""
    top = LARGEST_SMALL_POPULATION
    choose = np.zeros((top + 1, top + 1), np.int64)
    for n in range(top + 1):
        choose[n, 0] = 1
        for k in range(1, n + 1):
            choose[n, k] = choose[n - 1, k - 1] + choose[n - 1, k]
    samples = np.zeros(top + 1, np.int64)
    kept = np.zeros(top + 1, np.int64)
    n_cells = counts.shape[1]
    nothing = np.zeros(n_cells, np.bool_)
    for t in range(len(counts)):
        total = 0
        known_first = 0
        overlap = False
        for c in range(n_cells):
            total += counts[t, c]
            if unsure[t, c]:
                known_first += counts[t, c]
                overlap = overlap or relevant[t, c]
        recovered = choose[total, : total + 1].copy()
        _without_full(counts[t], relevant[t], nothing, total, samples, kept)
        for n in range(total + 1):
            recovered[n] -= samples[n]
        if gives_away[t] and not overlap:
            _without_full(counts[t], relevant[t], unsure[t], total - known_first, samples, kept)
            for n in range(total - known_first + 1):
                recovered[known_first + n] += samples[n]
        for i in range(len(asked)):
            n = min(asked[i], total)
            out[t, i] = recovered[n] / choose[total, n]


@numba.njit(cache=True, nogil=True)
def _without_full(counts, full, without, population, samples, kept):
    """Fill the numbers of samples of a population, without some cells, that hold none of `full`."""
    samples[:] = 0
    samples[0] = 1
    length, rest = 0, population
    for c in range(len(counts)):
        if not full[c] or without[c]:
            continue
        size = counts[c]
        rest -= size
        kept[: length + 1] = samples[: length + 1]
        for _ in range(size):
            length += 1
            for k in range(length, 0, -1):
                samples[k] += samples[k - 1]
        for k in range(length - size + 1):
            samples[k + size] -= kept[k]
    for _ in range(rest):
        length += 1
        for k in range(length, 0, -1):
            samples[k] += samples[k - 1]
