"""The fixed point of the shuttle, against the definition written out, and tables by enumeration."""

from __future__ import annotations

import math
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.bounds.shuttle import Shuttle, dependency_count, node_count
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.cases import cases
from tests.given.published import exact_margins, published_table
from tests.given.shuttle_releases import not_tight, releases


def subsets(members):
    members = sorted(members)
    return [
        frozenset(part)
        for size in range(1, len(members) + 1)
        for part in combinations(members, size)
    ]


def written_out(known):
    """Return nodes as sets of cells by their sets of categories, and all dependencies."""
    nodes = [*product(*(subsets(range(length)) for length in known.shape))]
    dependencies = []
    for node in nodes:
        for axis, of_axis in enumerate(node):
            for part in subsets(of_axis):
                rest = of_axis - part
                if rest and min(of_axis) in part:
                    children = [(*node[:axis], one, *node[axis + 1 :]) for one in (part, rest)]
                    dependencies.append((node, *children))
    return nodes, dependencies


def slow_fixed_point(known):
    """Apply the four rules to all dependencies, in the order they come, with infinity as a float."""
    nodes, dependencies = written_out(known)
    lower, upper = dict.fromkeys(nodes, 0), dict.fromkeys(nodes, math.inf)
    for margin in known.margins:
        for cell in np.ndindex(margin.shape):
            node = tuple(
                frozenset(np.flatnonzero(groups == number).tolist())
                for groups, number in zip(margin.groups, cell, strict=True)
            )
            high = int(margin.upper[cell])
            lower[node] = max(lower[node], int(margin.lower[cell]))
            upper[node] = min(upper[node], math.inf if high >= UNBOUNDED else high)
    while True:
        before = dict(lower), dict(upper)
        for parent, one, other in dependencies:
            lower[parent] = max(lower[parent], lower[one] + lower[other])
            upper[parent] = min(upper[parent], upper[one] + upper[other])
            for child, sibling in ((one, other), (other, one)):
                upper[child] = min(upper[child], upper[parent] - lower[sibling])
                if upper[sibling] < math.inf:
                    lower[child] = max(lower[child], lower[parent] - upper[sibling])
        if any(lower[node] > upper[node] for node in nodes):
            return None
        if before == (lower, upper):
            return lower, upper


@given(releases())
@cases(25)
def test_the_fixed_point_is_that_of_the_rules_for_every_node(release):
    known, _ = release
    nodes, dependencies = written_out(known)
    lower, upper = slow_fixed_point(known)
    shuttle = Shuttle(known).run()
    assert (shuttle.n_nodes, shuttle.n_dependencies) == (len(nodes), len(dependencies))
    for node in nodes:
        low, high = shuttle.node_bounds(node)
        assert (low, math.inf if high == UNBOUNDED else high) == (lower[node], upper[node])
    assert shuttle.sweep() == 0


@given(releases(), st.randoms(use_true_random=False))
@cases(25)
def test_bounds_at_any_moment_contain_the_truth_of_any_recoded_table(release, random):
    known, truth = release
    groups = []
    for length in known.shape:
        cut = [random.randrange(length) for _ in range(length)]
        groups.append(np.unique(cut, return_inverse=True)[1])
    sums = CountMargin(tuple(groups), np.zeros([g.max() + 1 for g in groups], int), 0).sums(truth)
    shuttle = Shuttle(known)
    while True:
        assert np.all(shuttle.lower <= truth)
        assert np.all(truth <= shuttle.upper)
        lower, upper = shuttle.bounds_of(groups)
        assert lower.shape == sums.shape
        assert np.all(lower <= sums)
        assert np.all(sums <= upper)
        before = shuttle.changes
        changed = shuttle.sweep()
        assert shuttle.changes - before == changed
        if not changed:
            assert shuttle.is_finished
            return


def test_counts_of_nodes_and_dependencies_of_the_worked_examples():
    assert (node_count((2, 3)), dependency_count((2, 3))) == (21, 25)
    assert (node_count((3, 3)), dependency_count((3, 3))) == (49, 84)
    assert (node_count((2,) * 4), dependency_count((2,) * 4)) == (81, 108)
    assert (node_count(()), dependency_count(())) == (1, 0)


def test_all_two_way_margins_of_four_binary_axes_are_not_tight():
    shuttle = Shuttle(not_tight()).run()
    assert shuttle.lower.reshape(-1).tolist() == [1] + [0] * 15
    assert shuttle.upper.reshape(-1).tolist() == [3, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]


def test_nothing_known_leaves_everything_open():
    shuttle = Shuttle(CountConstraints((2, 3), ())).run()
    assert shuttle.lower.tolist() == [[0] * 3] * 2
    assert shuttle.upper.tolist() == [[UNBOUNDED] * 3] * 2


def test_counts_that_contradict_each_other_are_no_table():
    with pytest.raises(NoNumbersError) as two:
        Shuttle(CountConstraints.of((2,), [((0,), [1, 2]), ((0,), [1, 3])]))
    assert two.value.rows == (1, 3)
    shuttle = Shuttle(CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [1, 2])]))
    for _ in range(2):
        with pytest.raises(NoNumbersError):
            shuttle.run()
    with pytest.raises(NoNumbersError):
        shuttle.tighten()


