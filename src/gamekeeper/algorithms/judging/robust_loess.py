"""Robust locally weighted regression: a smooth line through points, not drawn away by outliers.

At each x, a line is fitted to the q nearest points, q = span times n, with weights
(1 - (d / d_q)^3)^3 by the distance d. Then residuals r lower the weight of points far from the
line, by (1 - (r / 6s)^2)^2 with s the median of |r|, and the fits are made again, some times over.

Cleveland, Robust locally weighted regression and smoothing scatterplots (1979). Points that share
an x share a fit, so the cost is distinct x times n span, per round.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.wording import count_of

Numbers = NDArray[np.float64]


def robust_loess(
    x: ArrayLike, y: ArrayLike, *, span: float = 2 / 3, rounds: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct x in ascending order, and the smooth line at each.

    Parameters
    ----------
    x, y
        The points, at least one.
    span
        The share of the points that each fit uses, above 0 and up to 1; two at least.
    rounds
        How often the weights are lowered by residuals; 0 for a line that is not robust.

    Examples
    --------
    >>> _, line = robust_loess([1, 2, 3, 4, 5, 6, 7], [2, 4, 6, 60, 10, 12, 14], span=1)
    >>> line.round(2).tolist()
    [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]
    """
    xs, ys = _checked(x, y, span, rounds)
    order = np.argsort(xs, kind="stable")
    xs, ys = xs[order], ys[order]
    distinct, place = np.unique(xs, return_inverse=True)
    n_near = min(len(xs), max(2, math.ceil(span * len(xs) - 1e-9)))
    windows = [_window(xs, at, n_near) for at in distinct.tolist()]
    trust = np.ones(len(xs))
    line = np.zeros(len(distinct))
    for turn in range(rounds + 1):
        for number, (at, (first, last, weights)) in enumerate(
            zip(distinct.tolist(), windows, strict=True)
        ):
            near = slice(first, last)
            line[number] = _fit(xs[near] - at, ys[near], weights * trust[near], weights)
        if turn == rounds:
            break
        off = np.abs(ys - line[place])
        middle = float(np.median(off))
        # Half of the points lie on the line but for rounding: no other residual is a scale.
        if middle <= 1e-12 * max(1.0, float(np.abs(ys).max())):
            break
        trust = np.clip(1.0 - (off / (6.0 * middle)) ** 2, 0.0, None) ** 2
    return distinct, line


def _window(xs: Numbers, at: float, n_near: int) -> tuple[int, int, Numbers]:
    """Return where the points near a place begin and end, and their weights by distance."""
    distance = np.abs(xs - at)
    reach = float(np.partition(distance, n_near - 1)[n_near - 1])
    if reach == 0.0:
        first, last = np.searchsorted(xs, at), np.searchsorted(xs, at, "right")
        return int(first), int(last), np.ones(int(last - first))
    first, last = np.searchsorted(xs, at - reach), np.searchsorted(xs, at + reach, "right")
    weights = np.clip(1.0 - (distance[first:last] / reach) ** 3, 0.0, None) ** 3
    return int(first), int(last), weights


def _fit(offsets: Numbers, ys: Numbers, weights: Numbers, by_distance: Numbers) -> float:
    """Return the weighted line at offset 0; the weighted mean where x does not vary."""
    total = float(weights.sum())
    if total <= 1e-12 * float(by_distance.sum()):
        # Every near point is an outlier: their own trust would divide 0 by 0.
        weights, total = by_distance, float(by_distance.sum())
    centre = float(weights @ offsets) / total
    mean = float(weights @ ys) / total
    moved = offsets - centre
    spread = float(weights @ moved**2)
    width = float(np.abs(offsets).max(initial=0.0))
    if spread <= 1e-6 * total * width**2:
        return mean
    return mean - float(weights @ (moved * (ys - mean))) / spread * centre


def _checked(x: ArrayLike, y: ArrayLike, span: float, rounds: int) -> tuple[Numbers, Numbers]:
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    problems: list[Problem] = []
    if xs.shape != ys.shape or xs.ndim != 1 or not xs.size:
        found = f"{xs.size:,} x and {ys.size:,} y are given."
        do = "Give as many of both, and at least one."
        problems.append(Problem(Reason.BAD_OPTION, "points", found, do))
    n_wrong = int(np.count_nonzero(~np.isfinite(xs))) + int(np.count_nonzero(~np.isfinite(ys)))
    if n_wrong:
        found = count_of(n_wrong, "value that is not finite", "values that are not finite")
        problems.append(
            Problem(Reason.BAD_OPTION, "points", f"{found}.", "Leave those points out.")
        )
    if not 0 < span <= 1:
        problems.append(Problem(Reason.BAD_OPTION, "span", "not above 0 and up to 1."))
    if rounds < 0:
        problems.append(Problem(Reason.BAD_OPTION, "rounds", f"{rounds:,} is less than 0."))
    refuse(problems, "A smooth line through points was asked for.", "It cannot be drawn as asked:")
    return xs, ys
