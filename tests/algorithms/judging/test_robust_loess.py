from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.judging.robust_loess import robust_loess
from gamekeeper.errors import InputError


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
