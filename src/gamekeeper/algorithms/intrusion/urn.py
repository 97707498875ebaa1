"""The urn of a search: how many units are drawn until the first that matches.

Of N units M match. Without replacement the number T of draws is negative hypergeometric,
Pr(T=t) = C(N-t, M-1) / C(N, M) with mean (N+1)/(M+1); with replacement it is geometric,
Pr(T=t) = (M/N) (1-M/N)^(t-1) with mean N/M. Smith's thesis, chapter 5, with the second
distribution corrected. The list of probabilities costs one step each.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Reason


def expected_draws(n_units: int, n_matches: int, *, replacement: bool) -> Fraction:
    """Return the mean number of draws until the first match.

    Examples
    --------
    >>> expected_draws(6, 2, replacement=False), expected_draws(6, 2, replacement=True)
    (Fraction(7, 3), Fraction(3, 1))
    """
    _check(n_units, n_matches)
    if replacement:
        return Fraction(n_units, n_matches)
    return Fraction(n_units + 1, n_matches + 1)


def first_match_probabilities(
    n_units: int, n_matches: int, n_draws: int | None = None, *, replacement: bool
) -> list[Fraction]:
    """Return Pr(T=1), Pr(T=2), ... exactly.

    Parameters
    ----------
    n_units, n_matches
        Units in the urn and how many of them match, at least 1.
    n_draws
        The last draw of the list. By default the last that is possible without replacement,
        N - M + 1.
    replacement
        Whether a unit is put back before the next draw.

    Examples
    --------
    >>> first_match_probabilities(3, 1, replacement=False)
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    """
    _check(n_units, n_matches)
    last = n_units - n_matches + 1 if n_draws is None else n_draws
    listed: list[Fraction] = []
    chance = Fraction(n_matches, n_units)
    for drawn in range(1, last + 1):
        listed.append(chance)
        left = n_units - drawn
        if replacement:
            chance *= Fraction(n_units - n_matches, n_units)
        else:
            chance *= Fraction(max(0, left - n_matches + 1), left) if left > 0 else 0
    return listed


def first_match_array(
    n_units: int, n_matches: int, n_draws: int, *, replacement: bool
) -> NDArray[np.float64]:
    """Return Pr(T=1) .. Pr(T=n_draws) as floats, for long lists and large urns.

    Examples
    --------
    >>> first_match_array(4, 1, 3, replacement=True)
    array([0.25    , 0.1875  , 0.140625])
    """
    _check(n_units, n_matches)
    drawn = np.arange(1, n_draws, dtype=np.float64)
    if replacement:
        factors = np.full(len(drawn), 1 - n_matches / n_units)
    else:
        left = n_units - drawn
        factors = np.divide(
            np.maximum(left - n_matches + 1, 0), left, out=np.zeros_like(left), where=left > 0
        )
    first = np.full(1, n_matches / n_units)
    return np.cumprod(np.concatenate((first, factors)), dtype=np.float64)[:n_draws]


def _check(n_units: int, n_matches: int) -> None:
    if not 1 <= n_matches <= n_units:
        raise InputError(
            Reason.BAD_OPTION,
            f"A search among {n_units:,} units of which {n_matches:,} match was asked for.",
            "There must be at least one match, and no more matches than units.",
            "Without a match the search never ends: leave the strategy out as infeasible.",
        )
