"""What a match with a record is worth, and all else that is measured of the keys of a file.

With F people in the population who have the key of a record, a match with it is right with
probability 1/F. F is known where the file holds everybody; else models infer it, with an interval
(attack/models). Where they cannot, a bound needs no model: F is at least the number f of records of
the file with that key, so that no match is better than 1/f.

Uniques, models, matching and households are measured in one go. What cannot be measured is None,
with the reason in words beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.anonymity import household_risk
from gamekeeper.algorithms.models.rate_mixture import Measure
from gamekeeper.arrow import pa
from gamekeeper.attack.matching import assess_matching
from gamekeeper.attack.matching_result import MatchingRisk
from gamekeeper.attack.measure_lines import household_codes
from gamekeeper.attack.models.fitting import fit_models, why_no_models
from gamekeeper.attack.models.inference import ModelRisk, infer_risk
from gamekeeper.attack.models.levels import RelativeRisk, variables_risk
from gamekeeper.attack.options import MeasureOptions
from gamekeeper.attack.risk import RiskClasses
from gamekeeper.attack.uniques.records import with_others
from gamekeeper.attack.uniques.suda import UniquesRisk, assess_uniques
from gamekeeper.data.keys.key_table import KeyTable, missing_reservations
from gamekeeper.options import takes
from gamekeeper.prompt_syntax import Missing
from gamekeeper.wording import count_of, expected_text, percent_text, three_digits

# Nothing is said below a tenth of a record.
_LEAST_LIMIT = 0.1
CLASSES = RiskClasses({"very high": 0.5, "high": 0.2, "medium": 0.05}, measure="p_match")
"""The classes of the probability of a right match; no authority has set these thresholds."""


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
    """A number within bounds; `value` is None where there is no estimate of it.

    Where no interval is given (`is_given`), the bounds are what is certain without one.
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

    - `basis`, `why`: what it rests on, and where that is not models the reason in words.
    - `counts`: how many records each listed one stands for.
    - `p`, `bound`: of each listed record the estimated probability, NaN where there is none, and
      what it is at most for certain: one over the number of records like it.
    - `expected_size`, `people_lower`, `people_upper`: of each the expected number of people with
      its key, and its interval, at least the records with that key; NaN where it is not known.
    - `p_unique`: of each the probability that nobody else has its key; NaN where it is not known.
    - `right_matches`: how many sample uniques are right if each is matched with a person who fits.
    - `unique_match`: the probability that somebody who fits just one record is that record.
    - `cautions`: why estimates cannot prove that a limit is met, in words; empty where they can.
    - `reservations`: what changes how the numbers may be used, in sentences.
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
    the same way, which is cautious; an end that does not reach beyond the average is what is certain.
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


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Measured:
    """What was measured of a file.

    - `keys`, `uniques`: its classes of records that look alike, and what sets its uniques apart.
    - `models`, `variables`: what they infer, and what each variable adds by them, if there are some.
    - `matching`, `why_no_matching`: what a search achieves and costs, or why that is not known.
    - `household`, `household_chances`: the variable that tells households, and of each counted
      record the probability that a member of it is matched rightly (its bound, where there is no
      estimate).
    """

    keys: KeyTable
    uniques: UniquesRisk
    chances: MatchChances
    models: ModelRisk | None
    variables: RelativeRisk | None
    matching: MatchingRisk | None
    why_no_matching: str
    household: str
    household_chances: NDArray[np.float64] | None
    classes: RiskClasses = CLASSES

    def class_counts(self) -> dict[str, int]:
        """Return how many counted records are in each class, the highest first."""
        found = self.classes.classify(self.chances.ranking)
        counts = np.bincount(found, self.chances.counts, minlength=len(self.classes.names))
        return {name: int(n) for name, n in zip(self.classes.names, counts, strict=True)}

    def sensitive_shares(self) -> dict[str, float]:
        """Return, by sensitive variable, the share of records whose class has at most one value."""
        return {
            name: (by_values.get(0, 0) + by_values.get(1, 0)) / self.keys.n_records
            for name, by_values in self.keys.diversity.items()
        }


