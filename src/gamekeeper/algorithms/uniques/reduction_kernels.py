"""Compiled reduction of shared sets to minimal sample uniques; search by pairs and by transversals.

Tables are those of `shared_set_kernels`: a row per record, a bit per set of variables, set when
another record agrees on the set. `close_tables` adds what follows for subsets, where that is not
known yet; `minimize_tables` leaves the bits of the minimal sets that are not shared; `emit_sets`
counts and lists these.

Pairs of records are compared on six variables by a handful of operations on one word: a packed word
has six fields of nine bits, each below a guard bit (`distinct_rows`).

A set of variables singles out a record if it meets, for every other record, the variables on which
the two differ. So the minimal sample uniques of a record are the minimal transversals of these
difference sets, of which only the smallest count. `collect_differences` compares a record with all
others; `find_transversals` is the depth-first search MMCS (Murakami and Uno, Efficient algorithms
for dualizing large-scale hypergraphs, 2014). The first costs time in proportion to the number of
records, the second to what there is to find: best for many variables that depend on each other,
and for small sets of many variables.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compiling import count_bits, inner, kernel, lowest_bit
from gamekeeper.algorithms.uniques.search import FIELD_BITS, FIELDS, LOW

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
_S2, _S4, _S8, _S16, _S32 = (np.uint64(places) for places in (2, 4, 8, 16, 32))
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
            word |= (word & _HAS_0) >> _ONE
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
                ((word << _ONE) & _HAS_0)
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


# Adding 511 to a field sets its guard if the field is not zero; a product then brings the six
# guards together in the six highest bits.
_FILL = np.uint64(sum(511 << (FIELD_BITS * i) for i in range(FIELDS)))
_GUARDS = np.uint64(sum(1 << (FIELD_BITS * i + 9) for i in range(FIELDS)))
_GATHER = np.uint64(sum(1 << (58 - 9 * i) for i in range(FIELDS)))
_TO_UNIT = np.uint64(9)
_TO_LOWEST = np.uint64(58)
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


@inner
def _longer(array: NDArray[np.uint64]) -> NDArray[np.uint64]:
    longer = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):
        longer[i] = array[i]
    return longer


@kernel
def collect_differences(
    targets: NDArray[np.int32],
    usable: NDArray[np.uint64],
    present: NDArray[np.uint64],
    wildcard: bool,
    codes: NDArray[np.uint32],
    packed: NDArray[np.uint64],
    wide: NDArray[np.int64],
    n_high: int,
    unique: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the smallest difference sets of each target, as offsets and masks.

    Bits are those of the index of a set. A target with an empty difference set is not unique and
    gets none.
    """
    n_columns, n_rows = codes.shape
    n_words = packed.shape[1]
    full = _ALL >> np.uint64(64 - n_columns)
    offsets = np.zeros(len(targets) + 1, np.int64)
    sets = np.empty(1024, np.uint64)
    begin = 0
    for t in range(len(targets)):
        row = targets[t]
        end = begin
        unique[t] = True
        for other in range(n_rows):
            if other == row:
                continue
            agreed = _ZERO
            for w in range(n_words - 1, -1, -1):
                agreed = (agreed << _TO_SIX) | agreement(packed[row, w] ^ packed[other, w])
            for column in wide:
                if codes[column, row] != codes[column, other]:
                    agreed &= ~(_ONE << index_bit(column, n_high))
            differing = ~agreed & full & usable[row]
            if wildcard:
                differing &= present[other]
            if differing == _ZERO:
                unique[t] = False
                end = begin
                break
            # Difference sets that contain a known one say nothing new. Those that were of use
            # move forward: most rows are settled by the first few.
            i = begin
            while i < end and sets[i] & ~differing:
                i += 1
            if i < end:
                if i > begin:
                    ahead = begin + (i - begin) // 2
                    sets[i], sets[ahead] = sets[ahead], sets[i]
                continue
            kept = begin
            for i in range(begin, end):
                if differing & ~sets[i]:
                    sets[kept] = sets[i]
                    kept += 1
            if kept == len(sets):
                sets = _longer(sets)
            sets[kept] = differing
            end = kept + 1
        offsets[t + 1] = end
        begin = end
    return offsets, sets[:begin]


