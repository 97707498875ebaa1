"""Greedy links, nearest records and bounds, against slow obvious twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.assignment.bounds import assignment_lower_bound
from gamekeeper.algorithms.assignment.dense import solve_assignment
from gamekeeper.algorithms.assignment.greedy import greedy_global, greedy_rows, nearest
from gamekeeper.errors import InputError
from tests.algorithms.assignment.test_dense import INF, KINDS, matrices, of_kind
from tests.given.cases import cases


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
@given(matrices())
def test_links_are_those_of_the_twins(costs):
    assert greedy_global(costs).columns.tolist() == by_sorting(costs)
    assert greedy_rows(costs).columns.tolist() == by_rows(costs)
    assert nearest(costs).columns.tolist() == by_rows(costs, one_to_one=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m"), [(90, 90), (60, 110), (110, 60)])
def test_links_of_larger_costs(kind, n, m):
    costs = of_kind(kind, n, m, 1)
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
@given(matrices(forbidden=False))
def test_the_bound_is_below_the_optimum(costs):
    optimum = solve_assignment(costs)
    scale = max(1.0, float(np.abs(costs).max(initial=0.0)))
    for passes in (0, 1, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gamekeeper.algorithms.assignment.bounds._PASSES", passes)
            assert assignment_lower_bound(costs) <= optimum.cost + 1e-9 * scale
    assert optimum.cost - optimum.lower_bound <= 1e-9 * scale


def test_the_bound_is_near_for_random_costs():
    costs = of_kind("uniform", 300, 300, 1)
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
