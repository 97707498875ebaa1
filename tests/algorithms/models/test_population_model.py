from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.graphs import (
    decomposable_graphs,
    maximal_cliques,
    members,
    separators,
)
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable, log_cell_probabilities
from gamekeeper.algorithms.models import merged_classes
from gamekeeper.algorithms.models.latent_classes import fit_latent_classes
from gamekeeper.algorithms.models.match_probability import (
    Binomial,
    Poisson,
    pr_unique,
    set_match,
    single_unit,
)
from gamekeeper.algorithms.models.merged_classes import learn_fractions, learn_level, merge_classes
from gamekeeper.algorithms.models.population_model import (
    calibrated_estimate,
    estimate_from_rates,
    file_from_rates,
    pooled_log_expected,
    printed_estimate,
    recommended_precisions,
    risk_without,
    suppressed_sums,
)
from gamekeeper.algorithms.models.rate_calibration import (
    RepeatLaw,
    calibrate_rates,
    usual_log_rates,
)
from gamekeeper.algorithms.models.rate_mixture import learn_spread, mix_sizes
from gamekeeper.errors import InputError
from tests.given.cases import cases
from tests.given.samples import CHAIN, people, sampled, samples


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


GRAPHS = list(decomposable_graphs(4))


def cell_by_weights(rows, weights, graph, cell):
    """Return cliques over separators for one cell, from weighted rows."""

    def margin(mask):
        same = np.ones(len(rows), dtype=bool)
        for v in members(mask):
            same &= rows[:, v] == cell[v]
        return weights[same].sum()

    above = np.prod([margin(clique) for clique in maximal_cliques(graph)])
    if not above:
        return 0.0
    n_roots = len(maximal_cliques(graph)) - len(separators(graph))
    below = np.prod([margin(separator) for separator in separators(graph)])
    return above / below / margin(0) ** n_roots


def merged_by_enumeration(rows, counts, levels, graph, variable, mapping):
    """Sum the cells of each merged class, its own records scaled to one in all."""
    keys = [(tuple(np.delete(row, variable)), int(mapping[row[variable]])) for row in rows]
    found = {}
    for key in dict.fromkeys(keys):
        own = np.array([other == key for other in keys])
        size = int(counts[own].sum())
        weights = np.where(own, counts / size, counts)

        cells = [
            np.insert(np.array(key[0]), variable, code)
            for code in range(levels[variable])
            if mapping[code] == key[1]
        ]
        total = sum((cell_by_weights(rows, weights, graph, cell) for cell in cells), 0.0)
        found[key] = (size, total)
    return found


@pytest.fixture(params=["tables", "lists"])
def kept(request, monkeypatch):
    """Keep margins in each way, and take few cells at a time."""
    if request.param == "lists":
        monkeypatch.setattr(merged_classes, "_PLACES_PER_CLASS", 0)
        monkeypatch.setattr(merged_classes, "_LEAST_PLACES", 0)
        monkeypatch.setattr(merged_classes, "_CELLS_AT_ONCE", 2)


def test_merged_classes_agree_with_enumeration(kept):
    cases(25)(
        given(samples(), st.sampled_from(GRAPHS), st.integers(0, 3), st.data())(
            check_merged_classes
        )
    )()


def check_merged_classes(sample, graph, variable, data):
    rows, counts, levels = sample
    mapping = np.array(
        data.draw(st.lists(st.integers(0, 1), min_size=levels[variable], max_size=levels[variable]))
    )
    table = ClassTable(rows, counts, levels)
    merged = merge_classes(table, [graph], variable, mapping)
    wanted = merged_by_enumeration(rows, counts, levels, graph, variable, mapping)
    small = {key: value for key, value in wanted.items() if value[0] <= 3}
    assert len(merged.counts) == len(small)
    for place, member in enumerate(merged.members):
        row = rows[member]
        size, total = small[(tuple(np.delete(row, variable)), int(mapping[row[variable]]))]
        assert merged.counts[place] == size
        assert np.exp(merged.log_expected[place]) == pytest.approx(total * counts.sum())


