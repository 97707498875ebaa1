"""Links and bounds against all permutations, SciPy, obvious twins, and by their own proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.optimize import linear_sum_assignment

from gamekeeper.algorithms.assignment import dense
from gamekeeper.algorithms.assignment.dense import (
    Assignment,
    as_costs,
    assignment_lower_bound,
    by_smaller_side,
    greedy_global,
    greedy_rows,
    nearest,
    solve_assignment,
)
from gamekeeper.errors import Cancelled, InputError, Reason
from tests.given.cases import cases
from tests.given.cost_matrices import INF, cost_matrices, costs_of_kind
from tests.twins.linking import least_cost


def check(costs, found: Assignment):
    """The links are one-to-one, cost what is said, and are proved by the potentials."""
    costs = np.asarray(costs, float)
    rows = np.flatnonzero(found.columns >= 0)
    columns = found.columns[rows]
    assert found.columns.shape == (costs.shape[0],)
    assert len(set(columns.tolist())) == len(columns)
    scale = max(1.0, float(np.abs(costs[costs < INF]).max(initial=0.0)))
    assert found.cost == pytest.approx(costs[rows, columns].sum(), rel=1e-12, abs=1e-12 * scale)
    slack = costs - found.row_potentials[:, None] - found.column_potentials
    assert slack.min(initial=0.0) >= -1e-10 * scale
    assert np.abs(slack[rows, columns]).max(initial=0.0) <= 1e-10 * scale
    assert 0 <= found.gap <= 1e-9 * scale
    free_columns = np.setdiff1d(np.arange(costs.shape[1]), columns)
    for potentials, free in (
        (found.row_potentials, np.flatnonzero(found.columns < 0)),
        (found.column_potentials, free_columns),
    ):
        if len(free):
            assert np.ptp(potentials[free]) == 0
            assert potentials.max() <= potentials[free[0]] + 1e-10 * scale


@cases(50)
@given(cost_matrices(most=5))
def test_no_permutation_costs_less(costs):
    n_linked, cost = least_cost(costs)
    found = solve_assignment(costs, partial=True)
    assert found.n_linked == n_linked
    assert found.cost == pytest.approx(cost, rel=1e-9, abs=1e-9)
    check(costs, found)
    if n_linked == min(costs.shape):
        assert solve_assignment(costs).columns.tolist() == found.columns.tolist()
        return
    with pytest.raises(InputError, match=f" {min(costs.shape) - n_linked} of the ") as refused:
        solve_assignment(costs)
    assert refused.value.reason is Reason.BAD_OPTION


@pytest.mark.parametrize(
    ("costs", "cost", "optima"),
    [
        ([[5, 5, 0], [7, 5, 7], [7, 2, 5]], 9, [[2, 0, 1]]),
        (
            [[6, 1, 8, 1], [0, 6, 6, 3], [0, 4, 5, 3], [5, 3, 3, 7]],
            7,
            [[1, 0, 3, 2], [1, 3, 0, 2]],
        ),
        (
            [
                [0.837, 0.574, 0.886, 0.65, 0.681, 0.308],
                [0.709, 0.189, 0.144, 0.77, 0.514, 0.634],
                [0.509, 0.32, 0.304, 0.858, 0.332, 0.593],
                [0.616, 0.051, 0.003, 0.091, 0.633, 0.072],
                [0.187, 0.11, 0.073, 0.296, 0.361, 0.696],
            ],
            0.985,
            [[5, 2, 4, 3, 1]],
        ),
        ([[1, 2], [2, 100]], 4, [[1, 0]]),
    ],
)
def test_worked_examples(costs, cost, optima):
    found = solve_assignment(costs)
    assert found.cost == pytest.approx(cost, rel=1e-12)
    assert found.columns.tolist() in optima


KINDS = (
    *("uniform", "counts", "wide integers", "points", "products", "alike"),
    *("one factor", "flat", "forbidden"),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(150, 150), (120, 200), (200, 120), (1, 300), (130, 131)])
def test_the_cost_is_that_of_another_solver(kind, n, m):
    costs = costs_of_kind(kind, n, m, n + m)
    found = solve_assignment(costs)
    other = costs[linear_sum_assignment(costs)].sum()
    assert found.cost == pytest.approx(other, rel=1e-9, abs=1e-12)
    check(costs, found)


@pytest.mark.parametrize("kind", ["points", "products", "flat"])
def test_searches_with_and_without_lists_agree(monkeypatch, kind):
    """At this size some searches are given up for searches without lists."""
    monkeypatch.setattr(dense, "_MOST_WORK", INF)
    costs = costs_of_kind(kind, 500, 500, 3)
    found = solve_assignment(costs)
    other = costs[linear_sum_assignment(costs)].sum()
    assert found.cost == pytest.approx(other, rel=1e-9)
    check(costs, found)


@pytest.fixture
def auctions(monkeypatch):
    """Hold an auction wherever there is a search; note what they were of use for."""
    held = []

    def noted(costs):
        potentials = auctioned(costs)
        held.append(potentials is not None)
        return potentials

    auctioned = dense._auctioned
    monkeypatch.setattr(dense, "_auctioned", noted)
    monkeypatch.setattr(dense, "_has_equals", lambda costs: False)
    monkeypatch.setattr(dense, "_MOST_WORK", 0)
    monkeypatch.setattr(dense, "_AT_ONCE", 1)
    return held


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cost_matrices(most=5))
def test_no_permutation_costs_less_than_links_after_an_auction(auctions, costs):
    n_linked, cost = least_cost(costs)
    found = solve_assignment(costs, partial=True)
    assert found.n_linked == n_linked
    assert found.cost == pytest.approx(cost, rel=1e-9, abs=1e-9)
    check(costs, found)


@pytest.mark.parametrize("kind", ["counts", "wide integers", "points", "products", "flat"])
def test_an_auction_leads_to_the_same_cost(auctions, kind):
    costs = costs_of_kind(kind, 300, 300, 4)
    found = solve_assignment(costs)
    assert auctions == [True]
    assert found.cost == pytest.approx(costs[linear_sum_assignment(costs)].sum(), rel=1e-9)
    assert found.gap == 0 or kind in ("points", "flat")
    check(costs, found)


def test_products_of_numbers_are_left_to_an_auction(monkeypatch):
    """The worst case of augmenting paths (Machol and Wien): their work grows with n ** 3."""
    held = []
    auctioned = dense._auctioned
    monkeypatch.setattr(
        dense, "_auctioned", lambda costs: held.append(costs.shape) or auctioned(costs)
    )
    solve_assignment(costs_of_kind("uniform", 400, 400, 1))
    assert held == []
    costs = costs_of_kind("products", 400, 400, 1)
    found = solve_assignment(costs)
    assert held == [(400, 400)]
    assert found.columns.tolist() == list(range(399, -1, -1))
    assert found.gap == 0


@pytest.mark.parametrize("whole", [True, False])
def test_differences_of_numbers_are_not_left_to_an_auction(monkeypatch, whole):
    """Exchanging partners often costs nothing there, and an auction's prices help little."""
    monkeypatch.setattr(dense, "_MOST_WORK", 0)
    monkeypatch.setattr(dense, "_auctioned", lambda costs: pytest.fail("an auction was held"))
    a, b = np.random.default_rng(8).random((2, 300)) * 90
    a, b = (np.floor(a), np.floor(b)) if whole else (a, b)
    found = solve_assignment(np.abs(a[:, None] - b))
    # In one dimension the order of the numbers is an optimum.
    assert found.cost == pytest.approx(np.abs(np.sort(a) - np.sort(b)).sum(), rel=1e-12)


