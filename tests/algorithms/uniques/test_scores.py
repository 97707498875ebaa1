from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.uniques.scores import (
    ScoreKind,
    class_sizes,
    dis_is,
    dis_is_power,
    dis_suda,
    percentages,
    proportions_of_lattice,
    size_weights,
    weigh,
)
from gamekeeper.errors import Cancelled, InputError
from tests.twins.key_classes import sizes_by_pairs

# Four records of the IHSN guide's example with four key variables: MSUs of size 0 .. 4.
GUIDE = np.array([[0, 1, 0, 0, 0], [0, 1, 3, 0, 0], [0, 1, 0, 0, 0], [0, 1, 2, 0, 0]])


@pytest.mark.parametrize("n_variables", range(1, 13))
def test_the_2002_weight_is_the_share_of_unique_supersets_cut_to_an_integer(n_variables):
    for power in (0, 2, 6, 9):
        for size, weight in enumerate(size_weights(n_variables, "suda", power=power)):
            rest = range(n_variables - size)
            supersets = sum(1 for k in rest for _ in combinations(rest, k + 1))
            share = Fraction(supersets, math.comb(n_variables, size))
            assert weight == math.floor(10**power * share)


@pytest.mark.parametrize("n_variables", range(1, 9))
def test_the_weight_of_is_is_the_number_of_paths_to_the_whole_key(n_variables):
    def paths(size):
        return 1 if size == n_variables else (n_variables - size) * paths(size + 1)

    weights = size_weights(n_variables, "is")
    assert weights == tuple(paths(size) for size in range(n_variables + 1))
    assert size_weights(n_variables, "tool_is") == weights
    for cap in range(n_variables + 1):
        assert size_weights(n_variables, "is", max_size=cap) == weights[: cap + 1]
        # A tool with a cap divides all weights by that of the largest size.
        for size, weight in enumerate(size_weights(n_variables, "tool_is", max_size=cap)):
            assert weight * weights[cap] == weights[size]


def test_the_2002_weight_is_not_monotone_and_leaves_the_whole_key_without_weight():
    # Erratum S2: 0.0303, 0.0318, 0.0455 and 0.0833 for 8, 9, 10 and 11 of 12 variables.
    weights = size_weights(12, "suda", power=4)
    assert weights[8:] == (303, 318, 454, 833, 0)


def test_the_guide_example():
    assert weigh(GUIDE, size_weights(4, "is")).tolist() == [6, 12, 6, 10]
    assert weigh(GUIDE, size_weights(4, "suda", power=2)).tolist() == [175, 325, 175, 275]


@given(
    st.integers(1, 64).flatmap(
        lambda m: st.tuples(
            st.just(m),
            st.lists(
                st.lists(st.integers(0, 50), min_size=m + 1, max_size=m + 1), min_size=1, max_size=5
            ),
        )
    ),
    st.sampled_from(list(ScoreKind)),
)
def test_sums_are_exact_whatever_their_size(given_counts, kind):
    n_variables, lines = given_counts
    weights = size_weights(n_variables, kind)
    found = weigh(np.array(lines), weights)
    expected = [sum(n * w for n, w in zip(line, weights, strict=True)) for line in lines]
    assert [int(score) for score in found] == expected
    assert (found.dtype == np.int64) or max(expected) > 2**62
    floats = weigh(np.array(lines), weights, exact=False)
    assert floats == pytest.approx([float(score) for score in expected], rel=1e-14)


def test_weights_beyond_int64_stay_small_where_no_msu_has_them():
    counts = np.zeros((3, 41), dtype=np.int32)
    counts[:, 30] = [1, 2, 3]
    found = weigh(counts, size_weights(40, "is"))
    assert found.dtype == np.int64
    assert found.tolist() == [math.factorial(10) * n for n in (1, 2, 3)]
    counts[0, 1] = 1
    found = weigh(counts, size_weights(40, "is"))
    assert found.dtype == object
    assert found[0] == math.factorial(39) + math.factorial(10)


def test_one_line_and_many_levels_are_weighted_alike():
    weights = size_weights(4, "is")
    assert weigh(GUIDE.sum(axis=0), weights) == weigh(GUIDE, weights).sum()
    assert weigh(np.stack([GUIDE, GUIDE]), weights).tolist() == [[6, 12, 6, 10]] * 2
    assert weigh(np.zeros((0, 5), dtype=int), weights).tolist() == []


