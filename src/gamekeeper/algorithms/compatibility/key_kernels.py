"""Compiled counts of rows that agree on some columns, by one table of places per set of columns.

A table has a place for each different key of one side, cleared outside the columns that are
compared; the other side goes past it once. Keys are compared word by word, so that nothing is left
to chance. Cost of a set of columns: the rows of both sides. Room: 12 bytes and a half per row.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compiling import inner, kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


@inner
def hash_of(keys, row, mask):
    """Return a number that equal keys share, from the words of a row within a mask."""
    found = np.uint64(0)
    for word in range(keys.shape[1]):
        found = (found ^ (keys[row, word] & mask[word])) * _MULTIPLIER
        found ^= found >> _SHIFT
        found *= _SECOND
    return found ^ (found >> _SHIFT)


@inner
def agree(keys, row, others, other, mask):
    """Tell whether two rows are equal within a mask."""
    for word in range(keys.shape[1]):  # noqa: SIM110 - numba has no all()
        if (keys[row, word] ^ others[other, word]) & mask[word] != np.uint64(0):
            return False
    return True


@inner
def enter_rows(keys, first, last, mask, slots, place_of, row_at):
    """Give each different key among some rows a place 0, 1, ...; return how many there are.

    `slots` has a power of two of entries, at least twice the rows, all of them -1. A first row of 0 is
    given as np.int64(0): for the literal it would be compiled anew.
    """
    top = np.uint64(len(slots) - 1)
    n_places = np.int64(0)
    for row in range(first, last):
        at = hash_of(keys, row, mask) & top
        while True:
            place = slots[at]
            if place < 0:
                slots[at] = n_places
                row_at[n_places] = row
                place_of[row - first] = n_places
                n_places += 1
                break
            if agree(keys, row, keys, np.int64(row_at[place]), mask):
                place_of[row - first] = place
                break
            at = (at + np.uint64(1)) & top
    return n_places


@inner
def place_in(others, other, mask, keys, slots, row_at):
    """Return the place of the key of another row, or -1."""
    top = np.uint64(len(slots) - 1)
    at = hash_of(others, other, mask) & top
    while True:
        place = slots[at]
        if place < 0:
            return np.int64(-1)
        if agree(keys, np.int64(row_at[place]), others, other, mask):
            return np.int64(place)
        at = (at + np.uint64(1)) & top


@kernel
def count_both_ways(
    keys, counts, first, last, others, other_counts, other_first, other_last, mask,
    slots, place_of, row_at, sums, found, other_found,
):  # fmt: skip
    """Add to each row the sum of the other side's rows that agree with it, and the other way round.

    `sums` has two lines with room for every row of the first side; `slots` as in `enter_rows`.
    """
    n_places = enter_rows(keys, first, last, mask, slots, place_of, row_at)
    for place in range(n_places):
        sums[0, place] = 0
        sums[1, place] = 0
    for row in range(first, last):
        sums[0, place_of[row - first]] += counts[row]
    for other in range(other_first, other_last):
        place = place_in(others, other, mask, keys, slots, row_at)
        if place >= 0:
            sums[1, place] += other_counts[other]
            other_found[other] += sums[0, place]
    for row in range(first, last):
        found[row] += sums[1, place_of[row - first]]


@kernel
def places_both_ways(
    keys, first, last, others, other_first, other_last, mask, slots, place_of, row_at, other_place
):
    """Number the different keys of one side, and tell each row of the other its number or -1."""
    n_places = enter_rows(keys, first, last, mask, slots, place_of, row_at)
    for other in range(other_first, other_last):
        other_place[other - other_first] = place_in(others, other, mask, keys, slots, row_at)
    return n_places
