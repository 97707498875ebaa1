from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.releases.components import components, tightened
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, NoTableError
from tests.given.cases import cases
from tests.twins.possible_tables import all_tables, is_unbounded, releases


def limits_of(constraints):
    nothing = np.zeros(constraints.size, np.int64)
    return tightened(constraints.rows, nothing, np.full(constraints.size, UNBOUNDED))


@cases(25)
@given(releases(can_conflict=False))
def test_the_tables_of_the_components_are_those_of_the_whole(constraints):
    limits = limits_of(constraints)
    assert np.array_equal(limits.unbounded, is_unbounded(constraints))
    parts = components(constraints.rows, limits, np.arange(constraints.size))
    cells = np.concatenate([part.cells for part in parts]) if parts else np.zeros(0, int)
    assert sorted(cells.tolist()) == np.flatnonzero(limits.lower < limits.upper).tolist()
    whole = {tuple(table) for table in all_tables(constraints)}
    fixed = np.setdiff1d(np.arange(constraints.size), cells)
    for table in whole:
        assert np.array_equal(np.array(table)[fixed], limits.lower[fixed])
    number = 1
    for part in parts:
        ranges = [range(top + 1) for top in part.upper.tolist()]
        grid = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(part.cells))
        own = {tuple(table) for table in grid if part.admits(table)}
        assert own == {
            tuple(np.array(table)[part.cells] - limits.lower[part.cells]) for table in whole
        }
        number *= len(own)
    # As many combinations as tables: the components say nothing about each other.
    assert number == len(whole)


def test_blocks_of_a_table_are_components():
    known = CountConstraints.of(
        (4, 4),
        [
            ((0,), [3, 2, 4, 1]),
            ((1,), [1, 4, 2, 3]),
            (
                (0, 1),
                np.zeros((4, 4), int),
                9 * np.kron(np.eye(2, dtype=int), np.ones((2, 2), int)),
            ),
        ],
    )
    parts = components(known.rows, limits_of(known), np.full(16, -1))
    assert [part.cells.tolist() for part in parts] == [[0, 1, 4, 5], [10, 11, 14, 15]]
    assert all(len(part.sums) == 0 for part in parts)


def test_limits_that_cross_leave_no_table():
    known = CountConstraints.of((2,), [((), 3)])
    with pytest.raises(NoTableError):
        tightened(known.rows, np.array([2, 0]), np.array([1, 5]))
    with pytest.raises(NoTableError):
        tightened(known.rows, np.array([2, 2]), np.array([5, 5]))
