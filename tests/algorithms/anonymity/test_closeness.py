"""t-closeness against distributions written out in full."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.anonymity.closeness import equal_distance, ordered_distance
from gamekeeper.algorithms.anonymity.diversity import count_values

RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=16)


def shares(values, every):
    return [Fraction(values.count(value), len(values)) for value in every]


@given(RECORDS)
def test_every_class_by_its_definition(records):
    classes, values = (np.array(part) for part in zip(*records, strict=True))
    found = count_values(classes, values, 5)
    equal, ordered = equal_distance(found), ordered_distance(found)
    every = sorted({v for _, v in records if v})
    for number in range(found.n_classes):
        own = [v for k, v in records if k == number and v]
        if not own:
            assert np.isnan(equal[number])
            assert np.isnan(ordered[number])
            continue
        q = shares([v for _, v in records if v], every)
        apart = [a - b for a, b in zip(shares(own, every), q, strict=True)]
        assert equal[number] == pytest.approx(float(sum(map(abs, apart)) / 2), abs=1e-15)
        steps = max(len(every) - 1, 1)
        moved = float(sum(map(abs, accumulate(apart))) / steps)
        assert ordered[number] == pytest.approx(moved, abs=1e-12)


def test_a_class_like_the_file_is_exactly_zero_away():
    classes, values = np.array([0] * 3 + [1] * 3), np.array([1, 2, 3] * 2)
    assert equal_distance(count_values(classes, values, 3)).tolist() == [0, 0]


def test_the_salaries_of_the_paper():
    # Li, Li and Venkatasubramanian: {3k, 4k, 5k} is 0.375 from 3k to 11k, {6k, 8k, 11k} is 0.167.
    classes = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1])
    found = ordered_distance(count_values(classes, np.arange(1, 10), 9))
    assert found[:2] == pytest.approx([3 / 8, 1 / 6])
