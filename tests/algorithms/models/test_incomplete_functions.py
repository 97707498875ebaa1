from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.models.incomplete_functions import (
    incomplete_beta,
    log_gamma,
    lower_gamma,
)


def poisson_at_least(a, mean):
    """Add up the terms below a, or above if these are fewer."""
    mean = Fraction(mean)
    below, term = Fraction(0), Fraction(1)
    for k in range(a):
        below += term
        term = term * mean / (k + 1)
    above, k = Fraction(0), a
    while term > above / 10**18 or k < mean:
        above += term
        k += 1
        term = term * mean / k
    return float(above / (below + above))


def binomial_at_least(a, n, chance):
    chance = Fraction(chance)
    terms = (math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(a, n + 1))
    return float(sum(terms))


@given(st.floats(1e-8, 1e8))
def test_log_gamma_is_that_of_the_standard_library(x):
    assert log_gamma(x) == pytest.approx(math.lgamma(x), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("a", [1, 2, 5, 12, 13, 60])
@pytest.mark.parametrize("x", ["1/1000000", "1/10", "1", "7/2", "20", "80"])
def test_the_lower_gamma_function_is_a_tail_of_the_poisson_law(a, x):
    exact = poisson_at_least(a, Fraction(x))
    assert lower_gamma(a, float(Fraction(x))) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("a", [1, 2, 7, 30])
@pytest.mark.parametrize("n", [30, 41])
@pytest.mark.parametrize("chance", ["1/1000", "1/5", "1/2", "99/100"])
def test_the_incomplete_beta_function_is_a_tail_of_the_binomial_law(a, n, chance):
    exact = binomial_at_least(a, n, Fraction(chance))
    found = incomplete_beta(a, n - a + 1, float(Fraction(chance)))
    assert found == pytest.approx(exact, rel=1e-12)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4), st.floats(1e-6, 1 - 1e-6))
def test_the_two_sides_of_the_beta_function_add_up(a, b, x):
    assert incomplete_beta(a, b, x) + incomplete_beta(b, a, 1 - x) == pytest.approx(1, abs=1e-9)


@given(st.floats(0.01, 1e5), st.floats(0, 1e5), st.floats(0, 100))
def test_the_gamma_function_rises_with_its_argument(a, x, more):
    low, high = lower_gamma([a, a], [x, x + more])
    assert 0 <= low <= high + 1e-13 <= 1 + 1e-12


def test_the_ends():
    assert lower_gamma([1, 5], [0.0, 0.0]).tolist() == [0, 0]
    assert lower_gamma(5, 1e6) == 1
    assert incomplete_beta([2, 2], [3, 3], [0.0, 1.0]).tolist() == [0, 1]
    assert lower_gamma([], []).shape == (0,)


def test_very_large_arguments_join_on_smoothly():
    # From one method to the other at 1e8; in units of the standard deviation 1e4.
    at = 1e8 + 1e4 * np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    below, above = lower_gamma(1e8, at), lower_gamma(1e8 + 1, at)
    assert above == pytest.approx(below, abs=1e-4)
    normal = [math.erfc(-z / math.sqrt(2)) / 2 for z in (-3, -1, 0, 1, 3)]
    assert below == pytest.approx(normal, abs=1e-4)
