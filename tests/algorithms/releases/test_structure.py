from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.graphs import (
    fill_in,
    is_decomposable,
    members,
    reached_from,
)
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    CountConstraints,
    CountMargin,
    kept_axes,
)
from gamekeeper.algorithms.releases.structure import (
    minimal_ordering,
    release_structure,
    require_agreement,
    structure_of_axes,
)
from tests.twins.integer_programs import is_feasible

N_AXES = 6
FIGURE_9 = ["AB", "AD", "BC", "BE", "DE", "F"]
FIGURE_10 = ["ABD", "BC", "BDE", "F"]
FIGURE_10_IN_PAIRS = ["AB", "AD", "BC", "BD", "BE", "DE", "F"]

axis_sets = st.frozensets(st.integers(0, N_AXES - 1), max_size=4).map(lambda s: tuple(sorted(s)))
margin_lists = st.lists(axis_sets, max_size=6)


def numbered(margins):
    return ["ABCDEF".index(letter) for letter in margins]


def cliques_of(n, joined):
    """Return the maximal sets whose members are all joined, by trying every set."""
    complete = [
        set(chosen)
        for size in range(1, n + 1)
        for chosen in combinations(range(n), size)
        if all(joined(v, w) for v, w in combinations(chosen, 2))
    ]
    return {tuple(sorted(c)) for c in complete if not any(c < other for other in complete)}


def faces_of(known):
    return {part for axes in known for k in range(len(axes) + 1) for part in combinations(axes, k)}


@given(margin_lists)
def test_decomposable_means_chordal_with_every_clique_a_margin(margins):
    structure = structure_of_axes(N_AXES, margins)
    covered = sorted({axis for axes in margins for axis in axes})
    largest = {axes for axes in margins if not any(set(axes) < set(other) for other in margins)}
    assert set(structure.margins) == largest
    assert structure.free == tuple(axis for axis in range(N_AXES) if axis not in covered)
    together = {pair for axes in margins for pair in combinations(axes, 2)}
    cliques = cliques_of(N_AXES, lambda v, w: (v, w) in together)
    released = {clique for clique in cliques if set(clique) <= set(covered)}
    expected = is_decomposable(structure.graph) and released == (largest - {()})
    assert structure.decomposable == (expected and bool(margins))
    if structure.decomposable and covered:
        assert set(structure.components) == set(structure.margins)


@given(margin_lists, st.data())
def test_components_are_what_no_known_sums_separate(margins, data):
    known = [axes for axes in margins if data.draw(st.booleans())]
    structure = structure_of_axes(N_AXES, margins, known)
    faces = faces_of(known)
    everything = (1 << N_AXES) - 1

    def inseparable(v, w):
        for face in faces - {face for face in faces if v in face or w in face}:
            within = everything & ~sum(1 << axis for axis in face)
            if not reached_from(structure.graph, v, within=within) >> w & 1:
                return False
        return True

    covered = sorted({axis for axes in margins for axis in axes})
    expected = cliques_of(
        N_AXES, lambda v, w: v in covered and w in covered and inseparable(v, w)
    ) - {(axis,) for axis in structure.free}
    if not covered:
        expected = {()} if margins else set()
    assert set(structure.components) == expected
    assert len(structure.components) == len(expected)


@given(margin_lists, st.data())
def test_components_hold_every_margin_in_running_intersection(margins, data):
    known = [axes for axes in margins if data.draw(st.booleans())]
    structure = structure_of_axes(N_AXES, margins, known)
    for axes in margins:
        assert any(set(axes) <= set(component) for component in structure.components)
    assert len(structure.separators) == max(0, len(structure.components) - 1)
    seen = set()
    for at, (component, parent) in enumerate(
        zip(structure.components, structure.parents, strict=True)
    ):
        if at:
            shared = structure.separators[at - 1]
            assert set(component) & seen == set(shared)
            assert 0 <= parent < at
            assert set(shared) <= set(structure.components[parent])
            assert shared in faces_of(known)
        else:
            assert parent == -1
        seen |= set(component)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14))
