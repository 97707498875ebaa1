"""Potentials of a square assignment by an auction with falling least raises.

Every free row bids for its best column, which becomes dearer by what the row would lose with its
second best and a least raise more; the row that had the column is free again (Bertsekas 1988). A
large least raise links all rows in few bids, but leaves each of them so far from its best. So
the auction is repeated with smaller least raises, each time from the prices of the last. What it
ends with are potentials near the optimum: few and short searches are left to reach it. A bid
reads one row; memory is linear beside the costs.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

_BLOCK = 64


@inner
def _two_best_of_row(row_costs, v, first, second):
    """Return best and second best key of a row, and the column of the best.

    `first` and `second` hold the two for every place within a block, so that the loop is compiled
    to vectors.
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

    An auction without end, as where there is no complete assignment, is stopped when there have
    been so many bids in all.
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
