from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
    compare_numbers,
    compare_ranks,
    compare_sinks,
    compare_texts,
)
from gamekeeper.algorithms.linkage.fellegi_sunter import fit_one_partner
from gamekeeper.algorithms.linkage.objective import (
    cost_matrix,
    cost_pairs,
    fellegi_sunter_cost,
    lexicographic_cost,
    mahalanobis_cost,
    weighted_sum,
)
from gamekeeper.errors import InputError, LimitError, Reason


def every_pair(shape):
    rows, columns = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    return CandidatePairs.from_pairs(rows, columns, shape)


def assert_pairs_agree(objective):
    matrix = cost_matrix(objective)
    pairs = cost_pairs(objective, every_pair(objective.shape))
    assert np.allclose(pairs, matrix.ravel(), rtol=1e-12)
    return matrix


def test_vectors_of_distances_summed_with_weights():
    # Five records with a number, a category and a rank, worked out by hand.
    a = [(71, "y", 2), (69, "z", 5), (60, "y", 3), (13, "y", 2), (75, "x", 2)]
    b = [(70, "x", 2), (64, "z", 4), (54, "y", 2), (9, "y", 3), (76, "x", 1)]
    codes = {"x": 1, "y": 2, "z": 3}
    number = compare_numbers([r[0] / 80 for r in a], [r[0] / 80 for r in b])
    nominal = compare_categories([codes[r[1]] for r in a], [codes[r[1]] for r in b])
    ordinal = compare_ranks([r[2] for r in a], [r[2] for r in b])
    expected = [
        [0.5125, 1.5875, 0.2125, 1.275, 1.0625],
        [2.0125, 0.5625, 2.1875, 2.25, 2.5875],
        [1.125, 1.05, 0.575, 0.6375, 1.7],
        [1.2125, 2.1375, 0.5125, 0.55, 1.7875],
        [0.0625, 1.6375, 0.7625, 1.825, 0.5125],
    ]
    costs = assert_pairs_agree(weighted_sum([number, nominal, ordinal], [1.0, 0.5, 2.0]))
    assert np.allclose(costs, expected, rtol=1e-12)
    totals = {p: sum(costs[i, p[i]] for i in range(5)) for p in permutations(range(5))}
    assert min(totals, key=totals.get) == (0, 1, 2, 3, 4)
    assert min(totals.values()) == pytest.approx(2.7125)


def test_equal_weights_add_distances():
    rng = np.random.default_rng(1)
    comparisons = [compare_numbers(rng.normal(size=700), rng.normal(size=900)) for _ in range(2)]
    objective = weighted_sum(comparisons)
    expected = comparisons[0].matrix() + comparisons[1].matrix()
    seen = []
    assert np.allclose(cost_matrix(objective, progress=lambda *told: seen.append(told)), expected)
    assert seen[-1] == (700, 700)
    assert len(seen) > 1


def test_estimated_weights_make_variables_count_alike_for_random_pairs():
    rng = np.random.default_rng(2)
    comparisons = [
        compare_numbers(rng.normal(size=50) * 1000, rng.normal(size=60) * 1000),
        compare_categories(rng.integers(0, 3, 50), rng.integers(0, 3, 60)),
        compare_numbers(np.ones(50), np.ones(60), name="Constant"),
    ]
    objective = weighted_sum(comparisons, "estimated")
    shares = [w * c.mean_distance() for w, c in zip(objective.weights, comparisons, strict=True)]
    assert shares[0] == pytest.approx(shares[1])
    assert np.mean(objective.weights) == pytest.approx(1.0)
    assert objective.weights[2] == 0
    assert any("'Constant' tells no records apart" in note for note in objective.notes)


def test_impossible_pairs_stay_impossible_with_weight_0():
    sinks = compare_sinks([1, 2], [1], [[1, 0], [0, 1]], [[1, 0]])
    number = compare_numbers([1, 2], [2])
    assert cost_matrix(weighted_sum([sinks, number], [0.0, 1.0])).tolist() == [[1.0], [math.inf]]
    lexicographic = lexicographic_cost([number, sinks])
    assert np.isinf(assert_pairs_agree(lexicographic)).tolist() == [[False], [True]]


