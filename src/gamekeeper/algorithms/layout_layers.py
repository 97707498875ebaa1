"""Where the nodes and edges of a drawing go: nodes in layers, every edge going down, few crossings.

The layered layout of Sugiyama, Tagawa and Toda (Methods for visual understanding of hierarchical
system structures, 1981), in four steps: each node gets a layer, and edges that pass through layers
a dummy node on each; the layers are put in an order; nodes get places along the layers, and edges
become smooth curves that keep clear of nodes (`layout_positions`). Connected parts are set side by
side. The outcome depends on the arguments alone.

Layers are those with the least total length of edges. That is a linear programme, the dual of a
flow, solved by the network simplex of Gansner, Koutsofios, North and Vo (A technique for drawing
directed graphs, 1993): a spanning tree of tight edges, in which one edge is exchanged for another
as long as that shortens the whole. What an edge of the tree is worth, its cut value, follows from
sums over subtrees, so an exchange costs O(nodes + edges), most of it in numpy.

For the order, which takes longest, layers are sorted by the barycentres of their neighbours,
downwards and upwards in turn. Then single nodes move along their layers to where they cause fewest
crossings, until no move helps. Both are done from several starts, and again after some nodes of the
best order were reversed. To find the least number of crossings is NP-hard even for two layers, so
the outcome is good and not always the best. A sweep costs O(m log m) for m edges, a round of moves
the nodes times the edges of each layer, in numpy. The number of starts goes down as that grows.
Chance has a fixed seed.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import DisjointSets
from gamekeeper.algorithms.layout_positions import Extent, Point, draw_courses, horizontal_positions
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

__all__ = ["Extent", "Placement", "Point", "place"]


_Arc = tuple[int, int]
_Ints = NDArray[np.int64]


def downward_order(n_nodes: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the nodes in an order in which edges go forward, but for those on or below a cycle.

    Examples
    --------
    >>> downward_order(3, [(2, 0), (0, 1)])
    [2, 0, 1]
    """
    below: list[list[int]] = [[] for _ in range(n_nodes)]
    waiting = [0] * n_nodes
    for upper, lower in edges:
        below[upper].append(lower)
        waiting[lower] += 1
    found = [node for node in range(n_nodes) if not waiting[node]]
    for node in found:
        for lower in below[node]:
            waiting[lower] -= 1
            if not waiting[lower]:
                found.append(lower)
    return found


