"""Compiled questions to decomposable graphs: which edges may change, and which margins that takes.

A graph is one word of neighbours per variable. An edge (v, w) may be added exactly if the common
neighbours S of v and w separate them, and deleted exactly if S is complete; either way the log Bayes
factor is s(S+v+w) + s(S) - s(S+v) - s(S+w), with a minus sign for deletion, where s is the score of
a margin (Dawid and Lauritzen 1993, Giudici and Green 1999). Here are the margins; scores are made of
many at once.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles, and gives intrinsics another signature.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.bit_intrinsics import lowest_bit
from gamekeeper.algorithms.compiling import inner, kernel

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_AT_FIRST, _AT_SECOND = np.int64(0), np.int64(4)


@inner
def is_complete(graph, members):
    """Tell whether every two of some variables are joined."""
    rest = members
    while rest != _ZERO:
        u = lowest_bit(rest)
        bit = _ONE << u
        rest ^= bit
        if members & ~graph[u] != bit:
            return False
    return True


@inner
def is_legal(graph, v, w):
    """Tell whether the graph stays decomposable when an edge is added or deleted."""
    common = graph[v] & graph[w]
    target = _ONE << np.uint64(w)
    if graph[v] & target != _ZERO:
        return is_complete(graph, common)
    allowed = ~common & ~(_ONE << np.uint64(v))
    frontier = graph[v] & allowed
    while frontier != _ZERO:
        u = lowest_bit(frontier)
        allowed &= ~frontier
        frontier = (frontier & (frontier - _ONE)) | (graph[u] & allowed)
        if frontier & target != _ZERO:
            return False
    return True


@inner
def toggle(graph, v, w):
    """Add an edge, or delete it."""
    graph[v] ^= _ONE << np.uint64(w)
    graph[w] ^= _ONE << np.uint64(v)


@inner
def fill_margins(graph, v, w, masks, at):
    """Put the four margins of a change of an edge in place; return its sign."""
    common = graph[v] & graph[w]
    one, other = _ONE << np.uint64(v), _ONE << np.uint64(w)
    masks[at] = common | one | other
    masks[at + 1] = common
    masks[at + 2] = common | one
    masks[at + 3] = common | other
    return -1.0 if graph[v] & other != _ZERO else 1.0


@kernel
def list_changes(graph, double, edges, signs, masks):
    """List the legal changes of an edge v < w and, if asked, of two edges (v, w) and (v, u).

    A row of `edges` is v, w, u, with u = -1 for one edge; the masks of its margins come four for
    each edge. Returns how many there are.
    """
    m = len(graph)
    n = 0
    for v in range(m):
        for w in range(0 if double else v + 1, m):
            if w == v or not is_legal(graph, v, w):
                continue
            at = n
            sign = fill_margins(graph, v, w, masks[at], _AT_FIRST)
            if v < w:
                edges[n, 0], edges[n, 1], edges[n, 2] = v, w, -1
                signs[n, 0], signs[n, 1] = sign, 0.0
                n += 1
            if not double:
                continue
            toggle(graph, v, w)
            for u in range(m):
                if u != v and u != w and is_legal(graph, v, u):
                    edges[n, 0], edges[n, 1], edges[n, 2] = v, w, u
                    for k in range(4):
                        masks[n, k] = masks[at, k]
                    signs[n, 0], signs[n, 1] = sign, fill_margins(graph, v, u, masks[n], _AT_SECOND)
                    n += 1
            toggle(graph, v, w)
    return n


@kernel
def list_margins(graphs, weights, masks):
    """List the margins of graphs: those of cliques in even places, of separators in odd ones.

    Vertices are taken by maximum cardinality search (Tarjan and Yannakakis 1984). Returns the number
    of graphs before the first that is not decomposable.
    """
    n_graphs, m = graphs.shape
    for k in range(n_graphs):
        graph = graphs[k]
        taken = _ZERO
        for v in range(m):
            weights[v] = 0
        for step in range(m):
            best = -1
            for v in range(m):
                is_free = taken >> np.uint64(v) & _ONE == _ZERO
                if is_free and (best < 0 or weights[v] > weights[best]):
                    best = v
            before = graph[best] & taken
            if not is_complete(graph, before):
                return k
            taken |= _ONE << np.uint64(best)
            masks[k, 2 * step] = before | (_ONE << np.uint64(best))
            masks[k, 2 * step + 1] = before
            rest = graph[best] & ~taken
            while rest != _ZERO:
                weights[lowest_bit(rest)] += 1
                rest &= rest - _ONE
    return n_graphs
