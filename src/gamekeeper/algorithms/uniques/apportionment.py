"""Calibration of the scores of sample uniques by the file's DIS: DIS-SUDA and DIS-IS.

DIS-SUDA (Elliot and Manning 2003) divides DIS times the number of sample uniques among them in
proportion to the natural logarithm of the score; what exceeds 1 is cut and divided again among
the others. The end of that loop is min(1, c ln(score)) with one c, found here by sorting.

DIS-IS (Smith's thesis, chapter 8, with the index of the sum corrected) is
1 / (1 + w_j (U/D - U)) with w_j = S_j^-Q / sum_i S_i^-Q and Q = 1 + (8-K)/20 for K key variables.
The harmonic mean of the result is D where every score is positive.

Both give 0 to a sample unique without score (score 0; for DIS-SUDA also 1, whose logarithm is 0).
Both cost a sort or less. The DIS-SUDA values depend on the power of ten in the SUDA score, since
ln(10 s) is not proportional to ln(s): compare them only for the same power.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Reason

DIS_IS_MOST_VARIABLES = 27
"""The most key variables for which DIS-IS ranks records as the score does (Q > 0)."""


class Apportionment(NamedTuple):
    """DIS-SUDA values, and what is left when every record with a weight has 1."""

    values: NDArray[np.float64]
    unallocated: float


def dis_suda(
    scores: Sequence[int | float] | NDArray[Any], dis: Fraction | float | None
) -> Apportionment:
    """Divide DIS times the number of sample uniques among them by the logarithm of the score.

    Scores are those of every sample unique, and of no other record. The DIS of the file is None
    (undefined) only where there is no sample unique.

    Examples
    --------
    >>> dis_suda([10, 100, 1000], 0.5).values.round(2)
    array([0.25, 0.5 , 0.75])
    >>> dis_suda([5, 25, 625], 0.95).values.round(2)
    array([0.85, 1.  , 1.  ])
    """
    share = _checked_share(scores, dis, "DIS-SUDA")
    weights = np.maximum(_logarithms(scores), 0.0)
    total = share * len(weights)
    order = np.argsort(-weights, kind="stable")
    falling = weights[order][: np.count_nonzero(weights)]
    if len(falling) <= total or not len(falling):
        return Apportionment(np.where(weights > 0, 1.0, 0.0), max(0.0, total - len(falling)))
    # With the k largest at 1, the others get c times their weight; the smallest k for which the
    # next largest stays within 1 is the end of the loop.
    rests = np.cumsum(falling[::-1])[::-1]
    factors = (total - np.arange(len(falling))) / rests
    n_capped = int(np.argmax(factors * falling <= 1.0))
    values = np.minimum(1.0, factors[n_capped] * weights)
    values[order[:n_capped]] = 1.0
    return Apportionment(values, 0.0)


def dis_is_power(n_variables: int) -> Fraction:
    """Return Q = 1 + (8-K)/20, which must be positive for DIS-IS to rank as the score does.

    Examples
    --------
    >>> dis_is_power(8), dis_is_power(12)
    (Fraction(1, 1), Fraction(4, 5))
    """
    if not 1 <= n_variables <= DIS_IS_MOST_VARIABLES:
        raise InputError(
            Reason.BAD_OPTION,
            f"DIS-IS for {n_variables} key variables was asked for.",
            f"Its power 1 + (8-K)/20 is positive for 1 to {DIS_IS_MOST_VARIABLES} key variables;"
            " it is 0 for 28 and turns the ranking round beyond.",
            "Use fewer key variables, or another score.",
        )
    return Fraction(28 - n_variables, 20)


def dis_is(
    scores: Sequence[int | float] | NDArray[Any],
    dis: Fraction | float | None,
    n_variables: int,
    *,
    power: Fraction | float | None = None,
) -> NDArray[np.float64]:
    """Turn scores of sample uniques into estimated probabilities of a correct match.

    Scores are the IS of every sample unique, or another score such as SUDA's; DIS is as for
    `dis_suda`. There are 1 to 27 key variables (K), or any number with another power than Q = 1 +
    (8-K)/20.

    Examples
    --------
    >>> dis_is([720, 24, 6], 0.2, 8).round(4)
    array([0.9264, 0.2955, 0.0949])
    """
    share = _checked_share(scores, dis, "DIS-IS")
    exponent = float(dis_is_power(n_variables) if power is None else power)
    logarithms = _logarithms(scores)
    values = np.zeros(len(logarithms))
    scored = np.isfinite(logarithms)
    if share == 0 or not scored.any():
        return values
    # Scores may be as large as 64!: what is added up are their ratios to the smallest share.
    steps = -exponent * logarithms[scored]
    shares = np.exp(steps - steps.max())
    false_matches = len(values) / share - len(values)
    values[scored] = 1.0 / (1.0 + shares / shares.sum() * false_matches)
    return values


def _logarithms(scores: Sequence[int | float] | NDArray[Any]) -> NDArray[np.float64]:
    """Return ln(score), minus infinity for 0; scores may be Python integers of any size."""
    given = np.asarray(scores)
    if given.dtype == object:
        return np.array([math.log(s) if s > 0 else -math.inf for s in given], dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(given.astype(np.float64))


def _checked_share(
    scores: Sequence[int | float] | NDArray[Any], dis: Fraction | float | None, name: str
) -> float:
    given = np.asarray(scores)
    if given.dtype == object:
        n_wrong = sum(not 0 <= s < math.inf for s in given)
    else:
        n_wrong = int(np.count_nonzero(~((given >= 0) & np.isfinite(given))))
    share = 0.0 if dis is None and not len(given) else dis
    if share is None or not 0 <= share <= 1 or n_wrong:
        raise InputError(
            Reason.BAD_OPTION,
            f"{name} of {len(given):,} sample uniques was asked for.",
            f"{n_wrong:,} scores are negative or not numbers."
            if n_wrong
            else "The DIS of the file is not a number from 0 to 1.",
            "Give the scores of the sample uniques and the DIS of the same file.",
        )
    return float(share)
