"""Losses of numbers, overlaps of intervals and sizes of classes, by their definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.utility import complete_moments, il1s, overlap, signed_overlap
from tests.twins.class_utility import discernibility, mean_class_size

INTERVALS = st.tuples(st.integers(-9, 9), st.integers(0, 6)).map(
    lambda pair: (Fraction(pair[0]), Fraction(pair[0] + pair[1]))
)


@given(INTERVALS, INTERVALS)
def test_overlap_by_its_definition(first, second):
    signed = signed_overlap(first, second)
    assert signed == signed_overlap(second, first)
    common = min(first[1], second[1]) - max(first[0], second[0])
    lengths = [high - low for low, high in (first, second)]
    if common < 0:
        assert overlap(first, second) == 0
        assert signed is None if 0 in lengths else signed < 0
    elif 0 not in lengths:
        assert signed == overlap(first, second) == sum(common / length for length in lengths) / 2
    else:
        assert signed == sum(common / length if length else 1 for length in lengths) / 2
    assert signed_overlap(first, first) == 1


def test_an_interval_that_ends_before_it_begins():
    with pytest.raises(ValueError, match="begins"):
        overlap((2.0, 1.0), (0.0, 1.0))


@given(st.lists(st.tuples(*[st.integers(-9, 9)] * 4), min_size=2, max_size=9))
def test_il1s_by_its_definition(rows):
    before, after = [row[:2] for row in rows], [row[2:] for row in rows]
    total = 0.0
    for place in range(2):
        spread = stdev([float(row[place]) for row in before])
        moved = sum(abs(b[place] - a[place]) for b, a in zip(before, after, strict=True))
        if moved and not spread:
            assert il1s(before, after).total is None
            return
        total += moved / (math.sqrt(2) * spread) if moved else 0
    found = il1s(before, after)
    assert found.total == pytest.approx(total)
    assert found.per_cell == pytest.approx(total / (2 * len(rows)))


def test_lost_cells_are_counted_and_not_moved():
    found = il1s([[1.0], [3.0], [np.nan]], [[np.nan], [3.0], [4.0]])
    assert (found.total, found.n_cells, found.n_lost) == (0.0, 1, 1)


def test_moments_are_of_complete_records():
    values = np.array([[1.0, 2.0], [3.0, 6.0], [np.nan, 1.0], [5.0, 4.0]])
    found = complete_moments(values, [1, 2, 5, 1])
    repeated = values[[0, 1, 1, 3]]
    assert found.n_records == 3
    assert found.means == pytest.approx(repeated.mean(axis=0))
    assert found.covariances == pytest.approx(np.cov(repeated.T, ddof=0))
    assert np.isnan(complete_moments([[np.nan]]).means).all()


def test_sizes_of_classes():
    assert discernibility([1, 1, 4]) == 18
    assert mean_class_size([1, 1, 4]) == 2
    assert mean_class_size([]) == 0
