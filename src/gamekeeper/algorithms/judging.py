"""How well scores tell two kinds of records apart, and whether probabilities are right.

The area under the receiver operating characteristic curve (AUC) is the chance that a record with
outcome 1 has a higher score than one with outcome 0, ties counting half. Its variance follows from
placements, the share of the other kind that each record beats (DeLong, DeLong and Clarke-Pearson
1988); where records come in groups, such as repeated samples, from sums of placements by group (as
Obuchowski 1997). The interval is made on the logit scale, so that it stays within 0 and 1.

The Brier score is the mean squared difference between a probability and the outcome. Calibration is
judged by the logistic line of the outcome on the logit of the probability: slope 1 and intercept 0
where probabilities are right; a slope below 1 where they are too extreme. An outcome may be a
share, such as the true chance 1/F of a correct match. Cost: a sort.

A logit rank plot shows a score whatever its scale: any increasing transformation of it gives the
same plot, and a better one has a greater slope. The record of rank r_i has t_i = log(r_i / (n + 1 -
r_i)), equal scores at mid-rank. At each plotting point t = log(j / (m + 1 - j)), j = 1 .. m, a
logistic line is fitted with weights exp(-(t - t_i)^2 / (2 h_t^2)), h_t = h / (4 psi(t)), where psi
is the logistic density and h the standard deviation of the window at the centre. Its value at t is
plotted against t. Copas, The effectiveness of risk scores: the logit rank plot (1999); Smith's
thesis, chapter 8. Cost: m fits over the distinct scores. Above 20,000 of them, ranks whose t agree
to 0.005 are put together at their mean, which moves a value by less than 0.0001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.statistics import LogisticLine, fit_logistic_line, logit
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.wording import count_of

Numbers = NDArray[np.float64]


def value_problems(outcomes: Numbers, scores: Numbers) -> list[Problem]:
    """Return what is wrong with the values of outcomes and scores, whatever their numbers.

    Examples
    --------
    >>> [str(one) for one in value_problems(np.array([0.0, 2.0]), np.array([1.0, np.nan]))]
    ['outcomes: 1 value other than 0 and 1.', 'scores: 1 value that is not a number.']
    """
    problems: list[Problem] = []
    n_other = int(np.count_nonzero((outcomes != 0) & (outcomes != 1)))
    if n_other:
        found = f"{count_of(n_other, 'value')} other than 0 and 1."
        problems.append(Problem(Reason.BAD_OPTION, "outcomes", found))
    n_not_numbers = int(np.count_nonzero(np.isnan(scores)))
    if n_not_numbers:
        found = count_of(n_not_numbers, "value that is not a number", "values that are not numbers")
        problems.append(Problem(Reason.BAD_OPTION, "scores", f"{found}."))
    return problems


_ASKED = "A logit rank plot was asked for."
_MOST_DISTINCT = 20_000
_STEP = 0.005


@dataclass(frozen=True, eq=False)
class LogitRankPlot:
    """Plotting points, logits of shares of the ranks, with the logit of the probability at each.

    Guarded are those where the outcomes in the window were separable, so that the value was drawn
    inwards.
    """

    t: Numbers
    value: Numbers
    guarded: NDArray[np.bool_]


def logit_rank_plot(y: ArrayLike, score: ArrayLike, m: int = 49, h: float = 1.0) -> LogitRankPlot:
    """Return the logit rank plot of a score for outcomes 0 and 1.

    It has `m` plotting points. `h` is the standard deviation of the window at the centre.

    Examples
    --------
    >>> plot = logit_rank_plot([0, 1, 0, 0, 1, 1], [1, 2, 3, 4, 5, 6], m=3)
    >>> plot.t.round(4).tolist()
    [-1.0986, 0.0, 1.0986]
    >>> plot.value.round(4).tolist()
    [-0.7635, -0.3566, 1.4312]
    """
    _check_options(m, h)
    ranks, outcomes, counts = _grouped(y, score)
    places = np.arange(1, m + 1)
    points = np.log(places / (m + 1 - places))
    lines: list[LogisticLine] = []
    for place, t in zip(places.tolist(), points.tolist(), strict=True):
        share = place / (m + 1)
        width = h / (4 * share * (1 - share))
        weights = counts * np.exp(-0.5 * ((t - ranks) / width) ** 2)
        # A narrow window may hold no record at all: then the line of all records stands in.
        lines.append(fit_logistic_line(ranks, outcomes, weights if weights.any() else counts))
    values = [line.at(t) for line, t in zip(lines, points.tolist(), strict=True)]
    return LogitRankPlot(points, np.array(values), np.array([line.guarded for line in lines]))


def rank_line(y: ArrayLike, score: ArrayLike) -> LogisticLine:
    """Return the one logistic line of the outcomes on the logit ranks: the plot's overall slope."""
    return fit_logistic_line(*_grouped(y, score))


