"""The assessment in one call, from Python: frames, labels, scenarios, and what cannot be assessed."""

from __future__ import annotations

import json
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gamekeeper as gk
from gamekeeper.data.population import make_population
from gamekeeper.errors import InputError, Reason
from tests.given.microdata import OF_SCENARIO, SCENARIO, world, write, write_world

CANARY = "Zanzibarite"


def frame(n=40):
    rng = np.random.default_rng(3)
    made = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "job": rng.choice(["clerk", "baker", CANARY], n),
            "home": np.arange(n) // 2,
            "w": 50.0,
        },
        index=[f"p{place}" for place in range(n)],
    )
    made["band"] = pd.cut(made["age"], [0, 30, 40, 99])
    made["kind"] = made["job"].astype("category")
    return made


def test_records_join_the_frame_by_its_index():
    shuffled = frame().sample(frac=1, random_state=1)
    found = gk.assess(shuffled, keys=["age", "job"], weight="w")
    joined = shuffled.join(found.records())
    assert list(joined.index) == list(shuffled.index)
    alike = joined.groupby(["age", "job"])["age"].transform("size")
    assert joined["class_size"].tolist() == alike.tolist()
    # Another order of the frame has the same risk by label.
    back = joined.loc[frame().index]
    assert (
        frame()
        .join(gk.assess(frame(), keys=["age", "job"], weight="w").records())["class_size"]
        .tolist()
        == back["class_size"].tolist()
    )


def test_a_record_is_explained_by_its_label():
    people = frame()
    found = gk.assess(people, keys=["age", "job"], household="home")
    unique = found.records().query("class_size == 1").index[0]
    told = found.explain(unique)
    assert "at most 1" in told[0]
    assert "household" in told[1]
    assert told[-1].startswith("unique by ")
    place = people.index.get_loc(unique) + 1
    assert found.explain_record(place) == told


def test_a_label_that_is_not_there_or_there_twice_is_one_error_without_it():
    people = frame()
    found = gk.assess(people, keys=["age"])
    with pytest.raises(InputError, match="no such label") as caught:
        found.explain(CANARY)
    assert CANARY not in str(caught.value)
    twice = people.set_index("job")
    with pytest.raises(InputError, match="records have this label") as caught:
        gk.assess(twice, keys=["age"]).explain(CANARY)
    assert CANARY not in str(caught.value)


def test_every_kind_of_frame_and_a_file_say_the_same(tmp_path):
    people = frame()
    plain = people[["age", "job"]].reset_index(drop=True)
    path = tmp_path / "people.csv"
    plain.to_csv(path, index=False)
    arrow = pa.Table.from_pandas(plain)
    expected = gk.assess(path, keys=["age", "job"], fraction="1/50")
    for given in (plain, pl.from_pandas(plain), pl.from_pandas(plain).lazy(), arrow,
                  duckdb.from_arrow(arrow), str(path)):  # fmt: skip
        found = gk.assess(given, keys=["age", "job"], fraction=0.02)
        assert found.summary() == expected.summary()
        assert found.to_arrow() == expected.to_arrow()
    assert isinstance(gk.assess(pl.from_pandas(plain), keys="age").records(), pl.DataFrame)
    assert isinstance(gk.assess(arrow, keys="age").records(), pa.Table)


def test_cuts_and_categoricals_are_keys():
    found = gk.assess(frame(), keys=["band", "kind"])
    assert found.measured.keys.n_classes <= 9


def test_a_scenario_and_its_environment_come_as_they_are_or_by_name(tmp_path):
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    environment = world()
    by_name = gk.assess(file, scenario=SCENARIO, environment=write_world(tmp_path))
    as_they_are = gk.assess(file, scenario=environment.scenario(SCENARIO), environment=environment)
    assert by_name.to_arrow() == as_they_are.to_arrow()
    assert as_they_are.scenario == SCENARIO
    framed = gk.assess(pd.read_csv(file), scenario=SCENARIO, environment=environment)
    assert framed.summary() == by_name.summary()


def test_the_report_says_what_the_result_says(tmp_path):
    found = gk.assess(frame(), keys=["age", "job"], policy="k3", sensitive="home")
    page = found.report(tmp_path / "people.html").read_text(encoding="utf-8")
    assert found.verdict.replace("'", "&#39;") in page
    assert "not met" in page
    assert page.index("How it stands to the policy") < page.index("What drives the risk")
    without = found.report(tmp_path / "short.html", with_records=False).read_text(encoding="utf-8")
    assert CANARY in page
    assert CANARY not in without


