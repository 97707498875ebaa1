"""How far the tables of a changed file are from those of before: entropy, and Hellinger's distance.

Of two distributions p and q it is sqrt(sum of (sqrt p - sqrt q)² / 2): 0 where they are equal, 1 where
they have nothing in common. It is taken of every margin of up to three variables. A margin whose
variables did not change, of the same records with the same weights, has 0 and is not counted.

Cost: a pass over the records for every margin with a changed variable, before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[Any]
Floats = NDArray[np.float64]
_DENSE = 1 << 20


@dataclass(frozen=True, slots=True)
class MarginDistance:
    """A margin, by the places of its variables, and how far it is from before."""

    variables: tuple[int, ...]
    distance: float


def hellinger(before: ArrayLike, after: ArrayLike) -> float:
    """Return the distance of two distributions, given as counts or sums of weights.

    Examples
    --------
    >>> hellinger([1, 1], [2, 2]), hellinger([3, 0], [0, 5])
    (0.0, 1.0)
    """
    p, q = (np.asarray(counts, dtype=np.float64) for counts in (before, after))
    if not p.sum() or not q.sum():
        return 0.0 if p.sum() == q.sum() else 1.0
    apart = np.sqrt(p / p.sum()) - np.sqrt(q / q.sum())
    return min(1.0, float(np.sqrt((apart**2).sum() / 2)))


def entropy(counts: ArrayLike) -> float:
    """Return the entropy of a distribution in bits.

    Examples
    --------
    >>> entropy([1, 1]), entropy([7])
    (1.0, 0.0)
    """
    given = np.asarray(counts, dtype=np.float64)
    shares = given[given > 0] / given.sum() if given.sum() else given[:0]
    return max(0.0, float(-(shares * np.log2(shares)).sum()))


def margin_distances(
    before: Codes,
    after: Codes,
    *,
    most: int = 3,
    weights: tuple[ArrayLike, ArrayLike] | None = None,
) -> list[MarginDistance]:
    """Return the distance of every margin of 1 up to `most` variables.

    Equal codes mean the same in both tables. Weights are those of the records before and after.

    Examples
    --------
    >>> first, second = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]])
    >>> [(m.variables, m.distance) for m in margin_distances(first, second)]
    [((0,), 0.0), ((1,), 0.0), ((0, 1), 1.0)]
    """
    n_variables = before.shape[1]
    given = None if weights is None else tuple(np.asarray(w, dtype=np.float64) for w in weights)
    same_people = len(before) == len(after) and (
        given is None or bool(np.array_equal(given[0], given[1]))
    )
    changed = [
        not same_people or not np.array_equal(before[:, place], after[:, place])
        for place in range(n_variables)
    ]
    sizes = [
        1 + max(int(before[:, p].max(initial=0)), int(after[:, p].max(initial=0)))
        for p in range(n_variables)
    ]
    columns = [
        [np.ascontiguousarray(table[:, place], dtype=np.int64) for place in range(n_variables)]
        for table in (before, after)
    ]
    found: list[MarginDistance] = []
    kept: tuple[int, ...] | None = None
    cells: list[NDArray[np.int64]] = []
    places = range(n_variables)
    for chosen in (c for size in range(1, most + 1) for c in combinations(places, size)):
        if not any(changed[place] for place in chosen):
            found.append(MarginDistance(chosen, 0.0))
            continue
        if chosen[:-1] != kept:
            # Margins that differ in their last variable come one after the other.
            kept = chosen[:-1]
            cells = [np.zeros(len(table), np.int64) for table in (before, after)]
            for place in kept:
                cells = [
                    start * sizes[place] + own[place]
                    for start, own in zip(cells, columns, strict=True)
                ]
        last = chosen[-1]
        first, second = (
            start * sizes[last] + own[last] for start, own in zip(cells, columns, strict=True)
        )
        found.append(MarginDistance(chosen, hellinger(*_counted(first, second, given))))
    return found


def mean_distances(distances: Sequence[MarginDistance]) -> dict[int, float]:
    """Return the mean distance of margins by their number of variables.

    Examples
    --------
    >>> mean_distances([MarginDistance((0,), 0.5), MarginDistance((1,), 0.0)])
    {1: 0.25}
    """
    by_size: dict[int, list[float]] = {}
    for margin in distances:
        by_size.setdefault(len(margin.variables), []).append(margin.distance)
    return {size: sum(own) / len(own) for size, own in sorted(by_size.items())}


def worst(distances: Sequence[MarginDistance], number: int) -> list[MarginDistance]:
    """Return the margins that are farthest from before; of equal ones those of fewer variables."""
    ordered = sorted(distances, key=lambda m: (-m.distance, len(m.variables), m.variables))
    return [margin for margin in ordered[:number] if margin.distance > 0]


def n_margins(n_variables: int, most: int = 3) -> int:
    """Return how many margins of 1 up to `most` variables there are.

    Examples
    --------
    >>> n_margins(10)
    175
    """
    return sum(comb(n_variables, size) for size in range(1, min(most, n_variables) + 1))


def _counted(
    before: NDArray[np.int64], after: NDArray[np.int64], weights: tuple[Floats, ...] | None
) -> tuple[Floats, Floats]:
    """Return how much there is in every cell, before and after."""
    top = max(int(before.max(initial=0)), int(after.max(initial=0))) + 1
    if top > max(_DENSE, 4 * len(before)):
        _, places = np.unique(np.concatenate((before, after)), return_inverse=True)
        before, after = places[: len(before)], places[len(before) :]
        top = int(places.max(initial=0)) + 1
    first, second = (None, None) if weights is None else weights
    return (
        np.bincount(before, first, top).astype(np.float64),
        np.bincount(after, second, top).astype(np.float64),
    )
