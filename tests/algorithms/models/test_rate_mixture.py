from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.models.rate_mixture import SPREAD, learn_spread, mix_sizes, size_interval


def mixed_on_a_grid(log_rate, count, outside, spread=0.61):
    """Integrate over a fine grid of log r; the centre of log r by bisection."""
    deviation = min(max(spread - 0.1 * log_rate, 0.4), 2.2)
    z = np.linspace(-20, 12, 1601)

    def mean_given_no_twin(centre):
        rate = np.exp(np.minimum(centre + deviation * z, 40))
        height = -0.5 * z * z - rate
        weight = np.exp(height - height.max())
        return math.log((weight * rate).sum() / weight.sum())

    low, high = log_rate - 10, log_rate + 50
    for _ in range(50):
        centre = (low + high) / 2
        low, high = (centre, high) if mean_given_no_twin(centre) < log_rate else (low, centre)
    logs = centre + deviation * np.linspace(-16, 14, 1_201)
    height = (count - 1) * logs - np.exp(logs) - 0.5 * ((logs - centre) / deviation) ** 2
    weight = np.exp(height - height.max())
    weight /= weight.sum()
    means = outside * np.exp(logs)
    nodes, shares = np.polynomial.legendre.leggauss(150)
    u, shares = (nodes + 1) / 2, shares / 2
    # E[1/F] as the integral of u^(f-1) G(u), by the rule of Gauss.
    generating = np.array([(weight * np.exp(-means * (1 - at))).sum() for at in u])
    return {
        "p_match": shares @ (u ** (count - 1) * generating),
        "p_next": shares @ (u**count * generating),
        "p_match_set": shares @ (count * (1 - u) ** (count - 1) * generating),
        "p_unique": (weight * np.exp(-means)).sum() if count == 1 else 0.0,
        "expected_size": count + (weight * means).sum(),
        "variance": (weight * means).sum() + (weight * (means - weight @ means) ** 2).sum(),
    }


@pytest.mark.parametrize("log_rate", [-14.0, -6.0, -2.0, 0.5])
@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("outside", [1.0, 19.0])
def test_measures_agree_with_brute_force(log_rate, count, outside):
    found = mix_sizes(np.array([log_rate]), np.array([count]), np.array([outside]))
    assert SPREAD == 0.61
    for name, wanted in mixed_on_a_grid(log_rate, count, outside).items():
        assert getattr(found, name)[0] == pytest.approx(wanted, rel=5e-3, abs=1e-6), name


@pytest.mark.parametrize("log_rate", [-6.0, -1.0])
@pytest.mark.parametrize("own", [0.0, 0.3, 2.5])
@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0, np.inf])
def test_other_records_of_the_same_person_agree_with_brute_force(log_rate, own, shape):
    found = mix_sizes(
        np.array([log_rate]), np.array([1]), np.array([19.0]), repeats=np.array([own]), shape=shape
    )
    plain = mix_sizes(np.array([log_rate]), np.array([1]), np.array([19.0]))
    # The probability generating function of a gamma mixture of Poisson laws, of one number of others.
    none = math.exp(-own) if np.isinf(shape) else (1 + own / shape) ** -shape
    more = own if np.isinf(shape) else own + own**2 / shape
    assert found.p_unique[0] == pytest.approx(plain.p_unique[0] * none, rel=0.02)
    assert found.expected_size[0] == pytest.approx(plain.expected_size[0] + own)
    assert found.variance[0] == pytest.approx(plain.variance[0] + more)
    rng = np.random.default_rng(4)
    shared = rng.gamma(shape, own / shape, 200_000) if shape < np.inf else np.full(200_000, own)
    others = rng.poisson(shared)
    # The sizes without repeats, by the law of the mixture: P(F = 1 + k) for each k.
    deviation = 0.61 - 0.1 * log_rate
    centre = log_rate + _centre_offset(log_rate, deviation)
    rates = np.exp(centre + deviation * rng.standard_normal(200_000))
    kept = rng.random(200_000) < np.exp(-rates)
    sizes = 1 + rng.poisson(19.0 * rates[kept]) + others[kept]
    assert found.p_match[0] == pytest.approx(np.mean(1 / sizes), abs=0.006)


def _centre_offset(log_rate, deviation):
    z = np.linspace(-10, 10, 801)
    low, high = -10.0, 10.0
    for _ in range(50):
        middle = (low + high) / 2
        rates = np.exp(log_rate + middle + deviation * z)
        weights = np.exp(-0.5 * z * z - rates)
        below = math.log((weights * rates).sum() / weights.sum()) < log_rate
        low, high = (middle, high) if below else (low, middle)
    return middle


@example(3.0, 1.0, 1.8)
@given(st.floats(-30, 3), st.floats(0, 1000), st.sampled_from([0.1, 0.7, 1.2, 1.6, 1.8]))
def test_a_sample_unique_has_its_rate_of_others_outside(log_rate, outside, spread):
    found = mix_sizes(np.array([log_rate]), np.array([1]), np.array([outside]), spread=spread)
    wanted = 1 + outside * math.exp(log_rate)
    assert found.expected_size[0] == pytest.approx(wanted, rel=1e-2)
    assert found.p_unique[0] <= found.p_match[0] * (1 + 1e-12)
    # Jensen: not below what the mean alone would give.
    assert found.p_match[0] >= 1 / found.expected_size[0] * (1 - 1e-9)


