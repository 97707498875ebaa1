"""Where the nodes and edges of a layered drawing go, worked out by the dot of Graphviz.

Graphviz is shown numbers only, the sizes of nodes and which are joined, and never a label. So
nothing has to be escaped for it, and the outcome does not depend on the fonts of the machine.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Extent", "Placement", "Point", "place"]

Point = tuple[float, float]

_POINTS_PER_INCH = 72.0
# Graphviz keeps state between its calls and is not made for several threads.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class Extent:
    """The room that a node takes, in points."""

    width: float
    height: float
    is_round: bool = False


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
    node_gap: float = 12.0,
) -> Placement:
    """Place nodes in layers, so that every edge goes down.

    Parameters
    ----------
    extents
        The size of every node.
    edges
        Pairs of node numbers, from upper to lower.
    bottom
        Nodes of the lowest layer.
    keep_order
        Whether the nodes of `bottom` stand in the given order from left to right.
    rank_gap, node_gap
        Points between layers, and between neighbours on a layer.

    Examples
    --------
    >>> placed = place([Extent(40, 20), Extent(40, 20)], [(0, 1)])
    >>> placed.centres[0][1] < placed.centres[1][1]
    True
    """
    import pygraphviz

    with _ONE_AT_A_TIME:
        graph = pygraphviz.AGraph(directed=True, strict=True)
        graph.graph_attr.update(ranksep=_inches(rank_gap), nodesep=_inches(node_gap))
        graph.node_attr.update(label="", fixedsize="true")
        graph.edge_attr.update(arrowsize="0.6")
        for number, extent in enumerate(extents):
            graph.add_node(
                str(number),
                shape="ellipse" if extent.is_round else "box",
                width=_inches(extent.width),
                height=_inches(extent.height),
            )
        for upper, lower in edges:
            graph.add_edge(str(upper), str(lower))
        if bottom:
            graph.add_subgraph([str(number) for number in bottom], rank="sink")
        if keep_order:
            for left, right in pairwise(bottom):
                graph.add_edge(str(left), str(right), style="invis")
        graph.layout(prog="dot")
        box = str(graph.graph_attr["bb"])
        centres = [str(graph.get_node(str(number)).attr["pos"]) for number in range(len(extents))]
        courses = [str(graph.get_edge(str(u), str(v)).attr["pos"]) for u, v in edges]
        graph.close()
    left, low, right, high = _numbers(box)

    def point(text: str) -> Point:
        x, y = _numbers(text)
        return round(x - left, 1), round(high - y, 1)

    def course(text: str) -> tuple[Point, ...]:
        # Graphviz writes the tip first: "e,x,y x0,y0 x1,y1 ...".
        tip, *controls = text.removeprefix("e,").split()
        return (*map(point, controls), point(tip))

    return Placement(
        round(right - left, 1),
        round(high - low, 1),
        tuple(map(point, centres)),
        tuple(map(course, courses)),
    )


def _inches(points: float) -> str:
    return f"{points / _POINTS_PER_INCH:.4f}"


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]
