"""What a group of records has in common: its mean, and what is lost by releasing that."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gamekeeper.algorithms.perturbation.mdav import Floats, Labels, checked_numbers, standardized


def group_means(values: ArrayLike, labels: Labels, weights: ArrayLike | None = None) -> Floats:
    """Return for every record the means of its group; by weights, weighted totals stay as they were.

    A group whose weights are all 0 has its plain mean.

    Examples
    --------
    >>> group_means([[1.0], [3.0], [10.0]], np.array([0, 0, 1])).ravel().tolist()
    [2.0, 2.0, 10.0]
    """
    numbers = checked_numbers(values)
    if not len(numbers):
        return numbers.copy()
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    n_groups = int(labels.max()) + 1
    total = np.bincount(labels, given, n_groups)
    given = np.where(total[labels] > 0, given, 1.0)
    total = np.bincount(labels, given, n_groups)
    means = np.empty_like(numbers)
    for place in range(numbers.shape[1]):
        # Around one value of the group, so that a mean of equal values is that value.
        base = np.zeros(n_groups)
        base[labels] = numbers[:, place]
        shift = np.bincount(labels, given * (numbers[:, place] - base[labels]), n_groups)
        means[:, place] = (base + shift / total)[labels]
    return means


def error_share(values: ArrayLike, labels: Labels, *, standardize: bool = True) -> float:
    """Return the squared error within groups as a share of all: 0 nothing is lost, 1 everything.

    Examples
    --------
    >>> round(error_share([[0.0], [2.0], [9.0], [11.0]], np.array([0, 0, 1, 1])), 6)
    0.047059
    """
    numbers = checked_numbers(values)
    if standardize:
        numbers = standardized(numbers)
    within = ((numbers - group_means(numbers, labels)) ** 2).sum()
    total = ((numbers - numbers.mean(axis=0)) ** 2).sum()
    return float(within / total) if total else 0.0
