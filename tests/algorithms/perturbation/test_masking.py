"""Noise and rank swapping: what they may do, what stays, and what does not matter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper import InputError
from gamekeeper.algorithms.perturbation.kernels import partners
from gamekeeper.algorithms.perturbation.masking import (
    moments,
    rank_swapped,
    root,
    swapped_within,
    with_noise,
)
from tests.twins.swap_checks import check_swap


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


VALUES = st.lists(st.integers(0, 9), min_size=2, max_size=30)


def slow_partners(draws, limit):
    partner = list(range(len(draws)))
    free = set(partner)
    for rank in range(len(draws)):
        if rank not in free:
            continue
        free.discard(rank)
        near = sorted(other for other in free if other <= rank + limit)
        if near:
            other = near[int(draws[rank] * len(near))]
            partner[rank], partner[other] = other, rank
            free.discard(other)
    return partner


@given(st.lists(st.floats(0, 1, exclude_max=True), max_size=40), st.integers(1, 12))
def test_partners_by_the_definition(draws, limit):
    assert partners(np.array(draws, float), limit).tolist() == slow_partners(draws, limit)


def slow_differences(before, after):
    ranks = {}
    for rank, value in enumerate(sorted(before)):
        ranks.setdefault(value, []).append(rank)
    return [
        min(abs(a - b) for a in ranks[old] for b in ranks[new])
        for old, new in zip(before, after, strict=True)
    ]


@given(VALUES, st.fractions(Fraction(1, 10), 1), st.integers(0, 99))
def test_values_stay_and_none_moves_too_far(values, share, seed):
    if int(share * len(values)) < 1:
        return
    draws = np.random.default_rng(seed).random((len(values), 2))
    swapped = rank_swapped(values, share, draws)
    found = check_swap(values, swapped, share)
    assert found.same_values
    assert found.within_limit
    assert found.rank_differences == slow_differences(values, swapped.tolist())
    order = np.random.default_rng(seed + 1).permutation(len(values))
    again = rank_swapped(np.array(values)[order], share, draws[order])
    assert again.tolist() == swapped[order].tolist()


def test_each_free_rank_in_the_window_is_taken_as_often():
    draws = np.random.default_rng(5).random((6000, 4))
    first = [int(partners(row, 3)[0]) for row in draws]
    counts = np.bincount(first, minlength=4)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 2000).max() < 150


def test_the_odd_one_out_stays():
    swapped = rank_swapped([1, 2, 3], Fraction(1, 3), np.zeros((3, 2)))
    assert swapped.tolist() == [2.0, 1.0, 3.0]


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 20), Fraction(3, 2)])
def test_less_than_one_rank_is_refused(share):
    with pytest.raises(InputError):
        swapped_within(10, share)


def test_other_values_are_seen():
    assert not check_swap([1, 2], [1, 3], Fraction(1)).same_values
