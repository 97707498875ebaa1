"""Logistic regression on one variable, with weights: logit P(y = 1) = intercept + slope x.

The log-likelihood is concave, so Newton's method with halved steps finds its maximum. There is
none where the outcomes are separable (every outcome above some x is 1, every one below is 0, or
the other way round). Then each outcome is drawn half a record towards the middle,
y* = (y W + 1/2) / (W + 1) with W the sum of weights, which always has a maximum; the line says so.
Cost: a few passes over the records.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.logistic_climb import climb_logistic

# A record of less than this share of the largest weight does not keep outcomes from being separable.
_FEATHER = 1e-12

Numbers = NDArray[np.float64]


class LogisticLine(NamedTuple):
    """A fitted line on the scale of logits.

    Attributes
    ----------
    guarded
        Whether the outcomes were separable, so that they were drawn half a record inwards.
    """

    intercept: float
    slope: float
    guarded: bool

    def at(self, x: float) -> float:
        """Return the logit of the fitted probability."""
        return self.intercept + self.slope * x


def logit(probability: float) -> float:
    """Return log(p / (1 - p)) of a probability between 0 and 1.

    Examples
    --------
    >>> logit(0.5), round(logit(0.9), 4)
    (0.0, 2.1972)
    """
    return math.log(probability) - math.log1p(-probability)


def fit_logistic_line(x: Numbers, y: Numbers, weights: Numbers | None = None) -> LogisticLine:
    """Fit a logistic line to outcomes from 0 to 1.

    Parameters
    ----------
    x, y
        The variable and the outcome of every record, at least one; an outcome may be a share.
    weights
        The weight of every record, 0 or more and not all 0; 1 each by default.

    Returns
    -------
    LogisticLine
        Intercept and slope; slope 0 where x does not vary.

    Examples
    --------
    >>> line = fit_logistic_line(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    >>> round(line.intercept, 4), round(line.slope, 4), line.guarded
    (-1.0986, 2.1972, False)
    >>> fit_logistic_line(np.array([0.0, 1.0]), np.array([0.0, 1.0])).guarded
    True
    """
    given = np.ones(len(x)) if weights is None else weights
    kept = given > _FEATHER * given.max()
    x, y, given = x[kept], y[kept], given[kept]
    if not _is_separable(x, y):
        found = climb_logistic(x, given * y, given)
        if found is not None:
            return LogisticLine(found.intercept, found.slope, guarded=False)
    total = float(given.sum())
    inwards = (y * total + 0.5) / (total + 1.0)
    found = climb_logistic(x, given * inwards, given)
    if found is None:
        # The slope cannot be told from 0 in floats: the share of ones is all that is known.
        return LogisticLine(logit(float((given * inwards).sum()) / total), 0.0, guarded=True)
    return LogisticLine(found.intercept, found.slope, guarded=True)


def _is_separable(x: Numbers, y: Numbers) -> bool:
    with_one, with_zero = x[y > 0], x[y < 1]
    if not len(with_one) or not len(with_zero):
        return True
    if x.min() == x.max():
        return False
    return bool(with_one.min() >= with_zero.max() or with_one.max() <= with_zero.min())
