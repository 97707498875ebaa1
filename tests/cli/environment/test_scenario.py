from __future__ import annotations

import json
from pathlib import Path

import pytest

import gamekeeper as gk
from tests.given.stores import copy_of


@pytest.fixture
def store(run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GAMEKEEPER_WHO", "ann")

    def make(path: Path) -> None:
        assert run("env", "import", folder, path).exit_code == 0

    return copy_of("small", tmp_path / "small.gk", make)


def save(run, store: Path, *more: object):
    return run("scenario", "save", store, "A clerk", "Census", "-g", "Commercial", "-p", "1",
               "--attacker", "Somebody at a bank", "--no-strict", *more)  # fmt: skip


def test_a_scenario_is_saved_listed_and_shown(run, store):
    told = save(run, store)
    assert told.exit_code == 0, told.err
    assert "Revision 2: Save the scenario 'A clerk'" in told.out
    assert "Age at H2.001, because 2 of 2 forms" in told.out
    told = run("scenario", "list", store, "--format", "json")
    (row,) = json.loads(told.out)["rows"]
    assert row["scenario"] == "A clerk"
    assert row["stale"] == "no"
    told = run("scenario", "show", store, "A clerk")
    assert "attacker: Somebody at a bank" in told.out
    assert "group 'Commercial' (2 forms, typical)" in told.out
    assert "prevalence: 100%" in told.out
    assert "changed since" not in told.out


def test_a_scenario_says_when_the_environment_has_changed(run, store):
    save(run, store)
    assert "Nothing has changed" in run("scenario", "review", store, "A clerk").out
    run("form", "ask", store, "Bank", "Age", "--any-detail")
    told = run("scenario", "list", store, "--format", "json")
    assert json.loads(told.out)["rows"][0]["stale"] == "yes"
    told = run("scenario", "show", store, "A clerk")
    assert "! The environment has changed since. The scenario 'A clerk' may be stale" in told.out
    told = run("scenario", "review", store, "A clerk")
    assert told.exit_code == 0
    assert "revision 1 then, 3 now" in told.out
    assert "C4.001" in told.out
    run("env", "undo", store)
    document = json.loads(run("scenario", "review", store, "A clerk", "--format", "json").out)
    assert document["summary"]["current"] is True


def test_a_change_elsewhere_leaves_a_scenario_fresh(run, store, tmp_path):
    save(run, store)
    run("form", "add", store, "Post", "-a", "Sex=female; male")
    told = run("scenario", "show", store, "A clerk")
    assert "changed since, in nothing that this scenario rests on" in told.out
    assert "stale" not in told.out
    listed = run("scenario", "list", store, "--format", "json")
    assert json.loads(listed.out)["rows"][0]["stale"] == "no"
    # A folder has no revisions; there, only what the scenario rests on counts.
    run("env", "export", store, tmp_path / "out")
    assert "changed since" not in run("scenario", "show", tmp_path / "out", "A clerk").out
    listed = run("scenario", "list", tmp_path / "out", "--format", "json")
    assert json.loads(listed.out)["rows"][0]["stale"] == "no"


def test_a_review_is_accepted_as_an_edit_that_can_be_undone(run, store):
    save(run, store)
    run("form", "ask", store, "Bank", "Age", "--any-detail")
    before = run("scenario", "show", store, "A clerk").out
    assert "`gamekeeper scenario renew` accepts it" in before.replace("\n  ", " ")
    told = run("scenario", "renew", store, "A clerk", "--note", "seen")
    assert told.exit_code == 0, told.err
    assert "C4.001" in told.out
    assert "stale" not in told.out
    assert "Save the scenario 'A clerk'" in told.out
    now = run("scenario", "show", store, "A clerk").out
    assert "stale" not in now
    assert "C4.001" in now
    (line, *_) = json.loads(run("env", "history", store, "--format", "json").out)["rows"]
    assert (line["who"], line["note"]) == ("ann", "seen")
    assert "Nothing has changed" in run("scenario", "review", store, "A clerk").out
    assert run("env", "undo", store).exit_code == 0
    assert run("scenario", "show", store, "A clerk").out == before
    told = run("scenario", "renew", store, "A clark")
    assert told.exit_code == 2
    assert "A clerk" in told.err


def test_a_review_without_an_analysis_has_no_numbers(run, store):
    save(run, store)
    run("form", "remove", store, "Census")
    told = run("scenario", "review", store, "A clerk")
    assert told.exit_code == 0, told.err
    assert "None" not in told.out
    (line,) = [line for line in told.out.splitlines() if line.startswith(" Age")]
    assert line.split() == ["Age", "H2.001", "2", "of", "2", "—", "H2.001", "—"]


def test_keys_and_codes_can_be_chosen(run, store):
    told = save(run, store, "-k", "Age=H1.001")
    assert told.exit_code == 2
    assert "H1.001" in told.err
    assert save(run, store, "-k", "Agge").exit_code == 2
    assert save(run, store, "-k", "Age", "-k", "Age").exit_code == 2
    told = save(run, store, "-k", "Age")
    assert told.exit_code == 0, told.err
    with gk.EnvironmentStore.open(store, readonly=True) as opened:
        assert [key.code for key in opened.environment().scenario("A clerk").keys] == ["H2.001"]


def test_a_scenario_is_exported_replaced_renamed_and_removed(run, store, tmp_path):
    save(run, store)
    file = tmp_path / "clerk.json"
    assert run("scenario", "export", store, "A clerk", file).exit_code == 0
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["key_variables"][0]["blocks"]
    assert save(run, store).exit_code == 2
    assert save(run, store, "--replace").exit_code == 0
    assert run("scenario", "rename", store, "A clerk", "Clerk").exit_code == 0
    assert run("scenario", "remove", store, "Clerk").exit_code == 0
    assert json.loads(run("scenario", "list", store, "--format", "json").out)["rows"] == []
    told = run("scenario", "show", store, "Clerk")
    assert told.exit_code == 2
    run("env", "undo", store)
    assert run("scenario", "show", store, "Clerk").exit_code == 0


def test_scenarios_travel_with_the_folder(run, store, tmp_path):
    save(run, store)
    run("env", "export", store, tmp_path / "out")
    assert (tmp_path / "out" / "scenarios" / "a-clerk.json").exists()
    assert "A clerk" in run("scenario", "list", tmp_path / "out").out
    assert run("scenario", "review", tmp_path / "out", "A clerk").exit_code == 0
    told = run("scenario", "save", tmp_path / "out", "B", "Census")
    assert told.exit_code == 2
