"""Strategies for matching a sample with its population: probability of success, cost, efficiency.

Each cell j of the key has a population count F_j and a sample count f_j; N is the population. A
strategy is a direction and a condition P on cells. From population to sample, any unit in a cell
with P is looked for and matched; from sample to population, a random sample unit in a cell with P
is picked and looked for in the population. With sums over the cells with P and A = sum F_j,

    p2s: Pr(cm) = #{f_j > 0} / A             cost (N+1)/(1+A)                      or N/A
    s2p: Pr(cm) = sum (f_j/F_j) / sum f_j    cost (N+1) sum f_j/(1+F_j) / sum f_j  or N Pr(cm)

where cost is the expected number of units searched without and with replacement (urn.py) and
efficiency is Pr(cm) over cost. Smith's thesis, chapter 5, corrected: cells without sample units
are targets that cannot be matched, they never add to the numerator of p2s.

A strategy without target is infeasible: all its values are 0, and it says so. Linear in cells;
exact fractions for small tables, float64 for large ones. Which strategy dominates which:
dominance.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Problem, Reason

Predicate = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]
"""Takes the sample counts f and the population counts F of all cells; true where a cell is used."""

_EXACT_UP_TO = 1_000


class Direction(StrEnum):
    """Where the target is picked, and where it is looked for."""

    S2P = "s2p"
    P2S = "p2s"

    @property
    def words(self) -> str:
        """The direction in words."""
        return "sample to population" if self is Direction.S2P else "population to sample"


@dataclass(frozen=True, slots=True)
class Strategy:
    """A direction and a condition on cells; `number` and `r` as in the thesis, 0 for others."""

    name: str
    direction: Direction
    predicate: Predicate
    number: int = 0
    r: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class StrategyValue:
    """What a strategy achieves: exact fractions or floats, all 0 where it is infeasible.

    `n_cells` are the cells it uses, `n_sampled` those of them with sample units.
    """

    strategy: Strategy
    feasible: bool
    n_cells: int
    n_sampled: int
    pr_cm: Fraction | float
    cost_without: Fraction | float
    cost_with: Fraction | float
    eff_without: Fraction | float
    eff_with: Fraction | float

    @property
    def name(self) -> str:
        """The name of the strategy."""
        return self.strategy.name

    @property
    def direction(self) -> Direction:
        """The direction of the strategy."""
        return self.strategy.direction


@dataclass(frozen=True, slots=True)
class MatchingProbabilities:
    """Measures of the whole file: shares of population uniques and chances of a correct match.

    Those given a sample unique (SU) or a unique match (UM) are 0 where there is no sample unique.
    """

    pr_pu: Fraction | float
    pr_pu_given_su: Fraction | float
    pr_cm_given_um: Fraction | float
    pr_cm_given_su: Fraction | float


def numbered_strategies(r: Iterable[int] = (1, 2, 3)) -> tuple[Strategy, ...]:
    """Return the strategies 1 to 7 of the thesis, 6 and 7 once for each sample count r >= 1.

    Examples
    --------
    >>> [strategy.name for strategy in numbered_strategies(r=[2])]
    ['1', '2', '3', '4', '5', '6,r=2', '7,r=2']
    """
    counts = tuple(dict.fromkeys(r))
    if any(count < 1 for count in counts):
        raise InputError(
            Reason.BAD_OPTION,
            "Strategies 6 and 7 were asked for.",
            "They match sample cells of r units, and an empty cell cannot be matched.",
            "Give each r as 1 or more.",
        )
    s2p, p2s = Direction.S2P, Direction.P2S

    def every(sample: NDArray[Any], population: NDArray[Any]) -> NDArray[np.bool_]:
        return population > 0

    return (
        Strategy("1", s2p, every, 1, words="any sample record"),
        Strategy("2", p2s, every, 2, words="anyone in the population"),
        Strategy(
            "3",
            p2s,
            lambda sample, population: sample > 0,
            3,
            words="anyone who has a match in the sample",
        ),
        Strategy("4", s2p, _of_size(1), 4, 1, "a sample unique"),
        Strategy("5", p2s, _of_size(1), 5, 1, "anyone who matches a sample unique"),
        *(
            Strategy(f"6,r={n}", s2p, _of_size(n), 6, n, f"a record of a class of {n}")
            for n in counts
        ),
        *(
            Strategy(f"7,r={n}", p2s, _of_size(n), 7, n, f"anyone who matches a class of {n}")
            for n in counts
        ),
    )


def custom_strategies(predicates: Mapping[str, Predicate]) -> tuple[Strategy, ...]:
    """Return both directions for each named condition on cells.

    Examples
    --------
    >>> few = custom_strategies({"few": lambda f, F: (f > 0) & (F <= 3)})
    >>> [strategy.name for strategy in few]
    ['few, s2p', 'few, p2s']
    """
    return tuple(
        Strategy(f"{name}, {direction}", direction, predicate, words=name)
        for name, predicate in predicates.items()
        for direction in Direction
    )


def evaluate_strategies(
    population: Sequence[int] | NDArray[Any],
    sample: Sequence[int] | NDArray[Any],
    strategies: Sequence[Strategy],
    *,
    exact: bool | None = None,
) -> tuple[StrategyValue, ...]:
    """Return what each strategy achieves on a table of counts.

    Parameters
    ----------
    population, sample
        The counts F and f of each cell, in the same order, F >= f. An estimated F need not be
        whole. Cells without sample units count: they are in the way of strategy 2.
    strategies
        Such as `numbered_strategies()`.
    exact
        Fractions or floats. By default fractions for whole counts in up to 1,000 cells.

    Examples
    --------
    >>> found = evaluate_strategies([2, 3], [1, 0], numbered_strategies())
    >>> found[2].pr_cm, found[2].cost_without, found[2].eff_without
    (Fraction(1, 2), Fraction(2, 1), Fraction(1, 4))
    """
    cells = _Cells.of(population, sample, exact=exact)
    return tuple(_evaluate(cells, strategy) for strategy in strategies)


def matching_probabilities(
    population: Sequence[int] | NDArray[Any],
    sample: Sequence[int] | NDArray[Any],
    *,
    exact: bool | None = None,
) -> MatchingProbabilities:
    """Return Pr(PU), Pr(PU|SU), Pr(CM|UM) and Pr(CM|SU) of a table of counts.

    Examples
    --------
    >>> found = matching_probabilities([1, 1, 3], [1, 1, 1])
    >>> found.pr_cm_given_um, found.pr_pu_given_su, found.pr_cm_given_su
    (Fraction(3, 5), Fraction(2, 3), Fraction(7, 9))
    """
    cells = _Cells.of(population, sample, exact=exact)
    unique = cells.sample == 1
    n_uniques, alone = int(unique.sum()), cells.population == 1
    by_sample, by_population = (
        _evaluate(cells, Strategy("", direction, _of_size(1))).pr_cm
        for direction in (Direction.S2P, Direction.P2S)
    )
    return MatchingProbabilities(
        cells.number(int(alone.sum())) / cells.size,
        cells.number(int((alone & unique).sum())) / max(1, n_uniques),
        by_population,
        by_sample,
    )


@dataclass(frozen=True, slots=True)
class _Cells:
    population: NDArray[Any]
    sample: NDArray[np.int64]
    exact: bool
    size: Fraction | float

    @classmethod
    def of(
        cls,
        population: Sequence[int] | NDArray[Any],
        sample: Sequence[int] | NDArray[Any],
        *,
        exact: bool | None,
    ) -> _Cells:
        given, counts = np.asarray(population), np.asarray(sample)
        whole = given.dtype.kind in "iu"
        problems = [*_problems(given, counts)]
        if exact and not whole:
            found = "Exact fractions need whole population counts."
            problems.append(Problem(Reason.BAD_OPTION, "exact", found, "Give exact=False."))
        if problems:
            raise InputError(
                Reason.BAD_OPTION,
                "Matching strategies on a table of counts were asked for.",
                "The table cannot be used.",
                problems=problems,
            )
        exactly = whole and len(given) <= _EXACT_UP_TO if exact is None else exact
        given = given.astype(np.int64 if exactly else np.float64)
        size = Fraction(int(given.sum())) if exactly else float(given.sum())
        return cls(given, counts.astype(np.int64), exactly, size)

    def number(self, value: int | float) -> Fraction | float:
        return Fraction(value) if self.exact else float(value)

    def weighted_reciprocals(self, chosen: NDArray[np.bool_], more: int) -> Fraction | float:
        """Return the sum of f / (F + more) over sampled cells."""
        counts, sizes = self.sample[chosen], self.population[chosen]
        if not self.exact:
            return float((counts / (sizes + more)).sum())
        distinct, place = np.unique(sizes, return_inverse=True)
        totals = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(totals, place, counts)
        pairs = zip(totals.tolist(), distinct.tolist(), strict=True)
        return sum((Fraction(n, size + more) for n, size in pairs), Fraction(0))


def _evaluate(cells: _Cells, strategy: Strategy) -> StrategyValue:
    used = np.asarray(strategy.predicate(cells.sample, cells.population))
    if used.dtype != np.bool_ or used.shape != cells.sample.shape:
        raise InputError(
            Reason.BAD_OPTION,
            f"The strategy '{strategy.name[:60]}' was asked for.",
            f"Its condition gave {used.size:,} values of type {used.dtype} for"
            f" {cells.sample.size:,} cells.",
            "Let it return one true or false for each cell, such as (f == 1) & (F < 5).",
        )
    # A cell that nobody is in is no target.
    used = used & (cells.population > 0)
    sampled = used & (cells.sample > 0)
    n_cells, n_sampled = int(used.sum()), int(sampled.sum())
    if not (n_cells if strategy.direction is Direction.P2S else n_sampled):
        zero = cells.number(0)
        return StrategyValue(strategy, False, n_cells, n_sampled, zero, zero, zero, zero, zero)
    total = cells.size
    if strategy.direction is Direction.P2S:
        targets = cells.number(cells.population[used].sum().item())
        pr_cm = n_sampled / targets
        cost_without, cost_with = (total + 1) / (1 + targets), total / targets
    else:
        n_units = int(cells.sample[sampled].sum())
        pr_cm = cells.weighted_reciprocals(sampled, 0) / n_units
        cost_without = (total + 1) * cells.weighted_reciprocals(sampled, 1) / n_units
        cost_with = total * pr_cm
    return StrategyValue(
        strategy,
        True,
        n_cells,
        n_sampled,
        pr_cm,
        cost_without,
        cost_with,
        pr_cm / cost_without,
        pr_cm / cost_with,
    )


def _problems(population: NDArray[Any], sample: NDArray[Any]) -> Iterable[Problem]:
    if population.ndim != 1 or population.shape != sample.shape:
        found = f"There are {population.size:,} population and {sample.size:,} sample counts."
        yield Problem(Reason.BAD_OPTION, "cells", found, "Give both counts for every cell.")
        return
    if sample.size and sample.dtype.kind not in "iu":
        yield Problem(Reason.BAD_OPTION, "sample counts", f"They are of type {sample.dtype}.")
    elif population.size and population.dtype.kind not in "iuf":
        yield Problem(Reason.BAD_OPTION, "population counts", f"They are {population.dtype}.")
    else:
        below = int(np.count_nonzero((sample < 0) | ~(population >= sample)))
        if below or not np.isfinite(population).all():
            found = f"{below:,} cells have a negative sample count or fewer people than the sample."
            do = "Population counts are at least the sample counts, and finite."
            yield Problem(Reason.BAD_OPTION, "population counts", found, do)
        elif not sample.sum():
            found = "There is nobody in the sample."
            yield Problem(Reason.NOTHING_GIVEN, "sample counts", found, "Give a sample.")


def _of_size(size: int) -> Predicate:
    return lambda sample, population: sample == size
