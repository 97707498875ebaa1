"""Scores of sample uniques as columns: SUDA, IS and POL, and what DIS makes of them.

A measure that is not known is None, with the reason in words: without DIS there is no DIS-SUDA
and no DIS-IS, and DIS-IS ranks as the score does for up to 27 key variables only. Where the search
is limited to small MSUs, a unique that has none of them is not known to be safe: its scores are 0,
but its probabilities are not known (NaN).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.uniques.apportionment import DIS_IS_MOST_VARIABLES, dis_is, dis_suda
from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques
from gamekeeper.algorithms.uniques.scores import (
    ScoreKind,
    proportions_of_lattice,
    size_weights,
    weigh,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURE_NAMES: Mapping[str, str] = {
    "suda": "SUDA score (2002)",
    "is": "IS (intermediate score)",
    "pol": "POL (proportion of lattice)",
    "dis_suda": "DIS-SUDA (2003, capped apportionment of ln scores)",
    "dis_is": "DIS-IS (Q = 1 + (8-K)/20)",
    "dis_is_suda": "DIS-IS (Q = 1 + (8-K)/20) on the SUDA score",
}
"""Every measure of a sample unique, with the variant."""

MEASURES = tuple(MEASURE_NAMES)

PROBABILITIES = ("dis_is", "dis_suda", "dis_is_suda")
"""The measures that estimate the probability of a correct match; the others are scores."""


@dataclass(frozen=True, slots=True)
class UniqueScores:
    """The measures of the sample uniques, in the order of their records.

    Attributes
    ----------
    columns
        Each measure by name; None where it is not known, NaN where it is not known for a record.
    missing
        Why a measure is not known, by name.
    is_weights, suda_weights
        The weight of an MSU of each size from 0.
    unallocated
        What DIS-SUDA could not divide, because every unique with a weight has 1 already.
    """

    columns: Mapping[str, NDArray[Any] | None]
    missing: Mapping[str, str]
    is_weights: tuple[int, ...]
    suda_weights: tuple[int, ...]
    unallocated: float


def score_uniques(
    found: MinimalUniques, dis: Fraction | None, *, power: int, why_no_dis: str = ""
) -> UniqueScores:
    """Return every measure of the sample uniques.

    Sums that are beyond int64 are the nearest floats; those of a file are kept exact elsewhere.
    """
    n_variables = found.n_variables
    is_weights = size_weights(n_variables, ScoreKind.IS, max_size=found.max_size)
    suda_weights = size_weights(n_variables, ScoreKind.SUDA, power=power, max_size=found.max_size)
    is_scores = _sums(found, is_weights)
    suda_scores = _sums(found, suda_weights)
    columns: dict[str, NDArray[Any] | None] = {
        "suda": suda_scores,
        "is": is_scores,
        "pol": proportions_of_lattice(is_scores, n_variables),
        "dis_suda": None,
        "dis_is": None,
        "dis_is_suda": None,
    }
    missing: dict[str, str] = {}
    unallocated = 0.0
    if dis is None:
        missing = dict.fromkeys(PROBABILITIES, why_no_dis)
    else:
        shared = dis_suda(suda_scores, dis)
        columns["dis_suda"], unallocated = shared.values, shared.unallocated
        if n_variables <= DIS_IS_MOST_VARIABLES:
            columns["dis_is"] = dis_is(is_scores, dis, n_variables)
            columns["dis_is_suda"] = dis_is(suda_scores, dis, n_variables)
        else:
            reason = (
                f"DIS-IS ranks as the score does for up to {DIS_IS_MOST_VARIABLES} key variables,"
                f" and there are {n_variables}"
            )
            missing = dict.fromkeys(("dis_is", "dis_is_suda"), reason)
    hidden = ~found.counts.any(axis=1)
    for name in PROBABILITIES:
        values = columns[name]
        if values is not None and hidden.size and hidden.all():
            columns[name] = None
            missing[name] = "only combinations larger than those searched set the uniques apart"
        elif values is not None:
            columns[name] = np.where(hidden, np.nan, values)
    return UniqueScores(columns, missing, is_weights, suda_weights, unallocated)


def _sums(found: MinimalUniques, weights: tuple[int, ...]) -> NDArray[Any]:
    """Return the score of each sample unique: exact where all fit int64, else floats."""
    return weigh(found.counts, weights, exact=fits_int64(found, weights))


def fits_int64(found: MinimalUniques, weights: tuple[int, ...]) -> bool:
    """Return whether no score of a record can be beyond int64."""
    most = found.counts.max(axis=0, initial=0).tolist()
    return sum(n * weight for n, weight in zip(most, weights, strict=True)) < 2**63
