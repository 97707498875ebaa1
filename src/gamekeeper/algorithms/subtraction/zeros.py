"""How many zeros of any release are recovered, and in which cells.

The same parts and searches as for SAP (`release`), with numbers of samples kept for each
number of zeros and for each cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.bounds.tightened_margins import tightened_margins
from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.algorithms.subtraction.integers import (
    binomials,
    product_of_polynomials,
    unpacked,
)
from gamekeeper.algorithms.subtraction.lattice import lattice_counts
from gamekeeper.algorithms.subtraction.oracle import RecoveryOracle, checked_truth
from gamekeeper.algorithms.subtraction.parts import ReleasePart, release_parts
from gamekeeper.algorithms.subtraction.probability import (
    EXACT_POPULATION,
    numbers_of_people,
    samples_with_zero,
)
from gamekeeper.algorithms.subtraction.recovered_zeros import RecoveredZeros, samples_by_zeros
from gamekeeper.algorithms.subtraction.release import (
    MAX_SAMPLES,
    check_options,
    largest_search,
    too_large,
)
from gamekeeper.algorithms.subtraction.sampling import Drawing, sampled_zeros

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_BITS = 50_000_000


@dataclass(frozen=True, eq=False)
class ReleaseZeros:
    """How many zeros of a release are recovered, and where.

    Attributes
    ----------
    zeros
        The distribution and the expectation of the number of recovered zeros.
    cells
        The probability for each cell, with an axis for the numbers of known people in front.
    draws
        How many orderings of the people were drawn, 0 if none.
    """

    zeros: RecoveredZeros
    cells: Floats
    draws: int = 0


def release_zeros(
    constraints: CountConstraints,
    truth: ArrayLike,
    *,
    n: Iterable[int] | None = None,
    method: str = "auto",
    max_samples: int = MAX_SAMPLES,
    max_bits: int = MAX_BITS,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ReleaseZeros:
    """Return the distribution of the number of recovered zeros and the probability of each cell.

    Parameters
    ----------
    constraints, truth, n, method, max_samples, draws, confidence, seed
        As for `release_risk`.
    max_bits
        The size of the whole distribution up to which it is exact.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [2, 1]), ((1,), [1, 2])])
    >>> found = release_zeros(known, [[1, 1], [0, 1]], n=[1])
    >>> [str(p) for p in found.zeros.fractions[0]], found.cells.round(3).tolist()
    (['1/3', '0', '2/3', '0', '0'], [[[0.333, 0.0], [0.667, 0.333]]])
    """
    check_options(method, draws, confidence)
    true = checked_truth(constraints, truth)
    population = int(true.sum())
    asked = numbers_of_people(n, population)
    shape = (len(asked), *constraints.shape)
    constraints = tightened_margins(constraints)
    if method != "sampling":
        parts = release_parts(constraints, true)
        largest = largest_search([part.truth for part in parts if part.rule is None])
        bits = 8 * (population // 8 + 1) * (constraints.size + 1) * (population + 1)
        fits = largest <= max_samples and bits <= max_bits
        if fits and population <= EXACT_POPULATION:
            zeros, cells = _exact_zeros(parts, len(true), asked)
            return ReleaseZeros(zeros, cells.reshape(shape))
        if method == "exact":
            raise too_large(population, largest, max_samples, bits, max_bits)
    zeros, cells = sampled_zeros(constraints, true, asked, Drawing(draws, confidence, seed))
    return ReleaseZeros(zeros, cells.reshape(shape), draws)


def _exact_zeros(
    parts: list[ReleasePart], n_cells: int, asked: Integers
) -> tuple[RecoveredZeros, Floats]:
    population = sum(int(part.truth.sum()) for part in parts)
    n_known = np.minimum(asked, population)
    of = binomials(population)
    cells = np.zeros((len(asked), n_cells))
    tables: list[list[list[int]]] = []
    for part in parts:
        by_zeros, by_cell = _part_zeros(part)
        tables.append(by_zeros)
        rest = binomials(population - int(part.truth.sum()))
        for place, numbers in zip(part.cells, by_cell, strict=True):
            if any(numbers):
                whole = product_of_polynomials([numbers, rest], population)
                cells[:, place] = [float(Fraction(whole[int(k)], of[int(k)])) for k in n_known]
    return RecoveredZeros.exactly(asked, _combined(tables, population), population), cells


def _part_zeros(part: ReleasePart) -> tuple[list[list[int]], list[list[int]]]:
    """Return numbers of samples by size and number of zeros, and by cell and size."""
    if part.rule is None:
        counts = lattice_counts(RecoveryOracle(part.constraints, part.truth))
        by_size = [list(row) for row in zip(*counts.by_zeros, strict=True)]
        return by_size, [list(row) for row in counts.by_cell]
    by_cell: list[list[int]] = []
    for cell in range(len(part.cells)):
        only = np.zeros(len(part.cells), np.bool_)
        only[cell] = True
        by_cell.append(samples_with_zero(part.rule, only))
    return samples_by_zeros(part.rule), by_cell


def _combined(tables: list[list[list[int]]], population: int) -> list[list[int]]:
    """Return the product of polynomials in the numbers of zeros and of people."""
    n_zeros = sum(len(table[0]) - 1 for table in tables)
    width = 8 * (population // 8 + 1)
    step = width * (n_zeros + 1)
    value = 1
    for table in tables:
        value *= sum(
            number << (step * people + width * zeros)
            for people, row in enumerate(table)
            for zeros, number in enumerate(row)
        )
    flat = unpacked(value, width, (n_zeros + 1) * (population + 1))
    return [flat[at : at + n_zeros + 1] for at in range(0, len(flat), n_zeros + 1)]
