"""Undirected graphs of variables as adjacency masks: bit w of mask v says that v and w are joined.

A set of the variables 0 .. m-1 is an integer whose bit v stands for variable v, so that unions,
intersections and differences are single operations on integers. With up to 64 variables a mask
fits into an unsigned 64-bit integer; nothing here needs that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

Adjacency: TypeAlias = tuple[int, ...]
"""One mask of neighbours per variable."""

AdjacencyLike: TypeAlias = Sequence[int] | NDArray[np.uint64]


def members(mask: int) -> Iterator[int]:
    """Yield the variables of a set, the smallest first.

    Examples
    --------
    >>> list(members(0b10110))
    [1, 2, 4]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_of(variables: Iterable[int]) -> int:
    """Return a set of variables as a mask.

    Examples
    --------
    >>> bin(mask_of([1, 2, 4]))
    '0b10110'
    """
    mask = 0
    for variable in variables:
        mask |= 1 << int(variable)
    return mask


def pairs_within(mask: int) -> list[tuple[int, int]]:
    """Return every pair of variables of a set, in order.

    Examples
    --------
    >>> pairs_within(0b1101)
    [(0, 2), (0, 3), (2, 3)]
    """
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
    """Return the edges of a graph, each with its smaller variable first, in order.

    Examples
    --------
    >>> edges_of([0b010, 0b101, 0b010])
    [(0, 1), (1, 2)]
    """
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
    """Tell whether every two variables of a set are joined.

    Examples
    --------
    >>> is_complete([0b110, 0b101, 0b011, 0], 0b0111), is_complete([0, 0], 0b11)
    (True, False)
    """
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
