"""Who counts, at the prompt: an engine that is not there, one that is not used, one for all commands."""

from __future__ import annotations

import json

import pytest

from gamekeeper.workbench import microdata as engines
from tests.given.far_engine import FarEngine
from tests.given.microdata import KEYS

ALL = ",".join(KEYS)


@pytest.fixture
def far(monkeypatch):
    with FarEngine() as engine:
        monkeypatch.setitem(engines._opened, ("far", ""), engine)
        yield engine


def document(told):
    assert told.exit_code == 0, told.err
    found = json.loads(told.out)
    for part in (found, *found["parts"].values()):
        if isinstance(part, dict) and "provenance" in part:
            part["provenance"] = {**part["provenance"], "engine": "", "seconds": 0}
    return found


@pytest.mark.parametrize(
    "command", ["keys", "dis -f 1/2", "match -f 1/2", "measures", "suda -f 1/2 --workers 1"]
)
def test_the_answer_is_that_of_this_machine(run, people, far, command):
    name, *options = command.split()
    asked = ("risk", name, people, "-k", ALL, *options, "--format", "json")
    here, there = run(*asked), run(*asked, "--engine", "far")
    assert document(here) == document(there)
    assert json.loads(there.out)["provenance"]["engine"] == far.name


def test_the_environment_names_it_and_an_option_comes_first(run, people, far, monkeypatch):
    monkeypatch.setenv("GAMEKEEPER_ENGINE", "far")
    told = run("risk", "keys", people, "-k", ALL)
    assert told.exit_code == 0
    assert far.name in told.out
    monkeypatch.setenv("GAMEKEEPER_ENGINE", "nonsense")
    assert run("risk", "keys", people, "-k", ALL).exit_code == 2
    assert run("risk", "keys", people, "-k", ALL, "--engine", "duckdb").exit_code == 0


def test_what_one_machine_does_says_so_and_is_done(run, people, monkeypatch):
    monkeypatch.setenv("GAMEKEEPER_ENGINE", "sc://host:15002/;token=s3cret")
    told = run("look", people)
    assert told.exit_code == 0
    assert "this machine alone" in told.err.replace("\n", " ")
    assert "s3cret" not in told.err + told.out
    monkeypatch.setenv("GAMEKEEPER_ENGINE", "duckdb")
    assert "this machine alone" not in run("look", people).err


def test_a_cluster_that_is_not_there_is_one_clear_error(run, people, tmp_path):
    pytest.importorskip("pyspark")
    output = tmp_path / "classes.parquet"
    told = run("risk", "keys", people, "-k", ALL, "--engine", "spark://127.0.0.1:9", "-o", output)
    assert told.exit_code in (2, 3, 5)
    assert told.err.count("gamekeeper:") == 1
    assert "Traceback" not in told.err
    assert not output.exists()


@pytest.mark.parametrize(
    "options",
    [
        "-k nothere",
        "--fraction abc",
        "--fraction 5",
        "--fraction A=2%",
        "--strata region",
        "--strata nothere --fraction A=2%",
        "--strata region --fraction A=7",
        "--weight nothere",
        "--recode Age",
        "--recode {0}=wdith",
        "--recode nothere=together",
        "--recode {1}=together",
    ],
)
@pytest.mark.parametrize("command", ["assess", "risk keys", "risk measures", "risk match"])
def test_a_bad_option_is_told_before_a_cluster_is_reached(
    run, people, monkeypatch, command, options
):
    def reached(*_, **__):
        pytest.fail("a cluster was reached for")

    monkeypatch.setattr("gamekeeper.data.engine.duckdb_engine.open_engine", reached)
    asked = (*command.split(), people, "-k", KEYS[0], *options.format(*KEYS).split())
    there = run(*asked, "--engine", "spark://nowhere:1")
    assert there.exit_code == 2
    here = run(*asked)
    assert here.exit_code == 2
    if "--recode" not in options and "A=7" not in options:
        # Of recodings more is known where the file was read.
        assert there.err == here.err
