"""What a policy can set limits to, and what guidance on anonymity asks: each with its measure.

A measure is exact, an estimate with bounds, a point estimate as others publish it, or not known;
which it is decides what can be proven. To add a criterion, add a line to `CRITERIA` and one to
docs/reference/assessment.md.

With n records, n1 of them unique, and F people who have the key of a record, guidance asks for

    singling out (WP216)          n1 / n, and the sum of P(F = 1) over the n1 uniques, over n
    linkability (WP216)           Pr(CM|UM) = n1 / sum of E[F] over the n1 uniques
    inference (WP216)             share of the records whose class has one value of a variable
    motivated intruder (ICO)      sum of E[1/F] over the n1 uniques, and the people to be searched
                                  until one fits a unique record, (N + 1) / (1 + sum of E[F])

WP216 is Opinion 05/2014 of the Article 29 Working Party; ICO is the Information Commissioner's
Office, guidance on anonymisation of 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.anonymity import household_risk, n_sets, unsafe_combinations
from gamekeeper.attack.assessment.measured import Basis, Interval, Measured, numbers_of
from gamekeeper.attack.measure_lines import household_codes, individual_risks, sensitive_values
from gamekeeper.attack.options import MeasuresOptions
from gamekeeper.prompt_syntax import Missing
from gamekeeper.wording import at_start, count_of, number_text, percent_text, three_digits

_NO_SENSITIVE = "no sensitive variable is named (--sensitive)"
_NO_SAMPLE = "individual risk needs weights or a sampling fraction (give --weight or --fraction)"
_MATCHES_OTHERS = (
    "individual risk needs missing cells to be a category or left out (--missing category)"
)
_AT_ITS_VALUE = "judged as published, at its value, which has no interval"
_UNSAFE = MeasuresOptions()


class Unit(StrEnum):
    """What a limit counts."""

    RECORDS = "records"
    SHARE = "share of the records"
    PROBABILITY = "probability"
    VALUES = "values"
    COMBINATIONS = "combinations"
    DISTANCE = "distance"


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured for a criterion.

    `interval` is None where it is not known, and `why` says why; `note` is what to know of a point
    estimate that is judged as if it were exact, and `by_models` what models say in its place.
    """

    interval: Interval | None
    why: str = ""
    note: str = ""
    by_models: float | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something of a file that a policy can set a limit to, with its name there and in words."""

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
        return None if self.counts else 1

    @property
    def counts(self) -> bool:
        """Whether it is a whole number of things, and not a share or a probability."""
        return self.unit in (Unit.RECORDS, Unit.VALUES, Unit.COMBINATIONS)


def _exact(value: float) -> Found:
    return Found(Interval.exactly(value))


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


def _published(
    measured: Measured, of_file: Callable[[NDArray[np.float64]], float], modelled: str = ""
) -> Found:
    """Return something of individual risks, or of what bounds them: 1 over the records that are alike.

    The published measure grosses counts up, whatever the key: what models say stands beside it.
    """
    keys = measured.keys
    if keys.missing not in (Missing.CATEGORY, Missing.EXCLUDE):
        why, found = _MATCHES_OTHERS, None
    else:
        why, found = _NO_SAMPLE, individual_risks(keys.listed, keys.listed.sizes())
    if found is None:
        return Found(Interval(None, 0.0, of_file(measured.chances.bound)), why)
    published = Interval.exactly(of_file(found.exact))
    if measured.chances.basis is not Basis.MODELS:
        return Found(published, note=_AT_ITS_VALUE)
    by_models = of_file(measured.chances.p)
    note = f"{_AT_ITS_VALUE}; models of the file give {modelled or three_digits(by_models)}"
    return Found(published, note=note, by_models=by_models)


def _individual_risk(measured: Measured) -> Found:
    return _published(measured, lambda risks: float(risks.max()))


def _global_risk(measured: Measured) -> Found:
    return _published(measured, measured.chances.mean, measured.chances.average.percent_text)


def _average_match(measured: Measured) -> Found:
    return Found(measured.chances.average, measured.chances.why)


def _population_uniques(measured: Measured) -> Found:
    found = measured.chances.population_uniques.over(measured.keys.n_records)
    return Found(found, measured.chances.why)


def _right_matches(measured: Measured) -> Found:
    return Found(measured.chances.right_matches, measured.chances.why)


def _unique_match(measured: Measured) -> Found:
    found = measured.chances.unique_match
    # Without a unique record there is no unique match that could be right.
    return Found(Interval.exactly(0.0) if found is None else found, measured.chances.why)


def _household_risk(measured: Measured) -> Found:
    if not measured.household:
        return Found(None, "no variable tells households (--household)")
    homes = household_codes(measured.keys.listed, measured.household)[measured.keys.records]
    return _published(measured, lambda risks: float(household_risk(risks, homes).max()))


def _unsafe_combinations(measured: Measured) -> Found:
    keys = measured.keys
    size = min(_UNSAFE.dimension, len(keys.keys))
    sets = n_sets(len(keys.keys), size)
    listed = keys.listed
    if sets * len(listed) > _UNSAFE.max_work:
        return Found(
            None,
            f"{sets:,} sets of key variables for {count_of(keys.n_records, 'record')} are too many to"
            " be looked at (--max-work of risk measures lifts the limit)",
        )
    # As released: what a missing cell may stand for proves nothing.
    found = unsafe_combinations(
        listed.codes(),
        [_UNSAFE.unsafe_below] * size,
        counts=listed.counts if listed.by_key else None,
    )
    return _exact(float(found.by_size.sum()))


def _l_diversity(measured: Measured) -> Found:
    values = [min(by_values) for by_values in measured.keys.diversity.values()]
    return _exact(float(min(values))) if values else Found(None, _NO_SENSITIVE)


def _t_closeness(measured: Measured) -> Found:
    listed = measured.keys.listed
    rows = listed.classes()
    found = [
        sensitive_values(listed, rows, name, c=3.0, is_ordered=False).closeness
        for name in measured.keys.diversity
    ]
    known = [far[~np.isnan(far)] for far in found]
    if not any(map(len, known)):
        return Found(None, "no record has a sensitive value" if found else _NO_SENSITIVE)
    return _exact(float(np.concatenate(known).max()))


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
        "the highest individual risk of a record, from weights or the fraction",
        _individual_risk,
        Unit.PROBABILITY,
    ),
    Criterion(
        "global_risk",
        "the average individual risk of the records, from weights or the fraction",
        _global_risk,
        Unit.SHARE,
    ),
    Criterion(
        "average_match",
        "the share of all records that would be matched rightly with the population, by models",
        _average_match,
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
        "the highest household risk, from individual risks",
        _household_risk,
        Unit.PROBABILITY,
    ),
    Criterion(
        "unsafe_combinations",
        f"combinations of up to {_UNSAFE.dimension} key variables that fewer than"
        f" {_UNSAFE.unsafe_below} records have",
        _unsafe_combinations,
        Unit.COMBINATIONS,
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

SINGLING_OUT = "WP216: singling out"
LINKABILITY = "WP216: linkability"
INFERENCE = "WP216: inference"
INTRUDER = "ICO: motivated intruder"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, the measure that answers it, and the answer; `found` is None where not known."""

    question: str
    measure: str
    found: Interval | None
    words: str

    def row(self) -> dict[str, object]:
        """Return the answer for tables and programs."""
        return {
            "question": self.question,
            "measure": self.measure,
            "answer": self.words,
            **numbers_of(self.found),
        }