def test_pol_is_a_share_of_the_lattice():
    scores = np.array([6, 12, 6, 10])
    exact = proportions_of_lattice(scores, 4, exact=True)
    assert exact.tolist() == [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4), Fraction(5, 12)]
    assert proportions_of_lattice(scores, 4) == pytest.approx([0.25, 0.5, 0.25, 5 / 12])
    huge = np.empty(1, dtype=object)
    huge[0] = math.factorial(60)
    assert proportions_of_lattice(huge, 60, exact=True).tolist() == [1]
    assert proportions_of_lattice(huge, 60).tolist() == [1.0]


def test_percentages_of_published_examples():
    # sdcMicro issues 275 and 356: 50, 37.5, 37.5 and 61.54, 69.23, 53.85.
    assert percentages([4, 3, 3], 8) == (50.0, 37.5, 37.5)
    assert [round(p, 2) for p in percentages([8, 9, 7], 13)] == [61.54, 69.23, 53.85]
    assert percentages([0, 0], 0) is None


def test_all_wrong_arguments_are_told_at_once():
    with pytest.raises(InputError) as caught:
        size_weights(0, "other", power=-1, max_size=3)
    assert [p.where for p in caught.value.problems] == ["n_variables", "power", "max_size", "kind"]
    with pytest.raises(InputError, match="weights for 5 sizes"):
        weigh(np.zeros((2, 4), dtype=int), size_weights(4))


SCORES = st.lists(st.integers(0, 10**6) | st.integers(0, 10**40), max_size=12)
SHARES = st.floats(0, 1)


def by_the_loop(scores, dis):
    """The steps of the paper, with a stop where nothing is left to divide or to divide among."""
    weights = [max(0.0, math.log(score)) if score else 0.0 for score in scores]
    values = [0.0] * len(scores)
    rest = dis * len(scores)
    for _ in range(10_000):
        below = [i for i, w in enumerate(weights) if values[i] < 1 and w > 0]
        total = sum(weights[i] for i in below)
        if rest <= 1e-15 or not below:
            break
        for i in below:
            values[i] += rest * weights[i] / total
        rest = sum(value - 1 for value in values if value > 1)
        values = [min(1.0, value) for value in values]
    return values, rest


@given(SCORES, SHARES)
def test_dis_suda_is_the_end_of_the_loop(scores, dis):
    expected, rest = by_the_loop(scores, dis)
    found = dis_suda(scores, dis)
    assert found.values == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.unallocated == pytest.approx(rest, abs=1e-9)
    assert found.values.sum() + found.unallocated == pytest.approx(dis * len(scores), abs=1e-9)


@given(SCORES, SHARES, st.randoms(use_true_random=False))
def test_dis_suda_keeps_the_order_of_scores_and_not_that_of_records(scores, dis, random):
    values = dis_suda(scores, dis).values
    assert all(0 <= value <= 1 for value in values)
    ranked = sorted(range(len(scores)), key=lambda i: scores[i])
    assert all(values[a] <= values[b] + 1e-12 for a, b in itertools.pairwise(ranked))
    random.shuffle(ranked)
    moved = dis_suda([scores[i] for i in ranked], dis).values
    assert moved == pytest.approx([values[i] for i in ranked], abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "dis", "values", "unallocated"),
    [
        ([10, 100, 1000], 0.5, [0.25, 0.5, 0.75], 0),
        ([5, 25, 625], 0.95, [0.85, 1, 1], 0),
        ([7, 7, 7, 7], 0.3, [0.3] * 4, 0),
        ([0, 1, 50, 500], 0.2, [0, 0, 0.30904832735, 0.49095167265], 0),
        ([99, 1], 0.9, [1, 0], 0.8),
        ([1, 0, 1], 0.5, [0, 0, 0], 1.5),
        ([], None, [], 0),
        ([3, 3], 1, [1, 1], 0),
        ([3, 4], 0, [0, 0], 0),
    ],
)
def test_dis_suda_of_known_cases(scores, dis, values, unallocated):
    found = dis_suda(scores, dis)
    assert found.values == pytest.approx(values, abs=1e-10)
    assert found.unallocated == pytest.approx(unallocated, abs=1e-12)


def test_dis_suda_of_the_guide_example():
    dis = Fraction(4, 4 + 6 * 99)
    found = dis_suda([6, 12, 6, 10], dis)
    assert [round(value, 4) for value in found.values] == [0.0057, 0.0079, 0.0057, 0.0074]


