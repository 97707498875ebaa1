"""Tops of concave functions, regressions on one variable or several, smooth lines, and whether chains agree.

Newton's method with halved steps: plain steps can jump to and fro over the top of a concave
function for ever, for far out on a slope it is nearly straight, and the curvature there says
nothing of where it bends. So a step is halved until it gains at least a ten-thousandth of what the
slope at its start promises (Armijo's rule), which arrives where there is a top. The end is tested
by a whole step, never by a halved one. Where none is reached the answer is None, not the last
point. Boyd and Vandenberghe, Convex Optimization (2004), section 9.5.

Logistic regression on one variable: intercept a and slope b at which the concave function

    sum of hits (a + b x) - weights log(1 + e^(a + b x))

is highest, with x centred and scaled.

There is no top where the outcomes are separable (every outcome above some x is 1, every one below
is 0, or the other way round). For a line of whatever outcomes, each is then drawn half a record
towards the middle, y* = (y W + 1/2) / (W + 1) with W the sum of weights, which always has a
maximum; the line says so. Cost: a few passes over the records.

Least squares by weight, with standard errors that allow unequal variances (White 1980, with the
factor n / (n - p) of HC1); a weight says how many people a record stands for, and errors are of the
records that there are. Intervals are of 95%, by the normal distribution. What cannot be told from
the data, because a variable is a sum of others or there are no more records than coefficients, has
no answer.

Robust locally weighted regression (Cleveland, Robust locally weighted regression and smoothing
scatterplots, 1979): at each x, a line is fitted to the q nearest points, q = span times n, with
weights (1 - (d / d_q)^3)^3 by the distance d. Then residuals r lower the weight of points far from
the line, by (1 - (r / 6s)^2)^2 with s the median of |r|, and the fits are made again, some times
over. Points that share an x share a fit, so the cost is distinct x times n span, per round.

Chains of models: an edge is a series of zeros and ones per chain. R-hat compares the spread of the
means of half chains with the spread inside them (Gelman and Rubin 1992, split as in Gelman and
others 2013); it is 1 when all are the same and infinite when chains are constant and differ. The
effective sample size divides the number of draws by the integrated autocorrelation time, cut off at
the first negative pair of autocorrelations (Geyer 1992).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.wording import count_of

Floats = NDArray[np.float64]

_MOST_STEPS = 200
_MOST_HALVINGS = 60
_PROMISED = 1e-4
_ROUNDING = 1e-13


class Step(NamedTuple):
    """A whole Newton step, what the slope promises along it, and whether it is so small that the top is here."""

    way: Floats
    promised: float
    last: bool


def climb(
    start: Floats, height: Callable[[Floats], float], step: Callable[[Floats], Step | None]
) -> tuple[Floats, Floats] | None:
    """Return the point at the top of a concave function and the last step, which was not taken.

    `height` of a point is asked before its `step`, which is None where the curvature does not tell
    one; None is returned then, and where no top is reached.

    Examples
    --------
    >>> down = lambda x: Step(3 - x, float(((3 - x) ** 2).sum()), bool(abs(3 - x[0]) < 1e-9))
    >>> climb(np.zeros(1), lambda x: -float(((x - 3) ** 2).sum()) / 2, down)
    (array([3.]), array([0.]))
    """
    point, reached = start, height(start)
    for _ in range(_MOST_STEPS):
        found = step(point)
        if found is None:
            return None
        if found.last:
            return point, found.way
        for n_halved in range(_MOST_HALVINGS):
            size = 0.5**n_halved
            trial = point + size * found.way
            higher = height(trial)
            if higher >= reached + _PROMISED * size * found.promised - _ROUNDING * abs(reached):
                break
        else:
            return None
        point, reached = trial, higher
    return None


_ENOUGH = 1e-11


class ClimbedLine(NamedTuple):
    """The line at the top."""

    intercept: float
    slope: float


def climb_logistic(x: Floats, hits: Floats, weights: Floats) -> ClimbedLine | None:
    """Return the line of highest probability, or None where Newton's method does not arrive.

    Of each x, `hits` of `weights` trials hit; there must be hits and misses. There is no top where
    they are separable by x; where x does not vary the slope is 0.

    Examples
    --------
    >>> x, hits = np.array([0.0, 1.0]), np.array([1.0, 3.0])
    >>> line = climb_logistic(x, hits, np.array([4.0, 4.0]))
    >>> round(line.intercept, 4), round(line.slope, 4)
    (-1.0986, 2.1972)
    >>> climb_logistic(x, np.array([0.0, 4.0]), np.array([4.0, 4.0])) is None
    True
    """
    total = float(weights.sum())
    centre = float((weights * x).sum()) / total
    width = math.sqrt(float((weights * (x - centre) ** 2).sum()) / total)
    share = float(hits.sum()) / total
    middle = math.log(share) - math.log1p(-share)
    if width <= 1e-12 * max(1.0, abs(centre)):
        return ClimbedLine(middle, 0.0)
    z = (x - centre) / width
    # A line is climbed as (its height in the middle, its slope in z); `back` returns to (a, b).
    back = np.array([[1.0, -centre / width], [0.0, 1.0 / width]])
    line = np.array([middle, 0.0])
    misses = weights - hits

    def step(line: Floats) -> Step | None:
        at = line[0] + line[1] * z
        small = np.exp(-np.abs(at))
        rare, common = small / (1.0 + small), 1.0 / (1.0 + small)
        # Neither chance is one less the other, which would lose the digits of the rare one.
        hit, miss = np.where(at > 0, common, rare), np.where(at > 0, rare, common)
        residual, bend = hits * miss - misses * hit, weights * rare * common
        leaning = bend * z
        rise = np.array([residual.sum(), (residual * z).sum()])
        across = leaning.sum()
        bent = np.array([[bend.sum(), across], [across, (leaning * z).sum()]])
        determinant = bent[0, 0] * bent[1, 1] - bent[0, 1] ** 2
        # Also where a number is not finite.
        if not determinant > 1e-14 * bent[0, 0] * bent[1, 1]:
            return None
        turned = np.array([[bent[1, 1], -bent[0, 1]], [-bent[0, 1], bent[0, 0]]])
        way = turned @ rise / determinant
        last = np.abs(way).max() <= _ENOUGH * max(1.0, np.abs(line).max())
        return Step(way, float(rise @ way), bool(last))

    def height(line: Floats) -> float:
        # Minus what each hit and each miss costs, all of one sign.
        at = line[0] + line[1] * z
        both = np.log1p(np.exp(-np.abs(at)))
        cost = hits * (both + np.maximum(-at, 0.0)) + misses * (both + np.maximum(at, 0.0))
        return -float(cost.sum())

    found = climb(line, height, step)
    if found is None:
        return None
    intercept, slope = (back @ (found[0] + found[1])).tolist()
    return ClimbedLine(intercept, slope)


# A record of less than this share of the largest weight does not keep outcomes from being separable.
_FEATHER = 1e-12


class LogisticLine(NamedTuple):
    """A fitted line on the scale of logits.

    It is guarded if the outcomes were separable, so that they were drawn half a record inwards.
    """

    intercept: float
    slope: float
    guarded: bool

    def at(self, x: float) -> float:
        """Return the logit of the fitted probability."""
        return self.intercept + self.slope * x


def chances(logits: Floats) -> Floats:
    """Return 1 / (1 + e^-x) of every logit x."""
    return 1 / (1 + np.exp(-np.clip(logits, -700, 700)))


def logit(probability: float) -> float:
    """Return log(p / (1 - p)) of a probability between 0 and 1."""
    return math.log(probability) - math.log1p(-probability)


def fit_logistic_line(x: Floats, y: Floats, weights: Floats | None = None) -> LogisticLine:
    """Fit a logistic line to outcomes from 0 to 1; slope 0 where x does not vary.

    There is at least one record; an outcome may be a share. Weights are 0 or more and not all 0; 1
    each by default.

    Examples
    --------
    >>> line = fit_logistic_line(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    >>> round(line.intercept, 4), round(line.slope, 4), line.guarded
    (-1.0986, 2.1972, False)
    >>> fit_logistic_line(np.array([0.0, 1.0]), np.array([0.0, 1.0])).guarded
    True
    """
    given = np.ones(len(x)) if weights is None else weights
    kept = given > _FEATHER * given.max()
    x, y, given = x[kept], y[kept], given[kept]
    if not _is_separable(x, y):
        found = climb_logistic(x, given * y, given)
        if found is not None:
            return LogisticLine(found.intercept, found.slope, guarded=False)
    total = float(given.sum())
    inwards = (y * total + 0.5) / (total + 1.0)
    found = climb_logistic(x, given * inwards, given)
    if found is None:
        # The slope cannot be told from 0 in floats: the share of ones is all that is known.
        return LogisticLine(logit(float((given * inwards).sum()) / total), 0.0, guarded=True)
    return LogisticLine(found.intercept, found.slope, guarded=True)


def _is_separable(x: Floats, y: Floats) -> bool:
    with_one, with_zero = x[y > 0], x[y < 1]
    if not len(with_one) or not len(with_zero):
        return True
    if x.min() == x.max():
        return False
    return bool(with_one.min() >= with_zero.max() or with_one.max() <= with_zero.min())


def robust_loess(
    x: ArrayLike, y: ArrayLike, *, span: float = 2 / 3, rounds: int = 3
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct x in ascending order, and the smooth line at each.

    Each fit uses a `span` of the points, above 0 and up to 1; two at least. Weights are lowered by
    residuals in each of the rounds; 0 for a line that is not robust.

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


def _window(xs: Floats, at: float, n_near: int) -> tuple[int, int, Floats]:
    """Return where the points near a place begin and end, and their weights by distance."""
    distance = np.abs(xs - at)
    reach = float(np.partition(distance, n_near - 1)[n_near - 1])
    if reach == 0.0:
        first, last = np.searchsorted(xs, at), np.searchsorted(xs, at, "right")
        return int(first), int(last), np.ones(int(last - first))
    first, last = np.searchsorted(xs, at - reach), np.searchsorted(xs, at + reach, "right")
    weights = np.clip(1.0 - (distance[first:last] / reach) ** 3, 0.0, None) ** 3
    return int(first), int(last), weights


def _fit(offsets: Floats, ys: Floats, weights: Floats, by_distance: Floats) -> float:
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


def _checked(x: ArrayLike, y: ArrayLike, span: float, rounds: int) -> tuple[Floats, Floats]:
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


Z_95 = 1.959963984540054
"""An interval of 95% reaches so many standard errors to either side of its middle."""
_SMALL = 1e-10


class Fit(NamedTuple):
    """Coefficients with their intervals."""

    coefficients: Floats
    low: Floats
    high: Floats


def least_squares(
    design: ArrayLike, outcome: ArrayLike, weights: ArrayLike | None = None
) -> Fit | None:
    """Return the coefficients of a regression, or None where they cannot be told.

    `design` has a column per coefficient, the intercept among them.

    Examples
    --------
    >>> fit = least_squares([[1.0], [1.0], [1.0], [1.0]], [1.0, 2.0, 3.0, 4.0])
    >>> round(float(fit.coefficients[0]), 3), round(float(fit.low[0]), 3)
    (2.5, 1.235)
    """
    x, y = np.asarray(design, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    n_records, n_columns = x.shape
    w = np.ones(n_records) if weights is None else np.asarray(weights, dtype=np.float64)
    if n_records <= n_columns or w.sum() <= 0:
        return None
    scale = np.sqrt((w[:, None] * x**2).sum(axis=0) / w.sum())
    if not (scale > 0).all():
        return None
    z = x / scale
    gram = (z * w[:, None]).T @ z / w.sum()
    values = np.linalg.eigvalsh(gram)
    if values[0] <= _SMALL * values[-1]:
        return None
    inverse = np.linalg.inv(gram)
    beta = inverse @ ((z * w[:, None]).T @ y / w.sum())
    left = w * (y - z @ beta)
    meat = (z * left[:, None]).T @ (z * left[:, None]) / w.sum() ** 2
    spread = inverse @ meat @ inverse * (n_records / (n_records - n_columns))
    error = np.sqrt(np.maximum(np.diag(spread), 0.0)) / scale
    beta = beta / scale
    return Fit(beta, beta - Z_95 * error, beta + Z_95 * error)


def r_hat(series: NDArray[np.floating]) -> float:
    """Return the split potential scale reduction of series, a row per chain.

    Examples
    --------
    >>> r_hat(np.array([[0.0, 1, 0, 1], [1, 0, 1, 0]])), r_hat(np.array([[0.0] * 4, [1.0] * 4]))
    (0.7071067811865476, inf)
    """
    half = series.shape[1] // 2
    if half == 0:
        return float("inf")
    halves = np.concatenate([series[:, :half], series[:, half : 2 * half]])
    means = halves.mean(axis=1)
    within = halves.var(axis=1, ddof=1).mean() if half > 1 else 0.0
    between = means.var(ddof=1)
    if between == 0.0:
        # Nothing tells the halves apart; series of two draws have no more to say.
        return float(np.sqrt((half - 1) / half)) if within > 0.0 else 1.0
    if within == 0.0:
        return float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def effective_size(series: NDArray[np.floating]) -> float:
    """Return the number of independent draws that series, a row per chain, are worth.

    Constant series are worth what they hold.

    Examples
    --------
    >>> effective_size(np.zeros((2, 50)))
    100.0
    """
    n_chains, n = series.shape
    centred = series - series.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(power, axis=1)[:, :n] / n
    within = covariance[:, 0].mean() * n / max(n - 1, 1)
    between = series.mean(axis=1).var(ddof=1) if n_chains > 1 else 0.0
    total = within * (n - 1) / n + between
    if total <= 0.0:
        return float(n_chains * n)
    # Differences between chains count as correlation that never dies out.
    correlation = 1.0 - (within - covariance.mean(axis=0) * n / max(n - 1, 1)) / total
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0.0)
    kept = pairs[: negative[0]] if len(negative) else pairs
    time = max(2.0 * np.minimum.accumulate(kept).sum() - 1.0, 1.0) if len(kept) else 1.0
    return float(n_chains * n / time)


def models_carrying(weights: NDArray[np.floating], mass: float = 0.95) -> int:
    """Return the smallest number of models whose weights reach a share of the whole.

    Examples
    --------
    >>> models_carrying(np.array([0.5, 0.3, 0.15, 0.05]), 0.9)
    3
    """
    if len(weights) == 0:
        return 0
    reached = np.cumsum(np.sort(weights)[::-1])
    # A rounding error must not ask for one model more.
    return min(int(np.searchsorted(reached, mass * reached[-1] * (1 - 1e-12))) + 1, len(weights))
