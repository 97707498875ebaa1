"""The start of a dense assignment: short lists of rows, minima, bids, auctions, and greedy links.

Rows are the smaller side. A row keeps the cheapest of its columns, sorted by key, the cost less the
potential of the column, and a floor below which none of its other columns lies. Potentials of
columns only ever fall, so keys and floors stay lower bounds, and a row is read again only where its
floor is not enough. Column minima and bids of free rows follow Jonker and Volgenant (1987), with a
limit on bids, since bids can rise by tiny steps. Filling a list costs one reading of the row.

In an auction of a square assignment every free row bids for its best column, which becomes dearer
by what the row would lose with its second best and a least raise more; the row that had the column
is free again (Bertsekas 1988). A large least raise links all rows in few bids, but leaves each of
them so far from its best. So the auction is repeated with smaller least raises, each time from the
prices of the last. What it ends with are potentials near the optimum: few and short searches are
left to reach it. A bid reads one row.

The kernels are compiled for the type of the costs, read them in place, and let go of the
interpreter. Memory is linear beside the costs. Forbidden pairs are infinite; NaN must not be there.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

# Loops over parts of this length that do the same for each place are compiled to vectors; a
# minimum or an early end within the loop would prevent it (three times the time, measured).
_BLOCK = 64
# Lists start short, which is enough for most rows, and double whenever a row is read again.
_FIRST = 16
_LONGEST = 128
# Rows start reading at places far apart, so that of equal columns each keeps others.
_STRIDE = 40_503


class RowLists(NamedTuple):
    """For each row its cheapest columns, sorted by key, and the floor of all others.

    A list has its size, and a length that it has at most when it is filled the next time.
    """

    columns: np.ndarray
    costs: np.ndarray
    keys: np.ndarray
    sizes: np.ndarray
    lengths: np.ndarray
    floors: np.ndarray


def empty_lists(n_rows: int, n_columns: int, *, can_grow: bool = True) -> RowLists:
    """Return lists to be filled."""
    longest = max(1, min(_LONGEST if can_grow else _FIRST, n_columns))
    return RowLists(
        np.empty((n_rows, longest), np.int32),
        np.empty((n_rows, longest), np.float64),
        np.empty((n_rows, longest), np.float64),
        np.zeros(n_rows, np.int64),
        np.full(n_rows, min(_FIRST, longest), np.int64),
        np.full(n_rows, -np.inf),
    )


def column_minima(costs):
    """Return the minimum of each column, 0 where none is finite, its first row, and faults.

    The faults are the number of NaN and of negative infinities.
    """
    minima = np.full(costs.shape[1], np.inf)
    rows = np.full(costs.shape[1], -1, np.int64)
    n_nan, n_low = _find_column_minima(costs, minima, rows)
    minima[rows < 0] = 0.0
    return minima, rows, n_nan, n_low


@kernel
def _find_column_minima(costs, minima, rows):
    """Lower infinite minima and note their first rows; return the number of faults."""
    n_rows, n_columns = costs.shape
    n_nan, n_low = 0, 0
    for i in range(n_rows):
        for j in range(n_columns):
            cost = np.float64(costs[i, j])
            n_nan += cost != cost
            n_low += cost == -np.inf
            less = cost < minima[j]
            minima[j] = cost if less else minima[j]
            rows[j] = i if less else rows[j]
    return n_nan, n_low


@inner
def _sift(keys, columns, costs, size, key, column, cost):
    """Put an entry in the place of the first, the one of greatest key."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[place] = keys[child]
        columns[place] = columns[child]
        costs[place] = costs[child]
        place = child
    keys[place] = key
    columns[place] = column
    costs[place] = cost


