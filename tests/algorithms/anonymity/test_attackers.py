"""Prosecutor, journalist and marketer against records one by one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.anonymity.attackers import AttackerRisk, attacker_risk, estimated_risk
from tests.given.class_structures import ADULT


@given(st.dictionaries(st.integers(1, 9), st.integers(0, 5), max_size=5), st.fractions(0, 1))
def test_risks_are_those_of_records_one_by_one(records, threshold):
    risks = [Fraction(1, size) for size, n in records.items() for _ in range(n)]
    found = attacker_risk(records, threshold)
    if not risks:
        assert found == AttackerRisk(None, None, None)
        return
    assert found.highest == max(risks)
    assert found.average == sum(risks) / len(risks)
    assert found.at_risk == Fraction(sum(risk > threshold for risk in risks), len(risks))


def test_a_threshold_that_is_met_is_not_exceeded():
    assert attacker_risk({3: 3, 5: 5}, Fraction(1, 3)).at_risk == 0


def test_estimated_sizes_are_at_least_those_of_the_file():
    highest, average, at_risk = estimated_risk(
        np.array([2, 2, 0]), np.array([0.5, 8.0, 0.0]), Fraction(1, 4)
    )
    assert (highest, average, at_risk) == (0.5, (0.5 + 0.125) / 2, 0.5)
    assert all(map(math.isnan, estimated_risk(np.array([0]), np.array([0.0]), Fraction(1))))


def test_the_average_that_arx_prints_for_adult():
    by_size = {size: size * number for size, number in ADULT.items()}
    found = attacker_risk(by_size, Fraction(1, 2))
    assert float(found.average) == 0.6465751607983555
    assert found.highest == 1
    assert float(found.at_risk) == 0.5142895033485844


def test_a_record_that_fits_three_people_is_matched_rightly_once_in_three():
    # The example of the National Academies, A Roadmap for Disclosure Avoidance in SIPP, 2024.
    assert attacker_risk({3: 1}, Fraction(1, 2)).average == Fraction(1, 3)


def test_a_size_may_stand_for_several_records():
    sizes, people, counts = np.array([1, 4, 0]), np.array([20.0, 8.0, 0.0]), np.array([3, 4, 0])
    found = estimated_risk(sizes, people, Fraction(1, 10), counts)
    whole = estimated_risk(np.repeat(sizes, counts), np.repeat(people, counts), Fraction(1, 10))
    assert found == pytest.approx(whole)
