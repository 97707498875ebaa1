"""Sparse links against every set of links, and margins against solving without each link."""

from __future__ import annotations

import itertools
import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.assignment import sparse as module
from gamekeeper.algorithms.assignment.dense import solve_assignment, two_least
from gamekeeper.algorithms.assignment.sparse import (
    assignment_margins,
    nearest_candidates,
    solve_candidates,
)
from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.errors import Cancelled, InputError
from tests.given.cases import cases
from tests.given.cost_matrices import INF, cost_matrices, costs_of_kind

WHOLE = st.integers(-3, 9).map(float)


@st.composite
def problems(draw, values=WHOLE):
    n_rows, n_columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    pairs = draw(
        st.lists(st.tuples(st.integers(0, n_rows - 1), st.integers(0, n_columns - 1)), unique=True)
    )
    candidates = CandidatePairs.from_pairs(
        [p[0] for p in pairs], [p[1] for p in pairs], (n_rows, n_columns)
    )
    costs = draw(
        st.lists(
            st.one_of(values, st.just(math.inf)) if draw(st.booleans()) else values,
            min_size=len(pairs),
            max_size=len(pairs),
        )
    )
    return candidates, costs


def every_set_of_links(candidates, costs):
    """Return all one-to-one sets of links as (number, cost, linked rows, linked columns)."""
    cost_of = dict(
        zip(zip(candidates.rows().tolist(), candidates.columns.tolist(), strict=True), costs,
            strict=True)
    )  # fmt: skip
    n_rows, n_columns = candidates.shape
    choices = [*range(n_columns), *([None] * n_rows)]
    for chosen in set(permutations(choices, n_rows)):
        links = [(i, j) for i, j in enumerate(chosen) if j is not None]
        if all(math.isfinite(cost_of.get(link, math.inf)) for link in links):
            rows, columns = {i for i, _ in links}, {j for _, j in links}
            yield len(links), sum(cost_of[link] for link in links), rows, columns


def assert_sound(candidates, costs, found):
    """Links are candidates, one to one, with their costs; potentials are feasible."""
    cost_of = dict(
        zip(zip(candidates.rows().tolist(), candidates.columns.tolist(), strict=True), costs,
            strict=True)
    )  # fmt: skip
    links = [(i, j) for i, j in enumerate(found.columns.tolist()) if j >= 0]
    assert len({j for _, j in links}) == len(links) == found.n_links
    assert found.cost == pytest.approx(sum(cost_of[link] for link in links))
    for i, j in enumerate(found.columns.tolist()):
        assert math.isnan(found.costs[i]) if j < 0 else found.costs[i] == cost_of[i, j]
    u, v = found.row_potentials, found.column_potentials
    for (i, j), cost in cost_of.items():
        assert u[i] + v[j] <= cost + 1e-9
    assert found.gap >= 0
    assert found.lower_bound <= found.total


def hand_over(patch, share):
    """Hand components to the dense solver from this share of candidates on, whatever their size."""
    patch.setattr(module, "_DENSE_CELLS", 1)
    patch.setattr(module, "_DENSE_SHARE", share)


SHARES = st.sampled_from([0.0, 0.7, 2.0])


@cases(60)
@given(problems(), st.sampled_from([0, 1_000]), st.integers(0, 50), SHARES)
def test_as_many_links_as_possible_at_least_cost(problem, large, bids, share):
    candidates, costs = problem
    with pytest.MonkeyPatch.context() as patch:
        hand_over(patch, share)
        patch.setattr(module, "_LARGE", large)
        patch.setattr(module, "_BIDS_PER_ROW", bids)
        found = solve_candidates(candidates, costs)
    best = min((-number, cost) for number, cost, *_ in every_set_of_links(candidates, costs))
    assert (-found.n_links, found.cost) == best
    assert found.gap == 0
    assert_sound(candidates, costs, found)
    assert (found.column_potentials <= 0).all()


