"""What is inferred of sample uniques, averaged over all that is not known of line and spread.

Neither the line of `rate_calibration` nor the spread of `rate_mixture` is known; both have posteriors,
each given by values that stand for equal parts of it. Nor is the shape of the law of repeats, of which
a line with repeats has one in turn. The measures of a sample unique are smooth in z,
the log of its usual rate (`usual_rates`), so they are computed for every line, with a spread to each, at
multiples of 1/10 of z alone, and in between by straight lines. Their mean over lines, by `shares`, is what
is inferred of a record; the sums over the file for each line are draws of the file's measures. Nothing
here is by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.models.inference.rate_calibration import (
    LARGEST_LOG_RATE,
    RateCalibration,
)
from gamekeeper.algorithms.models.inference.rate_mixture import (
    REPEAT_SHAPES,
    MixedSizes,
    SpreadLaw,
    mix_sizes,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NODES_PER_UNIT = 10
# Where there are more fractions than this, they have nodes too.
_MOST_FRACTIONS = 50
_FRACTIONS_PER_UNIT = 20
_LEAST_OUTSIDE = 1e-12


@dataclass(frozen=True, slots=True, repr=False)
class DrawnSizes:
    """What is inferred of each sample unique, and the sums of P(F=1), E[1/F] and E[F] by line."""

    sizes: MixedSizes
    sums: Floats


def draw_sizes(
    log_usual: Floats, outside: Floats, calibration: RateCalibration, spreads: SpreadLaw
) -> DrawnSizes:
    """Average the measures of sample uniques over the lines of a calibration.

    Parameters
    ----------
    log_usual, outside
        z and (1-pi)/pi of each sample unique.
    calibration, spreads
        The posteriors of the line and of the spread.

    Examples
    --------
    >>> from gamekeeper.algorithms.models.inference.rate_calibration import calibrate_rates
    >>> from gamekeeper.algorithms.models.inference.rate_mixture import learn_spread
    >>> z, f = np.array([-4.0, -3.0]), np.array([1, 1])
    >>> line = calibrate_rates(z, f)
    >>> found = draw_sizes(z, np.full(2, 9.0), line, learn_spread(line.log_rates(z), f))
    >>> bool(found.sizes.p_unique[0] > found.sizes.p_unique[1]), found.sums.shape
    (True, (96, 3))
    """
    lines = np.array(calibration.lines)
    if not len(log_usual):
        return DrawnSizes(MixedSizes(*np.zeros((6, 0))), np.zeros((len(lines), 3)))
    nodes, places, shares = _nodes(log_usual, outside)
    z, people = nodes[:, 0], nodes[:, 1]
    held = np.zeros(len(z))
    for place, share in zip(places, shares, strict=True):
        held += np.bincount(place, share, len(z))
    every = np.array(spreads.even(len(lines)))
    shapes = np.where(lines[:, 2] > 0, np.resize(REPEAT_SHAPES, len(lines)), 0.0)
    mean = np.zeros((6, len(z)))
    sums = np.empty((len(lines), 3))
    for spread, shape in sorted(set(zip(every.tolist(), shapes.tolist(), strict=True))):
        (chosen,) = np.nonzero((every == spread) & (shapes == shape))
        rates = np.minimum(lines[chosen, :1] + lines[chosen, 1:2] * z, LARGEST_LOG_RATE)
        ones = np.ones(rates.size, dtype=np.int64)
        found = mix_sizes(
            rates.ravel(),
            ones,
            np.tile(people, len(chosen)),
            spread=spread,
            repeats=(lines[chosen, 2:] * people).ravel() if shape else None,
            shape=shape,
        )
        columns = np.stack(
            [
                found.p_match,
                found.p_match_set,
                found.p_unique,
                found.expected_size,
                found.variance,
                found.p_next,
            ]
        ).reshape(6, len(chosen), len(z))
        mean += np.einsum("l,mlz->mz", calibration.shares[chosen], columns)
        sums[chosen] = (columns[[2, 0, 3]] @ held).T
    each = np.zeros((6, len(log_usual)))
    for place, share in zip(places, shares, strict=True):
        each += mean[:, place] * share
    # Means round, and may pass what they are means of.
    each[:3], each[3] = np.minimum(each[:3], 1.0), np.maximum(each[3], 1.0)
    return DrawnSizes(MixedSizes(*each), sums)


def _nodes(log_usual: Floats, outside: Floats) -> tuple[Floats, list[Integers], list[Floats]]:
    """Return nodes, (z, people outside), and of each record the nodes around it and its shares."""
    scaled = log_usual * _NODES_PER_UNIT
    below = np.floor(scaled)
    corners = [(below + up, outside, np.abs(1 - up - (scaled - below))) for up in (0, 1)]
    if len(np.unique(outside)) > _MOST_FRACTIONS:
        logs = np.log(np.maximum(outside, _LEAST_OUTSIDE)) * _FRACTIONS_PER_UNIT
        under = np.floor(logs)
        corners = [
            (
                at,
                np.exp((under + up) / _FRACTIONS_PER_UNIT),
                share * np.abs(1 - up - (logs - under)),
            )
            for at, _, share in corners
            for up in (0, 1)
        ]
    points = np.concatenate([np.stack([at / _NODES_PER_UNIT, k], axis=1) for at, k, _ in corners])
    nodes, place = np.unique(points, axis=0, return_inverse=True)
    places = np.split(place.ravel(), len(corners))
    return nodes, places, [share for _, _, share in corners]
