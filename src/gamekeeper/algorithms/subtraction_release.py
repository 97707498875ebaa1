"""SAP of any release: several margins, exact, suppressed, rounded or perturbed.

A release is a set of limits on sums of a base table. If it is one table, alone or with its total,
there is a formula (`subtraction`). Otherwise it is cut into parts that do not bear on each other;
parts that are such tables use the formula, and the samples of the others are searched, which is
exact as well (`subtraction_lattice`). Where a part has too many samples, orderings of the whole
population are drawn instead (`subtraction_sampling`), and the answer says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.count_constraints import CountConstraints
from gamekeeper.algorithms.recovered_zeros import RecoveredZeros, samples_by_zeros
from gamekeeper.algorithms.subtraction import (
    EXACT_POPULATION,
    SubtractionRisk,
    numbers_of_people,
    samples_with_zero,
    subtraction_risk,
)
from gamekeeper.algorithms.subtraction_floats import ERROR, some_part_recovered
from gamekeeper.algorithms.subtraction_integers import (
    binomials,
    product_of_polynomials,
    unpacked,
)
from gamekeeper.algorithms.subtraction_lattice import lattice_counts, lattice_size
from gamekeeper.algorithms.subtraction_oracle import RecoveryOracle, checked_truth
from gamekeeper.algorithms.subtraction_parts import ReleasePart, release_parts, release_rule
from gamekeeper.algorithms.subtraction_sampling import Drawing, sampled_risk, sampled_zeros
from gamekeeper.algorithms.tightened_margins import tightened_margins
from gamekeeper.errors import InputError, LimitError, Reason, did_you_mean, quoted
from gamekeeper.results import Progress

__all__ = ["METHODS", "ReleaseZeros", "release_risk", "release_zeros"]

METHODS = ("auto", "exact", "sampling")
MAX_SAMPLES = 2_000_000
"""The number of samples of a part, as counts per cell, up to which all are searched."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ReleaseZeros:
    """How many zeros of a release are recovered, and where.

    Attributes
    ----------
    zeros
        The distribution and the expectation of the number of recovered zeros.
    cells
        The probability for each cell, with an axis for the numbers of known people in front.
    method
        How it was worked out, in words.
    draws
        How many orderings of the people were drawn, 0 if none.
    """

    zeros: RecoveredZeros
    cells: Floats
    method: str
    draws: int = 0


