"""Suppressions against the optimum of trying every pattern, and against the criteria themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.suppression.both import suppress_both, suppress_released_to_people
from gamekeeper.algorithms.suppression.hitting_sets import (
    rare_sets,
    scored_sets,
    suppress_own,
    suppress_sets,
)
from gamekeeper.algorithms.suppression.problem import (
    Suppression,
    SuppressionProblem,
    sets_by_cost,
    whole_costs,
)
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.errors import InputError, LimitError
from tests.given.cases import cases
from tests.twins.who_is_who import counts, fits, holds, infrequent, optima, stars_of

WAYS = {
    "released_to_people": suppress_released_to_people,
    "both": suppress_both,
    "own": suppress_own,
}


@st.composite
def tiny_files(draw: st.DrawFn) -> tuple[np.ndarray, int, list[int]]:
    n, width = draw(st.sampled_from([(3, 3), (4, 2), (4, 3), (5, 2)]))
    cells = st.lists(st.integers(1, 3), min_size=width, max_size=width)
    rows = draw(st.lists(cells, min_size=n, max_size=n))
    k = draw(st.integers(2, min(3, n)))
    costs = draw(st.lists(st.integers(1, 3), min_size=width, max_size=width))
    return np.array(rows), k, costs


@st.composite
def small_files(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    n, width = draw(st.integers(2, 30)), draw(st.integers(1, 5))
    cells = st.lists(st.integers(0, 3), min_size=width, max_size=width)
    rows = draw(st.lists(cells, min_size=n, max_size=n))
    return np.array(rows), draw(st.integers(2, min(4, n)))


def check(found: Suppression, rows: np.ndarray, k: int, criterion: str) -> None:
    """The certificate, by nothing but the definition."""
    assert holds(rows.tolist(), stars_of(found.stars), k)[criterion]
    assert found.lower_bound <= found.cost


@pytest.mark.slow
@given(tiny_files())
@cases(20)
def test_the_cheapest_is_found_or_bounded(file):
    rows, k, costs = file
    best = optima(rows.tolist(), k, costs)
    for criterion, way in WAYS.items():
        found = way(SuppressionProblem(rows, k, costs))
        check(found, rows, k, criterion)
        spent = sum(costs[c] for own in stars_of(found.suppressed) for c in own)
        assert found.cost == spent
        assert found.lower_bound <= best[criterion] <= found.cost
        if found.is_optimal:
            assert found.cost == best[criterion]
    assert suppress_released_to_people(SuppressionProblem(rows, k, costs)).is_optimal


@given(small_files())
@cases(25)
def test_every_criterion_holds_afterwards(file):
    rows, k = file
    for criterion, way in WAYS.items():
        found = way(SuppressionProblem(rows, k))
        check(found, rows, k, criterion)
        assert not len(found.unmet)
        # What was missing costs nothing and is not counted.
        assert all(rows[i][c] for i, own in enumerate(stars_of(found.suppressed)) for c in own)


@given(small_files(), st.randoms())
@settings(max_examples=30)
def test_the_order_of_records_changes_nothing_but_who_of_equals_is_opened(file, random):
    rows, k = file
    order = list(range(len(rows)))
    random.shuffle(order)
    for way in WAYS.values():
        one = way(SuppressionProblem(rows, k))
        other = way(SuppressionProblem(rows[order], k))
        assert one.cost == other.cost
        shown = [sorted(zip(rows.tolist(), one.stars.tolist(), strict=True)),
                 sorted(zip(rows[order].tolist(), other.stars.tolist(), strict=True))]  # fmt: skip
        assert shown[0] == shown[1]


@given(small_files())
@cases(20)
def test_sets_of_all_sizes_are_the_same_question(file):
    rows, k = file
    problem = SuppressionProblem(rows, k)
    families = rare_sets(problem, [range(rows.shape[1])], rows.shape[1])
    blank = [frozenset(np.flatnonzero(row == 0).tolist()) for row in rows]
    for record in range(len(rows)):
        expected = [s for s in infrequent(rows.tolist(), record, k) if not blank[record] & set(s)]
        assert [sorted(s) for s in stars_of(families.of_record(record))] == sorted(
            expected, key=lambda s: sum(1 << c for c in s)
        )
    assert suppress_sets(problem, families).cost == suppress_released_to_people(problem).cost


@given(small_files(), st.integers(1, 3))
@cases(20)
def test_combinations_of_up_to_some_variables(file, dimension):
    rows, k = file
    problem = SuppressionProblem(rows, k)
    found = suppress_sets(problem, rare_sets(problem, [range(rows.shape[1])], dimension))
    listed = rows.tolist()
    for record, stars in enumerate(stars_of(found.stars)):
        rare = [s for s in infrequent(listed, record, k) if len(s) <= dimension]
        assert all(stars & set(s) for s in rare)
        cheapest = min(
            (sum(1 for c in chosen if listed[record][c])
             for chosen in map(set, _subsets(rows.shape[1])) if all(chosen & set(s) for s in rare)),
        )  # fmt: skip
        assert len(stars_of(found.suppressed)[record]) == cheapest


def _subsets(width: int) -> list[list[int]]:
    return [[c for c in range(width) if number >> c & 1] for number in range(1 << width)]


def test_several_keys_at_once():
    rows = np.array([[1, 1, 1], [1, 2, 2], [2, 1, 2], [2, 2, 1], [1, 1, 2], [2, 2, 2]])
    problem = SuppressionProblem(rows, 2)
    found = suppress_sets(problem, rare_sets(problem, [[0, 1], [1, 2]], 2))
    for record, stars in enumerate(stars_of(found.stars)):
        for key in ([0, 1], [1, 2]):
            kept = [c for c in key if c not in stars]
            assert sum(all(row[c] == rows[record][c] for c in kept) for row in rows) >= 2


def test_a_threshold_for_each_number_of_variables():
    rows = np.array([[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]])
    problem = SuppressionProblem(rows, 2)
    # Single variables are to have three, pairs need nothing: no row has fewer than two of either.
    one = suppress_sets(problem, rare_sets(problem, [[0, 1]], 1, thresholds=[3]))
    assert one.suppressed.tolist() == [2] * 6


def test_the_score_of_what_is_left_is_at_most_what_is_allowed():
    random = np.random.default_rng(1)
    rows = random.integers(1, 4, (40, 4)).astype(np.uint8)
    problem = SuppressionProblem(rows, 2)
    found = find_minimal_uniques(rows)
    assert found.offsets is not None
    assert found.masks is not None
    families = scored_sets(problem, found.records, found.offsets, found.masks)
    costs = []
    for allowed in (0, 1, 3, 10, 100):
        made = suppress_sets(problem, families, allowed=allowed)
        costs.append(made.cost)
        for record, stars in enumerate(stars_of(made.suppressed)):
            left = [msu for msu in found.of_record(record) if not stars & set(msu)]
            assert sum([1, 1, 2, 6, 24][4 - len(msu)] for msu in left) <= allowed
            cheapest = min(
                len(chosen)
                for chosen in map(set, _subsets(4))
                if sum(
                    [1, 1, 2, 6, 24][4 - len(msu)]
                    for msu in found.of_record(record)
                    if not chosen & set(msu)
                )
                <= allowed
            )
            assert len(stars) == cheapest
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == suppress_released_to_people(problem).cost


@pytest.mark.parametrize("allowed", [0, 10**6, 10**19])
def test_scores_beyond_64_bits_are_never_taken_for_less(allowed):
    # A set of one of 23 variables has the score 22!, about 10^21.
    rows = np.ones((4, 23), dtype=np.uint8)
    rows[0, [0, 1, 2]] = 2
    problem = SuppressionProblem(rows, 2)
    found = find_minimal_uniques(rows)
    assert found.offsets is not None
    assert found.masks is not None
    families = scored_sets(problem, found.records, found.offsets, found.masks)
    made = suppress_sets(problem, families, allowed=allowed)
    assert made.suppressed.tolist() == [7, 0, 0, 0]


def test_ties_go_to_the_variable_with_most_categories():
    rows = np.array([[1, 1], [1, 2], [2, 3], [2, 4], [1, 4], [2, 1]])
    # Either column of the first four may go; the second has more categories.
    assert [s for _, s in sets_by_cost([0, 1], [1, 1], [2, 4])] == [[0], [2, 1], [3]]
    assert suppress_released_to_people(SuppressionProblem(rows, 2)).suppressed.tolist() == [2] * 6


def test_pinned_columns_are_never_suppressed_and_what_cannot_be_met_is_told():
    rows = np.array([[1, 1], [1, 2], [2, 2], [2, 3]])
    found = suppress_released_to_people(SuppressionProblem(rows, 2, pinned=[0]))
    assert found.suppressed.tolist() == [2] * 4
    stuck = suppress_released_to_people(SuppressionProblem(rows, 3, pinned=[0]))
    assert stuck.unmet.tolist() == [0, 1, 2, 3]
    assert not stuck.is_optimal
    for way in WAYS.values():
        assert len(way(SuppressionProblem(rows, 3, pinned=[0])).unmet) == 4


def test_only_some_records_are_protected():
    rows = np.array([[1, 1], [1, 2], [2, 2], [2, 3]])
    only = np.array([True, False, False, False])
    found = suppress_released_to_people(SuppressionProblem(rows, 2), only=only)
    assert np.flatnonzero(found.suppressed).tolist() == [0]


def test_sums_of_weights_may_be_what_is_asked():
    rows = np.array([[1, 1], [1, 2], [2, 2]])
    found = suppress_released_to_people(
        SuppressionProblem(rows, 100, counts=np.array([150, 40, 70], dtype=np.int64))
    )
    assert found.suppressed.tolist() == [0, 1, 1]


@given(small_files())
@settings(max_examples=30)
def test_where_a_missing_cell_matches_anything(file):
    rows, k = file
    found = suppress_released_to_people(SuppressionProblem(rows, k, missing="wildcard"))
    blank = [frozenset(np.flatnonzero(row == 0).tolist()) for row in rows]
    stars = [own | b for own, b in zip(stars_of(found.stars), blank, strict=True)]
    for j in range(len(rows)):
        assert sum(fits(rows[i], rows[j], stars[j] | blank[i]) for i in range(len(rows))) >= k
    both = suppress_both(SuppressionProblem(rows, k, missing="wildcard"))
    stars = [own | b for own, b in zip(stars_of(both.stars), blank, strict=True)]
    for i in range(len(rows)):
        assert sum(fits(rows[i], rows[j], stars[j] | blank[i]) for j in range(len(rows))) >= k


def test_costs_are_exact():
    assert whole_costs([0.1, 0.2, 0.3]) == ([1, 2, 3], 10)
    rows = np.array([[1, 1], [1, 2], [2, 2], [2, 1]])
    found = suppress_released_to_people(SuppressionProblem(rows, 2, [0.1, 0.3]))
    assert found.cost == Fraction(4, 10)


@pytest.mark.parametrize(
    "given", [{"k": 5}, {"k": 1}, {"k": 2, "costs": [1]}, {"k": 2, "costs": [0, 1]}]
)
def test_what_cannot_be_asked(given):
    with pytest.raises(InputError):
        SuppressionProblem(np.array([[1, 1], [1, 2]]), **given)


def test_work_without_end_is_given_up():
    rows = np.random.default_rng(0).integers(1, 9, (200, 12))
    for way in WAYS.values():
        with pytest.raises(LimitError, match="max_work"):
            way(SuppressionProblem(rows, 50, max_work=10_000))


def test_the_wildcard_rule_is_no_measure_of_safety():
    rows = [[1, 1], [2, 2], [3, 3], [4, 4]]
    stars = [frozenset({0, 1}), *[frozenset[int]()] * 3]
    assert min(counts(rows, stars)["wildcard"]) == 2
    assert min(counts(rows, stars)["released_to_people"]) == 1
