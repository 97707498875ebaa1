"""Pitman's formula against sequences of people one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from gamekeeper.algorithms.superpopulation.pitman import (
    estimate_pitman,
    expected_uniques,
    pitman_log_likelihood,
)
from tests.given.class_structures import ADULT, TOMATO


def partitions_of_people(n, alpha, theta):
    """Let people come one by one: each founds a class or joins one; yield sizes with their chance."""
    states = [((1,), 1.0)]
    for seated in range(1, n):
        grown = []
        for sizes, chance in states:
            whole = theta + seated
            grown.append(((*sizes, 1), chance * (theta + alpha * len(sizes)) / whole))
            for place, size in enumerate(sizes):
                more = (*sizes[:place], size + 1, *sizes[place + 1 :])
                grown.append((more, chance * (size - alpha) / whole))
        states = grown
    return states


PARAMETERS = st.tuples(st.floats(0.05, 0.95), st.floats(0.1, 20))


@settings(max_examples=20)
@given(PARAMETERS, st.integers(1, 6))
def test_expected_uniques_are_those_of_people_one_by_one(parameters, n):
    states = partitions_of_people(n, *parameters)
    assert sum(chance for _, chance in states) == pytest.approx(1)
    slow = sum(chance * sizes.count(1) for sizes, chance in states)
    assert expected_uniques(*parameters, n) == pytest.approx(slow)


@settings(max_examples=20)
@given(PARAMETERS)
def test_the_likelihood_is_that_of_one_way_to_get_there(parameters):
    for sizes, chance in partitions_of_people(4, *parameters):
        structure = Counter(sizes)
        of_size = np.array(sorted(structure), dtype=float)
        numbers = np.array([structure[int(size)] for size in of_size], dtype=float)
        found = pitman_log_likelihood(of_size, numbers, *parameters)
        assert found == pytest.approx(math.log(chance))


def test_no_parameters_on_a_grid_are_likelier_than_the_estimate():
    structure = {1: 60, 2: 10, 3: 4, 5: 2}
    found = estimate_pitman(structure, 5_000)
    assert found is not None
    of_size, numbers = np.array([1.0, 2, 3, 5]), np.array([60.0, 10, 4, 2])
    grid = [
        pitman_log_likelihood(of_size, numbers, alpha, theta)
        for alpha in np.linspace(0.01, 0.99, 40)
        for theta in [*np.geomspace(0.01, 1e4, 40), -alpha / 2]
    ]
    assert max(grid) <= found.log_likelihood + 1e-6
    assert max(grid) >= found.log_likelihood - 1


@pytest.mark.parametrize("structure", [{}, {1: 5}, {7: 1}])
def test_where_the_likelihood_has_no_maximum_nothing_is_estimated(structure):
    assert estimate_pitman(structure, 1_000) is None
    assert estimate_pitman({1: 5, 2: 5}, 3) is None


def test_the_genes_of_the_tomato_flower():
    # Lijoi, Mena and Pruenster 2007 print 0.612 and 741.0 for these 2,586 readings of 1,825 genes.
    assert sum(size * number for size, number in TOMATO.items()) == 2_586
    found = estimate_pitman(TOMATO, 100_000)
    assert found is not None
    assert round(found.alpha, 3) == 0.612
    assert found.theta == pytest.approx(741.0, rel=1e-3)


@pytest.mark.parametrize(
    ("fraction", "printed"), [(10, 0.27684993883653597), (100, 0.1446083531167384)]
)
def test_the_shares_that_arx_prints_for_adult(fraction, printed):
    """ARX takes the limit for large N, Gamma(theta+1) / Gamma(theta+alpha) N^alpha."""
    people = 30_162 * fraction
    found = estimate_pitman(ADULT, people)
    assert found is not None
    alpha, theta = found.alpha, found.theta
    limit = math.exp(gammaln(theta + 1) - gammaln(theta + alpha) + alpha * math.log(people))
    assert limit / people == pytest.approx(printed, rel=1e-7)
    # The exact expectation is less, the less so the more people there are.
    assert found.population_uniques / people == pytest.approx(printed, rel=0.03 / fraction)
