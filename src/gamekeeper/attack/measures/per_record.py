"""Measures of listed records: individual and household risk, diversity and closeness of their class."""

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
from gamekeeper.data.keys.listed_records import ListedRecords

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class IndividualRisks:
    """Per listed record: the estimated people of its class, and E[1/F] in two forms.

    `from_weights` says whether F is estimated from weights, or from the sampling fraction. `n_light`
    records are in classes whose weights sum to less than their number, so that the number was taken.
    """

    people: NDArray[np.float64]
    exact: NDArray[np.float64]
    approximate: NDArray[np.float64]
    from_weights: bool
    n_light: int


def individual_risks(listed: ListedRecords, sizes: NDArray[np.int64]) -> IndividualRisks | None:
    """Return the individual risk of records; None where neither weights nor a fraction are known."""
    if listed.table.weight:
        given = listed.weights()
        n_light = int(listed.counts[given < sizes].sum())
        people = np.maximum(given, sizes)
    elif listed.table.fraction is not None:
        n_light = 0
        people = sizes / listed.fractions()
    else:
        return None
    share = sizes / people
    return IndividualRisks(
        people,
        expected_reciprocal(sizes, share),
        approximate_reciprocal(sizes, share),
        bool(listed.table.weight),
        n_light,
    )


@dataclass(frozen=True, slots=True, repr=False)
class HouseholdRisks:
    """Per counted record the risk of its household; how many households cross strata."""

    risk: NDArray[np.float64]
    n_households: int
    n_alone: int
    n_across: int


def household_risks(
    listed: ListedRecords, individual: NDArray[np.float64], household: str
) -> HouseholdRisks:
    """Return the household risk of records."""
    key_table = listed.table
    homes = household_codes(listed, household)
    # Those who were left out count as members, without a risk of their own.
    whole = np.full(len(homes), np.nan)
    whole[listed.places] = individual
    return HouseholdRisks(
        household_risk(whole, homes)[listed.places],
        len(np.unique(homes[homes > 0])),
        int(np.count_nonzero(homes == 0)),
        households_across(key_table, household),
    )


def household_codes(listed: ListedRecords, household: str) -> NDArray[np.int64]:
    """Return the household of every record of the file; refused where the records stay elsewhere."""
    listed.require_records("What households add to the risk", "Leave out --household")
    return listed.table.coded.codes(household).astype(np.int64)


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
    """Per listed record: l of its class in three senses, and t, NaN where the class has no value."""

    variable: str
    is_ordered: bool
    distinct: NDArray[np.float64]
    entropy: NDArray[np.float64]
    recursive: NDArray[np.float64]
    closeness: NDArray[np.float64]
    n_missing: int


def sensitive_values(
    listed: ListedRecords, rows: NDArray[np.int64], variable: str, *, c: float, is_ordered: bool
) -> SensitiveValues:
    """Return how diverse the values of a variable are in each record's class, and how far off.

    `rows` are the classes of the listed records.
    """
    classes, codes, counts = listed.values_of(variable)
    n_values = listed.table.coded.codebook[variable].n_codes - 1
    found = count_values(classes, codes, n_values, counts)
    of_class = diversity(found, Fraction(repr(c)))
    far = ordered_distance(found) if is_ordered else equal_distance(found)
    return SensitiveValues(
        variable,
        is_ordered,
        of_class.distinct[rows].astype(np.float64),
        of_class.entropy[rows],
        of_class.recursive[rows].astype(np.float64),
        far[rows],
        int(counts[codes == 0].sum()),
    )
