"""Links by brute force: every way to link, the least cost of any, and the best rows of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def least_cost(costs: np.ndarray) -> tuple[int, float]:
    """Return the most links that there can be, and the least cost of so many."""
    costs = np.asarray(costs, float)
    if costs.shape[0] > costs.shape[1]:
        costs = costs.T
    n_rows, n_columns = costs.shape
    best = (0, 0.0)
    for columns in permutations(range(n_columns), n_rows):
        linked = [cost for cost in costs[range(n_rows), list(columns)] if cost < np.inf]
        best = min(best, (-len(linked), sum(linked)))
    return -best[0], best[1]


def best_rows(
    rows_a: Sequence[Sequence[int]],
    rows_b: Sequence[Sequence[int]],
    mappings: Sequence[Mapping[int, int]],
) -> tuple[int, list[list[int]]]:
    """Return in how many places labels correspond at the best rows of B, and all best rows.

    Which label of B stands for which of A is said, for each place.
    """
    similarity = 0
    every: list[list[int]] = []
    for row in rows_a:
        wanted = [mapping.get(label) for mapping, label in zip(mappings, row, strict=True)]
        agreeing = [
            sum(label == other for label, other in zip(wanted, candidate, strict=True))
            for candidate in rows_b
        ]
        similarity += max(agreeing)
        every.append([k for k, number in enumerate(agreeing) if number == max(agreeing)])
    return similarity, every
