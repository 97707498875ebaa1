"""Partners within a window of ranks, compiled: those that are free are counted in a tree."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel


@inner
def _remove(tree, place):
    """Count one less at a place (from 0) of a tree of sums (Fenwick's)."""
    at = place + 1
    while at < len(tree):
        tree[at] -= 1
        at += at & -at


@inner
def _counted(tree, place):
    """Return how many are free up to a place."""
    total, at = np.int64(0), place + 1
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@inner
def _at_number(tree, top, number):
    """Return the place of the free one with a number, counted from 0."""
    at, step = np.int64(0), top
    while step > 0:
        if at + step < len(tree) and tree[at + step] <= number:
            at += step
            number -= tree[at]
        step >>= 1
    return at


@kernel
def partners(draws, limit):
    """Return for every rank the rank that it changes places with; its own where none is free.

    From the lowest rank on, one that is free takes one of the free ranks up to `limit` above it, each
    with the same chance, by its draw.
    """
    n = len(draws)
    partner = np.arange(n)
    taken = np.zeros(n, np.bool_)
    tree = np.empty(n + 1, np.int64)
    for at in range(n + 1):
        tree[at] = at & -at
    top = np.int64(1)
    while 2 * top <= n:
        top *= 2
    for rank in range(n):
        if taken[rank]:
            continue
        _remove(tree, rank)
        # Every rank below has been decided, so all that are free lie above.
        n_free = _counted(tree, min(rank + limit, n - 1))
        if n_free == 0:
            continue
        other = _at_number(tree, top, min(np.int64(draws[rank] * n_free), n_free - 1))
        partner[rank], partner[other] = other, rank
        taken[other] = True
        _remove(tree, other)
    return partner
