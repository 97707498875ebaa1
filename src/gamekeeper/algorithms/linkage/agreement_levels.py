"""Levels of agreement of pairs of records.

The distance of a pair in a variable falls into a level: 0 up to the first limit, 1 up to the
second, and so on; a missing value has no level. A pair costs its distances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.comparison import Comparison, require_comparisons
from gamekeeper.algorithms.linkage.texts import TEXT_MEASURES
from gamekeeper.errors import InputError, Reason

Limits: TypeAlias = Sequence[Sequence[float]]
"""For each variable the rising limits of its levels."""

Floats = NDArray[np.float64]

_N_RANDOM = 100_000
_QUANTILES = (0.001, 0.003, 0.01, 0.02, *(k / 20 for k in range(1, 20)))
_SINKS = (0.0, 0.5, 0.8, 0.95, 1.0)


def fine_limits(comparison: Comparison) -> tuple[float, ...]:
    """Return the limits of levels of a variable: fine where distances are many.

    Categories: equal or not. Categories by sinks: five levels of overlap, and impossible. Texts:
    equal, a slip (0.12), alike (0.3), other. Numbers, dates and ranks: equal, and the distances
    that a tenth of a percent to 95% of random pairs are within, in steps of 5% from there on.
    """
    if comparison.measure == "different":
        return (0.0,)
    if comparison.measure == "sinks":
        return _SINKS
    if comparison.measure in TEXT_MEASURES:
        return (0.0, 0.12, 0.3)
    if not all(comparison.shape):
        return (0.0,)
    pairs = random_pairs(comparison.shape, 0)
    distances = comparison.with_missing(math.nan).pairs(*pairs)
    known = distances[~np.isnan(distances)]
    found = np.quantile(known, _QUANTILES) if known.size else np.zeros(1)
    return tuple(np.unique(np.append(found, 0.0)).tolist())


def require_limits(comparisons: Sequence[Comparison], limits: Limits) -> None:
    """Refuse limits that do not fit the variables, and variables of different files."""
    require_comparisons(comparisons)
    rising = all(len(one) and all(np.diff(one) > 0) and one[0] >= 0 for one in limits)
    if len(limits) != len(comparisons) or not rising or max(map(len, limits)) > 100:
        raise InputError(
            Reason.BAD_OPTION,
            "Levels of agreement of pairs of records were asked for.",
            f"{len(limits)} lists of limits were given for {len(comparisons)} variables, or one is "
            "empty, not rising, or has more than 100 limits.",
            "Give for each variable at least one limit of 0 or more, in rising order.",
        )


def random_pairs(shape: tuple[int, int], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw 100,000 pairs of records: the rows, and the columns."""
    rng = np.random.default_rng(seed)
    return rng.integers(shape[0], size=_N_RANDOM), rng.integers(shape[1], size=_N_RANDOM)


def shares_of_pairs(
    comparisons: Sequence[Comparison],
    limits: Limits,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> list[Floats]:
    """Return the share of each level among listed pairs, half a pair added to every level."""
    from gamekeeper.algorithms.linkage.distance_kernels import set_levels

    levels = np.zeros((len(rows), len(limits)), np.uint8)
    found: list[Floats] = []
    for k, (comparison, one) in enumerate(zip(comparisons, limits, strict=True)):
        distances = comparison.with_missing(math.nan).pairs(rows, columns)
        set_levels(levels, k, distances, np.asarray(one, np.float64))
        counts = np.bincount(levels[:, k], minlength=len(one) + 2)[1:] + 0.5
        found.append(counts / counts.sum())
    return found
