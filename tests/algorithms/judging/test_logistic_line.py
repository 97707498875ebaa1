from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from gamekeeper.algorithms.judging.logistic_line import fit_logistic_line


def cost_of(x, y, weights):
    def cost(line):
        at = line[0] + line[1] * x
        return (weights * (y * np.logaddexp(0, -at) + (1 - y) * np.logaddexp(0, at))).sum()

    return cost


@given(
    st.lists(
        st.tuples(st.floats(-5, 5), st.floats(0.05, 0.95), st.floats(0.01, 10)),
        min_size=3,
        max_size=30,
    ).filter(lambda points: len({round(x, 1) for x, _, _ in points}) > 2)
)
def test_no_other_line_is_more_probable(points):
    x, y, weights = (np.array(column) for column in zip(*points, strict=True))
    line = fit_logistic_line(x, y, weights)
    assert not line.guarded
    cost = cost_of(x, y, weights)
    other = minimize(cost, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 0})
    assert cost(line[:2]) <= other.fun + 1e-9 * abs(other.fun)


def test_a_step_that_was_halved_to_nothing_is_no_end():
    # Weights over nine orders: sums that cancel once made a search give up, or end halfway.
    x = np.array([-0.1, -1.0, 0.9, 0.7])
    y = np.array([0.0, 1.0, 0.0, 1.0])
    weights = np.array([1e-4, 1e-6, 1e-5, 0.1])
    line = fit_logistic_line(x, y, weights)
    assert not line.guarded
    chance = 1 / (1 + np.exp(-(line.intercept + line.slope * x)))
    residual = weights * (y - chance)
    assert abs(residual.sum()) < 1e-15
    assert abs((residual * x).sum()) < 1e-15


def test_separable_outcomes_are_drawn_inwards_and_constant_x_has_no_slope():
    assert fit_logistic_line(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0])).guarded
    flat = fit_logistic_line(np.full(4, 3.0), np.array([0.0, 1.0, 1.0, 1.0]))
    assert flat[:2] == pytest.approx((np.log(3), 0.0))
