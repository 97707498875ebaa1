"""The assessment in one call, from Python: frames, labels, scenarios, and what cannot be assessed."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gamekeeper as gk
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
