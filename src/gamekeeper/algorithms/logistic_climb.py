"""Logistic regression on one variable by Newton's method with halved steps, or no answer at all.

Sought are intercept a and slope b at which

    sum of hits (a + b x) - weights log(1 + e^(a + b x))

is highest. The function is concave. Plain Newton steps can still jump to and fro over its top for
ever: far out on a slope it is nearly straight, and the curvature there says nothing of where it
bends. So x is centred and scaled, and a step is halved until it gains at least a ten-thousandth of
what the slope at its start promises (Armijo's rule), which arrives where there is a top. The end is
tested by a whole Newton step, never by a halved one. Where none is reached the answer is None, not
the last line.

Cost: a few passes over x. Boyd and Vandenberghe, Convex Optimization (2004), section 9.5.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_STEPS = 200
_MOST_HALVINGS = 60
_ENOUGH = 1e-11
_PROMISED = 1e-4
_ROUNDING = 1e-13


class ClimbedLine(NamedTuple):
    """The line at the top."""

    intercept: float
    slope: float


def climb_logistic(x: Floats, hits: Floats, weights: Floats) -> ClimbedLine | None:
    """Return the line of highest probability, or None where Newton's method does not arrive.

    There must be hits and misses. There is no top where they are separable by x; where x does not
    vary the slope is 0.

    Of each x, `hits` of `weights` trials hit, from none to all.

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
    height = _height(line, z, hits, misses)
    for _ in range(_MOST_STEPS):
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
        step = turned @ rise / determinant
        if np.abs(step).max() <= _ENOUGH * max(1.0, np.abs(line).max()):
            intercept, slope = (back @ (line + step)).tolist()
            return ClimbedLine(intercept, slope)
        promised = float(rise @ step)
        for n_halved in range(_MOST_HALVINGS):
            size = 0.5**n_halved
            trial = line + size * step
            higher = _height(trial, z, hits, misses)
            if higher >= height + _PROMISED * size * promised - _ROUNDING * abs(height):
                break
        else:
            return None
        line, height = trial, higher
    return None


def _height(line: Floats, z: Floats, hits: Floats, misses: Floats) -> float:
    """Return the log probability: minus what each hit and each miss costs, all of one sign."""
    at = line[0] + line[1] * z
    both = np.log1p(np.exp(-np.abs(at)))
    cost = hits * (both + np.maximum(-at, 0.0)) + misses * (both + np.maximum(at, 0.0))
    return -float(cost.sum())
