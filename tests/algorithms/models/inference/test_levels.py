from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.adjacency_masks import members
from gamekeeper.algorithms.decomposable.chordal_graphs import (
    decomposable_graphs,
    maximal_cliques,
    separators,
)
from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models.inference import merged_cells
from gamekeeper.algorithms.models.inference import merged_classes as merged_classes_module
from gamekeeper.algorithms.models.inference.cell_fractions import learn_fractions
from gamekeeper.algorithms.models.inference.levels import risk_without, suppressed_sums
from gamekeeper.algorithms.models.inference.merged_classes import merge_classes
from gamekeeper.algorithms.models.inference.population_model import (
    calibrated_estimate,
    file_from_rates,
    pooled_log_expected,
)
from gamekeeper.errors import InputError
from tests.algorithms.decomposable.test_junction_tree import samples
from tests.algorithms.models.inference.test_population_model import CHAIN, people, sampled
from tests.given.cases import cases

GRAPHS = list(decomposable_graphs(4))


def merged_by_enumeration(rows, counts, levels, graph, variable, mapping):
    """Sum the cells of each merged class, its own records scaled to one in all."""
    keys = [(tuple(np.delete(row, variable)), int(mapping[row[variable]])) for row in rows]
    found = {}
    for key in dict.fromkeys(keys):
        own = np.array([other == key for other in keys])
        size = int(counts[own].sum())
        weights = np.where(own, counts / size, counts)

        def margin(mask, cell, weights=weights):
            same = np.ones(len(rows), dtype=bool)
            for v in members(mask):
                same &= rows[:, v] == cell[v]
            return weights[same].sum()

        total = 0.0
        for code in range(levels[variable]):
            if mapping[code] == key[1]:
                cell = np.insert(np.array(key[0]), variable, code)
                above = np.prod([margin(c, cell) for c in maximal_cliques(graph)])
                if above:
                    below = np.prod([margin(s, cell) for s in separators(graph)])
                    n_margins = len(maximal_cliques(graph)) - len(separators(graph))
                    total += above / below / margin(0, cell) ** n_margins
        found[key] = (size, total)
    return found


@pytest.fixture(params=["tables", "lists"])
def kept(request, monkeypatch):
    """Keep margins in each way, and take few cells at a time."""
    if request.param == "lists":
        monkeypatch.setattr(merged_cells, "_PLACES_PER_CLASS", 0)
        monkeypatch.setattr(merged_cells, "_LEAST_PLACES", 0)
        monkeypatch.setattr(merged_classes_module, "_CELLS_AT_ONCE", 2)


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
