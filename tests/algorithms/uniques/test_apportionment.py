from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.uniques.apportionment import dis_is, dis_is_power, dis_suda
from gamekeeper.errors import InputError

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
