"""Regressions and means with confidence intervals, to be compared before and after.

Least squares by weight, with standard errors that allow unequal variances (White 1980, with the factor
n / (n - p) of HC1); a weight says how many people a record stands for, and errors are of the records that
there are. Intervals are of 95%, by the normal distribution. What cannot be told from the data, because a
variable is a sum of others or there are no more records than coefficients, has no answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
_NORMAL = 1.959963984540054
_SMALL = 1e-10


class Fit(NamedTuple):
    """Coefficients with their intervals."""

    coefficients: Floats
    low: Floats
    high: Floats


def least_squares(
    design: ArrayLike, outcome: ArrayLike, weights: ArrayLike | None = None
) -> Fit | None:
    """Return the coefficients of a regression, or None where they cannot be told.

    `design` has a column per coefficient, the intercept among them.

    Examples
    --------
    >>> fit = least_squares([[1.0], [1.0], [1.0], [1.0]], [1.0, 2.0, 3.0, 4.0])
    >>> round(float(fit.coefficients[0]), 3), round(float(fit.low[0]), 3)
    (2.5, 1.235)
    """
    x, y = np.asarray(design, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    n_records, n_columns = x.shape
    w = np.ones(n_records) if weights is None else np.asarray(weights, dtype=np.float64)
    if n_records <= n_columns or w.sum() <= 0:
        return None
    scale = np.sqrt((w[:, None] * x**2).sum(axis=0) / w.sum())
    if not (scale > 0).all():
        return None
    z = x / scale
    gram = (z * w[:, None]).T @ z / w.sum()
    values = np.linalg.eigvalsh(gram)
    if values[0] <= _SMALL * values[-1]:
        return None
    inverse = np.linalg.inv(gram)
    beta = inverse @ ((z * w[:, None]).T @ y / w.sum())
    left = w * (y - z @ beta)
    meat = (z * left[:, None]).T @ (z * left[:, None]) / w.sum() ** 2
    spread = inverse @ meat @ inverse * (n_records / (n_records - n_columns))
    error = np.sqrt(np.maximum(np.diag(spread), 0.0)) / scale
    beta = beta / scale
    return Fit(beta, beta - _NORMAL * error, beta + _NORMAL * error)
