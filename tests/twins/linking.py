"""Links by brute force: every way to link, and the least cost of any."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def every_linking(costs: np.ndarray) -> list[tuple[float, tuple[int, ...]]]:
    """Return every way to link as many rows as can be, with its cost; -1 for none."""
    n_rows, n_columns = costs.shape
    places = [*range(n_columns), *[-1] * n_rows]
    found: dict[tuple[int, ...], float] = {}
    for columns in set(permutations(places, n_rows)):
        total = sum(costs[row, column] for row, column in enumerate(columns) if column >= 0)
        if np.isfinite(total):
            found[columns] = float(total)
    most = max(sum(column >= 0 for column in columns) for columns in found)
    return sorted(
        (total, columns)
        for columns, total in found.items()
        if sum(column >= 0 for column in columns) == most
    )


def least_cost(costs: np.ndarray) -> float:
    """Return the least cost of as many links as can be."""
    return every_linking(costs)[0][0]
