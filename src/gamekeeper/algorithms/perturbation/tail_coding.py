"""Top and bottom coding: numbers beyond a limit become the limit, or the mean of all beyond it.

Values above the limit c are in the tail (below it for the bottom). Where they become c, whoever has c
exactly looks the same; where they become their mean, totals stay. The limit is given, or the smallest
value such that at most a share of the records, or of the weights, lies beyond it: equal values go over
together or not at all. With `least`, the limit is moved inwards until so many records at least look
alike at the end. Time n log n.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]
_ROUNDING = 1e-12


class TailValue(StrEnum):
    """What is released for a value beyond the limit."""

    LIMIT = "limit"
    MEAN = "mean"


def tail_limit(
    values: ArrayLike,
    share: float,
    *,
    bottom: bool = False,
    weights: ArrayLike | None = None,
    least: int = 1,
    value: TailValue = TailValue.LIMIT,
) -> float:
    """Return the limit beyond which lies at most a share of the records, or of their weights.

    `share` is from 0 to below 1. `least` records have the same value at the end afterwards; where
    they get the mean, those at the limit itself do not count. No value is missing.

    Examples
    --------
    >>> tail_limit([1, 2, 3, 4, 5, 5, 5, 9], 0.2)
    5.0
    >>> tail_limit([1, 2, 3, 4, 5, 5, 5, 9], 0.2, least=3, value=TailValue.MEAN)
    4.0
    """
    numbers = np.asarray(values, dtype=np.float64)
    _check(numbers, share, least)
    if bottom:
        return -tail_limit(-numbers, share, weights=weights, least=least, value=value)
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    distinct, places = np.unique(numbers, return_inverse=True)
    weight, records = np.bincount(places, given), np.bincount(places)
    beyond = _above(weight)
    fits = beyond <= share * weight.sum() * (1 + _ROUNDING)
    place = int(np.argmax(fits))
    # Those who will look the same: at the limit too, unless they get the mean of what is beyond.
    alike = _above(records) + (records if value is TailValue.LIMIT else 0)
    while least > 1 and place > 0 and alike[place] < least:
        place -= 1
    return float(distinct[place])


def tail_coded(
    values: ArrayLike,
    *,
    top: float | None = None,
    bottom: float | None = None,
    value: TailValue = TailValue.LIMIT,
    weights: ArrayLike | None = None,
) -> Floats:
    """Return numbers with what lies beyond the limits replaced; missing ones stay missing.

    Examples
    --------
    >>> tail_coded([1, 5, 30, 50], top=20).tolist()
    [1.0, 5.0, 20.0, 20.0]
    >>> tail_coded([1, 5, 30, 50], top=20, value=TailValue.MEAN).tolist()
    [1.0, 5.0, 40.0, 40.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    given = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    if top is not None and bottom is not None and bottom > top:
        raise InputError(
            Reason.BAD_OPTION,
            "Both tails of a variable were to be coded.",
            "The lower limit is above the upper one.",
            "Give limits that leave values between them.",
        )
    coded = numbers.copy()
    for limit, is_beyond in ((top, np.greater), (bottom, np.less)):
        if limit is None:
            continue
        tail = is_beyond(numbers, limit)
        if value is TailValue.LIMIT:
            coded[tail] = limit
        elif tail.any():
            coded[tail] = _mean(numbers[tail], given[tail])
    return coded


def _above(counts: NDArray[np.generic]) -> Floats:
    """Return for each value how much lies above it."""
    return np.append(np.cumsum(counts[::-1])[::-1][1:], 0).astype(np.float64)


def _mean(values: Floats, weights: Floats) -> float:
    if not weights.sum() > 0:
        weights = np.ones(len(values))
    return float(values[0] + (weights * (values - values[0])).sum() / weights.sum())


def _check(numbers: Floats, share: float, least: int) -> None:
    if not 0 <= share < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A tail with a share of {share} was asked for.",
            "A share of a tail is from 0 to below 1.",
            "Give such a number; 0.01 is one in a hundred.",
        )
    if least > len(numbers) or not len(numbers):
        raise InputError(
            Reason.BAD_OPTION,
            f"At least {count_of(least, 'record')} were to look alike at the end of a tail.",
            f"There are {count_of(len(numbers), 'record')} with a value.",
            "Ask for fewer.",
        )
