"""Matching strategies where the population is not known, from class sizes and sampling weights.

Given f records in the sample, the class has F people with the negative binomial distribution of
individual_risk.py, with p estimated by f over the class's weight, or by the sampling fraction. The
terms of the strategies are replaced by their expectations:

    s2p: Pr(cm) = sum f E[1/F] / sum f    cost (N+1) sum f E[1/(1+F)] / sum f   or N Pr(cm)
    p2s: Pr(cm) = k / sum E[F]            cost (N+1) / (1 + sum E[F])           or N / sum E[F]

with E[F] = f/p and, from the integral of individual_risk.py by parts,
E[1/(1+F)] = (f E[1/F] - p) / (1-p), or p sum_k q^k (k+1)! f! / (f+k+1)! with positive terms.
The model gives every person of the population to a sampled class, so strategies 2 and 3 coincide
unless the population is known to be larger. Linear in classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.intrusion.individual_risk import expected_reciprocal
from gamekeeper.algorithms.intrusion.strategies import Direction, Strategy, StrategyValue
from gamekeeper.errors import InputError, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SERIES_FROM = 1 / 3
_ENOUGH = 2.0**-56


@dataclass(frozen=True, repr=False, eq=False)
class EstimatedCells:
    """The sampled classes with their estimates; `size` is the population N."""

    sample: NDArray[np.int64]
    expected: NDArray[np.float64]
    reciprocal: NDArray[np.float64]
    reciprocal_of_next: NDArray[np.float64]
    pr_unique: NDArray[np.float64]
    size: float

    @classmethod
    def of(
        cls, sample: NDArray[np.int64], share: NDArray[np.float64], size: float
    ) -> EstimatedCells:
        """Make estimates for classes of f >= 1 records from p in (0, 1]."""
        reciprocal = expected_reciprocal(sample, share)
        return cls(
            sample,
            sample / share,
            reciprocal,
            expected_reciprocal_of_next(sample, share, reciprocal),
            np.where(sample == 1, share, 0.0),
            size,
        )


def expected_reciprocal_of_next(
    sample: NDArray[np.int64], share: NDArray[np.float64], reciprocal: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return E[1/(1+F)] given f >= 1, p in (0, 1] and E[1/F].

    Examples
    --------
    >>> half = np.array([0.5])
    >>> expected_reciprocal_of_next(np.array([1]), half, np.log([2.0])).round(6)
    array([0.386294])
    """
    # The difference loses digits as p nears 1, where the series has few terms.
    made = np.empty(len(share))
    near = share >= _SERIES_FROM
    f, p = sample[~near], share[~near]
    made[~near] = (f * reciprocal[~near] - p) / (1 - p)
    f, p = sample[near], share[near]
    term = p / (f + 1)
    total = term.copy()
    k = 0
    while len(term) and (term > _ENOUGH * total).any():
        k += 1
        term = term * (1 - p) * (k + 1) / (f + k + 1)
        total += term
    made[near] = total
    return made


def estimate_strategies(
    cells: EstimatedCells, strategies: Sequence[Strategy]
) -> tuple[StrategyValue, ...]:
    """Return what each strategy is expected to achieve."""
    return tuple(_estimate(cells, strategy) for strategy in strategies)


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
        people = float(cells.expected[used].sum())
        # Strategy 2 takes anybody, also people whose class has no record in the sample.
        targets = max(size, people) if strategy.number == 2 else people
        pr_cm = n_used / targets
        cost_without, cost_with = (size + 1) / (1 + targets), size / targets
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
