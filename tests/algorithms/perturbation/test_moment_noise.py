"""Noise: its size, what stays, and what it does not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper import InputError
from gamekeeper.algorithms.perturbation.moment_noise import moments, root, with_noise


@settings(max_examples=40)
@given(st.integers(0, 999), st.booleans(), st.booleans())
def test_means_and_covariances_stay(seed, correlated, weighted):
    rng = np.random.default_rng(seed)
    # Of very different sizes, and one that does not vary.
    values = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3)) * [1e6, 1.0, 1e-3] + [1e7, 0, 5]
    values[:, 1] = np.round(values[:, 1])
    values = np.column_stack((values, np.full(30, 4.0)))
    weights = rng.integers(1, 5, 30) if weighted else None
    noisy = with_noise(
        values, 0.3, rng.normal(size=values.shape), correlated=correlated, weights=weights
    )
    mean, covariance = moments(values, weights)
    mean_after, covariance_after = moments(noisy, weights)
    scale = np.sqrt(np.diag(covariance)) + 1e-9
    assert mean_after == pytest.approx(mean, rel=1e-9, abs=1e-9)
    apart = (covariance_after - covariance) / np.outer(scale, scale)
    assert np.abs(apart[:3, :3]).max() < 1e-5
    assert noisy[:, 3] == pytest.approx(4.0)
    assert np.abs(noisy[:, :3] - values[:, :3]).max() > 0


@settings(max_examples=20)
@given(st.integers(0, 999))
def test_neither_the_order_of_variables_nor_that_of_records_matters(seed):
    rng = np.random.default_rng(seed)
    values, normals = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    noisy = with_noise(values, 0.2, normals)
    turned = with_noise(values[:, ::-1], 0.2, normals[:, ::-1])
    assert turned[:, ::-1] == pytest.approx(noisy)
    order = rng.permutation(40)
    assert with_noise(values[order], 0.2, normals[order]) == pytest.approx(noisy[order])


def test_the_size_of_the_noise():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50_000, 2)) @ np.array([[2.0, 1.0], [0.0, 1.0]])
    normals = rng.normal(size=values.shape)
    noisy = with_noise(values, 0.5, normals, keep_moments=False)
    _, covariance = moments(values)
    _, added = moments(noisy - values)
    assert added == pytest.approx(0.5 * covariance, rel=0.05)
    alone = with_noise(values, 0.5, normals, keep_moments=False, correlated=False)
    _, added = moments(alone - values)
    assert added[0, 1] == pytest.approx(0, abs=0.05)


def test_roots_of_what_has_no_spread():
    matrix = np.array([[1.0, 1.0], [1.0, 1.0]])
    half = root(matrix)
    assert half @ half == pytest.approx(matrix)
    assert half @ root(matrix, inverse=True) == pytest.approx(matrix / 2)


def test_refusals():
    with pytest.raises(InputError):
        with_noise([[1.0]], 0.1, np.zeros((1, 1)))
    with pytest.raises(InputError):
        with_noise([[1.0], [2.0]], -1, np.zeros((2, 1)))
