from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.intrusion.individual_risk import (
    approximate_reciprocal,
    expected_reciprocal,
    individual_risk,
)
from gamekeeper.errors import InputError


def by_the_definition(size, p):
    """Add up Pr(F=h) / h in exact fractions until the rest cannot matter."""
    p = Fraction(p)
    chance, total, seen = p**size, Fraction(0), Fraction(0)
    h = size
    while (1 - seen) / h > Fraction(1, 10**15) * (total or 1):
        total += chance / h
        seen += chance
        chance *= Fraction(h, h - size + 1) * (1 - p)
        h += 1
    return float(total + (1 - seen) / (2 * h))


def closed_form(size, p):
    """The published forms for one, two and three records, in exact odds."""
    odds = Fraction(p) / (1 - Fraction(p))
    x, log = float(odds), -math.log(p)
    return {
        1: x * log,
        2: x - x**2 * log,
        3: x / 2 - x**2 + x**3 * log,
    }[size]


def test_the_values_that_the_reference_prints_for_its_example():
    sizes = np.array([2, 2, 2, 1, 1, 1, 1, 2])
    weights = np.array([110, 84.5, 84.5, 17, 541, 8, 5, 110])
    found = individual_risk(sizes, weights)
    printed = [
        *(0.01714426, 0.02204233, 0.02204233, 0.17707583),
        *(0.01165448, 0.29706308, 0.40235948, 0.01714426),
    ]
    assert found.risk.round(8).tolist() == printed
    assert found.expected_size.tolist() == weights.tolist()
    unique = [0, 0, 0, 1 / 17, 1 / 541, 1 / 8, 1 / 5, 0]
    assert found.pr_population_unique == pytest.approx(unique)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 19, 20, 35])
@pytest.mark.parametrize("p", ["9/10", "1/2", "1/3", "33/100", "1/5", "1/10"])
def test_the_risk_is_the_mean_of_one_over_the_population_count(size, p):
    found = expected_reciprocal(np.array([size]), np.array([float(Fraction(p))]))
    assert found[0] == pytest.approx(by_the_definition(size, p), rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("p", [0.5, 0.34, 0.33, 0.1, 1e-3, 1e-9])
def test_the_closed_forms(size, p):
    found = expected_reciprocal(np.array([size]), np.array([p]))
    assert found[0] == pytest.approx(closed_form(size, p), rel=1e-11)


@given(st.integers(1, 60), st.floats(1e-12, 1))
def test_neighbouring_sizes_obey_the_recurrence(size, p):
    # r_(f+1) q = p (1/f - r_f), whichever way each of the two was computed.
    first, second = expected_reciprocal(np.array([size, size + 1]), np.array([p, p]))
    assert second * (1 - p) == pytest.approx(p * (1 / size - first), rel=1e-9, abs=1e-16)
    assert p / size <= first * (1 + 1e-12)
    assert first <= 1 / size


def test_both_ends_are_stable():
    sizes = np.array([1, 2, 3, 10, 1000])
    ones = np.ones(5)
    assert expected_reciprocal(sizes, ones) == pytest.approx(1 / sizes, rel=1e-15)
    near = expected_reciprocal(sizes, ones - 1e-12)
    # To first order 1/f - (1-p)/(f+1).
    assert near == pytest.approx(1 / sizes - 1e-12 / (sizes + 1), rel=1e-15)
    tiny = expected_reciprocal(sizes, np.full(5, 1e-300))
    assert tiny[0] == pytest.approx(1e-300 * 300 * math.log(10))
    assert tiny[1:] == pytest.approx(1e-300 / (sizes[1:] - 1), rel=1e-12)
    large = expected_reciprocal(np.array([10**7]), np.array([0.2]))
    assert large[0] == pytest.approx(0.2 / 10**7, rel=1e-6)


def test_excluded_records_have_no_risk_and_light_classes_count_their_own_records():
    found = individual_risk(np.array([0, 1, 3]), np.array([0.0, 0.5, 2.0]))
    assert np.isnan(found.risk[0])
    assert np.isnan(found.expected_size[0])
    assert np.isnan(found.pr_population_unique[0])
    assert found.risk[1:] == pytest.approx([1, 1 / 3])
    assert found.expected_size[1:].tolist() == [1, 3]
    assert found.pr_population_unique[1:].tolist() == [1, 0]
    assert repr(found) == "IndividualRisk(3 lines)"


@pytest.mark.parametrize(
    ("sizes", "weights", "words"),
    [
        ([1, 1], [0.0, 3.0], "1 sums of weights are not positive"),
        ([1, 1], [math.nan, math.inf], "2 sums of weights are not positive"),
        ([1, 1, 1], [3.0, 1.0], "There are 2 sums of weights"),
        ([-1, 1], [3.0, 3.0], "1 class sizes are negative"),
    ],
)
def test_wrong_weights_are_counted(sizes, weights, words):
    with pytest.raises(InputError, match=words):
        individual_risk(np.array(sizes), np.array(weights))


@pytest.mark.parametrize(("size", "p"), [(0, 0.5), (1, 0.0), (1, 1.5), (1, math.nan)])
def test_wrong_probabilities_are_refused(size, p):
    with pytest.raises(InputError):
        expected_reciprocal(np.array([size]), np.array([p]))


@given(st.integers(1, 60), st.floats(0.001, 1))
def test_the_approximate_form_is_close_and_never_below(size, p):
    exact = expected_reciprocal(np.array([size]), np.array([p]))[0]
    found = approximate_reciprocal(np.array([size]), np.array([p]))[0]
    if size < 3:
        assert found == exact
    else:
        assert exact * (1 - 1e-12) <= found <= exact * 1.5
