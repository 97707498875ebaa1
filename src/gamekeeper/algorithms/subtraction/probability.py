"""The subtraction attribution probability, SAP: somebody who knows n people recovers a zero.

SAP(n) is the probability that at least one zero is recovered when a simple random sample of n
people of the population is known (Smith's thesis, chapter 3; Smith and Elliot 2003). When a zero
is recovered is the matter of `recovery_rule`. With q(S, F) for the probability that all cells of F
are fully known and no cell of S is (0 if they overlap), R for the relevant cells and D for the
unsure ones, the probability that a zero is recovered within some cells G is

    1 - q(R & G, {}) + q(R & G, D) - q(G, D)

without the last two terms where the total gives nothing away. G is the whole table for SAP, the
cells of a category, or those of one key: the conditional table of people who share the values of
the key variables. q comes from a generating function instead of inclusion and exclusion, with exact
rationals up to a population of 2,000 (`integers`) and beyond that in floating point
with an absolute error below 1e-12 (`floats`). SAP never falls as n grows, and n above
the population means everybody is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.subtraction.floats import ERROR, all_known, some_cell_known
from gamekeeper.algorithms.subtraction.integers import binomials, samples_without_full_cells
from gamekeeper.algorithms.subtraction.recovery_rule import RecoveryRule
from gamekeeper.errors import InputError, Reason

EXACT_POPULATION = 2_000
"""Up to this population answers are exact rationals unless asked for otherwise."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SubtractionRisk:
    """The probability that a zero is recovered, for each number of known people.

    Attributes
    ----------
    n
        The numbers of known people that were asked for.
    population
        The number of people in the table.
    method
        How it was worked out, in words.
    fractions
        The probabilities as exact rationals, where they are.
    lower, upper
        What the probabilities lie between: equal to them if exact, the stated error wide in
        floating point, a confidence interval where samples were drawn.
    possible_from, certain_from
        The smallest numbers of people for which the probability is above 0 and equal to 1; None if
        there is none, or where samples do not tell.
    draws
        How many samples were drawn, 0 if none.
    """

    n: Integers
    values: Floats
    population: int
    method: str
    lower: Floats
    upper: Floats
    fractions: tuple[Fraction, ...] | None = None
    possible_from: int | None = None
    certain_from: int | None = None
    draws: int = 0

    @classmethod
    def exactly(
        cls,
        n: Integers,
        fractions: tuple[Fraction, ...],
        population: int,
        method: str,
        possible_from: int | None,
        certain_from: int | None,
    ) -> SubtractionRisk:
        """Return probabilities that are exact rationals."""
        values = np.array([float(value) for value in fractions])
        return cls(
            n, values, population, method, values, values, fractions, possible_from, certain_from
        )

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities are exact rationals."""
        return self.fractions is not None

    def __repr__(self) -> str:
        return (
            f"SubtractionRisk({len(self.n)} numbers of known people of {self.population:,}, "
            f"{self.method})"
        )


def subtraction_risk(
    rule: RecoveryRule,
    *,
    n: Iterable[int] | None = None,
    within: Mask | None = None,
    exact_up_to: int = EXACT_POPULATION,
) -> SubtractionRisk:
    """Return SAP of a published table, alone or with its total.

    Parameters
    ----------
    rule
        When zeros are recovered, see `recovery_rule`.
    n
        The numbers of known people; from 0 to the population if not given.
    within
        The cells whose zeros count; all if not given.
    exact_up_to
        The largest population for which exact rationals are worked out.

    Examples
    --------
    >>> from gamekeeper.algorithms.subtraction.recovery_rule import recovery_rule
    >>> rule = recovery_rule([3, 1], [9, 9], lower=[1, 1], total_upper=4)
    >>> [str(value) for value in subtraction_risk(rule).fractions]
    ['0', '0', '0', '1/4', '1']
    """
    asked = numbers_of_people(n, rule.population)
    cells = np.ones(rule.counts.shape, np.bool_) if within is None else within
    return _risk_within(rule, cells, asked, exact=rule.population <= exact_up_to)


def cell_recovery(rule: RecoveryRule, *, n: Iterable[int] | None = None) -> Floats:
    """Return the probability of a recovered zero in each cell, with an axis for n in front.

    The sum over the cells is the expected number of recovered zeros.

    Examples
    --------
    >>> from gamekeeper.algorithms.subtraction.recovery_rule import recovery_rule
    >>> cell_recovery(recovery_rule([1, 2, 3], [1, 2, 4]), n=[3]).tolist()
    [[0.5, 0.2, 0.0]]
    """
    population = rule.population
    asked = numbers_of_people(n, population)
    n_known = np.minimum(asked, population)
    needed = rule.counts.copy()
    recoverable = rule.relevant
    if rule.unsure is not None:
        first = int(rule.counts[rule.unsure].sum())
        either = np.where(rule.unsure, first, rule.counts + first)
        needed = np.where(rule.relevant, rule.counts, either)
        recoverable = np.ones(rule.counts.shape, np.bool_)
    found = np.zeros((len(asked), *rule.counts.shape))
    for size in np.unique(needed[recoverable]):
        cells = recoverable & (needed == size)
        found[:, cells] = all_known(int(size), population, n_known)[:, None]
    return found


def numbers_of_people(n: Iterable[int] | None, population: int) -> Integers:
    """Return numbers of known people as an array, or refuse them; all of them if none is given."""
    if n is None:
        return np.arange(population + 1)
    listed = np.asarray(list(n))
    wrong = listed.size and (
        listed.ndim != 1 or not np.issubdtype(listed.dtype, np.integer) or bool(listed.min() < 0)
    )
    if wrong:
        raise InputError(
            Reason.BAD_OPTION,
            "The probability of recovering zeros was asked for some numbers of known people.",
            "Not all of them are whole numbers from 0 up.",
            "Give numbers of people, such as 0 to 20.",
        )
    return listed.astype(np.int64)


def _risk_within(
    rule: RecoveryRule, cells: Mask, asked: Integers, *, exact: bool
) -> SubtractionRisk:
    """Return the probability that a zero is recovered within some cells."""
    population = rule.population
    n_known = np.minimum(asked, population)
    possible, certain = _thresholds(rule, cells)
    if exact:
        recovered, of = samples_with_zero(rule, cells), binomials(population)
        whole = {int(k): Fraction(recovered[int(k)], of[int(k)]) for k in n_known}
        fractions = tuple(whole[int(k)] for k in n_known)
        method = "exact, by a generating function"
        return SubtractionRisk.exactly(asked, fractions, population, method, possible, certain)
    values = _floats_within(rule, cells, n_known)
    never = n_known < (population + 1 if possible is None else possible)
    always = n_known >= (population + 1 if certain is None else certain)
    values = np.where(never, 0.0, np.where(always, 1.0, np.clip(values, 0.0, 1.0)))
    return SubtractionRisk(
        asked, values, population, "in floating point, with an error below 1e-12",
        np.where(always, 1.0, np.maximum(values - ERROR, 0.0)),
        np.where(never, 0.0, np.minimum(values + ERROR, 1.0)), None, possible, certain,
    )  # fmt: skip


def samples_with_zero(rule: RecoveryRule, cells: Mask) -> list[int]:
    """Return for each n the number of samples in which a zero is recovered within some cells.

    Examples
    --------
    >>> from gamekeeper.algorithms.subtraction.recovery_rule import recovery_rule
    >>> samples_with_zero(recovery_rule([1, 2], [1, 2]), np.array([True, True]))
    [0, 1, 3, 1]
    """
    population = rule.population
    found = binomials(population)
    without = samples_without_full_cells(_sizes(rule, rule.relevant & cells), population)
    found = [a - b for a, b in zip(found, without, strict=True)]
    if rule.unsure is None:
        return found
    first = int(rule.counts[rule.unsure].sum())
    for sign, none_of in ((1, rule.relevant & cells), (-1, cells)):
        if np.any(none_of & rule.unsure):
            continue
        rest = samples_without_full_cells(_sizes(rule, none_of), population - first)
        for k, number in enumerate(rest):
            found[first + k] += sign * number
    return found


def _floats_within(rule: RecoveryRule, cells: Mask, n_known: Integers) -> Floats:
    population = rule.population
    found = some_cell_known(_sizes(rule, rule.relevant & cells), population, n_known)
    if rule.unsure is None:
        return found
    first = int(rule.counts[rule.unsure].sum())
    enough = n_known >= first
    more = n_known[enough] - first
    added = np.zeros(len(more))
    for sign, none_of in ((1, rule.relevant & cells), (-1, cells)):
        if not np.any(none_of & rule.unsure):
            rest = some_cell_known(_sizes(rule, none_of), population - first, more)
            added += sign * (1.0 - rest)
    found[enough] += all_known(first, population, n_known[enough]) * added
    return found


def _thresholds(rule: RecoveryRule, cells: Mask) -> tuple[int | None, int | None]:
    """Return from how many people a zero can be recovered within some cells, and must be."""
    sizes = _sizes(rule, rule.relevant & cells)
    fewest = [min(sizes)] if sizes else []
    left_out = len(sizes) if 0 not in sizes else None
    if rule.unsure is not None and cells.any():
        first = int(rule.counts[rule.unsure].sum())
        inside = np.any(rule.unsure & cells)
        fewest.append(first if inside else first + int(rule.counts[cells].min()))
        if left_out is not None and not np.any(rule.unsure & rule.relevant & cells):
            # No zero is recovered while one of the unsure people is left out, or one of each cell.
            one_of_each = int(cells.sum()) if rule.counts[cells].min() > 0 else left_out + 1
            left_out = min(left_out + 1, one_of_each)
    if not fewest:
        return None, None
    return min(fewest), 0 if left_out is None else rule.population - left_out + 1


def _sizes(rule: RecoveryRule, cells: Mask) -> list[int]:
    return [int(size) for size in rule.counts[cells]]