def test_exchanges_that_cost_nothing():
    a, b = np.random.default_rng(9).random((2, 200))
    difference = a[:, None] - b
    assert dense._has_equals(np.abs(difference))
    assert not dense._has_equals(difference**2)
    assert not dense._has_equals(costs_of_kind("products", 200, 200, 1))
    assert not dense._has_equals(np.full((5, 5), INF))
    assert dense._has_equals(np.ones((5, 5)))


def test_an_auction_without_end_is_given_up(auctions):
    """Of 60 rows 31 have no other columns than the same 30."""
    costs = np.random.default_rng(6).random((60, 60))
    costs[:31, 30:] = INF
    order = np.random.default_rng(7).permutation(60)
    found = solve_assignment(costs[order], partial=True)
    assert auctions[0] is False
    assert found.n_linked == 59
    check(costs[order], found)


@pytest.mark.parametrize("scale", [1e-300, 2.0**-40, 1.0, 2.0**40, 1e300])
def test_auctions_of_costs_of_any_size(auctions, scale):
    costs = costs_of_kind("points", 60, 60, 2) * scale
    found = solve_assignment(costs)
    assert auctions == [True]
    assert found.columns.tolist() == linear_sum_assignment(costs)[1].tolist()


def test_large_integers_stay_exact_after_an_auction(auctions):
    costs = np.random.default_rng(3).integers(2**46, 2**46 + 300, (60, 60))
    costs[::7, ::5] += 2**46
    found = solve_assignment(costs)
    assert auctions == [True]
    assert found.cost == int(costs[linear_sum_assignment(costs)].sum())
    assert found.gap == 0


