"""An order of the records of a file that hangs on their values alone, mixed by a seed.

What is sampled, halved or decided between equals must not hang on how a file was sorted. So records
are put in the order of a number that is mixed from their values, the names of the variables and the
seed; the order of the variables does not matter. Records that are equal in all that is compared have
the same number, and come in an order drawn by the seed: files in the same order must not help. A
record costs one number per variable and its place in a sort.

The mixing is that of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linkage.comparison import Comparison

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def record_order(comparisons: Sequence[Comparison], side: int, seed: int) -> NDArray[np.int64]:
    """Return the records of the first (0) or second (1) file in an order by their values.

    Examples
    --------
    >>> ages = np.array([30.0, 41.0, 52.0])
    >>> one, turned = (Comparison("Age", "absolute", a, ages) for a in (ages, ages[::-1]))
    >>> orders = record_order([one], 0, 1), record_order([turned], 0, 1)
    >>> ages[orders[0]].tolist() == ages[::-1][orders[1]].tolist()
    True
    """
    columns = [(one.name, one.b if side else one.a) for one in comparisons]
    return values_order(columns, side, seed)


def values_order(
    columns: Sequence[tuple[str, NDArray[Any]]], side: int, seed: int
) -> NDArray[np.int64]:
    """Return the records of a file, given as named columns, in an order by their values."""
    n = len(columns[0][1])
    mixed = np.zeros(n, np.uint64)
    with np.errstate(over="ignore"):
        for name, values in columns:
            start = np.uint64(crc32(name.encode())) + np.uint64(seed % 2**32) * _STEP
            mixed += _mixed(_numbers(values) + start)
    drawn = np.random.default_rng((seed, side)).permutation(n)
    return drawn[np.argsort(mixed[drawn], kind="stable")]


def _numbers(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return whole numbers that are equal where values are, missing ones among them."""
    if values.dtype.kind != "f":
        return values.astype(np.uint64)
    # There is a second zero, and there are many NaN.
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    found = numbers + _STEP
    found = (found ^ (found >> np.uint64(30))) * _FIRST
    found = (found ^ (found >> np.uint64(27))) * _SECOND
    return found ^ (found >> np.uint64(31))
