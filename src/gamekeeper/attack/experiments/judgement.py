"""Measures of record-level risk judged against the truth: who ranks best, whose numbers are right.

Discrimination (AUC, the slope of the logit rank plot) needs an order only. Calibration needs
probabilities: of being population unique, against F = 1, and of a correct match, against 1/F. A
file-level number is compared sample by sample, by its relative error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms import judging
from gamekeeper.arrow import pa
from gamekeeper.attack.experiments.scores import (
    ScoredSample,
    Scores,
    checked_scores,
    in_words,
)
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.results import EVERYTHING, Cell, Listing, Provenance, Result, make_listing
from gamekeeper.wording import (
    at_start,
    count_of,
    did_you_mean,
    percent_range,
    percent_text,
    quoted,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = NDArray[np.float64]
_ENOUGH_SAMPLES = 10
"""From so many samples on, intervals are made from how they differ."""
_NOTABLE = 0.005


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A number of the file, estimated and true, and (estimate - truth) / truth: means over samples.

    The errors, signed and absolute, are None where the truth is 0 in every sample.
    """

    estimate: float
    truth: float
    relative_error: float | None
    absolute_error: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """How right the probabilities of records are.

    - `brier`: the mean squared difference between probability and truth.
    - `skill`: by what share that is less than if all had the true mean; None if truth does not
      vary.
    - `slope`, `intercept`: of the truth's logit on that of the probability; 1 and 0 where
      probabilities are right. None without a line, as where probabilities separate both kinds
      entirely.
    """

    brier: float
    skill: float | None
    slope: float | None
    intercept: float | None


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """How one measure fared.

    - `auc`: the chance that a population unique is ranked above a sample unique that is none, of
      all samples together; None where there is only one kind.
    - `auc_within`: the same by the ranks that records have within their own sample: greater where a
      measure ranks well and its scale differs from sample to sample.
    - `rank_slope`: the slope of the logit of being population unique on the logit rank, by ranks
      within samples; None likewise, and where the ranking separates both kinds entirely.
    - `unique`, `match`: calibration of the probabilities of population uniqueness and of a correct
      match; None where the measure has none.
    - `population_uniques`, `correct_matches`: sums of those probabilities over the sample uniques,
      against the number of population uniques and the sum of 1/F.
    - `non_unique_ratio`: of sample uniques with F > 1, the sum of the probabilities of a correct
      match by the sum of 1/F: above 1 where they are overestimated.
    """

    measure: str
    auc: judging.Estimate | None
    auc_within: judging.Estimate | None
    rank_slope: float | None
    unique: Calibration | None
    match: Calibration | None
    population_uniques: Accuracy | None
    correct_matches: Accuracy | None
    pr_cm_given_um: Accuracy | None
    non_unique_ratio: float | None
    seconds: float | None


@dataclass(frozen=True, eq=False)
class Pooled:
    """The sample uniques of all samples: class sizes F, whether F = 1, and 1/F.

    `groups` has the sample of each, where there are enough samples to tell intervals from them.
    """

    population_sizes: NDArray[np.int64]
    is_unique: Numbers
    chances: Numbers
    groups: NDArray[np.int64] | None


def pool(samples: Sequence[ScoredSample]) -> Pooled:
    """Put the sample uniques of samples together."""
    sizes = np.concatenate([sample.population_sizes for sample in samples])
    counts = [len(sample.population_sizes) for sample in samples]
    several = sum(count > 0 for count in counts) >= _ENOUGH_SAMPLES
    return Pooled(
        sizes,
        (sizes == 1).astype(np.float64),
        1.0 / sizes,
        np.repeat(np.arange(len(samples)), counts) if several else None,
    )


def judge_measure(name: str, samples: Sequence[ScoredSample], pooled: Pooled) -> MeasureLine:
    """Judge one measure over samples."""
    told = [sample.scores[name] for sample in samples]
    values = np.concatenate([scores.values for scores in told])
    ranks = ranks_within(told)
    area = judging.auc(pooled.is_unique, values, groups=pooled.groups)
    slope = None
    if area is not None:
        line = judging.rank_line(pooled.is_unique, ranks)
        slope = None if line.guarded else line.slope
    unique, match = together(told, "unique"), together(told, "match")
    seconds = [sample.seconds[name] for sample in samples if name in sample.seconds]
    return MeasureLine(
        name,
        area,
        judging.auc(pooled.is_unique, ranks, groups=pooled.groups),
        slope,
        _calibrate(pooled.is_unique, unique),
        _calibrate(pooled.chances, match),
        _compare(samples, name, partial(_sum, "unique"), lambda sizes: float((sizes == 1).sum())),
        _compare(samples, name, partial(_sum, "match"), lambda sizes: float((1.0 / sizes).sum())),
        _compare(
            samples,
            name,
            lambda scores: scores.pr_cm_given_um,
            lambda sizes: len(sizes) / float(sizes.sum()) if len(sizes) else None,
        ),
        _non_unique_ratio(pooled, match),
        float(np.mean(seconds)) if seconds else None,
    )


