"""How many people are unique in the population, from published models of how it came about.

Log-linear Poisson models: the count of a cell in the population is Poisson, and each of its people
is sampled with chance pi; so that, given one in the sample, F - 1 is Poisson with mean mu = lambda
(1 - pi) / pi, with lambda the expected count of the cell in the sample. Then P(F=1) = exp(-mu),
E[1/F] = (1 - exp(-mu)) / mu, and tau1 and tau2 are their sums over the sample uniques. lambda comes
from a model with main effects, which has a closed form, or with all interactions of two variables,
by iterative proportional fitting to all two-way margins over all cells. Skinner and Holmes 1998;
Elamir and Skinner 2006.

Pitman's sampling formula: a sample of n records with u classes, s_j of them of size j, has the
log-likelihood

    sum_(i<u) ln(theta + i alpha) - sum_(i<n) ln(theta + i) + sum_j s_j sum_(i<j) ln(i - alpha)

with i from 1, 0 <= alpha < 1, theta > -alpha. A population of N people then has an expected number
of uniques of N prod_(i=1)^(N-1) (theta + alpha + i - 1) / (theta + i), about Gamma(theta+1) /
Gamma(theta+alpha) N^alpha. Hoshino 2001; Pitman 1995. Where every record is unique or all are in
one class, the likelihood has no maximum inside, and nothing is estimated. Linear in the number of
different sizes.

Zayatz takes sizes of classes in the population to be those of the sample. Of a class of the
population with F people, a sample of n of N has exactly one with probability p(F) = F C(N-F, n-1) /
C(N, n). With w(F) the share of the sample's classes that have size F, a class with one record in
the sample is one with one person in the population with probability

    Pr(F=1 | f=1) = w(1) p(1) / sum_F w(F) p(F)

Times the sample uniques that is the number of them that are population uniques. Classes of the
population are larger than those of a sample, so that this errs upwards for small fractions. Zayatz
1991. Linear in the number of different sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import dense_numbers

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Floats = NDArray[np.float64]


def sizes_and_numbers(structure: Mapping[int, int]) -> tuple[Floats, Floats]:
    """Return the sizes that occur, in ascending order, and how many classes have each.

    Examples
    --------
    >>> sizes, numbers = sizes_and_numbers({2: 7, 1: 5, 3: 0})
    >>> sizes.tolist(), numbers.tolist()
    ([1.0, 2.0], [5.0, 7.0])
    """
    sizes = sorted(size for size, number in structure.items() if number)
    numbers = [structure[size] for size in sizes]
    return np.array(sizes, dtype=np.float64), np.array(numbers, dtype=np.float64)


# Fitted two-way margins agree with those of the file to that share of the records.
_AGREES = 1e-8
_MOST_ROUNDS = 2_000


@dataclass(frozen=True, slots=True)
class LogLinearRisk:
    """What a model says of the sample uniques: P(F=1) and E[1/F] of each, and the sums."""

    p_unique: Floats
    p_match: Floats

    @property
    def tau1(self) -> float:
        """The expected number of sample uniques that are population uniques."""
        return float(self.p_unique.sum())

    @property
    def tau2(self) -> float:
        """The expected number of right matches when each is matched to one person of its class."""
        return float(self.p_match.sum())

    def __repr__(self) -> str:
        return f"LogLinearRisk(tau1={self.tau1:.6g}, tau2={self.tau2:.6g})"


def poisson_risk(expected: Floats, fraction: Floats | float) -> LogLinearRisk:
    """Return the risk of sample uniques from the expected counts of their cells in the sample."""
    mean = expected * (1 - fraction) / fraction
    p_match = np.divide(-np.expm1(-mean), mean, out=np.ones_like(mean), where=mean > 0)
    return LogLinearRisk(np.exp(-mean), p_match)


def main_effects(
    codes: NDArray[np.integer[Any]],
    rows: NDArray[np.integer[Any]],
    counts: NDArray[np.int64] | None = None,
) -> Floats:
    """Return the expected counts of the cells of some records under independence of all variables.

    `codes` has one line per record; `rows` are the records whose cells are wanted; `counts` says
    how many records each line stands for, one if None.

    Examples
    --------
    >>> main_effects(np.array([[1, 1], [1, 2], [2, 1], [2, 1]]), np.array([1]))
    array([0.5])
    """
    n_records = len(codes) if counts is None else int(counts.sum())
    expected = np.full(len(rows), float(n_records))
    for place in range(codes.shape[1]):
        margin = np.bincount(codes[:, place], counts)
        expected *= margin[codes[rows, place]] / n_records
    return expected


def n_cells(codes: NDArray[np.integer[Any]]) -> int:
    """Return how many cells the table of all categories that occur has."""
    product = 1
    for place in range(codes.shape[1]):
        product *= len(np.unique(codes[:, place]))
    return product


def two_way_effects(
    codes: NDArray[np.integer[Any]],
    rows: NDArray[np.integer[Any]],
    counts: NDArray[np.int64] | None = None,
) -> Floats | None:
    """Return expected counts under all interactions of two variables; None if that did not settle.

    With fewer than three variables the model has every count as it is. The whole table is held in
    memory: see `n_cells`. Parameters are those of `main_effects`.

    Examples
    --------
    >>> two_way_effects(np.array([[1, 1], [1, 2], [2, 1], [2, 1]]), np.array([1]))
    array([1.])
    """
    columns = [dense_numbers(codes[:, place]) for place in range(codes.shape[1])]
    shape = tuple(int(column.max(initial=0)) + 1 for column in columns)
    cells = np.ravel_multi_index(columns, shape)
    whole = np.bincount(cells, counts, minlength=int(np.prod(shape))).astype(np.float64)
    if len(shape) < 3:
        return whole[cells[rows]]
    observed = whole.reshape(shape)
    pairs = list(combinations(range(len(shape)), 2))
    others = [tuple(axis for axis in range(len(shape)) if axis not in pair) for pair in pairs]
    targets = [observed.sum(axis=axes, keepdims=True) for axes in others]
    fitted = np.full(shape, observed.sum() / observed.size)
    for _ in range(_MOST_ROUNDS):
        worst = 0.0
        for axes, target in zip(others, targets, strict=True):
            margin = fitted.sum(axis=axes, keepdims=True)
            worst = max(worst, float(np.abs(margin - target).max()))
            fitted *= np.divide(target, margin, out=np.zeros_like(target), where=margin > 0)
        if worst <= _AGREES * observed.sum():
            return fitted.ravel()[cells[rows]]
    return None


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
    from scipy.optimize import minimize

    sizes, numbers = sizes_and_numbers(structure)
    n, u = float(sizes @ numbers), float(numbers.sum())
    if len(sizes) == 0 or u in (1.0, n) or population < n:
        return None

    def loss(point: Floats) -> float:
        return -pitman_log_likelihood(sizes, numbers, *_parameters(point))

    def climb(start: Floats) -> OptimizeResult:
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


def pitman_log_likelihood(sizes: Floats, numbers: Floats, alpha: float, theta: float) -> float:
    """Return the log-likelihood of a sample with so many classes of each size, but for a constant.

    Examples
    --------
    Two records: in one class with probability (1 - alpha) / (theta + 1).

    >>> round(float(np.exp(pitman_log_likelihood(np.array([2.0]), np.array([1.0]), 0.5, 1.0))), 6)
    0.25
    """
    from scipy.special import gammaln

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
    from scipy.special import gammaln

    people = float(population)
    log_product = (
        gammaln(theta + alpha + people - 1)
        - gammaln(theta + alpha)
        - gammaln(theta + people)
        + gammaln(theta + 1)
    )
    return float(people * np.exp(log_product))


def _parameters(point: Floats) -> tuple[float, float]:
    from scipy.special import expit

    alpha = _LEAST_ALPHA + (1 - _LEAST_ALPHA) * float(expit(point[0]))
    return alpha, float(np.exp(min(point[1], _LARGEST_LOG))) - alpha


def _point(alpha: float, theta: float) -> Floats:
    return np.array([np.log(alpha / (1 - alpha)), np.log(theta + alpha)])


@dataclass(frozen=True, slots=True)
class ZayatzEstimate:
    """The chance that a sample unique is a population unique, and how many in the file would be."""

    pr_population_unique: float
    uniques_of_both: float


def estimate_zayatz(structure: Mapping[int, int], population: int) -> ZayatzEstimate | None:
    """Return the estimate, or None where the sample has no unique.

    Parameters are those of `estimate_pitman`.

    Examples
    --------
    >>> found = estimate_zayatz({1: 2, 2: 1}, 8)
    >>> found is not None and round(found.pr_population_unique, 6)
    0.636364
    """
    from scipy.special import gammaln

    sizes, numbers = sizes_and_numbers(structure)
    n, people = float(sizes @ numbers), float(population)
    if not structure.get(1) or people < n:
        return None
    # A class larger than what is left outside the sample cannot have one record in it.
    possible = people - sizes >= n - 1
    of_size = sizes[possible]
    log_one = (
        np.log(of_size)
        + gammaln(people - of_size + 1)
        - gammaln(people - of_size - n + 2)
        - gammaln(n)
    )
    weighted = numbers[possible] * np.exp(log_one - log_one[0])
    chance = float(weighted[0] / weighted.sum())
    return ZayatzEstimate(chance, structure[1] * chance)
