from __future__ import annotations

import math

import numpy as np
import pytest

from gamekeeper.algorithms.linkage.agreement_levels import (
    fine_limits,
    require_limits,
    shares_of_pairs,
)
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
    compare_numbers,
    compare_sinks,
    compare_texts,
)
from gamekeeper.errors import InputError


def test_levels_are_fine_where_distances_are_many():
    rng = np.random.default_rng(1)
    numbers = compare_numbers(rng.normal(size=300), rng.normal(size=300))
    assert len(fine_limits(numbers)) == 24
    assert fine_limits(compare_categories([1, 2], [1, 2])) == (0.0,)
    assert fine_limits(compare_texts([1], [1], ["a"], ["b"])) == (0.0, 0.12, 0.3)
    # What cannot be the same person is a level of its own, beyond every overlap.
    assert fine_limits(compare_sinks([1], [1], [[1, 0]], [[0, 1]]))[-1] == 1.0
    assert fine_limits(compare_numbers([], [])) == (0.0,)


def test_shares_of_levels_leave_out_what_is_missing():
    number = compare_numbers([1.0, 2.0, math.nan], [1.0, 4.0], name="N")
    text = compare_texts([1, 0, 2], [1, 1], ["anna", "bert"], ["anne"], name="T")
    rows, columns = np.divmod(np.arange(6), 2)
    # Levels 0, 2, 1, 2 of the numbers, and 0, 0, 1, 1 of the texts; half a pair more of each.
    numbers, texts = shares_of_pairs([number, text], [(0.0, 1.0), (0.25,)], rows, columns)
    assert numbers == pytest.approx(np.array([1.5, 1.5, 2.5]) / 5.5)
    assert texts == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    "limits", [[(0.0,)], [(0.0,), ()], [(0.0,), (1.0, 0.5)], [(0.0,), (-1.0,)]]
)
def test_limits_that_do_not_fit_are_refused(limits):
    comparisons = [compare_categories([1, 2], [2, 1])] * 2
    with pytest.raises(InputError):
        require_limits(comparisons, limits)
    with pytest.raises(InputError):
        require_limits([], [])
