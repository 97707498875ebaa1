"""Compiled search for the sets of low variables on which the members of a class are not alone.

For every category of a low variable there is a set of bits: the members of the class that have it.
A record is not alone on some variables if their sets, for its own categories, have another member
in common. All 64 sets of low variables are looked up at once (`met_subsets`), for 64 members of
the class at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bit_intrinsics import met_subsets
from gamekeeper.algorithms.compiling import inner

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inner
def count_open(
    tables: NDArray[np.uint64],
    first: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    high: np.uint64,
    low: np.uint64,
) -> int:
    """Return of how many members with a table a set is not yet known to be shared."""
    last = first + tables.shape[0]
    n_open = 0
    for row in rows:
        slot = slots[row]
        if first <= slot < last and not (tables[slot - first, high] >> low) & _ONE:
            n_open += 1
    return n_open


@inner
def _gather_members(
    rows: NDArray[np.int32],
    places: NDArray[np.int32],
    begin: int,
    n_places: int,
    members: NDArray[np.uint64],
) -> int:
    """Note which members have each category; return how many words that takes for each.

    Two more places hold no members and all of them.
    """
    n_words = (len(rows) + 63) >> 6
    n_low = places.shape[1]
    if n_places <= 8 * len(rows):
        for i in range(n_places * n_words):
            members[i] = _ZERO
    else:
        for row in rows:
            for level in range(begin, n_low):
                for w in range(n_words):
                    members[places[row, level] * n_words + w] = _ZERO
    for w in range(n_words):
        members[n_places * n_words + w] = _ZERO
        members[(n_places + 1) * n_words + w] = _ALL
    for i in range(len(rows)):
        bit = _ONE << np.uint64(i & 63)
        for level in range(begin, n_low):
            members[places[rows[i], level] * n_words + (i >> 6)] |= bit
    return n_words


@inner
def _find_spots(
    places: NDArray[np.int32],
    row: int,
    begin: int,
    low: np.uint64,
    n_places: int,
    n_words: int,
    spots: NDArray[np.int64],
) -> None:
    """Find where the members are that agree with a row, for each low variable.

    Of the variables before `begin` all members agree on those that are chosen, and none counts
    for those that are left out, or that do not exist.
    """
    for level in range(len(spots)):
        if begin <= level < places.shape[1]:
            spots[level] = n_words * np.int64(places[row, level])
        else:
            spots[level] = n_words * (n_places + np.int64((low >> np.uint64(level)) & _ONE))


@inner
def mark_low_sets(
    tables: NDArray[np.uint64],
    first: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    places: NDArray[np.int32],
    n_places: int,
    high: np.uint64,
    begin: int,
    low: np.uint64,
    top: np.uint64,
    members: NDArray[np.uint64],
    spots: NDArray[np.int64],
) -> None:
    """Set the bits of the sets of low variables on which each member agrees with another.

    The class agrees on the given sets of high variables and of the low ones before `begin`; the
    others of these are left out. `top` is the largest set of low variables that is looked for.
    """
    last = first + tables.shape[0]
    n_words = _gather_members(rows, places, begin, n_places, members)
    for i in range(len(rows)):
        row = rows[i]
        slot = slots[row]
        if not first <= slot < last:
            continue
        word = tables[slot - first, high]
        if (word >> top) & _ONE:
            continue
        _find_spots(places, row, begin, low, n_places, n_words, spots)
        s0, s1, s2, s3, s4, s5 = spots[0], spots[1], spots[2], spots[3], spots[4], spots[5]
        for w in range(n_words):
            others = _ALL
            if w == i >> 6:
                others ^= _ONE << np.uint64(i & 63)
            word |= met_subsets(
                others, members[s0 + w], members[s1 + w], members[s2 + w], members[s3 + w],
                members[s4 + w], members[s5 + w],
            )  # fmt: skip
            if (word >> top) & _ONE:
                break
        tables[slot - first, high] = word
