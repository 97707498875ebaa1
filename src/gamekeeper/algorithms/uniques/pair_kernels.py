"""Compiled comparison of pairs of records on all variables, six to a word.

A packed word has six fields of nine bits, each below a guard bit (`packed_rows`). Two records are
compared on six variables by a handful of operations on one word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compiling import inner, kernel
from gamekeeper.algorithms.uniques.packed_rows import FIELD_BITS, FIELDS, LOW

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# Adding 511 to a field sets its guard if the field is not zero; a product then brings the six
# guards together in the six highest bits.
_FILL = np.uint64(sum(511 << (FIELD_BITS * i) for i in range(FIELDS)))
_GUARDS = np.uint64(sum(1 << (FIELD_BITS * i + 9) for i in range(FIELDS)))
_GATHER = np.uint64(sum(1 << (58 - 9 * i) for i in range(FIELDS)))
_TO_UNIT = np.uint64(9)
_TO_LOWEST = np.uint64(58)
_TO_SIX = np.uint64(6)
_SIX = np.uint64(63)
# Word L: the sets of low variables within L.
SUBSETS = np.array(
    [sum(1 << low for low in range(64) if not low & ~top) for top in range(64)], dtype=np.uint64
)


@inner
def agreement(difference: np.uint64) -> np.uint64:
    """Return six bits: which fields of two packed words, given by their xor, are equal."""
    equal = ((difference + _FILL) & _GUARDS) ^ _GUARDS
    return ((equal >> _TO_UNIT) * _GATHER) >> _TO_LOWEST


@inner
def index_bit(column: int, n_high: int) -> np.uint64:
    """Return the place of a column in the index of a set."""
    return np.uint64(LOW + n_high - 1 - column if column < n_high else column - n_high)


@inner
def _take_fields(
    words: NDArray[np.uint64],
    rows: NDArray[np.int32],
    packed: NDArray[np.uint64],
    codes: NDArray[np.uint32],
    wide: NDArray[np.int64],
    n_high: int,
) -> None:
    """Copy the packed fields of a class; variables with many categories are numbered afresh."""
    n_words = packed.shape[1]
    for i in range(len(rows)):
        for w in range(n_words):
            words[w, i] = packed[rows[i], w]
    for column in wide:
        bit = index_bit(column, n_high)
        w, shift = bit // FIELDS, np.uint64(bit % FIELDS * FIELD_BITS)
        for i in range(len(rows)):
            number = 0
            while codes[column, rows[number]] != codes[column, rows[i]]:
                number += 1
            words[w, i] |= np.uint64(number) << shift


@inner
def _compare_with_all(
    words: NDArray[np.uint64], own: int, n_rows: int, agreed: NDArray[np.uint64]
) -> None:
    """Find the index of the set on which one member of a class agrees with each."""
    for b in range(n_rows):
        agreed[b] = agreement(words[0, own] ^ words[0, b])
    for w in range(1, words.shape[0]):
        shift = np.uint64(LOW * w)
        for b in range(n_rows):
            agreed[b] |= agreement(words[w, own] ^ words[w, b]) << shift


@inner
def mark_pairs_of_class(
    tables: NDArray[np.uint64],
    first: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    packed: NDArray[np.uint64],
    codes: NDArray[np.uint32],
    wide: NDArray[np.int64],
    n_high: int,
    chosen: np.uint64,
    rest: np.uint64,
    words: NDArray[np.uint64],
    agreed: NDArray[np.uint64],
) -> None:
    """Compare all pairs of a small class that agrees on the chosen high variables.

    The bits of all subsets are set that differ from the chosen ones in the rest only: variables
    that are in neither have been left out of the class.
    """
    last = first + tables.shape[0]
    n_rows = len(rows)
    _take_fields(words, rows, packed, codes, wide, n_high)
    for a in range(n_rows):
        slot = slots[rows[a]]
        if not first <= slot < last:
            continue
        table = tables[slot - first]
        _compare_with_all(words, a, n_rows, agreed)
        for b in range(n_rows):
            high, low = (agreed[b] >> _TO_SIX) & rest, agreed[b] & _SIX
            if b == a or (table[chosen | high] >> low) & _ONE:
                continue
            part = high
            while True:
                table[chosen | part] |= SUBSETS[low]
                if part == _ZERO:
                    break
                part = (part - _ONE) & high


@kernel
def mark_pairs(
    tables: NDArray[np.uint64],
    targets: NDArray[np.int32],
    present: NDArray[np.uint64],
    incomplete: NDArray[np.int32],
    codes: NDArray[np.uint32],
    packed: NDArray[np.uint64],
    wide: NDArray[np.int64],
    n_high: int,
) -> None:
    """Set the bits of pairs in which a missing cell on either side matches anything.

    Complete targets are compared with incomplete rows, incomplete targets with all rows.
    """
    n_columns, n_rows = codes.shape
    full = _ALL >> np.uint64(64 - n_columns)
    for t in range(len(targets)):
        row = targets[t]
        table = tables[t]
        is_complete = present[row] == full
        n_others = len(incomplete) if is_complete else n_rows
        for o in range(n_others):
            other = incomplete[o] if is_complete else o
            if other == row:
                continue
            agreed = _ZERO
            for w in range(packed.shape[1] - 1, -1, -1):
                agreed = (agreed << _TO_SIX) | agreement(packed[row, w] ^ packed[other, w])
            for column in wide:
                if codes[column, row] != codes[column, other]:
                    agreed &= ~(_ONE << index_bit(column, n_high))
            agreed = (agreed | ~present[row] | ~present[other]) & full
            table[agreed >> _TO_SIX] |= _ONE << (agreed & _SIX)
