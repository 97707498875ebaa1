"""Where the nodes and edges of a drawing go: nodes in layers, every edge going down.

The layered layout of Sugiyama, Tagawa and Toda (Methods for visual understanding of hierarchical
system structures, 1981), in four steps. Each node gets a layer (`layers`), and edges
that pass through layers get a dummy node on each; the layers are put in an order with few crossings
(`order`); nodes get places along the layers (`positions`); edges become smooth curves
that keep clear of nodes (`courses`). Connected parts are set side by side.

The outcome depends on the arguments alone. What takes longest is the order; see there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gamekeeper.algorithms.layout.courses import Extent, Point, draw_courses
from gamekeeper.algorithms.layout.layers import assign_layers, components, downward_order
from gamekeeper.algorithms.layout.order import order_layers
from gamekeeper.algorithms.layout.positions import horizontal_positions
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

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
    >>> placed.courses[0][0], placed.courses[0][-1]
    ((20.0, 20.0), (20.0, 56.0))
    """
    lowest = list(dict.fromkeys(bottom))
    problems = _problems(extents, edges, lowest, rank_gap, node_gap)
    if problems:
        raise InputError(
            Reason.MALFORMED,
            f"A layered layout of {count_of(len(extents), 'node')} was asked for.",
            f"It has {count_of(len(problems), 'fault')}.",
            "Give nodes with sizes, and edges without cycles.",
            problems=problems,
        )
    sketch = _Sketch(extents, sorted(set(edges)), lowest, node_gap)
    sketch.set_rows(keep_lowest=keep_order and bool(lowest))
    return sketch.placement(edges, rank_gap)


class _Sketch:
    """Nodes and dummies with what is known of them: their layers, then their positions."""

    def __init__(
        self, extents: Sequence[Extent], edges: _Edges, bottom: Sequence[int], node_gap: float
    ) -> None:
        self._extents = extents
        self._n_nodes = len(extents)
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
        return self._extents[node].width if node < self._n_nodes else 0.0

    def set_rows(self, *, keep_lowest: bool) -> None:
        """Order and position the nodes, one connected part to the right of the other."""
        links = [pair for route in self._routes.values() for pair in pairwise(route)]
        linked = {node for pair in links for node in pair}
        # The lowest layer comes first and as given: that order decides among equally good ones.
        nodes = dict.fromkeys([*self._bottom, *sorted(linked)])
        parts = components([node for node in nodes if node in linked], links)
        ends = [-self._node_gap] * self._n_layers
        if keep_lowest:
            # In the given order the nodes of several parts may alternate, so these are one.
            floor = set(self._bottom)
            standing = [node for part in parts if floor & {*part} for node in part]
            parts = [part for part in parts if not floor & {*part}]
            together = list(dict.fromkeys([*self._bottom, *standing]))
            self._set_part(together, links, ends, keep_lowest=True)
        for part in parts:
            self._set_part(part, links, ends)
        for node in range(self._n_nodes):
            if node not in self._x:
                self._set_alone(node, ends)

    def _set_part(
        self, part: Sequence[int], links: _Edges, ends: list[float], *, keep_lowest: bool = False
    ) -> None:
        """Put a part as near as it goes to what is there; `ends` is how far each layer is taken."""
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
        x = horizontal_positions(rows, gaps, widths, n_nodes=self._n_nodes, node_gap=self._node_gap)
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
        rows: list[list[int]] = [[] for _ in range(self._n_layers)]
        for node in sorted(self._x, key=self._x.__getitem__):
            rows[self._layers[node]].append(node)
        centres: dict[int, Point] = {}
        bottom = -rank_gap
        for row in rows:
            heights = [self._extents[node].height for node in row if node < self._n_nodes]
            height = max(heights, default=0.0)
            centres |= {node: (self._x[node], bottom + rank_gap + height / 2) for node in row}
            bottom += rank_gap + height
        routes = list(self._routes.values())
        courses = dict(
            zip(self._routes, draw_courses(routes, rows, centres, self._extents), strict=True)
        )
        sides = [x for points in courses.values() for x, _ in points]
        for node, extent in enumerate(self._extents):
            sides += [self._x[node] - extent.width / 2, self._x[node] + extent.width / 2]
        left, right = min(sides, default=0.0), max(sides, default=0.0)

        def rounded(points: Sequence[Point]) -> tuple[Point, ...]:
            return tuple((round(x - left, 1), round(y, 1)) for x, y in points)

        drawn = {edge: rounded(points) for edge, points in courses.items()}
        return Placement(
            round(right - left, 1),
            round(max(bottom, 0.0), 1),
            rounded([centres[node] for node in range(self._n_nodes)]),
            tuple(drawn[upper, lower] for upper, lower in edges),
        )


def _problems(
    extents: Sequence[Extent],
    edges: _Edges,
    bottom: Sequence[int],
    rank_gap: float,
    node_gap: float,
) -> list[Problem]:
    found: list[tuple[str, str, str]] = []
    n_nodes = len(extents)
    for node, extent in enumerate(extents):
        if not (0 <= extent.width < math.inf and 0 <= extent.height < math.inf):
            found.append((f"node {node}", "its size is no number from 0.", "Give its size."))
    known = range(n_nodes)
    strange = [("edge", (u, v)) for u, v in edges if u not in known or v not in known]
    strange += [("bottom", node) for node in bottom if node not in known]
    for kind, what in strange:
        found.append((f"{kind} {what}", f"there are only {n_nodes} nodes.", "Count from 0."))
    if not strange:
        stuck = n_nodes - len(downward_order(n_nodes, edges))
        if stuck:
            found.append(("edges", f"{count_of(stuck, 'node')} on or below a cycle.", "Open it."))
        found += [
            (f"bottom {node}", "edges go down from it.", "Leave it out of bottom.")
            for node in sorted({upper for upper, _ in edges} & {*bottom})
        ]
    if not 0 < rank_gap < math.inf:
        found.append(("rank_gap", "it is no number above 0.", "Give points."))
    if not 0 <= node_gap < math.inf:
        found.append(("node_gap", "it is no number from 0.", "Give points."))
    return [Problem(Reason.MALFORMED, *problem) for problem in found]
