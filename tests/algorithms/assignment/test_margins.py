"""Margins of links, against solving again without each link and against all optima."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.assignment.costs import two_least
from gamekeeper.algorithms.assignment.dense import solve_assignment
from gamekeeper.algorithms.assignment.margins import assignment_margins
from gamekeeper.errors import Cancelled, InputError
from tests.algorithms.assignment.test_dense import INF, matrices, of_kind
from tests.given.cases import cases


def increase_without(costs, found, row):
    without = np.array(costs, float)
    without[row, found.columns[row]] = INF
    other = solve_assignment(without, partial=True)
    return other.cost - found.cost if other.n_linked == found.n_linked else INF


@cases(50)
@given(matrices())
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
    costs = of_kind(kind, *shape, 7)
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
    costs = of_kind("uniform", 30, 30, 1)
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
    costs = of_kind("uniform", 20, 20, 1)
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
    costs = of_kind("uniform", 300, 300, 1)
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
