"""Individual risk from sampling weights: the population count F of a class, given f in the sample.

Under the superpopulation of Benedetti and Franconi, F given f is negative binomial,
Pr(F=h) = C(h-1, f-1) p^f (1-p)^(h-f) for h >= f, with p estimated by f over the sum of the weights
of the class. The risk is E[1/F]. With q = 1-p it is the integral of u^(f-1) p / (p + q u) over
u from 0 to 1, hence

    r_1 = (p/q) ln(1/p),    r_(f+1) = (p/q) (1/f - r_f),    r_f = p sum_k q^k k! (f-1)! / (k+f)!

The recurrence damps errors for small p/q and is used there for small f; the series has positive
terms only and is used elsewhere (under 100 terms). Franconi and Polettini 2004. Linear in classes.

The approximate form that software prints is exact for f = 1 and 2, and p / (f - q) from f = 3 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Reason

# Below 1/3, p/q is below 1/2; from f = 20 on, the series needs some 40 terms for any p.
_RECURRENCE_BELOW = 1 / 3
_SERIES_FROM = 20
_ENOUGH = 2.0**-56


@dataclass(frozen=True, slots=True, repr=False)
class IndividualRisk:
    """Per class or record: E[1/F], Pr(F=1) and E[F], given the sample; NaN where f is 0."""

    risk: NDArray[np.float64]
    pr_population_unique: NDArray[np.float64]
    expected_size: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"IndividualRisk({len(self.risk):,} lines)"


def individual_risk(
    class_sizes: NDArray[np.integer[Any]], class_weights: NDArray[np.floating[Any]]
) -> IndividualRisk:
    """Return the individual risk of classes from their size and the sum of their weights.

    Parameters
    ----------
    class_sizes
        The number f of records in the class of each line; 0 for a record that was left out.
    class_weights
        The sum of the sampling weights over the class: the estimate of F. Where it is below f
        (weights below 1), f is taken, since the population holds at least the sample.

    Examples
    --------
    >>> found = individual_risk(np.array([2, 1]), np.array([110.0, 17.0]))
    >>> found.risk.round(8)
    array([0.01714426, 0.17707583])
    """
    sizes, weights = np.asarray(class_sizes), np.asarray(class_weights, dtype=np.float64)
    if sizes.shape != weights.shape:
        raise InputError(
            Reason.BAD_OPTION,
            f"The individual risk of {sizes.size:,} lines was asked for.",
            f"There are {weights.size:,} sums of weights.",
            "Give one sum of weights for each class size.",
        )
    counted = sizes > 0
    n_wrong = int(np.count_nonzero(counted & ~((weights > 0) & np.isfinite(weights))))
    n_negative = int(np.count_nonzero(sizes < 0))
    if n_wrong or n_negative:
        raise InputError(
            Reason.BAD_OPTION,
            f"The individual risk of {sizes.size:,} lines was asked for.",
            f"{n_wrong:,} sums of weights are not positive numbers; {n_negative:,} class sizes are"
            " negative.",
            "Give one positive sum of weights for each class size.",
        )
    expected = np.where(counted, np.maximum(weights, sizes), np.nan)
    share = np.divide(sizes, expected, out=np.full(sizes.shape, np.nan), where=counted)
    risk = np.full(sizes.shape, np.nan)
    risk[counted] = expected_reciprocal(sizes[counted], share[counted])
    unique = np.where(sizes == 1, share, 0.0)
    return IndividualRisk(risk, np.where(counted, unique, np.nan), expected)


def expected_reciprocal(
    class_sizes: NDArray[np.integer[Any]], share: NDArray[np.floating[Any]]
) -> NDArray[np.float64]:
    """Return E[1/F] given f >= 1 in the sample and p in (0, 1], for arrays of equal length.

    Examples
    --------
    >>> expected_reciprocal(np.array([1, 1, 4]), np.array([1.0, 0.5, 1.0]))
    array([1.        , 0.69314718, 0.25      ])
    """
    sizes, p = np.asarray(class_sizes), np.asarray(share, dtype=np.float64)
    if not (np.all(sizes >= 1) and np.all((p > 0) & (p <= 1))):
        raise InputError(
            Reason.BAD_OPTION,
            f"The mean of 1/F for {len(sizes):,} classes was asked for.",
            "Some class sizes are below 1, or some probabilities are outside (0, 1].",
            "Leave out classes without records.",
        )
    risk = np.empty(len(p))
    by_steps = (p < _RECURRENCE_BELOW) & (sizes < _SERIES_FROM)
    risk[by_steps] = _by_recurrence(sizes[by_steps], p[by_steps])
    risk[~by_steps] = _by_series(sizes[~by_steps], p[~by_steps])
    return risk


def approximate_reciprocal(
    class_sizes: NDArray[np.integer[Any]], share: NDArray[np.floating[Any]]
) -> NDArray[np.float64]:
    """Return the approximate form of E[1/F]: exact for f = 1 and 2, p / (f - q) for more.

    Examples
    --------
    >>> approximate_reciprocal(np.array([1, 2, 4]), np.array([0.5, 0.5, 0.5])).round(4)
    array([0.6931, 0.3069, 0.1429])
    """
    sizes, p = np.asarray(class_sizes), np.asarray(share, dtype=np.float64)
    few = sizes < 3
    risk = np.empty(len(p))
    risk[few] = expected_reciprocal(sizes[few], p[few])
    risk[~few] = p[~few] / (sizes[~few] - (1 - p[~few]))
    return risk


def _by_recurrence(sizes: NDArray[Any], p: NDArray[np.float64]) -> NDArray[np.float64]:
    odds = p / (1 - p)
    risk = -odds * np.log(p)
    for size in range(1, int(sizes.max(initial=1))):
        further = sizes > size
        risk[further] = odds[further] * (1 / size - risk[further])
    return risk


def _by_series(sizes: NDArray[Any], p: NDArray[np.float64]) -> NDArray[np.float64]:
    q = 1 - p
    term = p / sizes
    total = term.copy()
    active = np.arange(len(p))
    k = 0
    while len(active):
        k += 1
        term = term * q[active] * k / (sizes[active] + k)
        total[active] += term
        open_ones = term > _ENOUGH * total[active]
        active, term = active[open_ones], term[open_ones]
    return total
