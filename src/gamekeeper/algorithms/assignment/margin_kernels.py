"""What changing each link of an optimal assignment costs, and which links can change for nothing.

Rows are the smaller side, all of them linked. A link is changed along a shortest alternating
cycle through it on reduced costs; the cycle may take up one free column and free another. Links
that some optimum lacks are those on cycles of pairs without reduced cost: the strongly connected
parts of a graph of rows (Tarjan), found at the cost of one reading of the matrix. The kernels let
go of the interpreter; memory is linear beside the costs.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import kernel


@kernel
def find_movable_rows(costs, v, column_of, row_of, free_level, tolerance, room, is_movable):
    """Tell of each row whether another optimum, within a tolerance, links it elsewhere.

    Node n_rows stands for all free columns: it is entered from rows that could take one, and left
    to rows whose column could be freed. The room has six lines with a place for each node.
    """
    n_rows, n_columns = costs.shape
    order, low, place, is_open, members, path = room[0], room[1], room[2], room[3], room[4], room[5]
    order[:] = -1
    place[:] = 0
    is_open[:] = 0
    n_seen, n_members = 0, 0
    for root in range(n_rows):
        if order[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth > 0:
            node = path[depth - 1]
            if order[node] < 0:
                order[node] = low[node] = n_seen
                n_seen += 1
                members[n_members] = node
                n_members += 1
                is_open[node] = 1
            is_left = True
            own = 0.0
            if node < n_rows:
                mine = column_of[node]
                own = np.float64(costs[node, mine]) - v[mine] + tolerance
            while place[node] < (n_columns if node < n_rows else n_rows):
                k = place[node]
                place[node] += 1
                if node < n_rows:
                    if k == column_of[node] or np.float64(costs[node, k]) - v[k] > own:
                        continue
                    following = row_of[k] if row_of[k] >= 0 else n_rows
                else:
                    if free_level - v[column_of[k]] > tolerance:
                        continue
                    following = k
                if order[following] < 0:
                    path[depth] = following
                    depth += 1
                    is_left = False
                    break
                if is_open[following] == 1:
                    low[node] = min(low[node], order[following])
            if not is_left:
                continue
            depth -= 1
            if depth > 0:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[node])
            if low[node] == order[node]:
                is_alone = members[n_members - 1] == node
                while True:
                    n_members -= 1
                    member = members[n_members]
                    is_open[member] = 0
                    is_movable[member] = not is_alone
                    if member == node:
                        break


@kernel
def find_two_least(costs, least):
    """Write the least and second least cost of each row; what is there stays where there is none."""
    for i in range(costs.shape[0]):
        first, second = least[i, 0], least[i, 1]
        for j in range(costs.shape[1]):
            cost = costs[i, j]
            if cost < second:
                if cost < first:
                    first, second = cost, first
                else:
                    second = cost
        least[i, 0], least[i, 1] = first, second
