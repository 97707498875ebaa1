"""Where nodes stand along their layers, and the smooth courses of edges between them.

The sum of squared distances between joined nodes is made small, layer by layer, upwards and
downwards in turn. For one layer, with the others held still, this is a weighted isotonic
regression, which pooling adjacent violators solves exactly (Ayer, Brunk, Ewing, Reid and Silverman,
An empirical distribution function for sampling with incomplete information, 1955). The objective is
convex and the layers do not constrain each other, so the rounds lead to its minimum. Edges weigh
more the nearer they are to the widest layer. So nodes above it are centred over their children, and
nodes below it under their parents. Then threads, paths on which nothing branches, are made straight
where there is room, and dummies move so that long edges become straight lines where nothing is in
the way. A round costs O(nodes + edges), and there are at most some hundred.

Gansner, Koutsofios, North and Vo (1993) minimise absolute distances for the same end, and Brandes
and Köpf (Fast and simple horizontal coordinate assignment, 2001) average four alignments with
medians. Squares centre parents better than the first; the second makes drawings wider where one
layer is much wider than the others, as in partition graphs.

Between two layers there are no nodes, so a curve may go anywhere there. Across a layer it is a
straight line, steep enough to stay beside its own node or dummy and not to cross its neighbours.
The pieces are cubic Bézier curves that share their slopes where they meet, so nothing has a kink. A
slope is here the way to the right per step down. Linear in nodes, dummies and edges.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Flags = NDArray[np.bool_]
_Place = tuple[int, int]
"""The number of a row and a place in it."""

_ROUNDS = 100
_STILL = 0.05
_STRAIGHTENINGS = 3
# How much less edges weigh with each layer between them and the widest.
_CENTRING = 6.0
# Of edges with no, one and two dummies as ends: long edges should be straight.
_WEIGHTS = (1.0, 2.0, 8.0)
_HELD = 1e9
_FAINT = 1e-3
# Dummies are thin lines and need less room.
_DUMMY_GAP = 0.5


def horizontal_positions(
    order: Sequence[Sequence[int]],
    gaps: Sequence[Sequence[tuple[int, int]]],
    widths: Mapping[int, float],
    *,
    n_nodes: int,
    node_gap: float,
) -> dict[int, float]:
    """Return the horizontal position of the centre of every node.

    No layer is empty; `gaps` has, for each but the lowest, the pairs that join it with the next.
    Nodes from the number `n_nodes` on are dummies, at which long edges pass through a layer; beside
    one the room between neighbours is half of `node_gap`.

    Examples
    --------
    >>> widths = {0: 20, 1: 20, 2: 20}
    >>> horizontal_positions([[0], [1, 2]], [[(0, 1), (0, 2)]], widths, n_nodes=3, node_gap=10)
    {0: 0.0, 1: -15.0, 2: 15.0}
    """
    rows = _Rows(order, gaps, widths, n_nodes, node_gap)
    rows.relax()
    for _ in range(_STRAIGHTENINGS):
        rows.straighten()
        rows.relax(hold_threads=True)
    rows.unbend()
    return {
        node: x
        for row, positions in zip(order, rows.x, strict=True)
        for node, x in zip(row, positions.tolist(), strict=True)
    }


class _Gap(NamedTuple):
    """The edges between two rows: the places of their ends, and how much each weighs."""

    uppers: _Ints
    lowers: _Ints
    weights: _Floats


class _Rows:
    def __init__(
        self,
        order: Sequence[Sequence[int]],
        gaps: Sequence[Sequence[tuple[int, int]]],
        widths: Mapping[int, float],
        n_nodes: int,
        node_gap: float,
    ) -> None:
        # Positions, and the least distances from the first node of the row.
        self.x: list[_Floats] = []
        self._offsets: list[_Floats] = []
        for row in order:
            rooms = [
                (widths[left] + widths[right]) / 2
                + node_gap * (_DUMMY_GAP if max(left, right) >= n_nodes else 1)
                for left, right in pairwise(row)
            ]
            offsets = np.cumsum([0.0, *rooms])
            self._offsets.append(offsets)
            self.x.append(offsets - offsets[-1] / 2)
        place = {node: at for row in order for at, node in enumerate(row)}
        widest = int(np.argmax([offsets[-1] for offsets in self._offsets]))
        self._gaps: list[_Gap] = []
        for number, gap in enumerate(gaps):
            ends = [(place[upper], place[lower]) for upper, lower in gap]
            uppers, lowers = np.array(ends, dtype=np.int64).reshape(-1, 2).T
            n_dummies = [(upper >= n_nodes) + (lower >= n_nodes) for upper, lower in gap]
            layers_between = widest - 1 - number if number < widest else number - widest
            weights = np.array([_WEIGHTS[n] for n in n_dummies]) / _CENTRING**layers_between
            self._gaps.append(_Gap(uppers, lowers, weights))
        self._is_dummy = [np.array(row, dtype=np.int64) >= n_nodes for row in order]
        self._threads = [
            [(number, place[node]) for number, node in enumerate(thread, first)]
            for first, thread in _threads(order, gaps)
        ]
        self._in_thread = [np.zeros(len(row), dtype=bool) for row in order]
        for number, at in (node for thread in self._threads for node in thread):
            self._in_thread[number][at] = True

    def relax(self, *, hold_threads: bool = False) -> None:
        held = [flags & hold_threads for flags in self._in_thread]
        self._settle(held, [gap.weights for gap in self._gaps])

    def unbend(self) -> None:
        """Move dummies only: with equal weights a free edge becomes a straight line."""
        held = [~flags for flags in self._is_dummy]
        self._settle(held, [np.ones(len(gap.weights)) for gap in self._gaps])

    def _settle(self, held: Sequence[_Flags], weights: Sequence[_Floats]) -> None:
        numbers = range(len(self.x))
        for sweep in range(_ROUNDS):
            moved = 0.0
            for number in numbers if sweep % 2 else reversed(numbers):
                x = self.x[number]
                sums_above, weights_above = self._pull(number, -1, weights)
                sums_below, weights_below = self._pull(number, 1, weights)
                total = weights_above + weights_below
                # Nodes without neighbours stay, so far as others let them.
                faint = _FAINT * float(total.mean()) or 1.0
                stay = np.where(held[number], _HELD, np.where(total == 0, faint, 0.0))
                total += stay
                wanted = (sums_above + sums_below + stay * x) / total
                self.x[number] = _in_order(wanted, total, self._offsets[number])
                moved = max(moved, float(np.abs(self.x[number] - x).max()))
            if moved < _STILL:
                break

    def _pull(self, number: int, side: int, weights: Sequence[_Floats]) -> tuple[_Floats, _Floats]:
        """Return weighted sums of neighbours' positions above (-1) or below (1), and of weights."""
        sums, totals = np.zeros(len(self.x[number])), np.zeros(len(self.x[number]))
        between = min(number, number + side)
        if 0 <= between < len(self._gaps):
            gap, weight = self._gaps[between], weights[between]
            here, there = (gap.uppers, gap.lowers) if side > 0 else (gap.lowers, gap.uppers)
            np.add.at(sums, here, weight * self.x[number + side][there])
            np.add.at(totals, here, weight)
        return sums, totals

    def straighten(self) -> None:
        """Give each thread one position, or a few, without moving other nodes."""
        for thread in self._threads:
            run: list[_Place] = []
            low, high = -np.inf, np.inf
            for number, at in thread:
                first, last = self._bounds(number, at)
                if run and max(low, first) > min(high, last):
                    self._set(run, low, high)
                    run, low, high = [], -np.inf, np.inf
                run.append((number, at))
                low, high = max(low, first), min(high, last)
            self._set(run, low, high)

    def _bounds(self, number: int, at: int) -> tuple[float, float]:
        """Return how far to the left and to the right a node may move alone."""
        free = self.x[number] - self._offsets[number]
        first = free[at - 1] if at else -np.inf
        last = free[at + 1] if at + 1 < len(free) else np.inf
        own = self._offsets[number][at]
        return float(first + own), float(last + own)

    def _set(self, run: Sequence[_Place], low: float, high: float) -> None:
        """Move a run of nodes to one position, as near to its neighbours as it may be."""
        (top, top_at), (end, end_at) = run[0], run[-1]
        weights = [gap.weights for gap in self._gaps]
        sums_above, weights_above = self._pull(top, -1, weights)
        sums_below, weights_below = self._pull(end, 1, weights)
        weight = weights_above[top_at] + weights_below[end_at]
        if weight:
            wanted = (sums_above[top_at] + sums_below[end_at]) / weight
        else:
            wanted = np.mean([self.x[number][at] for number, at in run])
        for number, at in run:
            self.x[number][at] = min(max(wanted, low), high)


