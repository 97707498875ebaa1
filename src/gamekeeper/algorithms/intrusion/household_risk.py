"""Household risk: the probability that at least one member of a household is re-identified.

With r_i the risk of member i, and members found independently of each other, it is
1 - product of (1 - r_i). Whoever finds one member has found them all, so it is the risk of each of
them. Hundepool et al. 2012, section 3.3.7. Linear in records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def household_risk(
    risk: NDArray[np.float64], household: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Return for each record the risk of its household.

    Parameters
    ----------
    risk
        The risk of each record, from 0 to 1; one that is not known (NaN) adds nothing.
    household
        The number of its household, from 1; a record with 0 is a household of its own.

    Examples
    --------
    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([1, 1, 0])).tolist()
    [0.75, 0.75, 0.1]
    """
    with np.errstate(divide="ignore"):
        stays = np.log1p(-np.nan_to_num(risk))
    together = np.bincount(household, stays)[household]
    return np.where(household == 0, np.nan_to_num(risk), -np.expm1(together))