def test_dis_is_of_the_guide_example():
    dis = Fraction(4, 4 + 6 * 99)
    assert dis_is([6, 12, 6, 10], dis, 4).round(4).tolist() == [0.0050, 0.0114, 0.0050, 0.0092]
    on_2002 = dis_is([1.75, 3.25, 1.75, 2.75], dis, 4)
    assert on_2002.round(4).tolist() == [0.0051, 0.0107, 0.0051, 0.0088]


@given(
    st.lists(st.integers(1, 10**9) | st.integers(10**20, 10**80), min_size=1, max_size=9),
    st.floats(1e-4, 1),
    st.integers(1, 27),
)
def test_the_harmonic_mean_of_dis_is_is_dis_and_the_ranking_that_of_the_score(scores, dis, n):
    values = dis_is(scores, dis, n)
    # A value can be as small as the false matches are many, so the mean is taken of its inverse.
    assert np.mean(1 / values) == pytest.approx(1 / dis, rel=1e-6)
    ranked = sorted(range(len(scores)), key=lambda i: scores[i])
    assert all(values[a] <= values[b] for a, b in itertools.pairwise(ranked))


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=6), st.fractions(0.01, 1))
def test_dis_is_is_the_printed_formula_with_its_index_corrected(scores, dis):
    power = Fraction(1)
    shares = [Fraction(1, score) for score in scores]
    n = len(scores)
    expected = [1 / (1 + s / sum(shares) * (n / dis - n)) for s in shares]
    assert dis_is(scores, dis, 8) == pytest.approx([float(value) for value in expected])
    assert dis_is(scores, dis, 40, power=power) == pytest.approx([float(v) for v in expected])


def test_the_power_falls_to_nothing_with_28_variables():
    assert [dis_is_power(k) for k in (1, 8, 27)] == [Fraction(27, 20), 1, Fraction(1, 20)]
    for n_variables in (0, 28, 64):
        with pytest.raises(InputError, match="ranking round") as raised:
            dis_is([3, 5], 0.5, n_variables)
        # No command takes a power, so that it is not advised.
        assert raised.value.do == "Use fewer key variables, or another score."
    assert dis_is([3, 5], 0.5, 28, power=0).tolist() == [0.5, 0.5]


def test_a_sample_unique_without_score_has_no_value_and_the_others_keep_theirs():
    # As the reference package has it: 1 / (1 + P(1-f) / (f s^Q A)), A the sum over scores > 0.
    fraction, n_paired, n_uniques = 0.1, 8, 3
    dis = n_uniques * fraction / (n_uniques * fraction + n_paired * (1 - fraction))
    scores, n_variables = [0, 4, 20], 6
    power = 1 + (8 - n_variables) / 20
    total = 4**-power + 20**-power
    false = n_paired * (1 - fraction) / fraction
    expected = [0, *(1 / (1 + false / (s**power * total)) for s in (4, 20))]
    assert dis_is(scores, dis, n_variables) == pytest.approx(expected)
    assert dis_is([0, 0], 0.3, 5).tolist() == [0, 0]


def test_certain_and_impossible_matches():
    assert dis_is([3, 50], 1, 5).tolist() == [1, 1]
    assert dis_is([3, 50], 0, 5).tolist() == [0, 0]
    assert dis_is([], None, 5).tolist() == []


@pytest.mark.parametrize(
    ("scores", "dis"),
    [([1, 2], None), ([1, 2], 1.5), ([1, 2], math.nan), ([-1.0, math.nan], 0.5), ([-3, 10**30], 0)],
)
def test_wrong_scores_and_shares_are_refused_without_showing_them(scores, dis):
    for ask in (lambda: dis_suda(scores, dis), lambda: dis_is(scores, dis, 8)):
        with pytest.raises(InputError) as caught:
            ask()
        assert "2 sample uniques" in str(caught.value)


@st.composite
def counted_keys(draw):
    n_variables = draw(st.integers(1, 5))
    key = st.tuples(*[st.integers(0, draw(st.integers(1, 3)))] * n_variables)
    keys = draw(st.lists(key, min_size=1, max_size=25, unique=True))
    counts = draw(st.lists(st.integers(1, 9), min_size=len(keys), max_size=len(keys)))
    return keys, counts


RULES = ["category", "exclude", "ignore", "wildcard"]


