from __future__ import annotations

import math

import numpy as np
import pytest

from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, log_cell_probabilities
from gamekeeper.algorithms.models.inference.match_probability import (
    Binomial,
    Poisson,
    pr_unique,
    set_match,
    single_unit,
)
from gamekeeper.algorithms.models.inference.near_twins import learn_level
from gamekeeper.algorithms.models.inference.population_model import (
    calibrated_estimate,
    estimate_from_rates,
    file_from_rates,
    pooled_log_expected,
    printed_estimate,
    recommended_precisions,
)
from gamekeeper.algorithms.models.inference.rate_calibration import (
    RepeatLaw,
    calibrate_rates,
)
from gamekeeper.algorithms.models.inference.rate_mixture import learn_spread, mix_sizes
from gamekeeper.algorithms.models.inference.usual_rates import usual_log_rates
from gamekeeper.algorithms.models.latent.latent_classes import fit_latent_classes
from gamekeeper.errors import InputError

CHAIN = [0b000010, 0b000101, 0b001010, 0b010100, 0b101000, 0b010000]


def people(n, seed):
    """Invent people on six variables, each depending on the one before by skewed chances.

    Every cell has luck of its own besides, which no chain can tell.
    """
    rng = np.random.default_rng(seed)
    levels = (8, 6, 9, 5, 7, 6)
    columns = [rng.choice(levels[0], 3 * n, p=_skewed(levels[0]))]
    for level in levels[1:]:
        shift = rng.choice(level, 3 * n, p=_skewed(level))
        columns.append((columns[-1] + shift) % level)
    luck = np.exp(0.9 * rng.standard_normal(math.prod(levels)))
    weights = luck[np.ravel_multi_index(columns, levels)]
    chosen = rng.choice(3 * n, n, p=weights / weights.sum())
    return np.stack(columns, axis=1)[chosen], levels


def _skewed(level):
    weights = 2.2 ** -np.arange(level)
    return weights / weights.sum()


def sampled(population, fraction, seed):
    """Return the distinct rows of a sample, their counts in it and in the population."""
    rng = np.random.default_rng(seed)
    _, classes = np.unique(population, axis=0, return_inverse=True)
    classes = classes.ravel()
    chosen = rng.choice(len(population), round(fraction * len(population)), replace=False)
    found, first, counts = np.unique(classes[chosen], return_index=True, return_counts=True)
    return population[chosen[first]], counts, np.bincount(classes)[found]


def test_the_printed_estimate_is_the_average_over_models():
    rng = np.random.default_rng(2)
    rows = np.unique(rng.integers(0, 3, (30, 3)), axis=0)
    counts = rng.integers(1, 4, len(rows))
    table = ClassTable(rows, counts)
    models = [[0, 0, 0], [2, 1, 0], [6, 5, 3]]
    weights = np.array([1.0, 2.0, 5.0])
    found = printed_estimate(table, models, fraction=0.2, weights=weights)
    means = counts.sum() * 4 * np.exp(log_cell_probabilities(table, models))
    for name, measure in (
        ("p_match", single_unit),
        ("p_match_set", set_match),
        ("p_unique", pr_unique),
    ):
        each = np.array([measure(counts, Poisson(mean)) for mean in means])
        assert getattr(found, name) == pytest.approx(weights @ each / 8)
    following = np.array([single_unit(counts + 1, Poisson(mean)) for mean in means])
    assert found.p_next == pytest.approx(weights @ following / 8)
    assert found.expected_size == pytest.approx(counts + weights @ means / 8)
    alone = counts == 1
    assert found.file.tau1.value == pytest.approx(found.p_unique[alone].sum())
    wanted = alone.sum() / found.expected_size[alone].sum()
    assert found.file.pr_cm_given_um.value == pytest.approx(wanted)
    assert found.calibration is None