@cases(60)
@given(problems(), st.sampled_from([0, 1_000]), SHARES, st.data())
def test_prices_of_unlinked_records(problem, large, share, data):
    candidates, costs = problem
    p, q = (
        data.draw(st.lists(st.integers(-2, 5), min_size=n, max_size=n)) for n in candidates.shape
    )
    with pytest.MonkeyPatch.context() as patch:
        hand_over(patch, share)
        patch.setattr(module, "_LARGE", large)
        found = solve_candidates(candidates, costs, unlinked_row=p, unlinked_column=q)

    def total(cost, rows, columns):
        return (
            cost
            + sum(price for i, price in enumerate(p) if i not in rows)
            + sum(price for j, price in enumerate(q) if j not in columns)
        )

    assert found.total == min(total(*rest) for _, *rest in every_set_of_links(candidates, costs))
    assert found.gap == 0
    assert_sound(candidates, costs, found)
    assert all(found.costs[i] < p[i] + q[j] for i, j in enumerate(found.columns.tolist()) if j >= 0)
    assert (found.row_potentials <= p).all()
    assert (found.column_potentials <= q).all()


@given(problems(st.floats(-5, 5)), SHARES)
def test_numbers_that_are_not_whole(problem, share):
    candidates, costs = problem
    with pytest.MonkeyPatch.context() as patch:
        hand_over(patch, share)
        found = solve_candidates(candidates, costs)
    most = max(number for number, *_ in every_set_of_links(candidates, costs))
    best = min(cost for n, cost, *_ in every_set_of_links(candidates, costs) if n == most)
    assert found.n_links == most
    assert found.cost == pytest.approx(best, abs=1e-9)
    assert found.gap < 1e-9


@cases(50)
@given(problems(st.floats(-5, 5)), SHARES, st.sampled_from([-1_000, -60, 60, 480]))
def test_costs_of_any_size(problem, share, exponent):
    """A price beside which small costs vanish would leave the links to chance."""
    candidates, costs = problem
    scaled = np.ldexp(costs, exponent)
    with pytest.MonkeyPatch.context() as patch:
        hand_over(patch, share)
        found = solve_candidates(candidates, scaled)
    sets = list(every_set_of_links(candidates, costs))
    most = max(number for number, *_ in sets)
    best = min(cost for number, cost, *_ in sets if number == most)
    assert found.n_links == most
    assert np.ldexp(found.cost, -exponent) == pytest.approx(best, abs=1e-9)


def test_costs_whose_sums_are_no_numbers():
    pairs = CandidatePairs.from_pairs([0, 0, 1], [0, 1, 1], (2, 2))
    with pytest.raises(InputError, match="too large"):
        solve_candidates(pairs, [1e308, -1e308, 1e308])


@pytest.mark.parametrize("share", [0.0, 2.0])
@pytest.mark.parametrize("large", [0, 10_000])
@pytest.mark.parametrize("whole", [True, False])
def test_against_a_dense_solver(monkeypatch, large, whole, share):
    from scipy.optimize import linear_sum_assignment

    hand_over(monkeypatch, share)
    monkeypatch.setattr(module, "_LARGE", large)
    rng = np.random.default_rng(7)
    for n_rows, n_columns in ((60, 60), (40, 90), (90, 40)):
        dense = rng.random((n_rows, n_columns))
        dense = np.floor(dense * 20) if whole else dense
        rows, columns = np.divmod(np.arange(dense.size), n_columns)
        candidates = CandidatePairs.from_pairs(rows, columns, dense.shape)
        found = solve_candidates(candidates, dense.ravel())
        expected = dense[linear_sum_assignment(dense)].sum()
        assert found.n_links == min(dense.shape)
        assert found.cost == pytest.approx(expected, rel=1e-12)
        assert found.gap < 1e-9
    sparse = rng.random((200, 200)) < 0.03
    values = rng.integers(0, 50, (200, 200)).astype(float)
    candidates = CandidatePairs.from_pairs(*np.nonzero(sparse), sparse.shape)
    found = solve_candidates(candidates, values[sparse])
    # A dense solver links as many as possible where missing pairs cost more than all the others.
    filled = np.where(sparse, values, 1e6)
    total = filled[linear_sum_assignment(filled)].sum()
    assert (200 - found.n_links) * 1e6 + found.cost == total
    assert found.gap == 0