@cases(25)
@given(samples(), st.sampled_from(GRAPHS), st.sampled_from(GRAPHS), st.integers(0, 3))
def test_models_are_pooled_by_their_logs(sample, one, other, variable):
    table = ClassTable(*sample)
    both = merge_classes(table, [one, other, one], variable, weights=[1, 2, 1])
    single = [merge_classes(table, [graph], variable).log_expected for graph in (one, other)]
    assert both.log_expected == pytest.approx((single[0] + single[1]) / 2, rel=1e-12, abs=1e-12)


@cases(25)
@given(samples(), st.sampled_from(GRAPHS), st.integers(0, 3), st.integers(0, 3))
def test_a_merged_class_has_the_mean_fraction_of_its_cells(sample, graph, variable, telling):
    rows, counts, levels = sample
    people = np.repeat(rows, counts, axis=0)
    fractions = learn_fractions(people, np.where(people[:, telling] == 0, 0.01, 0.2))
    table = ClassTable(rows, counts, levels)
    merged = merge_classes(table, [graph], variable, fractions=fractions)
    # The expected people of a merged class are those of its cells, each recoded by itself.
    for place, member in enumerate(merged.members):
        key = np.delete(rows[member], variable)
        own = (np.delete(rows, variable, axis=1) == key).all(axis=1)
        weights = np.where(own, counts / counts[own].sum(), counts)
        cells = [np.insert(key, variable, code) for code in np.unique(rows[:, variable])]
        chances = np.array([cell_by_weights(rows, weights, graph, cell) for cell in cells])
        each = fractions.people_per_record(np.array(cells))
        wanted = chances.sum() / (chances * each).sum()
        assert merged.fractions[place] == pytest.approx(wanted)


def test_one_fraction_in_all_cells_is_one_fraction():
    rows, counts, _ = sampled(people(4_000, 1)[0], 0.1, 0)
    table = ClassTable(rows, counts)
    same = learn_fractions(np.repeat(rows, counts, axis=0), np.full(counts.sum(), 0.1))
    by_cell = risk_without(table, [CHAIN], 2, fraction=same)
    one = risk_without(table, [CHAIN], 2, fraction=0.1)
    assert by_cell.tau1.value == pytest.approx(one.tau1.value)
    assert by_cell.pr_cm_given_um.value == pytest.approx(one.pr_cm_given_um.value)


def test_a_recode_that_merges_nothing_changes_nothing():
    rows, counts, _ = sampled(people(4_000, 1)[0], 0.1, 0)
    table = ClassTable(rows, counts)
    merged = merge_classes(table, [CHAIN], 2, np.arange(table.levels[2]))
    plain = pooled_log_expected(table, [CHAIN])
    assert merged.counts.tolist() == counts[merged.members].tolist()
    assert merged.log_expected == pytest.approx(plain[merged.members])
    file = risk_without(table, [CHAIN], 2, np.arange(table.levels[2]), fraction=0.1)
    whole = calibrated_estimate(table, [CHAIN], fraction=0.1).file
    assert file.tau1.value == pytest.approx(whole.tau1.value)
    assert file.pr_cm_given_um.value == pytest.approx(whole.pr_cm_given_um.value)


def test_intervals_have_the_probability_of_those_of_the_whole_file():
    rows, counts, _ = sampled(people(4_000, 1)[0], 0.1, 0)
    table = ClassTable(rows, counts)
    wide, narrow = (
        risk_without(
            table,
            [CHAIN],
            2,
            fraction=0.1,
            whole=calibrated_estimate(table, [CHAIN], fraction=0.1, interval=interval),
        ).tau1
        for interval in (0.95, 0.5)
    )
    assert wide.value == narrow.value
    assert wide.lower < narrow.lower <= narrow.upper < wide.upper


@pytest.mark.slow
def test_leaving_a_variable_out_is_the_truth_about_the_rest():
    population, levels = people(60_000, 21)
    rows, counts, _ = sampled(population, 0.05, 2)
    table = ClassTable(rows, counts, levels)
    # The truth without variable 2, from the same sample.
    rest = np.delete(population, 2, axis=1)
    _, _, sizes = sampled(rest, 0.05, 2)
    kept_counts = sampled(rest, 0.05, 2)[1]
    alone = kept_counts == 1
    file = risk_without(table, [CHAIN], 2, fraction=0.05)
    assert file.n_uniques == alone.sum()
    wanted = alone.sum() / sizes[alone].sum()
    assert file.pr_cm_given_um.value == pytest.approx(wanted, rel=0.3)
    whole = calibrated_estimate(table, [CHAIN], fraction=0.05).file
    assert whole.tau1.value > file.tau1.value