@pytest.mark.parametrize("weights", ["fair", [1.0], [1.0, -1.0], [0.0, 0.0], [1.0, math.nan]])
def test_weights_that_do_not_fit_are_refused(weights):
    comparisons = [compare_numbers([1], [1]), compare_numbers([1], [1])]
    with pytest.raises(InputError) as caught:
        weighted_sum(comparisons, weights)
    assert caught.value.reason is Reason.BAD_OPTION


def test_no_variable_or_other_files_are_refused():
    with pytest.raises(InputError) as caught:
        weighted_sum([])
    assert caught.value.reason is Reason.NOTHING_GIVEN
    with pytest.raises(InputError):
        weighted_sum([compare_numbers([1], [1]), compare_numbers([1, 2], [1])])
    with pytest.raises(InputError):
        weighted_sum([compare_numbers([1], [1])], "estimated")
    with pytest.raises(InputError):
        cost_pairs(weighted_sum([compare_numbers([1], [1])]), every_pair((1, 2)))


@given(st.integers(2, 4), st.integers(0, 3), st.randoms(use_true_random=False))
def test_lexicographic_order_is_never_overturned(n_rows, more, random):
    n_columns = n_rows + more
    variables = [
        [[random.randint(0, 2) + 1 for _ in range(n)] for n in (n_rows, n_columns)]
        for _ in range(3)
    ]
    comparisons = [
        compare_categories(*variables[0]),
        compare_ranks(*variables[1]),
        compare_numbers(*variables[2]),
    ]
    costs = assert_pairs_agree(lexicographic_cost(comparisons))
    assert (costs == np.rint(costs)).all()

    def vector(p):
        exact = [variables[0], variables[1], variables[2]]
        return tuple(
            sum((a[i] != b[j]) if k == 0 else abs(a[i] - b[j]) for i, j in enumerate(p))
            for k, (a, b) in enumerate(exact)
        )

    links = list(permutations(range(n_columns), n_rows))
    chosen = min(links, key=lambda p: sum(costs[i, j] for i, j in enumerate(p)))
    assert vector(chosen) == min(map(vector, links))


def test_lexicographic_costs_beyond_exact_numbers_are_refused():
    rng = np.random.default_rng(1)
    numbers = [compare_numbers(rng.random(5000), rng.random(5000)) for _ in range(3)]
    with pytest.raises(LimitError, match="100, 100, 100 steps and 5,000 links"):
        lexicographic_cost(numbers)
    assert lexicographic_cost(numbers, steps=[10, 10, 10]).strides[0] == 50_001**2
    with pytest.raises(InputError):
        lexicographic_cost(numbers, steps=[1])


def test_mahalanobis_by_the_definition():
    rng = np.random.default_rng(3)
    mixing = rng.normal(size=(3, 3))
    a, b = rng.normal(size=(7, 3)) @ mixing, 5 + rng.normal(size=(9, 3)) @ mixing
    pooled = (6 * np.cov(a.T) + 8 * np.cov(b.T)) / 14
    inverse = np.linalg.inv(pooled)
    expected = np.array([[(x - y) @ inverse @ (x - y) for y in b] for x in a])
    costs = assert_pairs_agree(mahalanobis_cost(a, b))
    assert np.allclose(costs, expected)


def test_mahalanobis_ignores_units_and_repeated_variables():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(8, 2)), rng.normal(size=(6, 2))
    plain = cost_matrix(mahalanobis_cost(a, b))
    assert np.allclose(cost_matrix(mahalanobis_cost(a * [1e6, 1e-6], b * [1e6, 1e-6])), plain)
    wide = [np.column_stack((f, f @ [1, 1], np.full(len(f), 7.0))) for f in (a, b)]
    singular = mahalanobis_cost(*wide)
    assert "rank 2 for 4 variables" in singular.notes[0]
    correlation = np.zeros((4, 4))
    pooled = (7 * np.cov(wide[0].T) + 5 * np.cov(wide[1].T)) / 12
    scales = np.sqrt(np.diag(pooled)[:3])
    correlation[:3, :3] = pooled[:3, :3] / np.outer(scales, scales)
    inverse = np.linalg.pinv(correlation, hermitian=True, rcond=1e-9)
    scaled = [f / [*scales, 1.0] for f in wide]
    expected = [[(x - y) @ inverse @ (x - y) for y in scaled[1]] for x in scaled[0]]
    assert np.allclose(cost_matrix(singular), expected)


