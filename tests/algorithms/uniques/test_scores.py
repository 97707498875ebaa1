from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.uniques.scores import (
    ScoreKind,
    percentages,
    proportions_of_lattice,
    size_weights,
    weigh,
)
from gamekeeper.errors import InputError

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
                st.lists(st.integers(0, 50), min_size=m + 1, max_size=m + 1),
                min_size=1,
                max_size=5,
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