def test_suppressing_a_category_leaves_out_its_sample_uniques():
    rows, counts, _ = sampled(people(4_000, 1)[0], 0.1, 0)
    table = ClassTable(rows, counts)
    found = calibrated_estimate(table, [CHAIN], fraction=0.1)
    left = suppressed_sums(table, found, 3)
    assert len(left) == table.levels[3]
    for code, line in enumerate(left):
        kept = (counts == 1) & (rows[:, 3] != code)
        assert line.n_uniques == kept.sum()
        assert line.tau1 == pytest.approx(found.p_unique[kept].sum())
        assert line.tau2 == pytest.approx(found.p_match[kept].sum())
        assert line.pr_cm_given_um == pytest.approx(kept.sum() / found.expected_size[kept].sum())


def test_nothing_left_after_suppression():
    table = ClassTable([[0, 0], [0, 1]], [1, 3])
    found = calibrated_estimate(table, [[0, 0]], fraction=0.1)
    (only,) = suppressed_sums(table, found, 0)
    assert (only.n_uniques, only.tau1, only.tau2) == (0, 0, 0)
    assert np.isnan(only.pr_cm_given_um)


def test_one_variable_can_be_left_out_too():
    table = ClassTable([[0], [1]], [1, 1])
    merged = merge_classes(table, [[0]], 0)
    assert merged.counts.tolist() == [2]
    assert np.exp(merged.log_expected) == pytest.approx([2])


def test_wrong_variables_and_recodes_are_refused():
    table = ClassTable([[0, 0], [1, 1]], [1, 1])
    for variable, recode in product((0, 5), ([0], [0.5, 1])):
        with pytest.raises(InputError):
            merge_classes(table, [[0, 0]], variable, recode)


@pytest.mark.slow
@cases(25)
@given(samples(), st.sampled_from(GRAPHS), st.integers(0, 3), st.floats(0.01, 1), st.data())
def test_merging_makes_nobody_unique(sample, graph, variable, fraction, data):
    rows, counts, levels = sample
    table = ClassTable(rows, counts, levels)
    whole = calibrated_estimate(table, [graph], fraction=fraction)
    size = levels[variable]
    recode = np.array(data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    for mapping in (None, recode):
        left = risk_without(table, [graph], variable, mapping, fraction=fraction)
        given_whole = risk_without(
            table, [graph], variable, mapping, fraction=fraction, whole=whole
        )
        assert left.tau1 == given_whole.tau1
        for measure in ("tau1", "tau2"):
            found, before = getattr(left, measure), getattr(whole.file, measure)
            assert found.value <= before.value
            assert found.lower <= found.value <= found.upper <= before.upper


def test_an_estimate_that_would_rise_without_a_variable_is_held():
    # Without the first variable, which few records have, the calibration rests on other pairs and
    # by itself finds 52.7 population uniques where it found 48.0.
    rng = np.random.default_rng(342)
    levels = rng.integers(3, 12, 4)
    levels[0] = 2
    people = rng.integers(0, levels, (60, 4))
    people[:, 0] = rng.random(60) < rng.uniform(0.02, 0.3)
    table = ClassTable(*np.unique(people, axis=0, return_counts=True))
    model = [0, 0, 0, 0]
    whole = calibrated_estimate(table, [model], fraction=0.2)
    merged = merge_classes(table, [model], 0)
    free = file_from_rates(merged.log_expected, merged.counts, fraction=0.2)
    assert free.tau1.value > whole.file.tau1.value + 4
    held = risk_without(table, [model], 0, fraction=0.2)
    assert held.tau1.value <= whole.file.tau1.value
    # It falls by what the uniques that are gone had, and by no more than that where no other fell.
    gone = np.setdiff1d(np.flatnonzero(table.counts == 1), merged.members[merged.counts == 1])
    assert held.tau1.value <= whole.file.tau1.value - whole.p_unique[gone].sum() + 1e-9
    assert held.n_uniques == free.n_uniques
