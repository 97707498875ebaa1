"""Compiled walk through sets of columns: which rows have k candidates on what is left of them."""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.compatibility.key_kernels import enter_rows, place_in
from gamekeeper.algorithms.compiling import inner, kernel


@inner
def _n_slots(n_rows):
    size = np.int64(16)
    while size < 2 * n_rows:
        size *= 2
    return size


@kernel
def sum_candidates(
    keys, counts, starts, known, asked, n_asked, kept, mask, slots, room, sums, found
):
    """Add up for each asked row what the people count who agree with it on the kept fields.

    `known` has the fields that are known of each group of people; `mask` is room for one line.
    """
    place_of, row_at = room[0], room[1]
    table = slots[: _n_slots(n_asked)]
    for i in range(n_asked):
        found[i] = 0
    for group in range(len(starts) - 1):
        for word in range(len(mask)):
            mask[word] = kept[word] & known[group, word]
        for at in range(len(table)):
            table[at] = -1
        n_places = enter_rows(asked, np.int64(0), n_asked, mask, table, place_of, row_at)
        for place in range(n_places):
            sums[place] = 0
        for row in range(starts[group], starts[group + 1]):
            place = place_in(keys, row, mask, asked, table, row_at)
            if place >= 0:
                sums[place] += counts[row]
        for i in range(n_asked):
            found[i] += sums[place_of[i]]


@kernel
def walk_sets(
    keys, counts, starts, known, asked, numbers, n_asked, kept, first_set, k, mask, slots, room,
    sums, found, chosen,
):  # fmt: skip
    """Try sets in their order; note for each asked row the first that gives it k. Return how many are left.

    `asked` has the words of the rows that are looked at and `numbers` their numbers in `chosen`; both
    are shortened as rows are done with.
    """
    for number in range(len(kept)):
        if n_asked == 0:
            break
        sum_candidates(
            keys, counts, starts, known, asked, n_asked, kept[number], mask, slots, room, sums, found
        )  # fmt: skip
        left = np.int64(0)
        for i in range(n_asked):
            if found[i] >= k:
                chosen[numbers[i]] = first_set + number
            else:
                for word in range(asked.shape[1]):
                    asked[left, word] = asked[i, word]
                numbers[left] = numbers[i]
                left += 1
        n_asked = left
    return n_asked
