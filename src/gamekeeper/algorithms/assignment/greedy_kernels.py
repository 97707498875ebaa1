"""Greedy links of a dense matrix of costs, compiled: cheapest pair first, or row by row.

The kernels read the costs in place, and let go of the interpreter. Beside the costs, memory is
linear. NaN must not be there.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numba
import numpy as np

from gamekeeper.algorithms.assignment.start_kernels import fill_row

__all__ = ["link_cheapest", "link_rows"]


@numba.njit(cache=True, nogil=True)
def link_rows(costs):
    """Link rows in their order to the cheapest free column, the first of equal ones."""
    n_rows, n_columns = costs.shape
    columns = np.full(n_rows, -1, np.int64)
    is_free = np.ones(n_columns, np.bool_)
    for i in range(n_rows):
        least, found = np.inf, -1
        for j in range(n_columns):
            if costs[i, j] < least and is_free[j]:
                least, found = np.float64(costs[i, j]), j
        if found >= 0:
            columns[i] = found
            is_free[found] = False
    return columns


@numba.njit(cache=True, nogil=True)
def _is_before(keys, a, b):
    return keys[a] < keys[b] or (keys[a] == keys[b] and a < b)


@numba.njit(cache=True, nogil=True)
def _sink(heap, size, keys, place):
    """Move a row down in a heap of rows by the cost of their candidates, then by their number."""
    row = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _is_before(keys, heap[child + 1], heap[child]):
            child += 1
        if not _is_before(keys, heap[child], row):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = row


@numba.njit(cache=True, nogil=True)
def _next_equal(row_costs, still, cost, first):
    """Return the first free column from some place on that costs so much, or -1."""
    for j in range(first, len(row_costs)):
        if row_costs[j] == cost and still[j] == 0.0:
            return j
    return -1


@numba.njit(cache=True, nogil=True)
def _next(costs, i, still, lists, place, candidate, keys):
    """Set the cheapest free column of a row, the first of equal ones; key infinite without one.

    Lists hold all columns below their floor. Columns at the floor are looked for in the row; while
    the candidate is one of them, only columns after it can follow at the same cost.
    """
    found = -1
    if candidate[i] >= 0 and keys[i] == lists.floors[i]:
        found = _next_equal(costs[i], still, keys[i], candidate[i] + 1)
        if found >= 0:
            candidate[i] = found
            return
        place[i] = lists.sizes[i]
    for attempt in range(2):
        while place[i] < lists.sizes[i]:
            cost = lists.costs[i, place[i]]
            if cost == lists.floors[i]:
                found = _next_equal(costs[i], still, cost, 0)
                if found >= 0:
                    candidate[i], keys[i] = found, cost
                    return
                place[i] = lists.sizes[i]
                break
            # Of equal costs the list has all columns, but in no order of theirs.
            best = -1
            last = place[i]
            while last < lists.sizes[i] and lists.costs[i, last] == cost:
                j = lists.columns[i, last]
                if still[j] == 0.0 and (best < 0 or j < best):
                    best = j
                last += 1
            if best >= 0:
                candidate[i], keys[i] = best, cost
                return
            place[i] = last
        if attempt == 0:
            fill_row(costs, still, i, lists)
            place[i] = 0
    candidate[i], keys[i] = -1, np.inf


@numba.njit(cache=True, nogil=True)
def link_cheapest(costs, lists):
    """Link the cheapest pair of which both are free, again and again; ties by row, then column.

    `still` is 0 for free columns, and minus infinity for others, which makes them infinitely dear.
    """
    n_rows, n_columns = costs.shape
    columns = np.full(n_rows, -1, np.int64)
    still = np.zeros(n_columns, np.float64)
    place = np.zeros(n_rows, np.int64)
    candidate = np.full(n_rows, -1, np.int64)
    keys = np.empty(n_rows, np.float64)
    heap = np.arange(n_rows)
    for i in range(n_rows):
        _next(costs, i, still, lists, place, candidate, keys)
    for k in range(n_rows // 2, -1, -1):
        _sink(heap, n_rows, keys, k)
    n_left = min(n_rows, n_columns)
    while n_left > 0 and keys[heap[0]] < np.inf:
        i = heap[0]
        j = candidate[i]
        if still[j] == 0.0:
            columns[i] = j
            still[j] = -np.inf
            keys[i] = np.inf
            n_left -= 1
        else:
            _next(costs, i, still, lists, place, candidate, keys)
        _sink(heap, n_rows, keys, 0)
    return columns
