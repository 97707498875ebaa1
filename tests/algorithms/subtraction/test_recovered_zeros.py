from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.subtraction.probability import recovery_rule, subtraction_risk
from gamekeeper.algorithms.subtraction.recovered_zeros import recovered_zeros, small_area_risks
from gamekeeper.errors import InputError, LimitError
from tests.given.cases import cases
from tests.given.limited_counts import releases, rule_of
from tests.twins.subtraction import by_definition


@given(releases())
@cases(50)
def test_numbers_of_zeros_are_the_definition(release):
    _, shares = by_definition(*release)
    found = recovered_zeros(rule_of(release))
    floats = recovered_zeros(rule_of(release), max_bits=0)
    assert floats.error > 0
    for n, row in enumerate(shares):
        length = len(found.fractions[n])
        assert list(found.fractions[n]) == row[:length]
        assert not any(row[length:])
        assert found.expected_fractions[n] == sum(k * p for k, p in enumerate(row))
    np.testing.assert_allclose(floats.probabilities, found.probabilities, rtol=0, atol=1e-13)
    np.testing.assert_allclose(floats.expected, found.expected, rtol=1e-12)


def test_a_worked_example():
    # Counts 2, 2, 2, 0, 2 published as 0 (base 5): four relevant cells of two people.
    found = recovered_zeros(recovery_rule([2, 2, 2, 0, 2], [2] * 5), n=[4, 8])
    assert [str(p) for p in found.fractions[0]] == ["8/35", "24/35", "3/35", "0", "0"]
    assert [str(p) for p in found.expected_fractions] == ["6/7", "4"]


def test_the_transform_agrees_with_other_ways_in_large_tables():
    rng = np.random.default_rng(7)
    counts = 1 + rng.poisson(15, 120)
    rule = recovery_rule(counts, counts + (rng.random(120) < 0.5))
    n = [10, 400, 1000, 1500, 1700, int(counts.sum())]
    found = recovered_zeros(rule, n=n)
    assert found.fractions is None
    none = 1 - subtraction_risk(rule, n=n).values
    np.testing.assert_allclose(found.probabilities[:, 0], none, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, rtol=0, atol=1e-12)
    means = found.probabilities @ np.arange(found.probabilities.shape[1])
    np.testing.assert_allclose(means, found.expected, rtol=1e-10, atol=1e-12)


def test_too_much_work_is_refused_with_an_estimate():
    counts = np.arange(1, 400)
    with pytest.raises(LimitError, match="max_work"):
        recovered_zeros(recovery_rule(counts, counts), max_work=1e6)


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
