"""What rate of twins an expected count stands for in most populations: a curve, not a power.

Models that expect e^x records of a class are believed by less than they say, and by the less the rarer
the class: what they expect of a class that hardly anybody should have is the product of margins with a
record or two each, the record's own among them. So log E[r | no twin] does not rise as x does. Over 164
settings of seven populations (three sets of 6 to 15 key variables, samples of 1% and 5%, each with a
level of its own) its slope was 0.6 to 0.7 below x = -8, 0.84 to 0.96 from -2.5 to 0, and above 1 it fell
again, since a record without a twin can hardly have a large rate. At 1% and at 5% the curve was much the
same, and so it was whichever population was left out, but for the low end, with 0.5 to 0.8.

The curve has the slopes 0.7, 0.92, 0.92 and 0.75 at x = -8, -2, 0 and 1.5, straight lines between them,
and the same slope beyond; it is 0 at 0. At the low end it is a little steeper than was found, since
probabilities of single records were too timid otherwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_PLACES = (-8.0, -2.0, 0.0, 1.5)
_SLOPES = (0.7, 0.92, 0.92, 0.75)


def usual_log_rates(log_expected: Floats) -> Floats:
    """Return the log of the usual rate of twins for each log of an expected count.

    Examples
    --------
    >>> usual_log_rates(np.array([-8.0, -2.0, 0.0, 1.0])).round(3)
    array([-6.7  , -1.84 ,  0.   ,  0.863])
    """
    return _area(log_expected) - _area(np.zeros(1))


def _area(x: Floats) -> Floats:
    """Return the integral of the slope up to x, from its first place."""
    first, last = _PLACES[0], _PLACES[-1]
    total = np.minimum(x - first, 0.0) * _SLOPES[0] + np.maximum(x - last, 0.0) * _SLOPES[-1]
    for low, high, start, end in zip(
        _PLACES[:-1], _PLACES[1:], _SLOPES[:-1], _SLOPES[1:], strict=True
    ):
        along = np.clip(x, low, high) - low
        total += along * (start + (end - start) / (high - low) * along / 2)
    return total