@inner
def fill_row(costs, v, i, lists):
    """Fill the list of a row with its cheapest columns; the next time it may be twice as long."""
    n_columns = costs.shape[1]
    row_costs = costs[i]
    keys, columns, list_costs = lists.keys[i], lists.columns[i], lists.costs[i]
    start, most = (i * _STRIDE) % n_columns, lists.lengths[i]
    size = np.int64(0)
    for part in range(2):
        j, last = (start, n_columns) if part == 0 else (0, start)
        while j < last and size < most:
            key = np.float64(row_costs[j]) - v[j]
            if key < np.inf:
                place = size
                size += 1
                while place > 0 and keys[(place - 1) >> 1] < key:
                    above = (place - 1) >> 1
                    keys[place] = keys[above]
                    columns[place] = columns[above]
                    list_costs[place] = list_costs[above]
                    place = above
                keys[place] = key
                columns[place] = j
                list_costs[place] = row_costs[j]
            j += 1
        while j < last:
            end = j + _BLOCK if j + _BLOCK < last else last
            row_part, v_part = row_costs[j:end], v[j:end]
            n_less, most_key = 0, keys[0]
            for lane in range(len(row_part)):
                n_less += 1 if np.float64(row_part[lane]) - v_part[lane] < most_key else 0
            if n_less > 0:
                for other in range(j, end):
                    cost = np.float64(row_costs[other])
                    if cost - v[other] < keys[0]:
                        _sift(keys, columns, list_costs, size, cost - v[other], other, cost)
            j = end
    lists.floors[i] = keys[0] if size == most and n_columns > most else np.inf
    lists.sizes[i] = size
    lists.lengths[i] = 2 * most if 2 * most < lists.columns.shape[1] else lists.columns.shape[1]
    for last in range(size - 1, 0, -1):
        key, column, cost = keys[last], np.int64(columns[last]), list_costs[last]
        keys[last], columns[last], list_costs[last] = keys[0], columns[0], list_costs[0]
        _sift(keys, columns, list_costs, last, key, column, cost)


@inner
def two_best(v, i, lists):
    """Return best and second best key of a row's list at present, and their columns."""
    best, second, j_best, j_second = np.inf, np.inf, -1, -1
    for place in range(lists.sizes[i]):
        # Keys have only risen since the list was sorted.
        if lists.keys[i, place] >= second:
            break
        j = lists.columns[i, place]
        key = lists.costs[i, place] - v[j]
        if key < best:
            second, j_second = best, j_best
            best, j_best = key, j
        elif key < second:
            second, j_second = key, j
    return best, second, j_best, j_second


@inner
def _link_minima(costs, v, minimum_rows, column_of, row_of, lists, n_claims):
    """Link columns to the rows of their minima, and let the rows bid for them.

    For as many columns as rows. A row that is the minimum of one column alone bids what it would
    lose with its second best.
    """
    n_claims[:] = 0
    for j in range(costs.shape[1] - 1, -1, -1):
        i = minimum_rows[j]
        if i < 0:
            continue
        n_claims[i] += 1
        if column_of[i] < 0:
            column_of[i] = j
            row_of[j] = i
    for i in range(costs.shape[0]):
        if n_claims[i] != 1:
            continue
        mine = column_of[i]
        second = lists.floors[i]
        for place in range(lists.sizes[i]):
            j = lists.columns[i, place]
            key = lists.costs[i, place] - v[j]
            if j != mine and key < second:
                second = key
        own = np.float64(costs[i, mine]) - v[mine]
        if own < second < np.inf:
            v[mine] -= second - own


@inner
def _bid(costs, v, column_of, row_of, lists, free, passes, most_bids):
    """Let free rows take their best columns, which become dearer; return how many stay free.

    Each of some passes has at most so many bids per free row.
    """
    n_free = 0
    for i in range(costs.shape[0]):
        if column_of[i] < 0:
            free[n_free] = i
            n_free += 1
    for _ in range(passes):
        k, n_now, n_free = 0, n_free, 0
        left = most_bids * n_now
        while k < n_now:
            i = free[k]
            k += 1
            best, second, j, j_second = two_best(v, i, lists)
            if second > lists.floors[i]:
                fill_row(costs, v, i, lists)
                best, second, j, j_second = two_best(v, i, lists)
            if j < 0:
                free[n_free] = i
                n_free += 1
                continue
            dearer = v[j] - (second - best) if second < np.inf else v[j]
            is_dearer = dearer < v[j]
            if is_dearer:
                v[j] = dearer
            elif row_of[j] >= 0 and j_second >= 0 and second <= best:
                j = j_second
            other = row_of[j]
            column_of[i] = j
            row_of[j] = i
            if other >= 0:
                column_of[other] = -1
                # The row that lost its column bids at once, unless it was outbid by nothing.
                if is_dearer and left > 0:
                    left -= 1
                    k -= 1
                    free[k] = other
                else:
                    free[n_free] = other
                    n_free += 1
    return n_free


