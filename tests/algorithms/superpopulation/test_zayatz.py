"""Zayatz's estimate against exact chances of samples."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.superpopulation.zayatz import estimate_zayatz
from tests.given.class_structures import ADULT


@given(
    st.dictionaries(st.integers(1, 6), st.integers(1, 5), min_size=1, max_size=4),
    st.integers(0, 40),
)
def test_it_is_bayes_formula(structure, more):
    n = sum(size * number for size, number in structure.items())
    people = n + more
    found = estimate_zayatz(structure, people)
    if 1 not in structure:
        assert found is None
        return
    # The chance that a sample of n of the people has exactly one of a class of F.
    one = {size: Fraction(size * comb(people - size, n - 1), comb(people, n)) for size in structure}
    whole = sum(number * one[size] for size, number in structure.items())
    assert found is not None
    assert found.pr_population_unique == pytest.approx(float(structure[1] * one[1] / whole))
    assert found.uniques_of_both == pytest.approx(structure[1] * found.pr_population_unique)


def test_a_whole_population_is_known():
    found = estimate_zayatz({1: 3, 4: 2}, 11)
    assert found is not None
    assert found.pr_population_unique == 1


@pytest.mark.parametrize(
    ("fraction", "printed"), [(10, 0.3207402393466189), (5, 0.3577099234829125)]
)
def test_the_shares_that_arx_prints_for_adult(fraction, printed):
    """ARX prints sample uniques that are population uniques, over the records."""
    found = estimate_zayatz(ADULT, 30_162 * fraction)
    assert found is not None
    assert found.uniques_of_both / 30_162 == pytest.approx(printed, rel=1e-9)
