"""The Bayesian measures of a comparison: the same as fitting and inferring by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gamekeeper.attack.experiments.compare import compare_measures
from gamekeeper.attack.experiments.harness import SampleData
from gamekeeper.attack.experiments.scores import (
    MEASURES,
    annealing,
    checked_scores,
    mc3,
    occam,
)
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.data.coding.coded_table import coded_from_codes
from tests.given.samples import NAMES, counted, two_pairs

OWN = {"mc3": mc3, "annealing": annealing, "occam": occam}


def sample_of(codes, levels, fraction="1/20", seed=3):
    codes = np.asarray(codes, dtype=np.uint8)
    _, of_record, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return SampleData(codes, tuple(levels), Fraction(fraction), counts[of_record], seed)


@pytest.mark.slow
@pytest.mark.parametrize("method", OWN)
def test_a_measure_is_what_an_intruder_infers(method):
    codes = two_pairs(250)
    codes[:5, 1] = 0
    sample = sample_of(codes, (5, 5, 4, 3, 2))
    scores = OWN[method](sample)
    table = counted(codes, NAMES, fraction="1/20")
    fit = fit_models(table, method=method, chains=2, seed=3)
    risk = infer_risk(table, fit, seed=3)
    rows = risk.to_arrow()
    assert scores.values == pytest.approx(rows["p_match"].to_numpy()[sample.uniques])
    assert scores.match == pytest.approx(scores.values)
    assert scores.unique == pytest.approx(rows["p_unique"].to_numpy()[sample.uniques])
    assert scores.pr_cm_given_um == pytest.approx(risk.file["pr_cm_given_um"])
    checked_scores(method, scores, len(sample.uniques))


@pytest.mark.parametrize("method", OWN)
@pytest.mark.parametrize(
    ("codes", "levels", "n_uniques"),
    [([[1, 1, 1]], (2, 3, 1), 1), ([[1, 1], [1, 1]], (2, 2), 0), ([[1], [2], [2]], (4,), 1)],
)
def test_little_to_go_by(method, codes, levels, n_uniques):
    scores = OWN[method](sample_of(codes, levels))
    assert len(scores.values) == n_uniques
    assert (scores.pr_cm_given_um is None) == (n_uniques == 0)
    checked_scores(method, scores, n_uniques)


@pytest.mark.parametrize("method", OWN)
def test_everybody_in_the_sample_is_certain(method):
    sample = sample_of(two_pairs(60, seed=5), (5, 4, 4, 3, 2), fraction="1")
    scores = OWN[method](sample)
    # Not even rounding makes them more than certain.
    checked_scores(method, scores, len(sample.uniques))
    assert scores.match == pytest.approx(np.ones(len(scores.values)))
    assert scores.unique == pytest.approx(np.ones(len(scores.values)))
    assert scores.pr_cm_given_um == pytest.approx(1)


def test_they_are_among_the_measures_to_compare_and_rank_better_than_chance():
    assert set(OWN) <= set(MEASURES)
    people = two_pairs(6_000, seed=2)
    people[:, 0] = np.minimum(np.random.default_rng(3).geometric(0.06, 6_000), 80)
    population = coded_from_codes(people.tolist(), list(NAMES))
    found, again = (
        compare_measures(
            population, NAMES, fractions=["1/10"], samples=2, measures=["annealing"], seed=1
        )
        for _ in range(2)
    )
    (auc,) = {row["auc"] for row in found.to_arrow().to_pylist()}
    assert 0.7 < auc < 1
    assert auc == again.to_arrow()["auc"].to_pylist()[0]
