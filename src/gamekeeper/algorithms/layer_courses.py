"""The courses of edges in a layered drawing: smooth, downwards, and clear of nodes.

Between two layers there are no nodes, so a curve may go anywhere there. Across a layer it is a
straight line, steep enough to stay within its own node or in the room beside its dummy node. The
pieces are cubic Bézier curves that share their slopes where they meet, so nothing has a kink.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Bend", "Extent", "Point", "Stop", "course"]

Point = tuple[float, float]

_ARROW = 6.0
# Edges leave and reach a node within this part of its half width.
_PORTS = 0.8
# A knot nearer than this to its neighbour would only make a wrinkle.
_LEAST = 1.0


@dataclass(frozen=True, slots=True)
class Extent:
    """The room that a node takes, in points."""

    width: float
    height: float
    is_round: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """A node at which an edge ends: its centre, half its layer's height, room aside, its size."""

    x: float
    y: float
    half: float
    room: float
    extent: Extent


@dataclass(frozen=True, slots=True)
class Bend:
    """A dummy node: its centre, half the height of its layer, the room to its left and right."""

    x: float
    y: float
    half: float
    room: float


@dataclass(frozen=True, slots=True)
class _Knot:
    """A point on a curve and how far the curve goes to the right per step down."""

    x: float
    y: float
    slope: float

    def lower(self, step: float) -> _Knot:
        return _Knot(self.x + self.slope * step, self.y + step, self.slope)


def course(start: Stop, bends: Sequence[Bend], end: Stop) -> tuple[Point, ...]:
    """Return control points of Bézier curves from one node to a lower one, then the tip.

    The curves end a little before the border of the lower node and leave room for an arrow head,
    whose tip lies on the border.

    Examples
    --------
    >>> box = Extent(40, 20)
    >>> course(Stop(20, 10, 10, 5, box), [], Stop(20, 66, 10, 5, box))
    ((20.0, 20.0), (20.0, 30.0), (20.0, 40.0), (20.0, 50.0), (20.0, 56.0))
    """
    stations = [start, *bends, end]
    chords = [(b.x - a.x) / (b.y - a.y) for a, b in pairwise(stations)]
    knots = _leave(start, chords[0])
    for bend, before, after in zip(bends, chords, chords[1:], strict=False):
        centre = _Knot(bend.x, bend.y, _slope_at(bend, before, after))
        knots += [centre.lower(-bend.half), centre.lower(bend.half)]
    arrival, tip = _arrive(end, chords[-1], knots[-1].y)
    knots += arrival
    controls: list[Point] = [(knots[0].x, knots[0].y)]
    for a, b in pairwise(knots):
        third = (b.y - a.y) / 3
        one, two = a.lower(third), b.lower(-third)
        controls += [(one.x, one.y), (two.x, two.y), (b.x, b.y)]
    return (*controls, tip)


def _leave(stop: Stop, chord: float) -> list[_Knot]:
    centre = _Knot(stop.x, stop.y, _slope_from(stop, chord))
    border = _to_border(stop.extent, centre.slope)
    knots = [centre.lower(border)]
    if stop.half - border > _LEAST:
        knots.append(centre.lower(stop.half))
    return knots


def _arrive(stop: Stop, chord: float, before: float) -> tuple[list[_Knot], Point]:
    centre = _Knot(stop.x, stop.y, _slope_from(stop, chord))
    tip = centre.lower(-_to_border(stop.extent, centre.slope))
    drop = min(_ARROW / math.hypot(1, centre.slope), (tip.y - before) / 2)
    neck = tip.lower(-drop)
    knots = [neck]
    if neck.y - (stop.y - stop.half) > _LEAST:
        knots.insert(0, centre.lower(-stop.half))
    return knots, (tip.x, tip.y)


def _slope_from(stop: Stop, chord: float) -> float:
    """Return a slope towards the chord that meets the edge of the layer near the node."""
    limit = stop.extent.width / 2 + stop.room
    aside = abs(chord) * stop.half
    if not aside:
        return chord
    # Nearly straight as long as it may be, then ever nearer to the limit: two edges never swap.
    return chord / (1 + (aside / max(limit, 1e-9)) ** 4) ** 0.25


def _slope_at(bend: Bend, before: float, after: float) -> float:
    """Return a slope between those of two chords, zero where the curve turns back."""
    if before * after <= 0:
        return 0.0
    mean = 2 * before * after / (before + after)
    if not bend.half:
        return mean
    return math.copysign(min(abs(mean), bend.room / bend.half), mean)


def _to_border(extent: Extent, slope: float) -> float:
    """Return how far below the centre a line of this slope crosses the border."""
    across, down = extent.width / 2, extent.height / 2
    if not across or not down:
        return 0.0
    if extent.is_round:
        return 1 / math.hypot(slope / across, 1 / down)
    return min(down, across / abs(slope)) if slope else down
