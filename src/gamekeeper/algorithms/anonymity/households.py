"""The risk of households: at least one of a household's members is re-identified.

With r_i the individual risk of its members, taken as independent, the risk of a household is
1 - prod (1 - r_i), and each of its members has it, since who recognizes one recognizes all. A record
without a household is one by itself. Franconi and Polettini 2004; the mu-Argus manual calls it
household risk, others hierarchical risk. Linear.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def household_risk(
    risk: NDArray[np.floating[Any]], households: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Return for each record the risk of its household.

    Parameters
    ----------
    risk
        The individual risk of each record; NaN for a record that was left out, which adds nothing
        to its household and has no household risk itself.
    households
        The number of each record's household, from 1; 0 for a record without one.

    Examples
    --------
    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([1, 1, 0]))
    array([0.75, 0.75, 0.1 ])
    """
    alone = np.asarray(households) == 0
    with np.errstate(divide="ignore"):  # log(0) is right: who is certain to be found exposes all
        safe = np.log1p(-np.nan_to_num(risk, nan=0.0))
    together = np.bincount(households, weights=safe)[households]
    return np.where(np.isnan(risk), np.nan, -np.expm1(np.where(alone, safe, together)))
