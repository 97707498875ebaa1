"""Compiled search for the column sets on which a record is not alone, as tables of bits.

A row of a table belongs to one record and has a bit for every set of variables: it is set when
another record agrees on the set. The index of a set has the `LOW` least telling variables in its
lowest bits, so that these are a position in a word of 64 bits, and the other (high) variables
choose the word. The last high variable has the lowest bit of the word's number: what can still
follow a prefix of variables is then a contiguous stretch of words.

`fill_tables` walks the classes of records that agree on a closed set of variables, each closed set
once (prefix-preserving closure extension, as in the LCM algorithm of Uno and others). Inside a
class that is small it compares all pairs instead. The module reduction_kernels
reads the tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

LOW = 6
FIELDS = 6
FIELD_BITS = 10

# What is kept of a class on the way down: its rows, the column that splits it and the last one, the
# group being looked at and their number, whether low bits are gathered for it, and its set. The
# last line holds the columns of the prefix.
_FROM, _TO, _COLUMN, _END, _GROUP, _GROUPS, _GATHERS, _HIGH, _LOW, _FORCED = range(10)

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# Six fields of nine bits, each below a guard bit. Adding 511 to a field sets its guard if the
# field is not zero; a product then brings the six guards together in the six highest bits.
_FILL = np.uint64(sum(511 << (FIELD_BITS * i) for i in range(FIELDS)))
_GUARDS = np.uint64(sum(1 << (FIELD_BITS * i + 9) for i in range(FIELDS)))
_GATHER = np.uint64(sum(1 << (58 - 9 * i) for i in range(FIELDS)))
_TO_UNIT = np.uint64(9)
_TO_LOWEST = np.uint64(58)
_TO_SIX = np.uint64(6)


# For kernels that only kernels call: without wrappers for Python they compile faster.
_options: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_inner: Any = numba.njit(**_options)


@_inner
def _agreement(difference: np.uint64) -> np.uint64:
    """Return six bits: which fields of two packed words, given by their xor, are equal."""
    equal = ((difference + _FILL) & _GUARDS) ^ _GUARDS
    return ((equal >> _TO_UNIT) * _GATHER) >> _TO_LOWEST


@_inner
def _take_fields(
    words: NDArray[np.uint64],
    rows: NDArray[np.int32],
    packed: NDArray[np.uint64],
    codes: NDArray[np.uint32],
    wide: NDArray[np.int64],
    n_high: int,
    seen: NDArray[np.int32],
) -> None:
    """Copy the packed fields of a class; variables with many categories are numbered afresh."""
    n_words = packed.shape[1]
    for i in range(len(rows)):
        for w in range(n_words):
            words[w, i] = packed[rows[i], w]
    for column in wide:
        if column < n_high:
            field = n_high - 1 - column
            w, shift = 1 + field // FIELDS, np.uint64(field % FIELDS * FIELD_BITS)
        else:
            w, shift = 0, np.uint64((column - n_high) * FIELD_BITS)
        number = 0
        for i in range(len(rows)):
            code = codes[column, rows[i]]
            if seen[code] == 0:
                number += 1
                seen[code] = number
            words[w, i] |= np.uint64(seen[code]) << shift
        for i in range(len(rows)):
            seen[codes[column, rows[i]]] = 0


@_inner
def _mark_small(
    tables: NDArray[np.uint64],
    first: int,
    last: int,
    rows: NDArray[np.int32],
    slots: NDArray[np.int32],
    words: NDArray[np.uint64],
    chosen: np.uint64,
    decided: np.uint64,
    high_mask: np.uint64,
    low_mask: np.uint64,
) -> None:
    """Compare all pairs of a class on all variables.

    A pair is taken only where the class is on the way to the closed set of the pair, that is where
    it agrees on the chosen ones of the decided variables and on no more: elsewhere it is met again.
    """
    for a in range(len(rows)):
        slot_a = slots[rows[a]]
        for b in range(a + 1, len(rows)):
            index = _ZERO
            for w in range(words.shape[0] - 1, 0, -1):
                index = (index << _TO_SIX) | _agreement(words[w, a] ^ words[w, b])
            index &= high_mask
            if index & decided == chosen:
                bit = _ONE << (_agreement(words[0, a] ^ words[0, b]) & low_mask)
                if first <= slot_a < last:
                    tables[slot_a - first, index] |= bit
                slot_b = slots[rows[b]]
                if first <= slot_b < last:
                    tables[slot_b - first, index] |= bit


@_inner
def _compare_low(
    words: NDArray[np.uint64], size: int, low_mask: np.uint64, found: NDArray[np.uint64]
) -> None:
    """Find the sets of low variables on which each member of a class agrees with another."""
    for a in range(size):
        found[a] = _ZERO
    for a in range(size):
        word = words[0, a]
        mine = found[a]
        for b in range(a + 1, size):
            bit = _ONE << (_agreement(word ^ words[0, b]) & low_mask)
            mine |= bit
            found[b] |= bit
        found[a] = mine


@_inner
def _split(
    rows: NDArray[np.int32],
    column_codes: NDArray[np.uint32],
    slots: NDArray[np.int32],
    first: int,
    last: int,
    sparse: bool,
    seen: NDArray[np.int32],
    touched: NDArray[np.uint32],
    own: NDArray[np.uint32],
    starts: NDArray[np.int32],
    ordered: NDArray[np.int32],
) -> int:
    """Sort the rows of a class by a column; return the number of groups worth a look.

    Those have two rows or more and, if tables are sparse, one of them with a table.
    """
    n_rows = len(rows)
    n_touched = 0
    for i in range(n_rows):
        code = column_codes[rows[i]]
        own[i] = code
        if seen[code] == 0:
            touched[n_touched] = code
            n_touched += 1
        seen[code] += 1
    n_groups = 0
    position = 0
    for t in range(n_touched):
        code = touched[t]
        size = seen[code]
        if size > 1:
            starts[n_groups] = position
            n_groups += 1
            seen[code] = position + 1
            position += size
        else:
            seen[code] = -1
    starts[n_groups] = position
    for i in range(n_rows):
        place = seen[own[i]]
        if place > 0:
            ordered[place - 1] = rows[i]
            seen[own[i]] = place + 1
    for t in range(n_touched):
        seen[touched[t]] = 0
    if not sparse:
        return n_groups
    kept = 0
    position = 0
    begin = 0
    for group in range(n_groups):
        end = starts[group + 1]
        useful = False
        for i in range(begin, end):
            if first <= slots[ordered[i]] < last:
                useful = True
                break
        if useful:
            for i in range(begin, end):
                ordered[position + i - begin] = ordered[i]
            position += end - begin
            kept += 1
            starts[kept] = position
        begin = end
    return kept


class Space(NamedTuple):
    """Room in which `fill_tables` works; allocating it here keeps the kernel quick to compile."""

    order: NDArray[np.int32]
    starts: NDArray[np.int32]
    seen: NDArray[np.int32]
    touched: NDArray[np.uint32]
    own: NDArray[np.uint32]
    gathered: NDArray[np.uint64]
    words: NDArray[np.uint64]
    found: NDArray[np.uint64]
    levels: NDArray[np.int64]

    @classmethod
    def new(cls, n_columns: int, n_rows: int, n_codes: int, n_words: int, medium: int) -> Space:
        """Return room for so many rows; what is not used is not touched."""
        most_groups = min(n_codes, n_rows) + 1
        return cls(
            order=np.empty((n_columns + 2, n_rows), dtype=np.int32),
            starts=np.empty((n_columns + 2, most_groups), dtype=np.int32),
            seen=np.zeros(n_codes, dtype=np.int32),
            touched=np.empty(most_groups, dtype=np.uint32),
            own=np.empty(n_rows, dtype=np.uint32),
            # The bits of low variables are gathered here before they go to the tables, because
            # the tables of the rows of a large class are far apart.
            gathered=np.zeros(n_rows, dtype=np.uint64),
            words=np.empty((n_words, medium), dtype=np.uint64),
            found=np.empty(medium, dtype=np.uint64),
            levels=np.zeros((_FORCED + 1, n_columns + 2), dtype=np.int64),
        )


@numba.njit(nogil=True, cache=True)
def fill_tables(
    tables: NDArray[np.uint64],
    first: int,
    row_from: int,
    row_to: int,
    slots: NDArray[np.int32],
    codes: NDArray[np.uint32],
    packed: NDArray[np.uint64],
    wide: NDArray[np.int64],
    n_high: int,
    prefix: int,
    n_prefix: int,
    small: int,
    medium: int,
    space: Space,
) -> None:
    """Set the bits of the sets that begin with a given choice of the first high variables.

    Row `slots[row] - first` of the tables belongs to a record, if there is such a row. Bit i of
    `prefix` says whether the sets hold column i, for i below `n_prefix`.
    """
    n_columns, _ = codes.shape
    n_rows = row_to - row_from
    n_low = n_columns - n_high
    last = first + tables.shape[0]
    low_mask = np.uint64((1 << n_low) - 1)
    high_mask = np.uint64((1 << n_high) - 1)
    order, starts, seen, touched, own, gathered, words, found, levels = space
    sparse = 2 * (last - first) < n_rows
    forced = levels[_FORCED]
    n_forced = 0
    for column in range(n_prefix):
        if prefix >> column & 1:
            forced[n_forced] = column
            n_forced += 1

    for i in range(n_rows):
        order[0, i] = row_from + i
    depth, begin, end, core = 0, 0, n_rows, n_prefix
    high, low = _ZERO, _ZERO
    pending = n_rows > 1
    if not pending:
        return
    while True:
        if pending:
            pending = False
            go_deeper = True
            column_end = n_columns
            rows = order[depth, begin:end]
            size = end - begin
            if depth >= n_forced:
                if core <= n_high and size <= small:
                    _take_fields(words, rows, packed, codes, wide, n_high, seen)
                    decided = high_mask & ~np.uint64((1 << (n_high - core)) - 1)
                    _mark_small(
                        tables, first, last, rows, slots, words, high & decided, decided,
                        high_mask, low_mask,
                    )  # fmt: skip
                    go_deeper = False
                else:
                    # The closure: every further variable on which the whole class agrees. One
                    # that was passed over means that another way leads here.
                    for column in range(n_columns):
                        if column < n_high:
                            if (high >> np.uint64(n_high - 1 - column)) & _ONE:
                                continue
                        elif (low >> np.uint64(column - n_high)) & _ONE:
                            continue
                        code = codes[column, rows[0]]
                        constant = True
                        for i in range(1, size):
                            if codes[column, rows[i]] != code:
                                constant = False
                                break
                        if constant:
                            if column < core:
                                go_deeper = False
                                break
                            if column < n_high:
                                high |= _ONE << np.uint64(n_high - 1 - column)
                            else:
                                low |= _ONE << np.uint64(column - n_high)
                    if go_deeper and size <= medium:
                        _take_fields(words, rows, packed, codes, wide, n_high, seen)
                        _compare_low(words, size, low_mask, found)
                        for a in range(size):
                            slot = slots[rows[a]]
                            if core > n_high:
                                gathered[rows[a] - row_from] |= found[a]
                            elif first <= slot < last:
                                tables[slot - first, high] |= found[a]
                        column_end = n_high
                        go_deeper = core < n_high
                    elif go_deeper and core > n_high:
                        bit = _ONE << low
                        for row in rows:
                            gathered[row - row_from] |= bit
            if go_deeper:
                levels[_FROM, depth] = begin
                levels[_TO, depth] = end
                levels[_HIGH, depth] = high
                levels[_LOW, depth] = low
                levels[_GROUP, depth] = 0
                levels[_GROUPS, depth] = 0
                if depth < n_forced:
                    levels[_GATHERS, depth] = 0
                    levels[_COLUMN, depth] = forced[depth] - 1
                    levels[_END, depth] = forced[depth] + 1
                else:
                    levels[_GATHERS, depth] = core <= n_high and column_end == n_columns
                    levels[_COLUMN, depth] = core - 1
                    levels[_END, depth] = column_end
            else:
                depth -= 1
                if depth < 0:
                    return
        if levels[_GROUP, depth] < levels[_GROUPS, depth]:
            group = levels[_GROUP, depth]
            levels[_GROUP, depth] += 1
            begin = starts[depth + 1, group]
            end = starts[depth + 1, group + 1]
            column = levels[_COLUMN, depth]
            high = np.uint64(levels[_HIGH, depth])
            low = np.uint64(levels[_LOW, depth])
            if column < n_high:
                high |= _ONE << np.uint64(n_high - 1 - column)
            else:
                low |= _ONE << np.uint64(column - n_high)
            depth += 1
            core = n_prefix if depth == n_forced else column + 1
            pending = True
            continue
        levels[_COLUMN, depth] += 1
        column = levels[_COLUMN, depth]
        if column >= levels[_END, depth]:
            if levels[_GATHERS, depth]:
                bit = _ONE << np.uint64(levels[_LOW, depth])
                for row in order[depth, levels[_FROM, depth] : levels[_TO, depth]]:
                    slot = slots[row]
                    if first <= slot < last:
                        tables[slot - first, np.uint64(levels[_HIGH, depth])] |= (
                            gathered[row - row_from] | bit
                        )
                    gathered[row - row_from] = _ZERO
            depth -= 1
            if depth < 0:
                return
            continue
        if column < n_high:
            held = (np.uint64(levels[_HIGH, depth]) >> np.uint64(n_high - 1 - column)) & _ONE
        else:
            held = (np.uint64(levels[_LOW, depth]) >> np.uint64(column - n_high)) & _ONE
        if held:
            continue
        levels[_GROUP, depth] = 0
        levels[_GROUPS, depth] = _split(
            order[depth, levels[_FROM, depth] : levels[_TO, depth]],
            codes[column],
            slots,
            first,
            last,
            sparse,
            seen,
            touched,
            own,
            starts[depth + 1],
            order[depth + 1],
        )


@numba.njit(nogil=True, cache=True)
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
                agreed = (agreed << _TO_SIX) | _agreement(packed[row, w] ^ packed[other, w])
            for column in wide:
                if codes[column, row] != codes[column, other]:
                    agreed &= ~(_ONE << _index_bit(column, n_high))
            agreed = (agreed | ~present[row] | ~present[other]) & full
            table[agreed >> _TO_SIX] |= _ONE << (agreed & np.uint64(63))


@_inner
def _index_bit(column: int, n_high: int) -> np.uint64:
    """Return the place of a column in the index of a set."""
    return np.uint64(LOW + n_high - 1 - column if column < n_high else column - n_high)
