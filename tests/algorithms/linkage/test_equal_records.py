"""Groups of equal records against a slow twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.equal_records import equal_records
from tests.given.cases import cases

CELL = st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan])


@cases(60)
@given(st.lists(st.tuples(CELL, st.integers(0, 2)), min_size=1, max_size=12), st.booleans())
def test_groups_are_of_equal_records(rows, side):
    numbers = np.array([one for one, _ in rows])
    codes = np.array([other for _, other in rows], np.int32)
    none, no_code = np.zeros(1), np.zeros(1, np.int32)
    comparisons = [
        Comparison("x", "absolute", *((none, numbers) if side else (numbers, none))),
        Comparison("c", "different", *((no_code, codes) if side else (codes, no_code))),
    ]
    found = equal_records(comparisons, int(side))
    keys = [("missing" if np.isnan(one) else one, other) for one, other in rows]
    for i, key in enumerate(keys):
        same = [j for j, other in enumerate(keys) if other == key]
        assert found.sizes[found.groups[i]] == len(same)
        assert all((found.groups[i] == found.groups[j]) == (j in same) for j in range(len(keys)))
        assert keys[found.firsts[found.groups[i]]] == key
    n_twins = sum(keys.count(key) > 1 for key in keys)
    assert found.are_many == (n_twins > 0.1 * len(keys))
    assert found.are_whole == (found.are_many and len(keys) - n_twins <= 0.01 * len(keys))
