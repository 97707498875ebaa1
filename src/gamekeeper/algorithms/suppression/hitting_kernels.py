"""Compiled choice of the first set, in a given order, that meets the sets of a record."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import kernel


@kernel
def hit_in_order(starts, members, weights, rows, n_rows, sets, first_set, allowed, chosen):
    """Note for each row the first set after which what is not met weighs no more than allowed.

    Returns how many rows are left; `rows` is shortened to them.
    """
    for number in range(len(sets)):
        left = np.int64(0)
        for i in range(n_rows):
            row = rows[i]
            unmet = np.int64(0)
            for at in range(starts[row], starts[row + 1]):
                if members[at] & sets[number] == np.uint64(0):
                    unmet += weights[at]
                    if unmet > allowed:
                        break
            if unmet <= allowed:
                chosen[row] = first_set + number
            else:
                rows[left] = row
                left += 1
        n_rows = left
        if n_rows == 0:
            break
    return n_rows
