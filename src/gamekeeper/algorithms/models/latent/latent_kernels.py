"""Compiled passes over the rows of a latent class model; see `latent_classes`.

Tables have a line for each category of each variable and a column for each class, so that a row of the
sample is a product of lines. Products are kept near 1, and their logarithm beside them.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles, and gives intrinsics another signature.

from __future__ import annotations

from typing import Any

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

EXPECT, LEAN, SPLIT = 0, 1, 2
_BETWEEN_RESCALING = 8


@inner
def _chances(places: Any, row: int, shares: Any, tables: Any, chance: Any) -> float:
    """Write the chance of each class given a row, and return the log of the row's probability."""
    n_classes, n_variables = len(shares), places.shape[1]
    logs = 0.0
    for c in range(n_classes):
        chance[c] = shares[c]
    for v in range(n_variables):
        at = places[row, v]
        for c in range(n_classes):
            chance[c] *= tables[at, c]
        if v % _BETWEEN_RESCALING == _BETWEEN_RESCALING - 1 or v == n_variables - 1:
            total = 0.0
            for c in range(n_classes):
                total += chance[c]
            if total == 0:
                # Nobody has such a category.
                return -np.inf
            logs += np.log(total)
            for c in range(n_classes):
                chance[c] /= total
    return logs


@kernel
def pass_over(
    places: Any,
    weights: Any,
    shares: Any,
    tables: Any,
    kind: int,
    axes: Any,
    centres: Any,
    scales: Any,
    records: Any,
    cells: Any,
    squares: Any,
) -> float:
    """Add to each class what the rows have of it, and return the log likelihood.

    What a row has of a class is the class's chance given the row, times 1 (EXPECT), times how far the
    row is from the centre along the axis of the class (LEAN), or times the logistic function of twice
    that (SPLIT).
    """
    n_classes, n_variables = len(shares), places.shape[1]
    chance = np.empty(n_classes)
    height = 0.0
    for i in range(len(places)):
        height += weights[i] * _chances(places, i, shares, tables, chance)
        for c in range(n_classes):
            part = weights[i] * chance[c]
            if kind != EXPECT:
                along = -centres[c]
                for v in range(n_variables):
                    along += axes[places[i, v], c]
                along *= scales[c]
                squares[c] += part * along * along
                part *= along if kind == LEAN else 1 / (1 + np.exp(-2 * along))
            chance[c] = part
            records[c] += part
        for v in range(n_variables):
            at = places[i, v]
            for c in range(n_classes):
                cells[at, c] += chance[c]
    return height


@kernel
def log_rows(
    places: Any,
    taken: Any,
    n_records: float,
    share_prior: float,
    records: Any,
    cells: Any,
    prior: Any,
    weight: float,
    logs: Any,
) -> None:
    """Write the log probability of rows, `taken` records less of each row than there are."""
    n_classes, n_variables = len(records), places.shape[1]
    every = n_records + n_classes * share_prior
    shares = (records + share_prior) / every
    tables = np.empty_like(cells)
    for at in range(len(cells)):
        for c in range(n_classes):
            tables[at, c] = (cells[at, c] + prior[at]) / (records[c] + weight)
    chance = np.empty(n_classes)
    less = np.empty(n_classes)
    for i in range(len(places)):
        logs[i] = _chances(places, i, shares, tables, chance)
        if taken[i] <= 0 or np.isinf(logs[i]):
            continue
        # The records to take out are of each class by its chance.
        top = -np.inf
        for c in range(n_classes):
            own = min(taken[i] * chance[c], records[c])
            less[c] = np.log((records[c] - own + share_prior) / (every - taken[i]))
            for v in range(n_variables):
                at = places[i, v]
                left = max(cells[at, c] - own, 0.0)
                less[c] += np.log((left + prior[at]) / (records[c] - own + weight))
            top = max(top, less[c])
        total = 0.0
        for c in range(n_classes):
            total += np.exp(less[c] - top)
        logs[i] = top + np.log(total)
