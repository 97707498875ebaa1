from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.bounds.frechet import (
    closed_bounds,
    closed_sum_bounds,
    component_bounds,
    join_closed,
    join_components,
)
from gamekeeper.algorithms.decomposable.graphs import decomposable_graphs, maximal_cliques, members
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.algorithms.releases.structure import release_structure
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.published import published_table
from tests.twins.integer_programs import integer_bounds, is_feasible, recoded_bounds

GRAPHS = [graph for n in (2, 3, 4) for graph in decomposable_graphs(n)]
FEW = settings(max_examples=20, deadline=None)


def margin_of(table, axes):
    return table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes))


def released(table, margins):
    return CountConstraints.of(table.shape, [(axes, margin_of(table, axes)) for axes in margins])


def same(found, expected):
    return all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@st.composite
def tables(draw, n_axes, most_cells=18):
    shape = draw(st.lists(st.integers(1, 3), min_size=n_axes, max_size=n_axes))
    assume(math.prod(shape) <= most_cells)
    cells = math.prod(shape)
    counts = st.lists(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=cells, max_size=cells)
    return np.array(draw(counts)).reshape(shape)


@st.composite
def decomposable_releases(draw):
    graph = draw(st.sampled_from(GRAPHS))
    table = draw(tables(len(graph)))
    cliques = [tuple(members(clique)) for clique in maximal_cliques(graph)]
    parts = [axes[: draw(st.integers(0, len(axes)))] for axes in cliques if draw(st.booleans())]
    return table, released(table, draw(st.permutations([*cliques, *parts])))


@st.composite
def releases(draw):
    """Draw margins of all kinds: exact, within limits, suppressed, recoded."""
    table = draw(tables(draw(st.integers(2, 4))))
    axes = st.frozensets(st.integers(0, table.ndim - 1), max_size=3)
    margins = []
    for kept in draw(st.lists(axes, min_size=1, max_size=4)):
        kind = draw(st.sampled_from(["exact", "exact", "exact", "limits", "recoded"]))
        groups = []
        for axis, length in enumerate(table.shape):
            group = np.arange(length) if axis in kept else np.zeros(length, np.int64)
            if kind == "recoded" and axis in kept and length == 3:
                group = np.array([0, 1, 0])
            groups.append(group)
        lengths = tuple(int(group.max()) + 1 for group in groups)
        empty = np.zeros(lengths, np.int64)
        sums = CountMargin(tuple(groups), empty, empty).sums(table)
        low, high = sums, sums
        if kind == "limits":
            low, high = sums - sums % 3, sums - sums % 3 + 2
            if draw(st.booleans()):
                high = np.where(high > 4, UNBOUNDED, high)
        margins.append(CountMargin(tuple(groups), low, high))
    return table, CountConstraints(table.shape, tuple(margins))


@pytest.mark.slow
@given(decomposable_releases())
@FEW
def test_closed_bounds_are_those_of_integer_programs(release):
    _, constraints = release
    assert same(closed_bounds(constraints), integer_bounds(constraints))


@given(releases())
@FEW
def test_bounds_joined_from_components_are_those_of_integer_programs(release):
    _, constraints = release
    asked = []

    def solve(part):
        asked.append(part.shape)
        return integer_bounds(part)

    assert same(component_bounds(constraints, solve), integer_bounds(constraints))
    structure = release_structure(constraints)
    unknown = [structure.components[at] for at in structure.unknown]
    assert asked == [tuple(constraints.shape[axis] for axis in axes) for axes in unknown]


@given(releases())
@FEW
def test_valid_bounds_of_components_join_to_valid_bounds(release):
    table, constraints = release
    lower, upper = component_bounds(constraints, CountConstraints.cell_limits)
    assert np.all(lower <= table)
    assert np.all(table <= upper)


@given(decomposable_releases())
@FEW
def test_single_cells_are_those_of_the_table(release):
    table, constraints = release
    cells = np.argwhere(table >= 0)
    lower, upper = closed_bounds(constraints)
    low, high = join_closed(constraints).at(cells)
    assert low.tolist() == lower.reshape(-1).tolist()
    assert high.tolist() == upper.reshape(-1).tolist()


def test_free_axes_leave_the_upper_bound_and_no_lower_one():
    table = np.array([[[4, 0], [0, 0]], [[0, 1], [0, 0]]])
    constraints = released(table, [(0,), (1,)])
    lower, upper = closed_bounds(constraints)
    assert same((lower, upper), integer_bounds(constraints))
    assert not lower.any()
    assert upper[:, :, 0].tolist() == upper[:, :, 1].tolist() == [[4, 0], [1, 0]]
    low, high = join_closed(constraints).at([[0, 0, 1]])
    assert (low.tolist(), high.tolist()) == ([0], [4])


def test_the_total_alone():
    known = CountConstraints.of((2, 2), [((), 7)])
    assert [bounds.tolist() for bounds in closed_bounds(known)] == [
        [[0, 0], [0, 0]],
        [[7, 7], [7, 7]],
    ]
    single = CountConstraints.of((1, 1), [((), 7)])
    assert [bounds.tolist() for bounds in closed_bounds(single)] == [[[7]], [[7]]]


