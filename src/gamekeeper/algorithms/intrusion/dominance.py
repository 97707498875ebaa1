"""Which matching strategy reaches at least as much as another: on every table, or on this one.

Proved for every table on which both strategies are feasible (Smith's thesis, chapter 5, with its
conditions corrected; k = sampled cells used, A = their population):

* Pr(cm): 3 is never below 2, which also looks for people without match; for cells of one sample
  count, s2p is never below p2s (Jensen: a mean of 1/F against 1 / mean of F). For cells of unequal
  sample counts it may be below: F = (2, 3), f = (1, 2).
* Cost: s2p costs at least what p2s costs on the same or more cells, with and without replacement,
  whatever the counts; p2s costs at least what it costs on more cells.
* Efficiency with replacement: 1/N for every s2p and k/N for p2s, so k times as much.
* Efficiency without replacement: k (1 + 1/A) / (N+1) for p2s if it uses sampled cells only, and at
  most 2 / (N+1) for s2p, so p2s is never below on the same or fewer cells; the ratio is at most k
  and below k for k > 1. With cells that have no sample unit it may be below: F = (1, 1), f = (0, 1).

No other ordered pair of the seven strategies holds on every table. Constant time per pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.intrusion.strategies import (
    Direction,
    Predicate,
    Strategy,
    StrategyValue,
    custom_strategies,
    evaluate_strategies,
)

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
    >>> from gamekeeper.algorithms.intrusion.strategies import numbered_strategies
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
    >>> from gamekeeper.algorithms.intrusion.strategies import numbered_strategies
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
