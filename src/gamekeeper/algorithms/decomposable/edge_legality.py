"""Which edges a dynamic junction tree lets come and go, found on the paths next to their ends.

`dynamic_junction_tree` has the definitions and the paper. Adding is decided on the ways up from
the two ends, deleting in the subtree of the cliques that hold both.
"""

from __future__ import annotations

from typing import NamedTuple

from gamekeeper.algorithms.decomposable.adjacency_masks import members
from gamekeeper.algorithms.decomposable.junction_forest import JunctionForest


class Joint(NamedTuple):
    """How an edge can be added.

    The clique `lower` rises to the place of `top`, takes in `upper` and gets the parent `parent`;
    `common` is the set of the common neighbours of the two ends.
    """

    lower: int
    upper: int
    top: int
    parent: int
    common: int


def find_joint(forest: JunctionForest, v: int, w: int) -> Joint | None:
    """Return how an edge that is not there can be added, or None if it cannot.

    The common neighbours of v and w are the intersection of the two nearest cliques that hold v
    and w. They separate v and w if, and only if, they are the whole separator of an edge on the
    path between these. The upper label of that edge is a member of the separator, so it must be
    in both cliques: only the last edge of either way up can be it.

    Examples
    --------
    >>> find_joint(JunctionForest([0b001, 0b011, 0b101], [-1, 0, 0]), 1, 2)
    Joint(lower=1, upper=2, top=1, parent=2, common=1)
    """
    above_v = forest.upwards(v)
    if above_v >> w & 1:
        return _joint_with_ancestor(forest, v, w)
    top_w = w
    while (meeting := forest.parents[top_w]) >= 0 and not above_v >> meeting & 1:
        top_w = meeting
    if meeting == v:
        return _joint_with_ancestor(forest, w, v)
    if meeting < 0:
        return Joint(v, w, forest.root_of(v), w, 0)
    top_v = v
    while forest.parents[top_v] != meeting:
        top_v = forest.parents[top_v]
    common = forest.cliques[v] & forest.cliques[w]
    if forest.cliques[top_v] == common | 1 << top_v:
        return Joint(v, w, top_v, w, common)
    if forest.cliques[top_w] == common | 1 << top_w:
        return Joint(w, v, top_w, v, common)
    return None


def _joint_with_ancestor(forest: JunctionForest, lower: int, upper: int) -> Joint | None:
    top = lower
    while not forest.cliques[parent := forest.parents[top]] >> upper & 1:
        top = parent
    common = forest.cliques[lower] & forest.cliques[parent]
    if forest.cliques[top] == common | 1 << top:
        return Joint(lower, upper, top, parent, common)
    return None


def find_chain(forest: JunctionForest, v: int, w: int) -> list[int] | None:
    """Return the labels of the cliques that hold both ends of an edge, from the top down.

    The first is v or w. None if the edge cannot be deleted. If it is in one maximal clique only,
    the cliques form a chain in which each holds all of the one above it and its own label; if it
    is in several, they branch, or a clique loses a member on the way down.

    Examples
    --------
    >>> find_chain(JunctionForest([0b001, 0b011, 0b111], [-1, 0, 1]), 0, 1)
    [1, 2]
    """
    label = v if forest.cliques[v] >> w & 1 else w
    chain = [label]
    ends = 1 << v | 1 << w
    while True:
        below = [u for u in members(forest.children[label]) if not ends & ~forest.cliques[u]]
        if not below:
            return chain
        if len(below) > 1 or forest.cliques[label] & ~forest.cliques[below[0]]:
            return None
        label = below[0]
        chain.append(label)
