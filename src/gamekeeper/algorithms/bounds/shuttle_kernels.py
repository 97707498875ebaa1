"""Tightening the bounds of the nodes of a shuttle, retracting, and searching for tables.

A node is a product of non-empty sets of categories, one per axis. Sets are bit masks from 1 to
2^k - 1, and the number of a node has these masks, less one, as its digits. So every part of a
node has a smaller number than the node, and dependencies need not be stored: those of a node are
enumerated from its digits. Whatever changes is logged once per level with its old bounds, so that
a level is retracted at the cost of what it changed. The kernels are compiled, and let go of the
interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED

Integers = NDArray[np.int64]

_NO_LIMIT = UNBOUNDED
_HEAD, _WAITING, N_TRAIL, _LEVEL, N_CHANGES, N_DECISIONS = range(6)
"""Places of the numbers in `NodeWork.numbers`."""

FOUND, NONE, STOPPED = 0, 1, 2
"""How a search ended: with a table, without one, or before it knew."""


class NodeWork(NamedTuple):
    """The bounds of all nodes, and what is needed to change them and to go back."""

    sizes: Integers  # nodes per axis
    strides: Integers
    masks: NDArray[np.int32]  # the set of categories of each node and axis
    lower: Integers
    upper: Integers
    queue: Integers  # a ring of nodes whose dependencies are to be visited
    is_waiting: NDArray[np.bool_]
    logged: Integers  # the level in which a node was last logged
    trail: Integers  # node, lower, upper
    numbers: Integers
    decisions: Integers  # cell, trail, and the other way: node, value, 1 for an upper bound


def new_work(sizes: Integers, n_cells: int) -> NodeWork:
    """Return the work on nodes without bounds."""
    n_nodes = int(np.prod(sizes))
    strides = np.ones(len(sizes), np.int64)
    strides[:-1] = np.cumprod(sizes[:0:-1])[::-1]
    # Divisions at every visit would cost more than the visit.
    masks = (np.arange(n_nodes)[:, None] // strides % sizes + 1).astype(np.int32)
    numbers = np.zeros(6, np.int64)
    return NodeWork(
        sizes,
        strides,
        masks,
        np.zeros(n_nodes, np.int64),
        np.full(n_nodes, UNBOUNDED, np.int64),
        np.empty(n_nodes, np.int64),
        np.zeros(n_nodes, np.bool_),
        np.full(n_nodes, -1, np.int64),
        np.empty((n_nodes, 3), np.int64),
        numbers,
        np.empty((n_cells, 4), np.int64),
    )


def more_trail(work: NodeWork) -> NodeWork:
    """Return the work with more room for what can be retracted."""
    return work._replace(
        trail=np.concatenate([work.trail, np.empty_like(work.trail)]),
        decisions=np.concatenate([work.decisions, np.empty_like(work.decisions)]),
    )


@numba.njit(cache=True, nogil=True)
def _tighten(
    sizes, strides, masks, lower, upper, queue, is_waiting, logged, trail, numbers,
    ceiling, is_sweep, is_descending, first, last,
):  # fmt: skip
    """Visit the dependencies of nodes and tighten; return a failed node, or -1.

    A sweep visits the splits of some nodes; else all dependencies of waiting nodes are visited
    until no node is waiting. All is in one function: handing ten arrays to another costs several
    times a visit.
    """
    n_nodes = len(lower)
    while True:
        if is_sweep:
            if first == last:
                return -1
            node = n_nodes - 1 - first if is_descending else first
            first += 1
        else:
            if numbers[_WAITING] == 0:
                return -1
            head = numbers[_HEAD]
            node = queue[head]
            numbers[_HEAD] = head + 1 if head + 1 < n_nodes else 0
            numbers[_WAITING] -= 1
            is_waiting[node] = False
        for axis in range(len(sizes)):
            stride, mask = strides[axis], np.int64(masks[node, axis])
            for is_child in range(1 if is_sweep else 2):
                # The splits of the node, each once by the part without its lowest category; then
                # the nodes that it can be joined with.
                whole = sizes[axis] ^ mask if is_child else mask & (mask - 1)
                part = whole
                while part > 0:
                    if is_child:
                        parent, a, b = node + part * stride, node, node + (part - mask) * stride
                    else:
                        parent, a, b = node, node - part * stride, node - (mask - part) * stride
                    part = (part - 1) & whole
                    low_a, high_a, low_b, high_b = lower[a], upper[a], lower[b], upper[b]
                    # Sums and differences with an unbounded side tighten nothing by themselves,
                    # except where the parent's is taken from.
                    low = max(lower[parent], low_a + low_b)
                    high = min(upper[parent], high_a + high_b)
                    low_a, low_b = max(low_a, low - high_b), max(low_b, low - high_a)
                    if high < _NO_LIMIT:
                        high_a, high_b = min(high_a, high - low_b), min(high_b, high - low_a)
                    for which in range(3):
                        if which == 0:
                            at, new_low, new_high = parent, low, high
                        elif which == 1:
                            at, new_low, new_high = a, low_a, high_a
                        else:
                            at, new_low, new_high = b, low_b, high_b
                        if new_low == lower[at] and new_high == upper[at]:
                            continue
                        numbers[N_CHANGES] += (new_low != lower[at]) + (new_high != upper[at])
                        if logged[at] != numbers[_LEVEL]:
                            logged[at] = numbers[_LEVEL]
                            trail[numbers[N_TRAIL], 0] = at
                            trail[numbers[N_TRAIL], 1] = lower[at]
                            trail[numbers[N_TRAIL], 2] = upper[at]
                            numbers[N_TRAIL] += 1
                        if not is_sweep and not is_waiting[at]:
                            is_waiting[at] = True
                            place = numbers[_HEAD] + numbers[_WAITING]
                            queue[place if place < n_nodes else place - n_nodes] = at
                            numbers[_WAITING] += 1
                        lower[at], upper[at] = new_low, new_high
                        if new_low > new_high or new_low > ceiling:
                            return at


@numba.njit(cache=True, nogil=True)
def sweep_nodes(work, ceiling, is_descending, first, last):
    """Visit all dependencies of some parents; return whether no bounds contradict each other.

    If descending, parents are counted from the last node. What was tightened before a contradiction
    stays.
    """
    failed = _tighten(
        work.sizes, work.strides, work.masks, work.lower, work.upper,
        work.queue, work.is_waiting, work.logged, work.trail, work.numbers,
        ceiling, True, is_descending, first, last,
    )  # fmt: skip
    forget_trail(work)
    return failed < 0


@numba.njit(cache=True, nogil=True)
def bound_node(work, node, value, is_upper, ceiling):
    """Begin a level, bound a node and propagate; return whether nothing contradicts.

    The trail needs room for every node. After a contradiction the caller retracts.
    """
    numbers, lower, upper = work.numbers, work.lower, work.upper
    numbers[_LEVEL] += 1
    if value >= upper[node] if is_upper else value <= lower[node]:
        return True
    place = numbers[N_TRAIL]
    work.trail[place, 0], work.trail[place, 1] = node, lower[node]
    work.trail[place, 2] = upper[node]
    work.logged[node] = numbers[_LEVEL]
    numbers[N_TRAIL] += 1
    numbers[N_CHANGES] += 1
    if is_upper:
        upper[node] = value
    else:
        lower[node] = value
    if lower[node] > upper[node]:
        return False
    work.queue[0], work.is_waiting[node] = node, True
    numbers[_HEAD], numbers[_WAITING] = 0, 1
    failed = _tighten(
        work.sizes, work.strides, work.masks, lower, upper,
        work.queue, work.is_waiting, work.logged, work.trail, numbers,
        ceiling, False, False, 0, 0,
    )  # fmt: skip
    for k in range(numbers[_WAITING]):
        work.is_waiting[work.queue[(numbers[_HEAD] + k) % len(work.queue)]] = False
    numbers[_WAITING] = 0
    return failed < 0


@numba.njit(cache=True, nogil=True)
def retract(work, to):
    """Take back all changes since the trail had the length `to`."""
    for k in range(work.numbers[N_TRAIL] - 1, to - 1, -1):
        node = work.trail[k, 0]
        work.lower[node] = work.trail[k, 1]
        work.upper[node] = work.trail[k, 2]
    work.numbers[N_TRAIL] = to
    # What was logged in the level before must be logged again.
    work.numbers[_LEVEL] += 1


@numba.njit(cache=True, nogil=True)
def forget_trail(work):
    """Keep all changes for good."""
    work.numbers[N_TRAIL] = 0
    work.numbers[_LEVEL] += 1


@numba.njit(cache=True, nogil=True)
def _open_cell(work, cells):
    """Return the number of the cell with fewest values left of those with several, or -1."""
    best, fewest = -1, _NO_LIMIT + 1
    for number in range(len(cells)):
        width = work.upper[cells[number]] - work.lower[cells[number]]
        if 0 < width < fewest:
            best, fewest = number, width
    return best


@numba.njit(cache=True, nogil=True)
def search_tables(work, cells, guide, ceiling, max_steps, max_failures):
    """Search on for a table within the bounds; return how it ended, the steps and the failures.

    A step bounds a cell towards its value in `guide` and propagates; after a contradiction it is
    retracted and the other side is taken. A search that stopped goes on when it is called again; it
    stops after `max_steps` or `max_failures`, steps that were retracted, and where more room is
    needed. When a table is found, the bounds of all cells are equal to it. Cells must have upper
    bounds.
    """
    numbers, decisions = work.numbers, work.decisions
    steps = failures = 0
    while True:
        cell = _open_cell(work, cells)
        if cell < 0:
            return FOUND, steps, failures
        depth = numbers[N_DECISIONS]
        if (
            steps >= max_steps
            or failures >= max_failures
            or depth == len(decisions)
            or numbers[N_TRAIL] + len(work.lower) > len(work.trail)
        ):
            return STOPPED, steps, failures
        steps += 1
        node = cells[cell]
        aim = min(max(guide[cell], work.lower[node]), work.upper[node])
        is_upper = aim == work.lower[node]
        decisions[depth, 0] = numbers[N_TRAIL]
        decisions[depth, 1] = node
        decisions[depth, 2] = aim + 1 if is_upper else aim - 1
        decisions[depth, 3] = 0 if is_upper else 1
        numbers[N_DECISIONS] = depth + 1
        if bound_node(work, node, aim, is_upper, ceiling):
            continue
        while True:
            if numbers[N_DECISIONS] == 0:
                return NONE, steps, failures
            numbers[N_DECISIONS] -= 1
            depth = numbers[N_DECISIONS]
            retract(work, decisions[depth, 0])
            # The other side holds until the decision before is taken back: it joins that level.
            node, value, is_upper = decisions[depth, 1], decisions[depth, 2], decisions[depth, 3]
            steps += 1
            failures += 1
            if bound_node(work, node, value, is_upper == 1, ceiling):
                break
