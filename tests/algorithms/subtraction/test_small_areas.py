from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.subtraction.probability import subtraction_risk
from gamekeeper.algorithms.subtraction.recovery_rule import recovery_rule
from gamekeeper.algorithms.subtraction.small_areas import small_area_risks
from gamekeeper.errors import InputError
from tests.given.cases import cases


@given(st.integers(0, 10**6), st.booleans())
@cases(20)
def test_tables_together_are_the_tables_one_by_one(seed, with_total):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.5, 2, 6]), (6, 2, 4))
    lower = np.maximum(counts - rng.integers(0, 2, counts.shape), 0)
    upper = counts + rng.integers(0, 2, counts.shape)
    totals = counts.sum(axis=(1, 2)) + rng.integers(0, 2, 6) if with_total else None
    n = range(0, 60, 3)
    found = small_area_risks(counts, upper, lower=lower, total_upper=totals, n=n)
    for table in range(6):
        total = None if totals is None else int(totals[table])
        rule = recovery_rule(counts[table], upper[table], lower=lower[table], total_upper=total)
        exact = subtraction_risk(rule, n=n)
        if rule.population <= 56:
            # Rounded once from whole numbers, as the fractions are.
            assert found[table].tolist() == exact.values.tolist()
        np.testing.assert_allclose(found[table], exact.values, rtol=0, atol=1e-12)


def test_the_largest_population_of_whole_numbers():
    counts = np.array([[28, 28], [28, 29], [1, 55]])
    found = small_area_risks(counts, counts, n=[0, 28, 55])
    for row, table in zip(found, counts, strict=True):
        exact = subtraction_risk(recovery_rule(table, table), n=[0, 28, 55])
        np.testing.assert_allclose(row, exact.values, rtol=1e-12)


def test_limits_of_totals_and_axes_are_checked():
    with pytest.raises(InputError, match="in 1"):
        small_area_risks([[3, 4], [1, 1]], [[3, 4], [1, 1]], total_upper=[6, 2], n=[1])
    with pytest.raises(InputError, match="each of the 2"):
        small_area_risks([[3, 4], [1, 1]], [[3, 4], [1, 1]], total_upper=[7], n=[1])
    with pytest.raises(InputError, match="axis"):
        small_area_risks([1, 2], [1, 2], n=[1])