@settings(max_examples=50)
@given(st.floats(-12, 2.9), st.integers(1, 2), st.floats(0.1, 200))
def test_risk_falls_with_the_rate_and_the_class_size(log_rate, count, outside):
    rates = np.array([log_rate, log_rate + 0.1, log_rate])
    found = mix_sizes(rates, np.array([count, count, count + 1]), np.full(3, outside))
    assert found.p_match[0] > found.p_match[1]
    assert found.p_match[0] > found.p_match[2]
    assert found.expected_size[0] < found.expected_size[2]


def test_large_classes_are_as_large_outside_as_within():
    found = mix_sizes(np.full(2, 1.0), np.array([1_000, 100_000]), np.full(2, 9.0))
    assert found.expected_size == pytest.approx([10_000, 1_000_000], rel=0.02)


def test_no_one_outside():
    counts = np.array([1, 2, 5])
    found = mix_sizes(np.array([-3.0, 0.0, 2.0]), counts, np.zeros(3))
    assert found.p_match == pytest.approx(1 / counts)
    assert found.p_match_set == pytest.approx([1, 1, 1])
    assert found.p_unique == pytest.approx([1, 0, 0])
    low, high = size_interval(np.zeros(3), counts, np.zeros(3), (0.025, 0.975))
    assert low.tolist() == high.tolist() == counts.tolist()


def test_intervals_hold_draws_of_the_mixture():
    rng = np.random.default_rng(5)
    # With hardly any twins the posterior of log r is the normal law itself.
    log_rate, outside = -9.0, 3_000.0
    deviation = 0.7 + 0.9
    rates = np.exp(log_rate - deviation**2 / 2 + deviation * rng.standard_normal(200_000))
    sizes = 1 + rng.poisson(outside * rates)
    args = np.array([log_rate]), np.array([1]), np.array([outside])
    low, high = size_interval(*args, (0.05, 0.95))
    assert low[0] == np.quantile(sizes, 0.05)
    assert abs(high[0] - np.quantile(sizes, 0.95)) <= 1


@pytest.mark.parametrize("spread", [0.3, 0.7, 1.2])
def test_the_spread_is_found_again_where_there_are_many_classes(spread):
    rng = np.random.default_rng(8)
    centre = rng.normal(-2, 1, 400_000)
    twins = rng.poisson(np.exp(centre + spread * rng.standard_normal(len(centre))))
    # Records see their class f times as often as the class is there.
    kept = rng.random(len(centre)) < 1 / (twins + 1)
    # Where the deviation is the same for all rates, rates near 1 decide: log E[r | no twin] for
    # each centre, by integration.
    grid = np.linspace(-7, 3, 60)
    z = np.linspace(-8, 8, 161)
    rates = np.exp(grid[:, None] + spread * z)
    weights = np.exp(-0.5 * z * z - rates)
    means = np.log((weights * rates).sum(axis=1) / weights.sum(axis=1))
    log_rates = np.interp(centre[kept], grid, means)
    # The fitted deviation at the rates that have twins is the true one.
    near = log_rates[twins[kept] >= 1].mean()
    found = learn_spread(log_rates, twins[kept] + 1).mean - 0.1 * near
    assert found == pytest.approx(spread, abs=0.12)


def test_few_triples_hardly_move_the_spread():
    law = learn_spread(np.full(300, -4.0), np.repeat([1, 2], [290, 10]))
    assert law.mean == pytest.approx(0.7, abs=0.1)
    drawn = law.even(200)
    assert np.mean(drawn) == pytest.approx(law.mean, abs=0.02)
    assert np.std(drawn) > 0.1


def test_what_is_not_known_of_a_rate_widens_its_interval():
    args = np.array([-5.0]), np.array([1]), np.array([99.0]), (0.025, 0.975)
    low, high = size_interval(*args)
    lower, higher = size_interval(*args, unsure=np.array([1.0]))
    assert lower[0] <= low[0]
    assert higher[0] > high[0]


@pytest.mark.parametrize("log_rate", [-20.0, -200.0, -560.0])
@pytest.mark.parametrize("count", [2, 50, 1_000, 1_000_000])
def test_many_records_outweigh_a_model_that_expects_none(log_rate, count):
    # The mode of log r lies hundreds of units above its centre: every step towards it counts.
    found = mix_sizes(np.array([log_rate]), np.array([count]), np.array([3.0]))
    deviation = 2.2
    low, high = log_rate - 10, math.log(count)
    for _ in range(200):
        middle = (low + high) / 2
        rises = count - 1 - math.exp(middle) > (middle - log_rate + deviation**2 / 2) / deviation**2
        low, high = (middle, high) if rises else (low, middle)
    expected = count + 3 * math.exp(middle)
    assert found.expected_size[0] == pytest.approx(expected, rel=0.15)


def test_an_interval_next_to_1_has_an_end():
    args = np.array([-3.0]), np.array([1]), np.array([9.0])
    _, high = size_interval(*args, (1e-9, 1.0))
    _, below = size_interval(*args, (1e-9, 1 - 1e-9))
    assert high[0] >= below[0]