@given(counted_keys(), st.sampled_from(RULES))
def test_sizes_are_those_of_all_pairs(drawn, missing):
    keys, counts = drawn
    sizes = class_sizes(np.array(keys, dtype=np.uint8), np.array(counts), missing=missing)
    assert sizes.dtype == np.int64
    assert sizes.tolist() == sizes_by_pairs(keys, counts, missing)


@given(counted_keys(), st.sampled_from(RULES), st.randoms())
def test_orders_do_not_matter(drawn, missing, random):
    keys, counts = (np.array(part) for part in drawn)
    rows = list(range(len(keys)))
    columns = list(range(keys.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    before = class_sizes(keys, counts, missing=missing)
    after = class_sizes(keys[rows][:, columns], counts[rows], missing=missing)
    assert after.tolist() == before[rows].tolist()


@pytest.mark.parametrize("missing", ["ignore", "wildcard"])
def test_keys_too_wide_for_one_integer(missing):
    rng = np.random.default_rng(5)
    wide = rng.integers(1, 4_000_000_000, (6, 40), dtype=np.uint32)
    keys = np.repeat(wide, 4, axis=0)
    keys[rng.random(keys.shape) < 0.05] = 0
    keys = np.unique(keys, axis=0)
    counts = rng.integers(1, 5, len(keys))
    expected = sizes_by_pairs(keys.tolist(), counts.tolist(), missing)
    assert class_sizes(keys, counts, missing=missing).tolist() == expected


def test_the_64th_variable_is_told_apart():
    keys = np.ones((3, 64), dtype=np.uint8)
    keys[1, 63] = 0
    keys[2, 0] = 0
    ones = np.ones(3, dtype=np.int64)
    assert class_sizes(keys, ones, missing="ignore").tolist() == [1, 2, 2]
    assert class_sizes(keys, ones, missing="wildcard").tolist() == [3, 3, 3]


def test_a_key_without_any_value_is_like_all():
    keys = np.array([[0, 0], [1, 1], [2, 0]])
    counts = np.array([1, 10, 100])
    assert class_sizes(keys, counts, missing="ignore").tolist() == [111, 10, 100]
    assert class_sizes(keys, counts, missing="wildcard").tolist() == [111, 11, 101]


def test_weights_are_summed_as_counts_are():
    keys = np.array([[1, 1], [1, 0], [2, 1]])
    weights = np.array([0.5, 2.0, 8.0])
    assert class_sizes(keys, weights, missing="wildcard").tolist() == [2.5, 2.5, 8.0]


@pytest.mark.parametrize("missing", RULES)
def test_no_keys_and_one_key(missing):
    none = class_sizes(np.zeros((0, 3), dtype=np.uint8), np.zeros(0, np.int64), missing=missing)
    assert none.tolist() == []
    assert class_sizes(np.array([[0]]), np.array([7]), missing=missing).tolist() == [7]


WORKED = [[3, 2, 2, 2], [2, 0, 1, 2], [3, 2, 1, 1], [1, 2, 1, 1], [0, 2, 3, 2], [2, 1, 1, 0]]


def test_a_worked_file():
    counts = np.ones(len(WORKED), dtype=np.int64)
    keys = np.array(WORKED)
    # Rows 2 and 6 agree wherever both have a value; each has a value where the other has none.
    assert class_sizes(keys, counts, missing="wildcard").tolist() == [1, 2, 1, 1, 1, 2]
    assert class_sizes(keys, counts, missing="ignore").tolist() == [1, 1, 1, 1, 1, 1]


def test_it_tells_how_far_it_is_and_can_be_stopped():
    keys = np.array([[1, 1], [1, 0], [0, 1]])
    told = []
    class_sizes(keys, np.ones(3, int), missing="wildcard", progress=lambda *part: told.append(part))
    assert told == [(1, 3), (2, 3), (3, 3)]

    def stop(done, whole):
        raise Cancelled("Counting.")

    with pytest.raises(Cancelled):
        class_sizes(keys, np.ones(3, int), missing="ignore", progress=stop)


def test_exact_rationals_agree_with_floating_point_weights():
    rng = np.random.default_rng(2)
    keys = np.unique(rng.integers(0, 3, (60, 3)), axis=0)
    weights = rng.integers(1, 1000, len(keys)) / 8
    exact = sizes_by_pairs(keys.tolist(), [Fraction(w) for w in weights.tolist()], "wildcard")
    found = class_sizes(keys, weights, missing="wildcard").tolist()
    assert found == [float(total) for total in exact]