def answers(measured: Measured) -> tuple[Answer, ...]:
    """Return the answers, in the order of the guidance."""
    return tuple(_answers(measured))


def _answers(measured: Measured) -> Iterator[Answer]:
    keys, chances = measured.keys, measured.chances
    n, n_uniques = keys.n_records, keys.n_unlike
    share = n_uniques / n
    yield Answer(
        SINGLING_OUT,
        "share of uniques",
        Interval.exactly(share),
        f"{count_of(n_uniques, 'record')} of {n:,} ({percent_text(share)}) look like no other in the"
        " file.",
    )
    found = chances.population_uniques
    yield Answer(
        SINGLING_OUT,
        "share of population uniques",
        found.over(n),
        f"{at_start(found.about_text)} of them {'is' if found.text == '1' or found.is_few else 'are'}"
        " unique in the population.",
    )
    linked = chances.unique_match
    yield Answer(
        LINKABILITY,
        "Pr(CM|UM)",
        linked,
        "No record is unique, so that no link with a single record can be made."
        if linked is None
        else f"Somebody who fits just one record is that record with probability {linked.text}.",
    )
    yield from _inference(measured)
    right = chances.right_matches
    yield Answer(
        INTRUDER,
        "right matches",
        chances.right_matches,
        "Whoever matches each unique record with one person who fits is right"
        + (
            f" less than once ({right.limit_text})."
            if right.is_few
            else f" {right.count_text} times."
        ),
    )
    yield _search(measured)


def _inference(measured: Measured) -> Iterator[Answer]:
    shares = measured.sensitive_shares()
    for name, share in shares.items():
        yield Answer(
            INFERENCE,
            f"one value of {name}",
            Interval.exactly(share),
            f"{percent_text(share)} of the records look alike only with records of the same"
            f" {name}: whoever finds the class knows it.",
        )
    if not shares:
        yield Answer(
            INFERENCE,
            "one value of a sensitive variable",
            None,
            "Not known: no sensitive variable is named (--sensitive).",
        )


def _search(measured: Measured) -> Answer:
    """Return how many of N people are met until one of S fits, nobody twice: (N + 1) / (1 + S)."""
    what = "people to be searched"
    fraction, linked = measured.keys.fraction, measured.chances.unique_match
    if linked is None:
        return Answer(INTRUDER, what, None, "There is no unique record to search for.")
    if fraction is None or linked.value is None:
        return Answer(INTRUDER, what, None, f"Not known: {measured.chances.why}.")
    n_people = measured.keys.n_records / float(fraction)
    n_uniques = measured.keys.n_unlike

    def people(probability: float) -> float:
        return (n_people + 1) / (1 + n_uniques / probability)

    # With a probability of nothing all are searched in vain.
    ends = (people(end) if end else 0.0 for end in (linked.lower, linked.upper))
    found = Interval(people(linked.value), *ends, is_given=linked.is_given)
    return Answer(
        INTRUDER,
        what,
        found,
        f"Somebody who fits some unique record is found after {found.text} of the"
        f" {number_text(round(n_people))} people on average.",
    )
