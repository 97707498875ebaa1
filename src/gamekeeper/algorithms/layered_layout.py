"""Where the nodes and edges of a drawing go: nodes in layers, every edge going down.

The layered layout of Sugiyama, Tagawa and Toda (Methods for visual understanding of hierarchical
system structures, 1981), in four steps. Each node gets a layer (`layer_assignment`), and edges
that pass through layers get a dummy node on each; the layers are put in an order with few crossings
(`layer_order`); nodes get places along the layers (`layer_positions`); edges become smooth curves
that keep clear of nodes. Connected parts are laid out one by one and set side by side.

The outcome depends on the arguments alone. It takes some tenths of a second for 100 nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gamekeeper.algorithms.layer_assignment import assign_layers, components, downward_order
from gamekeeper.algorithms.layer_courses import Bend, Extent, Point, Stop, course
from gamekeeper.algorithms.layer_order import order_layers
from gamekeeper.algorithms.layer_positions import horizontal_positions
from gamekeeper.errors import InputError, Problem, Reason, count_of

__all__ = ["Extent", "Placement", "Point", "place"]

_Edges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Placement:
    """Centres of nodes and courses of edges, in points from the top left corner.

    The course of an edge is a row of 3n + 1 control points of cubic Bézier curves, then its tip.
    """

    width: float
    height: float
    centres: tuple[Point, ...]
    courses: tuple[tuple[Point, ...], ...]


def place(
    extents: Sequence[Extent],
    edges: Sequence[tuple[int, int]],
    *,
    bottom: Sequence[int] = (),
    keep_order: bool = False,
    rank_gap: float = 36.0,
    node_gap: float = 14.0,
) -> Placement:
    """Place nodes in layers, so that every edge goes down.

    Parameters
    ----------
    extents
        The size of every node.
    edges
        Pairs of node numbers, from upper to lower, without cycles.
    bottom
        Nodes of the lowest layer; no edge starts there.
    keep_order
        Whether the nodes of `bottom` stand in the given order from left to right.
    rank_gap, node_gap
        Points between layers, and between neighbours on a layer.

    Examples
    --------
    >>> placed = place([Extent(40, 20), Extent(40, 20)], [(0, 1)])
    >>> placed.centres
    ((20.0, 10.0), (20.0, 66.0))
    >>> placed.courses
    (((20.0, 20.0), (20.0, 30.0), (20.0, 40.0), (20.0, 50.0), (20.0, 56.0)),)
    """
    lowest = list(dict.fromkeys(bottom))
    _require(extents, edges, lowest, rank_gap, node_gap)
    sketch = _Sketch(extents, sorted(set(edges)), lowest, node_gap)
    sketch.set_rows(keep_order=keep_order)
    return sketch.placement(edges, rank_gap)


class _Sketch:
    """Nodes and dummies with what is known of them: their layers, then their positions."""

    def __init__(
        self, extents: Sequence[Extent], edges: _Edges, bottom: Sequence[int], node_gap: float
    ) -> None:
        self._extents = extents
        self._bottom = bottom
        self._node_gap = node_gap
        self._layers = assign_layers(len(extents), edges, bottom=bottom)
        self._n_layers = max(self._layers, default=-1) + 1
        self._x: dict[int, float] = {}
        self._routes: dict[tuple[int, int], list[int]] = {}
        for upper, lower in edges:
            between = range(self._layers[upper] + 1, self._layers[lower])
            first = len(self._layers)
            self._layers += between
            self._routes[upper, lower] = [upper, *range(first, len(self._layers)), lower]

    def _width(self, node: int) -> float:
        return self._extents[node].width if node < len(self._extents) else 0.0

    def set_rows(self, *, keep_order: bool) -> None:
        """Order and position the nodes, one connected part to the right of the other."""
        links = [pair for route in self._routes.values() for pair in pairwise(route)]
        linked = dict.fromkeys(node for pair in links for node in pair)
        # The given order comes first, so that it decides among equally good ones.
        nodes = dict.fromkeys([*self._bottom, *sorted(linked)])
        if keep_order:
            parts = [list(nodes)]
        else:
            parts = components([node for node in nodes if node in linked], links)
        ends = [-self._node_gap] * self._n_layers
        for part in parts:
            self._set_part(part, links, ends, keep_lowest=keep_order)
        for node in range(len(self._extents)):
            if node not in self._x:
                self._set_alone(node, ends)

    def _set_part(
        self, part: Sequence[int], links: _Edges, ends: list[float], *, keep_lowest: bool
    ) -> None:
        if not part:
            return
        inside = set(part)
        top = min(self._layers[node] for node in part)
        rows: list[list[int]] = [[] for _ in range(top, max(self._layers[n] for n in part) + 1)]
        gaps: list[list[tuple[int, int]]] = [[] for _ in rows[1:]]
        for node in part:
            rows[self._layers[node] - top].append(node)
        for upper, lower in links:
            if upper in inside:
                gaps[self._layers[upper] - top].append((upper, lower))
        widths = {node: self._width(node) for node in part}
        rows = order_layers(rows, gaps, keep_lowest=keep_lowest)
        x = horizontal_positions(
            rows, gaps, widths, n_nodes=len(self._extents), node_gap=self._node_gap
        )
        shift = max(
            ends[layer] + self._node_gap - x[row[0]] + widths[row[0]] / 2
            for layer, row in enumerate(rows, top)
        )
        for layer, row in enumerate(rows, top):
            self._x |= {node: x[node] + shift for node in row}
            ends[layer] = self._x[row[-1]] + widths[row[-1]] / 2

    def _set_alone(self, node: int, ends: list[float]) -> None:
        """Put a node without edges at the end of the shortest layer where it may be."""
        if node not in self._bottom:
            free = range(self._n_layers - bool(self._bottom))
            self._layers[node] = min(free, key=ends.__getitem__)
        layer = self._layers[node]
        self._x[node] = ends[layer] + self._node_gap + self._width(node) / 2
        ends[layer] += self._node_gap + self._width(node)

    def placement(self, edges: _Edges, rank_gap: float) -> Placement:
        """Return the finished layout."""
        heights = [0.0] * self._n_layers
        for node, extent in enumerate(self._extents):
            heights[self._layers[node]] = max(heights[self._layers[node]], extent.height)
        y: list[float] = []
        total = 0.0
        for height in heights:
            y.append(total + height / 2)
            total += height + rank_gap
        courses = self._courses(heights, y)
        centres = [(self._x[node], y[self._layers[node]]) for node in range(len(self._extents))]
        sides = [x for points in courses.values() for x, _ in points]
        for (x, _), extent in zip(centres, self._extents, strict=True):
            sides += [x - extent.width / 2, x + extent.width / 2]
        left, right = min(sides, default=0.0), max(sides, default=0.0)

        def rounded(points: Sequence[Point]) -> tuple[Point, ...]:
            return tuple((round(x - left, 1), round(y, 1)) for x, y in points)

        drawn = {edge: rounded(points) for edge, points in courses.items()}
        return Placement(
            round(right - left, 1),
            round(max(total - rank_gap, 0.0), 1),
            rounded(centres),
            tuple(drawn[upper, lower] for upper, lower in edges),
        )

    def _courses(
        self, heights: Sequence[float], y: Sequence[float]
    ) -> dict[tuple[int, int], tuple[Point, ...]]:
        rooms = self._rooms()

        def stop(node: int) -> Stop:
            layer = self._layers[node]
            return Stop(
                self._x[node], y[layer], heights[layer] / 2, rooms[node], self._extents[node]
            )

        def bend(node: int) -> Bend:
            layer = self._layers[node]
            return Bend(self._x[node], y[layer], heights[layer] / 2, rooms[node])

        return {
            edge: course(stop(upper), [bend(node) for node in dummies], stop(lower))
            for edge, (upper, *dummies, lower) in self._routes.items()
        }

    def _rooms(self) -> Mapping[int, float]:
        """Return how far each dummy may stray to either side on its layer."""
        rows: list[list[int]] = [[] for _ in range(self._n_layers)]
        for node in sorted(self._x, key=self._x.__getitem__):
            rows[self._layers[node]].append(node)
        rooms = dict.fromkeys(self._x, math.inf)
        for row in rows:
            for left, right in pairwise(row):
                free = self._x[right] - self._x[left]
                free -= (self._width(left) + self._width(right)) / 2
                rooms[left] = min(rooms[left], free / 2)
                rooms[right] = min(rooms[right], free / 2)
        return rooms


def _require(
    extents: Sequence[Extent],
    edges: _Edges,
    bottom: Sequence[int],
    rank_gap: float,
    node_gap: float,
) -> None:
    n_nodes = len(extents)
    problems: list[Problem] = []

    def report(where: str, found: str, do: str) -> None:
        problems.append(Problem(Reason.MALFORMED, where, found, do))

    for number, extent in enumerate(extents):
        if not (0 <= extent.width < math.inf and 0 <= extent.height < math.inf):
            report(f"node {number}", "its size is not a number from 0.", "Give width and height.")
    known = True
    for upper, lower in edges:
        if not (0 <= upper < n_nodes and 0 <= lower < n_nodes):
            known = False
            report(f"edge ({upper}, {lower})", "it joins no nodes.", f"Nodes are 0 to {n_nodes - 1}.")
    for node in bottom:
        if not 0 <= node < n_nodes:
            known = False
            report(f"bottom node {node}", "it is not there.", f"Nodes are 0 to {n_nodes - 1}.")
    if known:
        on_cycles = n_nodes - len(downward_order(n_nodes, edges))
        if on_cycles:
            report("edges", f"{count_of(on_cycles, 'node')} on or below a cycle.", "Break the cycle.")
        floor = set(bottom)
        leaving = sorted({upper for upper, _ in edges} & floor)
        for node in leaving:
            report(f"bottom node {node}", "edges go down from it.", "Leave it out of bottom.")
    if not 0 < rank_gap < math.inf:
        report("rank_gap", "it is not above 0.", "Give the points between layers.")
    if not 0 <= node_gap < math.inf:
        report("node_gap", "it is not a number from 0.", "Give the points between neighbours.")
    if problems:
        raise InputError(
            Reason.MALFORMED,
            f"A layered layout of {count_of(n_nodes, 'node')} was asked for.",
            f"There {'is' if len(problems) == 1 else 'are'} {count_of(len(problems), 'fault')}.",
            "Give nodes with sizes and edges without cycles.",
            problems=problems,
        )
