"""The cheapest groups of one variable against all ways to cut it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.perturbation.univariate_groups import group_sizes, univariate_groups

VALUES = st.lists(st.integers(-30, 30), max_size=11)


def error(values):
    mean = Fraction(sum(values), len(values))
    return sum((value - mean) ** 2 for value in values)


def least_error(ordered, k):
    """Return the least error over all cuts in groups of at least k, of whatever size."""
    if not ordered:
        return 0
    ends = [n for n in range(k, len(ordered) + 1) if n == len(ordered) or len(ordered) - n >= k]
    found = [error(ordered[:n]) + least_error(ordered[n:], k) for n in ends]
    return min(found, default=error(ordered))


@given(VALUES, st.integers(1, 4))
def test_no_cut_is_cheaper(values, k):
    ordered = sorted(values)
    sizes = group_sizes(ordered, k)
    assert sum(sizes) == len(ordered)
    if len(ordered) >= 2 * k:
        assert min(sizes) >= k
        assert max(sizes) < 2 * k
    else:
        assert len(sizes) == min(1, len(ordered))
    total, rest = Fraction(0), ordered
    for size in sizes:
        total, rest = total + error(rest[:size]), rest[size:]
    assert total == (least_error(ordered, k) if len(ordered) >= k else error(ordered or [0]))


@given(VALUES, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing_but_equal_values(values, k, random):
    labels = univariate_groups(values, k)
    shuffled = list(range(len(values)))
    random.shuffle(shuffled)
    again = univariate_groups([values[i] for i in shuffled], k)
    pairs = sorted(zip(values, labels, strict=True))
    assert sorted(zip([values[i] for i in shuffled], again, strict=True)) == pairs


def test_large_numbers_close_together_lose_no_digits():
    near = 1e9 + np.array([0.0, 0.001, 0.1, 0.101, 0.2, 0.201])
    assert group_sizes(near, 2) == [2, 2, 2]
