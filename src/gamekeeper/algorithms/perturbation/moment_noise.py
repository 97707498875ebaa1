"""Noise added to numbers, so that their means and covariances can be kept.

Noise e is normal with mean 0 and covariance c S, where S is the covariance of the variables (or its
diagonal, where variables get noise of their own) and c how much of the variance is added. To keep moments,
what comes out is moved and stretched so that its means and covariances are those of before, exactly but
for rounding: z becomes (z - mean of z) T + mean of x with T = Cz^-1/2 Cx^1/2. These are symmetric roots,
of variables by their standard deviations: they do not depend on the order of variables. Without that,
variances grow by the factor 1 + c.

Kim, A method for limiting disclosure in microdata based on random noise and transformation (1986). Rounding
to whole numbers, bounds, and zeros that stay zero come after, and move moments a little: who asks for
them is told by how much. Sums are made column by column and not by a library that adds up in an order of
its own, so that the same numbers come out with any number of threads. Time n m², memory three tables.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.perturbation.mdav import checked_numbers
from gamekeeper.errors import InputError, Reason

Floats = NDArray[np.float64]
_SMALL = 1e-12


def with_noise(
    values: ArrayLike,
    share: float,
    normals: Floats,
    *,
    correlated: bool = True,
    keep_moments: bool = True,
    weights: ArrayLike | None = None,
) -> Floats:
    """Return numbers with noise.

    `share` is c, the variance of the noise as a share of that of the variable; `normals` are
    independent standard normal numbers, as many as values. Means and covariances, by weight where
    weights are given, become those of before where they are kept, which needs more records than
    variables. No cell is missing.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[1.0], [2.0], [4.0], [5.0]])
    >>> noisy = with_noise(values, 0.5, np.array([[0.3], [-1.0], [0.2], [0.9]]))
    >>> bool(np.isclose(noisy.mean(), 3.0)), bool(np.isclose(noisy.var(), values.var()))
    (True, True)
    """
    numbers = checked_numbers(values)
    n_records, n_columns = numbers.shape
    if not 0 < share < np.inf:
        raise InputError(
            Reason.BAD_OPTION,
            f"Noise with {share} of the variance was asked for.",
            "That is no positive number.",
            "Give a positive number; 0.1 adds a tenth of the variance.",
        )
    if keep_moments and n_records <= n_columns:
        raise InputError(
            Reason.BAD_OPTION,
            f"Noise that keeps the moments of {n_columns} variables was asked for.",
            f"There are {n_records:,} records: too few to tell their covariances.",
            "Add noise without keeping moments, or to fewer variables.",
        )
    given = _weights(n_records, weights)
    mean, covariance = moments(numbers, given)
    # By standard deviations: variables may be of very different sizes.
    scale = np.sqrt(np.diag(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = (numbers - mean) / scale
    _, correlation = moments(scaled, given)
    shape = correlation if correlated else np.diag(np.diag(correlation))
    noisy = scaled + _times(normals, np.sqrt(share) * root(shape))
    if keep_moments:
        mean_after, covariance_after = moments(noisy, given)
        back = root(covariance_after, inverse=True) @ root(correlation)
        noisy = _times(noisy - mean_after, back)
    return mean + scale * noisy


def moments(values: Floats, weights: ArrayLike | None = None) -> tuple[Floats, Floats]:
    """Return means and covariances (divisor: the sum of weights), by weight where they are given.

    Examples
    --------
    >>> mean, covariance = moments(np.array([[1.0, 0.0], [3.0, 2.0]]))
    >>> mean.tolist(), covariance.tolist()
    ([2.0, 1.0], [[1.0, 1.0], [1.0, 1.0]])
    """
    given = _weights(len(values), weights)
    total = given.sum()
    mean = np.array([(given * column).sum() for column in values.T]) / total
    n_columns = values.shape[1]
    covariance = np.empty((n_columns, n_columns))
    for i in range(n_columns):
        scaled = given * (values[:, i] - mean[i])
        for j in range(i, n_columns):
            covariance[i, j] = covariance[j, i] = (scaled * (values[:, j] - mean[j])).sum() / total
    return mean, covariance


def root(covariance: Floats, *, inverse: bool = False) -> Floats:
    """Return the symmetric root of a covariance, or its inverse; directions without spread give none.

    Examples
    --------
    >>> root(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    if not covariance.size:
        return covariance.copy()
    values, vectors = np.linalg.eigh(covariance)
    top = max(float(values.max()), 0.0)
    kept = values > _SMALL * top
    powers = np.zeros_like(values)
    powers[kept] = values[kept] ** (-0.5 if inverse else 0.5)
    return (vectors * powers) @ vectors.T


def _weights(n_records: int, weights: ArrayLike | None) -> Floats:
    return np.ones(n_records) if weights is None else np.asarray(weights, dtype=np.float64)


def _times(values: Floats, matrix: Floats) -> Floats:
    made = np.zeros((len(values), matrix.shape[1]))
    for place, row in enumerate(matrix):
        made += values[:, place : place + 1] * row
    return made
