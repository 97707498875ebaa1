"""Noise that keeps moments, rank swapping, top and bottom coding, and samples of records.

**Noise** e is normal with mean 0 and covariance c S, where S is the covariance of the variables (or
its diagonal, where variables get noise of their own) and c how much of the variance is added. To
keep moments, what comes out is moved and stretched so that its means and covariances are those of
before, exactly but for rounding: z becomes (z - mean of z) T + mean of x with T = Cz^-1/2 Cx^1/2.
These are symmetric roots, of variables by their standard deviations: they do not depend on the
order of variables. Without that, variances grow by the factor 1 + c. Kim, A method for limiting
disclosure in microdata based on random noise and transformation (1986). Rounding to whole numbers,
bounds, and zeros that stay zero come after, and move moments a little: who asks for them is told by
how much. Sums are made column by column and not by a library that adds up in an order of its own,
so that the same numbers come out with any number of threads. Time n m², memory three tables.

**Rank swapping**: two records whose values are near in rank exchange them. Records are ranked by
their value, equal ones by lot. From the lowest rank on, a record that has no partner yet takes one
of those without partner at most L = floor(share n) ranks above it, each with the same chance; a
record for which none is left stays as it is. So all values stay, and none moves further than L
ranks. Where values are equal, a rank is any rank with that value, and the distance between two
values is the smallest between their ranks. Moore, Controlled data-swapping techniques for masking
public use microdata sets (1996), with partners drawn from all that are free in the window. Time n
log n, memory some five numbers per record.

**Top and bottom coding**: values above the limit c are in the tail (below it for the bottom). Where
they become c, whoever has c exactly looks the same; where they become the mean of all beyond it,
totals stay. The limit is given, or the smallest value such that at most a share of the records, or
of the weights, lies beyond it: equal values go over together or not at all. With `least`, the limit
is moved inwards until so many records at least look alike at the end. Time n log n.

**Samples**: in every stratum its share is drawn by lot. Of N units n = round(fraction N), halves
up, and one at least, are drawn: those with the smallest draws. So any order of records gives the
same sample, and a larger fraction one that contains it. A unit is a record, or all records of a
household. Weights of those drawn grow by N / n, so that sums of weights stand for the same people
as before. Time n log n.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.perturbation.microaggregation import checked_numbers
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of, exact_percent

Floats = NDArray[np.float64]
_SMALL = 1e-12


def with_noise(
    values: ArrayLike,
    share: float,
    normals: Floats,
    *,
    correlated: bool = True,
    keep_moments: bool = True,
    weights: ArrayLike | None = None,
) -> Floats:
    """Return numbers with noise.

    `share` is c, the variance of the noise as a share of that of the variable; `normals` are
    independent standard normal numbers, as many as values. Means and covariances, by weight where
    weights are given, become those of before where they are kept, which needs more records than
    variables. No cell is missing.

    Examples
    --------
    >>> values = np.array([[1.0], [2.0], [4.0], [5.0]])
    >>> noisy = with_noise(values, 0.5, np.array([[0.3], [-1.0], [0.2], [0.9]]))
    >>> bool(np.isclose(noisy.mean(), 3.0)), bool(np.isclose(noisy.var(), values.var()))
    (True, True)
    """
    numbers = checked_numbers(values)
    n_records, n_columns = numbers.shape
    if not 0 < share < np.inf:
        raise InputError(
            Reason.BAD_OPTION,
            f"Noise with {share} of the variance was asked for.",
            "That is no positive number.",
            "Give a positive number; 0.1 adds a tenth of the variance.",
        )
    if keep_moments and n_records <= n_columns:
        raise InputError(
            Reason.BAD_OPTION,
            f"Noise that keeps the moments of {n_columns} variables was asked for.",
            f"There are {n_records:,} records: too few to tell their covariances.",
            "Add noise without keeping moments, or to fewer variables.",
        )
    given = _weights(n_records, weights)
    mean, covariance = moments(numbers, given)
    # By standard deviations: variables may be of very different sizes.
    scale = np.sqrt(np.diag(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = (numbers - mean) / scale
    _, correlation = moments(scaled, given)
    shape = correlation if correlated else np.diag(np.diag(correlation))
    noisy = scaled + _times(normals, np.sqrt(share) * root(shape))
    if keep_moments:
        mean_after, covariance_after = moments(noisy, given)
        back = root(covariance_after, inverse=True) @ root(correlation)
        noisy = _times(noisy - mean_after, back)
    return mean + scale * noisy


def moments(values: Floats, weights: ArrayLike | None = None) -> tuple[Floats, Floats]:
    """Return means and covariances (divisor: the sum of weights), by weight where they are given.

    Examples
    --------
    >>> mean, covariance = moments(np.array([[1.0, 0.0], [3.0, 2.0]]))
    >>> mean.tolist(), covariance.tolist()
    ([2.0, 1.0], [[1.0, 1.0], [1.0, 1.0]])
    """
    given = _weights(len(values), weights)
    total = given.sum()
    mean = np.array([(given * column).sum() for column in values.T]) / total
    n_columns = values.shape[1]
    covariance = np.empty((n_columns, n_columns))
    for i in range(n_columns):
        scaled = given * (values[:, i] - mean[i])
        for j in range(i, n_columns):
            covariance[i, j] = covariance[j, i] = (scaled * (values[:, j] - mean[j])).sum() / total
    return mean, covariance


def root(covariance: Floats, *, inverse: bool = False) -> Floats:
    """Return the symmetric root of a covariance, or its inverse; directions without spread give none.

    Examples
    --------
    >>> root(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    if not covariance.size:
        return covariance.copy()
    values, vectors = np.linalg.eigh(covariance)
    top = max(float(values.max()), 0.0)
    kept = values > _SMALL * top
    powers = np.zeros_like(values)
    powers[kept] = values[kept] ** (-0.5 if inverse else 0.5)
    return (vectors * powers) @ vectors.T


def _weights(n_records: int, weights: ArrayLike | None) -> Floats:
    return np.ones(n_records) if weights is None else np.asarray(weights, dtype=np.float64)


def _times(values: Floats, matrix: Floats) -> Floats:
    made = np.zeros((len(values), matrix.shape[1]))
    for place, row in enumerate(matrix):
        made += values[:, place : place + 1] * row
    return made


def swapped_within(n_records: int, share: Fraction) -> int:
    """Return how many ranks a value may move, or raise where that is none.

    Examples
    --------
    >>> swapped_within(10, Fraction(1, 4))
    2
    """
    limit = int(share * n_records)
    if not 0 < share <= 1 or limit < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"Values of {count_of(n_records, 'record')} were to change places within"
            f" {exact_percent(share)} of the ranks.",
            "That is less than one rank." if share <= 1 else "That is more than all.",
            "Give a share above 0, up to 1, of which there is a rank at least.",
        )
    return limit


