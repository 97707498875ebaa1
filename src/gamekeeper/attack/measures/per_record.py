"""Measures of single records: individual and household risk, diversity and closeness of their class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.anonymity.closeness import equal_distance, ordered_distance
from gamekeeper.algorithms.anonymity.diversity import count_values, diversity
from gamekeeper.algorithms.anonymity.households import household_risk
from gamekeeper.algorithms.intrusion.individual_risk import (
    approximate_reciprocal,
    expected_reciprocal,
)
from gamekeeper.data.keys.key_table import KeyTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class IndividualRisks:
    """Per record of the file: the estimated people of its class, and E[1/F] in two forms.

    `from_weights` says whether F is estimated from weights, or from the sampling fraction. NaN for
    records that were left out. `n_light` records are in classes whose weights sum to less than
    their number, so that the number was taken.
    """

    people: NDArray[np.float64]
    exact: NDArray[np.float64]
    approximate: NDArray[np.float64]
    from_weights: bool
    n_light: int


def individual_risks(key_table: KeyTable, sizes: NDArray[np.int64]) -> IndividualRisks | None:
    """Return the individual risk of records; None where neither weights nor a fraction are known."""
    counted = sizes > 0
    if key_table.weight:
        given = key_table.class_weights()
        n_light = int(np.count_nonzero(counted & (given < sizes)))
        people = np.maximum(given, sizes)
    elif key_table.fraction is not None:
        n_light = 0
        shares = key_table.record_fractions()
        people = np.divide(sizes, shares, out=np.ones(len(sizes)), where=counted)
    else:
        return None
    known, share = sizes[counted], sizes[counted] / people[counted]
    return IndividualRisks(
        np.where(counted, people, np.nan),
        _spread(counted, expected_reciprocal(known, share)),
        _spread(counted, approximate_reciprocal(known, share)),
        bool(key_table.weight),
        n_light,
    )


@dataclass(frozen=True, slots=True, repr=False)
class HouseholdRisks:
    """Per record of the file the risk of its household; how many households cross strata."""

    risk: NDArray[np.float64]
    n_households: int
    n_alone: int
    n_across: int


def household_risks(
    key_table: KeyTable, individual: NDArray[np.float64], household: str
) -> HouseholdRisks:
    """Return the household risk of records."""
    homes = key_table.coded.codes(household).astype(np.int64)
    return HouseholdRisks(
        household_risk(individual, homes),
        len(np.unique(homes[homes > 0])),
        int(np.count_nonzero(homes == 0)),
        households_across(key_table, household),
    )


def households_across(key_table: KeyTable, household: str) -> int:
    """Return how many households have members in more than one stratum."""
    if not key_table.strata:
        return 0
    homes, strata = (
        key_table.coded.codes(name).astype(np.int64) for name in (household, key_table.strata)
    )
    seen = np.unique(np.stack([homes, strata], axis=1)[homes > 0], axis=0)[:, 0]
    return int(np.count_nonzero(np.unique(seen, return_counts=True)[1] > 1))


@dataclass(frozen=True, slots=True, repr=False)
class SensitiveValues:
    """Per record of the file: l of its class in three senses, and t; NaN for who was left out."""

    variable: str
    is_ordered: bool
    distinct: NDArray[np.float64]
    entropy: NDArray[np.float64]
    recursive: NDArray[np.float64]
    closeness: NDArray[np.float64]
    n_missing: int


def sensitive_values(
    key_table: KeyTable, classes: NDArray[np.int64], variable: str, *, c: float, is_ordered: bool
) -> SensitiveValues:
    """Return how diverse the values of a variable are in each record's class, and how far off."""
    codes = key_table.coded.codes(variable).astype(np.int64)
    found = count_values(classes, codes, key_table.coded.codebook[variable].n_codes - 1)
    of_class = diversity(found, Fraction(repr(c)))
    far = ordered_distance(found) if is_ordered else equal_distance(found)
    counted = classes >= 0
    rows = classes[counted]
    return SensitiveValues(
        variable,
        is_ordered,
        _spread(counted, of_class.distinct[rows].astype(np.float64)),
        _spread(counted, of_class.entropy[rows]),
        _spread(counted, of_class.recursive[rows].astype(np.float64)),
        _spread(counted, far[rows]),
        int(np.count_nonzero(counted & (codes == 0))),
    )


def _spread(counted: NDArray[np.bool_], values: NDArray[np.float64]) -> NDArray[np.float64]:
    made = np.full(len(counted), np.nan)
    made[counted] = values
    return made