def handed_over_in(monkeypatch):
    """Note how many rows each component has that is handed over to the dense solver."""
    handed = []
    link_dense = module._link_dense

    def noted(*given, **options):
        handed.append(len(given[4][0]))
        link_dense(*given, **options)

    monkeypatch.setattr(module, "_link_dense", noted)
    return handed


@pytest.mark.parametrize(("many", "handed_over"), [(100, [20]), (1_000, [])])
def test_prices_that_rule_out_most_candidates(monkeypatch, many, handed_over):
    """Such a component is handed over only where it is large."""
    handed = handed_over_in(monkeypatch)
    monkeypatch.setattr(module, "_DENSE_CELLS", 100)
    monkeypatch.setattr(module, "_MANY_CELLS", many)
    i, j = np.divmod(np.arange(400), 20)
    candidates = CandidatePairs.from_pairs(i, j, (20, 20))
    costs = np.random.default_rng(4).permutation(400)
    found = solve_candidates(candidates, costs, unlinked_row=40)
    assert handed == handed_over
    assert (found.costs[found.columns >= 0] < 40).all()
    assert found.gap == 0


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("priced", [True, False])
def test_dense_and_sparse_components_together(monkeypatch, whole, priced):
    """Blocks of many shapes and shares, shuffled: handed over or not, the total is the same."""
    rng = np.random.default_rng(9)
    rows, columns, shape = [], [], [0, 0]
    for n_rows, n_columns, share in ((40, 40, 1), (30, 50, 0.5), (50, 30, 1), (60, 60, 0.04)):
        i, j = np.nonzero(rng.random((n_rows, n_columns)) < share)
        rows.append(i + shape[0])
        columns.append(j + shape[1])
        shape = [shape[0] + n_rows, shape[1] + n_columns]
    orders = [rng.permutation(n) for n in shape]
    candidates = CandidatePairs.from_pairs(
        orders[0][np.concatenate(rows)], orders[1][np.concatenate(columns)], tuple(shape)
    )
    costs = rng.random(candidates.n_pairs) * 50
    costs = np.floor(costs) if whole else costs
    prices = {"unlinked_row": 20.0, "unlinked_column": 5.0} if priced else {}
    handed = handed_over_in(monkeypatch)
    sparse = solve_candidates(candidates, costs, **prices)
    assert handed == []
    monkeypatch.setattr(module, "_DENSE_CELLS", 1_000)
    dense = solve_candidates(candidates, costs, **prices)
    assert sorted(handed) == [30, 40, 50]
    # With prices equal totals of whole numbers can come from more links or fewer.
    assert dense.n_links == sparse.n_links or (whole and priced)
    assert dense.total == pytest.approx(sparse.total, rel=1e-12)
    assert dense.gap <= (0 if whole else 1e-8)
    assert_sound(candidates, costs.tolist(), dense)


def test_links_do_not_depend_on_the_order_of_records():
    rng = np.random.default_rng(8)
    rows, columns = rng.integers(0, 300, 2000), rng.integers(0, 250, 2000)
    one = CandidatePairs.from_pairs(rows, columns, (300, 250))
    costs = rng.random(one.n_pairs)
    found = solve_candidates(one, costs)
    order = rng.permutation(300)
    other = CandidatePairs.from_pairs(order[one.rows()], one.columns, (300, 250))
    sorting = np.lexsort((one.columns, order[one.rows()]))
    moved = solve_candidates(other, costs[sorting])
    assert (moved.columns[order] == found.columns).all()