@pytest.mark.parametrize(
    "kind",
    [np.bool_, np.uint8, np.int8, np.int16, np.uint32, np.int64, np.uint64, np.float16, np.float32],
)
def test_types_of_costs(kind):
    costs = np.random.default_rng(5).integers(0, 2, (40, 50)).astype(kind)
    assert as_costs(costs).dtype in (np.float32, np.float64)
    assert np.array_equal(as_costs(costs), costs)
    whole = solve_assignment(costs.astype(float))
    found = solve_assignment(costs)
    assert found.cost == whole.cost
    assert found.columns.tolist() == whole.columns.tolist()
    turned = solve_assignment(np.asfortranarray(costs))
    assert turned.columns.tolist() == whole.columns.tolist()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16])
def test_every_small_integer_is_exact(kind):
    limits = np.iinfo(kind)
    costs = np.arange(limits.min, limits.max + 1, dtype=kind).reshape(1, -1)
    assert as_costs(costs).dtype == np.float32
    assert np.array_equal(as_costs(costs), costs)


@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.int64, np.uint64])
def test_large_integers_are_exact_up_to_the_limit(kind):
    largest = min(2**53, int(np.iinfo(kind).max))
    costs = np.array([[largest, largest - 1]], kind)
    assert [int(cost) for cost in as_costs(costs)[0]] == costs[0].tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_costs_in_floating_point_are_read_in_place(kind):
    costs = np.random.default_rng(1).random((3, 4)).astype(kind)
    assert np.shares_memory(by_smaller_side(as_costs(costs)), costs)
    assert costs.flags.writeable


def test_the_costs_are_not_changed():
    costs = np.random.default_rng(1).random((30, 30))
    costs.flags.writeable = False
    solve_assignment(costs)


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0)])
def test_nothing_to_link(shape):
    found = solve_assignment(np.zeros(shape))
    assert found.columns.tolist() == [-1] * shape[0]
    assert (found.cost, found.gap, found.n_linked) == (0.0, 0.0, 0)


def test_potentials_bound_every_assignment():
    costs = np.random.default_rng(2).random((5, 7))
    found = solve_assignment(costs)
    assert found.lower_bound == pytest.approx(
        found.row_potentials.sum() + found.column_potentials.sum()
    )
    assert np.all(found.column_potentials <= 0)
    free = np.setdiff1d(np.arange(7), found.columns)
    assert np.all(found.column_potentials[free] == 0)


def test_integers_are_exact():
    costs = np.random.default_rng(3).integers(0, 2**40, (60, 60))
    found = solve_assignment(costs)
    assert found.cost == int(costs[linear_sum_assignment(costs)].sum())
    assert found.gap == 0


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([[1.0, np.nan], [np.nan, 2.0]], "2 of the costs are not a number"),
        ([[1.0, np.nan], [-INF, 2.0]], "1 of the costs is not a number .* and 1 .* minus infinity"),
        ([[np.nan], [1.0]], "1 of the costs is not a number"),
        ([1.0, 2.0], "1 dimension"),
        ([["a", "b"]], "of type"),
        ([[1j]], "of type 'complex128'"),
        ([[2**53 + 1, 0]], "1 integer cost is beyond 2 to the power of 53"),
        ([[1.7e308, -1.7e308], [-1.7e308, 1.7e308]], "too large"),
    ],
)
def test_what_are_no_costs(costs, words):
    with pytest.raises(InputError, match=words) as refused:
        solve_assignment(costs)
    assert refused.value.reason is Reason.MALFORMED


