"""Some of the records, drawn by lot: in every stratum its share, households whole, weights to match.

Of N units of a stratum n = round(fraction N), halves up, and one at least, are drawn: those with the
smallest draws. So any order of records gives the same sample, and a larger fraction one that contains
it. A unit is a record, or all records of a household. Weights of those drawn grow by N / n, so that
sums of weights stand for the same people as before. Time n log n.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of


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
