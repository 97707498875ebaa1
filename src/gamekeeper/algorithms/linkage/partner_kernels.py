"""Rounds of EM where each record has one partner at most, and sums of odds by row and column.

A pair has one level per variable: 0 where a value is missing, which says nothing. Compiled, and let
go of the interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def expect_partners(levels, starts, ratios, odds, sums):
    """Add up, over rows, the probability of being the partner, by variable and level.

    `levels` has one row per pair, the pairs of a record from `starts[i]` to `starts[i + 1]`;
    `ratios` the log of m over u by variable and level; `odds` those of any one pair. Returns the
    expected number of records with a partner, the log likelihood, and how much it curves in the
    share of records with a partner.
    """
    n_variables = levels.shape[1]
    sums[:] = 0.0
    expected = likelihood = curvature = 0.0
    longest = 0
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    weights = np.empty(longest)
    for i in range(len(starts) - 1):
        first, n_pairs = starts[i], starts[i + 1] - starts[i]
        total = 0.0
        for p in range(n_pairs):
            weight = 0.0
            for k in range(n_variables):
                weight += ratios[k, levels[first + p, k]]
            # What is far below all others adds nothing, and takes no time.
            weights[p] = np.exp(weight) if weight > -40.0 else 0.0
            total += weights[p]
        has_none = 1.0 / (1.0 + odds * total)
        expected += 1.0 - has_none
        likelihood -= np.log(has_none) + np.log1p(odds * n_pairs)
        if n_pairs > 0:
            # The share of partners s has odds s / (1 - s) / n_pairs: the slope of the likelihood.
            share = odds * n_pairs / (1.0 + odds * n_pairs)
            mean = total / n_pairs
            slope = (mean - 1.0) / (1.0 - share + share * mean)
            curvature += slope * slope
        for p in range(n_pairs):
            one = odds * weights[p] * has_none
            if one > 1e-9:
                for k in range(n_variables):
                    sums[k, levels[first + p, k]] += one
    return expected, likelihood, curvature


@numba.njit(cache=True, nogil=True)
def set_levels(out, variable, distances, limits):
    """Write the level of each distance: 0 where NaN, else one more than the limits it is above."""
    for p in range(len(distances)):
        distance = distances[p]
        level = 0
        if not np.isnan(distance):
            level = 1
            for limit in limits:
                if distance > limit:
                    level += 1
        out[p, variable] = level


@numba.njit(cache=True, nogil=True)
def sum_odds(costs, best, rows, columns):
    """Add to rows and columns the odds exp(best - cost) of all pairs."""
    for i in range(costs.shape[0]):
        for j in range(costs.shape[1]):
            one = np.exp(best - costs[i, j])
            rows[i] += one
            columns[j] += one
