"""Corners, and their proofs, that are calculated again in fractions."""

from __future__ import annotations

from fractions import Fraction

from gamekeeper.algorithms.linear.facts import LinearFacts, verified
from gamekeeper.algorithms.linear.programs import exact_corner, exact_multiples
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
