from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models.latent_classes import fit_latent_classes
from gamekeeper.algorithms.models.merged_classes import merge_classes
from gamekeeper.algorithms.models.population_model import calibrated_estimate, pooled_log_expected
from tests.given.cases import cases


def kinds_of_people(n, seed, levels=(4, 3, 5, 3)):
    """Invent people of two kinds, who differ in each of the variables."""
    rng = np.random.default_rng(seed)
    kind = rng.random(n) < 0.3
    columns = []
    for level in levels:
        skewed = 2.0 ** -np.arange(level)
        skewed /= skewed.sum()
        chosen = rng.choice(level, n, p=skewed)
        columns.append(np.where(kind, level - 1 - chosen, chosen))
    rows, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return rows, counts, levels


def by_the_definition(model, levels, row, own):
    """Return the probability of a row, `own` of whose records are counted out, in plain Python."""
    n_classes = len(model.records)
    n = model.n_records

    def parts(less):
        total = n + n_classes * 0.5 - sum(less)
        for c in range(n_classes):
            part = (model.records[c] - less[c] + 0.5) / total
            for v, code in enumerate(row):
                at = model.starts[v] + code
                part *= (max(model.cells[at, c] - less[c], 0) + model.prior[at]) / (
                    model.records[c] - less[c] + 5
                )
            yield part

    all_in = list(parts([0.0] * n_classes))
    if not own:
        return sum(all_in)
    less = [own * part / sum(all_in) for part in all_in]
    return sum(parts([min(one, model.records[c]) for c, one in enumerate(less)]))


@cases(12)
@given(st.integers(0, 10_000), st.integers(20, 300), st.sampled_from([2, 4]))
def test_probabilities_are_those_of_the_definition_and_sum_to_one(seed, n, n_classes):
    rows, counts, levels = kinds_of_people(n, seed)
    model = fit_latent_classes(rows, counts, levels, n_classes)
    assert model.records.sum() == pytest.approx(n)
    for v, level in enumerate(levels):
        block = model.cells[model.starts[v] : model.starts[v] + level]
        assert block.sum(axis=0) == pytest.approx(model.records, abs=1e-6)
    found = np.exp(model.log_expected(rows, counts)) / n
    wanted = [by_the_definition(model, levels, r, f - 1) for r, f in zip(rows, counts, strict=True)]
    assert found == pytest.approx(wanted, rel=1e-9)
    every = np.array(list(itertools.product(*map(range, levels))))
    ones = np.ones(len(every), dtype=int)
    assert np.exp(model.log_expected(every, ones)).sum() / n == pytest.approx(1)


@cases(8)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_merging_adds_probabilities_over_what_is_merged(seed, variable):
    rows, counts, levels = kinds_of_people(120, seed)
    model = fit_latent_classes(rows, counts, levels, 4)
    recode = np.random.default_rng(seed).integers(0, 2, levels[variable])
    recode[0], recode[-1] = 0, 1
    merged = model.merged(variable, recode)
    for codes in (recode, np.zeros(levels[variable], dtype=int)):
        merged = model.merged(variable, codes)
        for row in rows[:10]:
            alike = np.repeat(row[None], levels[variable], axis=0)
            alike[:, variable] = np.arange(levels[variable])
            alike = alike[codes == codes[row[variable]]]
            new = row.copy()
            new[variable] = codes[row[variable]]
            one = np.exp(merged.log_expected(new[None], np.ones(1, dtype=int)))[0]
            total = np.exp(model.log_expected(alike, np.ones(len(alike), dtype=int))).sum()
            assert one == pytest.approx(total)


def climbed(rows, counts, levels, model, steps):
    """Take steps of expectation and maximization from a fitted model, in plain Python."""
    records, cells = model.records.copy(), model.cells.copy()
    heights = []
    for _ in range(steps):
        shares = (records + 0.5) / (model.n_records + 0.5 * len(records))
        tables = (cells + model.prior[:, None]) / (records + 5)
        new_records, new_cells, height = np.zeros_like(records), np.zeros_like(cells), 0.0
        for row, f in zip(rows, counts, strict=True):
            places = [model.starts[v] + code for v, code in enumerate(row)]
            chance = shares * np.prod(tables[places], axis=0)
            height += f * math.log(chance.sum())
            chance = f * chance / chance.sum()
            new_records += chance
            for at in places:
                new_cells[at] += chance
        records, cells = new_records, new_cells
        heights.append(height)
    return records, heights


def test_more_steps_gain_hardly_anything_where_it_has_settled():
    rows, counts, levels = kinds_of_people(800, 5)
    model = fit_latent_classes(rows, counts, levels, 2)
    assert model.settled
    records, heights = climbed(rows, counts, levels, model, 30)
    assert np.diff(heights).min() > -1e-6 * 800
    assert heights[-1] - heights[0] < 0.01 * 800
    # The two kinds are found, of which the smaller is 0.3 of all.
    assert sorted(model.records / 800)[0] == pytest.approx(0.3, abs=0.08)
    assert sorted(records / 800)[0] == pytest.approx(0.3, abs=0.08)


def test_order_and_labels_do_not_matter():
    rows, counts, levels = kinds_of_people(1_500, 2, (6, 5, 4, 7, 3))
    plain = fit_latent_classes(rows, counts, levels).log_expected(rows, counts)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(rows))
    shuffled = fit_latent_classes(rows[order], counts[order], levels)
    assert shuffled.log_expected(rows, counts).tolist() == plain.tolist()
    names = [rng.permutation(level) for level in levels]
    renamed = np.stack([name[column] for name, column in zip(names, rows.T, strict=True)], axis=1)
    other = fit_latent_classes(renamed, counts, levels).log_expected(renamed, counts)
    assert other == pytest.approx(plain, rel=1e-6)


def test_latent_classes_have_their_share_of_the_estimate():
    rows, counts, levels = kinds_of_people(600, 8)
    table = ClassTable(rows, counts, levels)
    latent = fit_latent_classes(rows, counts, levels)
    apart = [[0] * 4]
    decomposable = pooled_log_expected(table, apart)
    both = pooled_log_expected(table, apart, None, latent)
    assert both == pytest.approx(0.6 * decomposable + 0.4 * latent.log_expected(rows, counts))
    found = calibrated_estimate(table, apart, fraction=0.1)
    assert found.latent is not None
    assert found.latent.log_expected(rows, counts).tolist() == pytest.approx(
        latent.log_expected(rows, counts).tolist()
    )
    merged = merge_classes(table, apart, 1, np.array([5, 5, 9]), latent=latent)
    alone = merge_classes(table, apart, 1, np.array([5, 5, 9]))
    new = rows[merged.members]
    new[:, 1] = new[:, 1] == 2
    by_latent = latent.merged(1, np.array([0, 0, 1])).log_expected(new, merged.counts)
    assert merged.log_expected == pytest.approx(0.6 * alone.log_expected + 0.4 * by_latent)


def test_the_number_of_classes_is_that_of_the_records():
    rows, counts, levels = kinds_of_people(200, 1)
    assert len(fit_latent_classes(rows, counts, levels).records) == 8
    assert len(fit_latent_classes(rows[:1], [1], levels).records) == 2
    one = fit_latent_classes([[0], [1]], [3, 1], [2], 2)
    assert np.exp(one.log_expected(np.array([[0], [1]]), np.array([1, 1]))).sum() == pytest.approx(
        4
    )
