"""The probability that a match with a record is right, for each record and for the file.

With F people in the population who have the key of a record, a match with it is right with
probability 1/F. F is known where the file holds everybody; else models infer it, with an interval
(attack/models). Where they cannot, what is left is a bound that needs no model: F is at least the
number f of records of the file with that key, so that no match is better than 1/f.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.models.inference.file_measures import Measure
from gamekeeper.attack.missing_cells import missing_reservations
from gamekeeper.attack.models.inference import ModelRisk
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.wording import count_of, expected_text, percent_text, three_digits

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Nothing is said below a tenth of a record.
_LEAST_LIMIT = 0.1


class Basis(StrEnum):
    """What a probability rests on."""

    EVERYBODY = "everybody"
    MODELS = "models"
    BOUND = "bound"

    @property
    def words(self) -> str:
        """The basis in words."""
        return _BASES[self]


_BASES = {
    Basis.EVERYBODY: "counted, since the file holds everybody",
    Basis.MODELS: "estimated by models of the file, with 95% intervals",
    Basis.BOUND: "not estimated; bounded by the number of records that look alike",
}


def numbers_of(found: Interval | None) -> dict[str, float | None]:
    """Return a number with its bounds for tables and programs; None where it is not known."""
    names = ("value", "lower", "upper")
    if found is None:
        return dict.fromkeys(names)
    known = {name: getattr(found, name) for name in names}
    return known if found.is_given else {**known, "lower": None, "upper": None}


@dataclass(frozen=True, slots=True)
class Interval:
    """A number that is known within bounds; `value` is None where there is no estimate of it.

    Where the interval of an estimate is not given (`is_given`), bounds are what is certain without it.
    """

    value: float | None
    lower: float
    upper: float
    is_given: bool = True

    @classmethod
    def exactly(cls, value: float) -> Interval:
        """Return a number that is known exactly."""
        return cls(value, value, value)

    @property
    def is_exact(self) -> bool:
        """Whether it is known exactly."""
        return self.value is not None and self.lower == self.upper == self.value

    def over(self, number: float) -> Interval:
        """Return this divided by a number."""
        value = None if self.value is None else self.value / number
        return Interval(value, self.lower / number, self.upper / number, self.is_given)

    @property
    def text(self) -> str:
        """The number with its bounds.

        Examples
        --------
        >>> Interval(12.0, 9.0, 15.5).text, Interval(3.0, 3.0, 3.0).text, Interval(None, 0, 7).text
        ('12 (9 to 15.5)', '3', 'at most 7')
        >>> Interval(12.0, 0.0, 40.0, is_given=False).text
        '12 (no interval)'
        """
        return self._written(three_digits)

    @property
    def count_text(self) -> str:
        """A number of records with its bounds, in whole numbers."""
        return self._written(expected_text)

    @property
    def is_few(self) -> bool:
        """Whether fewer than one record is expected."""
        return self.value is not None and self.value < 1 and not self.is_exact

    @property
    def limit_text(self) -> str:
        """The upper end of a number of records, where an interval is given."""
        if not self.is_given:
            return "no interval"
        return f"upper limit: {expected_text(max(self.upper, _LEAST_LIMIT))}"

    @property
    def about_text(self) -> str:
        """A number of records within a sentence.

        Examples
        --------
        >>> Interval(12.0, 9.0, 15.5).about_text, Interval(6e-07, 0.0, 0.002).about_text
        ('about 12 (9 to 16)', 'fewer than one (upper limit: 0.1)')
        >>> Interval(0.4, 0.0, 40.0, is_given=False).about_text
        'fewer than one (no interval)'
        """
        if self.is_few:
            return f"fewer than one ({self.limit_text})"
        return (
            self.count_text if self.is_exact or self.value is None else f"about {self.count_text}"
        )

    @property
    def percent_text(self) -> str:
        """A share with its bounds, in percent."""
        return self._written(percent_text)

    def _written(self, write: Callable[[float], str]) -> str:
        if self.value is None:
            return f"at most {write(self.upper)}"
        if self.is_exact:
            return write(self.value)
        if not self.is_given:
            return f"{write(self.value)} (no interval)"
        return f"{write(self.value)} ({write(self.lower)} to {write(self.upper)})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MatchChances:
    """The probability of a right match, record by record and for the file.

    Attributes
    ----------
    basis, why
        What it rests on, and where that is not models the reason in words.
    counts
        How many records each listed one stands for.
    p, bound
        Of each listed record the estimated probability, NaN where there is none, and what it is at
        most for certain: one over the number of records like it.
    expected_size, people_lower, people_upper
        Of each the number of people who are expected to have its key, and the interval of that
        number; NaN where it is not known. They are at least as many as the records with that key.
    p_unique
        Of each the probability that nobody else has its key; NaN where it is not known.
    right_matches
        How many sample uniques are matched rightly if each is matched with one person who fits.
    population_uniques
        How many sample uniques are unique in the population.
    unique_match
        The probability that somebody who fits just one record of the file is that record.
    average
        The mean over all records.
    cautions
        Why estimates cannot prove that a limit is met, in words; empty where they can.
    reservations
        What changes how the numbers may be used, in sentences.
    """

    basis: Basis
    why: str
    counts: NDArray[np.int64]
    p: NDArray[np.float64]
    bound: NDArray[np.float64]
    expected_size: NDArray[np.float64]
    people_lower: NDArray[np.float64]
    people_upper: NDArray[np.float64]
    p_unique: NDArray[np.float64]
    right_matches: Interval
    population_uniques: Interval
    unique_match: Interval | None
    average: Interval
    cautions: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"MatchChances({self.basis.value}, {count_of(int(self.counts.sum()), 'record')})"

    @property
    def ranking(self) -> NDArray[np.float64]:
        """What ranks and classifies records: the probability, or its bound where there is none."""
        return self.bound if self.basis is Basis.BOUND else self.p

    @property
    def basis_words(self) -> str:
        """What the probabilities rest on, in words, and whether they have intervals."""
        if self.basis is Basis.MODELS and not self.right_matches.is_given:
            return "estimated by models of the file, without intervals"
        return self.basis.words

    @property
    def n_likely(self) -> int:
        """With how many records a match is more likely right than wrong."""
        return int(self.counts[self.p > 0.5].sum())

    def mean(self, values: NDArray[np.float64]) -> float:
        """Return the mean over all records of what is known of the listed ones."""
        return mean_over(values, self.counts)


def counted_chances(key_table: KeyTable) -> MatchChances:
    """Return the probabilities where the file holds everybody: nothing is estimated."""
    f, counts = _sizes(key_table), key_table.listed.counts
    p = 1.0 / f
    n_uniques = float(key_table.n_unlike)
    all_of_them = Interval.exactly(n_uniques)
    return MatchChances(
        Basis.EVERYBODY,
        "the file holds everybody, so that nothing is to be estimated",
        counts, p, p, f, f, f, (f == 1).astype(np.float64),
        all_of_them,
        all_of_them,
        Interval.exactly(1.0) if n_uniques else None,
        Interval.exactly(mean_over(p, counts)),
        reservations=missing_reservations(key_table),
    )  # fmt: skip


def bounded_chances(key_table: KeyTable, why: str) -> MatchChances:
    """Return what is certain without any model: no match is better than one over its class size."""
    f, counts = _sizes(key_table), key_table.listed.counts
    bound, unknown = 1.0 / f, np.full(len(f), np.nan)
    n_uniques = float(key_table.n_unlike)
    # Without a unique, none is matched rightly, whatever the population.
    uniques = Interval(None, 0.0, n_uniques) if n_uniques else Interval.exactly(0.0)
    return MatchChances(
        Basis.BOUND, why, counts, unknown, bound, unknown, f, unknown, unknown, uniques, uniques,
        Interval(None, 0.0, 1.0) if n_uniques else None,
        Interval(None, 0.0, mean_over(bound, counts)),
        reservations=missing_reservations(key_table),
    )  # fmt: skip


def modelled_chances(key_table: KeyTable, risk: ModelRisk) -> MatchChances:
    """Return the probabilities that models infer, with their intervals.

    A record has an interval of F, the people with its key: E[1/F] may lie outside that of 1/F. The
    interval of the average adds the ends of 1/F of the records that are not unique as if all erred
    the same way, which is cautious; where an end does not reach beyond the average, it is what is
    certain.
    """
    table = risk.records.table.filter(risk.records.table["class_size"].is_valid())
    counts = key_table.listed.counts

    def column(name: str) -> NDArray[np.float64]:
        return table[name].to_numpy(zero_copy_only=False).astype(np.float64)

    p, bound = column("p_match"), 1.0 / _sizes(key_table)
    fewest, most = column("lower"), column("upper")
    shared = column("class_size") > 1
    file = risk.estimate.file
    mean, n_records = mean_over(p, counts), key_table.n_records
    certain = mean_over(bound, counts)
    if risk.has_intervals:
        lower = float(file.tau2.lower + (counts / most)[shared].sum()) / n_records
        upper = float(file.tau2.upper + (counts / fewest)[shared].sum()) / n_records
        average = Interval(mean, lower if lower < mean else 0.0, upper if upper > mean else certain)
    else:
        average = Interval(mean, 0.0, certain, is_given=False)
    n_uniques = float(key_table.n_uniques)
    why = (
        ""
        if risk.has_intervals
        else "weights differ, and models assume equal chances: no interval is given"
    )
    return MatchChances(
        Basis.MODELS, why, counts, p, bound, column("expected_size"), fewest, most, column("p_unique"),
        _interval(file.tau2, n_uniques),
        _interval(file.tau1, n_uniques),
        _interval(file.pr_cm_given_um, 1.0) if key_table.n_uniques else None,
        average,
        ("the search for models has not settled",) if risk.fit.unsettled else (),
        risk.reservations,
    )  # fmt: skip


def mean_over(values: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """Return the mean where each value counts so often; NaN of none."""
    return float((values * counts).sum()) / int(counts.sum()) if len(values) else float("nan")


def _interval(measure: Measure, most: float) -> Interval:
    """Return a measure with its interval; where there is none, with what it is at most for certain."""
    if math.isnan(measure.lower):
        return Interval(float(measure.value), 0.0, most, is_given=False)
    return Interval(float(measure.value), float(measure.lower), float(measure.upper))


def _sizes(key_table: KeyTable) -> NDArray[np.float64]:
    """Return how many records are like each listed one as released, which is proof."""
    return key_table.listed.released().astype(np.float64)
