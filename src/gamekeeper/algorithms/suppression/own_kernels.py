"""Compiled making of classes of identical rows: close, join, recruit."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compatibility.key_kernels import enter_rows, place_in
from gamekeeper.algorithms.compiling import inner, kernel


@inner
def _take_classes(open_keys, open_records, n_open, place_of, joined, class_size, class_of):
    """Let records have the class that their place joined; move the others together, return how many."""
    left = np.int64(0)
    for i in range(n_open):
        own = joined[place_of[i]]
        if own >= 0:
            class_of[open_records[i]] = own
            class_size[own] += 1
        else:
            for word in range(open_keys.shape[1]):
                open_keys[left, word] = open_keys[i, word]
            open_records[left] = open_records[i]
            left += 1
    return left


@kernel
def close_classes(
    keys, open_keys, open_records, n_open, kept, k, class_first, class_here,
    n_classes, class_size, class_of, slots, room, sums,
):  # fmt: skip
    """Give records that have no class one, where k of them agree on the kept fields or a class is there.

    `class_here` lists the classes that are suppressed in the same columns, and `class_first` has a
    record of each class. Returns how many are left and how many classes there are.
    """
    place_of, row_at, joined = room[0], room[1], room[2]
    n_places = enter_rows(open_keys, np.int64(0), n_open, kept, slots, place_of, row_at)
    for place in range(n_places):
        sums[place] = 0
        joined[place] = -1
    for i in range(n_open):
        sums[place_of[i]] += 1
    for c in class_here:
        place = place_in(keys, class_first[c], kept, open_keys, slots, row_at)
        if place >= 0:
            joined[place] = c
    for place in range(n_places):
        if joined[place] < 0 and sums[place] >= k:
            joined[place] = n_classes
            class_first[n_classes] = open_records[row_at[place]]
            class_size[n_classes] = 0
            n_classes += 1
    left = _take_classes(open_keys, open_records, n_open, place_of, joined, class_size, class_of)
    return left, n_classes


@kernel
def recruit(
    keys, open_keys, open_records, n_open, kept, k, least, class_first, n_classes, class_size,
    class_of, slots, room, sums, head, following,
):  # fmt: skip
    """Make classes of at least `least` records without one and others whose class can spare them.

    Returns how many are left without a class and how many classes there are.
    """
    place_of, row_at, joined = room[0], room[1], room[2]
    n_places = enter_rows(open_keys, np.int64(0), n_open, kept, slots, place_of, row_at)
    for place in range(n_places):
        sums[place] = 0
        head[place] = -1
        joined[place] = -1
    for i in range(n_open):
        sums[place_of[i]] += 1
    for record in range(len(keys)):
        own = class_of[record]
        if own < 0 or class_size[own] <= k:
            continue
        place = place_in(keys, record, kept, open_keys, slots, row_at)
        if place >= 0 and sums[place] >= least:
            following[record] = head[place]
            head[place] = record
    for place in range(n_places):
        need = k - sums[place]
        if sums[place] < least or need <= 0:
            continue
        found = np.int64(0)
        record = head[place]
        while record >= 0 and found < need:
            own = class_of[record]
            if class_size[own] > k:
                class_size[own] -= 1
                found += 1
                # Marked, so that it can be taken back.
                class_of[record] = -2 - own
            record = following[record]
        is_full = found == need
        record = head[place]
        while record >= 0:
            if class_of[record] <= -2:
                if is_full:
                    class_of[record] = n_classes
                else:
                    own = -2 - class_of[record]
                    class_of[record] = own
                    class_size[own] += 1
            record = following[record]
        if is_full:
            joined[place] = n_classes
            class_first[n_classes] = open_records[row_at[place]]
            class_size[n_classes] = need
            n_classes += 1
    left = _take_classes(open_keys, open_records, n_open, place_of, joined, class_size, class_of)
    return left, n_classes
