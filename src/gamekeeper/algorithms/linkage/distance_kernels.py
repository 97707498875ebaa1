"""Distances of one variable between records of two files, added to a matrix or to listed pairs.

Every kernel adds to what is there, so that a weighted sum over variables needs one matrix. Missing
values are NaN among numbers and 0 among codes. One pair costs a few operations. The kernels are
compiled, and let go of the interpreter.
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