@kernel
def _start(costs, v, minimum_rows, column_of, row_of, lists, free, passes, most_bids):
    """Fill all lists, link minima where their rows are given, and bid; return how many are free."""
    for i in range(costs.shape[0]):
        fill_row(costs, v, i, lists)
    if len(minimum_rows) > 0:
        _link_minima(costs, v, minimum_rows, column_of, row_of, lists, free)
    return _bid(costs, v, column_of, row_of, lists, free, passes, most_bids)


def restarted(costs, v, passes, most_bids, minimum_rows=None):
    """Return links so far both ways, lists and free rows, from given potentials of columns."""
    n_rows, n_columns = costs.shape
    column_of = np.full(n_rows, -1, np.int64)
    row_of = np.full(n_columns, -1, np.int64)
    lists = empty_lists(n_rows, n_columns)
    free = np.empty(n_rows, np.int64)
    minimum_rows = np.empty(0, np.int64) if minimum_rows is None else minimum_rows
    n_free = _start(costs, v, minimum_rows, column_of, row_of, lists, free, passes, most_bids)
    return column_of, row_of, lists, free[:n_free].copy()


def started(costs, passes, most_bids):
    """Return potentials of columns, links so far both ways, lists, free rows, and faults."""
    n_rows, n_columns = costs.shape
    v, minimum_rows, n_nan, n_low = column_minima(costs)
    if n_nan or n_low:
        nothing = np.empty(0, np.int64)
        return v, nothing, nothing, empty_lists(0, 0), nothing, n_nan, n_low
    is_square = n_rows == n_columns
    if not is_square:
        # Columns that stay free must have the same potential.
        v[:] = 0.0
    found = restarted(costs, v, passes, most_bids, minimum_rows if is_square else None)
    return v, *found, n_nan, n_low


@inner
def _two_best_of_row(row_costs, v, first, second):
    """Return best and second best key of a row, and the column of the best.

    `first` and `second` have a place within a block each, so that the loop is compiled to vectors.
    """
    first[:] = np.inf
    second[:] = np.inf
    for start in range(0, len(row_costs), _BLOCK):
        row_part, v_part = row_costs[start : start + _BLOCK], v[start : start + _BLOCK]
        for lane in range(len(row_part)):
            key = np.float64(row_part[lane]) - v_part[lane]
            more = key if key > first[lane] else first[lane]
            first[lane] = key if key < first[lane] else first[lane]
            second[lane] = more if more < second[lane] else second[lane]
    best, next_best, at = np.inf, np.inf, -1
    for lane in range(_BLOCK):
        if first[lane] < best:
            next_best, best, at = best, first[lane], lane
        else:
            next_best = min(next_best, first[lane])
        next_best = min(next_best, second[lane])
    if at < 0:
        return best, next_best, -1
    while np.float64(row_costs[at]) - v[at] != best:
        at += _BLOCK
    return best, next_best, at


def hold_auctions(costs, v, raises, most_bids):
    """Hold one auction for each least raise, changing the potentials; return whether all ended.

    One without end, as where no assignment is complete, is stopped after so many bids in all.
    """
    row_of, free = np.empty((2, len(costs)), np.int64)
    first, second = np.empty((2, _BLOCK))
    return _hold_auctions(costs, v, raises, most_bids, row_of, free, first, second)


@kernel
def _hold_auctions(costs, v, raises, most_bids, row_of, free, first, second):
    n = costs.shape[0]
    n_bids = 0
    for least in raises:
        row_of[:] = -1
        for i in range(n):
            free[i] = i
        n_free = n
        while n_free > 0:
            if n_bids == most_bids:
                return False
            n_bids += 1
            i = free[n_free - 1]
            best, next_best, j = _two_best_of_row(costs[i], v, first, second)
            if j < 0:
                return False
            v[j] -= least + (next_best - best if next_best < np.inf else 0.0)
            if row_of[j] < 0:
                n_free -= 1
            else:
                free[n_free - 1] = row_of[j]
            row_of[j] = i
    return True


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
