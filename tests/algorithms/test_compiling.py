from __future__ import annotations

import numba
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.compiling import count_bits, lowest_bit, met_subsets

words = st.integers(0, 2**64 - 1)
sparse = st.sets(st.integers(0, 63), max_size=6).map(lambda bits: sum(1 << bit for bit in bits))


@numba.njit
def met(masks):
    return met_subsets(masks[0], masks[1], masks[2], masks[3], masks[4], masks[5], masks[6])


@numba.njit
def counted(word):
    return count_bits(word), lowest_bit(word)


@given(st.lists(words | sparse, min_size=7, max_size=7))
@example([2**64 - 1] * 7)
@example([0] * 7)
@settings(deadline=None)
def test_sets_that_meet_are_found_at_once(masks):
    expected = 0
    for chosen in range(64):
        common = masks[0]
        for bit in range(6):
            if chosen >> bit & 1:
                common &= masks[1 + bit]
        expected |= (common != 0) << chosen
    assert int(met(np.array(masks, dtype=np.uint64))) == expected


@given(words.filter(bool))
@settings(deadline=None)
def test_bits_are_counted_and_the_lowest_is_found(word):
    n_bits, lowest = counted(np.uint64(word))
    assert int(n_bits) == word.bit_count()
    assert int(lowest) == (word & -word).bit_length() - 1
