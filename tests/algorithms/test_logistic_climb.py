from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from gamekeeper.algorithms.logistic_climb import climb_logistic

POINTS = st.lists(
    st.tuples(st.floats(-30, 30), st.floats(0, 1), st.floats(1e-3, 1e3)), min_size=1, max_size=40
)


def rise(line, x, hits, weights):
    """Return the first derivatives, from the definition."""
    residual = hits - weights / (1 + np.exp(-(line.intercept + line.slope * x)))
    return np.array([residual.sum(), (residual * x).sum()])


@given(POINTS.filter(lambda points: len({x for x, _, _ in points}) > 2))
def test_it_is_the_top_or_nothing(points):
    x, shares, weights = (np.array(column) for column in zip(*points, strict=True))
    # Shares strictly between 0 and 1 cannot be separated.
    hits = weights * (0.01 + 0.98 * shares)
    line = climb_logistic(x, hits, weights)
    assert line is not None
    scale = weights.sum() * (1 + np.abs(x).max())
    assert np.abs(rise(line, x, hits, weights)).max() <= 1e-8 * scale


def test_scipy_finds_the_same_top():
    rng = np.random.default_rng(8)
    x = rng.normal(-14, 3, 200)
    hits, weights = (rng.random(200) < 0.02).astype(float), np.ones(200)

    def cost(line):
        at = line[0] + line[1] * x
        return (weights * np.logaddexp(0, at) - hits * at).sum()

    wanted = minimize(cost, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x
    line = climb_logistic(x, hits, weights)
    assert (line.intercept, line.slope) == pytest.approx(wanted, abs=1e-5)


def test_separable_outcomes_and_what_is_no_number_have_no_line():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    assert climb_logistic(x, np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4)) is None
    assert climb_logistic(np.array([0.0, np.nan]), np.full(2, 0.5), np.ones(2)) is None


def test_one_x_has_no_slope():
    line = climb_logistic(np.full(3, 5.0), np.array([0.0, 1.0, 1.0]), np.ones(3))
    assert line == pytest.approx((np.log(2), 0.0))
