"""One-to-one links of least cost on listed pairs, by shortest augmenting paths with a heap.

Each record of the first file is linked to a free record of the second or left unlinked at its own
price, whatever costs least with everything before it (Jonker and Volgenant 1987; the search is
Dijkstra's on reduced costs, kept to where it has been). Potentials stay feasible, so that they
prove the optimum. A search costs O(e log e) for the e pairs it meets: few while free records are
near, at worst all. Memory is linear in records. The kernels are compiled, and let go of the
interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

_FREE = -1
_SCANNED = -2
_NOWHERE = -1


@inner
def _up(heap, place, distance, k):
    column = heap[k]
    while k > 0:
        above = (k - 1) >> 1
        if distance[heap[above]] <= distance[column]:
            break
        heap[k] = heap[above]
        place[heap[k]] = k
        k = above
    heap[k] = column
    place[column] = k


@inner
def _down(heap, place, distance, size):
    column = heap[0]
    k = 0
    while True:
        below = 2 * k + 1
        if below >= size:
            break
        if below + 1 < size and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        if distance[heap[below]] >= distance[column]:
            break
        heap[k] = heap[below]
        place[heap[k]] = k
        k = below
    heap[k] = column
    place[column] = k


@kernel
def bid(queue, graph, potentials, links, most_bids, left):
    """Let rows bid for their nearest columns; return how many are left for `link_rows`, in `left`.

    A row takes its nearest column and lowers the column's potential until the second nearest is
    as good. Whoever had the column bids again. Columns keep their potentials until they are
    taken and stay taken, so that every link and potential could have come from `link_rows`.
    """
    starts, columns, costs, prices = graph
    u, v = potentials
    column_of, row_of = links
    n_left, head, waiting, n_bids = 0, 0, len(queue), 0
    while waiting > 0:
        row = queue[head]
        head = head + 1 if head + 1 < len(queue) else 0
        waiting -= 1
        first, second, nearest, cost = prices[row], np.inf, _NOWHERE, 0.0
        for k in range(starts[row], starts[row + 1]):
            reduced = costs[k] - v[columns[k]]
            if reduced < first:
                second, first = first, reduced
                nearest, cost = columns[k], costs[k]
            elif reduced < second:
                second = reduced
                if reduced == first and nearest != _NOWHERE and row_of[nearest] != _FREE:
                    nearest, cost = columns[k], costs[k]
        n_bids += 1
        u[row] = first
        if nearest == _NOWHERE:
            continue
        loser = row_of[nearest]
        if loser != _FREE and (second <= first or n_bids > most_bids):
            left[n_left] = row
            n_left += 1
            continue
        u[row] = second
        v[nearest] = min(cost - second, v[nearest])
        column_of[row] = nearest
        row_of[nearest] = row
        if loser != _FREE:
            column_of[loser] = -1
            tail = head + waiting
            queue[tail if tail < len(queue) else tail - len(queue)] = loser
            waiting += 1
    return n_left


@kernel
def link_rows(rows, graph, potentials, links, room):
    """Link some rows, each by one search.

    The graph is starts, columns and costs of the pairs and the prices of rows; the potentials are
    those of rows and columns; the links are the column of each row and the row of each column, -1
    for none. The room to work in has six places per column: distance, row before, place in the
    heap (all -1), heap, scanned and met columns.
    """
    starts, columns, costs, prices = graph
    u, v = potentials
    column_of, row_of = links
    distance, before, place, heap, scanned, met = room
    for start in rows:
        # The nearest column, or to stay unlinked, decides most records without a search.
        least, nearest = prices[start], _NOWHERE
        for k in range(starts[start], starts[start + 1]):
            reduced = costs[k] - v[columns[k]]
            if reduced < least:
                least, nearest = reduced, columns[k]
        u[start] = least
        if nearest == _NOWHERE:
            continue
        if row_of[nearest] == _FREE:
            column_of[start] = nearest
            row_of[nearest] = start
            continue
        n_scanned, n_met, size = 0, 0, np.int64(0)
        row, so_far = start, 0.0
        best, end_column, end_row = np.inf, _NOWHERE, _NOWHERE
        while True:
            unlinked = so_far + max(prices[row] - u[row], 0.0)
            if unlinked < best:
                best, end_column, end_row = unlinked, _NOWHERE, row
            for k in range(starts[row], starts[row + 1]):
                column = columns[k]
                if place[column] == _SCANNED:
                    continue
                there = so_far + max(costs[k] - u[row] - v[column], 0.0)
                if there >= best:
                    continue
                if row_of[column] == _FREE:
                    best, end_column, end_row = there, column, row
                elif place[column] == _NOWHERE:
                    distance[column] = there
                    before[column] = row
                    met[n_met] = column
                    n_met += 1
                    heap[size] = column
                    size += 1
                    _up(heap, place, distance, size - 1)
                elif there < distance[column]:
                    distance[column] = there
                    before[column] = row
                    _up(heap, place, distance, np.int64(place[column]))
            if size == 0 or distance[heap[0]] >= best:
                break
            column = heap[0]
            size -= 1
            if size > 0:
                heap[0] = heap[size]
                _down(heap, place, distance, size)
            place[column] = _SCANNED
            scanned[n_scanned] = column
            n_scanned += 1
            row, so_far = row_of[column], distance[column]
        u[start] += best
        for k in range(n_scanned):
            rise = best - distance[scanned[k]]
            v[scanned[k]] -= rise
            u[row_of[scanned[k]]] += rise
        for k in range(n_met):
            place[met[k]] = _NOWHERE
        # The row at the end takes the free column, or nothing; the others move up one by one.
        column, row = end_column, end_row
        while True:
            passed = column_of[row]
            column_of[row] = column
            if column != _NOWHERE:
                row_of[column] = row
            if row == start:
                break
            column, row = passed, before[passed]


@kernel
def cost_ranges(starts, costs, row_part, least, most):
    """Lower and raise, for each component, the least and greatest finite cost of its pairs."""
    for row in range(len(row_part)):
        part = row_part[row]
        for k in range(starts[row], starts[row + 1]):
            if costs[k] < np.inf:
                least[part] = min(least[part], costs[k])
                most[part] = max(most[part], costs[k])


@kernel
def count_useful(graph, column_prices, row_part, counts):
    """Count for each component the pairs that cost less than leaving both records unlinked."""
    starts, columns, costs, prices = graph
    for row in range(len(row_part)):
        for k in range(starts[row], starts[row + 1]):
            if costs[k] < prices[row] + column_prices[columns[k]]:
                counts[row_part[row]] += 1


@kernel
def fill_dense(graph, column_prices, rows, place, savings, matrix):
    """Fill the matrix of a component; return the number of finite costs.

    It takes the costs, or what a link changes against leaving both unlinked, at most 0.
    """
    starts, columns, costs, prices = graph
    n_finite = 0
    for i in range(len(rows)):
        row = rows[i]
        for k in range(starts[row], starts[row + 1]):
            column, cost = columns[k], costs[k]
            n_finite += 1 if cost < np.inf else 0
            if savings:
                cost = min(cost - (prices[row] + column_prices[column]), 0.0)
            matrix[i, place[column]] = cost
    return n_finite


@kernel
def close_gap(graph, column_prices, potentials, links, link_costs):
    """Make row potentials feasible, fill the costs of links, and return how far the two are apart.

    The gap between the total and the sum of the potentials is added up link by link, so that
    large prices do not drown it in rounding.
    """
    starts, columns, costs, prices = graph
    u, v = potentials
    column_of, row_of = links
    gap = 0.0
    for row in range(len(u)):
        least, linked = prices[row], prices[row]
        for k in range(starts[row], starts[row + 1]):
            reduced = costs[k] - v[columns[k]]
            least = min(least, reduced)
            if columns[k] == column_of[row]:
                link_costs[row] = costs[k]
                linked = reduced
        u[row] = least
        gap += linked - least
    for column in range(len(v)):
        if row_of[column] == _FREE:
            gap += column_prices[column] - v[column]
    return gap


@kernel
def nearest_two(starts, columns, costs, nearest, first, second):
    """Fill for each row its nearest column (ties: the first listed) and its two least costs."""
    for row in range(len(starts) - 1):
        nearest[row] = -1
        first[row] = second[row] = np.inf
        for k in range(starts[row], starts[row + 1]):
            if costs[k] < first[row]:
                second[row] = first[row]
                first[row], nearest[row] = costs[k], columns[k]
            elif costs[k] < second[row]:
                second[row] = costs[k]
