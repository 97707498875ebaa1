"""Shortest paths of a dense assignment: to link rows, and to tell what changing each link costs.

A search from a free row is Dijkstra's on reduced costs, to the nearest free column, over short
lists. It reads the list of a row it reached piece by piece: the key of the next piece, or in the
end the floor of the row, waits in a heap beside the columns. So what is found is exact whatever the
lists hold. Where lists do not help, as when all rows want the same columns, a search that has cost
more than one without lists is done again without, and so are some of those that follow. A search
without lists reads each row it reaches once, and its work is done on whole vectors.

Rows are the smaller side, all of them linked in an optimum. A link is changed along a shortest
alternating cycle through it on reduced costs; the cycle may take up one free column and free
another. Links that some optimum lacks are those on cycles of pairs without reduced cost: the
strongly connected parts of a graph of rows (Tarjan), found at the cost of one reading of the
matrix.

The kernels are compiled for the type of the costs, read them in place, and let go of the
interpreter. Memory is linear beside the costs.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gamekeeper.algorithms.assignment.start_kernels import fill_row, two_best
from gamekeeper.algorithms.compiling import inner, kernel

LINK, LINK_HARD, FORBID = range(3)

_BLOCK = 64
_PIECE = 16
# Costs as measured, in those of reading one column by vector: per column for filling a list and
# for relaxing a row one by one, per entry of a list, and per column for a step without lists.
_FILL, _ALL, _ENTRY, _STEP = 6, 8, 16, 3
# Where searches go far, the heaps of lists grow and entries cost more, by this factor.
_HARD = 2.5
_FREE_ROWS = 16
_LONGEST_PAUSE = 256
# What a search reads next: the next piece of a row's list, the whole row, or the columns that may
# be freed.
_LIST, _ROW, _FREED = range(3)


class Search(NamedTuple):
    """Where one search has been: reusable, and linear in rows and columns."""

    heap: np.ndarray
    heap_keys: np.ndarray
    places: np.ndarray
    distance: np.ndarray
    before: np.ndarray
    touched: np.ndarray
    done: np.ndarray
    reached_at: np.ndarray
    own: np.ndarray
    position: np.ndarray
    lanes: np.ndarray
    n_open: np.ndarray
    still: np.ndarray


def empty_search(n_rows: int, n_columns: int) -> Search:
    """Return the working arrays of searches."""
    return Search(
        np.empty(n_rows + n_columns, np.int32),
        np.empty(n_rows + n_columns, np.float64),
        np.full(n_rows + n_columns, -1, np.int32),
        np.full(n_columns, np.inf),
        np.zeros(n_columns, np.int64),
        np.empty(n_columns, np.int64),
        np.empty(n_columns, np.int64),
        np.empty(n_rows, np.float64),
        np.empty(n_rows, np.float64),
        np.zeros(n_rows, np.int64),
        np.empty(_BLOCK, np.float64),
        np.empty(-(-n_columns // _BLOCK), np.int64),
        np.empty(n_columns, np.float64),
    )


@inner
def _push(heap, keys, places, size, node, key):
    """Put a node in the heap, or raise it to a smaller key; return the size of the heap."""
    place = np.int64(places[node])
    if place < 0:
        place = size
        size += 1
    while place > 0:
        above = (place - 1) >> 2
        if keys[above] <= key:
            break
        heap[place] = heap[above]
        keys[place] = keys[above]
        places[heap[place]] = place
        place = above
    heap[place] = node
    keys[place] = key
    places[node] = place
    return size


@inner
def _pop(heap, keys, places, size):
    """Take the first node out of the heap; return the size of the heap."""
    places[heap[0]] = -1
    size -= 1
    if size == 0:
        return size
    node, key = heap[size], keys[size]
    place = 0
    while True:
        child = 4 * place + 1
        if child >= size:
            break
        least = child
        for other in range(child + 1, child + 4):
            if other < size and keys[other] < keys[least]:
                least = other
        if keys[least] >= key:
            break
        heap[place] = heap[least]
        keys[place] = keys[least]
        places[heap[place]] = place
        place = least
    heap[place] = node
    keys[place] = key
    places[node] = place
    return size


@inner
def _search_lists(costs, v, row_of, lists, s, source, own, target, free_level, step_work):
    """Search from a row; return the column where the path ends, its distance, counts, and work.

    A path ends at a free column. With a column `target` it ends there, the link of the source to
    it is not used, and a free column leads on to any column that may be freed in its place, by
    the potential of free columns less its own. The two counts are of columns done and touched;
    the first is -1 where the search was given up since it took more work than one without lists,
    of so much for each step. The caller clears `distance` of what was touched.
    """
    n_columns = costs.shape[1]
    size, n_touched, n_done = np.int64(0), 0, 0
    best, j_best = np.inf, -1
    row, now, work = source, 0.0, 0
    s.own[row], s.reached_at[row], s.position[row] = own, 0.0, 0
    reads, skip_below, has_freed = _LIST, -np.inf, False
    while True:
        base = now if reads == _FREED else s.reached_at[row] - s.own[row]
        first, last = 0, n_columns
        if reads == _LIST:
            first = s.position[row]
            last = 2 * first if 2 * first > _PIECE else _PIECE
            last = lists.sizes[row] if lists.sizes[row] < last else last
        place = first
        is_over = False
        while place < last:
            j = place
            if reads == _LIST:
                if base + lists.keys[row, place] >= best:
                    is_over = True
                    break
                if lists.keys[row, place] < skip_below:
                    place += 1
                    continue
                j = np.int64(lists.columns[row, place])
                key = lists.costs[row, place] - v[j]
            elif reads == _ROW:
                key = np.float64(costs[row, j]) - v[j]
            else:
                key = free_level - v[j] if free_level > v[j] else 0.0
            place += 1
            if (j == target and row == source) or (reads == _FREED and row_of[j] < 0):
                continue
            # Rounding must not reach back before what is done.
            reached = base + key if base + key > now else now
            if reached >= best or reached >= s.distance[j]:
                continue
            if s.distance[j] == np.inf:
                s.touched[n_touched] = j
                n_touched += 1
            s.distance[j] = reached
            s.before[j] = row
            if j == target if target >= 0 else row_of[j] < 0:
                best, j_best = reached, j
            else:
                size = _push(s.heap, s.heap_keys, s.places, size, j, reached)
        if reads == _ROW:
            work += _ALL * n_columns
        elif reads == _LIST:
            work += _ENTRY * (place - first + 1)
            if not is_over:
                s.position[row] = last
                floor = lists.floors[row] if last == lists.sizes[row] else lists.keys[row, last]
                reached = base + floor if base + floor > now else now
                if reached < best:
                    size = _push(s.heap, s.heap_keys, s.places, size, n_columns + row, reached)
        reads, node = -1, -1
        while reads < 0 and size > 0 and s.heap_keys[0] < best:
            node, now = np.int64(s.heap[0]), s.heap_keys[0]
            size = _pop(s.heap, s.heap_keys, s.places, size)
            if node >= n_columns or row_of[node] >= 0:
                reads, skip_below = _LIST, -np.inf
            elif not has_freed:
                reads, row, has_freed = _FREED, -1, True
        if reads < 0:
            break
        if reads == _FREED:
            continue
        if node < n_columns:
            s.done[n_done] = node
            n_done += 1
            row = row_of[node]
            s.own[row] = np.float64(costs[row, node]) - v[node]
            s.reached_at[row] = now
            s.position[row] = 0
        else:
            row = node - n_columns
            if s.position[row] >= lists.sizes[row]:
                floor = lists.floors[row]
                fill_row(costs, v, row, lists)
                work += _FILL * n_columns
                s.position[row] = 0
                # What lies below the old floor was in the old list.
                skip_below = floor
                # A floor that does not rise, as with many equal costs, asks for the whole row.
                reads = _ROW if lists.floors[row] <= floor else _LIST
        if work > step_work * (n_done + _FREE_ROWS):
            n_done = -1
            break
    for k in range(size):
        s.places[s.heap[k]] = -1
    return j_best, best, n_done, n_touched, work


@inner
def _relax_row(row_costs, still, distance, before, lanes, n_open, row, base, now):
    """Relax all columns of a row; return the least distance of columns that are not done."""
    lanes[:] = np.inf
    for block in range(len(n_open)):
        if n_open[block] == 0:
            continue
        start, end = block * _BLOCK, (block + 1) * _BLOCK
        row_part, still_part = row_costs[start:end], still[start:end]
        distance_part, before_part = distance[start:end], before[start:end]
        for lane in range(len(row_part)):
            reached = base + (np.float64(row_part[lane]) - still_part[lane])
            reached = reached if reached > now else now
            less = reached < distance_part[lane]
            reached = reached if less else distance_part[lane]
            distance_part[lane] = reached
            before_part[lane] = row if less else before_part[lane]
            lanes[lane] = reached if reached < lanes[lane] else lanes[lane]
    least = np.inf
    for lane in range(len(lanes)):
        least = lanes[lane] if lanes[lane] < least else least
    return least


@inner
def _nearest(distance, row_of, lanes, least):
    """Return a column at the least distance, a free one if there is one.

    Only columns at those places within a block are looked at where the least was found.
    """
    found = -1
    for lane in range(len(lanes)):
        if lanes[lane] == least:
            for j in range(lane, len(distance), _BLOCK):
                if distance[j] == least:
                    if row_of[j] < 0:
                        return j
                    found = j
    return found


@inner
def _search_all(costs, v, row_of, s, source, own):
    """Search from a row without lists; return as the other search does, but for the work.

    `still` holds the potentials of columns that are not done; the others are out of reach.
    Distances of columns that are done wait in the place of the keys of the heap.
    """
    for j in range(len(v)):
        s.still[j] = v[j]
    s.n_open[:] = _BLOCK
    s.n_open[-1] = len(v) - _BLOCK * (len(s.n_open) - 1)
    row, now, base, n_done = source, 0.0, -own, 0
    j_best, best = -1, np.inf
    while True:
        now = _relax_row(
            costs[row], s.still, s.distance, s.before, s.lanes, s.n_open, row, base, now
        )
        if now == np.inf:
            break
        found = _nearest(s.distance, row_of, s.lanes, now)
        if row_of[found] < 0:
            j_best, best = found, now
            break
        s.done[n_done] = found
        s.heap_keys[n_done] = now
        n_done += 1
        s.distance[found] = np.inf
        s.still[found] = -np.inf
        s.n_open[found // _BLOCK] -= 1
        row = row_of[found]
        base = now - (np.float64(costs[row, found]) - v[found])
    s.distance[:] = np.inf
    for k in range(n_done):
        s.distance[s.done[k]] = s.heap_keys[k]
        s.touched[k] = s.done[k]
    return j_best, best, n_done, n_done


@kernel
def search_from(costs, v, column_of, row_of, rows, lists, s, purpose, free_level, lengths):
    """Search from some rows one by one, and fill in the lengths of the shortest paths.

    To link (LINK, or LINK_HARD, where lists are given up sooner) the path ends at a free column,
    and its links are exchanged; its length is infinite for rows that cannot be linked. To FORBID
    the link of a row, the path leads to its column by other ways, and nothing is changed: the
    length is what the least cost rises by. `free_level` is then the potential of free columns.
    Returns the work, in readings of one cost by vector.
    """
    n_columns = costs.shape[1]
    step_work = _STEP * n_columns / (_HARD if purpose == LINK_HARD else 1.0)
    step_work = np.inf if purpose == FORBID else step_work
    pause, pause_length, all_work = 0, 1, 0
    for k in range(len(rows)):
        source = rows[k]
        if purpose == FORBID:
            target = column_of[source]
            own = np.float64(costs[source, target]) - v[target]
        else:
            target = -1
            own, _, _, _ = two_best(v, source, lists)
            if own > lists.floors[source]:
                fill_row(costs, v, source, lists)
                own, _, _, _ = two_best(v, source, lists)
        lengths[k] = np.inf
        if own == np.inf:
            continue
        is_dense = pause > 0
        j_best, best, n_done, n_touched = -1, np.inf, 0, 0
        if is_dense:
            pause -= 1
        else:
            j_best, best, n_done, n_touched, work = _search_lists(
                costs, v, row_of, lists, s, source, own, np.int64(target), free_level, step_work
            )
            all_work += work
            if n_done < 0:
                for place in range(n_touched):
                    s.distance[s.touched[place]] = np.inf
                pause = pause_length
                pause_length = (
                    4 * pause_length if 4 * pause_length < _LONGEST_PAUSE else _LONGEST_PAUSE
                )
                is_dense = True
            elif pause_length > 1:
                pause_length //= 2
        if is_dense:
            j_best, best, n_done, n_touched = _search_all(costs, v, row_of, s, source, own)
            all_work += _STEP * n_columns * (n_done + 1)
        lengths[k] = best
        if j_best >= 0 and purpose != FORBID:
            for place in range(n_done):
                j = s.done[place]
                v[j] -= best - s.distance[j]
            j = j_best
            while True:
                row = s.before[j]
                row_of[j] = row
                j, column_of[row] = column_of[row], j
                if row == source:
                    break
        for place in range(n_touched):
            s.distance[s.touched[place]] = np.inf
    return all_work


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
