"""Strategies for matching a sample with its population: probability of success, cost, efficiency.

Each cell j of the key has a population count F_j and a sample count f_j; N is the population. A
strategy is a direction and a condition P on cells. From population to sample, any unit in a cell
with P is looked for and matched; from sample to population, a random sample unit in a cell with P
is picked and looked for in the population. With sums over the cells with P and A = sum F_j,

    p2s: Pr(cm) = #{f_j > 0} / A             cost (N+1)/(1+A)                      or N/A
    s2p: Pr(cm) = sum (f_j/F_j) / sum f_j    cost (N+1) sum f_j/(1+F_j) / sum f_j  or N Pr(cm)

where cost is the expected number of units searched without and with replacement and
efficiency is Pr(cm) over cost. Smith's thesis, chapter 5, corrected: cells without sample units
are targets that cannot be matched, they never add to the numerator of p2s.
A strategy without target is infeasible: all its values are 0, and it says so. Linear in cells;
exact fractions for small tables, float64 for large ones.

Which strategy reaches at least as much as another, on this table or on every table on which both
are feasible, is proved for (Smith's thesis, chapter 5, with its conditions corrected; k = sampled
cells used, A = their population):

* Pr(cm): 3 is never below 2, which also looks for people without match; for cells of one sample
  count, s2p is never below p2s (Jensen: a mean of 1/F against 1 / mean of F). For cells of unequal
  sample counts it may be below: F = (2, 3), f = (1, 2).
* Cost: s2p costs at least what p2s costs on the same or more cells, with and without replacement,
  whatever the counts; p2s costs at least what it costs on more cells.
* Efficiency with replacement: 1/N for every s2p and k/N for p2s, so k times as much.
* Efficiency without replacement: k (1 + 1/A) / (N+1) for p2s if it uses sampled cells only, and at
  most 2 / (N+1) for s2p, so p2s is never below on the same or fewer cells; the ratio is at most k
  and below k for k > 1. With cells that have no sample unit it may be below: F = (1, 1), f = (0,
  1).

No other ordered pair of the seven strategies holds on every table. Constant time per pair.

The urn of a search: of N units M match. Without replacement the number T of draws until the first
that matches is negative hypergeometric, Pr(T=t) = C(N-t, M-1) / C(N, M) with mean (N+1)/(M+1); with
replacement it is geometric, Pr(T=t) = (M/N) (1-M/N)^(t-1) with mean N/M. Smith's thesis, chapter 5,
with the second distribution corrected. The list of probabilities costs one step each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import permutations
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


def chosen_by(
    strategy: Strategy, sample: NDArray[Any], other: NDArray[Any], one: str, many: str
) -> NDArray[np.bool_]:
    """Return which cells a strategy uses, by both their counts; `one` of `many` is what they are called."""
    used = np.asarray(strategy.predicate(sample, other))
    if used.dtype != np.bool_ or used.shape != sample.shape:
        raise InputError(
            Reason.BAD_OPTION,
            f"The strategy '{strategy.name[:60]}' was asked for.",
            f"Its condition gave {used.size:,} values of type {used.dtype} for"
            f" {sample.size:,} {many}.",
            f"Let it return one true or false for each {one}, such as (f == 1) & (F < 5).",
        )
    return used


def value_of(
    strategy: Strategy, n_cells: int, n_sampled: int, pr_cm: Fraction | float,
    cost_without: Fraction | float, cost_with: Fraction | float,
) -> StrategyValue:  # fmt: skip
    """Return what a feasible strategy achieves: a correct match is worth its chance over the cost."""
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

    The counts F and f of each cell are in the same order, F >= f. An estimated F need not be whole.
    Cells without sample units count: they are in the way of strategy 2. By default fractions are
    exact for whole counts in up to 1,000 cells, and floats beyond.

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
    used = chosen_by(strategy, cells.sample, cells.population, "cell", "cells")
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
    return value_of(strategy, n_cells, n_sampled, pr_cm, cost_without, cost_with)


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


_ROUNDING = 1e-12

_JENSEN = "the mean of 1/F is at least 1 over the mean of F, as all cells have one sample count"
_COST = "a search for one cell never takes less than a search for several that include it"
_COST_P2S = "the fewer people are looked for, the longer the search"
_WITH = (
    "with replacement s2p always reaches 1/N, and p2s as many times that as it has sampled cells"
)
_WITHOUT = "p2s reaches k(1+1/A), s2p at most 2, in units of 1/(N+1), as all cells are sampled"


class Measure(StrEnum):
    """What strategies are compared by."""

    PR_CM = "pr_cm"
    COST_WITHOUT = "cost_without"
    COST_WITH = "cost_with"
    EFF_WITHOUT = "eff_without"
    EFF_WITH = "eff_with"

    def of(self, value: StrategyValue) -> Fraction | float:
        """Return this measure of a strategy."""
        found: Fraction | float = getattr(value, self.value)
        return found


@dataclass(frozen=True, slots=True)
class Dominance:
    """One strategy is at least another by a measure: on this table, and if proved on every one."""

    measure: Measure
    higher: str
    lower: str
    proved: bool
    why: str


@dataclass(frozen=True, slots=True)
class DirectionComparison:
    """Both directions on the same cells by one measure.

    `higher` is None where they are equal. `proved` tells whether that order (or equality) holds on
    every table with such cells; `why` gives the reason, or the condition that is not met.
    """

    measure: Measure
    s2p: Fraction | float
    p2s: Fraction | float
    higher: Direction | None
    proved: bool
    why: str


def proof_of_dominance(higher: Strategy, lower: Strategy, measure: Measure | str) -> str:
    """Return why one numbered strategy is at least another on every table, empty if it is not.

    For costs "at least" means that it costs as much or more. Both strategies are to be feasible.

    Examples
    --------
    >>> one, two, three, *_ = numbered_strategies()
    >>> proof_of_dominance(three, two, "pr_cm")
    '2 also looks for people who have no match in the sample'
    >>> proof_of_dominance(two, three, "pr_cm")
    ''
    """
    if not (higher.number and lower.number):
        return ""
    if (_cells(higher), higher.direction) == (_cells(lower), lower.direction):
        return "they are the same strategy"
    return _RULES[Measure(measure)](higher, lower)


def find_dominance(
    values: Sequence[StrategyValue], measures: Iterable[Measure] = tuple(Measure)
) -> tuple[Dominance, ...]:
    """Return every ordered pair of feasible strategies of which one is at least the other here.

    Examples
    --------
    >>> values = evaluate_strategies([2, 3], [1, 2], numbered_strategies([]))
    >>> [(d.higher, d.lower) for d in find_dominance(values, [Measure.PR_CM]) if d.proved]
    [('3', '2'), ('4', '5')]
    """
    found: list[Dominance] = []
    feasible = [value for value in values if value.feasible]
    for measure in measures:
        for higher, lower in permutations(feasible, 2):
            if _is_at_least(measure.of(higher), measure.of(lower)):
                why = proof_of_dominance(higher.strategy, lower.strategy, measure)
                said = why or "observed on this table only"
                found.append(Dominance(measure, higher.name, lower.name, bool(why), said))
    return tuple(found)


def compare_directions(
    population: Sequence[int] | NDArray[Any],
    sample: Sequence[int] | NDArray[Any],
    predicate: Predicate,
    *,
    exact: bool | None = None,
) -> tuple[DirectionComparison, ...]:
    """Compare both directions of matching on the same cells by every measure.

    Nothing is returned where no cell with sample units is chosen: there s2p is infeasible.

    Examples
    --------
    >>> found = compare_directions([2, 3], [1, 2], lambda f, F: f > 0)
    >>> [(c.measure.value, str(c.higher), c.proved) for c in found][:2]
    [('pr_cm', 'p2s', False), ('cost_without', 's2p', True)]
    """
    s2p, p2s = evaluate_strategies(
        population, sample, custom_strategies({"cells": predicate}), exact=exact
    )
    if not s2p.feasible:
        return ()
    f, big_f = np.asarray(sample), np.asarray(population)
    used = np.asarray(predicate(f, big_f)) & (big_f > 0)
    all_sampled = bool((f[used] > 0).all())
    one_count = len(np.unique(f[used])) == 1
    proofs = {
        Measure.PR_CM: _JENSEN if one_count else "",
        Measure.COST_WITHOUT: _COST,
        Measure.COST_WITH: _COST,
        Measure.EFF_WITHOUT: _WITHOUT if all_sampled else "",
        Measure.EFF_WITH: _WITH,
    }
    return tuple(_compared(measure, s2p, p2s, proofs[measure]) for measure in Measure)


def _compared(
    measure: Measure, s2p: StrategyValue, p2s: StrategyValue, proof: str
) -> DirectionComparison:
    first, second = measure.of(s2p), measure.of(p2s)
    above, below = _is_at_least(first, second), _is_at_least(second, first)
    higher = None if above and below else Direction.S2P if above else Direction.P2S
    return DirectionComparison(
        measure, first, second, higher, bool(proof), proof or _UNMET[measure]
    )


def _is_at_least(value: Fraction | float, other: Fraction | float) -> bool:
    if isinstance(value, Fraction) and isinstance(other, Fraction):
        return value >= other
    return float(value) >= float(other) * (1 - _ROUNDING)


def _cells(strategy: Strategy) -> str:
    """Name the cells of a numbered strategy: every cell, sampled cells, or one sample count."""
    return {1: "sampled", 2: "every", 3: "sampled"}.get(strategy.number, f"{strategy.r}")


def _within(inner: Strategy, outer: Strategy) -> bool:
    """Tell whether all sampled cells of one strategy are cells of the other."""
    return _cells(outer) in {"every", "sampled", _cells(inner)}


def _by_probability(higher: Strategy, lower: Strategy) -> str:
    if (higher.number, lower.number) == (3, 2):
        return "2 also looks for people who have no match in the sample"
    directions = (higher.direction, lower.direction)
    same_count = higher.r >= 1 and higher.r == lower.r
    return _JENSEN if same_count and directions == (Direction.S2P, Direction.P2S) else ""


def _by_cost(higher: Strategy, lower: Strategy) -> str:
    if lower.direction is Direction.S2P or not _within(higher, lower):
        return ""
    if higher.direction is Direction.S2P:
        return _COST
    return "" if _cells(higher) == "every" else _COST_P2S


def _by_efficiency_with(higher: Strategy, lower: Strategy) -> str:
    if lower.direction is Direction.S2P:
        return _WITH
    sampled = higher.direction is Direction.P2S and _within(lower, higher)
    return _WITH if sampled or (higher.number, lower.number) == (3, 2) else ""


def _by_efficiency_without(higher: Strategy, lower: Strategy) -> str:
    if higher.direction is Direction.S2P or _cells(higher) == "every":
        return ""
    if lower.direction is Direction.S2P:
        return _WITHOUT if _within(lower, higher) else ""
    return "p2s reaches k(1+1/A), which grows with the sampled cells" if higher.number == 3 else ""


_UNMET = {
    Measure.PR_CM: "s2p is only sure to be at least p2s where all cells have one sample count",
    Measure.EFF_WITHOUT: "p2s is only sure to be at least s2p where all cells have sample units",
}

_RULES = {
    Measure.PR_CM: _by_probability,
    Measure.COST_WITHOUT: _by_cost,
    Measure.COST_WITH: _by_cost,
    Measure.EFF_WITHOUT: _by_efficiency_without,
    Measure.EFF_WITH: _by_efficiency_with,
}


def expected_draws(n_units: int, n_matches: int, *, replacement: bool) -> Fraction:
    """Return the mean number of draws until the first match.

    Examples
    --------
    >>> expected_draws(6, 2, replacement=False), expected_draws(6, 2, replacement=True)
    (Fraction(7, 3), Fraction(3, 1))
    """
    _check(n_units, n_matches)
    if replacement:
        return Fraction(n_units, n_matches)
    return Fraction(n_units + 1, n_matches + 1)


def first_match_probabilities(
    n_units: int, n_matches: int, n_draws: int | None = None, *, replacement: bool
) -> list[Fraction]:
    """Return Pr(T=1), Pr(T=2), ... exactly, for an urn of which at least 1 unit matches.

    The list ends at `n_draws`; by default at the last draw that is possible without replacement,
    N - M + 1. `replacement` puts a unit back before the next draw.

    Examples
    --------
    >>> first_match_probabilities(3, 1, replacement=False)
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    """
    _check(n_units, n_matches)
    last = n_units - n_matches + 1 if n_draws is None else n_draws
    listed: list[Fraction] = []
    chance = Fraction(n_matches, n_units)
    for drawn in range(1, last + 1):
        listed.append(chance)
        left = n_units - drawn
        if replacement:
            chance *= Fraction(n_units - n_matches, n_units)
        else:
            chance *= Fraction(max(0, left - n_matches + 1), left) if left > 0 else 0
    return listed


def first_match_array(
    n_units: int, n_matches: int, n_draws: int, *, replacement: bool
) -> NDArray[np.float64]:
    """Return Pr(T=1) .. Pr(T=n_draws) as floats, for long lists and large urns.

    Examples
    --------
    >>> first_match_array(4, 1, 3, replacement=True)
    array([0.25    , 0.1875  , 0.140625])
    """
    _check(n_units, n_matches)
    drawn = np.arange(1, n_draws, dtype=np.float64)
    if replacement:
        factors = np.full(len(drawn), 1 - n_matches / n_units)
    else:
        left = n_units - drawn
        factors = np.divide(
            np.maximum(left - n_matches + 1, 0), left, out=np.zeros_like(left), where=left > 0
        )
    first = np.full(1, n_matches / n_units)
    return np.cumprod(np.concatenate((first, factors)), dtype=np.float64)[:n_draws]


def _check(n_units: int, n_matches: int) -> None:
    if not 1 <= n_matches <= n_units:
        raise InputError(
            Reason.BAD_OPTION,
            f"A search among {n_units:,} units of which {n_matches:,} match was asked for.",
            "There must be at least one match, and no more matches than units.",
            "Without a match the search never ends: leave the strategy out as infeasible.",
        )