def test_no_fill_in_of_a_minimal_ordering_can_be_spared(pairs):
    joined = {(min(p), max(p)) for p in pairs if p[0] != p[1]}
    graph = structure_of_axes(7, joined).graph
    added = fill_in(graph, minimal_ordering(graph))
    # A triangulation is minimal if no single edge of it can be spared (Rose 1976).
    for spared in added:
        fewer = [edge for edge in added if edge != spared]
        assert not is_decomposable(structure_of_axes(7, [*joined, *fewer]).graph)
    filled = structure_of_axes(7, [*joined, *added]).graph
    assert is_decomposable(filled)


@pytest.mark.parametrize(
    ("margins", "components", "separators"),
    [
        (FIGURE_9, ["ABDE", "BC", "F"], ["", "B"]),
        (FIGURE_10, ["ABD", "BC", "BDE", "F"], ["", "B", "BD"]),
        (FIGURE_10_IN_PAIRS, ["ABD", "BC", "BDE", "F"], ["", "B", "BD"]),
    ],
)
def test_figures_of_the_thesis(margins, components, separators):
    structure = structure_of_axes(6, [numbered(margin) for margin in margins])
    assert structure.decomposable == (margins == FIGURE_10)
    assert sorted(structure.components) == [tuple(numbered(c)) for c in components]
    found = sorted(structure.separators, key=lambda s: (len(s), s))
    assert found == [tuple(numbered(s)) for s in separators]


def test_a_complete_separator_that_is_not_published_does_not_separate():
    pairs = [(v, w) for v, w in combinations(range(5), 2) if (v, w) != (3, 4)]
    assert structure_of_axes(5, pairs).components == ((0, 1, 2, 3, 4),)
    with_middle = structure_of_axes(5, [*pairs, (0, 1, 2)])
    assert set(with_middle.components) == {(0, 1, 2, 3), (0, 1, 2, 4)}
    assert with_middle.separators == ((0, 1, 2),)


def test_axes_with_one_category_take_part_in_nothing():
    known = CountConstraints.of((2, 1, 2, 3), [((0, 1), [[1], [2]]), ((1, 2), [[2, 1]])])
    structure = release_structure(known)
    assert structure.components == ((0,), (2,))
    assert structure.separators == ((),)
    assert structure.free == (3,)
    assert structure.decomposable


def test_perturbed_and_recoded_margins_do_not_separate():
    low, high = np.array([1, 2]), np.array([2, 3])
    rounded = kept_axes((2, 2, 3), (0,), low, high)
    exact = kept_axes((2, 2, 3), (1,), [1, 3])
    groups = (np.zeros(2, np.int64), np.zeros(2, np.int64), np.array([0, 0, 1]))
    recoded = CountMargin(groups, np.array([[[3, 1]]]), np.array([[[3, 1]]]))
    structure = release_structure(CountConstraints((2, 2, 3), (rounded, exact, recoded)))
    assert structure.components == ((0,), (1,), (2,))
    assert structure.unknown == (0, 2)
    without = release_structure(CountConstraints((2, 2, 3), (rounded, recoded)))
    assert without.components == ((0, 2),)
    assert without.free == (1,)


def test_nothing_published_has_no_components():
    structure = release_structure(CountConstraints((2, 2), ()))
    assert (structure.components, structure.decomposable, structure.free) == ((), False, (0, 1))
    total = release_structure(CountConstraints.of((2, 2), [((), 5)]))
    assert (total.components, total.decomposable, total.free) == (((),), True, (0, 1))


def test_many_axes_are_no_burden():
    chain = [(axis, axis + 1) for axis in range(59)]
    assert structure_of_axes(60, chain).decomposable
    ring = structure_of_axes(60, [*chain, (0, 59)])
    assert ring.components == (tuple(range(60)),)
    assert list(members(ring.graph[0])) == [1, 59]


SHAPE = (2, 3, 2)
AXES = [(), (0,), (1,), (2,), (0, 1), (1, 2), (0, 2)]


def margin_of(table, axes):
    return table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes))


def conflict(constraints):
    try:
        require_agreement(constraints)
    except NoNumbersError as error:
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
