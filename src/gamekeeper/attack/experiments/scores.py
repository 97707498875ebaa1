"""Measures of record-level risk by name: what they see of a sample, and say of its sample uniques.

A measure is a function of a `SampleData` that returns `Scores`. To add one, write it at the top of
a module, so that processes can be given it, and put it in `MEASURES`. A Bayesian intruder fits
models to the sample, calibrated by the sample itself.

Sample and population counts of all cells can be seen side by side (Smith's thesis, tables 2 and 3).
A cell is a combination of categories of the key variables; most cells of a large key hold nobody.
Counts are put in the bands 0, 1, 2, 3, 4, 5, 6 to 10, 11 to 20, and 21 or more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.models.annealing import anneal, occams_window
from gamekeeper.algorithms.models.clique_scores import MarginScores
from gamekeeper.algorithms.models.mc3 import sample_models
from gamekeeper.algorithms.models.walks import SearchResult
from gamekeeper.algorithms.uniques.scores import ScoreKind, dis_is, dis_suda, size_weights, weigh
from gamekeeper.attack.experiments.harness import SampleData
from gamekeeper.attack.models.fitting import estimate_sample
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import EVERYTHING, Cell, Listing, make_listing
from gamekeeper.wording import count_of, did_you_mean, joined, quoted

BANDS = ("0", "1", "2", "3", "4", "5", "6-10", "11-20", "21+")
_LEAST = np.array([0, 1, 2, 3, 4, 5, 6, 11, 21])
_MOST = (0, 1, 2, 3, 4, 5, 10, 20, None)
# Expected sizes are sums, which may be below 1 in the last digits.
_NEARLY = 1 - 1e-9
NAMES = {
    "suda": "SUDA",
    "is": "IS",
    "dis_suda": "DIS-SUDA",
    "dis_is": "DIS-IS",
    "mc3": "MC3",
    "annealing": "annealing",
    "occam": "Occam",
}
"""Measures in words, where these differ from their names."""
# Samples of a comparison run beside each other, so that a search has one thread.
_CHAINS = 2


def in_words(measure: str) -> str:
    """Return the name of a measure for reading.

    Examples
    --------
    >>> in_words("dis_is"), in_words("my_own")
    ('DIS-IS', 'my own')
    """
    return NAMES.get(measure, measure.replace("_", " "))


def all_in_words(measures: Sequence[str]) -> str:
    """Return the names of measures for reading, as one list.

    Examples
    --------
    >>> all_in_words(["mc3", "annealing", "occam"]), all_in_words(["suda"])
    ('MC3, annealing and Occam', 'SUDA')
    """
    return joined([in_words(measure) for measure in measures])


@dataclass(frozen=True, repr=False, eq=False)
class JointTable:
    """How many of the cells of a key have which counts in sample and population, over samples.

    Cells that hold nobody are left out of `counts`, and are among `n_cells`.
    """

    counts: NDArray[np.int64]
    samples: int
    n_cells: int

    @classmethod
    def of(cls, tables: Iterable[NDArray[np.int64]], n_cells: int) -> JointTable:
        """Add up the tables of several samples of one population, at least one."""
        each = np.array(list(tables), dtype=np.int64)
        return cls(each.sum(axis=0), len(each), n_cells)

    def cells(self) -> list[list[int]]:
        """Return numbers of cells by sample band and population band, summed over samples."""
        table = self.counts.tolist()
        table[0][0] = self.n_cells * self.samples - int(self.counts.sum())
        return table

    def listing(self) -> Listing:
        """Return the table with totals, as a mean per sample; impossible pairs are empty."""
        table = self.cells()
        rows: list[tuple[Cell, ...]] = []
        for row, (name, least) in enumerate(zip(BANDS, _LEAST.tolist(), strict=True)):
            numbers = [
                None if most is not None and most < least else self._mean(table[row][column])
                for column, most in enumerate(_MOST)
            ]
            rows.append((name, *numbers, self._mean(sum(table[row]))))
        sums = [sum(column) for column in zip(*table, strict=True)]
        rows.append(("total", *map(self._mean, sums), self._mean(sum(sums))))
        columns = ("sample count", *BANDS, "total")
        return make_listing("cells by sample and population count", columns, rows, EVERYTHING)

    def _mean(self, total: int) -> int | float:
        return total if self.samples == 1 else total / self.samples

    def __repr__(self) -> str:
        return f"JointTable({self.n_cells:,} cells, {self.samples:,} samples)"


def joint_counts(
    sample_counts: NDArray[np.integer[Any]], population_counts: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return numbers of classes by band of sample count and band of population count.

    Examples
    --------
    >>> table = joint_counts(np.array([0, 1, 1, 3]), np.array([1, 1, 2, 30]))
    >>> table[:2, :3].tolist(), int(table[3, 8])
    ([[0, 1, 0], [0, 1, 1]], 1)
    """
    rows = np.searchsorted(_LEAST, sample_counts, side="right") - 1
    columns = np.searchsorted(_LEAST, population_counts, side="right") - 1
    n_bands = len(BANDS)
    flat = np.bincount(rows * n_bands + columns, minlength=n_bands * n_bands)
    return flat.reshape(n_bands, n_bands).astype(np.int64)


