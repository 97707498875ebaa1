"""A latent class model as a rival: within each of a few classes the variables are independent.

Fitted by expectation and maximization with half a record spread over the categories of a variable in
each class, from one seeded start. There are as many classes as the sample has records for, up to 16: a
choice by experiment, on which the ranking hardly depends beyond 6. The sizes of a sample unique's class
are Poisson with the rate that the model expects, as in the printed estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_CLASSES = (16, 10, 6, 4)
_PRIOR = 0.5
_MOST_STEPS = 300
_SETTLED = 1e-4


def log_expected(
    rows: NDArray[np.integer[Any]],
    counts: NDArray[np.integer[Any]],
    levels: Sequence[int],
    seed: int,
) -> Floats:
    """Return the log of the expected count of each row under a latent class model."""
    n = float(counts.sum())
    enough = [k for k in _CLASSES if k * len(levels) * 6 <= n]
    n_classes = enough[0] if enough else _CLASSES[-1]
    sizes = np.array(levels, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = rows.astype(np.int64) + starts
    weights = counts.astype(np.float64)
    shares = np.bincount(places.ravel(), np.repeat(weights, len(levels)), int(sizes.sum()))
    rng = np.random.default_rng([seed, n_classes])
    tables = (shares + _PRIOR / np.repeat(sizes, sizes)) * rng.gamma(2.0, 0.5, (n_classes, 1))
    tables = tables * rng.gamma(2.0, 0.5, tables.shape)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    for v in range(len(sizes)):
        tables[:, owner == v] /= tables[:, owner == v].sum(axis=1, keepdims=True)
    logs = np.zeros(len(rows))
    mixed = np.full(n_classes, 1 / n_classes)
    _climb(places, weights, starts, sizes, mixed, tables, logs)
    return logs + np.log(n)


@njit(cache=True)
def _climb(
    places: Any, weights: Any, starts: Any, sizes: Any, mixed: Any, tables: Any, logs: Any
) -> None:
    n_classes, n_variables = len(mixed), places.shape[1]
    last = -np.inf
    chance = np.empty(n_classes)
    for _ in range(_MOST_STEPS):
        log_tables = np.log(tables)
        log_mixed = np.log(mixed)
        new_mixed, new_tables = np.zeros_like(mixed), np.zeros_like(tables)
        height = 0.0
        for i in range(len(places)):
            for c in range(n_classes):
                chance[c] = log_mixed[c]
                for v in range(n_variables):
                    chance[c] += log_tables[c, places[i, v]]
            top = chance.max()
            total = np.exp(chance - top).sum()
            logs[i] = top + np.log(total)
            height += weights[i] * logs[i]
            for c in range(n_classes):
                part = weights[i] * np.exp(chance[c] - logs[i])
                new_mixed[c] += part
                for v in range(n_variables):
                    new_tables[c, places[i, v]] += part
        for c in range(n_classes):
            for v in range(n_variables):
                for at in range(starts[v], starts[v] + sizes[v]):
                    tables[c, at] = (new_tables[c, at] + _PRIOR / sizes[v]) / (
                        new_mixed[c] + _PRIOR
                    )
            mixed[c] = (new_mixed[c] + _PRIOR) / (weights.sum() + n_classes * _PRIOR)
        if height - last < _SETTLED:
            break
        last = height
