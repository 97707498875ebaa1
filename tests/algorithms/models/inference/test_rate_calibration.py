from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import poisson

from gamekeeper.algorithms.models.inference.population_model import estimate_from_rates
from gamekeeper.algorithms.models.inference.rate_calibration import calibrate_rates
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
    found = calibrate_rates(x, counts, 99.0)
    deviations = np.sqrt(np.diag(found.covariance))
    assert abs(found.intercept - intercept) < 4 * deviations[0]
    assert abs(found.slope - slope) < 4 * deviations[1]
    assert deviations[1] < 0.1


def test_the_stated_deviations_are_those_of_repeated_samples():
    fits = [calibrate_rates(*classes(seed, 0.2, 0.8, n=3_000), 99.0) for seed in range(60)]
    seen = np.std([fit.slope for fit in fits])
    stated = np.mean([np.sqrt(fit.covariance[1][1]) for fit in fits])
    assert stated == pytest.approx(seen, rel=0.35)


def test_expected_twins_agree_with_the_pairs_and_one_more():
    # The score equation of the intercept: twins expected are the twins seen, pseudo pair included.
    x, counts = classes(3, 0.0, 0.8, n=5_000)
    found = calibrate_rates(x, counts, 99.0)
    small = counts <= 2
    rate = np.exp(found.log_rates(x[small]))
    pseudo = np.exp(0.8 * (x[small] - x[small].max()))
    weights = counts[small] + 2 * pseudo / pseudo.sum()
    expected = (weights * rate / (1 + rate)).sum()
    assert expected == pytest.approx(2 * (counts == 2).sum() + 2, abs=0.5)


def test_no_pairs_leave_a_small_rate_and_no_classes_the_prior():
    few = calibrate_rates(np.full(500, -4.0), np.ones(500, dtype=int), 99.0)
    assert (few.n_uniques, few.n_pairs) == (500, 0)
    assert 0 < np.exp(few.log_rates(np.array([-4.0])))[0] < 0.02
    none = calibrate_rates(np.array([1.0]), np.array([9]), 99.0)
    assert (none.intercept, none.slope) == (0.0, 0.8)
    one = calibrate_rates(np.array([0.0]), np.array([1]), 99.0)
    assert np.isfinite([one.intercept, one.slope]).all()


def test_extreme_expectations_do_not_break_the_fit():
    x = np.array([-700.0, -300.0, -2.0, -1.0, 5.0, 30.0])
    found = calibrate_rates(x, np.array([1, 1, 1, 2, 2, 1]), 99.0)
    assert np.isfinite(found.covariance).all()
    assert (found.log_rates(x) <= 3).all()


@pytest.mark.parametrize(("mean_pairs", "outside"), [(3.0, 99.0), (8.0, 20.0), (4.0, 400.0)])
def test_few_pairs_leave_the_estimate_of_a_right_match_without_bias(mean_pairs, outside):
    # All classes alike: the fit is the share of twins, and Pr(CM|UM) a reciprocal of pairs.
    n_uniques, numbers = 400, np.arange(30)
    chances = poisson.pmf(numbers, mean_pairs)
    found = []
    for n_pairs in numbers.tolist():
        counts = np.repeat([1, 2], [n_uniques, n_pairs])
        line = calibrate_rates(np.full(len(counts), -0.5), counts, outside)
        found.append(1 / (1 + outside * np.exp(line.log_rates(np.array([-0.5]))[0])))
    truth = 1 / (1 + outside * 2 * mean_pairs / n_uniques)
    plain = chances @ (1 / (1 + outside * 2 * numbers / n_uniques))
    assert abs(chances @ found / truth - 1) < min(0.06, abs(plain / truth - 1))


def by_scipy(x, counts, outside):
    """Maximise the same function by a general method, on centred x, from the definition."""
    used = counts <= 2
    x, sizes = x[used], counts[used].astype(float)
    n_uniques, n_pairs = (counts == 1).sum(), (counts == 2).sum()
    others = 2 * outside * (n_pairs + 1)
    shape = np.exp(0.8 * (x - x.max()))
    pairs = max(others / max(n_uniques + others, 1.0), 0.5)
    pseudo = 2 * pairs * shape / max(shape.sum(), 1.0)
    hits, trials, middle = sizes * (sizes - 1) + pseudo, sizes + pseudo, x.mean()

    def cost(line):
        at = line[0] + line[1] * (x - middle)
        prior = 0.1 * (line[0] - line[1] * middle) ** 2 + 16 * (line[1] - 0.8) ** 2
        return (trials * np.logaddexp(0, at) - hits * at).sum() + prior / 2

    found = minimize(cost, [-3.0, 0.5], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 0})
    return found.x[0] - found.x[1] * middle, found.x[1]


@pytest.mark.parametrize("place", [50, 250])
def test_one_pair_among_rare_uniques_does_not_make_the_line_jump_to_and_fro(place):
    # Plain Newton steps, cut to 1, alternate here for ever between lines on both sides of the top.
    x, counts = np.linspace(-20, -10, 301), np.ones(301, dtype=int)
    counts[-place] = 2
    found = calibrate_rates(x, counts, 99.0)
    assert (found.intercept, found.slope) == pytest.approx(by_scipy(x, counts, 99.0), abs=1e-5)
    tau1 = estimate_from_rates(x, counts, fraction=0.01).file.tau1
    # One twin in 300 records, 99 people outside for each: a third of them may have one.
    assert 100 < tau1.value < 300
    assert tau1.lower < tau1.value < tau1.upper


@cases(20)
@given(
    st.lists(st.tuples(st.floats(-40, 10), st.integers(1, 3)), min_size=1, max_size=60).filter(
        lambda classes: any(size <= 2 for _, size in classes)
    ),
    st.floats(0.01, 1e4),
)
def test_the_line_is_the_one_of_highest_probability(classes, outside):
    x, counts = (np.array(column) for column in zip(*classes, strict=True))
    found = calibrate_rates(x, counts, outside)
    wanted = by_scipy(x, counts, outside)
    assert (found.intercept, found.slope) == pytest.approx(wanted, abs=1e-4, rel=1e-4)


def test_no_line_is_better_than_one_from_what_is_no_number():
    with pytest.raises(ArithmeticError, match="did not converge"):
        calibrate_rates(np.array([0.0, np.nan, 1.0]), np.array([1, 2, 1]), 9.0)
