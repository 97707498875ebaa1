"""Decomposable graphs of variables: adjacency masks, elimination, cliques and separators.

A set of the variables 0 .. m-1 is an integer whose bit v stands for variable v, so that unions,
intersections and differences are single operations on integers. With up to 64 variables a mask fits
into an unsigned 64-bit integer; nothing here needs that. A graph has a mask for each variable: bit
w of mask v says that v and w are joined.

A graph is decomposable (chordal) if every cycle of more than three variables has a chord. Then its
maximal cliques can be made a junction tree, and the distribution of the variables is the product of
the margins of the cliques over the product of the margins of the separators. Which single edges may
change is a question to `dynamic_junction_tree`.

To eliminate a variable is to join all its neighbours and to remove it. The edges that an ordering
adds on the way, its fill-in, triangulate the graph: they make it decomposable. An ordering is
perfect if it adds none; a graph has a perfect ordering if, and only if, it is decomposable. The
graph that is left after the elimination of a set of variables does not depend on their order.
Eliminating m variables costs O(m^2) operations on masks.

Smith's thesis, chapter 6; Frydenberg and Lauritzen, 1989; Giudici and Green, 1999; Rose, Tarjan and
Lueker, Algorithmic aspects of vertex elimination on graphs, 1976; Tarjan and Yannakakis, maximum
cardinality search, 1984.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of

Adjacency: TypeAlias = tuple[int, ...]
"""One mask of neighbours per variable."""

AdjacencyLike: TypeAlias = Sequence[int] | NDArray[np.uint64]


def members(mask: int) -> Iterator[int]:
    """Yield the variables of a set, the smallest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_of(variables: Iterable[int]) -> int:
    """Return a set of variables as a mask."""
    mask = 0
    for variable in variables:
        mask |= 1 << int(variable)
    return mask


def pairs_within(mask: int) -> list[tuple[int, int]]:
    """Return every pair of variables of a set, in order."""
    return list(combinations(members(mask), 2))


def adjacency_of(n_variables: int, edges: Iterable[Sequence[int]]) -> Adjacency:
    """Return the adjacency masks of a graph that is given by its edges.

    Examples
    --------
    >>> adjacency_of(3, [(0, 1), (2, 1)])
    (2, 5, 2)
    """
    masks = [0] * n_variables
    problems: list[Problem] = []
    for number, edge in enumerate(edges, start=1):
        v, w = (int(end) for end in edge)
        if v == w or not (0 <= v < n_variables and 0 <= w < n_variables):
            found = f"it joins {v} and {w}."
            problems.append(Problem(Reason.MALFORMED, f"edge {number}", found))
            continue
        masks[v] |= 1 << w
        masks[w] |= 1 << v
    if problems:
        raise InputError(
            Reason.MALFORMED,
            f"A graph of {count_of(n_variables, 'variable')} was asked for.",
            f"Edges that join no two of them: {len(problems)}.",
            f"Join two different variables of 0 to {n_variables - 1}.",
            problems=problems,
        )
    return tuple(masks)


def edges_of(adjacency: AdjacencyLike) -> list[tuple[int, int]]:
    """Return the edges of a graph, each with its smaller variable first, in order."""
    masks = as_adjacency(adjacency)
    return [(v, w) for v, mask in enumerate(masks) for w in members(mask >> v << v)]


def as_adjacency(adjacency: AdjacencyLike) -> Adjacency:
    """Return the masks as integers, or refuse what is no undirected graph without loops.

    Examples
    --------
    >>> as_adjacency(np.array([2, 1], dtype=np.uint64))
    (2, 1)
    """
    masks = tuple(int(mask) for mask in adjacency)
    problems: list[Problem] = []
    for v, mask in enumerate(masks):
        if mask < 0 or mask >> len(masks):
            found = "its mask names variables that there are not."
            problems.append(Problem(Reason.MALFORMED, f"variable {v}", found))
            continue
        found = "it is joined to itself." if mask >> v & 1 else ""
        one_sided = [w for w in members(mask) if not masks[w] >> v & 1]
        if one_sided:
            found = f"it is joined to {one_sided[0]}, and {one_sided[0]} not to it."
        if found:
            problems.append(Problem(Reason.MALFORMED, f"variable {v}", found))
    if problems:
        raise InputError(
            Reason.MALFORMED,
            f"An undirected graph of {count_of(len(masks), 'variable')} was asked for.",
            f"Variables whose mask does not fit: {len(problems)}.",
            "Set bit w of mask v and bit v of mask w for each edge, and no other bit.",
            problems=problems,
        )
    return masks