def test_the_finite_population_is_binomial():
    rows, counts, _ = sampled(people(3_000, 2)[0], 0.5, 1)
    table = ClassTable(rows, counts)
    found = printed_estimate(table, [CHAIN], fraction=0.5, finite=True)
    chance = np.exp(log_cell_probabilities(table, [CHAIN])[0])
    law = Binomial(np.full(len(counts), float(counts.sum())), chance)
    assert found.p_match == pytest.approx(single_unit(counts, law))
    assert found.p_unique == pytest.approx(pr_unique(counts, law))
    poisson = printed_estimate(table, [CHAIN], fraction=0.5)
    assert found.expected_size == pytest.approx(poisson.expected_size)
    width, wider = (found.upper - found.lower).sum(), (poisson.upper - poisson.lower).sum()
    assert width <= wider


@pytest.mark.parametrize("estimate", [printed_estimate, calibrated_estimate])
def test_file_measures_are_sums_over_sample_uniques_within_their_intervals(estimate):
    rows, counts, _ = sampled(people(20_000, 1)[0], 0.05, 1)
    found = estimate(ClassTable(rows, counts), [CHAIN], fraction=0.05)
    alone = counts == 1
    file = found.file
    assert file.n_uniques == alone.sum()
    assert file.tau1.value == pytest.approx(found.p_unique[alone].sum())
    assert file.tau2.value == pytest.approx(found.p_match[alone].sum())
    assert file.pr_cm_given_su.value == pytest.approx(file.tau2.value / alone.sum())
    for measure in (file.tau1, file.tau2, file.pr_cm_given_um, file.pr_cm_given_su):
        assert measure.lower < measure.value < measure.upper
    assert (found.lower <= found.upper).all()
    assert (found.lower >= counts).all()
    assert (found.p_unique[~alone] == 0).all()


@pytest.mark.parametrize("fraction", [pytest.param(0.02, marks=pytest.mark.slow), 0.1])
def test_the_truth_of_an_invented_population(fraction):
    # Models are the chain and one without any dependence.
    population, levels = people(30_000, 7)
    errors = []
    for seed in range(5):
        rows, counts, sizes = sampled(population, fraction, seed)
        table = ClassTable(rows, counts, levels)
        alone = counts == 1
        tau1 = np.count_nonzero(sizes[alone] == 1)
        matched = alone.sum() / sizes[alone].sum()
        for models in ([CHAIN], [[0] * 6]):
            file = calibrated_estimate(table, models, fraction=fraction).file
            errors.append((file.tau1.value / tau1, file.pr_cm_given_um.value / matched))
    errors = np.log(np.array(errors)).reshape(5, 2, 2).mean(axis=0)
    # Pr(CM|UM) rests on the pairs, whatever the model; tau1 on the model as well.
    assert np.abs(errors[:, 1]).max() < 0.15
    assert abs(errors[0, 0]) < 0.2


def test_intervals_of_class_sizes_hold_most_of_them():
    population, levels = people(60_000, 11)
    rows, counts, sizes = sampled(population, 0.05, 3)
    found = calibrated_estimate(ClassTable(rows, counts, levels), [CHAIN], fraction=0.05)
    inside = (sizes >= found.lower) & (sizes <= found.upper)
    assert inside[counts == 1].mean() > 0.9
    assert inside.mean() > 0.88


def test_expected_sizes_are_true_for_larger_classes_too():
    population, levels = people(60_000, 13)
    rows, counts, sizes = sampled(population, 0.05, 4)
    found = calibrated_estimate(ClassTable(rows, counts, levels), [CHAIN], fraction=0.05)
    for size in (2, 3, 5):
        these = counts == size
        assert found.expected_size[these].mean() == pytest.approx(sizes[these].mean(), rel=0.25)


def test_the_whole_population_as_a_sample():
    rows, counts, _ = sampled(people(2_000, 3)[0], 1.0, 0)
    for estimate in (calibrated_estimate, printed_estimate):
        found = estimate(ClassTable(rows, counts), [CHAIN], fraction=1.0)
        assert found.p_match == pytest.approx(1 / counts)
        assert found.p_unique == pytest.approx((counts == 1).astype(float))
        assert found.expected_size == pytest.approx(counts)
        assert found.lower.tolist() == found.upper.tolist() == counts.tolist()
        assert found.file.tau1.value == pytest.approx((counts == 1).sum())
        assert found.file.pr_cm_given_um.value == pytest.approx(1)


