"""What a policy can set limits to: each criterion with its measure, its direction and its unit.

A measure is exact, or an estimate with bounds, or not known; which it is decides what can be proven.
To add a criterion, add a line to `CRITERIA` and one to docs/reference/assessment.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from gamekeeper.attack.assessment.chances import Interval
from gamekeeper.attack.assessment.measured import Measured
from gamekeeper.attack.measures.per_record import sensitive_values

_NO_SENSITIVE = "no sensitive variable is named (--sensitive)"


class Unit(StrEnum):
    """What a limit counts."""

    RECORDS = "records"
    SHARE = "share of the records"
    PROBABILITY = "probability"
    VALUES = "values"
    DISTANCE = "distance"


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured for a criterion; `interval` is None where it is not known, `why` says why."""

    interval: Interval | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something of a file that a policy can set a limit to.

    Attributes
    ----------
    name, words
        Its name in a policy, and what it measures.
    measure
        Measures it.
    unit
        What it counts.
    at_least
        Whether the limit is the least that is allowed, and not the most.
    """

    name: str
    words: str
    measure: Callable[[Measured], Found]
    unit: Unit
    at_least: bool = False

    @property
    def least(self) -> float:
        """The smallest limit that means anything."""
        return 2 if self.at_least else 0

    @property
    def most(self) -> float | None:
        """The largest limit that means anything."""
        return None if self.unit in (Unit.RECORDS, Unit.VALUES) else 1


def _exact(value: float) -> Found:
    return Found(Interval(value, value, value))


def _smallest_class(measured: Measured) -> Found:
    return _exact(float(min(measured.keys.released_by_size)))


def _share_of_uniques(measured: Measured) -> Found:
    return _exact(measured.keys.n_unlike / measured.keys.n_records)


def _highest_risk(measured: Measured) -> Found:
    return _exact(1 / min(measured.keys.released_by_size))


def _average_risk(measured: Measured) -> Found:
    # Each class of records that are alike as released adds one over its size, size times.
    by_size = measured.keys.released_by_size
    return _exact(sum(n / size for size, n in by_size.items()) / measured.keys.n_records)


def _individual_risk(measured: Measured) -> Found:
    return Found(measured.chances.highest, measured.chances.why)


def _global_risk(measured: Measured) -> Found:
    return Found(measured.chances.average, measured.chances.why)


def _population_uniques(measured: Measured) -> Found:
    found = measured.chances.population_uniques.over(measured.keys.n_records)
    return Found(found, measured.chances.why)


def _right_matches(measured: Measured) -> Found:
    return Found(measured.chances.right_matches, measured.chances.why)


def _unique_match(measured: Measured) -> Found:
    found = measured.chances.unique_match
    # Without a unique record there is no unique match that could be right.
    return Found(Interval(0.0, 0.0, 0.0) if found is None else found, measured.chances.why)


def _household_risk(measured: Measured) -> Found:
    found = measured.households
    if found is None:
        return Found(None, "no variable tells households (--household)")
    return Found(found, measured.chances.why)


def _l_diversity(measured: Measured) -> Found:
    values = [min(by_values) for by_values in measured.keys.diversity.values()]
    return _exact(float(min(values))) if values else Found(None, _NO_SENSITIVE)


def _t_closeness(measured: Measured) -> Found:
    classes = measured.keys.class_numbers()
    found = [
        sensitive_values(measured.keys, classes, name, c=3.0, is_ordered=False).closeness
        for name in measured.keys.diversity
    ]
    return (
        _exact(max(float(np.nanmax(far)) for far in found)) if found else Found(None, _NO_SENSITIVE)
    )


def _one_sensitive_value(measured: Measured) -> Found:
    shares = measured.sensitive_shares()
    if not shares:
        return Found(None, _NO_SENSITIVE)
    return _exact(max(shares.values()))


_ALL = (
    Criterion(
        "k_anonymity",
        "the smallest number of records that look alike on the key variables",
        _smallest_class,
        Unit.RECORDS,
        at_least=True,
    ),
    Criterion("share_of_uniques", "records that look like no other", _share_of_uniques, Unit.SHARE),
    Criterion(
        "highest_risk",
        "the highest probability that a match with a person known to be in the file is right",
        _highest_risk,
        Unit.PROBABILITY,
    ),
    Criterion(
        "average_risk",
        "the average probability that a match with a person known to be in the file is right",
        _average_risk,
        Unit.PROBABILITY,
    ),
    Criterion(
        "individual_risk",
        "the highest probability that a match of a record with the population is right",
        _individual_risk,
        Unit.PROBABILITY,
    ),
    Criterion(
        "global_risk",
        "the share of all records that would be matched rightly with the population",
        _global_risk,
        Unit.SHARE,
    ),
    Criterion(
        "population_uniques",
        "records that are unique in the population",
        _population_uniques,
        Unit.SHARE,
    ),
    Criterion(
        "right_matches",
        "the number of unique records that would be matched rightly",
        _right_matches,
        Unit.RECORDS,
    ),
    Criterion(
        "unique_match",
        "the probability that somebody who fits just one record is that record",
        _unique_match,
        Unit.PROBABILITY,
    ),
    Criterion(
        "household_risk",
        "the highest probability that a match with some member of a household is right",
        _household_risk,
        Unit.PROBABILITY,
    ),
    Criterion(
        "l_diversity",
        "the smallest number of values of a sensitive variable among records that look alike",
        _l_diversity,
        Unit.VALUES,
        at_least=True,
    ),
    Criterion(
        "t_closeness",
        "how far the values of a sensitive variable in a class are from those of the file",
        _t_closeness,
        Unit.DISTANCE,
    ),
    Criterion(
        "one_sensitive_value",
        "records that look alike and have the same value of a sensitive variable",
        _one_sensitive_value,
        Unit.SHARE,
    ),
)

CRITERIA: Mapping[str, Criterion] = {criterion.name: criterion for criterion in _ALL}
"""The criteria by their names."""
