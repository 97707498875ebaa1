"""`gamekeeper assess`: the verdict first, the same numbers for programs, exit code 4 for a policy."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import gamekeeper as gk
from tests.given.microdata import OF_SCENARIO, SCENARIO, write, write_world


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """A file that is large enough for models."""
    rng = np.random.default_rng(5)
    age = rng.integers(1, 9, 1100)
    job = np.where(rng.random(1100) < 0.6, age, rng.integers(1, 9, 1100))
    lines = [f"{a},{j},{p}" for a, j, p in zip(age, job, rng.integers(1, 9, 1100), strict=True)]
    folder = tmp_path_factory.mktemp("larger")
    return write(folder, "larger.csv", "Age,Job,Place\n" + "\n".join(lines) + "\n")


def test_the_first_line_is_the_verdict(run, people):
    done = run("assess", people, "--keys", "Age,Sex,Status")
    assert done.exit_code == 0
    first = done.out.splitlines()[0]
    assert first.startswith("Of 12 records, 2 (16.7%) are unique on the key variables")
    for heading in (
        "What drives the risk:",
        "What to do about it:",
        "What guidance on anonymity asks:",
    ):
        assert heading in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "code"), [("k2", 4), ("hdx", 4), ("mild.json", 0), ("doubtful.json", 4)]
)
def test_a_policy_that_is_not_met_or_not_proven_ends_with_4_and_the_result_is_printed(
    run, people, tmp_path, policy, code
):
    write(tmp_path, "mild.json", '{"policy": "mild", "criteria": {"share_of_uniques": 0.5}}')
    write(tmp_path, "doubtful.json", '{"policy": "doubt", "criteria": {"right_matches": 1}}')
    given = tmp_path / policy if policy.endswith(".json") else policy
    report = tmp_path / "people.html"
    told = {}
    for how, more in (
        ("table", ("--report", report) if policy == "k2" else ()),
        ("json", ()),
        ("csv", ()),
    ):
        done = run(
            "assess", people, "-k", "Age,Sex,Status", "--policy", given, "--format", how, *more
        )
        assert done.exit_code == code
        assert done.out
        assert report.exists() == (policy == "k2")
        assert "Traceback" not in done.err
        told[how] = done.out
    found = json.loads(told["json"])
    assert (found["parts"]["policy"]["standing"] == "met") == (code == 0)


def test_a_policy_that_cannot_be_read_ends_with_2_before_any_work(run, people, tmp_path):
    bad = write(tmp_path, "bad.json", '{"policy": "x", "criteria": {"k": 3, "global_risk": 30}}')
    report = tmp_path / "people.html"
    done = run("assess", people, "-k", "Age", "--policy", bad, "--report", report)
    assert done.exit_code == 2
    assert not done.out
    assert not report.exists()
    assert "'k'" in done.err
    assert "from 0 to 1" in done.err


def test_library_and_prompt_give_the_same(run, larger):
    printed = run("assess", larger, "-k", "Age,Job,Place", "-f", "5%", "--format", "json")
    told = json.loads(printed.out)
    found = gk.assess(larger, keys=["Age", "Job", "Place"], fraction="5%")
    assert told["parts"]["verdict"]["verdict"] == found.verdict
    assert told["summary"] == found.summary()
    assert [row["p_match"] for row in told["rows"]] == pytest.approx(
        found.to_arrow()["p_match"].to_pylist()
    )
    assert (
        told["parts"]["chances"]["right_matches"]["upper"]
        == found.measured.chances.right_matches.upper
    )


def test_a_scenario_gives_the_keys_and_files_are_written(run, tmp_path):
    file = write(tmp_path, "clerk.csv", OF_SCENARIO)
    done = run("assess", file, "--scenario", SCENARIO, "-e", write_world(tmp_path),
               "--records", tmp_path / "r.csv", "--plot", tmp_path / "p.svg")  # fmt: skip
    assert done.exit_code == 0
    assert (tmp_path / "r.csv").read_text().startswith('"record","class_size","p_match"')
    assert (tmp_path / "p.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-k", "Age", "--explain", "99"), "records 1 to 12"),
        (("-k", "Age", "--household", "Hause"), "not in the data"),
        ((), "none is given"),
    ],
)
def test_bad_input_is_one_clear_error(run, people, options, words):
    done = run("assess", people, *options)
    assert done.exit_code == 2
    assert words in done.err


@pytest.mark.slow
def test_your_own_names_of_records_stand_beside_their_numbers(run, tmp_path):
    text = "Name,Age,Sex\nann-77,1,f\nbob-78,1,f\ncid-79,2,m\n"
    file = write(tmp_path, "named.csv", text)
    asked = ("assess", file, "-k", "Age,Sex", "--id", "Name")
    made, page = tmp_path / "r.csv", tmp_path / "r.html"
    told = run(*asked, "--records", made, "--report", page)
    assert told.exit_code == 0
    lines = [line for line in told.out.splitlines() if "cid-79" in line]
    assert lines[0].split()[:2] == ["3", "cid-79"]
    assert made.read_text().splitlines()[3].startswith('3,"cid-79",1')
    assert "cid-79" in page.read_text(encoding="utf-8")
    document = json.loads(run(*asked, "--format", "json").out)
    assert [row["Name"] for row in document["rows"]] == ["ann-77", "bob-78", "cid-79"]
    assert {row["Name"] for row in document["parts"]["why"]["rows"] if row["record"] == 3} == {
        "cid-79"
    }
    assert "cid-79" not in run(*asked, "--no-records").out
    frame = pd.read_csv(file)
    found = gk.assess(frame, keys=["Age", "Sex"], identifier="Name")
    assert frame.join(found.records()).loc[2, ["Name", "class_size"]].tolist() == ["cid-79", 1]
    assert "cid-79" not in repr(found)
    assert run(*asked[:-1], "Nmae").exit_code == 2