def _threads(
    order: Sequence[Sequence[int]], gaps: Sequence[Sequence[tuple[int, int]]]
) -> list[tuple[int, list[int]]]:
    """Return paths on which nothing branches, longest first, each with the number of its first row."""
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for upper, lower in (pair for gap in gaps for pair in gap):
        below.setdefault(upper, []).append(lower)
        above.setdefault(lower, []).append(upper)
    following = {
        upper: lowers[0]
        for upper, lowers in below.items()
        if len(lowers) == 1 and len(above[lowers[0]]) == 1
    }
    followers = set(following.values())
    threads: list[tuple[int, list[int]]] = []
    for number, row in enumerate(order):
        for node in row:
            if node in following and node not in followers:
                thread = [node]
                while thread[-1] in following:
                    thread.append(following[thread[-1]])
                threads.append((number, thread))
    return sorted(threads, key=lambda found: -len(found[1]))


def _in_order(wanted: _Floats, weights: _Floats, offsets: _Floats) -> _Floats:
    """Return the positions nearest to those wanted that keep the order and the room between."""
    means: list[float] = []
    totals: list[float] = []
    sizes: list[int] = []
    for mean, total in zip((wanted - offsets).tolist(), weights.tolist(), strict=True):
        size = 1
        while means and means[-1] >= mean:
            other = totals.pop()
            mean = (mean * total + means.pop() * other) / (total + other)
            total += other
            size += sizes.pop()
        means.append(mean)
        totals.append(total)
        sizes.append(size)
    return np.repeat(means, sizes) + offsets


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
