from __future__ import annotations

import numpy as np
from hypothesis import given

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.propagation_kernels import propagate, rows_of_cells
from tests.twins.possible_tables import (
    all_tables,
    bounds_by_enumeration,
    is_unbounded,
    pairs_of_three,
    releases,
)


def propagated(constraints, first=None):
    """Tighten from the loosest limits; return the row that cannot hold, or -1, and the limits."""
    rows = constraints.rows
    lower = np.zeros(constraints.size, np.int64)
    upper = np.full(constraints.size, UNBOUNDED, np.int64)
    waiting = np.zeros(len(rows), np.int64)
    order = np.arange(len(rows)) if first is None else np.asarray(first)
    waiting[: len(order)] = order
    at = rows_of_cells(rows.starts, rows.cells, constraints.size)
    failed = propagate(
        rows.starts, rows.cells, rows.lower, rows.upper, *at, lower, upper, waiting, len(order)
    )
    return failed, lower, upper


def tightened_by_every_row(constraints):
    """Tighten every cell by every row, over and over, until nothing changes."""
    rows = constraints.rows
    lower = [0] * constraints.size
    upper = [UNBOUNDED] * constraints.size
    changed = True
    while changed:
        changed = False
        for row in range(len(rows)):
            cells = rows.cells[rows.starts[row] : rows.starts[row + 1]].tolist()
            for cell in cells:
                others = [other for other in cells if other != cell]
                most, least = upper[cell], lower[cell]
                if rows.upper[row] < UNBOUNDED:
                    most = min(most, int(rows.upper[row]) - sum(lower[k] for k in others))
                if all(upper[k] < UNBOUNDED for k in others):
                    least = max(least, int(rows.lower[row]) - sum(upper[k] for k in others))
                if least > most:
                    return None
                if (least, most) != (lower[cell], upper[cell]):
                    lower[cell], upper[cell], changed = least, most, True
    return lower, upper


@given(releases())
def test_limits_are_those_of_plain_loops_in_any_order(constraints):
    expected = tightened_by_every_row(constraints)
    backwards = np.arange(len(constraints.rows))[::-1]
    for first in (None, backwards):
        failed, lower, upper = propagated(constraints, first)
        if expected is None:
            assert 0 <= failed < len(constraints.rows)
            assert len(all_tables(constraints)) == 0
        else:
            assert failed == -1
            assert (lower.tolist(), upper.tolist()) == expected


@given(releases(can_conflict=False))
def test_limits_contain_every_table(constraints):
    failed, lower, upper = propagated(constraints)
    assert failed == -1
    least, most = bounds_by_enumeration(constraints)
    assert np.all(lower <= least)
    assert np.all(upper >= most)
    assert np.all((upper >= UNBOUNDED) == is_unbounded(constraints))


@given(releases())
def test_rows_of_cells_turn_rows_around(constraints):
    rows = constraints.rows
    starts, of = rows_of_cells(rows.starts, rows.cells, constraints.size)
    for cell in range(constraints.size):
        expected = [
            row
            for row in range(len(rows))
            if cell in rows.cells[rows.starts[row] : rows.starts[row + 1]]
        ]
        assert of[starts[cell] : starts[cell + 1]].tolist() == expected


def test_what_one_row_at_a_time_does_not_see():
    # x0 + x1, x1 + x2 and x0 + x2 are 1: there is no table, and no row says so alone.
    failed, lower, upper = propagated(pairs_of_three(1, 1, 1))
    assert failed == -1
    assert lower.tolist() == [0, 0, 0]
    assert upper.tolist() == [1, 1, 1]
    assert len(all_tables(pairs_of_three(1, 1, 1))) == 0
