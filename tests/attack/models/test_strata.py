"""Strata that were sampled with different fractions, as an intruder with models sees them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from gamekeeper.algorithms.models.population_model import calibrated_estimate
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.attack.models.levels import categories_risk, infer_target, variables_risk
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.population import CATEGORIES, make_population
from tests.given.samples import NAMES, two_pairs

KEYS = ("Age", "Sex", "Place of residence", "Economic activity", "Occupation", "Tenure")
SPARSE, DENSE = 0.01, 0.2
WORDS = ("missing", "sparse", "dense")


def stratified(codes, strata, fractions, keys=NAMES):
    """Count keys of codes, with strata (1 and 2) in a variable that is no key."""
    names = [*keys, "stratum"]
    words = [("missing", *map(str, range(1, 200)))] * len(keys) + [WORDS]
    coded = coded_from_codes(np.column_stack([codes, strata]), names, words)
    fraction = dict(zip(WORDS[1:], fractions, strict=True))
    return count_keys(coded, list(keys), strata="stratum", fraction=fraction)


@cache
def norland():
    people = make_population(30_000, seed=5)
    columns = [people[key].combine_chunks().indices.to_numpy() + 1 for key in KEYS]
    assert all(isinstance(people[key].type, pa.DictionaryType) for key in KEYS)
    return np.stack(columns, axis=1).astype(np.int64)


def drawn(strata, seed):
    chance = np.random.default_rng(seed).random(len(strata))
    return np.flatnonzero(chance < np.where(strata == 1, SPARSE, DENSE))


def true_tau1(codes, chosen):
    _, of_person, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return int((sizes[of_person.ravel()[chosen]] == 1).sum())


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["calibrated", "printed"])
def test_equal_fractions_in_all_strata_are_one_fraction(estimator):
    codes = two_pairs(300)
    strata = 1 + (codes[:, 2] > 2)
    table = stratified(codes, strata, ("1/20", "5%"))
    fit = fit_models(table, method="annealing")
    found = infer_risk(table, fit, estimator=estimator)
    one = infer_risk(table, fit, fraction="1/20", estimator=estimator)
    assert found.to_arrow() == one.to_arrow()
    assert found.estimate.file == one.estimate.file
    assert found.sentences() == one.sentences()
    assert variables_risk(found).lines == variables_risk(one).lines
    assert (
        categories_risk(found, table, "age", by="collapsing").lines
        == categories_risk(one, table, "age", by="collapsing").lines
    )


def test_nearly_equal_fractions_give_nearly_the_same():
    # Not equal, so that nothing is taken as one fraction.
    codes = two_pairs(300)
    strata = 1 + (codes[:, 2] > 2)
    table = stratified(codes, strata, ("50000001/1000000000", "1/20"))
    fit = fit_models(table, method="annealing")
    found, one = infer_risk(table, fit), infer_risk(table, fit, fraction="1/20")
    assert found.fractions is not None
    assert one.fractions is None
    for name in ("p_match", "p_match_set", "p_unique", "expected_size"):
        assert found.to_arrow()[name].to_pylist() == pytest.approx(one.to_arrow()[name].to_pylist())
    for line, other in zip(variables_risk(found).lines, variables_risk(one).lines, strict=True):
        assert line.tau1_left == pytest.approx(other.tau1_left, rel=1e-5)
        assert line.tau1_upper == pytest.approx(other.tau1_upper, rel=1e-3)


def test_a_class_has_the_fraction_of_the_stratum_that_its_key_tells():
    codes = two_pairs(400)
    strata = 1 + (codes[:, 2] > 2)
    table = stratified(codes, strata, ("1%", "20%"))
    fit = fit_models(table, method="annealing")
    risk = infer_risk(table, fit)
    models, weights = fit.pooled()
    wanted = calibrated_estimate(
        risk.table,
        list(models),
        fraction=np.where(risk.table.rows[:, 2] > 2, 0.2, 0.01),
        weights=weights,
    )
    places = {tuple(row): place for place, row in enumerate(risk.table.rows.tolist())}
    for key, row in zip(codes.tolist(), risk.to_arrow().to_pylist(), strict=True):
        place = places[tuple(key)]
        for name in ("p_match", "p_unique", "expected_size", "lower", "upper"):
            assert row[name] == pytest.approx(getattr(wanted, name)[place]), name


def test_strata_that_no_key_tells_leave_the_fraction_of_the_file():
    codes = two_pairs(400)
    strata = 1 + (np.random.default_rng(3).random(400) < 0.5)
    table = stratified(codes, strata, ("1%", "20%"))
    fit = fit_models(table, method="annealing")
    found = infer_risk(table, fit)
    whole = infer_risk(table, fit, fraction=table.fraction)
    assert found.provenance.parameters["fractions_told_by"] == "no key variable"
    assert found.file["tau1"] == pytest.approx(whole.file["tau1"])
    assert found.to_arrow()["upper"] == whole.to_arrow()["upper"]


@pytest.mark.slow
def test_without_the_variable_that_tells_the_stratum_people_of_both_are_counted():
    codes = two_pairs(400)
    strata = 1 + (codes[:, 2] > 2)
    table = stratified(codes, strata, ("1%", "20%"))
    risk = infer_risk(table, fit_models(table, method="annealing"))
    assert risk.provenance.parameters["fractions_told_by"] == "area"
    assert risk.provenance.parameters["strata"] == "stratum"
    (left,) = (line for line in variables_risk(risk).lines if line.variable == "area")
    lowest, highest = (
        next(
            line.tau1_left
            for line in variables_risk(infer_risk(table, risk.fit, fraction=share)).lines
            if line.variable == "area"
        )
        for share in ("1%", "20%")
    )
    assert lowest < left.tau1_left < highest


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "in_key"), [("Place of residence", True), ("Economic activity", False)]
)
def test_less_biased_than_the_overall_fraction(variable, in_key):
    people = norland()
    # The first categories are one stratum. A key without the variable tells it in part.
    by = KEYS.index(variable)
    strata = 1 + (people[:, by] > len(CATEGORIES[variable]) // 2)
    keys = tuple(key for key in KEYS if in_key or key != variable)
    codes = people[:, [KEYS.index(key) for key in keys]]
    errors, overall_errors = [], []
    for seed in range(2):
        chosen = drawn(strata, seed)
        table = stratified(codes[chosen], strata[chosen], ("1%", "20%"), keys)
        fit = fit_models(table, method="annealing", chains=1)
        truth = true_tau1(codes, chosen)
        found = infer_risk(table, fit)
        overall = infer_risk(table, fit, fraction=table.fraction)
        errors.append(found.file["tau1"] / truth - 1)
        overall_errors.append(overall.file["tau1"] / truth - 1)
    assert abs(np.mean(errors)) < abs(np.mean(overall_errors)) - 0.05


def test_strata_are_told():
    codes = two_pairs(200)
    table = stratified(codes, 1 + (codes[:, 2] > 2), ("1%", "20%"))
    risk = infer_risk(table, fit_models(table, method="annealing"))
    told = " ".join(risk.sentences())
    assert "(1% to 20% by stratum)" in told
    assert "sparse" not in told
    answer = infer_target(risk, table, {"age": "2"}, ["home"])
    assert "as they are in the file" in answer.sentences()[-1]
    plain = infer_risk(table, risk.fit, fraction="1/10")
    assert "stratum" not in " ".join(plain.sentences())
    assert len(infer_target(plain, table, {"age": "2"}, ["home"]).sentences()) == 2