def ranks_within(told: Sequence[Scores]) -> Numbers:
    """Return the ranks of sample uniques within their own samples, as shares."""
    return np.concatenate(
        [judging.mid_ranks(scores.values) / (len(scores.values) + 1) for scores in told]
    )


def together(told: Sequence[Scores], part: str) -> Numbers | None:
    """Return the probabilities of all samples; None where a sample has none."""
    each = [getattr(scores, part) for scores in told]
    return None if any(column is None for column in each) else np.concatenate(each)


def _calibrate(truth: Numbers, said: Numbers | None) -> Calibration | None:
    if said is None or not len(said):
        return None
    error, reference = judging.brier(truth, said), float(truth.var())
    slope = intercept = None
    # A truth of zeros or ones only has no line.
    if 0.0 < truth.mean() < 1.0:
        line = judging.calibration_line(truth, said)
        # A slope of 0 exactly is one probability for all, 0 or 1 perhaps.
        if not line.guarded and line.slope:
            slope, intercept = line.slope, line.intercept
    return Calibration(error, 1 - error / reference if reference else None, slope, intercept)


def _compare(
    samples: Sequence[ScoredSample],
    name: str,
    estimate: Callable[[Scores], float | None],
    truth: Callable[[NDArray[np.int64]], float | None],
) -> Accuracy | None:
    pairs = [
        (said, true)
        for sample in samples
        if (said := estimate(sample.scores[name])) is not None
        and (true := truth(sample.population_sizes)) is not None
    ]
    if not pairs:
        return None
    errors = [(said - true) / true for said, true in pairs if true]
    return Accuracy(
        float(np.mean([said for said, _ in pairs])),
        float(np.mean([true for _, true in pairs])),
        float(np.mean(errors)) if errors else None,
        float(np.mean(np.abs(errors))) if errors else None,
    )


def _sum(part: str, scores: Scores) -> float | None:
    said = getattr(scores, part)
    return None if said is None else float(said.sum())


def _non_unique_ratio(pooled: Pooled, match: Numbers | None) -> float | None:
    others = pooled.population_sizes > 1
    if match is None or not others.any():
        return None
    return float(match[others].sum() / pooled.chances[others].sum())


