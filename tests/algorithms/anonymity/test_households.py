"""Household risk against the product over members."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.anonymity.households import household_risk

RECORDS = st.lists(
    st.tuples(st.one_of(st.floats(0, 1), st.just(math.nan)), st.integers(0, 3)),
    min_size=1,
    max_size=8,
)


@given(RECORDS)
def test_somebody_is_found_unless_nobody_is(records):
    risk, homes = (np.array(part) for part in zip(*records, strict=True))
    found = household_risk(risk, homes)
    for place, (own, home) in enumerate(records):
        members = [r for r, h in records if h == home and not math.isnan(r)] if home else [own]
        safe = math.prod(1 - r for r in members)
        if math.isnan(own):
            assert math.isnan(found[place])
        else:
            assert found[place] == pytest.approx(1 - safe, abs=1e-12)