def release_risk(
    constraints: CountConstraints,
    truth: ArrayLike,
    *,
    n: Iterable[int] | None = None,
    within: ArrayLike | None = None,
    method: str = "auto",
    max_samples: int = MAX_SAMPLES,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> SubtractionRisk:
    """Return SAP of a release.

    Parameters
    ----------
    constraints
        What is published.
    truth
        The true table.
    n
        The numbers of known people; from 0 to the population if not given.
    within
        The cells whose zeros count, as a mask: those of a category, or of a key for its conditional
        table. All cells if not given.
    method
        'exact', 'sampling', or 'auto': exact where it can be done within `max_samples`. Exact means
        that nothing is drawn; above a population of 2,000 it is in floating point with a stated
        error.
    max_samples
        The number of samples of a part of the release up to which all of them are searched.
    draws, confidence, seed
        The number of orderings drawn, the confidence of the interval for each n, and the seed.
    progress
        Called with the number of orderings done and of all of them.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [2, 1]), ((1,), [1, 2])])
    >>> [str(value) for value in release_risk(known, [[1, 1], [0, 1]]).fractions]
    ['0', '2/3', '1', '1']
    """
    _check_options(method, draws, confidence)
    true = checked_truth(constraints, truth)
    cells = _mask(within, true.size)
    population = int(true.sum())
    asked = numbers_of_people(n, population)
    if method != "sampling":
        rule = release_rule(constraints, true)
        if rule is not None:
            return subtraction_risk(rule, n=asked.tolist(), within=cells)
    constraints = tightened_margins(constraints)
    if method != "sampling":
        parts = release_parts(constraints, true)
        largest = _largest_search(parts)
        if largest <= max_samples:
            return _risk_of_parts(parts, population, asked, cells)
        if method == "exact":
            raise _too_large(population, largest, max_samples)
    drawing = Drawing(draws, confidence, seed, progress)
    return sampled_risk(constraints, true, asked, drawing, within=cells)


def release_zeros(
    constraints: CountConstraints,
    truth: ArrayLike,
    *,
    n: Iterable[int] | None = None,
    method: str = "auto",
    max_samples: int = MAX_SAMPLES,
    max_bits: int = 50_000_000,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> ReleaseZeros:
    """Return the distribution of the number of recovered zeros and the probability of each cell.

    Parameters
    ----------
    constraints, truth, n, method, max_samples, draws, confidence, seed, progress
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
    _check_options(method, draws, confidence)
    true = checked_truth(constraints, truth)
    population = int(true.sum())
    asked = numbers_of_people(n, population)
    shape = (len(asked), *constraints.shape)
    constraints = tightened_margins(constraints)
    if method != "sampling":
        parts = release_parts(constraints, true)
        largest = _largest_search(parts)
        bits = 8 * (population // 8 + 1) * (constraints.size + 1) * (population + 1)
        fits = largest <= max_samples and bits <= max_bits
        if fits and population <= EXACT_POPULATION:
            zeros, cells = _exact_zeros(parts, len(true), asked)
            return ReleaseZeros(zeros, cells.reshape(shape), "exact, by a search of all samples")
        if method == "exact":
            raise _too_large(population, largest, max_samples, bits, max_bits)
    drawing = Drawing(draws, confidence, seed, progress)
    zeros, cells = sampled_zeros(constraints, true, asked, drawing)
    return ReleaseZeros(zeros, cells.reshape(shape), drawing.words, draws)


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
    numbers = _combined(tables, population)
    fractions = tuple(
        tuple(Fraction(number, of[int(k)]) for number in numbers[int(k)]) for k in n_known
    )
    expected = tuple(
        sum((zeros * p for zeros, p in enumerate(row)), Fraction(0)) for row in fractions
    )
    zeros = RecoveredZeros(
        asked,
        np.array([[float(p) for p in row] for row in fractions]).reshape(len(asked), -1),
        np.array([float(value) for value in expected]),
        fractions,
        expected,
    )
    return zeros, cells


def _risk_of_parts(
    parts: list[ReleasePart], population: int, asked: Integers, within: Mask
) -> SubtractionRisk:
    """Return SAP from its parts, exactly up to a population and beyond it in floating point."""
    n_searched = sum(part.rule is None for part in parts)
    method = "by a search of all samples" + (
        f" of {n_searched} of {len(parts)} parts" if len(parts) > 1 else ""
    )
    n_known = np.minimum(asked, population)
    if population > EXACT_POPULATION:
        curves = [_curve(part, within[part.cells]) for part in parts]
        values = np.clip(some_part_recovered(curves, n_known), 0.0, 1.0)
        n_floats = 1 + sum(int(part.truth.sum()) > EXACT_POPULATION for part in parts)
        error = n_floats * ERROR
        return SubtractionRisk(
            asked, values, population, f"in floating point, {method}, error below {error:.0e}",
            np.maximum(values - error, 0.0), np.minimum(values + error, 1.0),
        )  # fmt: skip
    factors = [_samples_without_zero(part, within[part.cells]) for part in parts]
    without = product_of_polynomials(factors, population)
    every = [Fraction(a - b, a) for a, b in zip(binomials(population), without, strict=True)]
    fractions = tuple(every[int(k)] for k in n_known)
    values = np.array([float(value) for value in fractions])
    return SubtractionRisk(
        asked, values, population, f"exact, {method}", values, values, fractions,
        next((k for k, value in enumerate(every) if value > 0), None),
        next((k for k, value in enumerate(every) if value == 1), None),
    )  # fmt: skip


def _samples_without_zero(part: ReleasePart, within: Mask) -> list[int]:
    """Return for each number of people of a part how many samples recover no zero."""
    if part.rule is None:
        oracle = RecoveryOracle(part.constraints, part.truth, within=within)
        return list(lattice_counts(oracle).by_zeros[0])
    recovered = samples_with_zero(part.rule, within)
    of = binomials(part.rule.population)
    return [a - b for a, b in zip(of, recovered, strict=True)]


def _curve(part: ReleasePart, within: Mask) -> Floats:
    """Return SAP of a part by itself, from nobody to everybody of it known."""
    if part.rule is not None:
        return subtraction_risk(part.rule, within=within).values
    of = binomials(int(part.truth.sum()))
    pairs = zip(of, _samples_without_zero(part, within), strict=True)
    return np.array([float(Fraction(a - b, a)) for a, b in pairs])


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


def _largest_search(parts: list[ReleasePart]) -> float:
    """Return the number of samples of the largest part to be searched.

    Numbers of samples of more than some thousand people are integers of thousands of digits, and
    there is one for each: such parts count as endless.
    """
    return max(
        (
            lattice_size(part.truth) if part.truth.sum() <= EXACT_POPULATION else math.inf
            for part in parts
            if part.rule is None
        ),
        default=0.0,
    )


def _too_large(
    population: int, largest: float, max_samples: int, bits: int = 0, max_bits: int = 0
) -> LimitError:
    magnitude = f"{largest:,.0f}" if largest < 1e9 else f"about {largest:.0e}"
    if math.isinf(largest):
        magnitude = "too many"
    found = (
        f"There are {population:,} people, and {magnitude} samples to search with a limit of "
        f"{max_samples:,} (max_samples)."
    )
    if bits > max_bits:
        found += f" Numbers of zeros take {bits:,} bits with a limit of {max_bits:,} (max_bits)."
    return LimitError(
        Reason.TOO_LARGE,
        "Exact probabilities of recovering zeros of a release were asked for.",
        found,
        "Use the method 'sampling' or 'auto', or raise the limit.",
    )


def _mask(within: ArrayLike | None, size: int) -> Mask:
    if within is None:
        return np.ones(size, np.bool_)
    cells = np.asarray(within)
    if cells.dtype != np.bool_ or cells.size != size:
        raise InputError(
            Reason.MALFORMED,
            "The probability of recovering zeros within some cells was asked for.",
            f"The cells are given as {cells.size:,} values of the type {cells.dtype}.",
            f"Give a mask, true or false for each of the {size:,} cells.",
        )
    return cells.reshape(-1)


def _check_options(method: str, draws: int, confidence: float) -> None:
    if method not in METHODS:
        raise InputError(
            Reason.BAD_OPTION,
            f"The method {quoted([method])} was asked for.",
            "There is no such method.",
            did_you_mean(method, METHODS),
        )
    if draws < 1 or not 0 < confidence < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"{draws:,} draws with a confidence of {confidence} were asked for.",
            "At least one draw and a confidence between 0 and 1 are needed.",
            "Draw some thousand orderings, with a confidence such as 0.95.",
        )
