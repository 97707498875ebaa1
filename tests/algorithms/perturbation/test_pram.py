"""Invariant PRAM and exact counts, against their definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper import InputError
from gamekeeper.algorithms.perturbation.pram import (
    back_matrix,
    count_variances,
    drawn_codes,
    expected_unchanged,
    invariant_matrix,
    moved_codes,
    rounded_moves,
    staying,
)


@st.composite
def counts_and_matrices(draw):
    n = draw(st.integers(1, 4))
    counts = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    rows = [draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)) for _ in range(n)]
    for place, row in enumerate(rows):
        row[place] += 1
    return counts, [[Fraction(cell, sum(row)) for cell in row] for row in rows]


@given(counts_and_matrices(), st.fractions(0, 1, max_denominator=5))
def test_expected_counts_stay_exactly(given_, share):
    counts, matrix = given_
    n = len(counts)
    made = invariant_matrix(counts, matrix, share)
    for row, own in enumerate(made):
        assert sum(own) == 1
        assert all(cell >= 0 for cell in own)
        if not counts[row]:
            assert own[row] == 1
    after = [sum(counts[a] * made[a][b] for a in range(n)) for b in range(n)]
    assert after == counts
    floats = invariant_matrix(counts, np.array(matrix, float), float(share))
    assert floats.astype(float) == pytest.approx(made.astype(float), abs=1e-12)


@given(counts_and_matrices())
def test_the_way_back_is_by_bayes(given_):
    counts, matrix = given_
    n = len(counts)
    back = back_matrix(counts, matrix)
    for b in range(n):
        total = sum(counts[a] * matrix[a][b] for a in range(n))
        wanted = [Fraction(counts[a]) * matrix[a][b] / total if total else int(a == b)
                  for a in range(n)]  # fmt: skip
        assert list(back[b]) == wanted


def test_blocks_keep_to_themselves_and_one_alone_stays():
    matrix = staying(4, 0.6, [0, 1, 0, 2])
    assert matrix[1].tolist() == [0, 1, 0, 0]
    assert matrix[0] == pytest.approx([0.6, 0, 0.4, 0])
    made = invariant_matrix([5, 2, 3, 1], matrix)
    assert made[0, 1] == made[0, 3] == made[2, 3] == 0
    with pytest.raises(InputError):
        staying(2, 0)


def test_draws_follow_the_probabilities_and_never_what_has_none():
    rng = np.random.default_rng(1)
    codes = np.repeat([0, 1, 2], 20_000)
    matrix = np.array([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.1, 0.0, 0.9]])
    drawn = drawn_codes(codes, matrix, rng.random(len(codes)))
    for code in range(3):
        shares = np.bincount(drawn[codes == code], minlength=3) / 20_000
        assert shares == pytest.approx(matrix[code], abs=0.015)
        assert not shares[matrix[code] == 0].any()
    edges = drawn_codes(np.array([0, 0]), matrix, np.array([0.0, np.nextafter(1, 0)]))
    assert edges.tolist() == [0, 1]


@given(st.integers(0, 99), st.integers(0, 20))
def test_drawing_does_not_depend_on_the_order_of_records(seed, n):
    rng = np.random.default_rng(seed)
    codes, draws, order = rng.integers(0, 3, n), rng.random(n), rng.permutation(n)
    matrix = staying(3, 0.5)
    drawn = drawn_codes(codes, matrix, draws)
    assert drawn_codes(codes[order], matrix, draws[order]).tolist() == drawn[order].tolist()


def test_what_is_said_of_the_file_holds_on_average():
    rng = np.random.default_rng(2)
    counts = np.array([30, 15, 5])
    matrix = invariant_matrix(counts, staying(3, 0.7))
    codes = np.repeat([0, 1, 2], counts)
    runs = [drawn_codes(codes, matrix, rng.random(len(codes))) for _ in range(2000)]
    after = np.array([np.bincount(run, minlength=3) for run in runs])
    assert after.mean(axis=0) == pytest.approx(counts, rel=0.03)
    assert after.var(axis=0) == pytest.approx(count_variances(counts, matrix), rel=0.15)
    same = np.mean([(run == codes).mean() for run in runs])
    assert same == pytest.approx(expected_unchanged(counts, matrix), abs=0.01)


@given(st.integers(1, 6), st.integers(0, 999))
def test_rounded_moves_keep_every_sum_and_lie_beside(n, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, n)
    moves = counts[:, None] * invariant_matrix(counts, staying(n, 0.6), 0.7)
    rounded = rounded_moves(moves, rng.random)
    assert rounded.sum(axis=1).tolist() == rounded.sum(axis=0).tolist() == counts.tolist()
    assert np.abs(rounded - moves).max() < 1
    codes = np.repeat(np.arange(n), counts)
    draws = rng.random(len(codes))
    moved = moved_codes(codes, rounded, draws)
    assert np.bincount(moved, minlength=n).tolist() == counts.tolist()
    order = rng.permutation(len(codes))
    assert moved_codes(codes[order], rounded, draws[order]).tolist() == moved[order].tolist()


def test_rounding_is_right_on_average():
    rng = np.random.default_rng(4)
    counts = np.array([7, 5, 3])
    moves = counts[:, None] * invariant_matrix(counts, staying(3, 0.6))
    mean = np.mean([rounded_moves(moves, rng.random) for _ in range(4000)], axis=0)
    assert mean == pytest.approx(moves, abs=0.04)


@pytest.mark.parametrize(
    ("counts", "matrix", "words"),
    [
        ([1, 2], [[1.0]], "shape"),
        ([1, 2], [[0.5, 0.6], [0.0, 1.0]], "sum that is not 1"),
        ([1, 2], [[1.5, -0.5], [0.0, 1.0]], "negative"),
        ([-1, 2], [[1.0, 0.0], [0.0, 1.0]], "negative"),
    ],
)
def test_a_matrix_that_cannot_be_one_is_refused(counts, matrix, words):
    with pytest.raises(InputError) as refused:
        invariant_matrix(counts, matrix)
    assert words in str([problem.found for problem in refused.value.problems])
