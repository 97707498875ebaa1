from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import cauchy, norm

from gamekeeper.algorithms.models.inference.population_model import estimate_from_rates
from gamekeeper.algorithms.models.inference.rate_calibration import (
    LevelPrior,
    calibrate_rates,
    even_draws,
    mixed_shares,
)
from tests.given.cases import cases


def classes(seed, intercept, slope, n=40_000):
    """Draw classes whose rate follows the line, as single records with their twins see it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-3, 1.5, n)
    rate = np.exp(intercept + slope * x)
    twins = rng.poisson(rate)
    # A class of f records is seen f times by its records; keep one class for each f seen.
    kept = rng.random(n) < 1 / (twins + 1)
    return x[kept], twins[kept] + 1


@pytest.mark.parametrize(("intercept", "slope"), [(0.0, 1.0), (0.5, 0.7), (-1.0, 0.6)])
def test_the_line_is_found_again(intercept, slope):
    x, counts = classes(1, intercept, slope)
    found = calibrate_rates(x, counts)
    deviations = np.sqrt(np.diag(found.covariance))
    assert abs(found.intercept - intercept) < 4 * deviations[0]
    assert abs(found.slope - slope) < 4 * deviations[1]
    assert deviations[1] < 0.1
    assert found.deviations(np.array([-2.0]))[0] < 0.1


def test_the_stated_deviations_are_those_of_repeated_samples():
    # The prior pulls slopes together, so that they vary less than is stated, and not much less.
    fits = [calibrate_rates(*classes(seed, 0.2, 0.8, n=3_000)) for seed in range(60)]
    for at, name in enumerate(("intercept", "slope")):
        seen = np.std([getattr(fit, name) for fit in fits])
        stated = np.mean([np.sqrt(fit.covariance[at][at]) for fit in fits])
        assert 0.6 * stated < seen < 1.2 * stated


def by_brute_force(x, counts, prior):
    """Return mean level, mean slope and the weight of the Cauchy part, by one fine grid."""
    used = counts <= 2
    x, pairs = x[used], counts[used] == 2
    middle = np.average(x, weights=np.exp(0.8 * (x - x.max()))) if len(x) else 0.0
    levels, slopes = np.linspace(-8, 16, 601), np.linspace(0.2, 1.4, 25)
    above = levels > prior.mean
    normal = 0.85 * norm.pdf(levels, prior.mean, prior.deviation)
    wide = 2 * np.where(above, 0.12, 0.03) * cauchy.pdf(levels, prior.mean)
    height = np.log(normal + wide)[:, None] + norm.logpdf(slopes, 0.8, 0.15)[None]
    for one, is_pair in zip(x.tolist(), pairs.tolist(), strict=True):
        at = levels[:, None] + 0.8 * middle + slopes[None] * (one - middle) - math.log(2)
        height -= np.logaddexp(0, -at if is_pair else at)
    weights = np.exp(height - height.max())
    weights /= weights.sum()
    of_level = weights.sum(axis=1)
    unlike = of_level @ (wide / (normal + wide))
    return middle, of_level @ levels, weights.sum(axis=0) @ slopes, unlike


@cases(15)
@given(
    st.lists(st.tuples(st.floats(-8, 1), st.integers(1, 3)), max_size=25),
    st.floats(-0.5, 0.5),
    st.floats(0.2, 0.5),
)
def test_the_posterior_is_that_of_a_fine_grid(classes, mean, deviation):
    x, counts = np.array([c[0] for c in classes]), np.array([c[1] for c in classes], dtype=int)
    prior = LevelPrior(mean, deviation)
    found = calibrate_rates(x, counts, prior)
    middle, level, slope, unlike = by_brute_force(x, counts, prior)
    at_middle = found.intercept + found.slope * middle
    assert found.slope == pytest.approx(slope, abs=0.05)
    # A Cauchy law has no mean: how far a grid goes shows where there is hardly a class.
    if sum(counts <= 2) > 5:
        assert at_middle - 0.8 * middle == pytest.approx(level, abs=0.1)
        assert found.unlike == pytest.approx(unlike, abs=0.03)


def test_lines_stand_for_the_posterior():
    x, counts = classes(4, 0.3, 0.7, n=2_000)
    found = calibrate_rates(x, counts)
    lines = np.array(found.lines)
    assert lines.mean(axis=0) == pytest.approx([found.intercept, found.slope], abs=0.02)
    assert np.cov(lines.T) == pytest.approx(np.array(found.covariance), rel=0.25)


def test_without_pairs_the_prior_speaks_and_with_many_they_do():
    none = calibrate_rates(np.full(50, -6.0), np.ones(50, dtype=int))
    assert none.n_pairs == 0
    assert none.log_rates(np.array([-6.0]))[0] == pytest.approx(0.06 - 4.8, abs=0.25)
    assert none.deviations(np.array([-6.0]))[0] > 0.25
    counts = np.repeat([1, 2], [5_000, 500])
    many = calibrate_rates(np.full(5_500, -6.0), counts, LevelPrior(-1.0, 0.2))
    assert many.log_rates(np.array([-6.0]))[0] == pytest.approx(math.log(0.2), abs=0.05)


def test_people_who_are_there_twice_outweigh_the_prior():
    # As many records, hardly a pair to expect, and forty pairs.
    x = np.full(1_000, -6.0)
    few = calibrate_rates(x, np.repeat([1, 2], [998, 2]))
    twice = calibrate_rates(x, np.repeat([1, 2], [960, 40]))
    assert few.unlike < 0.2
    assert twice.unlike > 0.95
    assert twice.log_rates(x)[0] == pytest.approx(math.log(80 / 960), abs=0.2)


def test_extreme_expectations_do_not_break_the_fit():
    x = np.array([-700.0, -300.0, -2.0, -1.0, 5.0, 30.0])
    found = calibrate_rates(x, np.array([1, 1, 1, 2, 2, 1]))
    assert np.isfinite(found.covariance).all()
    assert (found.log_rates(x) <= 3).all()
    none = calibrate_rates(np.array([1.0]), np.array([9]))
    assert none.slope == pytest.approx(0.8)
    assert none.n_uniques == none.n_pairs == 0


@pytest.mark.parametrize("place", [50, 250])
def test_one_pair_among_rare_uniques(place):
    x, counts = np.linspace(-20, -10, 301), np.ones(301, dtype=int)
    counts[-place] = 2
    tau1 = estimate_from_rates(x, counts, fraction=0.01).file.tau1
    # One twin in 300 records, 99 people outside for each: a third of them may have one.
    assert 100 < tau1.value < 300
    assert tau1.lower < tau1.value < tau1.upper


def test_no_line_is_better_than_one_from_what_is_no_number():
    with pytest.raises(ArithmeticError, match="did not converge"):
        calibrate_rates(np.array([0.0, np.nan, 1.0]), np.array([1, 2, 1]))


def test_even_draws_are_as_many_as_weights_say():
    weights = np.array([0.1, 0.0, 0.55, 0.35])
    assert np.bincount(even_draws(weights, 20), minlength=4).tolist() == [2, 0, 11, 7]
    for which in (0, 1):
        shares = mixed_shares(32, which)
        assert sorted(shares.tolist()) == pytest.approx(((np.arange(32) + 0.5) / 32).tolist())
        # Every quarter of the order has all sizes.
        assert np.abs(shares.reshape(4, 8).mean(axis=1) - 0.5).max() < 0.1