def rank_swapped(values: ArrayLike, share: Fraction, draws: NDArray[np.float64]) -> Floats:
    """Return the values of one variable with partners exchanged.

    `share` of the ranks is how far a value may move. There are two draws per record, from 0 to
    below 1: one ranks equal values, one chooses a partner.

    Examples
    --------
    >>> rank_swapped([3, 1, 2, 4], Fraction(1, 4), np.full((4, 2), 0.5)).tolist()
    [4.0, 2.0, 1.0, 3.0]
    """
    numbers = checked_numbers(np.asarray(values, dtype=np.float64)[:, None])[:, 0]
    limit = swapped_within(len(numbers), share)
    from gamekeeper.algorithms.perturbation.kernels import partners

    order = np.lexsort((draws[:, 0], numbers))
    partner = partners(np.ascontiguousarray(draws[order, 1]), limit)
    changed = np.empty_like(numbers)
    changed[order] = numbers[order[partner]]
    return changed


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


class DrawnRecords(NamedTuple):
    """Which records were drawn, and by how much the weight of each record grows (0 if it was not)."""

    drawn: NDArray[np.bool_]
    factors: NDArray[np.float64]


def draw_records(
    fraction: Fraction,
    draws: NDArray[np.float64],
    *,
    strata: ArrayLike | None = None,
    units: ArrayLike | None = None,
) -> DrawnRecords:
    """Draw a share of the records of every stratum.

    Draws are from 0 to below 1; of a household, that of its first record counts. `units` says whose
    household a record is of, and a household lies in one stratum. Without strata all records are
    one, and without units each is alone.

    Examples
    --------
    >>> draws = np.array([0.9, 0.1, 0.5, 0.3])
    >>> draw_records(Fraction(1, 2), draws)
    DrawnRecords(drawn=array([False,  True, False,  True]), factors=array([0., 2., 0., 2.]))
    """
    if not 0 < fraction <= 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A sample of {fraction} of the records was asked for.",
            "A share is above 0, up to 1.",
            "Give such a number.",
        )
    n_records = len(draws)
    stratum = np.zeros(n_records, np.int64) if strata is None else np.asarray(strata)
    own = np.arange(n_records) if units is None else np.asarray(units)
    _, first, unit = np.unique(own, return_index=True, return_inverse=True)
    split = int(np.count_nonzero(np.bincount(unit, stratum != stratum[first][unit])))
    if split:
        raise InputError(
            Reason.BAD_OPTION,
            "Whole households were to be drawn within strata.",
            f"{count_of(split, 'household has', 'households have')} members in several strata.",
            "Draw without strata, or correct the households.",
        )
    chosen = np.zeros(len(first), np.bool_)
    factors = np.zeros(len(first))
    of_unit, lot = stratum[first], draws[first]
    for value in np.unique(of_unit):
        members = np.flatnonzero(of_unit == value)
        wanted = max(1, int(fraction * len(members) + Fraction(1, 2)))
        taken = members[np.argsort(lot[members], kind="stable")[:wanted]]
        chosen[taken] = True
        factors[taken] = len(members) / wanted
    return DrawnRecords(chosen[unit], factors[unit])
