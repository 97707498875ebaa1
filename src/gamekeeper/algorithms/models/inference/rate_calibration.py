"""From cell probabilities to true rates: how often a record like this one has a twin in the sample.

Models are fitted to the sample they describe and leave things out, so the expected count n p of a
class is off by a factor that varies with p. The sample itself tells how: seen from one record, the
number y = f - 1 of other records of its class is a count with some rate r, and by Bayes' rule

    P(y = 1 | x) / P(y = 0 | x) = E[r | y = 0, x]

for any distribution of r, where x = log(n p) is taken with each class counted as one record, so
that it does not know y. The left side is a logistic regression over the records of classes of one
and two, here log E[r | y = 0] = a + b x. Sampling from the population at the fraction pi, a sample
unique then has (1 - pi)/pi E[r | y = 0] other people in its class on average. Summed over the sample
uniques this is nearly the estimate of DIS; the regression spreads it over them.

With few pairs the estimate P of Pr(CM|UM), a reciprocal 1/(1 + c K) of their number K, would be too
large on average. Adding 1 - P pairs, spread over the classes as the prior expects, removes that bias
to first order: the mean of the reciprocal at K + d exceeds that at the mean m of K by
m c^2/(1 + c m)^3 - d c/(1 + c m)^2, which is 0 for d = c m/(1 + c m). At least half a pair is added,
so that there is an answer without pairs too.

Priors: b near 0.8 with standard deviation 0.25, a near 0 with deviation 3. Fitted slopes for 74 settings,
most with random key variables of five populations, were mostly 0.7 to 0.95, and 0.4 to 0.6 in one of the
five. Where pairs are few, a wider prior loses more by its noise than it gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.logistic_climb import NormalPrior, climb_logistic

Floats = NDArray[np.float64]

_PRIOR = NormalPrior((0.0, 0.8), (0.1, 16.0))
_LEAST_PSEUDO_PAIRS = 0.5
# A record without a twin can hardly have a rate above e^3; a line would go on.
LARGEST_LOG_RATE = 3.0


@dataclass(frozen=True, slots=True)
class RateCalibration:
    """The fitted line log E[r | no twin] = intercept + slope * x, and how sure it is.

    Attributes
    ----------
    intercept, slope
        The line. A slope of 1 and an intercept of 0 would confirm the models.
    covariance
        Of intercept and slope, robust: both records of a pair are one observation.
    n_uniques, n_pairs
        The classes of one and of two records that it rests on.
    """

    intercept: float
    slope: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    n_uniques: int
    n_pairs: int

    def log_rates(self, log_expected: Floats) -> Floats:
        """Return log E[r | no twin] for values of x."""
        return np.minimum(self.intercept + self.slope * log_expected, LARGEST_LOG_RATE)


def calibrate_rates(
    log_expected: Floats, counts: NDArray[np.integer[Any]], outside: float
) -> RateCalibration:
    """Fit the line to the classes of one and two records.

    Parameters
    ----------
    log_expected
        x of each class: the log of its expected count under the models, its own records counted
        as one.
    counts
        The number of records of each class.
    outside
        (1-pi)/pi: how many people are outside the sample for each one within, on average.

    Examples
    --------
    >>> x = np.log(np.array([0.1, 0.1, 0.1, 0.1, 2.0, 2.0, 2.0]))
    >>> fitted = calibrate_rates(x, np.array([1, 1, 1, 1, 2, 2, 1]), 19.0)
    >>> fitted.n_uniques, fitted.n_pairs, 0.3 < fitted.slope < 1.5
    (5, 2, True)
    """
    used = counts <= 2
    x, sizes = log_expected[used], counts[used].astype(np.float64)
    design = np.stack([np.ones(len(x)), x], axis=1)
    expected = np.exp(_PRIOR.mean[1] * (x - x.max(initial=-np.inf))) if len(x) else x
    n_uniques, n_pairs = int(np.count_nonzero(counts == 1)), int(np.count_nonzero(counts == 2))
    pseudo = expected * (2 * _pseudo_pairs(n_uniques, n_pairs, outside) / max(expected.sum(), 1.0))
    line = climb_logistic(x, sizes * (sizes - 1) + pseudo, sizes + pseudo, _PRIOR)
    if line is None:
        # Concave with one top, so this needs numbers that are no numbers.
        raise ArithmeticError(
            f"the calibration did not converge on {n_uniques:,} uniques and {n_pairs:,} pairs"
        )
    chance = 1 / (1 + np.exp(-np.clip(line.intercept + line.slope * x, -500, 500)))
    scores = design * (sizes * ((sizes - 1) - chance))[:, None]
    inverse = np.linalg.inv(line.curvature)
    spread = inverse @ (scores.T @ scores + np.diag(_PRIOR.precision)) @ inverse
    return RateCalibration(
        line.intercept,
        line.slope,
        (
            (float(spread[0, 0]), float(spread[0, 1])),
            (float(spread[1, 0]), float(spread[1, 1])),
        ),
        n_uniques,
        n_pairs,
    )


def _pseudo_pairs(n_uniques: int, n_pairs: int, outside: float) -> float:
    others = 2 * outside * (n_pairs + 1)
    return max(others / max(n_uniques + others, 1.0), _LEAST_PSEUDO_PAIRS)