@dataclass(frozen=True, repr=False, eq=False)
class Judgement(Result):
    """How measures fared on the sample uniques of one or several samples: a line per measure."""

    tells_of_records = False

    lines: tuple[MeasureLine, ...]
    samples: tuple[ScoredSample, ...]
    provenance: Provenance

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(line.measure for line in self.lines)

    @property
    def n_uniques(self) -> int:
        """The number of sample uniques of all samples."""
        return sum(len(sample.population_sizes) for sample in self.samples)

    @property
    def n_population_uniques(self) -> int:
        """How many of them are population unique."""
        return sum(int((sample.population_sizes == 1).sum()) for sample in self.samples)

    @property
    def best(self) -> MeasureLine | None:
        """The measure with the greatest AUC, the first of equals; None where there is no AUC."""
        known = [line for line in self.lines if line.auc is not None]
        return max(known, key=_area) if known else None

    @property
    def best_measures(self) -> tuple[str, ...]:
        """The names of all measures with the greatest AUC; models often coincide."""
        best = self.best
        if best is None:
            return ()
        return tuple(line.measure for line in self.lines if _area(line) == _area(best))

    def line(self, measure: str) -> MeasureLine:
        """Return how a measure fared."""
        for line in self.lines:
            if line.measure == measure:
                return line
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The measure {quoted([measure])} was asked for.",
            "It was not judged.",
            did_you_mean(measure, self.measures),
        )

    def pooled(self) -> Pooled:
        """Return the sample uniques of all samples together."""
        return pool(self.samples)

    def probabilities(self, measure: str, of: str = "match") -> np.ndarray[Any, Any] | None:
        """Return the `match` or `unique` of a measure over all samples, or None without them."""
        return together(self._scores(measure), of)

    def ranks(self, measure: str) -> np.ndarray[Any, Any]:
        """Return the ranks by a measure within each sample, as shares, over all samples."""
        return ranks_within(self._scores(measure))

    def difference(
        self, first: str, second: str, *, within: bool = False
    ) -> judging.Estimate | None:
        """Return the AUC of a measure less that of another (`within` samples?), with an interval."""
        one, other = (
            self.ranks(name)
            if within
            else np.concatenate([scores.values for scores in self._scores(name)])
            for name in (first, second)
        )
        pooled = self.pooled()
        return judging.auc_difference(pooled.is_unique, one, other, groups=pooled.groups)

    def differences(self, baseline: str, *, within: bool = False) -> Listing:
        """Return the AUC of every other measure less that of one of them."""
        base = self.line(baseline).measure
        rows: list[tuple[Cell, ...]] = []
        for measure in self.measures:
            found = None if measure == base else self.difference(measure, base, within=within)
            if found is not None:
                clearly = "above" if found.low > 0 else "below" if found.high < 0 else "no"
                rows.append((measure, found.value, found.low, found.high, clearly))
        columns = ("measure", "difference", "low", "high", "clearly")
        return make_listing(f"AUC against {baseline}", columns, rows, EVERYTHING)

    def _scores(self, measure: str) -> list[Scores]:
        name = self.line(measure).measure
        return [sample.scores[name] for sample in self.samples]

    def calibration(self, measure: str, of: str = "match") -> tuple[judging.CalibrationGroup, ...]:
        """Return the truth by tenths of rising probability; nothing without such a probability.

        `of` is `match`, against 1/F, or `unique`, against F = 1.
        """
        said, pooled = self.probabilities(measure, of), self.pooled()
        if said is None or not len(said):
            return ()
        return judging.calibration_table(
            pooled.is_unique if of == "unique" else pooled.chances, said
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        best = self.best
        return {
            "samples": len(self.samples),
            "sample_uniques": self.n_uniques,
            "population_uniques": self.n_population_uniques,
            "measures": len(self.lines),
            "best": "not known" if best is None else best.measure,
            "best_auc": "not known" if best is None or best.auc is None else best.auc.value,
        }

    def to_arrow(self) -> pa.Table:
        """Return one line per measure."""
        rows = [_flat(line) for line in self.lines]
        columns: dict[str, Any] = {"measure": pa.array(self.measures, pa.string())}
        for name in rows[0]:
            columns[name] = pa.array([row[name] for row in rows], pa.float64())
        return pa.table(columns)

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        told = (
            f"{count_of(self.n_uniques, 'sample unique')} in {count_of(len(self.samples), 'sample')}, "
            f"of which {self.n_population_uniques:,} population unique."
        )
        best = self.best
        if best is None:
            return [told, "With one kind of sample unique only, no ranking is better than another."]
        by_area = sorted(self.lines, key=_area, reverse=True)
        lines = [_area_sentence(line, line.auc) for line in by_area if line.auc]
        return [told, *lines, *(s for line in self.lines for s in _accuracy_sentences(line))]

    def plot(self) -> Figure:
        """Plot the logit rank plot of every measure: steeper is better."""
        from gamekeeper.attack.experiments.plots import plot_ranks

        return plot_ranks(self)

    def plot_predictions(self) -> Figure | None:
        """Plot probabilities of a correct match against 1/F; None where no measure has them."""
        from gamekeeper.attack.experiments.plots import plot_predictions

        return plot_predictions(self)

    def plot_calibration(self) -> Figure | None:
        """Plot truth against probability by tenths; None where no measure has probabilities."""
        from gamekeeper.attack.experiments.plots import plot_calibrations as plot_calibration

        return plot_calibration(self)


def judge(measures: Mapping[str, Scores | ArrayLike], population_sizes: ArrayLike) -> Judgement:
    """Judge measures of the same sample uniques against their true class sizes.

    A measure has by its name the score of every sample unique, or `Scores` with probabilities
    besides; `population_sizes` are their class sizes F in the population, 1 or more.

    Examples
    --------
    >>> judged = judge({"good": [9, 8, 2, 1], "poor": [1, 9, 8, 2]}, [1, 1, 5, 7])
    >>> judged.line("good").auc.value, judged.line("poor").auc.value
    (1.0, 0.5)
    """
    started = time.perf_counter()
    sizes = _checked_sizes(population_sizes)
    problems: list[Problem] = []
    scores: dict[str, Scores] = {}
    for name, given in measures.items():
        try:
            scores[name] = checked_scores(name, given, len(sizes))
        except InputError as error:
            problems += [
                Problem(one.reason, f"{quoted([name])}, {one.where}", one.found, one.do)
                for one in error.problems
            ]
    if problems or not scores:
        raise InputError(
            problems[0].reason if problems else Reason.NOTHING_GIVEN,
            "Measures were to be judged.",
            "What they say cannot be used:" if problems else "There are none.",
            "Give every measure one number for each sample unique.",
            problems=problems,
        )
    provenance = Provenance(
        "judging of measures",
        parameters={"measures": ", ".join(scores)},
        fingerprint=_fingerprint(sizes, scores),
        engine=f"numpy {np.__version__}",
    )
    return judge_samples([ScoredSample(sizes, scores)], provenance, started)


def judge_samples(
    samples: Sequence[ScoredSample], provenance: Provenance, started: float
) -> Judgement:
    """Judge measures over samples that all have the same ones, at least one."""
    pooled = pool(samples)
    lines = tuple(judge_measure(name, samples, pooled) for name in samples[0].scores)
    seconds = time.perf_counter() - started
    return Judgement(lines, tuple(samples), replace(provenance, seconds=seconds))


def _area(line: MeasureLine) -> float:
    return -1.0 if line.auc is None else line.auc.value


def _checked_sizes(given: ArrayLike) -> np.ndarray[Any, np.dtype[np.int64]]:
    sizes = np.asarray(given)
    whole = np.issubdtype(sizes.dtype, np.integer) or not sizes.size
    n_wrong = int(np.count_nonzero(sizes < 1)) if whole else sizes.size
    if sizes.ndim != 1 or n_wrong:
        raise InputError(
            Reason.BAD_OPTION,
            f"Measures of {count_of(sizes.size, 'sample unique')} were to be judged.",
            f"{n_wrong:,} of the class sizes in the population are no whole numbers of at least 1."
            if n_wrong
            else "The class sizes are not one list.",
            "Give the number of people who have the key of each sample unique.",
        )
    return sizes.astype(np.int64)


def _fingerprint(sizes: np.ndarray[Any, np.dtype[np.int64]], scores: Mapping[str, Scores]) -> str:
    digest = sha256(sizes.tobytes())
    for name, told in scores.items():
        digest.update(repr((name, told.pr_cm_given_um)).encode("utf-8", "replace"))
        for column in (told.values, told.match, told.unique):
            digest.update(b"none" if column is None else column.tobytes())
    return digest.hexdigest()[:16]


def _area_sentence(line: MeasureLine, area: judging.Estimate) -> str:
    told = (
        f"{at_start(in_words(line.measure))} ranks a population unique above another sample unique"
        f" in {percent_text(area.value)} of pairs (interval {percent_range(area.low, area.high)})"
    )
    within = line.auc_within
    if within is None or abs(within.value - area.value) < _NOTABLE:
        return f"{told}."
    return f"{told}; by ranks within samples in {percent_text(within.value)}."


def _accuracy_sentences(line: MeasureLine) -> list[str]:
    lines: list[str] = []
    for words, found, digits in (
        ("population uniques", line.population_uniques, ",.1f"),
        ("correct matches, were every sample unique matched", line.correct_matches, ",.1f"),
        ("Pr(CM|UM)", line.pr_cm_given_um, ".4f"),
    ):
        if found is not None:
            error = found.relative_error
            off = "" if error is None else f", off by {error:+.1%} on average"
            lines.append(
                f"{at_start(in_words(line.measure))}, {words}: {found.estimate:{digits}} estimated, "
                f"{found.truth:{digits}} true{off}."
            )
    if line.non_unique_ratio is not None:
        lines.append(
            f"{at_start(in_words(line.measure))} gives sample uniques that are not population unique "
            f"{line.non_unique_ratio:.2f} times their true chance of a correct match."
        )
    return lines


def _flat(line: MeasureLine) -> dict[str, float | None]:
    """Return a line as columns of a table; what it does not have is None in all of them."""
    area, within = line.auc, line.auc_within
    found: dict[str, float | None] = {
        "auc": None if area is None else area.value,
        "auc_low": None if area is None else area.low,
        "auc_high": None if area is None else area.high,
        "auc_within": None if within is None else within.value,
        "rank_slope": line.rank_slope,
    }
    for part, calibration in (("unique", line.unique), ("match", line.match)):
        for name in ("brier", "skill", "slope", "intercept"):
            found[f"{part}_{name}"] = getattr(calibration, name, None)
    for part in ("population_uniques", "correct_matches", "pr_cm_given_um"):
        accuracy: Accuracy | None = getattr(line, part)
        found[part] = getattr(accuracy, "estimate", None)
        found[f"{part}_true"] = getattr(accuracy, "truth", None)
        found[f"{part}_error"] = getattr(accuracy, "relative_error", None)
        found[f"{part}_absolute_error"] = getattr(accuracy, "absolute_error", None)
    return {**found, "non_unique_ratio": line.non_unique_ratio}