def is_complete(masks: Sequence[int], variables: int) -> bool:
    """Tell whether every two variables of a set are joined."""
    return all(variables & ~masks[v] == 1 << v for v in members(variables))


def reached_from(masks: Sequence[int], v: int, *, within: int) -> int:
    """Return the set of variables that paths through the set `within` reach from v, v included.

    Examples
    --------
    >>> bin(reached_from([0b0010, 0b0101, 0b1010, 0b0100], 0, within=0b1011))
    '0b11'
    """
    reached = fresh = 1 << v
    while fresh:
        beside = 0
        for u in members(fresh):
            beside |= masks[u]
        fresh = beside & within & ~reached
        reached |= fresh
    return reached


def as_variables(n_variables: int, *variables: int) -> tuple[int, ...]:
    """Return variables as integers, or refuse those that there are not and one named twice.

    Examples
    --------
    >>> as_variables(3, 0, np.int64(2))
    (0, 2)
    """
    outside = [v for v in variables if not 0 <= v < n_variables]
    if outside or len(set(variables)) < len(variables):
        found = f"There is no variable {outside[0]}." if outside else "They are one variable."
        raise InputError(
            Reason.BAD_OPTION,
            f"The variables {', '.join(map(str, variables))} of a graph were asked for.",
            found,
            f"Name different variables of 0 to {n_variables - 1}.",
        )
    # Shifting by an integer of numpy would overflow in silence.
    return tuple(int(v) for v in variables)


def as_ordering(n_variables: int, ordering: Iterable[int]) -> tuple[int, ...]:
    """Return an ordering as integers, or refuse one without each variable exactly once.

    Examples
    --------
    >>> as_ordering(3, np.array([2, 0, 1]))
    (2, 0, 1)
    """
    ordering = tuple(int(v) for v in ordering)
    if sorted(ordering) != list(range(n_variables)):
        missing = n_variables - len(set(ordering) & set(range(n_variables)))
        raise InputError(
            Reason.BAD_OPTION,
            f"An elimination ordering of {count_of(n_variables, 'variable')} was asked for.",
            f"It has {count_of(len(ordering), 'entry', 'entries')}; {missing} of the variables"
            " are not among them.",
            "Name every variable exactly once.",
        )
    return ordering


