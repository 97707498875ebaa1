"""The layer of every node of an acyclic graph, such that edges go down and are short.

The total length of all edges is as small as it can be. That is a linear programme, the dual of a
flow, and is solved by the network simplex of Gansner, Koutsofios, North and Vo (A technique for
drawing directed graphs, 1993): a spanning tree of tight edges, in which one edge is exchanged for
another as long as that shortens the whole. What an edge of the tree is worth, its cut value,
follows from sums over subtrees, so an exchange costs O(nodes + edges), most of it in numpy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.disjoint_sets import DisjointSets

_Arc = tuple[int, int]
_Ints = NDArray[np.int64]


def downward_order(n_nodes: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the nodes in an order in which edges go forward.

    Nodes on a cycle, and all below it, are left out.

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
    """Return the layer of every node, counted from the top, with the least total edge length.

    Nodes of `bottom` have no children and share the lowest layer, on which no others are. There are
    no cycles.

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
