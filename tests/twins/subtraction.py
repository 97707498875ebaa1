"""SAP by its definition: every sample of a tiny table, every table that fits a release."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np


def samples(counts):
    """Yield every sample as counts per cell, with the number of ways to draw it."""
    for sample in itertools.product(*(range(count + 1) for count in counts)):
        yield sample, math.prod(math.comb(c, s) for c, s in zip(counts, sample, strict=True))


def recovered_cells(counts, sample, lower, upper, total_upper):
    """Return the cells in which a zero is recovered, by the tightest upper limits."""
    least = [max(low, s) for low, s in zip(lower, sample, strict=True)]
    cells = []
    for j, count in enumerate(counts):
        most = upper[j]
        if total_upper is not None:
            most = min(most, total_upper - sum(least) + least[j])
        if sample[j] == count == most:
            cells.append(j)
    return cells


def by_definition(counts, lower, upper, total_upper, cells=None):
    """Return for each n the probability of a zero among cells, and of each number of zeros."""
    population = sum(counts)
    cells = set(range(len(counts))) if cells is None else set(cells)
    numbers = [[0] * (len(counts) + 1) for _ in range(population + 1)]
    for sample, ways in samples(counts):
        recovered = cells & set(recovered_cells(counts, sample, lower, upper, total_upper))
        numbers[sum(sample)][len(recovered)] += ways
    shares = [
        [Fraction(number, math.comb(population, n)) for number in row]
        for n, row in enumerate(numbers)
    ]
    return [1 - row[0] for row in shares], shares


def by_inclusion_and_exclusion(counts, upper):
    """Return SAP of a single table by the sum over all sets of relevant cells."""
    population = sum(counts)
    relevant = [c for c, u in zip(counts, upper, strict=True) if c == u]
    curve = []
    for n in range(population + 1):
        total = Fraction(0)
        for size in range(1, len(relevant) + 1):
            for cells in itertools.combinations(relevant, size):
                known = sum(cells)
                if known <= n:
                    ways = math.comb(population - known, n - known)
                    total -= (-1) ** size * Fraction(ways, math.comb(population, n))
        curve.append(total)
    return curve


def release_by_definition(constraints, counts, largest, within=None):
    """Return numbers of recovered zeros and of zeros per cell for each n, by all fitting tables."""
    flat = [int(count) for count in np.asarray(counts).reshape(-1)]
    tables = np.array(
        [
            table
            for table in itertools.product(range(largest + 1), repeat=len(flat))
            if constraints.admits(table)
        ]
    )
    population = sum(flat)
    numbers = [[0] * (len(flat) + 1) for _ in range(population + 1)]
    per_cell = [[0] * len(flat) for _ in range(population + 1)]
    for sample, ways in samples(flat):
        fitting = tables[np.all(tables >= sample, axis=1)]
        most = fitting.max(axis=0)
        cells = [j for j, c in enumerate(flat) if sample[j] == c == most[j]]
        cells = [j for j in cells if within is None or j in within]
        numbers[sum(sample)][len(cells)] += ways
        for cell in cells:
            per_cell[sum(sample)][cell] += ways
    of = [math.comb(population, n) for n in range(population + 1)]
    shares = [[Fraction(x, d) for x in row] for row, d in zip(numbers, of, strict=True)]
    cells = [[Fraction(x, d) for x in row] for row, d in zip(per_cell, of, strict=True)]
    return shares, cells