class Score(StrEnum):
    """The scores of sample uniques whose relation to 1/F can be measured."""

    SUDA = "suda"
    IS = "is"
    DIS_SUDA = "dis_suda"
    DIS_IS = "dis_is"


PROBABILITIES = (Score.DIS_SUDA, Score.DIS_IS)
"""The scores that estimate a probability."""


def score_of(sample: SampleData, score: Score, *, power: int = 6) -> NDArray[np.float64]:
    """Return a score of the sample uniques, in their order."""
    found = sample.minimal_uniques
    kind = ScoreKind.SUDA if score in (Score.SUDA, Score.DIS_SUDA) else ScoreKind.IS
    weights = size_weights(found.n_variables, kind, power=power, max_size=found.max_size)
    sums = weigh(found.counts, weights)
    if score is Score.DIS_SUDA:
        return dis_suda(sums, sample.dis).values
    if score is Score.DIS_IS:
        return dis_is(sums, sample.dis, found.n_variables)
    return sums.astype(np.float64)


@dataclass(frozen=True, repr=False, eq=False)
class RecordEstimates:
    """Of every record, unique or not: the probability of a right match, and expected people with its key."""

    match: NDArray[np.float64]
    expected_size: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"RecordEstimates({len(self.match):,} records)"


@dataclass(frozen=True, repr=False, eq=False)
class Scores:
    """What a measure says of every sample unique, and of the file.

    - `values`: the score that ranks them, higher for more risk; its scale does not matter.
    - `match`: the estimated probability that a match with the record is correct, 1/F, if any.
    - `unique`: the estimated probability that the record is population unique (F = 1), likewise.
    - `pr_cm_given_um`: the estimate of Pr(CM|UM) of the file, the number of sample uniques by the
      number of people who have their keys, likewise.
    - `records`: of all records, so that attacks may be planned by cost; None if of uniques only.
    """

    values: NDArray[np.float64]
    match: NDArray[np.float64] | None = None
    unique: NDArray[np.float64] | None = None
    pr_cm_given_um: float | None = None
    records: RecordEstimates | None = None

    def __repr__(self) -> str:
        return f"Scores({len(self.values):,} sample uniques)"


Measure = Callable[[SampleData], Scores]
"""A measure of record-level risk: a sample in, scores of its sample uniques out."""


@dataclass(frozen=True, slots=True)
class AttackValue:
    """What an attack achieves on one sample: the true probability of a correct match.

    `cost` has the people searched on average, `keys` the keys attacked; None for what is no search.
    """

    pr_cm: float
    cost: float | None = None
    keys: float | None = None


