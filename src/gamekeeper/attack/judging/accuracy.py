"""What a measure says against what is true, over one or several samples.

Discrimination (AUC, the slope of the logit rank plot) needs an order only. Calibration needs
probabilities: of being population unique, against F = 1, and of a correct match, against 1/F. A
file-level number is compared sample by sample, by its relative error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.judging.discrimination import Estimate, auc, brier, calibration_line
from gamekeeper.algorithms.judging.rank_plots import mid_ranks, rank_line
from gamekeeper.attack.judging.scores import ScoredSample, Scores

_ENOUGH_SAMPLES = 10
"""From so many samples on, intervals are made from how they differ."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A number of the file, estimated and true: means over samples.

    Attributes
    ----------
    relative_error, absolute_error
        The means over samples of (estimate - truth) / truth, signed and not; None where the truth
        is 0 in every sample.
    """

    estimate: float
    truth: float
    relative_error: float | None
    absolute_error: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """How right the probabilities of records are.

    Attributes
    ----------
    brier
        The mean squared difference between probability and truth.
    skill
        The share by which that is less than if every record had the true mean; None where the
        truth does not vary.
    slope, intercept
        Of the truth's logit on that of the probability; 1 and 0 where probabilities are right. None
        where no line can be told, such as where probabilities separate both kinds entirely.
    """

    brier: float
    skill: float | None
    slope: float | None
    intercept: float | None


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """How one measure fared.

    Attributes
    ----------
    auc
        The chance that a population unique is ranked above a sample unique that is none, of all
        samples together; None where there is only one kind.
    auc_within
        The same by the ranks that records have within their own sample. It is the greater one
        where a measure ranks well and its scale differs from sample to sample.
    rank_slope
        The slope of the logit of being population unique on the logit rank, by ranks within
        samples; None likewise, and where the ranking separates both kinds entirely.
    unique, match
        Calibration of the probabilities of population uniqueness and of a correct match; None
        where the measure has none.
    population_uniques, correct_matches
        Sums of those probabilities over the sample uniques, against the number of population
        uniques and the sum of 1/F.
    pr_cm_given_um
        The estimate of Pr(CM|UM) against the truth.
    non_unique_ratio
        Of sample uniques with F > 1, the sum of the probabilities of a correct match by the sum of
        1/F: above 1 where they are overestimated.
    seconds
        The mean time, where taken.
    """

    measure: str
    auc: Estimate | None
    auc_within: Estimate | None
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
    """The sample uniques of all samples, put together.

    Attributes
    ----------
    population_sizes, is_unique, chances
        Their class sizes F, whether F = 1, and 1/F.
    groups
        The sample of each, where there are enough samples to tell intervals from them.
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
    area = auc(pooled.is_unique, values, groups=pooled.groups)
    slope = None
    if area is not None:
        line = rank_line(pooled.is_unique, ranks)
        slope = None if line.guarded else line.slope
    unique, match = together(told, "unique"), together(told, "match")
    seconds = [sample.seconds[name] for sample in samples if name in sample.seconds]
    return MeasureLine(
        name,
        area,
        auc(pooled.is_unique, ranks, groups=pooled.groups),
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
    return np.concatenate([mid_ranks(scores.values) / (len(scores.values) + 1) for scores in told])


def together(told: Sequence[Scores], part: str) -> Numbers | None:
    """Return the probabilities of all samples; None where a sample has none."""
    each = [getattr(scores, part) for scores in told]
    return None if any(column is None for column in each) else np.concatenate(each)


def _calibrate(truth: Numbers, said: Numbers | None) -> Calibration | None:
    if said is None or not len(said):
        return None
    error, reference = brier(truth, said), float(truth.var())
    slope = intercept = None
    # A truth of zeros or ones only has no line.
    if 0.0 < truth.mean() < 1.0:
        line = calibration_line(truth, said)
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
