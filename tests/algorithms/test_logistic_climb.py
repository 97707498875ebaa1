from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from gamekeeper.algorithms.logistic_climb import NormalPrior, climb_logistic

POINTS = st.lists(
    st.tuples(st.floats(-30, 30), st.floats(0, 1), st.floats(1e-3, 1e3)), min_size=1, max_size=40
)


def rise(line, x, hits, weights, prior):
    """Return the first derivatives, from the definition."""
    residual = hits - weights / (1 + np.exp(-(line.intercept + line.slope * x)))
    found = np.array([residual.sum(), (residual * x).sum()])
    if prior is not None:
        at = np.array([line.intercept, line.slope])
        found -= np.array(prior.precision) * (at - np.array(prior.mean))
    return found


@given(POINTS, st.floats(-5, 5), st.floats(-3, 3), st.floats(0.01, 100), st.floats(0.01, 100))
def test_with_a_prior_there_is_always_a_top(points, mean_a, mean_b, precision_a, precision_b):
    x, shares, weights = (np.array(column) for column in zip(*points, strict=True))
    prior = NormalPrior((mean_a, mean_b), (precision_a, precision_b))
    line = climb_logistic(x, shares * weights, weights, prior)
    assert line is not None
    flat = np.abs(rise(line, x, shares * weights, weights, prior))
    scale = weights.sum() * (1 + np.abs(x).max()) + precision_a + precision_b
    assert flat.max() <= 1e-8 * scale


@given(POINTS.filter(lambda points: len({x for x, _, _ in points}) > 2))
def test_without_a_prior_it_is_the_top_or_nothing(points):
    x, shares, weights = (np.array(column) for column in zip(*points, strict=True))
    # Shares strictly between 0 and 1 cannot be separated.
    hits = weights * (0.01 + 0.98 * shares)
    line = climb_logistic(x, hits, weights)
    assert line is not None
    scale = weights.sum() * (1 + np.abs(x).max())
    assert np.abs(rise(line, x, hits, weights, None)).max() <= 1e-8 * scale


def test_the_curvature_is_that_of_the_second_derivatives():
    rng = np.random.default_rng(4)
    x, weights = rng.normal(-9, 2, 50), rng.uniform(0.5, 3, 50)
    hits = weights * rng.uniform(0.1, 0.9, 50)
    prior = NormalPrior((0.0, 0.8), (0.1, 16.0))
    line = climb_logistic(x, hits, weights, prior)
    small = 1e-6
    columns = [
        (
            rise(line._replace(**{name: getattr(line, name) - small}), x, hits, weights, prior)
            - rise(line._replace(**{name: getattr(line, name) + small}), x, hits, weights, prior)
        )
        / (2 * small)
        for name in ("intercept", "slope")
    ]
    assert line.curvature == pytest.approx(np.array(columns), rel=1e-6)


def test_scipy_finds_the_same_top():
    rng = np.random.default_rng(8)
    x = rng.normal(-14, 3, 200)
    hits, weights = (rng.random(200) < 0.02).astype(float), np.ones(200)
    prior = NormalPrior((0.0, 0.8), (0.1, 16.0))

    def cost(line):
        at = line[0] + line[1] * x
        away = 0.1 * line[0] ** 2 + 16 * (line[1] - 0.8) ** 2
        return (weights * np.logaddexp(0, at) - hits * at).sum() + away / 2

    wanted = minimize(cost, [0.0, 0.8], method="BFGS", options={"gtol": 1e-9}).x
    line = climb_logistic(x, hits, weights, prior)
    assert (line.intercept, line.slope) == pytest.approx(wanted, abs=1e-5)


def test_separable_outcomes_and_what_is_no_number_have_no_line():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    assert climb_logistic(x, np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4)) is None
    prior = NormalPrior((0.0, 1.0), (1.0, 1.0))
    assert climb_logistic(np.array([0.0, np.nan]), np.ones(2), np.ones(2), prior) is None


def test_one_x_has_no_slope_and_no_x_the_prior():
    line = climb_logistic(np.full(3, 5.0), np.array([0.0, 1.0, 1.0]), np.ones(3))
    assert line[:2] == pytest.approx((np.log(2), 0.0))
    nothing = np.zeros(0)
    prior = NormalPrior((2.0, 0.5), (1.0, 1.0))
    assert climb_logistic(nothing, nothing, nothing, prior)[:2] == pytest.approx((2.0, 0.5))
