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
        if first <= slot < last:
            n_open += np.int64((~tables[slot - first, high] >> low) & _ONE)
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
def _place(
    places: NDArray[np.int32], row: int, level: int, begin: int, low: np.uint64, n_places: int
) -> int:
    """Return where the members are that agree with a row on a low variable.

    Of the variables before `begin` all members agree on those that are chosen, and none counts
    for those that are left out, or that do not exist.
    """
    if begin <= level < places.shape[1]:
        return np.int64(places[row, level])
    return np.int64(n_places) + np.int64((low >> np.uint64(level)) & _ONE)


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
        p0 = n_words * _place(places, row, 0, begin, low, n_places)
        p1 = n_words * _place(places, row, 1, begin, low, n_places)
        p2 = n_words * _place(places, row, 2, begin, low, n_places)
        p3 = n_words * _place(places, row, 3, begin, low, n_places)
        p4 = n_words * _place(places, row, 4, begin, low, n_places)
        p5 = n_words * _place(places, row, 5, begin, low, n_places)
        for w in range(n_words):
            others = _ALL
            if w == i >> 6:
                others ^= _ONE << np.uint64(i & 63)
            word |= met_subsets(
                others, members[p0 + w], members[p1 + w], members[p2 + w], members[p3 + w],
                members[p4 + w], members[p5 + w],
            )  # fmt: skip
            if (word >> top) & _ONE:
                break
        tables[slot - first, high] = word