def moral_graph(n_variables: int, arrows: Iterable[Sequence[int]]) -> Adjacency:
    """Return the Markov graph of a Bayesian network: parents joined, directions dropped.

    Arrows are pairs of a parent and its child, without a directed cycle.

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


def is_decomposable(adjacency: AdjacencyLike) -> bool:
    """Tell whether every cycle of more than three variables has a chord."""
    return perfect_ordering(adjacency) is not None


def chordless_cycle(adjacency: AdjacencyLike) -> tuple[int, ...]:
    """Return a cycle of more than three variables without a chord; empty if there is none.

    Examples
    --------
    >>> chordless_cycle([0b1010, 0b0101, 0b1010, 0b0101])
    (0, 1, 2, 3)
    """
    masks = as_adjacency(adjacency)
    everything = (1 << len(masks)) - 1
    for v, beside in enumerate(masks):
        for u, w in pairs_within(beside):
            if not masks[u] >> w & 1:
                # A shortest path from u to w that avoids v and its other neighbours has no
                # chord, and neither has the cycle that it makes with v.
                around = _shortest_path(masks, u, w, everything & ~(beside | 1 << v) | 1 << w)
                if around:
                    return (v, *around)
    return ()


def require_decomposable(adjacency: AdjacencyLike, asked: str) -> tuple[Adjacency, tuple[int, ...]]:
    """Return the masks and a perfect ordering, or refuse a graph that is not decomposable.

    Examples
    --------
    >>> require_decomposable([0b10, 0b01], "The cliques of a graph were asked for.")
    ((2, 1), (1, 0))
    """
    masks = as_adjacency(adjacency)
    ordering = perfect_ordering(masks)
    if ordering is None:
        cycle = ", ".join(map(str, chordless_cycle(masks)))
        raise InputError(
            Reason.MALFORMED,
            asked,
            f"The graph is not decomposable: the cycle {cycle} has no chord.",
            "Add the fill-in of an elimination ordering first.",
        )
    return masks, ordering


def maximal_cliques(adjacency: AdjacencyLike) -> list[int]:
    """Return the maximal cliques of a decomposable graph as masks, in the order of their members."""
    return sorted(_cliques_and_separators(adjacency)[0], key=lambda c: tuple(members(c)))


def separators(adjacency: AdjacencyLike) -> list[int]:
    """Return the separators of a decomposable graph as masks, each as often as it occurs.

    They are the intersections of neighbours in a junction tree, and the same for each tree. With
    c components there are c - 1 empty separators, which come first, so that there is always one
    separator fewer than there are maximal cliques.

    Examples
    --------
    >>> [list(members(separator)) for separator in separators([0b010, 0b101, 0b010, 0])]
    [[], [1]]
    """
    return sorted(_cliques_and_separators(adjacency)[1], key=lambda s: (s.bit_count(), *members(s)))


def decomposable_graphs(n_variables: int, *, most_variables: int = 6) -> Iterator[Adjacency]:
    """Yield every decomposable graph of some variables, each once.

    There are 1, 1, 2, 8, 61, 822, 18154 of 0 to 6 variables; of 7 there are 617675 already, and of
    8 more than thirty million.

    Examples
    --------
    >>> sum(1 for _ in decomposable_graphs(4))
    61
    """
    if n_variables < 0:
        raise InputError(
            Reason.BAD_OPTION,
            f"All decomposable graphs of {n_variables} variables were asked for.",
            "A number of variables cannot be negative.",
            "Give 0 or more.",
        )
    if n_variables > most_variables:
        raise LimitError(
            Reason.TOO_LARGE,
            f"All decomposable graphs of {count_of(n_variables, 'variable')} were asked for.",
            f"The limit is {most_variables}; of 7 variables there are 617,675.",
            "Take fewer variables, or raise most_variables.",
        )
    return _extended(n_variables)


def _extended(n_variables: int) -> Iterator[Adjacency]:
    """Yield graphs by giving the last variable each possible set of neighbours.

    Graphs that are induced by a decomposable one are decomposable, so nothing is missed.
    """
    if not n_variables:
        yield ()
        return
    last = n_variables - 1
    for smaller in _extended(last):
        for beside in range(1 << last):
            larger = (*(m | (beside >> v & 1) << last for v, m in enumerate(smaller)), beside)
            if perfect_ordering(larger) is not None:
                yield larger


def _cliques_and_separators(adjacency: AdjacencyLike) -> tuple[list[int], list[int]]:
    """Return both as one running product: every clique of the elimination over its separator.

    A clique that is not maximal equals the separator of a clique that was eliminated before it,
    and the two cancel.
    """
    masks, ordering = require_decomposable(adjacency, "The cliques of a graph were asked for.")
    eliminated = eliminate(masks, ordering)
    cliques: list[int] = []
    cut: list[int] = []
    for v in ordering:
        clique = eliminated[v]
        if clique in cut:
            cut.remove(clique)
        else:
            cliques.append(clique)
        cut.append(clique ^ 1 << v)
    # The last variable of each component leaves an empty set, one more than there are separators.
    return cliques, [separator for separator in cut if separator] + [0] * (cut.count(0) - 1)


def _shortest_path(masks: Sequence[int], start: int, end: int, within: int) -> tuple[int, ...]:
    before = {start: start}
    fresh = [start]
    while fresh and end not in before:
        following: list[int] = []
        for u in fresh:
            for w in members(masks[u] & within):
                if w not in before:
                    before[w] = u
                    following.append(w)
        fresh = following
    if end not in before:
        return ()
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return tuple(reversed(path))