def test_mahalanobis_puts_missing_values_at_the_mean():
    a, b = [[1.0, 2.0], [math.nan, 5.0], [4.0, 4.0]], [[2.0, 1.0], [5.0, math.nan]]
    filled = [[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], [[2.0, 1.0], [5.0, 3.0]]
    objective = mahalanobis_cost(a, b)
    assert np.allclose(cost_matrix(objective), cost_matrix(mahalanobis_cost(*filled)))
    assert "2 missing values" in objective.notes[0]


def test_mahalanobis_of_constant_variables_is_0():
    objective = mahalanobis_cost([[1.0], [1.0]], [[1.0]])
    assert cost_matrix(objective).tolist() == [[0.0], [0.0]]
    assert objective.notes


@pytest.mark.parametrize("a", [[[1.0, 2.0]], [1.0], [[math.inf]], np.zeros((0, 1))])
def test_mahalanobis_of_unlike_files_is_refused(a):
    with pytest.raises(InputError):
        mahalanobis_cost(a, [[1.0]])


def test_fellegi_sunter_costs_are_the_largest_weight_less_the_weight():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 5, (4, 60))
    b = np.where(rng.random(a.shape) < 0.1, rng.integers(1, 5, a.shape), a)
    names = [f"V{k}" for k in range(4)]
    comparisons = [compare_categories(*ab, name=n) for n, *ab in zip(names, a, b, strict=True)]
    model = fit_one_partner(comparisons)
    objective = fellegi_sunter_cost(comparisons, model)
    costs = assert_pairs_agree(objective)
    assert (costs >= -1e-12).all()
    best = sum(max(w) for w in model.weights)
    for i, j in [(0, 0), (3, 7), (59, 1)]:
        weight = sum(
            0.0 if not a[k, i] or not b[k, j] else w[int(a[k, i] != b[k, j])]
            for k, w in enumerate(model.weights)
        )
        assert costs[i, j] == pytest.approx(best - weight)
    with pytest.raises(InputError):
        fellegi_sunter_cost(comparisons[:2], model)


def test_fellegi_sunter_costs_of_impossible_pairs_are_infinite():
    sinks = compare_sinks([1, 2, 1], [1, 1, 1], [[1, 0], [0, 1]], [[1, 1]], name="A")
    blocked = compare_sinks([1, 2, 1], [1, 1, 1], [[1, 0], [0, 1]], [[1, 0]], name="A")
    model = fit_one_partner([sinks])
    costs = assert_pairs_agree(fellegi_sunter_cost([blocked], model))
    assert np.isinf(costs).tolist() == [[False] * 3, [True] * 3, [False] * 3]


LIMITS = (np.array([0.0]), np.array([0.0, 0.25, 0.75]), np.array([0.1, 0.5]))
numbers = st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0, math.nan]), min_size=1)


@pytest.mark.parametrize("measure", ["absolute", "squared", "standardized", "relative"])
@given(numbers, numbers, st.sampled_from(LIMITS))
def test_weights_of_levels_of_numbers_are_those_of_their_distances(measure, a, b, limits):
    comparison = compare_numbers(a, b, measure=measure)
    assert_weights_of_levels(comparison, limits)


codes = st.lists(st.integers(0, 3), min_size=1, max_size=6)


@pytest.mark.parametrize("kept", [True, False])
@given(codes, codes, st.sampled_from(LIMITS))
def test_weights_of_levels_of_codes_are_those_of_their_distances(kept, a, b, limits):
    texts = ["anna", "anne", "bert"]
    named = compare_texts(a, b, texts, texts)
    named.texts._keeps_levels = kept
    sinks = [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    for comparison in (compare_categories(a, b), named, compare_sinks(a, b, sinks, sinks)):
        assert_weights_of_levels(comparison, limits)


def assert_weights_of_levels(comparison, limits):
    weights = 3.0 ** np.arange(len(limits) + 1)
    distances = comparison.with_missing(math.nan).matrix()
    expected = weights[np.searchsorted(limits, distances) % len(weights)]
    expected[np.isnan(distances)] = 0.0
    expected[np.isinf(distances)] = math.inf
    out = np.ones(distances.shape)
    comparison.add_levels(out, limits, weights)
    assert (out == expected + 1).all()
