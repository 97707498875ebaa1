"""How many zeros of any release are recovered, in which cells, and how well schemes protect zeros.

The same parts and searches as for SAP (`release`), with numbers of samples kept for each
number of zeros and for each cell.

For an experiment tables are drawn with independent Poisson counts, published under a scheme,
perhaps with margins, and SAP is worked out for each table and number of known people (Smith's
thesis, chapter 3, Table 1: 1,200 tables of 2 x 6 cells with mean 2, rounded to base 5 together with
their totals). What is counted are tables per band: exactly 0, up to a tenth, tenths from there on,
exactly 1. A band holds its lower end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.bounds.integer_bounds import tightened_margins
from gamekeeper.algorithms.releases.constraints import CountConstraints
from gamekeeper.algorithms.releases.schemes import Scheme
from gamekeeper.algorithms.subtraction import probability, release, sampling
from gamekeeper.algorithms.subtraction.recovered_zeros import (
    RecoveredZeros,
    samples_by_zeros,
    small_area_risks,
)
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.results import Progress

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_BITS = 50_000_000


@dataclass(frozen=True, eq=False)
class ReleaseZeros:
    """How many zeros of a release are recovered, and where.

    `cells` has the probability for each, with an axis for the numbers of known people in front;
    `draws` says how many orderings of the people were drawn, 0 if none.
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
    max_samples: int = release.MAX_SAMPLES,
    max_bits: int = MAX_BITS,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ReleaseZeros:
    """Return the distribution of the number of recovered zeros and the probability of each cell.

    Options are those of `release_risk`. The whole distribution is exact up to a size of `max_bits`.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [2, 1]), ((1,), [1, 2])])
    >>> found = release_zeros(known, [[1, 1], [0, 1]], n=[1])
    >>> [str(p) for p in found.zeros.fractions[0]], found.cells.round(3).tolist()
    (['1/3', '0', '2/3', '0', '0'], [[[0.333, 0.0], [0.667, 0.333]]])
    """
    release.check_options(method, draws, confidence)
    true = sampling.checked_truth(constraints, truth)
    population = int(true.sum())
    asked = probability.numbers_of_people(n, population)
    shape = (len(asked), *constraints.shape)
    constraints = tightened_margins(constraints)
    if method != "sampling":
        parts = release.release_parts(constraints, true)
        largest = release.largest_search([part.truth for part in parts if part.rule is None])
        bits = 8 * (population // 8 + 1) * (constraints.size + 1) * (population + 1)
        fits = largest <= max_samples and bits <= max_bits
        if fits and population <= probability.EXACT_POPULATION:
            zeros, cells = _exact_zeros(parts, len(true), asked)
            return ReleaseZeros(zeros, cells.reshape(shape))
        if method == "exact":
            raise release.too_large(population, largest, max_samples, bits, max_bits)
    zeros, cells = sampling.sampled_zeros(
        constraints, true, asked, sampling.Drawing(draws, confidence, seed)
    )
    return ReleaseZeros(zeros, cells.reshape(shape), draws)


def _exact_zeros(
    parts: list[release.ReleasePart], n_cells: int, asked: Integers
) -> tuple[RecoveredZeros, Floats]:
    population = sum(int(part.truth.sum()) for part in parts)
    n_known = np.minimum(asked, population)
    of = probability.binomials(population)
    cells = np.zeros((len(asked), n_cells))
    tables: list[list[list[int]]] = []
    for part in parts:
        by_zeros, by_cell = _part_zeros(part)
        tables.append(by_zeros)
        rest = probability.binomials(population - int(part.truth.sum()))
        for place, numbers in zip(part.cells, by_cell, strict=True):
            if any(numbers):
                whole = probability.product_of_polynomials([numbers, rest], population)
                cells[:, place] = [float(Fraction(whole[int(k)], of[int(k)])) for k in n_known]
    return RecoveredZeros.exactly(asked, _combined(tables, population), population), cells


def _part_zeros(part: release.ReleasePart) -> tuple[list[list[int]], list[list[int]]]:
    """Return numbers of samples by size and number of zeros, and by cell and size."""
    if part.rule is None:
        counts = sampling.lattice_counts(sampling.RecoveryOracle(part.constraints, part.truth))
        by_size = [list(row) for row in zip(*counts.by_zeros, strict=True)]
        return by_size, [list(row) for row in counts.by_cell]
    by_cell: list[list[int]] = []
    for cell in range(len(part.cells)):
        only = np.zeros(len(part.cells), np.bool_)
        only[cell] = True
        by_cell.append(probability.samples_with_zero(part.rule, only))
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
    flat = probability.unpacked(value, width, (n_zeros + 1) * (population + 1))
    return [flat[at : at + n_zeros + 1] for at in range(0, len(flat), n_zeros + 1)]


BANDS = ("0", *(f"{k / 10:.1f}-{(k + 1) / 10:.1f}" for k in range(10)), "1")
"""The names of the bands."""


# Correctly rounded, as the probabilities of small tables are.
_MOST_CELLS = 50_000_000
_EDGES = np.array([k / 10 for k in range(1, 10)])


@dataclass(frozen=True, eq=False)
class SubtractionExperiment:
    """SAP (`risks`) of each table for each n, and counts of tables: a row per n, a column per band.

    `n_sampled` is the number of tables whose SAP is estimated from draws.
    """

    n: Integers
    counts: Integers
    risks: Floats
    n_sampled: int = 0

    @property
    def means(self) -> Floats:
        """The mean of SAP over the tables, for each n."""
        return self.risks.mean(axis=0)

    def __repr__(self) -> str:
        return f"SubtractionExperiment({len(self.risks):,} tables, {len(self.n)} numbers of people)"


def subtraction_experiment(
    scheme: Scheme,
    *,
    total: bool = True,
    margins: Sequence[Sequence[int]] | None = None,
    n_tables: int = 1_200,
    shape: Sequence[int] = (2, 6),
    mean: float = 2.0,
    n: Iterable[int] = range(25),
    seed: int = 0,
    progress: Progress | None = None,
) -> SubtractionExperiment:
    """Return SAP of random tables that are published under a scheme.

    The scheme is used for the table and for everything published with it: the total, if `total`, or
    instead of the table and its total the axes of every margin in `margins`. `mean` is the expected
    count per cell, and `seed` is of the counts and of the perturbation. Progress is in tables,
    where margins are given.

    Examples
    --------
    >>> from gamekeeper.algorithms.releases.schemes import Conventional
    >>> found = subtraction_experiment(Conventional(5), n_tables=100, n=[1, 12], seed=1)
    >>> found.counts[0].tolist()
    [100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    >>> bool(found.means[1] > 0.5)
    True
    """
    lengths = tuple(int(length) for length in shape)
    _check_options(n_tables, lengths, mean)
    asked = probability.numbers_of_people(n, 0)
    rng = np.random.default_rng(seed)
    tables = rng.poisson(mean, (n_tables, *lengths))
    if margins is not None:
        return _with_margins(scheme, tables, [tuple(m) for m in margins], asked, rng, progress)
    lower, upper = scheme.limits(scheme.publish(tables, rng))
    most = None
    if total:
        sums = tables.reshape(n_tables, -1).sum(axis=1)
        most = scheme.limits(scheme.publish(sums, rng))[1]
    risks = small_area_risks(tables, upper, n=asked.tolist(), lower=lower, total_upper=most)
    return SubtractionExperiment(asked, _banded(risks), risks)


def band_numbers(risks: Floats) -> Integers:
    """Return the number of the band that each probability is in.

    Examples
    --------
    >>> band_numbers(np.array([0.0, 0.05, 0.1, 0.95, 1.0])).tolist()
    [0, 1, 2, 10, 11]
    """
    band = 1 + np.searchsorted(_EDGES, risks, side="right")
    return np.where(risks == 0, 0, np.where(risks == 1, len(BANDS) - 1, band))


def _banded(risks: Floats) -> Integers:
    """Return the number of tables in each band, for each column of risks."""
    columns = band_numbers(risks).T
    return np.array([np.bincount(column, minlength=len(BANDS)) for column in columns])


def _with_margins(
    scheme: Scheme,
    tables: Integers,
    margins: list[tuple[int, ...]],
    asked: Integers,
    rng: np.random.Generator,
    progress: Progress | None,
) -> SubtractionExperiment:
    shape = tables.shape[1:]
    risks = np.zeros((len(tables), len(asked)))
    n_sampled = 0
    for number, table in enumerate(tables):
        published: list[tuple[tuple[int, ...], Integers, Integers]] = []
        for axes in margins:
            summed = table.sum(axis=tuple(a for a in range(len(shape)) if a not in axes))
            ordered = np.transpose(summed, np.argsort(np.argsort(axes))) if axes else summed
            published.append((axes, *scheme.limits(scheme.publish(ordered, rng))))
        known = CountConstraints.of(shape, published)
        risk = release.release_risk(known, table, n=asked.tolist(), seed=int(rng.integers(2**31)))
        risks[number] = risk.values
        n_sampled += risk.draws > 0
        if progress is not None:
            progress(number + 1, len(tables))
    return SubtractionExperiment(asked, _banded(risks), risks, n_sampled)


def _check_options(n_tables: int, shape: tuple[int, ...], mean: float) -> None:
    problems: list[Problem] = []
    if n_tables < 1:
        problems.append(Problem(Reason.BAD_OPTION, "tables", "fewer than one."))
    if not shape or min(shape) < 1:
        found = "it needs at least one axis, each with a category."
        problems.append(Problem(Reason.BAD_OPTION, "shape", found))
    if not (math.isfinite(mean) and mean >= 0):
        problems.append(Problem(Reason.BAD_OPTION, "mean", "not a number from 0 up."))
    n_cells = n_tables * math.prod(shape)
    if not problems and n_cells > _MOST_CELLS:
        raise LimitError(
            Reason.TOO_LARGE,
            "An experiment with random tables was asked for.",
            f"The tables have {n_cells:,} cells together; the limit is {_MOST_CELLS:,}.",
            "Take fewer tables, or smaller ones.",
        )
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "An experiment with random tables was asked for.",
            "Its options cannot be used.",
            "Give a number of tables, a shape and a mean count per cell.",
            problems=problems,
        )
