"""Compiled loops over pairs: distances and levels, candidates from an index, rounds of EM, messages.

Distances are added to what is there, so that a weighted sum over variables needs one matrix.
Missing values are NaN among numbers and 0 among codes. One pair costs a few operations.

For candidates, records with equal keys are groups; pairs are counted first and made afterwards, row
by row, with ascending columns. Linear in the pairs that are looked at.

For partners, a pair has one level per variable: 0 where a value is missing, which says nothing. All
kernels let go of the interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numba
import numpy as np

ABSOLUTE, SQUARED, RELATIVE = 0, 1, 2


@numba.njit(cache=True, nogil=True, inline="always")
def _of_numbers(x, y, measure, factor, missing):
    if np.isnan(x) or np.isnan(y):
        return missing
    difference = abs(x - y)
    if measure == SQUARED:
        return difference * difference * factor
    if measure == RELATIVE:
        largest = max(abs(x), abs(y))
        return difference / largest * factor if largest > 0.0 else 0.0
    return difference * factor


@numba.njit(cache=True, nogil=True)
def add_numbers_matrix(out, a, b, measure, factor, missing):
    """Add the distances of numbers times a factor, and `missing` where one is missing."""
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] += _of_numbers(a[i], b[j], measure, factor, missing)


@numba.njit(cache=True, nogil=True)
def add_numbers_pairs(out, a, b, rows, columns, measure, factor, missing):
    """Add the distances of listed pairs of numbers, as `add_numbers_matrix` does."""
    for k in range(len(rows)):
        out[k] += _of_numbers(a[rows[k]], b[columns[k]], measure, factor, missing)


@numba.njit(cache=True, nogil=True)
def add_codes_matrix(out, a, b, weight, missing):
    """Add `weight` where codes differ, and `missing` where one is 0."""
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == 0 or b[j] == 0:
                out[i, j] += missing
            elif a[i] != b[j]:
                out[i, j] += weight


@numba.njit(cache=True, nogil=True)
def add_codes_pairs(out, a, b, rows, columns, weight, missing):
    """Add for listed pairs of codes, as `add_codes_matrix` does."""
    for k in range(len(rows)):
        x, y = a[rows[k]], b[columns[k]]
        if x == 0 or y == 0:
            out[k] += missing
        elif x != y:
            out[k] += weight


@numba.njit(cache=True, nogil=True, inline="always")
def _of_table(table, x, y, weight, missing):
    if x == 0 or y == 0:
        return missing
    distance = table[x - 1, y - 1]
    # An impossible pair stays impossible, also with weight 0.
    return distance if np.isinf(distance) else weight * distance


@numba.njit(cache=True, nogil=True)
def add_table_matrix(out, a, b, table, weight, missing):
    """Add what a table says of two codes times a weight, and `missing` where one is 0."""
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] += _of_table(table, a[i], b[j], weight, missing)


@numba.njit(cache=True, nogil=True)
def add_table_pairs(out, a, b, rows, columns, table, weight, missing):
    """Add for listed pairs of codes, as `add_table_matrix` does."""
    for k in range(len(rows)):
        out[k] += _of_table(table, a[rows[k]], b[columns[k]], weight, missing)


@numba.njit(cache=True, nogil=True)
def add_squares_matrix(out, a, b):
    """Add the squared Euclidean distances of rows of numbers."""
    for i in range(len(a)):
        for j in range(len(b)):
            total = 0.0
            for k in range(a.shape[1]):
                difference = a[i, k] - b[j, k]
                total += difference * difference
            out[i, j] += total


@numba.njit(cache=True, nogil=True)
def add_squares_pairs(out, a, b, rows, columns):
    """Add the squared Euclidean distances of listed pairs of rows."""
    for p in range(len(rows)):
        total = 0.0
        for k in range(a.shape[1]):
            difference = a[rows[p], k] - b[columns[p], k]
            total += difference * difference
        out[p] += total


@numba.njit(cache=True, nogil=True, inline="always")
def _level(distance, limits):
    for level in range(len(limits)):
        if distance <= limits[level]:
            return level
    return len(limits)


@numba.njit(cache=True, nogil=True)
def add_level_weights(out, distances, limits, weights):
    """Add the weight of the level of each distance; 0 where NaN, infinite where impossible."""
    for k in range(len(distances)):
        distance = distances[k]
        if np.isinf(distance):
            out[k] += np.inf
        elif not np.isnan(distance):
            out[k] += weights[_level(distance, limits)]


@numba.njit(cache=True, nogil=True)
def add_level_matrix(out, a, b, levels, weights):
    """Add the weight of the level that a table has for two codes; nothing where one is 0."""
    for i in range(len(a)):
        if a[i] == 0:
            continue
        row = levels[a[i] - 1]
        for j in range(len(b)):
            if b[j] != 0:
                out[i, j] += weights[row[b[j] - 1]]


@numba.njit(cache=True, nogil=True)
def levels_of_distances(distances, limits):
    """Return for a matrix of distances how many of the rising limits each is above."""
    found = np.empty(distances.shape, np.int8)
    for i in range(distances.shape[0]):
        for j in range(distances.shape[1]):
            found[i, j] = _level(distances[i, j], limits)
    return found


@numba.njit(cache=True, nogil=True)
def add_number_levels(out, a, b, order, measure, factor, limits, weights):
    """Add the weight of the level of the distance of two numbers; nothing where one is NaN.

    `b` has the observed numbers of the second file in rising order, `order` where each belongs.
    Distances rise to both sides of a number, so that a level is a stretch on either side, and is
    found by halving. Relative distances do not rise, and are looked at one by one.
    """
    n = len(b)
    for i in range(len(a)):
        x = a[i]
        if np.isnan(x):
            continue
        if measure == RELATIVE:
            for j in range(n):
                distance = _of_numbers(x, b[j], measure, factor, np.nan)
                out[i, order[j]] += weights[_level(distance, limits)]
            continue
        middle = np.searchsorted(b, x)
        last = middle
        for level in range(len(limits)):
            low, high = last, n
            while low < high:
                half = (low + high) // 2
                if _of_numbers(x, b[half], measure, factor, np.nan) <= limits[level]:
                    low = half + 1
                else:
                    high = half
            for j in range(last, low):
                out[i, order[j]] += weights[level]
            last = low
        for j in range(last, n):
            out[i, order[j]] += weights[len(limits)]
        first = middle
        for level in range(len(limits)):
            low, high = 0, first
            while low < high:
                half = (low + high) // 2
                if _of_numbers(x, b[half], measure, factor, np.nan) <= limits[level]:
                    high = half
                else:
                    low = half + 1
            for j in range(low, first):
                out[i, order[j]] += weights[level]
            first = low
        for j in range(first):
            out[i, order[j]] += weights[len(limits)]


@numba.njit(cache=True, nogil=True)
def add_code_weights(out, a, b, equal, different):
    """Add a weight where codes are equal, another where they differ; nothing where one is 0."""
    for i in range(len(a)):
        if a[i] != 0:
            for j in range(len(b)):
                if b[j] != 0:
                    out[i, j] += equal if a[i] == b[j] else different


@numba.njit(cache=True, nogil=True)
def set_levels(out, variable, distances, limits):
    """Write the level of each distance: 0 where NaN, else one more than the limits it is above."""
    for p in range(len(distances)):
        out[p, variable] = 0 if np.isnan(distances[p]) else _level(distances[p], limits) + 1


@numba.njit(cache=True, nogil=True, inline="always")
def _fits(row, column, tests):
    codes_a, codes_b, tables, offsets, widths = tests
    for v in range(codes_a.shape[1]):  # noqa: SIM110 - compiles to a plain loop
        if not tables[offsets[v] + codes_a[row, v] * widths[v] + codes_b[column, v]]:
            return False
    return True


@numba.njit(cache=True, nogil=True)
def count_pairs(group_of_row, list_starts, lists, group_starts, members, tests):
    """Return for each row how many records fit it.

    The group of a row lists groups of the second file; their members are tested by a table for
    each further variable.
    """
    n_tests = tests[0].shape[1]
    counts = np.zeros(len(group_of_row), np.int64)
    for row in range(len(group_of_row)):
        group = group_of_row[row]
        if group < 0:
            continue
        for k in range(list_starts[group], list_starts[group + 1]):
            low, high = group_starts[lists[k]], group_starts[lists[k] + 1]
            if n_tests == 0:
                counts[row] += high - low
            else:
                for m in range(low, high):
                    if _fits(row, members[m], tests):
                        counts[row] += 1
    return counts


@numba.njit(cache=True, nogil=True)
def fill_pairs(starts, columns, group_of_row, list_starts, lists, group_starts, members, tests):  # fmt: skip
    """Fill the columns of each row, as counted by `count_pairs`, in ascending order."""
    n_tests = tests[0].shape[1]
    for row in range(len(group_of_row)):
        group = group_of_row[row]
        if group < 0:
            continue
        place = starts[row]
        for k in range(list_starts[group], list_starts[group + 1]):
            for m in range(group_starts[lists[k]], group_starts[lists[k] + 1]):
                if n_tests == 0 or _fits(row, members[m], tests):
                    columns[place] = members[m]
                    place += 1
        if list_starts[group + 1] - list_starts[group] > 1:
            columns[starts[row] : place].sort()


@numba.njit(cache=True, nogil=True)
def label_components(starts, columns, n_columns):
    """Return for rows, then columns, the number of their connected component, from 0 on."""
    n_rows = len(starts) - 1
    parent = np.arange(n_rows + n_columns)
    for row in range(n_rows):
        for k in range(starts[row], starts[row + 1]):
            a, b = row, n_rows + columns[k]
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a < b:
                parent[b] = a
            else:
                parent[a] = b
    # A parent is never larger than its child, so roots are numbered before they are asked for.
    labels = np.empty(n_rows + n_columns, np.int64)
    n_labels = 0
    for node in range(n_rows + n_columns):
        if parent[node] == node:
            labels[node] = n_labels
            n_labels += 1
        else:
            labels[node] = labels[parent[node]]
    return labels, n_labels


@numba.njit(cache=True, nogil=True)
def weigh_records(patterns, places, starts, ratios, weights, evidence):
    """Write m / u of each combination of levels, and its sum over the pairs of each record.

    `patterns` has the levels of each combination, `places` the combination of each pair, the pairs
    of a record from `starts[i]` to `starts[i + 1]`; `ratios` the log of m over u by variable and
    level.
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
    column are without the pair. The largest term of each sum is kept apart: a difference of two
    large sums would be rounding. `sums` and `places` are room for the columns.
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
