"""Matching strategies where the population is not known: expectations under models of the sample.

What models infer of F, the number of people with a key (attack/models/inference.py), takes the place
of counts. The terms of the strategies are replaced by their expectations:

    s2p: Pr(cm) = sum f E[1/F] / sum f    cost (N+1) sum f E[1/(1+F)] / sum f   or N Pr(cm)
    p2s: Pr(cm) = k / sum E[F]            cost (N+1) / (1 + sum E[F])           or N / sum E[F]

Class counts grossed up by the sampling fraction would not do: they take most sample uniques for
larger classes than they are. Linear in classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.intrusion.strategies import Direction, Strategy, StrategyValue
from gamekeeper.attack.models.inference import ModelRisk
from gamekeeper.errors import InputError, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class EstimatedCells:
    """The sampled classes with E[F], E[1/F] and E[1/(1+F)]; `size` is the population N."""

    sample: NDArray[np.int64]
    expected: NDArray[np.float64]
    reciprocal: NDArray[np.float64]
    reciprocal_of_next: NDArray[np.float64]
    size: float

    @classmethod
    def of(cls, risk: ModelRisk) -> EstimatedCells:
        """Make the classes of a sample with what its models infer."""
        found = risk.estimate
        return cls(
            risk.table.records,
            found.expected_size,
            found.p_match,
            found.p_next,
            risk.fit.n_records / float(risk.fraction),
        )


def estimate_strategies(
    cells: EstimatedCells, strategies: Sequence[Strategy]
) -> tuple[StrategyValue, ...]:
    """Return what each strategy is expected to achieve."""
    return tuple(_estimate(cells, strategy) for strategy in strategies)


def unknown_strategies(strategies: Sequence[Strategy]) -> tuple[StrategyValue, ...]:
    """Return strategies of which nothing is known."""
    nan = float("nan")
    return tuple(
        StrategyValue(strategy, False, 0, 0, nan, nan, nan, nan, nan) for strategy in strategies
    )


def _estimate(cells: EstimatedCells, strategy: Strategy) -> StrategyValue:
    used: NDArray[Any] = np.asarray(strategy.predicate(cells.sample, cells.expected))
    if used.dtype != np.bool_ or used.shape != cells.sample.shape:
        raise InputError(
            Reason.BAD_OPTION,
            f"The strategy '{strategy.name[:60]}' was asked for.",
            f"Its condition gave {used.size:,} values of type {used.dtype} for "
            f"{cells.sample.size:,} classes.",
            "Let it return one true or false for each class, such as (f == 1) & (F < 5).",
        )
    n_used = int(used.sum())
    if not n_used:
        return StrategyValue(strategy, False, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
    size, f = cells.size, cells.sample[used]
    if strategy.direction is Direction.P2S:
        # Classes are estimated one by one, and together could have more people than there are.
        # Strategy 2 takes anybody, also people whose class has no record in the sample.
        people = size if strategy.number == 2 else min(float(cells.expected[used].sum()), size)
        pr_cm = n_used / people
        cost_without, cost_with = (size + 1) / (1 + people), size / people
    else:
        n_records = int(f.sum())
        pr_cm = float((f * cells.reciprocal[used]).sum()) / n_records
        cost_without = (size + 1) * float((f * cells.reciprocal_of_next[used]).sum()) / n_records
        cost_with = size * pr_cm
    return StrategyValue(
        strategy,
        True,
        n_used,
        n_used,
        pr_cm,
        cost_without,
        cost_with,
        pr_cm / cost_without,
        pr_cm / cost_with,
    )