def test_it_is_drawn_and_shown_without_values():
    found = gk.assess(
        frame(), keys=["age", "job"], policy={"policy": "x", "criteria": {"k_anonymity": 2}}
    )
    assert len(found.plot().axes) == 2
    for text in (repr(found), found._repr_html_(), json.dumps(found.parts()["verdict"])):
        assert CANARY not in text


def test_weights_below_one_are_questioned():
    people = frame().assign(w=[0.5] * 20 + [99.5] * 20)
    (notice,) = gk.assess(people, keys=["age"], weight="w").notices
    assert "20 weights of 'w' are below 1" in notice


def test_households_that_cross_strata_are_households_all_the_same():
    people = frame().assign(area=["n", "s"] * 20)
    across = gk.assess(people, keys=["age", "job"], household="home", strata="area",
                       fraction={"n": "1/50", "s": "1/10"})  # fmt: skip
    alone = gk.assess(people, keys=["age", "job"], household="home", fraction="1/50")
    assert (
        across.records()["household_match"].tolist() == alone.records()["household_match"].tolist()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "none is given"),
        ({"keys": ["age"], "scenario": "x"}, "by name and by a scenario"),
        ({"keys": ["aeg"]}, "'age'"),
        ({"keys": ["age"], "fracton": 1}, "'fraction'"),
        ({"keys": ["age"], "method": "guess"}, "is not known"),
        ({"keys": ["age"], "missing": "skip"}, "is not known"),
        ({"keys": ["age"], "fraction": 7}, "fraction"),
        ({"keys": ["age"], "household": "hoem"}, "'home'"),
        ({"keys": ["age"], "policy": "k7"}, "no such profile"),
    ],
)
def test_bad_input_is_one_clear_error(options, words):
    with pytest.raises(InputError) as caught:
        gk.assess(frame(), **options)
    assert words in str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_file_of_which_no_record_is_left_is_one_error():
    nobody = pd.DataFrame({"age": [1, None], "job": [None, "x"]})
    with pytest.raises(InputError) as caught:
        gk.assess(nobody, keys=["age", "job"], missing="exclude")
    assert caught.value.reason is Reason.NOTHING_GIVEN


KEYS = ["Age", "Sex", "Place of residence", "Tenure", "Dwelling type", "Household size"]


@cache
def norland(n=24_000):
    """Return a population and the sizes of the classes that its people are in."""
    everybody = make_population(n, seed=5).to_pandas()
    sizes = everybody.groupby(KEYS, observed=True)["Sex"].transform("size")
    return everybody, sizes.to_numpy()


def true_uniques(chosen, n=24_000):
    return int((norland(n)[1][chosen] == 1).sum())


def unequal(seed=1):
    """Return a sample whose chances vary sixfold with the place, with its weights, and who is in it."""
    everybody, _ = norland()
    group = everybody["Place of residence"].cat.codes.to_numpy() % 6
    chance = 0.03 * (1 + group)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(chance)) < chance)
    sample = everybody.iloc[chosen].assign(w=1 / chance[chosen], group=group[chosen].astype(str))
    return sample.reset_index(drop=True), chosen


@pytest.mark.slow
def test_few_weights_are_strata_and_that_is_said():
    sample, chosen = unequal()
    found = gk.assess(sample, keys=KEYS, weight="w")
    by_hand = gk.assess(sample, keys=KEYS, weight="w", strata="group")
    assert found.to_arrow() == by_hand.to_arrow()
    assert found.summary() == by_hand.summary()
    (notice,) = found.notices
    assert "'w' has 6 different weights: records of one weight are taken as a stratum" in notice
    uniques = found.measured.chances.population_uniques
    assert uniques.is_given
    assert uniques.lower <= true_uniques(chosen) <= uniques.upper
    # What was said of it when all chances were taken as equal.
    flat = gk.assess(sample, keys=KEYS, fraction=found.measured.keys.fraction)
    too_low = flat.measured.chances.population_uniques.value - true_uniques(chosen)
    assert too_low < -0.03 * true_uniques(chosen)
    assert abs(uniques.value - true_uniques(chosen)) < 0.5 * abs(too_low)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["many weights", "a fraction beside", "within strata"])
