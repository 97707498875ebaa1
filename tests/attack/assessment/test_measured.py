"""What is measured in one go: what a match is worth, and what is used where models cannot tell."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from gamekeeper.attack.assessment.criteria import answers
from gamekeeper.attack.assessment.measured import Basis, measure_file, record_table
from gamekeeper.attack.assessment.policy import judge_policy, read_policy
from gamekeeper.attack.assessment.sentences import (
    advice,
    drivers,
    of_record,
    plot_assessment,
    verdict,
)
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.wording import expected_text, three_digits

NAMES = ("age", "job", "place", "home")


def people(n=1200, levels=7, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(1, levels + 1, n)
    # A job that hangs together with age, so that models have something to find.
    job = np.where(rng.random(n) < 0.7, age, rng.integers(1, levels + 1, n))
    return np.column_stack([age, job, rng.integers(1, levels + 1, n), np.arange(n) // 2 + 1])


def keys(codes=None, fraction="1/10", **more):
    codes = people() if codes is None else np.asarray(codes)
    coded = coded_from_codes(codes.tolist(), NAMES[: codes.shape[1]])
    return count_keys(coded, NAMES[: min(3, codes.shape[1])], fraction=fraction, **more)


@pytest.fixture(scope="module")
def modelled():
    return measure_file(keys(), household="home", workers=1)


def test_the_numbers_are_those_of_the_single_results(modelled):
    table = keys()
    alone = infer_risk(table, fit_models(table, method="annealing"), household="home")
    file, chances = alone.estimate.file, modelled.chances
    assert chances.basis is Basis.MODELS
    assert chances.right_matches.value == file.tau2.value
    assert (chances.right_matches.lower, chances.right_matches.upper) == (
        file.tau2.lower,
        file.tau2.upper,
    )
    assert chances.population_uniques.value == file.tau1.value
    assert chances.p.tolist() == alone.records.table["p_match"].to_pylist()
    assert chances.average.value == pytest.approx(np.mean(chances.p))


def test_people_with_a_key_are_at_least_its_records_and_the_average_is_within_its_interval(
    modelled,
):
    chances, sizes = modelled.chances, modelled.keys.class_sizes()
    assert np.all(chances.people_lower >= sizes)
    assert np.all(chances.people_lower <= chances.people_upper)
    assert chances.bound == pytest.approx(1 / sizes)
    assert np.all(chances.p <= chances.bound + 1e-12)
    for found in (chances.average, chances.right_matches):
        assert found.lower < found.value < found.upper
    # The average is at most what its parts sum to, each at its worse end.
    shared = sizes > 1
    worst = chances.right_matches.upper + (1 / chances.people_lower[shared]).sum()
    assert chances.average.upper == pytest.approx(worst / modelled.keys.n_records)


def rarely_alone(n=3_000, seed=4, levels=40):
    """Records of a few keys that many people share, and some that are unique in the file alone."""
    rng = np.random.default_rng(seed)
    rows = 1 + np.minimum(rng.geometric(0.16, (n, 2)), levels - 1)
    return coded_from_codes(rows.tolist(), ("age", "job"))


def test_where_nobody_is_likely_to_be_found_nothing_is_advised_and_no_power_of_ten_is_said():
    coded = rarely_alone()
    found = measure_file(count_keys(coded, ("age", "job"), fraction="1/2000"), workers=1)
    chances = found.chances
    assert found.keys.n_uniques > 50
    assert chances.population_uniques.upper < 1
    assert found.class_counts()["low"] == found.keys.n_records
    told = [verdict(found, None), *drivers(found), *(answer.words for answer in answers(found))]
    assert not re.search(r"\d[eE][+-]?\d", " ".join(told))
    assert (
        "Fewer than one of the unique records is expected to be unique in the population (upper limit: 0.1)."
        in told
    )
    assert advice(found, None) == (
        "Assess it on other key variables that somebody may know, too: nothing is said about those.",
    )
    # Against a limit that is missed there is something to do.
    strict = judge_policy(read_policy({"policy": "k", "criteria": {"k_anonymity": 3}}), found)
    assert any(line.startswith("Coarsen") for line in advice(found, strict))
    assert not any("population uniques would be left" in line for line in advice(found, strict))


def test_where_few_are_found_the_advice_says_so_in_words(modelled):
    few = replace(modelled.chances.population_uniques, value=0.3, lower=0.0, upper=2.5)
    found = replace(modelled, chances=replace(modelled.chances, population_uniques=few))
    assert (
        "Fewer than one of the unique records is expected to be unique in the population (upper limit: 2.5)."
        in drivers(found)
    )
    assert any(line.startswith("Coarsen") for line in advice(found, None))


def test_no_record_has_an_interval_of_its_probability(modelled):
    names = record_table(modelled).column_names
    assert {"p_match", "p_bound", "people_lower", "people_upper"} <= set(names)
    assert not {"p_lower", "p_upper"} & set(names)
    place = int(np.argmax(modelled.chances.p))
    worth, who, *_ = of_record(modelled, place + 1)
    assert worth == (
        f"A match with it is right with probability {three_digits(modelled.chances.p[place])}."
    )
    low, high = modelled.chances.people_lower[place], modelled.chances.people_upper[place]
    assert f"have its key ({low:,.0f} to {high:,.0f})" in who


def test_an_average_never_has_an_end_that_is_itself():
    # Pairs of which nearly everybody is in the file: the quantiles of 1/F are all 1/2.
    codes = [[i % 30 + 1, i // 30 % 20 + 1, 1] for i in range(1200)]
    found = measure_file(keys(codes, fraction="9999/10000"), workers=1).chances.average
    assert found.lower < found.value < found.upper


def test_a_household_is_found_by_any_of_its_members(modelled):
    p, homes = modelled.chances.p, people()[:, 3]
    for place in (0, 7, 600):
        expected = 1 - np.prod(1 - p[homes == homes[place]])
        assert modelled.household_chances[place] == pytest.approx(expected)


def test_classes_count_every_record_once(modelled):
    counts = modelled.class_counts()
    assert list(counts) == ["very high", "high", "medium", "low"]
    assert sum(counts.values()) == modelled.keys.n_records
    assert counts["very high"] == np.count_nonzero(modelled.chances.p >= 0.5)


def test_the_words_have_the_estimate_and_its_interval(modelled):
    found = modelled.chances.right_matches
    text = verdict(modelled, None)
    value, low, high = (expected_text(x) for x in (found.value, found.lower, found.upper))
    assert f"{value} ({low} to {high})" in text
    assert "IS" not in text
    assert any("without" in line for line in drivers(modelled))
    assert any(line.startswith("Coarsen ") for line in advice(modelled, None))


def test_where_everybody_is_in_the_file_nothing_is_estimated():
    found = measure_file(keys(fraction=1), workers=1)
    assert found.chances.basis is Basis.EVERYBODY
    assert found.models is None
    assert found.chances.right_matches.is_exact
    assert found.chances.right_matches.value == found.keys.n_uniques
    assert found.chances.p == pytest.approx(1 / found.keys.class_sizes())
    assert "with certainty" in verdict(found, None)


@pytest.mark.parametrize(
    ("codes", "options", "why"),
    [
        (None, {"fraction": None}, "sampling fraction is not known"),
        (people(n=400), {}, "1,000 records"),
        ([[i // 40 + 1, i % 40 + 1] for i in range(1200)], {}, "every record is unique"),
        ([[1, 1]], {}, "1,000 records"),
        (None, {"missing": "wildcard"}, "missing cells"),
    ],
)
def test_where_models_cannot_tell_a_bound_is_used_and_the_words_say_why(codes, options, why):
    found = measure_file(keys(codes, **options), workers=1)
    chances = found.chances
    assert chances.basis is Basis.BOUND
    assert why in chances.why
    assert np.all(np.isnan(chances.p))
    assert chances.bound == pytest.approx(1 / found.keys.released_sizes())
    assert chances.right_matches.value is None
    assert chances.right_matches.upper == found.keys.n_unlike
    told = verdict(found, None)
    assert why in told
    assert "not known" in told
    assert found.class_counts()["very high"] == np.count_nonzero(chances.bound >= 0.5)
    assert any("treat every unique record" in line for line in advice(found, None))
    assert "at most" in of_record(found, 1)[0]


def test_without_a_unique_record_the_verdict_promises_no_more_than_it_knows():
    found = measure_file(keys([[1, 1], [1, 1], [2, 1], [2, 1], [2, 1]], fraction=None), workers=1)
    text = verdict(found, None)
    assert "stands alone" in text
    assert "50%" in text
    assert "safe" not in text
    assert found.chances.right_matches.is_exact
    assert "other key variables" in advice(found, None)[0]


def test_guidance_is_answered_by_its_formulas(modelled):
    by_measure = {answer.measure: answer for answer in answers(modelled)}
    n, n1 = modelled.keys.n_records, modelled.keys.n_uniques
    assert by_measure["share of uniques"].found.value == n1 / n
    tau1 = modelled.chances.population_uniques.value
    assert by_measure["share of population uniques"].found.value == tau1 / n
    linked = by_measure["Pr(CM|UM)"].found.value
    assert by_measure["people to be searched"].found.value == pytest.approx(
        (n * 10 + 1) / (1 + n1 / linked)
    )
    assert by_measure["one value of a sensitive variable"].found is None
    with_job = measure_file(
        count_keys(coded_from_codes([[1, 1], [1, 1], [2, 1], [2, 2]], ["a", "b"]), ["a"], sensitive=["b"]),
        workers=1,
    )  # fmt: skip
    assert {a.measure: a for a in answers(with_job)}["one value of b"].found.value == 0.5


def test_households_are_told_of_whether_records_are_unique_or_not(modelled):
    mean = three_digits(float(modelled.household_chances.mean()))
    assert f"(home) a record is found with probability {mean} on average" in drivers(modelled)[-1]
    # Three records alike, and a household of two of them: 1 - (2/3)^2 and 1/3.
    alike = measure_file(
        keys([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0]], fraction=None), household="home"
    )
    assert "no match with a single record is right" in verdict(alike, None)
    assert "at most 0.481 on average and 0.556 in the worst case" in drivers(alike)[-1]
    assert "household" not in " ".join(drivers(measure_file(keys([[1, 1, 1]] * 3))))


def test_one_record_has_nothing_to_blame():
    alone = measure_file(keys([[1, 2, 3]]))
    assert drivers(alone) == ("It is the only record: nothing is needed to set it apart.",)
    assert "and it may be re-identified" in verdict(alone, None)


@pytest.mark.parametrize("missing", ["wildcard", "ignore"])
def test_records_that_are_unique_as_released_are_not_said_to_be_none(missing):
    codes = [[1, 1], [1, 0], [2, 2], [2, 0], [1, 1], [2, 2]]
    found = measure_file(keys(codes, fraction=None, missing=missing))
    assert (found.keys.n_uniques, found.keys.n_unlike) == (0, 2)
    assert "2 (33.3%) are unique" in verdict(found, None)
    (told,) = drivers(found)
    assert "No record is unique" not in told
    assert "--missing category" in told


def test_an_interval_that_begins_at_0_is_drawn_from_there(modelled):
    lines = tuple(replace(line, tau1_lower=0.0) for line in modelled.variables.lines)
    drawn = plot_assessment(replace(modelled, variables=replace(modelled.variables, lines=lines)))
    bars = drawn.axes[1].containers[0].lines[2][0].get_segments()
    assert [low for (low, _), _ in bars[1:]] == [0.0] * len(lines)