def test_nothing_published_bounds_nothing():
    constraints = CountConstraints((2, 1), ())
    lower, upper = component_bounds(constraints, CountConstraints.cell_limits)
    assert (lower.tolist(), upper.tolist()) == ([[0], [0]], [[UNBOUNDED], [UNBOUNDED]])
    with pytest.raises(InputError) as caught:
        closed_bounds(constraints)
    assert "no margins" in str(caught.value)


def test_a_release_that_is_not_decomposable_has_no_closed_form():
    table = np.arange(8).reshape(2, 2, 2)
    with pytest.raises(InputError) as caught:
        closed_bounds(released(table, [(0, 1), (1, 2), (0, 2)]))
    assert caught.value.reason is Reason.BAD_OPTION
    assert "1 of 1 irreducible component" in str(caught.value)


def test_margins_that_contradict_each_other_are_refused_with_rows():
    known = CountConstraints.of((2, 2, 2), [((0, 1), [[3, 1], [0, 1]]), ((1, 2), [[2, 2], [1, 1]])])
    for call in (closed_bounds, lambda c: component_bounds(c, integer_bounds)):
        with pytest.raises(NoNumbersError) as caught:
            call(known)
        # 3 people in the first category of axis 1, or 4.
        assert caught.value.rows == (0, 2, 4, 5)


def test_rows_of_a_component_without_a_table_are_rows_of_the_release():
    # All three pairs of axes 1 to 3 agree, and no table of counts has them.
    pairs = [[1, 0], [0, 1]], [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    margins = list(zip([(1, 2), (2, 3), (1, 3)], pairs, strict=True))
    known = CountConstraints.of((2, 2, 2, 2), [((0, 1), [[1, 0], [0, 1]]), *margins])

    def solve(part):
        assert part.shape == (2, 2, 2)
        raise NoNumbersError([0, 5, 11])

    with pytest.raises(NoNumbersError) as caught:
        component_bounds(known, solve)
    assert caught.value.rows == (4, 9, 15)


def test_rows_of_a_separator_are_those_that_make_it():
    # The limits of axis 1 exceed the total, which is known from axis 0 alone.
    known = CountConstraints.of((3, 2), [((1,), [4, 4], [5, 5]), ((0,), [1, 2, 3])])

    def solve(part):
        assert not is_feasible(part)
        raise NoNumbersError(range(len(part.rows)))

    with pytest.raises(NoNumbersError) as caught:
        component_bounds(known, solve)
    assert caught.value.rows == (0, 1, 2, 3, 4)


def test_tables_too_large_to_hold_are_refused():
    known = CountConstraints.of((10,) * 9, [((axis,), range(10)) for axis in range(9)])
    with pytest.raises(LimitError) as caught:
        closed_bounds(known)
    assert "1,000,000,000 cells" in str(caught.value)
    assert "single cells" in str(caught.value)
    lower, upper = join_components(known, integer_bounds).at([[9] * 9, [0] * 9])
    assert (lower.tolist(), upper.tolist()) == ([0, 0], [9, 0])


@pytest.mark.parametrize(
    ("cells", "reason"),
    [([0, 1], Reason.MALFORMED), ([[0]], Reason.MALFORMED), ([[0, 2], [0, -1]], Reason.BAD_OPTION)],
)
def test_cells_that_there_are_not_are_refused(cells, reason):
    known = CountConstraints.of((2, 2), [((0,), [1, 2]), ((1,), [2, 1])])
    with pytest.raises(InputError) as caught:
        join_closed(known).at(cells)
    assert caught.value.reason is reason


@pytest.mark.parametrize("shape", [(40, 30, 60, 3), (3, 200_000), (70_000, 2, 2), (300_000,)])
def test_large_tables_are_made_of_the_same_cells(shape):
    rng = np.random.default_rng(3)
    table = rng.poisson(0.4, shape)
    n = len(shape)
    margins = [tuple(range(start, min(start + 2, n))) for start in range(max(1, n - 1))]
    constraints = released(table, margins[::2] + [(axis,) for axis in range(n)])
    lower, upper = closed_bounds(constraints)
    cells = np.column_stack([rng.integers(0, length, 500) for length in shape])
    low, high = join_closed(constraints).at(cells)
    assert lower[tuple(cells.T)].tolist() == low.tolist()
    assert upper[tuple(cells.T)].tolist() == high.tolist()
    assert np.all((lower <= table) & (table <= upper))


def test_counts_beyond_32_bits_are_kept():
    known = CountConstraints.of((2, 2), [((0,), [2**40, 1]), ((1,), [2**40, 1])])
    lower, upper = closed_bounds(known)
    assert (lower[0, 0], upper[0, 0]) == (2**40 - 1, 2**40)


@pytest.mark.parametrize(
    ("name", "margins"),
    [
        ("czech_autoworkers_bounds_BF_ABCE_ADE", ["BF", "ABCE", "ADE"]),
        ("hair_eye_colour_bounds_HE_HS", ["HE", "HS"]),
    ],
)
def test_published_bounds(name, margins):
    letters, (table, lower, upper) = published_table(name)
    kept = [tuple(sorted(letters.index(letter) for letter in margin)) for margin in margins]
    assert same(closed_bounds(released(table, kept)), (lower, upper))


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
    with pytest.raises(NoNumbersError):
        closed_sum_bounds(known, [[0, 0], [0, 1]])
