"""Corners, and their proofs, that are calculated again in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gamekeeper.algorithms.linear.elimination import (
    determined_numbers,
    exact_corner,
    exact_multiples,
)
from gamekeeper.algorithms.linear.facts import LinearFacts, verified
from gamekeeper.algorithms.linear.search import FactSearch


def test_corners_with_large_denominators_are_found_and_proven():
    # Percentages make corners that no small denominator has.
    rows = [({0: 997, 1: -83, 2: 5}, 0, 0), ({0: 1, 1: 1, 2: 1}, 7, 7)]
    facts = LinearFacts.of([(0, None)] * 3, rows, whole=False)
    search = FactSearch(facts, [0, 1, 2])
    search.run()
    found = search.found()
    assert found.most[0] == Fraction(7 * 83, 997 + 83)
    assert all(found.is_tight(at) for at in range(3))
    assert found.reached_most[0] == found.most[0]
    for number in range(3):
        for side in (True, False):
            proof = search.proof(number, is_upper=side)
            assert proof is not None
            assert proof.bound == (found.most if side else found.least)[number]


def test_a_corner_and_its_multiples_agree():
    facts = LinearFacts.of([(0, 9)] * 2, [({0: 3, 1: 2}, 5, 7), ({1: 1}, 1, 4)], whole=False)
    statuses = ["basic", "basic"], ["upper", "lower"]
    corner = exact_corner(facts, *statuses, [0, 0])
    assert corner == [Fraction(5, 3), Fraction(1)]
    rows = exact_multiples(facts, *statuses, 0)
    assert verified(facts, 0, rows, is_upper=True).bound == corner[0]
    assert exact_corner(facts, ["basic", "basic"], ["upper", "basic"], [0, 0]) is None


def is_in_span(rows, number, n):
    """The definition: taking the number's own unit vector besides adds nothing to the rank."""
    matrix = np.array(rows, float).reshape(-1, n)
    unit = np.zeros((1, n))
    unit[0, number] = 1
    return np.linalg.matrix_rank(np.vstack([matrix, unit])) == np.linalg.matrix_rank(matrix)


@pytest.mark.parametrize("seed", range(40))
def test_numbers_are_determined_if_they_are_in_the_span(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 8))
    rows = rng.integers(-1, 2, (m, n)) * (rng.random((m, n)) < 0.6)
    is_open = rng.random(n) < 0.7
    facts = LinearFacts.of(
        [(0, None)] * n,
        [({at: int(f) for at, f in enumerate(row) if f}, 0, 0) for row in rows],
        whole=False,
    )
    found = determined_numbers(facts, is_open, np.ones(m, bool))
    inside = rows[:, is_open]
    for at, number in enumerate(np.flatnonzero(is_open)):
        assert found[number] == is_in_span(inside, at, int(is_open.sum()))
    assert all(found[number] for number in np.flatnonzero(~is_open))