def test_the_order_of_classes_and_equal_models_do_not_matter():
    rows, counts, _ = sampled(people(5_000, 5)[0], 0.1, 0)
    order = np.random.default_rng(0).permutation(len(rows))
    plain = calibrated_estimate(ClassTable(rows, counts), [CHAIN], fraction=0.1)
    again = calibrated_estimate(
        ClassTable(rows[order], counts[order]), [CHAIN, CHAIN], fraction=0.1, weights=[1, 3]
    )
    assert again.p_match == pytest.approx(plain.p_match[order], rel=1e-9)
    assert again.file.tau1.value == pytest.approx(plain.file.tau1.value, rel=1e-9)


def test_a_fraction_for_each_class():
    rows, counts, _ = sampled(people(5_000, 5)[0], 0.1, 0)
    table = ClassTable(rows, counts)
    fractions = np.where(np.arange(len(counts)) % 2, 0.1, 0.5)
    mixed = calibrated_estimate(table, [CHAIN], fraction=fractions)
    # One line for the whole file, and then each class by itself.
    for share in (0.1, 0.5):
        chosen = fractions == share
        alone = calibrated_estimate(table, [CHAIN], fraction=share)
        # But for the prior of repeats, which is of the mean fraction.
        assert mixed.p_match[chosen & (counts == 1)] == pytest.approx(
            alone.p_match[chosen & (counts == 1)], rel=0.02
        )
        assert mixed.p_match[chosen] == pytest.approx(alone.p_match[chosen], rel=0.05)


def test_sample_uniques_are_averaged_over_lines_and_spreads():
    rows, counts, _ = sampled(people(5_000, 5)[0], 0.05, 0)
    table = ClassTable(rows, counts)
    found = calibrated_estimate(table, [CHAIN], fraction=0.05)
    latent = fit_latent_classes(rows, counts, table.levels)
    x = 0.6 * pooled_log_expected(table, [CHAIN]) + 0.4 * latent.log_expected(rows, counts)
    level = learn_level(table, [CHAIN], x, None, latent)
    z = usual_log_rates(x)
    line = calibrate_rates(z, counts, level, RepeatLaw.usual(1 / (1 + 0.95 / 0.05)))
    assert found.calibration == line
    assert any(rate for *_, rate in line.lines)
    spreads = learn_spread(line.log_rates(z), counts, line.repeats.mean).even(len(line.lines))
    alone = counts == 1
    total = np.zeros((3, alone.sum()))
    shapes = np.resize([0.5, 1.0, 2.0, np.inf], len(line.lines)).tolist()
    outside = np.full(alone.sum(), 19.0)
    for (intercept, slope, rate), spread, shape, share in zip(
        line.lines, spreads, shapes, line.shares, strict=True
    ):
        rates = np.minimum(intercept + slope * z[alone], 3.0)
        one = mix_sizes(
            rates, counts[alone], outside, spread=spread, repeats=rate * outside, shape=shape
        )
        total += share * np.stack([one.p_unique, one.p_match, one.expected_size])
    # Straight lines between multiples of a tenth.
    assert found.p_unique[alone] == pytest.approx(total[0], abs=2e-3)
    assert found.p_match[alone] == pytest.approx(total[1], abs=2e-3)
    assert found.expected_size[alone] == pytest.approx(total[2], rel=5e-3)


def test_pooling_is_the_mean_of_logs():
    rows, counts, _ = sampled(people(3_000, 5)[0], 0.1, 0)
    table = ClassTable(rows, counts)
    one, other = (pooled_log_expected(table, [model]) for model in (CHAIN, [0] * 6))
    both = pooled_log_expected(table, [CHAIN, [0] * 6], [1, 3])
    assert both == pytest.approx((one + 3 * other) / 4)