@takes(MeasureOptions)
def measure_file(key_table: KeyTable, asked: MeasureOptions) -> Measured:
    """Measure the risk of a file on its keys.

    Models are fitted by annealing unless another method is asked for: it is the quickest, and what
    is known of how far estimates can be trusted was measured with it (docs/explain/models.md).
    """
    uniques = assess_uniques(
        key_table, max_size=asked.max_size, max_seconds=asked.max_seconds, workers=asked.workers,
        progress=asked.progress,
    )  # fmt: skip
    why = why_no_models(key_table)
    models = variables = None
    if key_table.fraction == 1 and key_table.missing in (Missing.CATEGORY, Missing.EXCLUDE):
        chances = counted_chances(key_table)
    elif why:
        chances = bounded_chances(key_table, why)
    else:
        fit = fit_models(
            key_table, method=asked.method, patient=asked.patient, seed=asked.seed, workers=asked.workers,
            progress=asked.progress,
        )  # fmt: skip
        models = infer_risk(key_table, fit, household=asked.household, seed=asked.seed)
        chances = modelled_chances(key_table, models)
        variables = variables_risk(models, progress=asked.progress) if len(fit.keys) > 1 else None
    # Whatever is known of match chances tells what a search achieves, and nothing else does.
    why_no_matching = chances.why if chances.basis is Basis.BOUND else ""
    homes = None
    if asked.household:
        homes = household_codes(key_table.listed, asked.household)[key_table.records]
    return Measured(
        key_table,
        uniques,
        chances,
        models,
        variables,
        None if why_no_matching else assess_matching(key_table, models=models),
        why_no_matching,
        asked.household,
        None if homes is None else household_risk(chances.ranking, homes),
    )


RANKINGS = ("msus", "smallest_msu", "suda", "is", "dis_suda", "dis_is")
"""The columns that are taken from the search for uniques: rankings and published measures."""
MEANINGS = {
    "record": "number of the record in the file, from 1",
    "class_size": "records with the same values on the key variables, with itself",
    "p_match": "probability that a match with this record is right; empty where it is not known",
    "p_bound": "it is at most this, which is certain: one over the records of the file with its key",
    "p_unique": "probability that nobody else in the population has its key",
    "expected_size": "expected number of people with its key",
    "people_lower": "people with its key are at least so many (by models a 95% interval)",
    "people_upper": "and at most so many; empty where it is not known",
    "risk_class": "class by p_match, or by p_bound where there is no estimate",
    "household_match": "probability that a match with some member of its household is right",
}


def record_table(measured: Measured) -> pa.Table:
    """Return one row per listed record; those left out, which are where all are, have no measures."""
    chances, listed = measured.chances, measured.keys.listed
    columns: dict[str, NDArray[Any]] = {
        "class_size": listed.sizes(),
        "p_match": chances.p,
        "p_bound": chances.bound,
        "p_unique": chances.p_unique,
        "expected_size": chances.expected_size,
        "people_lower": chances.people_lower,
        "people_upper": chances.people_upper,
        "risk_class": measured.classes.classify(chances.ranking),
    }
    if measured.household_chances is not None:
        columns["household_match"] = measured.household_chances
    made = listed.table_of(columns)
    place = made.column_names.index("risk_class")
    words = pa.array(measured.classes.names)
    classes = pa.DictionaryArray.from_arrays(made[place].combine_chunks(), words)
    made = made.set_column(place, "risk_class", classes.cast(pa.string()))
    ranked = measured.uniques.records.table
    if listed.by_key:
        ranked = with_others(ranked, made["record"].to_numpy(), measured.uniques.not_known)
    for name in RANKINGS:
        made = made.append_column(name, ranked[name])
    return made
