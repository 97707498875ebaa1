"""Models of uniques against brute climbing, people one by one, and exact chances of samples."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln

from gamekeeper.algorithms.superpopulation import (
    estimate_pitman,
    estimate_zayatz,
    expected_uniques,
    main_effects,
    n_cells,
    pitman_log_likelihood,
    poisson_risk,
    two_way_effects,
)
from tests.given.class_structures import ADULT, TOMATO

FILES = st.lists(st.tuples(*[st.integers(1, 2)] * 3), min_size=2, max_size=12)


@given(FILES)
def test_main_effects_multiply_shares(records):
    codes = np.array(records)
    found = main_effects(codes, np.arange(len(records)))
    for record, expected in zip(records, found, strict=True):
        shares = (np.mean(codes[:, place] == value) for place, value in enumerate(record))
        assert expected == pytest.approx(len(records) * math.prod(shares))


@settings(max_examples=5)
@given(st.lists(st.integers(1, 9), min_size=8, max_size=8))
def test_two_way_effects_have_the_greatest_likelihood(counts):
    cells = list(product((1, 2), repeat=3))
    codes = np.repeat(np.array(cells), counts, axis=0)
    signs = np.array([[(-1) ** v for v in cell] for cell in cells])
    pairs = [signs[:, i] * signs[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    design = np.column_stack([np.ones(8), signs, *pairs])

    def loss(effects):
        eta = design @ effects
        return float(np.exp(eta).sum() - np.array(counts) @ eta)

    slow = np.exp(design @ minimize(loss, np.zeros(7), tol=1e-12).x)
    firsts = np.cumsum([0, *counts[:-1]])
    assert two_way_effects(codes, firsts) == pytest.approx(slow, rel=1e-3)


def test_two_way_effects_keep_two_way_margins_with_zeros():
    codes = np.array([[1, 1, 1], [1, 2, 2], [2, 1, 2], [2, 2, 1], [3, 1, 1], [3, 1, 2]])
    found = two_way_effects(codes, np.arange(6))
    assert found is not None
    # (3, 1) has two records, whatever the third variable.
    assert found[4] + found[5] == pytest.approx(2)
    assert n_cells(codes) == 12


@given(st.floats(0.001, 50), st.floats(0.001, 0.999))
def test_risk_is_that_of_a_poisson_count(expected, fraction):
    found = poisson_risk(np.array([expected]), fraction)
    mean = expected * (1 - fraction) / fraction
    if mean < 300:
        chances = [math.exp(h * math.log(mean) - mean - math.lgamma(h + 1)) for h in range(1_000)]
        assert found.tau1 == pytest.approx(chances[0])
        assert found.tau2 == pytest.approx(sum(p / (h + 1) for h, p in enumerate(chances)))


def test_a_census_leaves_no_doubt():
    assert poisson_risk(np.array([0.3, 2.0]), 1.0).tau1 == 2


# Alcohol, cigarettes, marijuana: 2,276 students of a survey, with the counts that Agresti
# (Categorical Data Analysis, 2002, section 8.2) prints as fitted.
STUDENTS = [911, 538, 44, 456, 3, 43, 2, 279]
INDEPENDENT = [540.0, 740.2, 282.1, 386.7, 90.6, 124.2, 47.3, 64.9]
HOMOGENEOUS = [910.4, 538.6, 44.6, 455.4, 3.6, 42.4, 1.4, 279.6]


@pytest.mark.parametrize(
    ("fitted", "printed"), [(main_effects, INDEPENDENT), (two_way_effects, HOMOGENEOUS)]
)
def test_the_students_of_the_textbook(fitted, printed):
    codes = np.repeat(np.array(list(product((1, 2), repeat=3))), STUDENTS, axis=0)
    firsts = np.cumsum([0, *STUDENTS[:-1]])
    assert np.round(fitted(codes, firsts), 1).tolist() == printed


@settings(max_examples=5)
@given(st.lists(st.integers(1, 4), min_size=8, max_size=8), st.integers(2, 3))
def test_a_row_may_stand_for_several_records(each, width):
    codes = np.array(list(product((1, 2), repeat=3)))[:, :width]
    counts = np.array(each)
    repeated, rows = np.repeat(codes, counts, axis=0), np.arange(8)
    firsts = np.cumsum([0, *each[:-1]])
    for effects in (main_effects, two_way_effects):
        assert effects(codes, rows, counts) == pytest.approx(effects(repeated, firsts))


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
def test_the_shares_of_zayatz_that_arx_prints_for_adult(fraction, printed):
    """ARX prints sample uniques that are population uniques, over the records."""
    found = estimate_zayatz(ADULT, 30_162 * fraction)
    assert found is not None
    assert found.uniques_of_both / 30_162 == pytest.approx(printed, rel=1e-9)
