from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest

from gamekeeper.algorithms.intrusion.urn import (
    expected_draws,
    first_match_array,
    first_match_probabilities,
)
from gamekeeper.errors import InputError

URNS = [(n, m) for n in range(1, 8) for m in range(1, n + 1)]


@pytest.mark.parametrize(("n", "m"), URNS)
def test_without_replacement_every_order_is_as_likely(n, m):
    # Which of the n places hold the m matches.
    places = list(combinations(range(1, n + 1), m))
    firsts = [min(place) for place in places]
    expected = [Fraction(firsts.count(t), len(places)) for t in range(1, n - m + 2)]
    assert first_match_probabilities(n, m, replacement=False) == expected
    assert sum(expected) == 1
    mean = sum(t * chance for t, chance in enumerate(expected, start=1))
    assert expected_draws(n, m, replacement=False) == mean
    longer = first_match_probabilities(n, m, n + 3, replacement=False)
    assert longer == expected + [0] * (m + 2)
    assert first_match_array(n, m, n + 3, replacement=False) == pytest.approx(longer)


@pytest.mark.parametrize(("n", "m"), [(n, m) for n, m in URNS if n <= 4])
def test_with_replacement_every_sequence_is_as_likely(n, m):
    last = 4
    draws = list(product(range(n), repeat=last))
    for t in range(1, last + 1):
        n_first = sum(d[t - 1] < m and all(ball >= m for ball in d[: t - 1]) for d in draws)
        expected = Fraction(n_first, len(draws))
        assert first_match_probabilities(n, m, last, replacement=True)[t - 1] == expected
        found = first_match_array(n, m, last, replacement=True)[t - 1]
        assert found == pytest.approx(float(expected))


def test_the_mean_with_replacement_is_that_of_the_corrected_distribution():
    # Erratum T1: as printed, N = 10 and M = 2 would give 1.25.
    chances = first_match_array(10, 2, 400, replacement=True)
    mean = sum(t * chance for t, chance in enumerate(chances, start=1))
    assert mean == pytest.approx(5)
    assert expected_draws(10, 2, replacement=True) == 5


def test_large_urns():
    found = first_match_array(10_000_000, 7, 1000, replacement=False)
    exact = first_match_probabilities(10_000_000, 7, 1000, replacement=False)
    assert found[[0, 500, 999]] == pytest.approx([float(exact[i]) for i in (0, 500, 999)])


@pytest.mark.parametrize(("n", "m"), [(5, 0), (5, 6), (0, 0), (3, -1)])
def test_an_urn_without_a_match_is_refused(n, m):
    with pytest.raises(InputError, match="at least one match"):
        expected_draws(n, m, replacement=True)
    with pytest.raises(InputError):
        first_match_probabilities(n, m, replacement=False)
    with pytest.raises(InputError):
        first_match_array(n, m, 3, replacement=False)