def test_one_record_and_no_sample_uniques():
    one = calibrated_estimate(ClassTable([[0, 3]], [1]), [[0, 0]], fraction=0.01)
    assert 0 < one.p_match[0] < 1
    assert one.file.n_uniques == 1
    none = calibrated_estimate(ClassTable([[0, 3], [1, 1]], [4, 7]), [[0, 0]], fraction=0.01)
    assert none.file.tau1.value == 0
    assert math.isnan(none.file.pr_cm_given_um.value)


def test_a_sample_of_sample_uniques_only():
    found = estimate_from_rates(np.full(400, -5.0), np.ones(400, dtype=int), fraction=0.05)
    assert found.calibration is not None
    assert found.calibration.n_pairs == 0
    assert 0.2 < found.file.tau1.value / 400 < 1


def test_the_same_seed_gives_the_same_intervals():
    rows, counts, _ = sampled(people(3_000, 5)[0], 0.1, 0)
    table = ClassTable(rows, counts)
    first, second = (calibrated_estimate(table, [CHAIN], fraction=0.1, seed=4) for _ in range(2))
    assert first.file == second.file


@pytest.mark.parametrize(
    "options",
    [
        {"fraction": 0.0},
        {"fraction": 1.5},
        {"fraction": math.nan},
        {"fraction": [0.1, 0.2, 0.3]},
        {"fraction": 0.1, "weights": [1, 2]},
        {"fraction": 0.1, "weights": [-1]},
        {"fraction": 0.1, "weights": [0]},
        {"fraction": 0.1, "interval": 1.0},
    ],
)
def test_what_makes_no_sense_is_refused(options):
    table = ClassTable([[0, 0], [1, 1]], [1, 2])
    for estimate in (calibrated_estimate, printed_estimate):
        with pytest.raises(InputError):
            estimate(table, [[0, 0]], **options)
    with pytest.raises(InputError):
        calibrated_estimate(table, [], fraction=0.5)


def test_precisions_grow_with_the_sample():
    assert recommended_precisions(1) == (1,)
    assert recommended_precisions(500) == (1, 10, 50)
    assert recommended_precisions(10**6) == (1, 10, 50, 200)


def test_the_calibration_mends_what_the_printed_estimate_overstates():
    population, levels = people(30_000, 17)
    rows, counts, sizes = sampled(population, 0.05, 1)
    table = ClassTable(rows, counts, levels)
    printed = printed_estimate(table, [[0] * 6], fraction=0.05).file
    calibrated = calibrated_estimate(table, [[0] * 6], fraction=0.05).file
    matched = (counts == 1).sum() / sizes[counts == 1].sum()
    assert abs(calibrated.pr_cm_given_um.value / matched - 1) < 0.2
    assert abs(printed.pr_cm_given_um.value / matched - 1) > 0.3


@pytest.mark.slow
def test_the_measures_of_the_file_alone_are_the_same_and_need_no_large_classes():
    rows, counts, _ = sampled(people(8_000, 3)[0], 0.1, 1)
    pooled = pooled_log_expected(ClassTable(rows, counts), [CHAIN])
    # More fractions than draws are made for one by one.
    fractions = np.random.default_rng(1).uniform(0.05, 1, len(counts))
    for fraction in (0.1, fractions):
        whole = estimate_from_rates(pooled, counts, fraction=fraction).file
        assert file_from_rates(pooled, counts, fraction=fraction) == whole
        small = counts <= 3
        some = np.broadcast_to(fraction, len(counts))[small]
        n = int(counts.sum())
        left = file_from_rates(pooled[small], counts[small], fraction=some, n_records=n)
        assert left == whole


def test_many_fractions_have_nearly_the_interval_of_one():
    rows, counts, _ = sampled(people(8_000, 3)[0], 0.1, 1)
    pooled = pooled_log_expected(ClassTable(rows, counts), [CHAIN])
    nearly = 0.1 * (1 + 1e-9 * np.arange(len(counts)))
    many = file_from_rates(pooled, counts, fraction=nearly).tau1
    one = file_from_rates(pooled, counts, fraction=0.1).tau1
    assert many.value == pytest.approx(one.value, rel=1e-3)
    assert many.lower == pytest.approx(one.lower, rel=0.03)
    assert many.upper == pytest.approx(one.upper, rel=0.03)
