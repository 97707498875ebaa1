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
def weigh_records(patterns, places, starts, ratios, weights, evidence):
    """Write m / u of each combination of levels, and its sum over the pairs of each record.

    `patterns` has the levels of each combination, `places` the combination of each pair, the pairs of
    a record from `starts[i]` to `starts[i + 1]`; `ratios` the log of m over u by variable and level.
    """
    for q in range(len(patterns)):
        weight = 0.0
        for k in range(patterns.shape[1]):
            weight += ratios[k, patterns[q, k]]
        # What is far below all others adds nothing, and takes no time.
        weights[q] = np.exp(weight) if weight > -40.0 else 0.0
    for i in range(len(starts) - 1):
        total = 0.0
        for p in range(starts[i], starts[i + 1]):
            total += weights[places[p]]
        evidence[i] = total


@numba.njit(cache=True, nogil=True)
def likeliest_odds(evidence, sizes, odds, least, most):
    """Return the odds of any one pair that make the evidence of the records likeliest.

    `evidence` has the sum of m / u over the candidates of each record, `sizes` their number. The
    slope of the likelihood is halved into from the given odds, between `least` and `most`: where
    everybody has a partner it never falls, and rounds of EM would go there forever.
    """
    first, last = np.log(least), np.log(most)
    low, high = first, last
    at, step = min(max(np.log(odds), first), last), 0.5
    was_up = was_down = False
    while high - low > 1e-6:
        times = np.exp(at)
        slope = 0.0
        for i in range(len(evidence)):
            slope += 1.0 / (1.0 + times * sizes[i]) - 1.0 / (1.0 + times * evidence[i])
        if slope > 0.0:
            low, was_up = at, True
        else:
            high, was_down = at, True
        if was_up and was_down:
            at = (low + high) / 2
        else:
            at = min(max(at + step if was_up else at - step, first), last)
            step *= 2.0
    return np.exp((low + high) / 2)


@numba.njit(cache=True, nogil=True)
def expect_partners(patterns, places, starts, weights, evidence, odds, sums):
    """Add up, over rows, the probability of being the partner, by variable and level.

    Of what `weigh_records` makes, with the `odds` of any one pair. Returns the expected number of
    records with a partner, and the log likelihood.
    """
    n_patterns, n_variables = patterns.shape
    sums[:] = 0.0
    expected = likelihood = 0.0
    found = np.zeros(n_patterns)
    for i in range(len(starts) - 1):
        first, n_pairs = starts[i], starts[i + 1] - starts[i]
        has_none = 1.0 / (1.0 + odds * evidence[i])
        expected += 1.0 - has_none
        likelihood -= np.log(has_none) + np.log1p(odds * n_pairs)
        for p in range(first, first + n_pairs):
            one = odds * weights[places[p]] * has_none
            if one > 1e-9:
                found[places[p]] += one
    for q in range(n_patterns):
        if found[q] > 0.0:
            for k in range(n_variables):
                sums[k, patterns[q, k]] += found[q]
    return expected, likelihood


@numba.njit(cache=True, nogil=True)
def sum_odds(costs, best, rows):
    """Add to rows the odds exp(best - cost) of all pairs."""
    for i in range(costs.shape[0]):
        for j in range(costs.shape[1]):
            rows[i] += np.exp(best - costs[i, j])


@numba.njit(cache=True, nogil=True)
def pass_messages(starts, columns, odds, a, b, found, sums, places):
    """Pass messages along pairs once, both ways; return the largest change of a probability.

    The pairs of row i are `starts[i]` to `starts[i + 1]`; `a` and `b` are how free its row and its
    column are without the pair. The largest term of each sum is kept apart: a difference of two large
    sums would be rounding. `sums` and `places` are room for the columns.
    """
    largest, others = sums[0], sums[1]
    largest[:] = 0.0
    others[:] = 0.0
    places[:] = -1
    for i in range(len(starts) - 1):
        most, at, rest = 0.0, -1, 0.0
        for p in range(starts[i], starts[i + 1]):
            one = odds[p] * b[p]
            if one > most:
                rest += most
                most, at = one, p
            else:
                rest += one
        for p in range(starts[i], starts[i + 1]):
            left = rest if p == at else max(rest - odds[p] * b[p], 0.0) + most
            a[p] = 1.0 / (1.0 + left)
            one, j = odds[p] * a[p], columns[p]
            if one > largest[j]:
                others[j] += largest[j]
                largest[j], places[j] = one, p
            else:
                others[j] += one
    change = 0.0
    for p in range(len(odds)):
        j = columns[p]
        left = others[j]
        if p != places[j]:
            left = max(left - odds[p] * a[p], 0.0) + largest[j]
        b[p] = 1.0 / (1.0 + left)
        one = odds[p] * a[p] * b[p]
        one = one / (1.0 + one)
        change = max(change, abs(one - found[p]))
        found[p] = one
    return change