@given(problems())
def test_nearest(problem):
    candidates, costs = problem
    found = nearest_candidates(candidates, costs)
    pairs = list(zip(candidates.rows().tolist(), candidates.columns.tolist(), costs, strict=True))
    for i in range(candidates.shape[0]):
        near = sorted((cost, j) for row, j, cost in pairs if row == i and math.isfinite(cost))
        assert found.columns[i] == (near[0][1] if near else -1)
        assert found.costs[i] == (near[0][0] if near else math.inf)
        if not near:
            assert math.isnan(found.margins[i])
        else:
            assert found.margins[i] == (near[1][0] - near[0][0] if len(near) > 1 else math.inf)


def test_progress_and_cancelling():
    candidates = CandidatePairs.from_pairs([0, 1, 2], [0, 1, 1], (3, 2))
    told = []
    solve_candidates(candidates, [1, 2, 3], progress=lambda *done: told.append(done))
    assert told == [(3, 3)]

    def stop(done, total):
        raise Cancelled("Links were asked for.")

    with pytest.raises(Cancelled):
        solve_candidates(candidates, [1, 2, 3], progress=stop)


def test_progress_of_components_that_are_handed_over(monkeypatch):
    hand_over(monkeypatch, 0.0)
    candidates = CandidatePairs.from_pairs([0, 0, 1, 2, 3], [0, 1, 1, 2, 2], (5, 3))
    told = []
    solve_candidates(candidates, range(5), progress=lambda *done: told.append(done))
    assert told[-1] == (5, 5)
    assert told == sorted(told)


def test_no_pair_leaves_everyone_unlinked():
    found = solve_candidates(CandidatePairs.from_pairs([], [], (2, 3)), [])
    assert found.columns.tolist() == [-1, -1]
    assert (found.n_links, found.cost, found.gap, found.n_components) == (0, 0, 0, 5)
    assert solve_candidates(CandidatePairs.from_pairs([], [], (0, 0)), []).columns.tolist() == []


@pytest.mark.parametrize(
    ("costs", "prices"),
    [
        ([1.0], {}),
        ([1.0, math.nan], {}),
        ([1.0, -math.inf], {}),
        ([1.0, 2.0], {"unlinked_column": 1.0}),
        ([1.0, 2.0], {"unlinked_row": [1.0]}),
        ([1.0, 2.0], {"unlinked_row": math.inf}),
    ],
)
def test_what_cannot_be_linked_is_refused(costs, prices):
    with pytest.raises(InputError):
        solve_candidates(CandidatePairs.from_pairs([0, 1], [0, 1], (2, 2)), costs, **prices)


def increase_without(costs, found, row):
    without = np.array(costs, float)
    without[row, found.columns[row]] = INF
    other = solve_assignment(without, partial=True)
    return other.cost - found.cost if other.n_linked == found.n_linked else INF


@cases(50)
@given(cost_matrices())
def test_the_increase_is_that_of_solving_without_the_link(costs):
    found = solve_assignment(costs, partial=True)
    margins = assignment_margins(costs, found)
    scale = max(1.0, float(np.abs(costs[costs < INF]).max(initial=0.0)))
    for row, column in enumerate(found.columns):
        if column < 0:
            assert np.isnan(margins.increases[row])
            assert not margins.in_every_optimum[row]
            continue
        increase = increase_without(costs, found, row)
        assert margins.increases[row] == pytest.approx(increase, abs=1e-9 * scale)
        assert margins.in_every_optimum[row] == (margins.increases[row] > 0)


@pytest.mark.parametrize("kind", ["uniform", "counts", "wide integers", "points", "flat"])
@pytest.mark.parametrize("shape", [(60, 60), (40, 70), (70, 40)])
def test_increases_of_larger_costs(kind, shape):
    costs = costs_of_kind(kind, *shape, 7)
    found = solve_assignment(costs)
    margins = assignment_margins(costs, found)
    for row in np.flatnonzero(found.columns >= 0)[::7]:
        expected = increase_without(costs, found, row)
        assert margins.increases[row] == pytest.approx(expected, abs=1e-9)