@dataclass(frozen=True, repr=False, eq=False)
class ScoredSample:
    """One sample: the class sizes F of its uniques, what measures say of them, and attacks.

    - `scores`: the answer of each measure by its name; none of a sample for attacks only.
    - `joint`: numbers of classes by bands of sample count and population count, where known.
    - `attacks`: what attacks achieve, by attack and measure; without one where they need none.
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


def mc3(sample: SampleData) -> Scores:
    """Score by models that Markov chains visit, averaged."""
    return _scores(
        sample, lambda scores: sample_models(scores, chains=_CHAINS, seed=sample.seed, workers=1)
    )


def annealing(sample: SampleData) -> Scores:
    """Score by the best models that simulated annealing finds."""
    return _scores(
        sample, lambda scores: anneal(scores, restarts=_CHAINS, seed=sample.seed, workers=1)
    )


def occam(sample: SampleData) -> Scores:
    """Score by the models of Occam's window, averaged."""
    return _scores(sample, lambda scores: occams_window(scores, seed=sample.seed, workers=1))


def _scores(sample: SampleData, search: Callable[[MarginScores], SearchResult]) -> Scores:
    found = estimate_sample(sample.codes, sample.levels, sample.fraction, search, seed=sample.seed)
    uniques, estimate = found.classes[sample.uniques], found.estimate
    chance = float(estimate.file.pr_cm_given_um.value)
    return Scores(
        estimate.p_match[uniques],
        match=estimate.p_match[uniques],
        unique=estimate.p_unique[uniques],
        pr_cm_given_um=None if np.isnan(chance) else chance,
        records=RecordEstimates(
            estimate.p_match[found.classes], estimate.expected_size[found.classes]
        ),
    )


def _suda(sample: SampleData) -> Scores:
    return _of_msus(sample, Score.SUDA)


def _is(sample: SampleData) -> Scores:
    return _of_msus(sample, Score.IS)


def _dis_suda(sample: SampleData) -> Scores:
    return _of_msus(sample, Score.DIS_SUDA)


def _dis_is(sample: SampleData) -> Scores:
    return _of_msus(sample, Score.DIS_IS)


def _of_msus(sample: SampleData, score: Score) -> Scores:
    values = score_of(sample, score)
    if score not in PROBABILITIES:
        return Scores(values)
    share = None if sample.dis is None else float(sample.dis)
    return Scores(values, match=values, pr_cm_given_um=share)


MEASURES: dict[str, Measure] = {
    "suda": _suda,
    "is": _is,
    "dis_suda": _dis_suda,
    "dis_is": _dis_is,
    "mc3": mc3,
    "annealing": annealing,
    "occam": occam,
}


def named_measures(
    given: Sequence[Any], known: Mapping[str, Callable[[Any], Any]], hint: str = ""
) -> tuple[dict[str, Callable[..., Any]], list[Problem]]:
    """Return measures by name, a function of one's own by its own name, and what is wrong with them."""
    found: dict[str, Callable[..., Any]] = {}
    problems: list[Problem] = []
    if not given:
        problems.append(Problem(Reason.NOTHING_GIVEN, "measures", "none is given.", hint))
    for measure in given:
        name = measure if isinstance(measure, str) else getattr(measure, "__name__", "own")
        where = f"measure {quoted([name])}"
        if name in found:
            problems.append(Problem(Reason.DUPLICATE, where, "given twice."))
        elif not isinstance(measure, str):
            found[name] = measure
        elif measure in known:
            found[name] = known[measure]
        else:
            like = did_you_mean(measure, known)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "not known.", like))
    return found, problems


def written_measure(name: str, measure: Callable[..., Any]) -> str:
    """Return where a function stands, which tells one plan from another."""
    return f"{measure.__module__}.{getattr(measure, '__qualname__', name)}"
