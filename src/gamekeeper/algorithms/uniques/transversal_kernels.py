"""Compiled search for minimal sample uniques as minimal transversals, record by record.

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

from gamekeeper.algorithms.bit_intrinsics import count_bits, lowest_bit
from gamekeeper.algorithms.compiling import inner, kernel
from gamekeeper.algorithms.uniques.pair_kernels import agreement, index_bit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TO_SIX = np.uint64(6)
_WORD = np.uint64(63)


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
            flag = _ONE << (np.uint64(i) & _WORD)
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
