"""Greedy links of a dense matrix of costs, compiled: cheapest pair first, or row by row.

The kernels read the costs in place, and let go of the interpreter. Beside the costs, memory is
linear. NaN must not be there.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.assignment.start_kernels import fill_row
from gamekeeper.algorithms.compiling import inner, kernel


@kernel
def link_rows(costs, is_free, columns):
    """Link rows in their order to the cheapest free column, the first of equal ones."""
    n_rows, n_columns = costs.shape
    for i in range(n_rows):
        least, found = np.inf, -1
        for j in range(n_columns):
            if costs[i, j] < least and is_free[j]:
                least, found = np.float64(costs[i, j]), j
        if found >= 0:
            columns[i] = found
            is_free[found] = False


@inner
def _sink(heap, keys, place):
    """Move a row down in a heap of rows by the cost of their candidates, then by their number."""
    row, size = heap[place], len(heap)
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        first = heap[child]
        if child + 1 < size:
            other = heap[child + 1]
            if keys[other] < keys[first] or (keys[other] == keys[first] and other < first):
                child, first = child + 1, other
        if keys[row] < keys[first] or (keys[row] == keys[first] and row < first):
            break
        heap[place] = first
        place = child
    heap[place] = row


@inner
def _next_equal(row_costs, still, cost, first):
    """Return the first free column from some place on that costs so much, or -1."""
    for j in range(first, len(row_costs)):
        if row_costs[j] == cost and still[j] == 0.0:
            return j
    return -1


@inner
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
                found = _next_equal(costs[i], still, cost, np.int64(0))
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


@kernel
def link_cheapest(costs, lists, still, place, candidate, keys, heap, columns):
    """Link the cheapest pair of which both are free, again and again; ties by row, then column.

    `still` is 0 for free columns, and minus infinity for others, which makes them infinitely dear.
    Of each row there are its place in the list, the candidate there, which is -1 at first, and the
    candidate's cost. The heap has all rows; columns are -1 at first.
    """
    n_rows, n_columns = costs.shape
    for i in range(n_rows):
        _next(costs, i, still, lists, place, candidate, keys)
    for k in range(n_rows // 2, -1, -1):
        _sink(heap, keys, k)
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
        _sink(heap, keys, np.int64(0))
