from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.models.match_probability import (
    Binomial,
    Poisson,
    expected_size,
    pr_unique,
    set_match,
    single_unit,
    size_quantiles,
)
from gamekeeper.errors import InputError


def terms(law):
    """Yield the probabilities of 0, 1, 2, ... under a law of one class, until they are spent."""
    k, chance = 0, 1.0
    while k <= law.mean[0] or chance > 1e-20:
        if isinstance(law, Poisson):
            mean = law.mean[0]
            log = k * math.log(mean) - mean - math.lgamma(k + 1) if mean else -1e9 * k
            chance = math.exp(log)
        else:
            n, p = int(law.trials[0]), Fraction(law.chance[0])
            chance = float(math.comb(n, k) * p**k * (1 - p) ** max(n - k, 0))
        yield k, chance
        k += 1
        if isinstance(law, Binomial) and k > law.trials[0]:
            return


LAWS = [
    *(Poisson([mean]) for mean in (1e-6, 0.001, 0.3, 1.0, 4.0, 25.0, 150.0)),
    *(Binomial([n], [p]) for n, p in ((0, 0.5), (1, 0.25), (7, 1.0), (40, 0.0), (300, 0.02))),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{type(law).__name__}-{law.mean[0]:g}")
@pytest.mark.parametrize("f", [1, 2, 3, 8, 40, 64, 65, 90])
def test_measures_are_means_over_the_law(law, f):
    exact = {
        single_unit: math.fsum(p / (k + f) for k, p in terms(law)),
        set_match: math.fsum(p * float(Fraction(1, math.comb(k + f, f))) for k, p in terms(law)),
        pr_unique: next(terms(law))[1] if f == 1 else 0.0,
        expected_size: f + math.fsum(k * p for k, p in terms(law)),
    }
    for measure, wanted in exact.items():
        assert measure([f], law)[0] == pytest.approx(wanted, rel=5e-12), measure.__name__


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{type(law).__name__}-{law.mean[0]:g}")
@pytest.mark.parametrize("level", [0.001, 0.025, 0.5, 0.9, 0.975])
def test_quantiles_are_the_first_sizes_to_reach_the_level(law, level):
    chances = [chance for _, chance in terms(law)]
    smallest = int(np.argmax(np.cumsum(chances) >= level))
    assert size_quantiles([3], law, level).tolist() == [3 + smallest]


def test_the_printed_reading_ranks_a_pair_above_a_unique():
    # Erratum: as a set, two records of a rare class look safer to match than one of a less rare.
    law = Poisson([0.001, 0.01])
    assert set_match([2, 1], law).round(4).tolist() == [0.9993, 0.995]
    assert single_unit([2, 1], law)[0] < 0.5 < single_unit([2, 1], law)[1]


@given(st.integers(1, 200), st.floats(0, 1e7))
def test_bounds_and_orders(f, mean):
    law = Poisson([mean])
    single, together, alone = (m([f], law)[0] for m in (single_unit, set_match, pr_unique))
    assert 0 < single <= 1 / f
    # By convexity the mean of 1/F is at least one over the mean of F.
    assert single >= (1 - 1e-9) / (f + mean)
    assert 0 <= together <= 1
    assert alone <= single or f > 1
    assert f > 1 or together == single


@given(st.integers(1, 100), st.floats(0.01, 1e4), st.floats(1.01, 3))
def test_more_people_outside_make_a_match_less_likely(f, mean, factor):
    law = Poisson([mean, mean * factor])
    for measure in (single_unit, set_match):
        near, far = measure([f, f], law)
        assert near >= far


@given(st.integers(1, 80), st.floats(0.001, 300))
def test_the_binomial_law_approaches_the_poisson_law(f, mean):
    limit = single_unit([f], Poisson([mean]))
    assert single_unit([f], Binomial([1e9], [mean / 1e9])) == pytest.approx(limit, rel=1e-6)


def test_nobody_outside_the_sample():
    counts = [0, 1, 2, 7, 200]
    for law in (Poisson(np.zeros(5)), Binomial(np.zeros(5), np.full(5, 0.5))):
        assert single_unit(counts, law) == pytest.approx([0, 1, 1 / 2, 1 / 7, 1 / 200])
        assert set_match(counts, law) == pytest.approx([0, 1, 1, 1, 1])
        assert expected_size(counts, law).tolist() == counts
        assert size_quantiles(counts, law, 0.975).tolist() == counts


def test_very_large_means_are_stable():
    mean = np.full(3, 1e9)
    assert single_unit([1, 5, 100], Poisson(mean)) * 1e9 == pytest.approx(1, rel=1e-6)
    assert set_match([1, 5, 100], Poisson(mean))[1] == pytest.approx(120e-45, rel=1e-6)
    upper = size_quantiles([1], Poisson(mean[:1]), 0.975)[0]
    assert upper == pytest.approx(1e9 + 1.959964 * 1e9**0.5, abs=5)


def test_no_classes():
    law = Poisson(np.zeros(0))
    assert single_unit([], law).shape == (0,)
    assert size_quantiles([], law, 0.5).shape == (0,)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Poisson([-1.0]),
        lambda: Poisson([math.nan]),
        lambda: Binomial([3.0], [1.5]),
        lambda: single_unit([1, 2], Poisson([1.0])),
        lambda: single_unit([-1], Poisson([1.0])),
        lambda: set_match([1.5], Poisson([1.0])),
        lambda: size_quantiles([1], Poisson([1.0]), 1.0),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()