def test_where_chances_differ_and_models_take_them_as_equal_no_interval_is_given(how, tmp_path):
    sample, _ = unequal()
    options = {"fraction": "10%"} if how == "a fraction beside" else {}
    if how == "within strata":
        options = {"strata": "Sex"}
    if how == "many weights":
        sample["w"] *= np.random.default_rng(1).uniform(0.99, 1.01, len(sample))
    limits = {"policy": "x", "criteria": {"right_matches": 2_400, "unique_match": 0.99}}
    found = gk.assess(sample, keys=KEYS, weight="w", policy=limits, **options)
    assert "(no interval) of the" in found.verdict
    first = found.reservations[0]
    assert first.startswith("Weights differ by up to ")
    assert "models assume that all were drawn with equal chances" in first
    assert first in found.sentences()
    parts = found.parts()
    assert first in parts["verdict"]["reservations"]
    for name in ("right_matches", "population_uniques", "unique_match", "average"):
        assert parts["chances"][name]["value"] > 0
        assert parts["chances"][name]["lower"] is parts["chances"][name]["upper"] is None
    assert all(
        row["lower"] is None for row in parts["guidance"]["rows"] if row["value"] != row["upper"]
    )
    assert {row["standing"] for row in parts["policy"]["rows"]} == {"not proven"}
    assert all("equal chances" in row["why"] for row in parts["policy"]["rows"])
    records = found.to_arrow()
    assert records["people_upper"].null_count == len(sample)
    assert records["people_lower"].to_pylist() == records["class_size"].to_pylist()
    assert all(
        line.tau1_lower is line.tau1_upper is None for line in found.measured.variables.lines
    )
    assert found.measured.models.records.table["upper"].null_count == len(sample)
    assert "no interval" in found.explain(found.ranked().top(1)["record"][0].as_py() - 1)[1]
    assert "(no interval)" in " ".join(found.measured.models.file.sentences())
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert first in page
    assert " nan" not in page
    assert first in found._repr_html_()


def test_weights_that_hardly_differ_are_as_good_as_equal():
    sample, _ = unequal()
    sample["w"] = 10 * np.random.default_rng(1).uniform(0.97, 1.03, len(sample))
    found = gk.assess(sample, keys=KEYS, weight="w")
    assert found.measured.chances.right_matches.is_given
    assert not any("Weights differ" in line for line in found.reservations)


def whole_households(seed, n=24_000, fraction=0.05):
    everybody, _ = norland(n)
    homes = everybody["Household"].unique()
    drawn = np.random.default_rng(seed).choice(homes, round(fraction * len(homes)), replace=False)
    return np.flatnonzero(everybody["Household"].isin(drawn))


@pytest.mark.slow
def test_a_sample_of_whole_households_is_judged_by_households():
    everybody, _ = norland(60_000)
    for seed in range(3):
        chosen = whole_households(seed, 60_000)
        sample = everybody.iloc[chosen].reset_index(drop=True)
        truth = true_uniques(chosen, 60_000)
        plain = gk.assess(sample, keys=KEYS, fraction="5%").measured.chances.population_uniques
        found = gk.assess(sample, keys=KEYS, fraction="5%", household="Household")
        uniques = found.measured.chances.population_uniques
        assert uniques.lower <= truth <= uniques.upper
        assert plain.value < 0.9 * truth
        assert abs(uniques.value - truth) < 0.75 * abs(plain.value - truth)
        assert found.reservations[0].startswith("Households are taken to be in the file with all")
        assert (found.measured.chances.people_lower >= found.to_arrow()["class_size"]).all()


@pytest.mark.slow
def test_without_a_column_it_is_said_what_a_sample_is_taken_for():
    everybody, _ = norland()
    sample = everybody.iloc[whole_households(0)].reset_index(drop=True)
    plain = gk.assess(sample, keys=KEYS, fraction="5%")
    assert "(--person and --household of assess)" in plain.reservations[0]
    one_by_one = everybody.sample(1_500, random_state=1).reset_index(drop=True)
    apart = gk.assess(one_by_one, keys=KEYS, fraction="1/16", household="Household")
    assert apart.reservations[0].startswith("People are taken to be drawn one by one")
    alone = gk.assess(one_by_one, keys=KEYS, fraction="1/16")
    assert apart.measured.chances.population_uniques == alone.measured.chances.population_uniques
    # Where everybody is in the file, nothing is inferred and nothing held back.
    assert gk.assess(one_by_one, keys=KEYS, fraction=1).reservations == ()


