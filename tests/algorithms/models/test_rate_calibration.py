from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import cauchy, norm

from gamekeeper.algorithms.models.population_model import estimate_from_rates, file_from_rates
from gamekeeper.algorithms.models.rate_calibration import (
    LevelPrior,
    RepeatLaw,
    calibrate_rates,
    even_draws,
    mixed_shares,
    usual_log_rates,
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


@pytest.mark.parametrize(("intercept", "slope"), [(0.0, 1.0), (0.5, 1.2), (-1.0, 0.85)])
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
    fits = [calibrate_rates(*classes(seed, 0.2, 0.98, n=3_000)) for seed in range(60)]
    for at, name in enumerate(("intercept", "slope")):
        seen = np.std([getattr(fit, name) for fit in fits])
        stated = np.mean([np.sqrt(fit.covariance[at][at]) for fit in fits])
        assert 0.6 * stated < seen < 1.2 * stated


def calibrated_on_a_grid(x, counts, prior, law):
    """Return mean level, mean slope, and weights of the Cauchy part and of rates, by one fine grid."""
    used = counts <= 2
    x, pairs = x[used], counts[used] == 2
    middle = np.average(x, weights=np.exp(x - x.max())) if len(x) else 0.0
    levels, slopes = np.linspace(-8, 16, 401), np.linspace(0.64, 1.36, 21)
    normal = 0.94 * norm.pdf(levels, prior.mean, prior.deviation)
    wide = 2 * 0.03 * cauchy.pdf(levels, prior.mean)
    start = np.log(normal + wide)[:, None] + norm.logpdf(slopes, 1, 0.07)[None]
    height = np.stack([start + math.log(chance) for chance in law.weights], axis=2)
    for place, repeated in enumerate(law.rates):
        for one, is_pair in zip(x.tolist(), pairs.tolist(), strict=True):
            at = np.exp(levels[:, None] + middle + slopes[None] * (one - middle))
            odds = (at + repeated) / 2
            height[:, :, place] += np.log(odds / (1 + odds) if is_pair else 1 / (1 + odds))
    weights = np.exp(height - height.max())
    weights /= weights.sum()
    of_level = weights.sum(axis=(1, 2))
    unlike = of_level @ (wide / (normal + wide))
    of_rate = weights.sum(axis=(0, 1))
    return middle, of_level @ levels, weights.sum(axis=(0, 2)) @ slopes, unlike, of_rate


@cases(15)
@given(
    st.lists(st.tuples(st.floats(-8, 1), st.integers(1, 3)), max_size=25),
    st.floats(-0.5, 0.5),
    st.floats(0.2, 0.5),
    st.sampled_from([1.0, 0.3, 0.01]),
)
def test_the_posterior_is_that_of_a_fine_grid(classes, mean, deviation, fraction):
    x, counts = np.array([c[0] for c in classes]), np.array([c[1] for c in classes], dtype=int)
    prior = LevelPrior(mean, deviation)
    law = RepeatLaw.usual(fraction)
    found = calibrate_rates(x, counts, prior, law)
    middle, level, slope, unlike, of_rate = calibrated_on_a_grid(x, counts, prior, law)
    at_middle = found.intercept + found.slope * middle
    assert found.slope == pytest.approx(slope, abs=0.05)
    # A Cauchy law has no mean: how far a grid goes shows where there is hardly a class.
    if sum(counts == 1) > 2:
        assert at_middle - middle == pytest.approx(level, abs=0.1)
        assert found.repeats.weights == pytest.approx(of_rate, abs=0.02)
        assert found.unlike == pytest.approx(unlike, abs=0.03)


def test_lines_stand_for_the_posterior():
    x, counts = classes(4, 0.3, 0.95, n=2_000)
    found = calibrate_rates(x, counts)
    lines = np.array(found.lines)[:, :2]
    assert lines.mean(axis=0) == pytest.approx([found.intercept, found.slope], abs=0.02)
    assert np.cov(lines.T) == pytest.approx(np.array(found.covariance), rel=0.3)


def test_without_pairs_the_prior_speaks_and_with_many_they_do():
    none = calibrate_rates(np.full(50, -6.0), np.ones(50, dtype=int))
    assert none.n_pairs == 0
    assert none.log_rates(np.array([-6.0]))[0] == pytest.approx(0.2 - 6, abs=0.25)
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


def test_pairs_of_keys_that_nobody_should_share_are_repeats():
    # Pairs are where the line has them, or anywhere.
    rng = np.random.default_rng(3)
    x = rng.normal(-7, 2, 3_000)
    expected = np.exp(x) / 2
    chance = np.linspace(0, 1, 60, endpoint=False)
    where = np.searchsorted(np.cumsum(expected) / expected.sum(), chance)
    law = RepeatLaw.usual(0.05)
    alike, anywhere = np.ones((2, 3_000), dtype=int)
    alike[where[:15]] = 2
    anywhere[::50] = 2
    assert calibrate_rates(x, alike, None, law).repeats.likely < 0.05
    found = calibrate_rates(x, anywhere, None, law)
    assert found.repeats.likely > 0.99
    # Two of a hundred records have a twin that is the same person.
    assert found.repeats.mean == pytest.approx(2 / 49, rel=0.3)
    assert found.shares.sum() == pytest.approx(1)
    rates = np.array(found.lines)[:, 2]
    assert rates.mean() == pytest.approx(found.repeats.mean, rel=0.1)


def test_where_repeats_cannot_be_told_the_interval_allows_for_them_and_the_mean_hardly():
    x, counts = np.full(400, -9.0), np.ones(400, dtype=int)
    law = calibrate_rates(x, counts, None, RepeatLaw.usual(0.01)).repeats
    assert law.possible > 0.05
    assert law.likely < 0.05
    tau1 = estimate_from_rates(x, counts, fraction=0.01).file.tau1
    assert tau1.lower < 0.85 * tau1.value
    # In a sample of everybody nobody has records outside.
    assert RepeatLaw.usual(1.0) == RepeatLaw()
    assert RepeatLaw().likely == RepeatLaw().mean == 0


def test_extreme_expectations_do_not_break_the_fit():
    x = np.array([-700.0, -300.0, -2.0, -1.0, 5.0, 30.0])
    found = calibrate_rates(x, np.array([1, 1, 1, 2, 2, 1]))
    assert np.isfinite(found.covariance).all()
    assert (found.log_rates(x) <= 3).all()
    none = calibrate_rates(np.array([1.0]), np.array([9]))
    assert none.slope == pytest.approx(1, abs=0.002)
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


def test_twins_whatever_the_key_leave_open_whether_people_have_several_records():
    # One in a hundred has a twin: a person twice, or two who happen to be alike in every way.
    x = np.random.default_rng(3).normal(-7, 2, 3_000)
    counts = np.ones(3_000, dtype=int)
    counts[::100] = 2
    found = estimate_from_rates(x, counts, fraction=0.05)
    nobody = estimate_from_rates(x, counts, fraction=0.05, one_each=True)
    assert found.calibration.repeats_likely
    assert found.calibration.repeats_in_question
    assert not nobody.calibration.repeats_in_question
    tau1, other = found.file.tau1, nobody.file.tau1
    assert tau1.value < other.lower
    assert tau1.lower < tau1.value
    assert tau1.upper >= other.upper
    for name in ("tau2", "pr_cm_given_um", "pr_cm_given_su"):
        mine, theirs = getattr(found.file, name), getattr(nobody.file, name)
        assert mine.lower <= theirs.lower
        assert mine.upper >= theirs.upper
    assert (found.lower <= nobody.lower).all()
    assert (found.upper >= nobody.upper).all()
    # So they do for the file alone, whether its own classes or those it was merged from say so.
    assert file_from_rates(x, counts, fraction=0.05) == found.file
    z, sure = classes(4, 0.3, 0.95, n=20_000)
    assert not estimate_from_rates(z, sure, fraction=0.05).calibration.repeats_in_question
    alone = file_from_rates(z, sure, fraction=0.05).tau1
    both = file_from_rates(z, sure, fraction=0.05, in_question=True).tau1
    assert both.value == alone.value
    assert both.lower < alone.lower


@cases(8)
@given(st.lists(st.tuples(st.floats(-8, 1), st.integers(1, 2)), min_size=8, max_size=25))
def test_readings_are_the_parts_that_the_posterior_mixes(classes):
    x, counts = np.array([c[0] for c in classes]), np.array([c[1] for c in classes], dtype=int)
    law = RepeatLaw.usual(0.1)
    *_, of_rate = calibrated_on_a_grid(x, counts, LevelPrior(), law)
    nobody, some = (calibrate_rates(x, counts, None, reading).repeats for reading in law.readings)
    assert nobody.possible == nobody.mean == nobody.likely == 0
    assert some.possible == pytest.approx(1)
    assert some.weights == pytest.approx(of_rate[1:] / of_rate[1:].sum(), abs=0.03)
    assert some.mean == pytest.approx(np.dot(some.rates, some.weights))


def slope(x):
    """The slope as the docstring has it."""
    return np.interp(x, [-8, -2, 0, 1.5], [0.7, 0.92, 0.92, 0.75])


@pytest.mark.parametrize("x", [-30.0, -8.0, -5.3, -2.0, -0.4, 0.0, 0.7, 1.5, 4.0])
def test_the_curve_is_the_integral_of_its_slope(x):
    found = float(usual_log_rates(np.array([x]))[0])
    expected, _ = quad(slope, 0, x, points=[-8, -2, 1.5], limit=200)
    assert found == pytest.approx(expected, abs=1e-7)


def test_a_larger_expected_count_has_a_larger_rate():
    x = np.linspace(-40, 10, 501)
    steps = np.diff(usual_log_rates(x)) / np.diff(x)
    assert steps.min() >= 0.7 - 1e-9
    assert steps.max() <= 0.92 + 1e-9
    assert usual_log_rates(np.zeros(0)).shape == (0,)
    assert np.isnan(usual_log_rates(np.array([np.nan]))).all()
