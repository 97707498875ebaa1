"""Levels of agreement of pairs of records, and counts of their patterns.

The distance of a pair in a variable falls into a level: 0 up to the first limit, 1 up to the
second, and so on; a missing value has no level. Patterns are counted a block at a time. A pair
costs its distances and the sorting of its block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs
from gamekeeper.algorithms.linkage.comparison import Comparison, require_comparisons
from gamekeeper.algorithms.linkage.texts import TEXT_MEASURES
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress

Limits: TypeAlias = Sequence[Sequence[float]]
"""For each variable the rising limits of its levels."""

Floats = NDArray[np.float64]

_ASKED = "Levels of agreement of pairs of records were asked for."
_CELLS_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class LevelPatterns:
    """Distinct combinations of levels, -1 for missing, and how many pairs have each."""

    levels: NDArray[np.int8] = field(repr=False)
    counts: Floats = field(repr=False)
    n_levels: tuple[int, ...]


def default_limits(comparison: Comparison) -> tuple[float, ...]:
    """Return the limits of levels of a variable where none are given.

    Categories: equal or not. Categories by sinks: equal sets, up to half of the sinks in common,
    less. Texts: equal, a slip (0.12), alike (0.3), other. Numbers: equal, within 5% and within 25%
    of the mean distance, farther.
    """
    if comparison.measure == "different":
        return (0.0,)
    if comparison.measure == "sinks":
        return (0.0, 0.5)
    if comparison.measure in TEXT_MEASURES:
        return (0.0, 0.12, 0.3)
    mean = comparison.mean_distance()
    return (0.0, 0.05 * mean, 0.25 * mean) if mean > 0 else (0.0,)


def require_limits(comparisons: Sequence[Comparison], limits: Limits) -> None:
    """Refuse limits that do not fit the variables, and variables of different files."""
    require_comparisons(comparisons)
    rising = all(len(one) and all(np.diff(one) > 0) and one[0] >= 0 for one in limits)
    if len(limits) != len(comparisons) or not rising or max(map(len, limits)) > 100:
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED,
            f"{len(limits)} lists of limits were given for {len(comparisons)} variables, or one is "
            "empty, not rising, or has more than 100 limits.",
            "Give for each variable at least one limit of 0 or more, in rising order.",
        )


def count_patterns(
    comparisons: Sequence[Comparison],
    limits: Limits,
    candidates: CandidatePairs | None = None,
    *,
    progress: Progress | None = None,
) -> LevelPatterns:
    """Count the patterns of levels of candidate pairs, or of all pairs, a block at a time.

    Examples
    --------
    >>> from gamekeeper.algorithms.linkage.distances import compare_categories
    >>> patterns = count_patterns([compare_categories([1, 2, 0], [1])], [(0.0,)])
    >>> patterns.levels.ravel().tolist(), patterns.counts.tolist()
    ([-1, 0, 1], [1.0, 1.0, 1.0])
    """
    require_limits(comparisons, limits)
    plain, strides = _with_missing_apart(comparisons, limits)
    found = np.zeros(0, np.int64)
    counts = np.zeros(0, np.int64)
    shape = comparisons[0].shape
    height = max(_CELLS_AT_ONCE // max(shape[1], 1), 1)
    if candidates is None:
        rows = np.zeros(0, np.int32)
        stretches = [slice(k, min(k + height, shape[0])) for k in range(0, shape[0], height)]
    else:
        rows = candidates.rows()
        stretches = list(candidates.blocks(_CELLS_AT_ONCE))
    for done, part in enumerate(stretches):
        if candidates is None:
            codes = _codes_of_block(plain, limits, strides, part)
        else:
            pairs = rows[part], candidates.columns[part]
            codes = _codes_of_pairs(plain, limits, strides, *pairs)
        kinds, times = np.unique(codes, return_counts=True)
        merged, place = np.unique(np.concatenate((found, kinds)), return_inverse=True)
        totals = np.zeros(len(merged), np.int64)
        np.add.at(totals, place, np.concatenate((counts, times)))
        found, counts = merged, totals
        if progress is not None:
            progress(done + 1, len(stretches))
    return _patterns(found, counts, limits, strides)


def shares_of_pairs(
    comparisons: Sequence[Comparison],
    limits: Limits,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> list[Floats]:
    """Return the share of each level among listed pairs, half a pair added to every level."""
    from gamekeeper.algorithms.linkage.distance_kernels import add_level_digits

    found: list[Floats] = []
    for comparison, one in zip(comparisons, limits, strict=True):
        levels = np.zeros(len(rows), np.int64)
        distances = comparison.with_missing(math.nan).pairs(rows, columns)
        add_level_digits(levels, distances, np.asarray(one, np.float64), 1)
        counts = np.bincount(levels, minlength=len(one) + 2)[1:] + 0.5
        found.append(counts / counts.sum())
    return found


def _with_missing_apart(
    comparisons: Sequence[Comparison], limits: Limits
) -> tuple[list[Comparison], list[int]]:
    """Return comparisons that are NaN where missing, and the stride of each in a pattern."""
    sizes = [len(one) + 2 for one in limits]
    if math.prod(sizes) >= 2**62:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED,
            f"{len(sizes)} variables have more than 2^62 patterns of levels.",
            "Compare fewer variables (--on); in Python, with fewer levels.",
        )
    strides = [math.prod(sizes[:k]) for k in range(len(sizes))]
    return [c.with_missing(math.nan) for c in comparisons], strides


def _codes_of_block(
    comparisons: Sequence[Comparison], limits: Limits, strides: Sequence[int], rows: slice
) -> NDArray[np.int64]:
    from gamekeeper.algorithms.linkage.distance_kernels import add_level_digits

    codes = np.zeros((rows.stop - rows.start) * comparisons[0].shape[1], np.int64)
    for comparison, one, stride in zip(comparisons, limits, strides, strict=True):
        distances = comparison.matrix(rows).ravel()
        add_level_digits(codes, distances, np.asarray(one, np.float64), stride)
    return codes


def _codes_of_pairs(
    comparisons: Sequence[Comparison],
    limits: Limits,
    strides: Sequence[int],
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
) -> NDArray[np.int64]:
    from gamekeeper.algorithms.linkage.distance_kernels import add_level_digits

    codes = np.zeros(len(rows), np.int64)
    for comparison, one, stride in zip(comparisons, limits, strides, strict=True):
        distances = comparison.pairs(rows, columns)
        add_level_digits(codes, distances, np.asarray(one, np.float64), stride)
    return codes


def _patterns(
    codes: NDArray[np.int64], counts: NDArray[np.int64], limits: Limits, strides: Sequence[int]
) -> LevelPatterns:
    levels = np.empty((len(codes), len(limits)), np.int8)
    for k, one in enumerate(limits):
        levels[:, k] = codes // strides[k] % (len(one) + 2) - 1
    return LevelPatterns(levels, counts.astype(np.float64), tuple(len(one) + 1 for one in limits))