def optima(costs, least):
    n_rows, n_columns = costs.shape
    return [
        columns
        for columns in itertools.permutations(range(n_columns), n_rows)
        if costs[range(n_rows), list(columns)].sum() <= least
    ]


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (4, 6)])
def test_links_in_every_optimum(shape):
    rng = np.random.default_rng(11)
    for _ in range(60):
        costs = rng.integers(0, 5, shape)
        found = solve_assignment(costs)
        margins = assignment_margins(costs, found, rows=[])
        every = optima(costs, found.cost)
        fixed = [len(set(columns)) == 1 for columns in zip(*every, strict=True)]
        assert margins.in_every_optimum.tolist() == fixed
        assert margins.is_unique == (len(every) == 1)
        assert np.isnan(margins.increases).all()


def test_two_least_costs_of_rows():
    costs = np.array([[3.0, 1.0, 1.5], [2.0, INF, INF], [4.0, 4.0, 7.0]])
    margins = assignment_margins(costs, solve_assignment(costs))
    assert margins.best.tolist() == [1.0, 2.0, 4.0]
    assert margins.second_best.tolist() == [1.5, INF, 4.0]
    assert margins.increases[1] == INF
    forbidden = np.array([[INF, INF], [1.0, 2.0]])
    margins = assignment_margins(forbidden, solve_assignment(forbidden, partial=True))
    assert margins.best[0] == margins.second_best[0] == INF
    assert margins.is_unique
    assert repr(margins) == "AssignmentMargins(1 of 1 links in every optimum)"


def test_sums_that_are_equal_up_to_rounding_are_ties():
    costs = np.array([[0.1, 0.3], [0.6, 0.8 + 1e-16]])
    costs[1, 1] = 0.3 + 0.6 - 0.1 + 4e-16
    margins = assignment_margins(costs, solve_assignment(costs))
    assert not margins.is_unique
    assert margins.increases.tolist() == [0.0, 0.0]
    assert assignment_margins(costs + np.eye(2), solve_assignment(costs + np.eye(2))).is_unique


def test_chosen_rows():
    costs = costs_of_kind("uniform", 30, 30, 1)
    found = solve_assignment(costs)
    every = assignment_margins(costs, found).increases
    some = assignment_margins(costs, found, rows=[3, 17]).increases
    assert some[[3, 17]].tolist() == every[[3, 17]].tolist()
    assert np.isnan(some).sum() == 28
    with pytest.raises(InputError, match="2 of the rows asked for"):
        assignment_margins(costs, found, rows=[-1, 30, 2])
    with pytest.raises(InputError, match="not a list of numbers"):
        assignment_margins(costs, found, rows=[0.5])


def test_assignments_of_other_costs_are_refused():
    costs = costs_of_kind("uniform", 20, 20, 1)
    found = solve_assignment(costs)
    with pytest.raises(InputError, match="not an optimum of these costs"):
        assignment_margins(costs.T, found)
    with pytest.raises(InputError, match="20 x 19"):
        assignment_margins(costs[:, :19], found)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_linked(shape):
    costs = np.zeros(shape)
    margins = assignment_margins(costs, solve_assignment(costs))
    assert margins.is_unique
    assert len(margins.best) == len(margins.second_best) == shape[0]
    assert np.isnan(margins.increases).all()


def test_progress_can_stop_the_work():
    costs = costs_of_kind("uniform", 300, 300, 1)
    found = solve_assignment(costs)
    seen = []
    assignment_margins(costs, found, progress=lambda done, whole: seen.append((done, whole)))
    assert seen == [(0, 300), (256, 300), (300, 300)]

    def stop(done, whole):
        raise Cancelled("Margins were asked for.")

    with pytest.raises(Cancelled):
        assignment_margins(costs, found, progress=stop)


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.5, INF]), min_size=3, max_size=3), min_size=1)
)
def test_two_least_costs_are_the_first_two_in_order(rows):
    costs = np.array(rows)
    for some in (costs, np.asfortranarray(costs), costs[:, :1], costs.astype(np.float32)):
        best, second = two_least(some)
        ordered = np.sort(np.column_stack((some, np.full((len(some), 2), INF))), axis=1)
        assert (best == ordered[:, 0]).all()
        assert (second == ordered[:, 1]).all()
