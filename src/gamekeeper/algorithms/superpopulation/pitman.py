"""Population uniques by Pitman's sampling formula, with parameters alpha and theta.

A sample of n records with u classes, s_j of them of size j, has the log-likelihood

    sum_(i<u) ln(theta + i alpha) - sum_(i<n) ln(theta + i) + sum_j s_j sum_(i<j) ln(i - alpha)

with i from 1, 0 <= alpha < 1, theta > -alpha. A population of N people then has an expected number
of uniques of N prod_(i=1)^(N-1) (theta + alpha + i - 1) / (theta + i), about
Gamma(theta+1) / Gamma(theta+alpha) N^alpha. Hoshino 2001; Pitman 1995. Where every record is unique or
all are in one class, the likelihood has no maximum inside, and nothing is estimated. Linear in the
number of different sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.special import expit, gammaln

from gamekeeper.algorithms.superpopulation.class_structure import sizes_and_numbers

_STARTS = ((0.2, 1.0), (0.5, 100.0), (0.8, 10_000.0))
# Below that the formula loses digits; at 0 it is Ewens' formula, which is no different there.
_LEAST_ALPHA = 1e-4
_MOST_ALPHA = 1 - 1e-6
# Two searches that end further apart than this in log-likelihood have not settled.
_SETTLED = 1e-5
_SEARCH = {"xatol": 1e-7, "fatol": 1e-7, "maxiter": 4_000, "maxfev": 8_000}
_LARGEST_LOG = 40.0
# Where theta grows without end, classes are all but equal, and the model has nothing to say.
_MOST_THETA = 1e12


@dataclass(frozen=True, slots=True)
class PitmanEstimate:
    """The parameters of greatest likelihood and the population uniques that they lead to."""

    alpha: float
    theta: float
    log_likelihood: float
    population_uniques: float


def estimate_pitman(structure: Mapping[int, int], population: int) -> PitmanEstimate | None:
    """Return the estimate, or None where the likelihood has no maximum or none was reached.

    `structure` has how many classes of the sample there are of each size; `population` is the number
    of people, at least that of the records.

    Examples
    --------
    >>> found = estimate_pitman({1: 600, 2: 100, 3: 40, 5: 16}, 50_000)
    >>> found is not None and round(found.population_uniques)
    3558
    """
    sizes, numbers = sizes_and_numbers(structure)
    n, u = float(sizes @ numbers), float(numbers.sum())
    if len(sizes) == 0 or u in (1.0, n) or population < n:
        return None

    def loss(point: NDArray[np.float64]) -> float:
        return -pitman_log_likelihood(sizes, numbers, *_parameters(point))

    def climb(start: NDArray[np.float64]) -> OptimizeResult:
        return minimize(loss, start, method="Nelder-Mead", options=_SEARCH)

    best = min(
        (climb(_point(alpha, theta)) for alpha, theta in _STARTS), key=lambda found: found.fun
    )
    again = climb(best.x)
    alpha, theta = _parameters(again.x)
    settled = again.success and abs(best.fun - again.fun) <= _SETTLED
    if not settled or alpha > _MOST_ALPHA or theta > _MOST_THETA:
        return None
    return PitmanEstimate(
        alpha, theta, -float(again.fun), expected_uniques(alpha, theta, population)
    )


def pitman_log_likelihood(
    sizes: NDArray[np.float64], numbers: NDArray[np.float64], alpha: float, theta: float
) -> float:
    """Return the log-likelihood of a sample with so many classes of each size, but for a constant.

    Examples
    --------
    Two records: in one class with probability (1 - alpha) / (theta + 1).

    >>> round(float(np.exp(pitman_log_likelihood(np.array([2.0]), np.array([1.0]), 0.5, 1.0))), 6)
    0.25
    """
    n, u = float(sizes @ numbers), float(numbers.sum())
    founding = (u - 1) * np.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
    joining = numbers @ (gammaln(sizes - alpha) - gammaln(1 - alpha))
    return float(founding - (gammaln(theta + n) - gammaln(theta + 1)) + joining)


def expected_uniques(alpha: float, theta: float, population: int) -> float:
    """Return the expected number of classes of one in a population of so many people.

    Examples
    --------
    >>> round(expected_uniques(0.5, 1.0, 1), 6), round(expected_uniques(0.5, 1.0, 2), 6)
    (1.0, 1.5)
    """
    people = float(population)
    log_product = (
        gammaln(theta + alpha + people - 1)
        - gammaln(theta + alpha)
        - gammaln(theta + people)
        + gammaln(theta + 1)
    )
    return float(people * np.exp(log_product))


def _parameters(point: NDArray[np.float64]) -> tuple[float, float]:
    """Return alpha between its limits and theta above -alpha, of which any real numbers can be made."""
    alpha = _LEAST_ALPHA + (1 - _LEAST_ALPHA) * float(expit(point[0]))
    return alpha, float(np.exp(min(point[1], _LARGEST_LOG))) - alpha


def _point(alpha: float, theta: float) -> NDArray[np.float64]:
    return np.array([np.log(alpha / (1 - alpha)), np.log(theta + alpha)])
