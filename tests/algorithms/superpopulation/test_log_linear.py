"""Log-linear models against a maximum of the likelihood that is found by brute climbing."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gamekeeper.algorithms.superpopulation.log_linear import (
    main_effects,
    n_cells,
    poisson_risk,
    two_way_effects,
)

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
