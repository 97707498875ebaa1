"""Searches on real files, where there are any: the environment variable GAMEKEEPER_DATA."""

from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.models.annealing import anneal, sample_models
from gamekeeper.algorithms.models.clique_scores import MarginScores
from tests.given.published import published_lines

pytestmark = pytest.mark.slow

NOT_KEYS = {"record_number", "region", "residence_type", "student", "hours_worked_per_week"}


def read(name):
    header, *records = published_lines(name)
    return dict(zip(header, zip(*records, strict=True), strict=True))


def coded(columns):
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns])


@pytest.mark.parametrize(
    ("n_records", "best"), [(1_000, -10074.51), (5_000, -49142.67), (30_162, -288496.43)]
)
def test_adult_reaches_the_best_that_others_found(n_records, best):
    columns = read("adult/adult_arx.csv")
    ages = np.searchsorted([25, 35, 45, 55, 65], [int(age) for age in columns.pop("age")])
    table = coded([*columns.values(), ages])
    order = np.random.RandomState(1).permutation(len(table))[:n_records]
    found = anneal(MarginScores(table[order]))
    assert round(found.best_score, 2) == best
    assert found.converged


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_chains_agree_on_twelve_variables_of_a_census(share):
    columns = read("census/uk_scotland2011_teaching_1pct.csv")
    kept = [
        column
        for name, column in columns.items()
        if name.strip().lower().replace(" ", "_") not in NOT_KEYS
    ]
    assert len(kept) == 12
    population = coded(kept)
    levels = population.max(axis=0) + 1
    rng = np.random.default_rng(0)
    records = rng.choice(len(population), round(share * len(population)), replace=False)
    scores = MarginScores(population[records], levels)
    runs = [sample_models(scores, seed=seed) for seed in (1, 2)]
    for found in runs:
        assert found.converged
        assert found.worst_r_hat < 1.05
        assert found.best_score >= anneal(scores).best_score - 1e-6
    difference = np.abs(runs[0].edge_probabilities() - runs[1].edge_probabilities())
    assert difference.max() < 0.15
