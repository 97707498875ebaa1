"""The courses of edges in a layered drawing: smooth, downwards, and clear of nodes.

Between two layers there are no nodes, so a curve may go anywhere there. Across a layer it is a
straight line, steep enough to stay beside its own node or dummy and not to cross its neighbours.
The pieces are cubic Bézier curves that share their slopes where they meet, so nothing has a kink.
A slope is here the way to the right per step down. Linear in nodes, dummies and edges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
"""Points to the right and downwards from the top left corner."""

_ARROW = 7.0
_MARGIN = 3.0
# A knot nearer than this to its neighbour would only make a wrinkle.
_LEAST = 1.0


@dataclass(frozen=True, slots=True)
class Extent:
    """The room that a node takes, in points."""

    width: float
    height: float
    is_round: bool = False


@dataclass(frozen=True, slots=True)
class _Knot:
    x: float
    y: float
    slope: float

    def lower(self, step: float) -> _Knot:
        return _Knot(self.x + self.slope * step, self.y + step, self.slope)


def draw_courses(
    routes: Sequence[Sequence[int]],
    rows: Sequence[Sequence[int]],
    centres: Mapping[int, Point],
    extents: Sequence[Extent],
) -> list[tuple[Point, ...]]:
    """Return for each edge the control points of Bézier curves, then its tip.

    The curves end a little before the border of the lower node and leave room for an arrow head,
    whose tip lies on the border.

    `routes` are the nodes along each edge from its upper to its lower end, `rows` those of each
    layer from left to right. Nodes beyond the last extent are dummies.

    Examples
    --------
    >>> draw_courses([[0, 1]], [[0], [1]], {0: (20, 10), 1: (20, 64)}, [Extent(40, 20)] * 2)
    [((20.0, 20.0), (20.0, 29.0), (20.0, 38.0), (20.0, 47.0), (20.0, 54.0))]
    """
    courses = _Courses(routes, rows, centres, extents)
    return [courses.course(route) for route in routes]


class _Courses:
    def __init__(
        self,
        routes: Sequence[Sequence[int]],
        rows: Sequence[Sequence[int]],
        centres: Mapping[int, Point],
        extents: Sequence[Extent],
    ) -> None:
        self._centres = centres
        self._extents = extents
        self._halves: dict[int, float] = {}
        self._free: dict[int, tuple[float, float]] = {}
        for row in rows:
            heights = [extents[node].height for node in row if node < len(extents)]
            half = max(heights, default=0.0) / 2
            spaces = [math.inf, *(self._space(a, b) for a, b in pairwise(row)), math.inf]
            for node, left, right in zip(row, spaces, spaces[1:], strict=False):
                self._halves[node] = half
                self._free[node] = left, right
        self._slopes = self._dummy_slopes(routes, rows)

    def _space(self, left: int, right: int) -> float:
        """Return the space between two neighbours."""
        between = self._centres[right][0] - self._centres[left][0]
        for node in (left, right):
            if node < len(self._extents):
                between -= self._extents[node].width / 2
        return between

    def _chord(self, upper: int, lower: int) -> float:
        (x, y), (lower_x, lower_y) = self._centres[upper], self._centres[lower]
        return (lower_x - x) / (lower_y - y)

    def _dummy_slopes(
        self, routes: Sequence[Sequence[int]], rows: Sequence[Sequence[int]]
    ) -> dict[int, float]:
        """Return the slopes at dummies: between those of their chords, as far as there is room."""
        slopes: dict[int, float] = {}
        for route in routes:
            chords = [self._chord(upper, lower) for upper, lower in pairwise(route)]
            for node, before, after in zip(route[1:-1], chords, chords[1:], strict=False):
                turns = before * after <= 0
                slopes[node] = 0.0 if turns else 2 * before * after / (before + after)
        for row in rows:
            pairs = list(pairwise(row))
            # Once to the right and once to the left, so that what one gives way to goes on.
            for left, right in [*pairs, *reversed(pairs)]:
                self._part(left, right, slopes)
        return slopes

    def _part(self, left: int, right: int, slopes: dict[int, float]) -> None:
        """Make lines steeper that would meet their neighbour on the layer."""
        half, space = self._halves[left], self._space(left, right)
        if not half:
            return
        if left in slopes and right in slopes:
            most = space / half
            a, b = slopes[left], slopes[right]
            if abs(a - b) > most:
                limit = most / 2 if a * b < 0 else most + min(abs(a), abs(b))
                slopes[left], slopes[right] = _limited(a, limit), _limited(b, limit)
        else:
            limit = max(space - _MARGIN, 0.0) / half
            for node in (left, right):
                if node in slopes:
                    slopes[node] = _limited(slopes[node], limit)

    def course(self, route: Sequence[int]) -> tuple[Point, ...]:
        first, *dummies, last = route
        knots = self._leave(first, self._chord(first, route[1]))
        for node in dummies:
            centre = _Knot(*self._centres[node], self._slopes[node])
            half = self._halves[node]
            knots += [centre.lower(-half), centre.lower(half)] if half else [centre]
        neck, tip = self._arrive(last, self._chord(route[-2], last), knots[-1].y)
        knots += neck
        controls: list[Point] = [(knots[0].x, knots[0].y)]
        for a, b in pairwise(knots):
            third = (b.y - a.y) / 3
            one, two = a.lower(third), b.lower(-third)
            controls += [(one.x, one.y), (two.x, two.y), (b.x, b.y)]
        return (*controls, tip)

    def _leave(self, node: int, chord: float) -> list[_Knot]:
        half = self._halves[node]
        centre = _Knot(*self._centres[node], self._slope_from(node, chord, chord > 0))
        border = _to_border(self._extents[node], centre.slope)
        knots = [centre.lower(border)]
        if half - border > _LEAST:
            knots.append(centre.lower(half))
        return knots

    def _arrive(self, node: int, chord: float, above: float) -> tuple[list[_Knot], Point]:
        half = self._halves[node]
        centre = _Knot(*self._centres[node], self._slope_from(node, chord, chord < 0))
        tip = centre.lower(-_to_border(self._extents[node], centre.slope))
        neck = tip.lower(-min(_ARROW / math.hypot(1, centre.slope), (tip.y - above) / 2))
        knots = [neck]
        if neck.y - centre.y + half > _LEAST:
            knots.insert(0, centre.lower(-half))
        return knots, (tip.x, tip.y)

    def _slope_from(self, node: int, chord: float, to_right: bool) -> float:
        """Return a slope towards the chord with which a line leaves the layer near the node."""
        aside = abs(chord) * self._halves[node]
        if not aside:
            return chord
        limit = self._extents[node].width / 2 + self._free[node][to_right] / 2
        # Straight as long as it may be, then ever nearer to the limit, so that no two lines swap.
        return chord / (1 + (aside / max(limit, _LEAST)) ** 4) ** 0.25


def _limited(slope: float, limit: float) -> float:
    return math.copysign(min(abs(slope), limit), slope)


def _to_border(extent: Extent, slope: float) -> float:
    """Return how far below the centre a line of this slope crosses the border."""
    across, down = extent.width / 2, extent.height / 2
    if not across or not down:
        return 0.0
    if extent.is_round:
        return 1 / math.hypot(slope / across, 1 / down)
    return min(down, across / abs(slope)) if slope else down
