"""What a measure of record-level risk sees of a sample, and what it says of the sample uniques."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

Made = TypeVar("Made")

# Expected sizes are sums, which may be below 1 in the last digits.
_NEARLY = 1 - 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class RecordEstimates:
    """What a measure says of every record of a sample, unique or not.

    Attributes
    ----------
    match
        The estimated probability that a match with the record is correct.
    expected_size
        How many people are expected to have its key.
    """

    match: NDArray[np.float64]
    expected_size: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"RecordEstimates({len(self.match):,} records)"


@dataclass(frozen=True, repr=False, eq=False)
class Scores:
    """What a measure says of every sample unique, and of the file.

    Attributes
    ----------
    values
        The score that ranks them, higher for more risk; its scale does not matter.
    match
        The estimated probability that a match with the record is correct, 1/F; None if the
        measure is no such estimate.
    unique
        The estimated probability that the record is population unique (F = 1); None likewise.
    pr_cm_given_um
        The estimate of Pr(CM|UM) of the file, the number of sample uniques by the number of people
        who have their keys; None likewise.
    records
        What it says of all records, so that attacks may be planned by cost; None where it speaks
        of sample uniques only.
    """

    values: NDArray[np.float64]
    match: NDArray[np.float64] | None = None
    unique: NDArray[np.float64] | None = None
    pr_cm_given_um: float | None = None
    records: RecordEstimates | None = None

    def __repr__(self) -> str:
        return f"Scores({len(self.values):,} sample uniques)"


@dataclass(repr=False, eq=False)
class SampleData:
    """A sample as an intruder sees it.

    Attributes
    ----------
    codes
        One row per record, one column per key variable; 0 is a missing cell.
    levels
        How many categories each key variable has in the population's codebook, with the missing
        cell as one more where it occurs.
    fraction
        The sampling fraction.
    class_sizes
        The class size of every record in the sample.
    uniques
        The rows of the sample uniques, ascending: the order of every measure's answer.
    seed
        For measures that draw at random.
    max_size, max_seconds
        For measures that search combinations of variables: how many variables one has at most, and
        how long that may be expected to take; None for no limit.
    """

    codes: NDArray[np.unsignedinteger]
    levels: tuple[int, ...]
    fraction: Fraction
    class_sizes: NDArray[np.int64]
    seed: int
    max_size: int | None = field(default=None, kw_only=True)
    max_seconds: float | None = field(default=MAX_SECONDS, kw_only=True)
    _made: dict[str, tuple[Any, float]] = field(default_factory=dict[str, Any], init=False)
    _charged: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.uniques = np.flatnonzero(self.class_sizes == 1)

    def shared(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what several measures need, made once; each is charged the time it took."""
        if name in self._made:
            made, seconds = self._made[name]
            self._charged += seconds
            return made
        started = time.perf_counter()
        made = make()
        self._made[name] = made, time.perf_counter() - started
        return made

    def timed(self, measure: Measure) -> tuple[Scores, float]:
        """Return the answer of a measure and the seconds that it would have taken alone."""
        self._charged = 0.0
        started = time.perf_counter()
        scores = measure(self)
        return scores, time.perf_counter() - started + self._charged

    def __repr__(self) -> str:
        return f"SampleData({len(self.codes):,} records, {len(self.uniques):,} sample uniques)"


Measure = Callable[[SampleData], Scores]
"""A measure of record-level risk: a sample in, scores of its sample uniques out."""


@dataclass(frozen=True, slots=True)
class AttackValue:
    """What an attack achieves on one sample.

    Attributes
    ----------
    pr_cm
        The true probability of a correct match.
    cost
        The people searched on average; None for what is no search.
    keys
        The keys that are attacked; None likewise.
    """

    pr_cm: float
    cost: float | None = None
    keys: float | None = None


@dataclass(frozen=True, repr=False, eq=False)
class ScoredSample:
    """One sample: the true class sizes of its uniques, what measures say of them, and attacks.

    Attributes
    ----------
    population_sizes
        The class size F of each sample unique in the population.
    scores
        The answer of each measure by its name; none where the sample was drawn for attacks only.
    seconds
        The time of each measure, where it was taken.
    joint
        Numbers of classes by bands of sample count and population count, where known.
    attacks
        What attacks achieve, by attack and measure; without a measure where they need none.
    """

    population_sizes: NDArray[np.int64]
    scores: Mapping[str, Scores]
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    joint: NDArray[np.int64] | None = None
    attacks: Mapping[tuple[str, str], AttackValue] = field(
        default_factory=dict[tuple[str, str], AttackValue]
    )

    def __repr__(self) -> str:
        return f"ScoredSample({len(self.population_sizes):,} sample uniques)"


def checked_scores(
    name: str, given: Scores | ArrayLike, n_uniques: int, *, n_records: int = 0
) -> Scores:
    """Return scores as arrays, one number per sample unique; an error tells counts only.

    What is said of all records is checked and kept where their number is given.
    """
    scores = given if isinstance(given, Scores) else Scores(np.asarray(given, np.float64))
    problems: list[Problem] = []
    parts: dict[str, NDArray[np.float64] | None] = {}
    for part in ("values", "match", "unique"):
        value = getattr(scores, part)
        if value is None:
            parts[part] = None
            continue
        array = np.asarray(value, np.float64)
        parts[part] = array
        if array.shape != (n_uniques,):
            found = f"{count_of(array.size, 'number')} for {count_of(n_uniques, 'sample unique')}."
            problems.append(Problem(Reason.BAD_OPTION, part, found))
        fit = ~np.isnan(array) if part == "values" else (array >= 0) & (array <= 1)
        n_wrong = int(np.count_nonzero(~fit))
        if n_wrong:
            kind = "are not numbers" if part == "values" else "are not probabilities from 0 to 1"
            found = f"{count_of(n_wrong, 'value')} that {kind}."
            problems.append(Problem(Reason.BAD_OPTION, part, found))
    chance = scores.pr_cm_given_um
    if chance is not None and not 0 <= chance <= 1:
        problems.append(Problem(Reason.BAD_OPTION, "pr_cm_given_um", "not a probability."))
    records = scores.records if n_records else None
    if records is not None:
        problems += _record_problems(records, n_records)
    values = parts["values"]
    if problems or values is None:
        raise InputError(
            Reason.BAD_OPTION,
            f"The measure '{name}' was to be judged.",
            "What it says of the sample uniques cannot be used:",
            "Give one number for each sample unique.",
            problems=problems,
        )
    return Scores(
        values, parts["match"], parts["unique"], None if chance is None else float(chance), records
    )


def _record_problems(told: RecordEstimates, n_records: int) -> list[Problem]:
    problems: list[Problem] = []
    for part, least, most in (("match", 0.0, 1.0), ("expected_size", 1.0, np.inf)):
        array = np.asarray(getattr(told, part), np.float64)
        where = f"records, {part}"
        if array.shape != (n_records,):
            found = f"{count_of(array.size, 'number')} for {count_of(n_records, 'record')}."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
        # A number that is none fails both comparisons.
        n_wrong = int(np.count_nonzero(~((array >= least * _NEARLY) & (array <= most))))
        if n_wrong:
            kind = "a probability" if part == "match" else "a number of people from 1 up"
            found = f"{count_of(n_wrong, 'value')} that cannot be {kind}."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
    return problems
