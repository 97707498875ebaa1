"""Which single edges of a decomposable graph can be added or deleted, by global search.

An edge (v, w) can be deleted if, and only if, it lies in exactly one maximal clique: the common
neighbours of v and w are all joined. It can be added if, and only if, the common neighbours separate
v and w. Dynamic junction trees and the compiled searches answer the same, locally.
"""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.algorithms.decomposable.graphs import (
    AdjacencyLike,
    as_adjacency,
    as_variables,
    edges_of,
    is_complete,
    pairs_within,
    reached_from,
    require_decomposable,
)


def can_add(adjacency: AdjacencyLike, v: int, w: int) -> bool:
    """Tell whether a decomposable graph lacks an edge and stays decomposable with it."""
    masks = as_adjacency(adjacency)
    return _can_add(masks, *as_variables(len(masks), v, w))


def can_delete(adjacency: AdjacencyLike, v: int, w: int) -> bool:
    """Tell whether a decomposable graph has an edge and stays decomposable without it."""
    masks = as_adjacency(adjacency)
    return _can_delete(masks, *as_variables(len(masks), v, w))


def legal_additions(adjacency: AdjacencyLike) -> list[tuple[int, int]]:
    """Return the edges that can be added to a decomposable graph one at a time."""
    masks, _ = require_decomposable(adjacency, "The legal additions of a graph were asked for.")
    everything = (1 << len(masks)) - 1
    return [(v, w) for v, w in pairs_within(everything) if _can_add(masks, v, w)]


def legal_deletions(adjacency: AdjacencyLike) -> list[tuple[int, int]]:
    """Return the edges that can be deleted from a decomposable graph one at a time."""
    masks, _ = require_decomposable(adjacency, "The legal deletions of a graph were asked for.")
    return [(v, w) for v, w in edges_of(masks) if _can_delete(masks, v, w)]


def _can_add(masks: Sequence[int], v: int, w: int) -> bool:
    if masks[v] >> w & 1:
        return False
    without_common = (1 << len(masks)) - 1 & ~(masks[v] & masks[w])
    return not reached_from(masks, v, within=without_common) >> w & 1


def _can_delete(masks: Sequence[int], v: int, w: int) -> bool:
    return bool(masks[v] >> w & 1) and is_complete(masks, masks[v] & masks[w])
