"""Rank swapping: what it may do, and with which chances."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import InputError
from gamekeeper.algorithms.perturbation.rank_swapping import (
    check_swap,
    rank_swapped,
    swapped_within,
)
from gamekeeper.algorithms.perturbation.rank_swapping_kernels import partners

VALUES = st.lists(st.integers(0, 9), min_size=2, max_size=30)


def slow_partners(draws, limit):
    partner = list(range(len(draws)))
    free = set(partner)
    for rank in range(len(draws)):
        if rank not in free:
            continue
        free.discard(rank)
        near = sorted(other for other in free if other <= rank + limit)
        if near:
            other = near[int(draws[rank] * len(near))]
            partner[rank], partner[other] = other, rank
            free.discard(other)
    return partner


@given(st.lists(st.floats(0, 1, exclude_max=True), max_size=40), st.integers(1, 12))
def test_partners_by_the_definition(draws, limit):
    assert partners(np.array(draws, float), limit).tolist() == slow_partners(draws, limit)


def slow_differences(before, after):
    ranks = {}
    for rank, value in enumerate(sorted(before)):
        ranks.setdefault(value, []).append(rank)
    return [
        min(abs(a - b) for a in ranks[old] for b in ranks[new])
        for old, new in zip(before, after, strict=True)
    ]


@given(VALUES, st.fractions(Fraction(1, 10), 1), st.integers(0, 99))
def test_values_stay_and_none_moves_too_far(values, share, seed):
    if int(share * len(values)) < 1:
        return
    draws = np.random.default_rng(seed).random((len(values), 2))
    swapped = rank_swapped(values, share, draws)
    found = check_swap(values, swapped, share)
    assert found.same_values
    assert found.within_limit
    assert found.rank_differences == slow_differences(values, swapped.tolist())
    order = np.random.default_rng(seed + 1).permutation(len(values))
    again = rank_swapped(np.array(values)[order], share, draws[order])
    assert again.tolist() == swapped[order].tolist()


def test_each_free_rank_in_the_window_is_taken_as_often():
    draws = np.random.default_rng(5).random((6000, 4))
    first = [int(partners(row, 3)[0]) for row in draws]
    counts = np.bincount(first, minlength=4)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 2000).max() < 150


def test_the_odd_one_out_stays():
    swapped = rank_swapped([1, 2, 3], Fraction(1, 3), np.zeros((3, 2)))
    assert swapped.tolist() == [2.0, 1.0, 3.0]


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 20), Fraction(3, 2)])
def test_less_than_one_rank_is_refused(share):
    with pytest.raises(InputError):
        swapped_within(10, share)


def test_other_values_are_seen():
    assert not check_swap([1, 2], [1, 3], Fraction(1)).same_values