def logit_ranks(score: ArrayLike) -> Numbers:
    """Return log(r / (n + 1 - r)) of the rank r of every score, equal scores at mid-rank.

    Examples
    --------
    >>> logit_ranks([5, 1, 5]).round(4).tolist()
    [0.5108, -1.0986, 0.5108]
    """
    ranks = mid_ranks(np.asarray(score))
    return np.log(ranks / (len(ranks) + 1 - ranks))


def mid_ranks(column: NDArray[Any]) -> Numbers:
    """Return ranks from 1; equal values share the mean of theirs."""
    _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[places]


def rank_groups(column: NDArray[Any], n_groups: int) -> NDArray[np.int64]:
    """Return which of so many groups of rising ranks each value is in, from 0; ties stay together.

    Examples
    --------
    >>> rank_groups(np.array([3.0, 1.0, 1.0, 9.0]), 10).tolist()
    [6, 2, 2, 8]
    """
    if not len(column):
        return np.zeros(0, np.int64)
    return np.floor((mid_ranks(column) - 0.5) * n_groups / len(column)).astype(np.int64)


def _grouped(y: ArrayLike, score: ArrayLike) -> tuple[Numbers, Numbers, Numbers]:
    """Return distinct logit ranks with the share of ones and the number of records at each."""
    outcomes, scores = _checked_ranks(y, score)
    distinct, places, counts = np.unique(
        logit_ranks(scores), return_inverse=True, return_counts=True
    )
    if len(distinct) > _MOST_DISTINCT:
        _, coarse = np.unique(np.floor(distinct / _STEP), return_inverse=True)
        places = coarse[places]
        sums, counts = np.bincount(coarse, distinct * counts), np.bincount(coarse, counts)
        distinct = sums / counts
    ones = np.bincount(places, outcomes)
    return distinct, ones / counts, counts.astype(np.float64)


def _checked_ranks(y: ArrayLike, score: ArrayLike) -> tuple[Numbers, Numbers]:
    outcomes, scores = np.asarray(y, np.float64), np.asarray(score, np.float64)
    problems: list[Problem] = []
    if outcomes.shape != scores.shape or outcomes.ndim != 1 or not outcomes.size:
        found = f"{outcomes.size:,} outcomes and {scores.size:,} scores are given."
        do = "Give one of each for every record, and at least one record."
        problems.append(Problem(Reason.BAD_OPTION, "records", found, do))
    problems += value_problems(outcomes, scores)
    refuse(problems, _ASKED, "Outcomes and scores cannot be used:")
    return outcomes, scores


def _check_options(m: int, h: float) -> None:
    problems: list[Problem] = []
    if m < 1:
        problems.append(Problem(Reason.BAD_OPTION, "m", f"{m:,} is less than 1."))
    if not 0 < h < np.inf:
        problems.append(Problem(Reason.BAD_OPTION, "h", "not a number above 0."))
    refuse(problems, _ASKED, "Its options cannot be used:")


