"""Elimination of the variables of a graph: moral graphs, fill-ins and perfect orderings.

To eliminate a variable is to join all its neighbours and to remove it. The edges that an ordering
adds on the way, its fill-in, triangulate the graph: with them no cycle of more than three
variables is without a chord. An ordering is perfect if it adds none; a graph has a perfect
ordering if, and only if, it is decomposable. The graph that is left after the elimination of a
set of variables does not depend on their order.

Smith's thesis, chapter 6; Rose, Tarjan and Lueker, Algorithmic aspects of vertex elimination on
graphs, 1976; Tarjan and Yannakakis, maximum cardinality search, 1984. Eliminating m variables costs
O(m^2) operations on masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gamekeeper.algorithms.decomposable.adjacency_masks import (
    Adjacency,
    AdjacencyLike,
    adjacency_of,
    as_adjacency,
    as_ordering,
    members,
)
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of


def moral_graph(n_variables: int, arrows: Iterable[Sequence[int]]) -> Adjacency:
    """Return the Markov graph of a Bayesian network: parents joined, directions dropped.

    Parameters
    ----------
    n_variables
        The number of variables.
    arrows
        Pairs of a parent and its child, without a directed cycle.

    Examples
    --------
    >>> moral_graph(3, [(0, 2), (1, 2)])
    (6, 5, 3)
    """
    listed = [(int(parent), int(child)) for parent, child in arrows]
    masks = list(adjacency_of(n_variables, listed))
    parents = [0] * n_variables
    for parent, child in listed:
        parents[child] |= 1 << parent
    _require_acyclic(parents)
    for together in parents:
        for parent in members(together):
            masks[parent] |= together & ~(1 << parent)
    return tuple(masks)


def eliminate(adjacency: AdjacencyLike, ordering: Iterable[int]) -> Adjacency:
    """Return for each variable the set of it and its neighbours at the time it is eliminated.

    These are the cliques of a dynamic junction tree, by label.

    Examples
    --------
    The cycle 0, 1, 2, 3: eliminating 0 joins 1 and 3.

    >>> cliques = eliminate([0b1010, 0b0101, 0b1010, 0b0101], [0, 1, 2, 3])
    >>> [list(members(clique)) for clique in cliques]
    [[0, 1, 3], [1, 2, 3], [2, 3], [3]]
    """
    masks = list(as_adjacency(adjacency))
    cliques = [0] * len(masks)
    left = (1 << len(masks)) - 1
    for v in as_ordering(len(masks), ordering):
        left ^= 1 << v
        later = masks[v] & left
        cliques[v] = later | 1 << v
        for w in members(later):
            masks[w] |= later & ~(1 << w)
    return tuple(cliques)


def fill_in(adjacency: AdjacencyLike, ordering: Iterable[int]) -> list[tuple[int, int]]:
    """Return the edges that an elimination ordering adds; none if it is perfect.

    Examples
    --------
    >>> fill_in([0b1010, 0b0101, 0b1010, 0b0101], [0, 1, 2, 3])
    [(1, 3)]
    """
    masks = as_adjacency(adjacency)
    added = [
        (min(v, w), max(v, w))
        for v, clique in enumerate(eliminate(masks, ordering))
        for w in members(clique & ~masks[v] & ~(1 << v))
    ]
    return sorted(added)


def perfect_ordering(adjacency: AdjacencyLike) -> tuple[int, ...] | None:
    """Return an elimination ordering without fill-in, or None if there is none.

    The ordering is the reverse of a maximum cardinality search: next comes a variable with the
    most neighbours among those that were visited, the smallest of them.

    Examples
    --------
    >>> perfect_ordering([0b010, 0b101, 0b010])
    (2, 1, 0)
    >>> perfect_ordering([0b1010, 0b0101, 0b1010, 0b0101]) is None
    True
    """
    masks = as_adjacency(adjacency)
    visited = 0
    order: list[int] = []
    left = list(range(len(masks)))
    while left:
        v = max(left, key=lambda u: ((masks[u] & visited).bit_count(), -u))
        left.remove(v)
        before = masks[v] & visited
        # The graph is decomposable if, and only if, each variable's visited neighbours are all
        # neighbours of the last of them.
        if before:
            last = next(u for u in reversed(order) if before >> u & 1)
            if before & ~masks[last] != 1 << last:
                return None
        visited |= 1 << v
        order.append(v)
    return tuple(reversed(order))


def _require_acyclic(parents: Sequence[int]) -> None:
    left = (1 << len(parents)) - 1
    while ready := [v for v in members(left) if not parents[v] & left]:
        for v in ready:
            left ^= 1 << v
    if left:
        raise InputError(
            Reason.MALFORMED,
            f"The moral graph of {count_of(len(parents), 'variable')} was asked for.",
            f"A directed cycle goes through some of {', '.join(map(str, members(left)))}.",
            "Give a network without directed cycles.",
        )
