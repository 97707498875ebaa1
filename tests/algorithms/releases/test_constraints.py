from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
    kept_axes,
)
from gamekeeper.errors import InputError, Reason
from tests.twins.possible_tables import all_tables, releases


def cells_of(shape, margin):
    """Return for each place of a margin the base cells that add up to it, by their categories."""
    found = {}
    for cell in itertools.product(*(range(length) for length in shape)):
        place = tuple(int(own[k]) for own, k in zip(margin.groups, cell, strict=True))
        found.setdefault(place, []).append(int(np.ravel_multi_index(cell, shape)))
    return found


@given(releases())
def test_rows_sums_and_cells_are_those_of_the_groups(constraints):
    rows = constraints.rows
    table = np.random.default_rng(1).integers(0, 9, constraints.shape)
    row = 0
    for number, margin in enumerate(constraints.margins):
        places = cells_of(constraints.shape, margin)
        sums = margin.sums(table)
        assert sums.shape == margin.shape
        for at, place in enumerate(np.ndindex(margin.shape)):
            own = rows.cells[rows.starts[row] : rows.starts[row + 1]].tolist()
            assert sorted(own) == places[place]
            assert np.flatnonzero(margin.cells == at).tolist() == places[place]
            assert sums[place] == table.reshape(-1)[places[place]].sum()
            assert (rows.margin[row], rows.cell[row]) == (number, at)
            assert (rows.lower[row], rows.upper[row]) == (margin.lower[place], margin.upper[place])
            row += 1
    assert row == len(rows)


@given(releases(can_conflict=False))
def test_tables_that_fit_are_admitted_and_within_the_limits_of_cells(constraints):
    lower, upper = (limits.reshape(-1) for limits in constraints.cell_limits())
    for table in all_tables(constraints)[:200]:
        assert constraints.admits(table)
        assert np.all(lower <= table)
        assert np.all(table <= upper)
        known = np.minimum(table, 1)
        more = constraints.at_least(known)
        assert more.admits(table)
        assert len(more.rows) == len(constraints.rows) + constraints.size
        if known.any():
            fewer = table.copy()
            fewer[np.flatnonzero(known)[0]] = 0
            assert not more.admits(fewer)


def test_a_table_below_zero_is_not_admitted():
    known = CountConstraints.of((2,), [((), 3)])
    assert known.admits([3, 0])
    assert not known.admits([4, -1])
    assert not known.admits([2, 0])


def test_kinds_of_margins():
    whole = kept_axes((2, 3), (1, 0), np.arange(6).reshape(3, 2))
    assert whole.lower.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert (whole.axes, whole.plain, whole.exact) == ((0, 1), True, True)
    column = kept_axes((2, 3), (1,), [0, 1, 2], [0, 1, UNBOUNDED])
    assert column.shape == (1, 3)
    assert (column.axes, column.plain, column.exact) == ((1,), True, False)
    grouped = CountMargin((np.array([0, 1]), np.array([0, 0, 1])), np.ones((2, 2), np.int64),
                          np.ones((2, 2), np.int64))  # fmt: skip
    assert (grouped.axes, grouped.plain) == ((0, 1), False)
    # An axis with one category is kept and summed out at once.
    assert kept_axes((1, 3), (1,), [0, 1, 2]).axes == (0, 1)


def test_nothing_published_limits_nothing():
    known = CountConstraints((2, 2), ())
    assert len(known.rows) == 0
    lower, upper = known.cell_limits()
    assert not lower.any()
    assert np.all(upper == UNBOUNDED)


@pytest.mark.parametrize(
    ("axes", "counts", "reason"),
    [
        ((0, 2), [[1, 1], [1, 1]], Reason.BAD_OPTION),
        ((0, 0), [[1, 1], [1, 1]], Reason.BAD_OPTION),
        ((-1,), [1, 1], Reason.BAD_OPTION),
        ((0,), [1, 1, 1], Reason.MALFORMED),
        ((), [1], Reason.MALFORMED),
    ],
)
def test_margins_that_do_not_fit(axes, counts, reason):
    with pytest.raises(InputError) as caught:
        CountConstraints.of((2, 3), [(axes, counts)])
    assert caught.value.reason is reason