@pytest.mark.slow
def test_one_record_of_each_person_is_assessed():
    everybody, _ = norland()
    people = everybody.sample(1_200, random_state=1).reset_index(drop=True).assign(who=range(1_200))
    twice = pd.concat([people, people.iloc[:300]], ignore_index=True)
    found = gk.assess(twice, keys=KEYS, person="who", fraction="5%", policy="k3")
    once = gk.assess(people, keys=KEYS, person="who", fraction="5%")
    assert found.measured.chances.right_matches == once.measured.chances.right_matches
    assert "300 further records of the same people were left out" in found.reservations[0]
    assert not any("more than once" in line for line in found.reservations)
    low = {"policy": "x", "criteria": {"right_matches": 1_200, "share_of_uniques": 1}}
    rows = gk.assess(twice, keys=KEYS, person="who", fraction="5%", policy=low).parts()["policy"][
        "rows"
    ]
    assert {row["standing"] for row in rows} == {"not proven"}
    assert all("further records of the same people" in row["why"] for row in rows)
    with pytest.raises(InputError, match="column 'nobody': It is not in the data"):
        gk.assess(twice, keys=KEYS, person="nobody")


def test_reservations_stand_by_the_verdict():
    everybody, _ = norland()
    sample = everybody.sample(1_200, random_state=2).reset_index(drop=True)
    found = gk.assess(sample, keys=KEYS[:4], fraction="5%")
    told = found.sentences()
    assert told[0] == found.verdict
    assert told[1 : 1 + len(found.reservations)] == list(found.reservations)
    assert found.measured.models.reservations == found.reservations
    for line in found.reservations:
        assert line in found.measured.models.told
    in_question = found.measured.models.estimate.calibration.repeats_in_question
    assert in_question
    assert any("more than once" in line for line in found.reservations)


def test_nothing_is_said_of_intervals_that_are_not_given():
    everybody, _ = norland()
    sample = everybody.sample(1_200, random_state=2).reset_index(drop=True)
    sample["w"] = np.random.default_rng(1).uniform(5, 35, len(sample))
    found = gk.assess(sample, keys=KEYS[:4], weight="w")
    (line,) = (line for line in found.reservations if "more than once" in line)
    assert "how much that changes is not told without intervals" in line
    assert not any("the intervals" in line.lower() for line in found.reservations)
    assert "without intervals" in found.provenance.variant


def with_missing(share=0.1):
    """Return a sample, and the same with some cells of its keys missing."""
    everybody, _ = norland()
    chosen = np.random.default_rng(3).choice(24_000, 2_400, replace=False)
    sample = everybody.iloc[chosen][KEYS].astype(str).reset_index(drop=True)
    lacking = np.random.default_rng(4).random(sample.shape) < share
    return sample, sample.mask(lacking)


def n_uniques(frame, matches):
    """Count, pair by pair, the records that no other one matches."""
    codes = frame.apply(lambda column: column.astype("category").cat.codes + 1).to_numpy()
    return sum(matches(row, codes).all(axis=1).sum() == 1 for row in codes)


@pytest.mark.slow
def test_missing_cells_are_told_with_what_each_reading_of_them_says():
    sample, lacking = with_missing()
    whole = gk.assess(sample, keys=KEYS, fraction="10%")
    found = gk.assess(lacking, keys=KEYS, fraction="10%")
    # As a category of its own a missing cell makes a record unlike all others.
    right = found.measured.chances.right_matches
    assert right.lower > whole.measured.chances.right_matches.upper
    assert not any("missing cell" in line for line in whole.reservations)
    (told,) = (line for line in found.reservations if "missing cell" in line)
    n_lacking = int(lacking.isna().any(axis=1).sum())
    assert told.startswith(f"{n_lacking:,} of 2,400 records have a missing cell among their key")
    as_category = n_uniques(lacking, lambda row, codes: codes == row)
    ignored = n_uniques(lacking, lambda row, codes: (codes == row) | (row == 0))
    anything = n_uniques(lacking, lambda row, codes: (codes == row) | (row == 0) | (codes == 0))
    assert as_category > ignored > anything
    assert f"{as_category:,} records are unique where missing is a category" in told
    assert f"{ignored:,} where a missing cell never equals" in told
    assert f"{anything:,} where a missing cell matches anything" in told
    assert told.endswith("are likely too high.")
    assert told in found.sentences()
    assert told in found.measured.models.told
    assert told in found.measured.matching.sentences()
    bound = gk.assess(lacking, keys=KEYS, missing="wildcard")
    (line,) = bound.reservations
    assert f"{anything:,} where a missing cell matches anything (--missing)." in line


def test_records_that_are_left_out_for_missing_cells_are_counted_beside_the_verdict():
    _, lacking = with_missing()
    n_left = int(lacking.isna().any(axis=1).sum())
    found = gk.assess(lacking, keys=KEYS, fraction="10%", missing="exclude")
    (told,) = (line for line in found.reservations if "missing cell" in line)
    assert told.startswith(f"{n_left:,} of 2,400 records (")
    assert "left out for a missing cell: nothing is said of them" in told
    assert "likely too high" in told
