from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.blocks import lent, received
from gamekeeper.algorithms.judging import mid_ranks, rank_groups
from gamekeeper.attack.experiments.harness import (
    NotionalPopulation,
    arrays_of,
    draw_records,
    open_population,
    sample_size,
)
from gamekeeper.attack.experiments.simulate import (
    N_TENTHS,
    band_of_probability,
    pearson,
    spearman,
)
from gamekeeper.data.coding.coded_table import coded_from_codes


@given(st.integers(1, 500), st.fractions(0, 1))
def test_a_sample_has_the_nearest_whole_number_of_records(n_records, fraction):
    size = sample_size(n_records, fraction)
    assert abs(size - n_records * fraction) <= Fraction(1, 2)
    assert sample_size(10, Fraction(1, 4)) == 3
    assert sample_size(10, Fraction(1, 20)) == 1


@given(st.integers(1, 60), st.data())
def test_samples_are_without_replacement_and_in_order(n_records, data):
    n_drawn = data.draw(st.integers(1, n_records))
    seed = data.draw(st.integers(0, 9))
    strata = data.draw(
        st.none() | st.lists(st.integers(0, 4), min_size=n_records, max_size=n_records)
    )
    numbers = None if strata is None else np.array(strata, dtype=np.int32)
    drawn = draw_records(n_records, n_drawn, np.random.default_rng(seed), numbers)
    assert len(drawn) == n_drawn
    assert sorted(set(drawn.tolist())) == drawn.tolist()
    assert 0 <= drawn[0] <= drawn[-1] < n_records
    again = draw_records(n_records, n_drawn, np.random.default_rng(seed), numbers)
    assert drawn.tolist() == again.tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(0, 20), st.data())
def test_strata_are_allocated_in_proportion(strata, seed, data):
    n_drawn = data.draw(st.integers(1, len(strata)))
    numbers = np.array(strata, dtype=np.int32)
    drawn = draw_records(len(strata), n_drawn, np.random.default_rng(seed), numbers)
    allocated = Counter(numbers[drawn].tolist())
    for stratum, size in Counter(strata).items():
        assert abs(allocated[stratum] - Fraction(size * n_drawn, len(strata))) < 1


@pytest.mark.parametrize("strata", [None, [0, 0, 0, 1, 1, 2, 3]])
def test_every_record_has_the_same_chance(strata):
    numbers = None if strata is None else np.array(strata, dtype=np.int32)
    generator = np.random.default_rng(11)
    rounds = 6_000
    hits = np.zeros(7)
    for _ in range(rounds):
        hits[draw_records(7, 3, generator, numbers)] += 1
    # Five standard deviations of a share of 3/7.
    assert np.abs(hits / rounds - 3 / 7).max() < 5 * np.sqrt(3 / 7 * 4 / 7 / rounds)


columns = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3)), min_size=2, max_size=30).map(
    np.array
)


@given(columns)
def test_correlations_agree_with_their_definitions(table):
    first, second = table[:, 0].astype(float), table[:, 1].astype(float)
    found = pearson(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
        assert spearman(first, second) is None
        return
    assert found == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-12)
    ranks = [[sum(x < y for x in column) + (sum(x == y for x in column) + 1) / 2 for y in column]
             for column in (first, second)]  # fmt: skip
    assert mid_ranks(first).tolist() == ranks[0]
    assert spearman(first, second) == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-12)


def test_correlations_of_huge_scores_and_of_nothing():
    huge = np.array([1e300, 2e300, 4e300])
    assert pearson(huge, np.array([1.0, 2.0, 4.0])) == pytest.approx(1)
    assert pearson(np.array([]), np.array([])) is None
    assert pearson(np.array([1.0]), np.array([1.0])) is None


def test_groups_of_scores():
    scores = np.array([0, 0.0999, 0.1, 0.3, 0.95, 1 - 1e-12, 1])
    assert band_of_probability(scores).tolist() == [0, 0, 1, 3, 9, 10, 10]
    assert rank_groups(np.arange(20.0), 10).tolist() == [n // 2 for n in range(20)]
    assert rank_groups(np.zeros(0), 10).tolist() == []


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_groups_by_rank_keep_ties_together_and_the_order(scores):
    bands = rank_groups(np.array(scores, dtype=float), N_TENTHS)
    assert 0 <= bands.min() <= bands.max() < N_TENTHS
    by_score = sorted(zip(scores, bands.tolist(), strict=True))
    assert [band for _, band in by_score] == sorted(bands.tolist())
    assert len(set(by_score)) == len(set(scores))


@pytest.mark.parametrize("strata", [(), ("c",)])
def test_a_population_comes_through_shared_memory_unchanged(strata):
    codes = np.random.default_rng(5).integers(1, 9, (600, 3))
    people = coded_from_codes(codes, ("a", "b", "c"))
    population = open_population(people, ("a", "b"), stratify_by=strata)
    with lent(arrays_of(population)) as handle:
        again = NotionalPopulation(**received(handle))
    assert isinstance(again, NotionalPopulation)
    for part in ("codes", "classes", "sizes", "strata"):
        one, other = getattr(population, part), getattr(again, part)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
