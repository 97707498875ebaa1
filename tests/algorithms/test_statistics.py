from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from gamekeeper.algorithms.statistics import (
    Step,
    climb,
    climb_logistic,
    fit_logistic_line,
    robust_loess,
)
from gamekeeper.errors import InputError

POINTS = st.lists(
    st.tuples(st.floats(-30, 30), st.floats(0, 1), st.floats(1e-3, 1e3)), min_size=1, max_size=40
)


def rounded_tops(centres, widths):
    """Return minus the sum of log cosh((x - centre) / width), and its Newton steps."""

    def height(x):
        away = np.abs((x - centres) / widths)
        return -float((away + np.log1p(np.exp(-2 * away))).sum())

    def step(x):
        lean = np.tanh((x - centres) / widths)
        slope, bend = -(lean / widths).sum(), ((1 - lean**2) / widths**2).sum()
        way = slope / max(bend, 1e-300)
        return Step(np.array([way]), float(slope * way), abs(way) <= 1e-9)

    return height, step


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(1, 3)), min_size=1, max_size=6),
    st.floats(-8, 8),
)
def test_steps_that_overshoot_are_halved_until_the_top(tops, start):
    centres, widths = np.array(tops).T
    found = climb(np.array([start]), *rounded_tops(centres, widths))
    assert found is not None
    at = float(found[0][0] + found[1][0])
    assert abs((np.tanh((at - centres) / widths) / widths).sum()) < 1e-8


def test_plain_steps_would_not_arrive():
    height, step = rounded_tops(np.zeros(1), np.ones(1))
    at = np.array([2.0])
    for _ in range(3):
        at = at + step(at).way
    assert abs(at[0]) > 1e6
    assert climb(np.array([2.0]), height, step)[0] == pytest.approx(0, abs=1e-9)


def test_where_there_is_no_top_or_no_step_there_is_no_point():
    def onwards(x):
        return Step(np.ones(1), float(np.exp(-x[0])), last=False)

    assert climb(np.zeros(1), lambda x: -float(np.exp(-x[0])), onwards) is None
    assert climb(np.zeros(1), lambda x: 0.0, lambda x: None) is None
    # A step that leads down, however short, gains nothing.
    down = Step(np.ones(1), 1.0, last=False)
    assert climb(np.zeros(1), lambda x: -float(x[0]), lambda x: down) is None


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


def plain(x, y, span, rounds):
    """Return the smooth line point by point, as printed, by solving normal equations."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    q = min(len(x), max(2, math.ceil(span * len(x) - 1e-9)))
    trust = np.ones(len(x))
    for turn in range(rounds + 1):
        line = []
        for at in x:
            reach = sorted(abs(x - at))[q - 1]
            near = (abs(x - at) / reach) < 1
            w = np.where(near, (1 - np.minimum(1, abs(x - at) / reach) ** 3) ** 3, 0) * trust
            design = np.column_stack([np.ones(len(x)), x - at])
            line.append(np.linalg.lstsq(design * np.sqrt(w)[:, None], y * np.sqrt(w))[0][0])
        line = np.array(line)
        if turn < rounds:
            residual = y - line
            s = np.median(abs(residual))
            trust = np.where(abs(residual) < 6 * s, (1 - (residual / (6 * s)) ** 2) ** 2, 0)
    return line


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.4, 2 / 3, 1.0]), st.integers(0, 3))
def test_the_line_is_that_of_the_plain_method(seed, span, rounds):
    generator = np.random.default_rng(seed)
    x = np.sort(generator.random(25)) * 10
    y = np.sin(x) + generator.normal(size=25) * 0.3
    y[generator.integers(25)] += 4
    places, line = robust_loess(x, y, span=span, rounds=rounds)
    assert places.tolist() == x.tolist()
    assert line == pytest.approx(plain(x, y, span, rounds), abs=1e-7)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(-5, 5)), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_the_order_of_points_does_not_matter(points, random):
    x, y = zip(*points, strict=True)
    places, line = robust_loess(x, y)
    assert places.tolist() == sorted(set(x))
    assert np.isfinite(line).all()
    mixed = random.sample(points, len(points))
    again = robust_loess(*zip(*mixed, strict=True))[1]
    assert again == pytest.approx(line, abs=1e-6)


def test_a_straight_line_stays_straight_whatever_the_ties():
    x = [1, 1, 1, 2, 2, 5, 9, 9, 9, 9]
    places, line = robust_loess(x, [3 * one - 1 for one in x], span=0.8)
    assert line == pytest.approx(3 * places - 1)


def test_an_outlier_moves_a_plain_line_and_not_a_robust_one():
    x = np.arange(30.0)
    y = 2 * x + np.where(np.arange(30) % 2, 0.1, -0.1)
    wild = y.copy()
    wild[15] = 500
    near = slice(10, 20)
    robust, level = robust_loess(x, wild)[1], robust_loess(x, wild, rounds=0)[1]
    assert np.abs(robust - 2 * x)[near].max() < 0.1
    assert np.abs(level - 2 * x)[near].max() > 10


def test_more_points_at_one_place_than_a_window_holds():
    x = [0.0] * 20 + [1.0, 2.0, 3.0]
    y = [5.0, 7.0] * 10 + [1.0, 1.0, 1.0]
    places, line = robust_loess(x, y, span=0.5)
    assert line[0] == pytest.approx(6)
    assert np.isfinite(line).all()
    assert places.tolist() == [0, 1, 2, 3]


def test_one_point_is_its_own_line():
    assert [part.tolist() for part in robust_loess([3], [4])] == [[3], [4]]


def test_what_cannot_be_smoothed_is_told_at_once():
    with pytest.raises(InputError) as caught:
        robust_loess([1, 77123, float("inf")], [1, 2], span=0, rounds=-1)
    wheres = [problem.where for problem in caught.value.problems]
    assert wheres == ["points", "points", "span", "rounds"]
    assert caught.value.problems[1].found == "1 value that is not finite."
    assert "77123" not in str(caught.value)
    with pytest.raises(InputError):
        robust_loess([], [])