_LEAST_PROBABILITY = 1e-6
_FOUND = "Outcomes or scores cannot be used:"
_LEVEL = 0.95
_Z = NormalDist().inv_cdf((1 + _LEVEL) / 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with an interval that holds the truth with a confidence of 95%."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CalibrationGroup:
    """Records of similar probability: how many, what was said of them, and what is true."""

    records: int
    mean_probability: float
    mean_outcome: float


def auc(y: ArrayLike, score: ArrayLike, *, groups: ArrayLike | None = None) -> Estimate | None:
    """Return the area under the ROC curve with a 95% interval; None where all outcomes are the same.

    Records of different groups are independent, those of one need not be. By default every record
    is its own group. With fewer than ten groups the interval is a rough one.

    Where the score separates both kinds entirely, placements do not vary. The interval is then that
    of a share of which no failure was seen, with the smaller kind's records as trials, or the
    groups that have any of them.

    Examples
    --------
    >>> found = auc([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6])
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.8889, 0.2614, 0.9945)
    """
    outcomes, scores = _checked_scores(y, score, "The AUC of a score was asked for.")
    if not _has_both(outcomes):
        return None
    positive, negative = _placements(outcomes, scores)
    value = float(positive.mean())
    if value in (0.0, 1.0):
        numbers = np.arange(len(outcomes)) if groups is None else _group_numbers(outcomes, groups)
        n_trials = min(len(np.unique(numbers[outcomes == kind])) for kind in (0.0, 1.0))
        end = (1 - _LEVEL) ** (1 / n_trials)
        return Estimate(value, min(value, end), max(value, 1 - end))
    alone = value * (1 - value)
    error = math.sqrt(_variance(outcomes, positive, negative, value, alone, groups))
    centre, half = logit(value), _Z * error / (value * (1 - value))
    return Estimate(value, _expit(centre - half), _expit(centre + half))


def auc_difference(
    y: ArrayLike, first: ArrayLike, second: ArrayLike, *, groups: ArrayLike | None = None
) -> Estimate | None:
    """Return the AUC of the first score less that of the second on the same records.

    Parameters are those of `auc`. The interval is narrower than those of both AUC would suggest,
    for scores of the same records go up and down together.

    Examples
    --------
    >>> auc_difference([0, 0, 1, 1], [1, 2, 3, 4], [1, 3, 2, 4]).value
    0.25
    """
    asked = "The AUC of two scores were to be compared."
    outcomes, one = _checked_scores(y, first, asked)
    _, other = _checked_scores(y, second, asked)
    if not _has_both(outcomes):
        return None
    of_one, of_other = _placements(outcomes, one), _placements(outcomes, other)
    positive, negative = of_one[0] - of_other[0], of_one[1] - of_other[1]
    if not positive.any() and not negative.any():
        return Estimate(0.0, 0.0, 0.0)
    value = float(positive.mean())
    variance = _variance(outcomes, positive, negative, value, 1 - value**2, groups)
    half = _Z * math.sqrt(variance)
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half))


def brier(y: ArrayLike, probability: ArrayLike) -> float:
    """Return the mean squared difference between probabilities and outcomes from 0 to 1."""
    outcomes, said = _checked_shares(y, probability, "A Brier score was asked for.")
    return float(((said - outcomes) ** 2).mean())


def calibration_line(y: ArrayLike, probability: ArrayLike) -> LogisticLine:
    """Return the logistic line of outcomes from 0 to 1 on the logit of their probability.

    Probabilities below 0.000001, or as near to 1, count as that, since 0 and 1 have no logit.

    Examples
    --------
    Said 0.2 and 0.8, and true 0.2 and 0.8: the slope is 1.

    >>> line = calibration_line([0.2, 0.8], [0.2, 0.8])
    >>> round(line.slope, 6), round(abs(line.intercept), 6)
    (1.0, 0.0)
    """
    outcomes, said = _checked_shares(y, probability, "A calibration line was asked for.")
    inside = np.clip(said, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY)
    return fit_logistic_line(np.log(inside) - np.log1p(-inside), outcomes)


def calibration_table(
    y: ArrayLike, probability: ArrayLike, *, n_groups: int = 10
) -> tuple[CalibrationGroup, ...]:
    """Return groups of about as many records each, by rising probability; ties stay together.

    Examples
    --------
    >>> [
    ...     group.mean_outcome
    ...     for group in calibration_table([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.8], n_groups=2)
    ... ]
    [0.0, 1.0]
    """
    outcomes, said = _checked_shares(y, probability, "A calibration table was asked for.")
    if n_groups < 1:
        raise InputError(
            Reason.BAD_OPTION,
            "A calibration table was asked for.",
            f"{n_groups:,} groups cannot be made.",
            "Give 1 or more.",
        )
    group = rank_groups(said, n_groups)
    counts = np.bincount(group, minlength=n_groups)
    sums = [np.bincount(group, column, minlength=n_groups) for column in (said, outcomes)]
    return tuple(
        CalibrationGroup(n, total_said / n, total_true / n)
        for n, total_said, total_true in zip(
            counts.tolist(), sums[0].tolist(), sums[1].tolist(), strict=True
        )
        if n
    )


