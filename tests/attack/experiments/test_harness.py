from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.blocks import lent, received
from gamekeeper.attack.experiments.harness import (
    NotionalPopulation,
    arrays_of,
    draw_records,
    open_population,
    sample_size,
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
