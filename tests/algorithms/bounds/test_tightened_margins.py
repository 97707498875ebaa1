from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.bounds.tightened_margins import tightened_margins
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, NoTableError
from tests.twins.possible_tables import all_tables, bounds_by_enumeration, releases


@given(releases(can_conflict=False))
def test_tables_stay_and_limits_of_sums_are_attained(constraints):
    made = tightened_margins(constraints)
    tables = all_tables(constraints)
    for before, after in zip(constraints.margins, made.margins, strict=True):
        assert after.groups == before.groups
        least, most = bounds_by_enumeration(constraints, before.cells)
        assert after.lower.reshape(-1).tolist() == least.tolist()
        # Tables are listed up to what sums without a limit need, so that these are not attained.
        limited = after.upper.reshape(-1) < UNBOUNDED
        assert after.upper.reshape(-1)[limited].tolist() == most[limited].tolist()
        assert np.all(after.upper <= before.upper)
    assert all(made.admits(table) for table in tables)


def test_large_releases_are_left_as_they_are():
    known = CountConstraints.of((2,), [((0,), [2, 2], [4, 4]), ((), 0, 4)])
    assert tightened_margins(known, max_rows=2) is known
    assert tightened_margins(known, max_rows=3).margins[0].upper.tolist() == [2, 2]


def test_a_contradiction_is_found():
    known = CountConstraints.of((2,), [((0,), [3, 3], [4, 4]), ((), 0, 4)])
    with pytest.raises(NoTableError):
        tightened_margins(known)
