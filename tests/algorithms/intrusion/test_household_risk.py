"""Household risk: at least one member is found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.intrusion.household_risk import household_risk

MEMBERS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=12)


@given(MEMBERS)
def test_it_is_one_minus_the_chance_that_nobody_is_found(members):
    risks, homes = zip(*members, strict=True)
    found = household_risk(np.array(risks), np.array(homes))
    for place, (risk, home) in enumerate(members):
        others = [r for r, h in members if h == home] if home else [risk]
        assert found[place] == pytest.approx(1 - math.prod(1 - r for r in others), abs=1e-12)


def test_the_worked_example_of_three_members():
    # 1 - 0.9 x 0.8 x 0.5
    assert household_risk(np.array([0.1, 0.2, 0.5]), np.array([7, 7, 7])) == pytest.approx(
        [0.64] * 3
    )


def test_a_member_whose_risk_is_not_known_adds_nothing_and_certainty_stays_certain():
    found = household_risk(np.array([np.nan, 0.5, 1.0, 0.2]), np.array([1, 1, 2, 2]))
    assert found.tolist() == [0.5, 0.5, 1.0, 1.0]