@given(releases(), st.integers(0, 10**6), st.integers(1, 3))
@cases(25)
def test_contradictions_are_found_exactly_where_the_rules_find_them(release, place, off):
    known, _ = release
    rows = sum(margin.lower.size for margin in known.margins)
    if not rows:
        return
    place %= rows
    margins = []
    for margin in known.margins:
        lower, upper = margin.lower.copy(), margin.upper.copy()
        if 0 <= place < lower.size:
            lower.reshape(-1)[place] += off
            upper.reshape(-1)[place] = max(upper.reshape(-1)[place], lower.reshape(-1)[place])
        place -= lower.size
        margins.append(CountMargin(margin.groups, lower, upper))
    moved = CountConstraints(known.shape, tuple(margins))
    expected = slow_fixed_point(moved)
    try:
        Shuttle(moved).run()
        found = True
    except NoNumbersError:
        found = False
    assert found == (expected is not None)


def test_a_stopped_run_keeps_valid_bounds_and_goes_on():
    known = not_tight()

    def stop(sweeps, _):
        if sweeps == 1:
            raise Cancelled("Bounds were asked for.")

    shuttle = Shuttle(known)
    with pytest.raises(Cancelled):
        shuttle.run(stop)
    assert (shuttle.sweeps, shuttle.is_finished) == (1, False)
    assert shuttle.upper.max() < UNBOUNDED
    assert np.array_equal(shuttle.run().upper, Shuttle(known).run().upper)


def test_too_many_nodes_are_refused_with_an_estimate():
    known = CountConstraints.of((20, 20, 10), [])
    with pytest.raises(LimitError) as refused:
        Shuttle(known)
    assert refused.value.reason is Reason.TOO_LARGE
    assert "20 x 20 x 10" in str(refused.value)
    assert "a number of 16 digits" in str(refused.value)
    assert "integer programs" in str(refused.value)
    assert "max_nodes" in str(refused.value)
    with pytest.raises(LimitError):
        Shuttle(CountConstraints.of((2, 3), []), max_nodes=20)
    assert Shuttle(CountConstraints.of((2, 3), []), max_nodes=21).n_nodes == 21


def test_an_axis_of_very_many_categories_is_refused_at_once():
    with pytest.raises(LimitError, match=r"a number of 6,021 digits\) sums"):
        Shuttle(CountConstraints((20_000,), ()))


@pytest.mark.parametrize(
    "ask",
    [
        lambda shuttle: shuttle.bounds_of([[0, 1]]),
        lambda shuttle: shuttle.bounds_of([[0, 1], [0, 2, 2]]),
        lambda shuttle: shuttle.bounds_of([[0, 1], [0, 1]]),
        lambda shuttle: shuttle.bounds_of([[0, 1], [0.0, 1.0, 1.0]]),
        lambda shuttle: shuttle.node_bounds([{0}, set()]),
        lambda shuttle: shuttle.node_bounds([{0}, {3}]),
        lambda shuttle: shuttle.node_bounds([{0}]),
        lambda shuttle: shuttle.tighten([6]),
        lambda shuttle: shuttle.tighten([-1]),
    ],
)
def test_questions_that_do_not_fit_the_table_are_refused(ask):
    shuttle = Shuttle(CountConstraints.of((2, 3), [((0,), [5, 5])]))
    with pytest.raises(InputError) as refused:
        ask(shuttle)
    assert refused.value.reason is Reason.BAD_OPTION


def test_an_axis_without_categories_is_refused():
    with pytest.raises(InputError, match="without categories"):
        Shuttle(CountConstraints((2, 0), ()))


def test_texts_show_no_counts():
    shuttle = Shuttle(CountConstraints.of((2,), [((0,), [4711, 4712])])).run()
    texts = repr(shuttle), repr(shuttle.tighten())
    assert not any("47" in text for text in chain(texts))


@pytest.mark.parametrize(
    ("name", "n_axes"),
    [
        ("czech_autoworkers_bounds_all_2way", 2),
        ("czech_autoworkers_bounds_all_5way", 5),
        ("hair_eye_colour_bounds_all_2way", 2),
        ("ucb_admissions_bounds_all_2way", 2),
    ],
)
def test_tight_bounds_are_the_published_ones(name, n_axes):
    _, (truth, lower, upper) = published_table(name)
    known = exact_margins(truth, combinations(range(truth.ndim), n_axes))
    tight = Shuttle(known).tighten()
    assert tight.is_complete
    assert np.array_equal(tight.lower, lower)
    assert np.array_equal(tight.upper, upper)


@pytest.mark.parametrize(
    ("name", "margins"),
    [
        ("czech_autoworkers_bounds_BF_ABCE_ADE", ("BF", "ABCE", "ADE")),
        ("hair_eye_colour_bounds_HE_HS", ("HE", "HS")),
    ],
)
def test_the_fixed_point_is_tight_for_decomposable_margins(name, margins):
    letters, (truth, lower, upper) = published_table(name)
    known = exact_margins(truth, [[letters.index(letter) for letter in axes] for axes in margins])
    shuttle = Shuttle(known).run()
    assert np.array_equal(shuttle.lower, lower)
    assert np.array_equal(shuttle.upper, upper)
    assert shuttle.tighten().is_complete


def test_four_way_margins_determine_the_rochdale_table():
    _, (truth,) = published_table("rochdale_2x8")
    shuttle = Shuttle(exact_margins(truth, combinations(range(8), 4))).run()
    assert shuttle.n_nodes == 6561
    assert np.array_equal(shuttle.lower, truth)
    assert np.array_equal(shuttle.upper, truth)


def test_two_way_margins_of_the_rochdale_table_are_made_exact():
    _, (truth,) = published_table("rochdale_2x8")
    tight = Shuttle(exact_margins(truth, combinations(range(8), 2))).tighten()
    assert tight.is_complete
    assert np.all(tight.lower <= truth)
    assert np.all(truth <= tight.upper)