@kernel
def find_transversals(
    targets: NDArray[np.int32],
    unique: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    sets: NDArray[np.uint64],
    codes: NDArray[np.uint32],
    n_high: int,
    max_size: int,
    category_offsets: NDArray[np.int64],
    bit_masks: NDArray[np.uint64],
    sums: NDArray[np.int64],
    counts: NDArray[np.int32],
    n_sets: NDArray[np.int64],
    most_nodes: int,
    listing: bool,
) -> tuple[NDArray[np.uint64], float, int]:
    """Count the minimal transversals of each target by size and category; return them as masks.

    A search that visits more than `most_nodes` nodes for a target ends there, for estimates, and
    the number of sets of the target is put up in proportion to the part of the tree that was left.
    Returns the masks, the steps that all searches take, and the number of searches that ended.
    """
    masks = np.empty(1024 if listing else 1, np.uint64)
    n_masks = 0
    all_steps = 0.0
    n_ended = 0
    most_words = 1
    for t in range(len(targets)):
        most_words = max(most_words, (offsets[t + 1] - offsets[t] + 63) // 64)
    met = np.empty((64, most_words), np.uint64)
    open_sets = np.empty((max_size + 1, most_words), np.uint64)
    critical = np.empty((max_size + 1, max_size + 1, most_words), np.uint64)
    candidates = np.empty(max_size + 1, np.uint64)
    to_try = np.empty(max_size + 1, np.uint64)
    n_branches = np.empty(max_size + 1, np.uint64)
    chosen = np.empty(max_size + 1, np.uint64)
    for t in range(len(targets)):
        n_sets[t] = 0
        if not unique[t]:
            continue
        row = targets[t]
        own = sets[offsets[t] : offsets[t + 1]]
        n_words = (len(own) + 63) // 64
        for w in range(n_words):
            open_sets[0, w] = _ZERO
            for bit in range(64):
                met[bit, w] = _ZERO
        union = _ZERO
        for i in range(len(own)):
            flag = _ONE << (np.uint64(i) & _SIX)
            open_sets[0, i >> 6] |= flag
            union |= own[i]
            rest = own[i]
            while rest:
                met[lowest_bit(rest), i >> 6] |= flag
                rest &= rest - _ONE
        depth = 0
        nodes = 0
        candidates[0] = union
        arrived = True
        while True:
            if arrived:
                arrived = False
                nodes += 1
                fewest = np.uint64(65)
                branch = _ZERO
                for w in range(n_words):
                    rest = open_sets[depth, w]
                    while rest:
                        within = own[w * 64 + np.int64(lowest_bit(rest))] & candidates[depth]
                        rest &= rest - _ONE
                        if count_bits(within) < fewest:
                            fewest = count_bits(within)
                            branch = within
                to_try[depth] = _ZERO
                if fewest == np.uint64(65):
                    n_sets[t] += 1
                    counts[t, depth] += 1
                    mask = _ZERO
                    for d in range(depth):
                        bit = np.int64(chosen[d])
                        column = n_high + bit if bit < 6 else n_high + 5 - bit
                        sums[category_offsets[column] + codes[column, row], depth] += 1
                        mask |= bit_masks[bit]
                    if listing:
                        if n_masks == len(masks):
                            masks = _longer(masks)
                        masks[n_masks] = mask
                        n_masks += 1
                elif depth < max_size:
                    to_try[depth] = branch
                    n_branches[depth] = fewest
                    candidates[depth] &= ~branch
                if nodes > most_nodes:
                    break
            if to_try[depth] == _ZERO:
                depth -= 1
                if depth < 0:
                    break
                candidates[depth] |= _ONE << chosen[depth]
                continue
            member = lowest_bit(to_try[depth])
            to_try[depth] &= to_try[depth] - _ONE
            needed = True
            for d in range(depth):
                left = _ZERO
                for w in range(n_words):
                    word = critical[depth, d, w] & ~met[member, w]
                    critical[depth + 1, d, w] = word
                    left |= word
                if left == _ZERO:
                    needed = False
                    break
            if not needed:
                continue
            for w in range(n_words):
                word = open_sets[depth, w]
                critical[depth + 1, depth, w] = word & met[member, w]
                open_sets[depth + 1, w] = word & ~met[member, w]
            chosen[depth] = member
            candidates[depth + 1] = candidates[depth]
            depth += 1
            arrived = True
        part = 1.0
        if depth >= 0:
            n_ended += 1
            part = 0.0
            share = 1.0
            for d in range(depth):
                share /= n_branches[d]
                part += share * (n_branches[d] - count_bits(to_try[d]) - _ONE)
            part = max(part, share)
            n_sets[t] = np.int64(min(n_sets[t] / part, 1e15))
        all_steps += nodes * (1 + n_words) / part
    return masks[:n_masks], all_steps, n_ended
