"""What models say of every record: in the order of the file, class by class, at any fraction."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.junction_tree import ClassTable
from gamekeeper.algorithms.models.population_model import calibrated_estimate, printed_estimate
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import MEANINGS, infer_risk
from gamekeeper.errors import InputError, Reason
from tests.given.samples import METHODS, NAMES, counted, two_pairs

MEASURES = ("p_match", "p_match_set", "p_unique", "expected_size", "lower", "upper")


def inferred(codes, names, *, method="annealing", words=None, missing="category", **options):
    table = counted(codes, names, words, missing=missing)
    return infer_risk(table, fit_models(table, method=method), **options)


def by_the_rows(codes, fit, fraction, estimate=calibrated_estimate, models=None, weights=None):
    """Count classes with dictionaries, and ask the estimate for each; per record its measures."""
    counts = {}
    for row in map(tuple, np.asarray(codes).tolist()):
        counts[row] = counts.get(row, 0) + 1
    table = ClassTable(np.array(list(counts)), np.array(list(counts.values())))
    if models is None:
        models, weights = fit.pooled()
    found = estimate(table, list(models), fraction=fraction, weights=weights)
    places = {row: place for place, row in enumerate(counts)}
    return [
        {
            "class_size": counts[row],
            **{name: getattr(found, name)[places[row]] for name in MEASURES},
        }
        for row in map(tuple, np.asarray(codes).tolist())
    ], found.file


def test_records_come_in_the_order_of_the_file_with_the_measures_of_their_class():
    codes = two_pairs(300)
    table = counted(codes, NAMES, fraction="1/20")
    fit = fit_models(table, method="occam")
    risk = infer_risk(table, fit)
    wanted, file = by_the_rows(codes, fit, 0.05)
    rows = risk.to_arrow().to_pylist()
    assert [row["record"] for row in rows] == list(range(1, 301))
    for row, own in zip(rows, wanted, strict=True):
        for name, value in own.items():
            assert row[name] == pytest.approx(value), name
    assert risk.file["tau1"] == pytest.approx(file.tau1.value)
    assert risk.file["tau2"] == pytest.approx(file.tau2.value)
    assert risk.file["pr_cm_given_um"] == pytest.approx(file.pr_cm_given_um.value)
    assert risk.file["pr_cm_given_su"] == pytest.approx(file.pr_cm_given_su.value)
    uniques = [row for row in rows if row["class_size"] == 1]
    assert risk.file["tau1"] == pytest.approx(sum(row["p_unique"] for row in uniques))
    assert risk.file["tau2"] == pytest.approx(sum(row["p_match"] for row in uniques))
    assert risk.file["sample_uniques"] == len(uniques) > 10
    assert set(risk.to_arrow().column_names) == set(MEANINGS)


def test_the_printed_estimate_takes_the_models_of_the_smallest_precision():
    codes = two_pairs(300)
    table = counted(codes, NAMES, fraction="1/20")
    fit = fit_models(table, method="occam")
    risk = infer_risk(table, fit, estimator="printed")
    search = fit.searches[0]
    wanted, file = by_the_rows(codes, fit, 0.05, printed_estimate, search.models, search.weights)
    for row, own in zip(risk.to_arrow().to_pylist(), wanted, strict=True):
        for name, value in own.items():
            assert row[name] == pytest.approx(value), name
    assert risk.file["tau1"] == pytest.approx(file.tau1.value)
    assert "as printed in the thesis" in " ".join(risk.sentences())
    assert risk.file["tau1"] != pytest.approx(infer_risk(table, fit).file["tau1"])


def test_the_finite_estimate_is_binomial_and_advised_at_large_fractions():
    codes = two_pairs(300)
    table = counted(codes, NAMES, fraction="1/2")
    fit = fit_models(table, method="annealing")
    finite = infer_risk(table, fit, estimator="finite")
    search = fit.search
    wanted, file = by_the_rows(
        codes, fit, 0.5, partial(printed_estimate, finite=True), search.models, search.weights
    )
    for row, own in zip(finite.to_arrow().to_pylist(), wanted, strict=True):
        for name, value in own.items():
            assert row[name] == pytest.approx(value), name
    assert finite.file["tau1"] == pytest.approx(file.tau1.value)
    printed = infer_risk(table, fit, estimator="printed")
    assert "'finite' is exact" in printed.sentences()[-1]
    few = infer_risk(table, fit, estimator="printed", fraction="1/20")
    assert not any("finite" in sentence for sentence in [*few.sentences(), *finite.sentences()])
    # The binomial law is narrower, the more so the larger the class.
    widths = [
        np.array(risk.to_arrow()["upper"]) - np.array(risk.to_arrow()["lower"])
        for risk in (finite, printed)
    ]
    assert widths[0].sum() < widths[1].sum()


def test_no_class_is_expected_to_be_larger_than_the_population():
    codes = np.ones((40, 2), dtype=np.uint8)
    for estimator in ("calibrated", "finite"):
        row = inferred(codes, ["a", "b"], fraction="1/10", estimator=estimator).to_arrow()
        assert row["expected_size"][0].as_py() <= 400
        assert row["upper"][0].as_py() <= 400


def test_records_that_were_left_out_have_no_measures():
    codes = two_pairs(80)
    codes[[0, 5, 79], [1, 0, 4]] = 0
    risk = inferred(codes, NAMES, missing="exclude", fraction="1/10")
    table = risk.to_arrow()
    assert table.num_rows == 80
    assert table["record"].null_count == 0
    for name in ("class_size", *MEASURES):
        values = table[name].to_pylist()
        assert [place for place, value in enumerate(values) if value is None] == [0, 5, 79]
    kept = (codes > 0).all(axis=1)
    without = inferred(codes[kept], NAMES, fraction="1/10").to_arrow()
    for name in ("class_size", *MEASURES):
        values = [value for value in table[name].to_pylist() if value is not None]
        assert values == pytest.approx(without[name].to_pylist())
    assert risk.records.summary()["excluded"] == 3
    assert risk.file["records"] == 77


rows_of_codes = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(1, 2)), min_size=1, max_size=25
).filter(lambda rows: any(row[0] for row in rows))


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(rows_of_codes, st.sampled_from(["1/3", "2%", "0.9", "1"]))
def test_measures_are_what_they_must_be_whatever_the_file(codes, fraction):
    rows = inferred(codes, "ABC", fraction=fraction).to_arrow().to_pylist()
    of_class = {}
    for key, row in zip(codes, rows, strict=True):
        assert row["class_size"] == codes.count(key)
        own = {name: row[name] for name in MEASURES}
        assert of_class.setdefault(key, own) == own
        size = row["class_size"]
        assert 0 <= row["p_unique"] <= (1 if size == 1 else 0)
        # Of two laws of F the chance of a match is at most 1/f.
        assert row["p_unique"] - 1e-9 <= row["p_match"] <= 1 / size + 1e-9
        assert row["p_match_set"] <= 1 + 1e-9
        assert row["expected_size"] >= size - 1e-9
        assert size <= row["lower"] <= row["upper"]
        assert row["p_match"] * row["expected_size"] >= 1 - 1e-6  # Jensen


@pytest.mark.parametrize("seed", range(1, 8))
@pytest.mark.parametrize("estimator", ["calibrated", "printed", "finite"])
def test_rounding_makes_nothing_more_than_certain(seed, estimator):
    risk = inferred(two_pairs(60, seed=seed), NAMES, fraction=1, estimator=estimator)
    for name in ("p_match", "p_match_set", "p_unique"):
        assert max(risk.to_arrow()[name].to_pylist()) <= 1
    for name in ("tau1", "tau2", "pr_cm_given_um", "pr_cm_given_su"):
        measure = getattr(risk.estimate.file, name)
        assert measure.lower == pytest.approx(measure.value)
        assert measure.upper == pytest.approx(measure.value)


@pytest.mark.parametrize("estimator", ["calibrated", "printed", "finite"])
@pytest.mark.parametrize("method", METHODS)
def test_with_everybody_in_the_file_class_sizes_are_the_truth(method, estimator):
    codes = two_pairs(60)
    risk = inferred(codes, NAMES, method=method, fraction=1, estimator=estimator)
    for row in risk.to_arrow().to_pylist():
        f = row["class_size"]
        assert row["expected_size"] == pytest.approx(f)
        assert row["lower"] == row["upper"] == f
        assert row["p_match"] == pytest.approx(1 / f)
        assert row["p_match_set"] == pytest.approx(1)
        assert row["p_unique"] == pytest.approx(1.0 if f == 1 else 0.0)
    n_uniques = risk.file["sample_uniques"]
    assert n_uniques > 0
    assert risk.file["tau1"] == pytest.approx(n_uniques)
    assert risk.file["tau2"] == pytest.approx(n_uniques)
    assert risk.file["pr_cm_given_um"] == pytest.approx(1)
    assert risk.file["pr_cm_given_su"] == pytest.approx(1)


def test_rare_combinations_are_more_likely_to_be_unique_and_small_fractions_less():
    codes = np.concatenate([two_pairs(400), [[5, 4, 1, 3, 1]]])
    table = counted(codes, NAMES)
    fit = fit_models(table, method="annealing")
    totals = [
        infer_risk(table, fit, fraction=share).file["tau1"] for share in ("1/2", "1/10", "1%")
    ]
    assert totals == sorted(totals, reverse=True)
    risk = infer_risk(table, fit, fraction="1/10")
    rows = [row for row in risk.to_arrow().to_pylist() if row["class_size"] == 1]
    fits = [codes[row["record"] - 1][0] == codes[row["record"] - 1][1] for row in rows]
    chance = np.array([row["p_match"] for row in rows])
    assert chance[np.array(fits)].mean() < chance[~np.array(fits)].mean()


def test_the_models_find_the_people_who_are_alone():
    population = two_pairs(20_000, seed=2)
    population[:, 0] = np.minimum(np.random.default_rng(3).geometric(0.06, 20_000), 90)
    drawn = np.random.default_rng(4).permutation(20_000)[:1_000]
    _, of_person, sizes = np.unique(population, axis=0, return_inverse=True, return_counts=True)
    true_sizes = sizes[of_person][drawn]
    rows = inferred(population[drawn], NAMES, fraction="1/20").to_arrow().to_pylist()
    alone = np.array([row["class_size"] == 1 for row in rows])
    unique = true_sizes[alone] == 1
    assert unique.sum() > 20
    score = np.array([row["p_unique"] for row in rows])[alone]
    auc = (score[unique][:, None] > score[~unique][None]).mean()
    assert auc > 0.8
    assert score.sum() == pytest.approx(unique.sum(), rel=0.35)


def test_the_fraction_of_the_key_table_is_taken_unless_another_is_given():
    table = counted(two_pairs(100), NAMES, fraction="1/50")
    fit = fit_models(table, method="annealing")
    assert infer_risk(table, fit).fraction == Fraction(1, 50)
    other = infer_risk(table, fit, fraction="2/5")
    assert other.fraction == Fraction(2, 5)
    assert other.provenance.parameters["fraction"] == "2/5"
    assert "a sample of 40%" in other.sentences()[0]


def test_without_a_fraction_there_is_one_clear_error():
    table = counted(two_pairs(30), NAMES)
    with pytest.raises(InputError) as caught:
        infer_risk(table, fit_models(table, method="annealing"))
    assert caught.value.reason is Reason.NOTHING_GIVEN
    assert "No sampling fraction is known." in str(caught.value)


def test_wrong_options_are_refused():
    table = counted(two_pairs(30), NAMES, fraction="1/2")
    fit = fit_models(table, method="annealing")
    with pytest.raises(InputError, match="'calibrated'") as caught:
        infer_risk(table, fit, estimator="calibratd")
    assert caught.value.reason is Reason.UNKNOWN_NAME
    for options in ({"interval": 1.0}, {"interval": 0}, {"fraction": 0}, {"fraction": "3/2"}):
        with pytest.raises(InputError):
            infer_risk(table, fit, **options)


def test_models_of_other_keys_or_another_file_are_refused():
    codes = two_pairs(30)
    table = counted(codes, NAMES, fraction="1/2")
    other = codes.copy()
    other[0, 0] = other[0, 0] % 4 + 1
    for wrong in (
        counted(codes, ("age", "work", "area", "home", "gender")),
        counted(codes[:, ::-1], NAMES[::-1]),
        counted(codes[:29], NAMES),
        counted(other, NAMES),
    ):
        with pytest.raises(InputError, match="Fit models to these keys") as caught:
            infer_risk(table, fit_models(wrong, method="annealing"))
        assert caught.value.reason is Reason.BAD_OPTION
    again = counted(codes, NAMES)
    assert infer_risk(table, fit_models(again, method="annealing")).file["records"] == 30


@pytest.mark.parametrize("method", METHODS)
def test_one_record(method):
    (row,) = inferred([[1, 2]], "AB", method=method, fraction="1/2").to_arrow().to_pylist()
    assert row["class_size"] == 1
    assert 0 < row["p_unique"] < row["p_match"] < 1 < row["expected_size"]


def test_a_variable_with_one_category_and_categories_that_nobody_has_change_little():
    codes = two_pairs(100)
    plain = inferred(codes, NAMES, fraction="1/10").to_arrow()
    with_constant = np.column_stack([codes, np.ones(100, dtype=int)])
    constant = inferred(with_constant, (*NAMES, "planet"), fraction="1/10").to_arrow()
    assert constant["p_match"].to_pylist() == pytest.approx(plain["p_match"].to_pylist())
    words = [("missing", *map(str, range(1, 12)))] * 5
    declared = inferred(codes, NAMES, words=words, fraction="1/10").to_arrow()
    assert declared["class_size"] == plain["class_size"]
    assert np.isfinite(declared["expected_size"].to_numpy()).all()


def test_no_unique_record_is_said_in_words():
    risk = inferred([[1, 1]] * 3 + [[2, 1]] * 2, "AB", fraction="1/10")
    assert risk.summary() == {"records": 5, "sample_uniques": 0}
    assert risk.file["tau1"] == 0
    assert risk.file["pr_cm_given_um"] is None
    assert "No record is unique" in risk.sentences()[1]
    assert "there is no sample unique" in " ".join(risk.file.sentences())


def test_intervals_hold_their_value_and_widen_with_their_probability():
    table = counted(two_pairs(300), NAMES, fraction="1/20")
    fit = fit_models(table, method="annealing")
    wide, narrow = (infer_risk(table, fit, interval=share) for share in (0.99, 0.5))
    for one, other in zip(wide.to_arrow().to_pylist(), narrow.to_arrow().to_pylist(), strict=True):
        assert one["lower"] <= other["lower"] <= other["upper"] <= one["upper"]
    for name in ("tau1", "tau2", "pr_cm_given_um", "pr_cm_given_su"):
        outer, inner = (getattr(risk.estimate.file, name) for risk in (wide, narrow))
        assert outer.lower <= inner.lower <= inner.value <= inner.upper <= outer.upper
        assert outer.value == inner.value


def test_one_seed_gives_one_result_and_is_on_record():
    table = counted(two_pairs(200), NAMES, fraction="1/20")
    fit = fit_models(table, method="annealing", seed=7)
    one, same, other = (infer_risk(table, fit, seed=seed) for seed in (1, 1, 2))
    assert one.estimate.file == same.estimate.file
    assert one.estimate.file != other.estimate.file
    assert one.to_arrow() == other.to_arrow()
    assert one.provenance.seed == 7
    assert other.provenance.parameters["interval_seed"] == "2"


def test_sentences_say_the_numbers_and_no_value_of_the_file():
    words = [("missing", *(f"CANARY{code}" for code in range(1, 6)))] * 5
    risk = inferred(two_pairs(200), NAMES, words=words, fraction="1/20")
    told = " ".join([*risk.sentences(), *risk.file.sentences(), repr(risk), risk._repr_html_()])
    assert "CANARY" not in told
    for sentence, name in zip(risk.sentences()[1:3], ("tau1", "pr_cm_given_um"), strict=True):
        first = re.findall(r"\d+(?:\.\d+)?", sentence)[0]
        assert float(first) == pytest.approx(risk.file[name], rel=0.01)
    likely = sum(value > 0.5 for value in risk.to_arrow()["p_unique"].to_pylist())
    assert f"for {likely:,} of them" in risk.sentences()[1]


def test_it_is_said_what_the_level_rests_on_and_that_people_may_be_there_twice():
    rng = np.random.default_rng(5)
    codes = rng.integers(1, 12, (300, 4))
    names = ["age", "job", "home", "car"]
    alone = " ".join(inferred(codes, names, fraction="1/100").sentences())
    assert re.search(r"2 pairs of records have the same key: .* known from \d+ pairs that", alone)
    assert "Whether people are in the file more than once is not known" in alone
    some = np.concatenate([codes, codes[:90]])
    twice = " ".join(inferred(some, names, fraction="1/100").sentences())
    assert "known from" not in twice
    assert "people may be in the file more than once" in twice
    assert "more than once is not known" not in twice
    assert "The intervals hold what follows if they are and if they are not" in twice


def test_intervals_do_not_hold_where_all_records_of_a_person_are_there_and_that_is_said():
    rng = np.random.default_rng(8)
    people = 1 + np.minimum(rng.geometric(0.2, (6_000, 4)), 9)
    sample = people[rng.random(len(people)) < 0.1]
    _, where, counts = np.unique(people, axis=0, return_inverse=True, return_counts=True)
    sizes = {tuple(row): n for row, n in zip(people.tolist(), counts[where], strict=True)}
    times = rng.integers(1, 4, len(sample))
    in_the_file = np.repeat(sample, times, axis=0)
    rows, seen = np.unique(sample, axis=0, return_counts=True)
    true = sum(1 / sizes[tuple(row)] for row, n in zip(rows.tolist(), seen, strict=True) if n == 1)
    names = ["age", "job", "home", "car"]
    risk = inferred(in_the_file, names, fraction="1/10")
    assert risk.estimate.file.tau2.upper < true / 2
    assert "where all records of a person are in the file, numbers are far too low" in " ".join(
        risk.sentences()
    )


def test_the_spread_of_risk_is_drawn_without_a_display():
    inferred(two_pairs(100), NAMES, fraction="1/20").plot().savefig("/dev/null", format="svg")
