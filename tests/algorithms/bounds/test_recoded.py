from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.bounds.recoded import closed_sum_bounds
from gamekeeper.algorithms.releases.constraints import CountConstraints, CountMargin, NoTableError
from tests.twins.integer_programs import recoded_bounds

# Releases of four axes of 3, 2, 2 and 2 categories.
RELEASES = [
    [(0, 1), (0, 2), (0, 3)],
    [(0, 1), (1, 2), (2, 3)],
    [(0, 1, 2), (1, 2, 3)],
    [(0, 1), (2,), (3,)],
    [(1, 2), (2, 3)],
    [(0, 1, 2, 3)],
]
GROUPS = [[0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 2], [2, 0, 1]]
SHAPE = (3, 2, 2, 2)


def released(table, margins):
    return CountConstraints.of(
        SHAPE,
        [(axes, table.sum(axis=tuple(a for a in range(4) if a not in axes))) for axes in margins],
    )


@st.composite
def recodings(draw):
    groups = [draw(st.sampled_from(GROUPS))]
    groups += [draw(st.sampled_from([[0, 0], [0, 1]])) for _ in range(3)]
    return [np.array(group) for group in groups]


def numbered(groups):
    shape = tuple(int(group.max()) + 1 for group in groups)
    empty = np.zeros(shape, np.int64)
    return CountMargin(tuple(groups), empty, empty).cells, shape


@pytest.mark.slow
@given(
    st.sampled_from(RELEASES),
    recodings(),
    st.lists(st.sampled_from([0, 0, 1, 3]), min_size=24, max_size=24),
)
@settings(max_examples=60, deadline=None)
def test_closed_bounds_of_recoded_tables_are_those_of_integer_programs(margins, groups, counts):
    constraints = released(np.array(counts).reshape(SHAPE), margins)
    found = closed_sum_bounds(constraints, groups)
    if found is None:
        return
    lower, upper = recoded_bounds(constraints, *numbered(groups))
    assert np.array_equal(found[0], lower)
    assert np.array_equal(found[1], upper)


@pytest.mark.parametrize(
    ("margins", "kept", "is_closed"),
    [
        ([(0, 1), (0, 2), (0, 3)], (1, 2, 3), True),
        ([(0, 1), (0, 2), (0, 3)], (1, 2), True),
        ([(0, 1), (1, 2), (2, 3)], (0, 1), True),
        ([(0, 1), (1, 2), (2, 3)], (0, 3), False),
        ([(0, 1), (1, 2), (2, 3)], (0, 2), True),
        ([(0, 1, 2), (1, 2, 3)], (0, 3), True),
        ([(1, 2), (2, 3)], (0, 2), True),
        ([(0, 1), (1, 2), (0, 2)], (0, 1), False),
    ],
)
def test_which_marginal_tables_have_a_closed_form(margins, kept, is_closed):
    table = np.random.default_rng(5).poisson(0.8, SHAPE)
    constraints = released(table, margins)
    groups = [np.arange(n) if a in kept else np.zeros(n, int) for a, n in enumerate(SHAPE)]
    found = closed_sum_bounds(constraints, groups)
    assert (found is not None) == is_closed
    if found is not None:
        lower, upper = recoded_bounds(constraints, *numbered(groups))
        assert np.array_equal(found[0], lower)
        assert np.array_equal(found[1], upper)


@pytest.mark.parametrize("margins", RELEASES[:3])
@pytest.mark.parametrize("first", [[0, 1, 0], [2, 0, 1]])
def test_recoded_axes(margins, first):
    table = np.random.default_rng(6).poisson(0.8, SHAPE)
    constraints = released(table, margins)
    groups = [np.array(first), np.array([0, 1]), np.array([0, 1]), np.array([0, 0])]
    found = closed_sum_bounds(constraints, groups)
    assert found is not None
    lower, upper = recoded_bounds(constraints, *numbered(groups))
    assert np.array_equal(found[0], lower)
    assert np.array_equal(found[1], upper)


def test_margins_that_contradict_each_other_are_refused():
    known = CountConstraints.of((2, 2), [((0,), [1, 1]), ((1,), [2, 1])])
    with pytest.raises(NoTableError):
        closed_sum_bounds(known, [[0, 0], [0, 1]])