def components(nodes: Sequence[int], edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the nodes of each connected part; parts and their nodes are in the given order.

    Examples
    --------
    >>> components([0, 1, 2], [(0, 2)])
    [[0, 2], [1]]
    """
    sets = DisjointSets()
    for upper, lower in edges:
        sets.unite(upper, lower)
    parts: dict[object, list[int]] = {}
    for node in nodes:
        parts.setdefault(sets.find(node), []).append(node)
    return list(parts.values())


def assign_layers(
    n_nodes: int, edges: Sequence[tuple[int, int]], *, bottom: Sequence[int] = ()
) -> list[int]:
    """Return the layer of every node, from the top; the total length of edges is least.

    There are no cycles. Nodes of `bottom` have no children, and the lowest layer for themselves.

    Examples
    --------
    >>> assign_layers(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    >>> assign_layers(4, [(0, 1), (1, 2)], bottom=[2, 3])
    [0, 1, 2, 2]
    """
    # The nodes of the lowest layer are one node for this purpose, and all others stand above it.
    floor = n_nodes
    on_floor = set(bottom)
    merged = [floor if node in on_floor else node for node in range(n_nodes)]
    weights = dict(Counter((merged[upper], merged[lower]) for upper, lower in edges))
    if on_floor:
        uppers = {upper for upper, _ in weights}
        weights |= {(node, floor): 0 for node in sorted({*merged} - uppers - {floor})}
    layers = [0] * (n_nodes + 1)
    for part in components(sorted({*merged}), list(weights)):
        numbers = {node: number for number, node in enumerate(part)}
        arcs = {
            (numbers[upper], numbers[lower]): weight
            for (upper, lower), weight in weights.items()
            if upper in numbers
        }
        for node, layer in zip(part, _shortest_layers(len(part), arcs), strict=True):
            layers[node] = layer
    _balance(layers, weights)
    return [layers[node] for node in merged]


def _shortest_layers(n_nodes: int, arcs: Mapping[_Arc, int]) -> list[int]:
    """Return layers from 0 of the least total weighted length, for one connected part."""
    if n_nodes == 1:
        return [0]
    tails, heads = np.array(list(arcs), dtype=np.int64).T
    weights = np.array(list(arcs.values()), dtype=np.int64)
    layers = np.zeros(n_nodes, dtype=np.int64)
    below: list[list[int]] = [[] for _ in range(n_nodes)]
    for upper, lower in arcs:
        below[upper].append(lower)
    for node in downward_order(n_nodes, list(arcs)):
        for lower in below[node]:
            layers[lower] = max(layers[lower], layers[node] + 1)
    surplus = np.zeros(n_nodes, dtype=np.int64)
    np.add.at(surplus, tails, weights)
    np.subtract.at(surplus, heads, weights)
    tree = _tight_tree(layers, tails, heads)
    # Exchanges that change no length could go round in circles; in practice there are few.
    for _ in range(100 + 10 * n_nodes):
        nodes, links, sizes = _walk(tree, n_nodes, tails, heads)
        sums = np.concatenate(([0], np.cumsum(surplus[nodes])))
        starts = np.arange(n_nodes)
        inside = sums[starts + sizes] - sums[starts]
        rises = tails[links] == nodes
        cuts = np.where(rises, inside, -inside)
        cuts[0] = 0
        worst = int(cuts.argmin())
        if cuts[worst] >= 0:
            break
        upper_part = np.full(n_nodes, not rises[worst])
        upper_part[nodes[worst : worst + sizes[worst]]] = rises[worst]
        candidates = np.flatnonzero(upper_part[heads] & ~upper_part[tails])
        slacks = layers[heads[candidates]] - layers[tails[candidates]] - 1
        chosen = int(slacks.argmin())
        layers[upper_part] -= slacks[chosen]
        tree.remove(int(links[worst]))
        tree.append(int(candidates[chosen]))
    return (layers - layers.min()).tolist()


def _tight_tree(layers: _Ints, tails: _Ints, heads: _Ints) -> list[int]:
    """Shift layers until edges of length one span all nodes; return such edges, a tree."""
    tree: list[int] = []
    reached = np.zeros(len(layers), dtype=bool)
    reached[0] = True
    while len(tree) < len(layers) - 1:
        leaving = np.flatnonzero(reached[tails] != reached[heads])
        slacks = layers[heads[leaving]] - layers[tails[leaving]] - 1
        chosen = int(slacks.argmin())
        edge = int(leaving[chosen])
        layers[reached] += slacks[chosen] if reached[tails[edge]] else -slacks[chosen]
        reached[tails[edge]] = reached[heads[edge]] = True
        tree.append(edge)
    return tree


def _walk(
    tree: Sequence[int], n_nodes: int, tails: _Ints, heads: _Ints
) -> tuple[_Ints, _Ints, _Ints]:
    """Return the nodes of a tree in preorder, their edges upwards and the sizes of subtrees."""
    links: list[list[tuple[int, int]]] = [[] for _ in range(n_nodes)]
    for edge, tail, head in zip(tree, tails[tree].tolist(), heads[tree].tolist(), strict=True):
        links[tail].append((head, edge))
        links[head].append((tail, edge))
    nodes: list[int] = []
    edges: list[int] = []
    above: list[int] = []
    places = [0] * n_nodes
    waiting = [(0, -1, 0)]
    while waiting:
        node, upwards, place_above = waiting.pop()
        places[node] = len(nodes)
        above.append(place_above)
        nodes.append(node)
        edges.append(upwards)
        waiting += [(other, edge, places[node]) for other, edge in links[node] if edge != upwards]
    sizes = [1] * n_nodes
    for place in range(n_nodes - 1, 0, -1):
        sizes[above[place]] += sizes[place]
    return np.array(nodes), np.array(edges), np.array(sizes)


def _balance(layers: list[int], weights: Mapping[_Arc, int]) -> None:
    """Move nodes that may stand on several layers at the same cost to the least crowded one."""
    above: dict[int, list[_Arc]] = {}
    below: dict[int, list[_Arc]] = {}
    crowd = Counter(layers)
    for arc in weights:
        below.setdefault(arc[0], []).append(arc)
        above.setdefault(arc[1], []).append(arc)
    for node in sorted(above.keys() & below.keys()):
        if sum(map(weights.__getitem__, above[node])) == sum(map(weights.__getitem__, below[node])):
            first = max(layers[upper] for upper, _ in above[node]) + 1
            last = min(layers[lower] for _, lower in below[node]) - 1
            crowd[layers[node]] -= 1
            layers[node] = min(range(first, last + 1), key=crowd.__getitem__)
            crowd[layers[node]] += 1


_Order = list[list[int]]
_Gap = Sequence[tuple[int, int]]

_SWEEPS = 24
_PATIENCE = 6
_KICKS = 40
# The work from one start or after one kick grows with the squares of layer sizes; what each layer
# costs besides is as much as this. Measured: 200,000 take about 0.2 s.
_LAYER_WORK = 1_000
_START_WORK = 1_000_000
_KICK_WORK = 200_000
# Beyond this width the table of all pairs on a layer takes too long.
_MOVES_BELOW = 1_000


def order_layers(
    layers: Sequence[Sequence[int]], gaps: Sequence[_Gap], *, keep_lowest: bool = False
) -> _Order:
    """Return the layers with their nodes from left to right.

    `gaps` has, for each layer but the lowest, the pairs that join it with the next. Nodes with the
    same neighbours stay in the given order, and so does the lowest layer where it is kept.

    Examples
    --------
    >>> order_layers([[0, 1], [2, 3]], [[(0, 3), (1, 2)]], keep_lowest=True)
    [[1, 0], [2, 3]]
    """
    search = _Search(layers, gaps, keep_lowest)
    work = sum(_LAYER_WORK + len(layer) ** 2 for layer in layers)
    best = search.improved(search.starts[0])
    for start in search.starts[1:] if best.crossings and work < _START_WORK else ():
        best = min(best, search.improved(start), key=_Found.cost)
    chance = random.Random(1)
    current = best
    for _ in range(min(_KICKS, _KICK_WORK // max(work, 1)) if best.crossings else 0):
        tried = search.improved(search.kicked(current.order, chance))
        if tried.crossings <= current.crossings:
            current = tried
        best = min(best, current, key=_Found.cost)
    return search.tidied(best.order)


def count_crossings(order: Sequence[Sequence[int]], gaps: Sequence[_Gap]) -> int:
    """Return how often edges cross between layers in this order."""
    places = {node: place for layer in order for place, node in enumerate(layer)}
    crossings = 0
    for gap in gaps:
        ends = sorted((places[upper], places[lower]) for upper, lower in gap)
        crossings += _inversions(lower for _, lower in ends)
    return crossings


def _inversions(numbers: Iterable[int]) -> int:
    """Return how many pairs have the larger number first."""
    found = 0
    passed: list[int] = []
    for number in numbers:
        at = bisect_right(passed, number)
        found += len(passed) - at
        passed.insert(at, number)
    return found


class _Found(NamedTuple):
    order: _Order
    crossings: int
    stretch: float

    def cost(self) -> tuple[int, float]:
        """Among orders with as many crossings the one with shorter edges is better."""
        return self.crossings, self.stretch


class _Search:
    def __init__(
        self, layers: Sequence[Sequence[int]], gaps: Sequence[_Gap], keep_lowest: bool
    ) -> None:
        self._layers = layers
        self._gaps = gaps
        self._movable = len(layers) - keep_lowest
        self._above: dict[int, list[int]] = {node: [] for layer in layers for node in layer}
        self._below: dict[int, list[int]] = {node: [] for layer in layers for node in layer}
        for gap in gaps:
            for upper, lower in gap:
                self._below[upper].append(lower)
                self._above[lower].append(upper)
        given = [list(layer) for layer in layers]
        self.starts = given, self._along(self._below, given), self._along(self._above, given[::-1])

    def kicked(self, order: _Order, chance: random.Random) -> _Order:
        """Return an order in which twice some neighbours on a layer are reversed."""
        kicked = [list(layer) for layer in order]
        choices = [layer for layer in kicked[: self._movable] if len(layer) > 1]
        for layer in chance.choices(choices, k=2):
            start, stop = sorted(chance.sample(range(len(layer) + 1), 2))
            layer[start:stop] = reversed(layer[start:stop])
        return kicked

    def _along(self, onwards: dict[int, list[int]], layers: _Order) -> _Order:
        """Nodes in the order in which they are met when paths are followed to their ends."""
        met: dict[int, None] = {}
        for layer in layers:
            for first in layer:
                waiting = [first]
                while waiting:
                    node = waiting.pop()
                    if node not in met:
                        met[node] = None
                        waiting += reversed(onwards[node])
        place = {node: number for number, node in enumerate(met)}
        order = [sorted(layer, key=place.__getitem__) for layer in self._layers]
        if self._movable < len(order):
            order[-1] = list(self._layers[-1])
        return order

    def improved(self, start: _Order) -> _Found:
        order = [list(layer) for layer in start]
        best, fewest = start, count_crossings(start, self._gaps)
        fruitless = 0
        for sweep in range(_SWEEPS):
            # Upwards first: the order of the lowest layer is the one that is given.
            self._sort(order, upwards=sweep % 2 == 0, backwards=sweep % 4 > 1)
            crossings = count_crossings(order, self._gaps)
            fruitless += 1
            if crossings < fewest:
                best, fewest = [list(layer) for layer in order], crossings
                fruitless = 0
            if fruitless == _PATIENCE or not fewest:
                break
        if fewest:
            best = [list(layer) for layer in best]
            self._move(best)
            fewest = count_crossings(best, self._gaps)
        return _Found(best, fewest, self._stretch(best))

    def _stretch(self, order: _Order) -> float:
        """Return about how far edges go sideways, when every layer is centred."""
        aside = {
            node: at - len(layer) / 2 + 0.5 for layer in order for at, node in enumerate(layer)
        }
        return sum(abs(aside[upper] - aside[lower]) for gap in self._gaps for upper, lower in gap)

    def tidied(self, order: _Order) -> _Order:
        """Return an order with as many crossings that is nearer to the given one."""
        given = {node: at for layer in self._layers for at, node in enumerate(layer)}
        places = [[given[node] for node in layer] for layer in order]
        as_is = sum(map(_inversions, places))
        mirrored = sum(_inversions(reversed(layer)) for layer in places)
        if mirrored < as_is and self._movable == len(order):
            order = [layer[::-1] for layer in order]
        tidied: _Order = []
        for layer in order[: self._movable]:
            # Nodes with the same neighbours can change places at no cost.
            alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
            keys = [
                (tuple(sorted(self._above[node])), tuple(sorted(self._below[node])))
                for node in layer
            ]
            for node, key in zip(layer, keys, strict=True):
                alike.setdefault(key, []).append(node)
            turns = {
                key: iter(sorted(nodes, key=given.__getitem__)) for key, nodes in alike.items()
            }
            tidied.append([next(turns[key]) for key in keys])
        return [*tidied, *order[self._movable :]]

    def _sort(self, order: _Order, *, upwards: bool, backwards: bool) -> None:
        """Sort each layer by the mean places of neighbours on the layer before it.

        Nodes without any stay where they are. `backwards` reverses those that are equal.
        """
        numbers = range(len(order) - 2, -1, -1) if upwards else range(1, self._movable)
        neighbours = self._below if upwards else self._above
        for number in numbers:
            layer = order[number]
            place = {node: at for at, node in enumerate(order[number + (1 if upwards else -1)])}
            means = {
                node: sum(map(place.__getitem__, neighbours[node])) / len(neighbours[node])
                for node in (reversed(layer) if backwards else layer)
                if neighbours[node]
            }
            sorted_nodes = iter(sorted(means, key=means.__getitem__))
            order[number] = [next(sorted_nodes) if node in means else node for node in layer]

    def _move(self, order: _Order) -> None:
        """Move single nodes within their layers as long as that saves crossings."""
        rounds = [*range(len(order)), *range(len(order) - 2, 0, -1)]
        stale = 0
        for number in rounds * _SWEEPS:
            stale += 1
            if number < self._movable and len(order[number]) <= _MOVES_BELOW:
                moved = _best_moves(self._gains(order, number))
                if moved is not None:
                    order[number] = [order[number][at] for at in moved]
                    stale = 0
            if stale > len(rounds):
                break

    def _gains(self, order: _Order, number: int) -> NDArray[np.float32]:
        """Return for each pair on a layer the crossings saved when the second stands first."""
        layer = order[number]
        gains = np.zeros((len(layer), len(layer)), dtype=np.float32)
        for other, neighbours in ((number - 1, self._above), (number + 1, self._below)):
            if 0 <= other < len(order):
                place = {node: at for at, node in enumerate(order[other])}
                ends = [
                    (at, place[end]) for at, node in enumerate(layer) for end in neighbours[node]
                ]
                owners, places = np.array(ends, dtype=np.int64).reshape(-1, 2).T
                joined = np.zeros((len(place), len(layer)), dtype=np.float32)
                joined[places, owners] = 1
                # For each neighbour of one node, the edges of the others that end before it.
                before = (np.cumsum(joined, axis=0) - joined)[places]
                with_edges, starts = np.unique(owners, return_index=True)
                crossings = np.zeros_like(gains)
                crossings[with_edges] = np.add.reduceat(before, starts, axis=0)
                gains += crossings - crossings.T
        return gains


def _best_moves(gains: NDArray[np.float32]) -> list[int] | None:
    """Return a better order of a layer, or None; `gains[a, b]` is saved when b comes before a."""
    size = len(gains)
    order = np.arange(size)
    sums = np.zeros((size, size + 1), dtype=np.float32)
    has_moved = False
    while True:
        np.cumsum(gains[np.ix_(order, order)], axis=1, out=sums[:, 1:])
        saved = sums.max(axis=1) - sums.diagonal()
        helpful = np.flatnonzero(saved > 0)
        if not len(helpful):
            return order.tolist() if has_moved else None
        has_moved = True
        for node in order[helpful[np.argsort(-saved[helpful], kind="stable")]].tolist():
            at = int(np.flatnonzero(order == node)[0])
            row = np.concatenate(([0], np.cumsum(gains[node, order])))
            slot = int(row.argmax())
            if row[slot] > row[at]:
                order = np.insert(np.delete(order, at), slot - (slot > at), node)


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

    Edges are pairs of node numbers, from upper to lower, without cycles. Nodes of `bottom` make up
    the lowest layer, where no edge starts, with `keep_order` in the given order from left to right.
    Gaps are points between layers, and between neighbours on a layer.

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
