"""Logit rank plots: how well a score tells two kinds of records apart, whatever its scale.

Records are put in the order of the score; record i of rank r_i has t_i = log(r_i / (n + 1 - r_i)),
equal scores at mid-rank. At each plotting point t = log(j / (m + 1 - j)), j = 1 .. m, a logistic
line is fitted with weights exp(-(t - t_i)^2 / (2 h_t^2)), h_t = h / (4 psi(t)), where psi is the
logistic density and h the standard deviation of the window at the centre. The plot is the value of
the line at t against t: a better score has a greater slope, and any increasing transformation of
the score gives the same plot.

Copas, The effectiveness of risk scores: the logit rank plot (1999); Smith's thesis, chapter 8.
Cost: m fits over the distinct scores. Above 20,000 of them, ranks whose t agree to 0.005 are put
together at their mean, which moves a value by less than 0.0001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.judging.logistic_line import LogisticLine, fit_logistic_line
from gamekeeper.algorithms.judging.outcomes import value_problems
from gamekeeper.errors import Problem, Reason, refuse

_ASKED = "A logit rank plot was asked for."
_MOST_DISTINCT = 20_000
_STEP = 0.005


@dataclass(frozen=True, eq=False)
class LogitRankPlot:
    """The points of a logit rank plot.

    Attributes
    ----------
    t
        The plotting points, logits of shares of the ranks.
    value
        The logit of the probability at each.
    guarded
        Where the outcomes in the window were separable, so that the value was drawn inwards.
    """

    t: NDArray[np.float64]
    value: NDArray[np.float64]
    guarded: NDArray[np.bool_]


def logit_rank_plot(y: ArrayLike, score: ArrayLike, m: int = 49, h: float = 1.0) -> LogitRankPlot:
    """Return the logit rank plot of a score for outcomes 0 and 1.

    Parameters
    ----------
    y
        The outcome of every record: 1 (such as population unique) or 0.
    score
        The score of every record; only its order matters.
    m
        The number of plotting points, 1 or more.
    h
        The standard deviation of the window at the centre of the plot, above 0.

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
    """Return the one logistic line of the outcomes on the logit ranks: the plot's overall slope.

    Examples
    --------
    >>> line = rank_line([0, 1, 0, 0, 1, 1], [1, 2, 3, 4, 5, 6])
    >>> round(line.slope, 4)
    1.0691
    """
    return fit_logistic_line(*_grouped(y, score))


def logit_ranks(score: ArrayLike) -> NDArray[np.float64]:
    """Return log(r / (n + 1 - r)) of the rank r of every score, equal scores at mid-rank.

    Examples
    --------
    >>> logit_ranks([5, 1, 5]).round(4).tolist()
    [0.5108, -1.0986, 0.5108]
    """
    ranks = mid_ranks(np.asarray(score))
    return np.log(ranks / (len(ranks) + 1 - ranks))


def mid_ranks(column: NDArray[Any]) -> NDArray[np.float64]:
    """Return ranks from 1; equal values share the mean of theirs.

    Examples
    --------
    >>> mid_ranks(np.array([5, 1, 5])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[places]


def _grouped(
    y: ArrayLike, score: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return distinct logit ranks with the share of ones and the number of records at each."""
    outcomes, scores = _checked(y, score)
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


def _checked(y: ArrayLike, score: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
