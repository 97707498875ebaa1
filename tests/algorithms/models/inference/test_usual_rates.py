from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from gamekeeper.algorithms.models.inference.usual_rates import usual_log_rates


def slope(x):
    """The slope as the docstring has it."""
    return np.interp(x, [-8, -2, 0, 1.5], [0.7, 0.92, 0.92, 0.75])


@pytest.mark.parametrize("x", [-30.0, -8.0, -5.3, -2.0, -0.4, 0.0, 0.7, 1.5, 4.0])
def test_the_curve_is_the_integral_of_its_slope(x):
    found = float(usual_log_rates(np.array([x]))[0])
    expected, _ = quad(slope, 0, x, points=[-8, -2, 1.5], limit=200)
    assert found == pytest.approx(expected, abs=1e-7)


def test_a_larger_expected_count_has_a_larger_rate():
    x = np.linspace(-40, 10, 501)
    steps = np.diff(usual_log_rates(x)) / np.diff(x)
    assert steps.min() >= 0.7 - 1e-9
    assert steps.max() <= 0.92 + 1e-9
    assert usual_log_rates(np.zeros(0)).shape == (0,)
    assert np.isnan(usual_log_rates(np.array([np.nan]))).all()