def test_errors_and_words_hold_no_costs():
    costs = np.array([[123456.75, INF], [123456.75, INF]])
    with pytest.raises(InputError) as refused:
        solve_assignment(costs)
    assert "123456" not in str(refused.value)
    assert "1 of the 2 rows cannot be linked" in str(refused.value)
    assert repr(solve_assignment(costs, partial=True)).startswith("Assignment(2 x 2, n_linked=1")


def test_columns_that_cannot_be_linked_are_called_columns():
    with pytest.raises(InputError, match="1 of the 2 columns"):
        solve_assignment([[1, INF], [1, INF], [1, INF]])


def test_progress_ends_with_all_rows_and_can_stop_the_work():
    seen = []
    costs = costs_of_kind("flat", 300, 300, 1)
    solve_assignment(costs, progress=lambda done, whole: seen.append((done, whole)))
    assert seen[-1] == (300, 300)
    assert seen == sorted(seen)

    def stop(done, whole):
        raise Cancelled("Links were asked for.")

    with pytest.raises(Cancelled):
        solve_assignment(costs, progress=stop)


def by_sorting(costs):
    n_rows, n_columns = costs.shape
    columns, used = [-1] * n_rows, set()
    for cost, i, j in sorted((costs[i, j], i, j) for i in range(n_rows) for j in range(n_columns)):
        if cost < INF and columns[i] < 0 and j not in used:
            columns[i] = j
            used.add(j)
    return columns


def by_rows(costs, *, one_to_one=True):
    columns, used = [], set()
    for row in costs:
        free = [(cost, j) for j, cost in enumerate(row) if cost < INF and j not in used]
        columns.append(min(free)[1] if free else -1)
        if one_to_one:
            used.add(columns[-1])
    return columns


@cases(50)
@given(cost_matrices())
def test_links_are_those_of_the_twins(costs):
    assert greedy_global(costs).columns.tolist() == by_sorting(costs)
    assert greedy_rows(costs).columns.tolist() == by_rows(costs)
    assert nearest(costs).columns.tolist() == by_rows(costs, one_to_one=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(90, 90), (60, 110), (110, 60)])
def test_links_of_larger_costs(kind, n, m):
    costs = costs_of_kind(kind, n, m, 1)
    assert greedy_global(costs).columns.tolist() == by_sorting(costs)
    assert greedy_rows(costs).columns.tolist() == by_rows(costs)
    found = greedy_global(costs)
    rows = np.flatnonzero(found.columns >= 0)
    assert found.cost == pytest.approx(costs[rows, found.columns[rows]].sum())
    assert found.n_linked == len(rows)


def test_greedy_links_can_be_arbitrarily_bad():
    costs = [[1, 2], [2, 100]]
    assert greedy_global(costs).cost == greedy_rows(costs).cost == 101
    assert assignment_lower_bound(costs) == 4


@cases(40)
@given(cost_matrices(forbidden=False))
def test_the_bound_is_below_the_optimum(costs):
    optimum = solve_assignment(costs)
    scale = max(1.0, float(np.abs(costs).max(initial=0.0)))
    for passes in (0, 1, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gamekeeper.algorithms.assignment.dense._BOUND_PASSES", passes)
            assert assignment_lower_bound(costs) <= optimum.cost + 1e-9 * scale
    assert optimum.cost - optimum.lower_bound <= 1e-9 * scale


def test_the_bound_is_near_for_random_costs():
    costs = costs_of_kind("uniform", 300, 300, 1)
    bound = assignment_lower_bound(costs)
    optimum = solve_assignment(costs).cost
    assert 0.97 * optimum < bound <= optimum
    assert greedy_global(costs).cost > bound


def test_no_bound_without_any_pair():
    with pytest.raises(InputError, match="1 records of the smaller side"):
        assignment_lower_bound([[INF, INF], [1, 2]])


@pytest.mark.parametrize("work", [greedy_global, greedy_rows, nearest, assignment_lower_bound])
def test_nan_is_refused_with_its_count(work):
    with pytest.raises(InputError, match="2 of the costs are not a number"):
        work([[np.nan, 1.0], [2.0, np.nan]])


def test_words_about_links_hold_counts_only():
    assert repr(greedy_rows([[1, INF], [2, INF]])) == "Links(2 rows, n_linked=1, cost=1)"
