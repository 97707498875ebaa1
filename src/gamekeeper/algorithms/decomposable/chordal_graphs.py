"""Decomposable graphs: cliques, separators, and all graphs of a few variables.

A graph is decomposable (chordal) if every cycle of more than three variables has a chord. Then
its maximal cliques can be made a junction tree, and the distribution of the variables is the
product of the margins of the cliques over the product of the margins of the separators. Which
single edges may change is a question to `dynamic_junction_tree`.

Smith's thesis, chapter 6; Frydenberg and Lauritzen, 1989; Giudici and Green, 1999.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gamekeeper.algorithms.decomposable.adjacency_masks import (
    Adjacency,
    AdjacencyLike,
    as_adjacency,
    members,
    pairs_within,
)
from gamekeeper.algorithms.decomposable.elimination import eliminate, perfect_ordering
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of


def is_decomposable(adjacency: AdjacencyLike) -> bool:
    """Tell whether every cycle of more than three variables has a chord.

    Examples
    --------
    >>> is_decomposable([0b0110, 0b0101, 0b0011, 0]), is_decomposable([10, 5, 10, 5])
    (True, False)
    """
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
    """Return the maximal cliques of a decomposable graph as masks, in the order of their members.

    Examples
    --------
    >>> [list(members(clique)) for clique in maximal_cliques([0b010, 0b101, 0b010])]
    [[0, 1], [1, 2]]
    """
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

    There are 1, 1, 2, 8, 61, 822, 18154 of 0 to 6 variables; of 7 there are 617675 already, and
    of 8 more than thirty million.

    Parameters
    ----------
    n_variables
        The number of variables.
    most_variables
        The limit on their number.

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
    """Return a shortest path whose variables after the start lie within a set; empty if none."""
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
