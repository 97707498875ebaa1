from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gamekeeper.algorithms.subtraction.probability import subtraction_risk
from gamekeeper.algorithms.subtraction.recovered_zeros import recovered_zeros
from gamekeeper.algorithms.subtraction.recovery_rule import recovery_rule
from gamekeeper.errors import LimitError
from tests.algorithms.subtraction.test_probability import releases, rule_of
from tests.given.cases import cases
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