def _has_both(outcomes: Numbers) -> bool:
    return bool(outcomes.min(initial=1.0) == 0.0 and outcomes.max(initial=0.0) == 1.0)


def _placements(outcomes: Numbers, scores: Numbers) -> tuple[Numbers, Numbers]:
    """Return, of each record, the share of the other kind on the right side of it."""
    ones = outcomes == 1.0
    ranks = mid_ranks(scores)
    n_ones = int(np.count_nonzero(ones))
    beaten = (ranks[ones] - mid_ranks(scores[ones])) / (len(scores) - n_ones)
    beating = 1.0 - (ranks[~ones] - mid_ranks(scores[~ones])) / n_ones
    return beaten, beating


def _variance(
    outcomes: Numbers,
    positive: Numbers,
    negative: Numbers,
    value: float,
    alone: float,
    groups: ArrayLike | None,
) -> float:
    """Return the variance of a mean placement; `alone` is that of a kind with one record only.

    One record says nothing of its kind's spread, so it is the largest that the mean allows.
    """
    n_positive, n_negative = len(positive), len(negative)
    if groups is None:
        return sum(
            float(kind.var(ddof=1)) / len(kind) if len(kind) > 1 else alone
            for kind in (positive, negative)
        )
    ones, numbers = outcomes == 1.0, _group_numbers(outcomes, groups)
    n_groups = int(numbers.max()) + 1
    up = np.bincount(numbers[ones], positive - value, minlength=n_groups)
    down = np.bincount(numbers[~ones], negative - value, minlength=n_groups)
    total = up / n_positive + down / n_negative
    # Sums over groups have mean 0 by themselves.
    return float((total**2).sum()) * n_groups / (n_groups - 1)


def _group_numbers(outcomes: Numbers, groups: ArrayLike) -> NDArray[np.intp]:
    _, numbers = np.unique(np.asarray(groups), return_inverse=True)
    n_groups = int(numbers.max(initial=-1)) + 1
    if len(numbers) != len(outcomes) or n_groups < 2:
        raise InputError(
            Reason.BAD_OPTION,
            "The interval of an AUC was asked for, for records in groups.",
            f"{len(numbers):,} records have a group, in {count_of(n_groups, 'group')}.",
            "Give every record a group, and two groups at least; or none at all.",
        )
    return numbers


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


def _checked_scores(y: ArrayLike, score: ArrayLike, asked: str) -> tuple[Numbers, Numbers]:
    outcomes, scores = np.asarray(y, np.float64), np.asarray(score, np.float64)
    refuse([*_shape_problems(outcomes, scores), *value_problems(outcomes, scores)], asked, _FOUND)
    return outcomes, scores


def _checked_shares(y: ArrayLike, probability: ArrayLike, asked: str) -> tuple[Numbers, Numbers]:
    outcomes, said = np.asarray(y, np.float64), np.asarray(probability, np.float64)
    problems = _shape_problems(outcomes, said)
    if not outcomes.size:
        problems.append(Problem(Reason.NOTHING_GIVEN, "records", "there are none."))
    for where, values in (("outcomes", outcomes), ("probabilities", said)):
        n_wrong = int(np.count_nonzero(~((values >= 0) & (values <= 1))))
        if n_wrong:
            found = f"{count_of(n_wrong, 'value')} not from 0 to 1."
            problems.append(Problem(Reason.BAD_OPTION, where, found))
    refuse(problems, asked, _FOUND)
    return outcomes, said


def _shape_problems(outcomes: Numbers, scores: Numbers) -> list[Problem]:
    if outcomes.shape == scores.shape and outcomes.ndim == 1:
        return []
    found = f"{outcomes.size:,} outcomes and {scores.size:,} scores or probabilities are given."
    return [Problem(Reason.BAD_OPTION, "records", found, "Give one of each for every record.")]
