from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
    NoTableError,
)
from gamekeeper.algorithms.releases.margin_agreement import require_agreement
from gamekeeper.algorithms.releases.structure import release_structure
from tests.twins.integer_programs import is_feasible

SHAPE = (2, 3, 2)
AXES = [(), (0,), (1,), (2,), (0, 1), (1, 2), (0, 2)]


def margin_of(table, axes):
    return table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes))


def conflict(constraints):
    try:
        require_agreement(constraints)
    except NoTableError as error:
        return error.rows
    return ()


@st.composite
def spoilt(draw):
    """Draw exact margins of a table, one of them with a wrong count."""
    counts = draw(st.lists(st.integers(0, 4), min_size=12, max_size=12))
    table = np.array(counts).reshape(SHAPE)
    axes = draw(st.lists(st.sampled_from(AXES), min_size=2, max_size=4, unique=True))
    margins = [(kept, np.array(margin_of(table, kept))) for kept in axes]
    wrong = draw(st.sampled_from([margin[1] for margin in margins]))
    place = draw(st.integers(0, wrong.size - 1))
    wrong.reshape(-1)[place] += draw(st.sampled_from([-2, -1, 1, 2]))
    return CountConstraints.of(SHAPE, margins)


@pytest.mark.slow
@given(spoilt())
@settings(max_examples=25, deadline=None)
def test_rows_that_contradict_each_other_are_irreducible(constraints):
    rows = conflict(constraints)
    if release_structure(constraints).decomposable:
        assert bool(rows) != is_feasible(constraints)
    assume(rows)
    assert len(set(rows)) == len(rows)
    assert not is_feasible(constraints, rows)
    for row in rows:
        assert is_feasible(constraints, [other for other in rows if other != row])


@given(st.lists(st.integers(0, 5), min_size=12, max_size=12))
def test_margins_of_one_table_agree(counts):
    table = np.array(counts).reshape(SHAPE)
    assert (
        conflict(CountConstraints.of(SHAPE, [(kept, margin_of(table, kept)) for kept in AXES]))
        == ()
    )


def test_an_impossible_count_is_a_contradiction_by_itself():
    assert conflict(CountConstraints.of((2,), [((0,), [1, -1])])) == (1,)
    assert conflict(CountConstraints.of((2,), [((), 3), ((0,), [2, 1], [1, 1])])) == (1,)


@pytest.mark.parametrize(
    ("low", "high", "rows"),
    [(0, 5, (0, 1, 3)), (8, 9, (0, 1, 2, 3)), (7, UNBOUNDED, ()), (0, 7, ())],
)
def test_limits_must_hold_what_exact_margins_imply(low, high, rows):
    known = CountConstraints.of((3,), [((0,), [4, 2, 1]), ((), low, high)])
    assert conflict(known) == rows


def test_recoded_margins_are_compared_with_the_sums_of_their_groups():
    groups = (np.array([1, 0, 1]), np.zeros(2, np.int64))
    right = np.array([[5], [4]])
    exact = CountConstraints.of((3, 2), [((0, 1), [[1, 1], [2, 3], [1, 1]])])

    def with_recoded(low, high):
        return CountConstraints((3, 2), (*exact.margins, CountMargin(groups, low, high)))

    assert conflict(with_recoded(right, right)) == ()
    assert conflict(with_recoded(right, right + 1)) == ()
    assert conflict(with_recoded(np.array([[5], [5]]), right + 1)) == (0, 1, 4, 5, 7)
    assert conflict(with_recoded(right - 2, np.array([[3], [4]]))) == (2, 3, 6)
