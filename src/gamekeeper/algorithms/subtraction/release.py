"""SAP of any release: several margins, exact, suppressed, rounded or perturbed.

A release is a set of limits on sums of a base table. If it is one table, alone or with its total,
there is a formula (`probability`). Otherwise it is cut into parts that do not bear on each other:
cells bear on each other when they share a published sum. Tables that fit a release are put together
from tables that fit each of its parts, so whether a zero is recovered in a cell depends on the
known people of its own part alone, and numbers of samples that recover no zero are products of
polynomials, one for each part. Parts whose sums are single cells, or single cells and their total,
use the formula, and the samples of the others are searched, which is exact as well. Where a part
has too many samples, orderings of the whole population are drawn instead (`sampling`), and the
answer says so.

Zeros may be counted within some cells only: those of a category, or of the conditional table of a
key. And known people may be of some cells only: the neighbours of one area, seen against everything
that is published about all areas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.bounds.integer_bounds import tightened_margins
from gamekeeper.algorithms.linear.components import connected
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
)
from gamekeeper.algorithms.subtraction import probability, sampling
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import did_you_mean, digits_text, magnitude_text, quoted

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ReleasePart:
    """Cells of a release that bear on each other, by their flat numbers in the base table.

    `constraints` is what is published about them, as a table with one axis; `rule` says when zeros
    are recovered, where the part is a table alone or with its total.
    """

    cells: Integers
    truth: Integers = field(repr=False)
    constraints: CountConstraints
    rule: probability.RecoveryRule | None


def release_parts(constraints: CountConstraints, truth: Integers) -> list[ReleasePart]:
    """Return the parts of a release; all cells that nothing else bears on are one part.

    Examples
    --------
    >>> known = CountConstraints.of(
    ...     (2, 2), [((0, 1), [[0, 0], [1, 1]], [[2, 2], [3, 3]]), ((0,), [1, 4])]
    ... )
    >>> [part.cells.tolist() for part in release_parts(known, np.array([1, 0, 2, 2]))]
    [[0, 1], [2, 3]]
    """
    rows = constraints.rows
    lengths = np.diff(rows.starts)
    telling = _tells(constraints)
    tells = telling & (lengths > 1)
    of_row = np.repeat(np.arange(len(rows)), lengths)
    kept = tells[of_row]
    numbers, _ = connected(of_row[kept], rows.cells[kept], len(rows), constraints.size)
    alone = np.bincount(numbers)[numbers] == 1
    members = [np.flatnonzero(alone)] if alone.any() else []
    together = np.flatnonzero(~alone)
    order = together[np.argsort(numbers[together], kind="stable")]
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    members += np.split(order, cuts) if len(order) else []
    return [_part(constraints, truth[cells], cells, telling) for cells in members]


def release_rule(constraints: CountConstraints, truth: Integers) -> probability.RecoveryRule | None:
    """Return when zeros are recovered if the release is a table, alone or with its total.

    Examples
    --------
    >>> known = CountConstraints.of((2,), [((0,), [1, 1], [9, 9]), ((), 0, 4)])
    >>> release_rule(known, np.array([3, 1])).unsure.tolist()
    [True, False]
    """
    rows = constraints.rows
    lengths = np.diff(rows.starts)
    single = lengths == 1
    total = (lengths == constraints.size) & ~single
    tells = _tells(constraints)
    if np.any(tells & ~single & ~total):
        return None
    lower, upper = _single_limits(constraints, single)
    total &= tells
    total_upper = int(rows.upper[total].min()) if total.any() else None
    return probability.recovery_rule(truth, upper, lower=lower, total_upper=total_upper)


def _tells(constraints: CountConstraints) -> NDArray[np.bool_]:
    """Whether each sum tells something that the limits of its single cells do not.

    The margins of an exact table tell nothing more than the table, whoever is taken out of it: what
    follows from other sums still follows when cells are known to be larger.
    """
    rows = constraints.rows
    lengths = np.diff(rows.starts)
    single = lengths == 1
    tells = (rows.lower > 0) | (rows.upper < UNBOUNDED)
    if not len(rows) or not single.any():
        return tells
    lower, upper = _single_limits(constraints, single)
    of_row = np.repeat(np.arange(len(rows)), lengths)
    least = np.bincount(of_row, lower[rows.cells], minlength=len(rows))
    most = np.bincount(of_row, upper[rows.cells].astype(np.float64), minlength=len(rows))
    # In floating point: counts are below 2**53, and what is larger is no proof.
    is_exact = most < UNBOUNDED
    follows = is_exact & (least >= rows.lower) & (most <= rows.upper)
    return tells & (single | ~follows)


def _single_limits(
    constraints: CountConstraints, single: NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """Return the limits of cells by the rows that have no other cell."""
    rows = constraints.rows
    lower = np.zeros(constraints.size, np.int64)
    upper = np.full(constraints.size, UNBOUNDED, np.int64)
    cells = rows.cells[rows.starts[:-1][single]]
    np.maximum.at(lower, cells, rows.lower[single])
    np.minimum.at(upper, cells, rows.upper[single])
    return lower, upper


def _part(
    constraints: CountConstraints, truth: Integers, cells: Integers, telling: NDArray[np.bool_]
) -> ReleasePart:
    margins: list[CountMargin] = []
    before = 0
    for margin in constraints.margins:
        sums, groups = np.unique(margin.cells[cells], return_inverse=True)
        # A sum that tells nothing may reach beyond the part.
        tells = telling[before : before + margin.lower.size][sums]
        lower = np.where(tells, margin.lower.reshape(-1)[sums], 0)
        upper = np.where(tells, margin.upper.reshape(-1)[sums], UNBOUNDED)
        before += margin.lower.size
        margins.append(CountMargin((groups.reshape(-1),), lower, upper))
    part = CountConstraints((len(cells),), tuple(margins))
    return ReleasePart(cells, truth, part, release_rule(part, truth))


METHODS = ("auto", "exact", "sampling")
MAX_SAMPLES = 2_000_000
"""The number of samples of a part, as counts per cell, up to which all are searched."""

_MOST_DRAWS = 100_000_000


def release_risk(
    constraints: CountConstraints,
    truth: ArrayLike,
    *,
    n: Iterable[int] | None = None,
    method: str = "auto",
    max_samples: int = MAX_SAMPLES,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> probability.SubtractionRisk:
    """Return SAP of a release.

    - `n`: the numbers of known people; from 0 to the population if not given.
    - `method`: 'exact', 'sampling', or 'auto': exact where it can be done within `max_samples`, the
      number of samples of a part up to which all of them are searched. Exact means that nothing is
      drawn; above a population of 2,000 it is in floating point with a stated error.
    - `draws`, `confidence`, `seed`: the number of orderings drawn, the confidence of the interval
      for each n, and the seed. Progress is in orderings.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [2, 1]), ((1,), [1, 2])])
    >>> [str(value) for value in release_risk(known, [[1, 1], [0, 1]]).fractions]
    ['0', '2/3', '1', '1']
    """
    true = sampling.checked_truth(constraints, truth)
    search = _Search(
        constraints, true, method, max_samples, sampling.Drawing(draws, confidence, seed, progress)
    )
    everywhere = np.ones(true.size, np.bool_)
    return search.risk(None if n is None else list(n), everywhere, everywhere)


def release_group_risks(
    constraints: CountConstraints,
    truth: ArrayLike,
    groups: Integers,
    *,
    n: Iterable[int] | None = None,
    own_people: bool = False,
    method: str = "auto",
    max_samples: int = MAX_SAMPLES,
    draws: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[probability.SubtractionRisk]:
    """Return for each group of cells the probability that a zero is recovered within it.

    The groups of cells are numbered from 0, as `cell_groups` gives them. By default n people are
    known of the whole population; with `own_people` n people of the group, and nobody else. What is
    published about other groups counts in both cases. Progress is in groups.

    Examples
    --------
    Two areas, their people by a variable of two categories, and the sums over the areas.

    >>> known = CountConstraints.of((2, 2), [((0,), [2, 1]), ((1,), [1, 2])])
    >>> areas = np.array([[0, 0], [1, 1]])
    >>> for own in (False, True):
    ...     found = release_group_risks(known, [[1, 1], [0, 1]], areas, n=[1], own_people=own)
    ...     print([str(risk.fractions[0]) for risk in found])
    ['1/3', '2/3']
    ['1/2', '1']
    """
    true = sampling.checked_truth(constraints, truth)
    flat = np.asarray(groups).reshape(-1)
    search = _Search(
        constraints, true, method, max_samples, sampling.Drawing(draws, confidence, seed)
    )
    listed = None if n is None else list(n)
    everywhere = np.ones(true.size, np.bool_)
    n_groups = int(flat.max(initial=-1)) + 1
    risks: list[probability.SubtractionRisk] = []
    for group in range(n_groups):
        cells = flat == group
        risks.append(search.risk(listed, cells, cells if own_people else everywhere))
        if progress is not None:
            progress(group + 1, n_groups)
    return risks


class _Search:
    """What is worked out once for all questions about a release."""

    def __init__(
        self,
        constraints: CountConstraints,
        truth: Integers,
        method: str,
        max_samples: int,
        drawing: sampling.Drawing,
    ) -> None:
        check_options(method, drawing.draws, drawing.confidence)
        self._truth = truth
        self._method, self._max_samples, self._drawing = method, max_samples, drawing
        self._rule: probability.RecoveryRule | None = None
        self._parts: list[ReleasePart] = []
        if method != "sampling":
            self._rule = release_rule(constraints, truth)
        self._constraints = constraints
        if self._rule is None:
            self._constraints = tightened_margins(constraints)
            if method != "sampling":
                self._parts = release_parts(self._constraints, truth)

    def risk(self, n: list[int] | None, within: Mask, among: Mask) -> probability.SubtractionRisk:
        """Return SAP for zeros within some cells, where people of some cells can be known."""
        within = within & among
        population = int(self._truth[among].sum())
        asked = probability.numbers_of_people(n, population)
        if self._rule is not None:
            rule = self._rule if among.all() else self._rule.subset(among)
            return probability.subtraction_risk(rule, n=asked.tolist(), within=within[among])
        if self._method != "sampling":
            known = [
                _KnownPart(part, within[part.cells], among[part.cells]) for part in self._parts
            ]
            largest = largest_search([part.people for part in known if part.rule is None])
            if largest <= self._max_samples:
                return _risk_of_parts(known, population, asked)
            if self._method == "exact":
                raise too_large(population, largest, self._max_samples)
        return sampling.sampled_risk(
            self._constraints, self._truth, asked, self._drawing, within=within, among=among
        )


class _KnownPart:
    """A part of a release with the people who can be known, and the cells whose zeros count."""

    def __init__(self, part: ReleasePart, within: Mask, among: Mask) -> None:
        self.people = np.where(among, part.truth, 0)
        self.rule: probability.RecoveryRule | None = None
        self._part, self._within, self._among = part, within, among
        if part.rule is not None:
            self.rule = part.rule.subset(among)
            self._within = within[among]

    @property
    def population(self) -> int:
        return int(self.people.sum())

    def samples_without_zero(self) -> list[int]:
        """Return for each number of known people how many samples recover no zero."""
        of = probability.binomials(self.population)
        if not self._within.any():
            return of
        if self.rule is not None:
            recovered = probability.samples_with_zero(self.rule, self._within)
            return [a - b for a, b in zip(of, recovered, strict=True)]
        part = self._part
        oracle = sampling.RecoveryOracle(
            part.constraints, part.truth, within=self._within, among=self._among
        )
        return list(sampling.lattice_counts(oracle).by_zeros[0])

    def curve(self) -> Floats:
        """Return SAP of the part by itself, from nobody to everybody of it known."""
        if self.rule is not None:
            return probability.subtraction_risk(self.rule, within=self._within).values
        of = probability.binomials(self.population)
        pairs = zip(of, self.samples_without_zero(), strict=True)
        return np.array([float(Fraction(a - b, a)) for a, b in pairs])


def _risk_of_parts(
    parts: list[_KnownPart], population: int, asked: Integers
) -> probability.SubtractionRisk:
    """Return SAP from its parts, exactly up to a population and beyond it in floating point."""
    n_searched = sum(part.rule is None for part in parts)
    method = "by a search of all samples" if n_searched else "by a generating function"
    if len(parts) > 1:
        method += f" of {n_searched} of {len(parts)} parts" if n_searched else " for each part"
    n_known = np.minimum(asked, population)
    if population > probability.EXACT_POPULATION:
        values = np.clip(
            probability.some_part_recovered([part.curve() for part in parts], n_known), 0.0, 1.0
        )
        n_floats = 1 + sum(part.population > probability.EXACT_POPULATION for part in parts)
        error = n_floats * probability.ERROR
        return probability.SubtractionRisk(
            asked, values, population, f"in floating point, {method}, error below {digits_text(error, 1)}",
            np.maximum(values - error, 0.0), np.minimum(values + error, 1.0),
        )  # fmt: skip
    without = probability.product_of_polynomials(
        [part.samples_without_zero() for part in parts], population
    )
    every = [
        Fraction(a - b, a) for a, b in zip(probability.binomials(population), without, strict=True)
    ]
    return probability.SubtractionRisk.exactly(
        asked,
        tuple(every[int(k)] for k in n_known),
        population,
        f"exact, {method}",
        next((k for k, value in enumerate(every) if value > 0), None),
        next((k for k, value in enumerate(every) if value == 1), None),
    )


def largest_search(parts: list[Integers]) -> float:
    """Return the number of samples of the largest of the parts that are to be searched.

    Each part is given by its true counts. Numbers of samples of more than some thousand people are
    integers of thousands of digits, and there is one for each: such parts count as endless.
    """
    return max(
        (
            sampling.lattice_size(truth)
            if truth.sum() <= probability.EXACT_POPULATION
            else math.inf
            for truth in parts
        ),
        default=0.0,
    )


def too_large(
    population: int, largest: float, max_samples: int, bits: int = 0, max_bits: int = 0
) -> LimitError:
    """Return the refusal of a search that would take too many samples."""
    magnitude = "too many" if math.isinf(largest) else magnitude_text(largest)
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
        "Use the method 'sampling' or 'auto', or raise the limit"
        f" ({'--max-bits' if largest <= max_samples else '--max-samples'} at the prompt).",
    )


def check_options(method: str, draws: int, confidence: float) -> None:
    """Refuse options that cannot be used."""
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
    if draws > _MOST_DRAWS:
        error = math.sqrt(math.log(2 / (1 - confidence)) / (2 * _MOST_DRAWS))
        raise LimitError(
            Reason.TOO_LARGE,
            f"{draws:,} orderings of the people were to be drawn.",
            f"The limit is {_MOST_DRAWS:,}: with these, no probability is off by more than"
            f" {digits_text(error, 1)}, and each takes a search.",
            "Draw fewer (--draws of tables sap); some thousand do.",
        )
