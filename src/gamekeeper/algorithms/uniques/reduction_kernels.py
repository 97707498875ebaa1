"""Compiled reduction of tables of shared sets to minimal sample uniques, their numbers and lists.

Tables are those of shared_set_kernels: a row per record, a bit per set of variables, set when
another record agrees on the set. `close_tables` adds what follows for subsets, where that is not
known yet; `minimize_tables` leaves the bits of the minimal sets that are not shared; `emit_sets`
counts and lists these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bit_intrinsics import count_bits, lowest_bit
from gamekeeper.algorithms.compiling import kernel
from gamekeeper.algorithms.uniques.packed_rows import LOW

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# Bit L of _HAS[c] is set if the set L of low variables holds c.
_HAS_0 = np.uint64(0xAAAAAAAAAAAAAAAA)
_HAS_1 = np.uint64(0xCCCCCCCCCCCCCCCC)
_HAS_2 = np.uint64(0xF0F0F0F0F0F0F0F0)
_HAS_3 = np.uint64(0xFF00FF00FF00FF00)
_HAS_4 = np.uint64(0xFFFF0000FFFF0000)
_HAS_5 = np.uint64(0xFFFFFFFF00000000)
_TO_SIX = np.uint64(6)
_S1 = np.uint64(1)
_S2 = np.uint64(2)
_S4 = np.uint64(4)
_S8 = np.uint64(8)
_S16 = np.uint64(16)
_S32 = np.uint64(32)
# Word k: the sets of low variables with at most k members.
_AT_MOST = np.array(
    [sum(1 << low for low in range(64) if low.bit_count() <= k) for k in range(LOW + 1)],
    dtype=np.uint64,
)


@kernel
def mark_differences(
    tables: NDArray[np.uint64], offsets: NDArray[np.int64], sets: NDArray[np.uint64], n_columns: int
) -> None:
    """Set the bits of the complements of given difference sets."""
    full = _ALL >> np.uint64(64 - n_columns)
    for t in range(tables.shape[0]):
        for i in range(offsets[t], offsets[t + 1]):
            agreed = ~sets[i] & full
            tables[t, agreed >> _TO_SIX] |= _ONE << (agreed & np.uint64(63))


@kernel
def close_tables(tables: NDArray[np.uint64], n_high: int) -> None:
    """Set the bits of all subsets of sets that are shared."""
    n_words = tables.shape[1]
    for t in range(tables.shape[0]):
        table = tables[t]
        for b in range(n_high):
            step = 1 << b
            for base in range(0, n_words, 2 * step):
                lower = table[base : base + step]
                upper = table[base + step : base + 2 * step]
                for i in range(step):
                    lower[i] |= upper[i]
        for s in range(n_words):
            word = table[s]
            word |= (word & _HAS_0) >> _S1
            word |= (word & _HAS_1) >> _S2
            word |= (word & _HAS_2) >> _S4
            word |= (word & _HAS_3) >> _S8
            word |= (word & _HAS_4) >> _S16
            word |= (word & _HAS_5) >> _S32
            table[s] = word


@kernel
def minimize_tables(
    tables: NDArray[np.uint64],
    targets: NDArray[np.int32],
    valid: NDArray[np.uint64],
    max_size: int,
    unique: NDArray[np.bool_],
    n_sets: NDArray[np.int64],
) -> None:
    """Turn closed tables of shared sets into tables of minimal sample uniques, in place.

    `valid` holds, per row of the file, the variables that its minimal uniques may use. Tells per
    target whether it is unique on all of these, and how many minimal sets it has.
    """
    n_words = tables.shape[1]
    for t in range(len(targets)):
        table = tables[t]
        usable = valid[targets[t]]
        usable_high = usable >> _TO_SIX
        usable_low = usable & np.uint64(63)
        unique[t] = (table[usable_high] >> usable_low) & _ONE == _ZERO
        # The sets of low variables within the usable ones.
        allowed = _ALL
        if not usable_low & np.uint64(1):
            allowed &= ~_HAS_0
        if not usable_low & np.uint64(2):
            allowed &= ~_HAS_1
        if not usable_low & np.uint64(4):
            allowed &= ~_HAS_2
        if not usable_low & np.uint64(8):
            allowed &= ~_HAS_3
        if not usable_low & np.uint64(16):
            allowed &= ~_HAS_4
        if not usable_low & np.uint64(32):
            allowed &= ~_HAS_5
        count = _ZERO
        for s in range(n_words - 1, -1, -1):
            high = np.uint64(s)
            word = ~table[s] & allowed
            room = np.int64(max_size) - np.int64(count_bits(high))
            if word == _ZERO or room < 0 or high & ~usable_high:
                table[s] = _ZERO
                continue
            word &= ~(
                ((word << _S1) & _HAS_0)
                | ((word << _S2) & _HAS_1)
                | ((word << _S4) & _HAS_2)
                | ((word << _S8) & _HAS_3)
                | ((word << _S16) & _HAS_4)
                | ((word << _S32) & _HAS_5)
            )
            if room < LOW:
                word &= _AT_MOST[room]
            rest = high
            while rest and word:
                word &= table[high & ~(rest & (~rest + _ONE))]
                rest &= rest - _ONE
            table[s] = word
            count += count_bits(word)
        n_sets[t] = count


@kernel
def emit_sets(
    tables: NDArray[np.uint64],
    targets: NDArray[np.int32],
    codes: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    sums: NDArray[np.int64],
    counts: NDArray[np.int32],
    masks: NDArray[np.uint64],
    high_masks: NDArray[np.uint64],
    low_masks: NDArray[np.uint64],
    n_high: int,
) -> None:
    """Count minimal sets by size, per target and per category, and list them if there is room.

    `offsets` says where the categories of a column begin in `sums`; `high_masks` and `low_masks`
    translate words and positions to masks of the variables as they were given.
    """
    listing = len(masks) > 0
    position = 0
    for t in range(len(targets)):
        row = targets[t]
        for s in range(tables.shape[1]):
            word = tables[t, s]
            if word == _ZERO:
                continue
            high = np.uint64(s)
            n_high_members = np.int64(count_bits(high))
            while word:
                low = lowest_bit(word)
                word &= word - _ONE
                size = n_high_members + np.int64(count_bits(low))
                counts[t, size] += 1
                if listing:
                    masks[position] = high_masks[s] | low_masks[low]
                    position += 1
                rest = low
                while rest:
                    column = n_high + np.int64(lowest_bit(rest))
                    rest &= rest - _ONE
                    sums[offsets[column] + codes[column, row], size] += 1
                rest = high
                while rest:
                    column = n_high - 1 - np.int64(lowest_bit(rest))
                    rest &= rest - _ONE
                    sums[offsets[column] + codes[column, row], size] += 1


@kernel
def gather_lists(
    found: NDArray[np.unsignedinteger],
    n_sets: NDArray[np.int64],
    places: NDArray[np.int64],
    offsets: NDArray[np.int64],
    counts: NDArray[np.int64],
    masks: NDArray[np.unsignedinteger],
) -> None:
    """Put the lists of a block where they belong, each ordered by size.

    `places` gives the number of each target in the result, or -1; `offsets` and `counts` are of
    the result.
    """
    position = 0
    next_place = np.empty(counts.shape[1], np.int64)
    for t in range(len(places)):
        place = places[t]
        if place < 0:
            continue
        start = offsets[place]
        for size in range(counts.shape[1]):
            next_place[size] = start
            start += counts[place, size]
        for i in range(position, position + n_sets[t]):
            mask = found[i]
            size = count_bits(mask)
            masks[next_place[size]] = mask
            next_place[size] += 1
        position += n_sets[t]
