"""The commands on stores: environments, forms, variables, groups and the shell."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gamekeeper as gk
from gamekeeper.cli.environment.edits import names_in
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.given.stores import copy_of


@pytest.fixture(autouse=True)
def who(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAMEKEEPER_WHO", "ann")


@pytest.fixture
def store(run, folder: Path, tmp_path: Path) -> Path:
    def make(path: Path) -> None:
        assert run("env", "import", folder, path).exit_code == 0

    return copy_of("small", tmp_path / "small.gk", make)


@pytest.fixture
def does(run, store: Path):
    """Run a command that should work, and return what it prints."""

    def call(*arguments: object) -> str:
        told = run(*arguments)
        assert told.exit_code == 0, told.err
        return told.out

    return call


def environment_of(store: Path) -> gk.Environment:
    with gk.EnvironmentStore.open(store, readonly=True) as opened:
        return opened.environment()


def test_a_new_store_is_empty_and_named(does, tmp_path):
    path = tmp_path / "new.gk"
    does("env", "new", path, "--name", "Norland", "--description", "Forms")
    made = environment_of(path)
    assert (made.name, made.description, made.forms) == ("Norland", "Forms", {})


def test_import_and_export_lose_nothing(does, store, folder, tmp_path):
    does("env", "export", store, tmp_path / "out")
    once = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*.json")}
    again = {
        p.relative_to(tmp_path / "out"): p.read_bytes() for p in (tmp_path / "out").rglob("*.json")
    }
    assert again == once


def test_import_does_not_overwrite_unless_told(run, does, store, folder):
    told = run("env", "import", folder, store)
    assert told.exit_code == 2
    does("form", "remove", store, "Bank")
    assert "Revision 3" in does("env", "import", folder, store, "--replace")
    assert "Bank" in environment_of(store).forms


def test_map_graph_and_check_take_a_store(run, store, folder):
    for command in (
        ("map", "Census", "-p", "50%", "--no-strict"),
        ("graph", "Age"),
        ("graph", "Age", "--kind", "partition"),
        ("check",),
    ):
        one = run(command[0], folder, *command[1:])
        other = run(command[0], store, *command[1:])
        assert (one.exit_code, one.out) == (other.exit_code, other.out)
    assert run("graph", store).exit_code == 2
    assert run("check", store, "--assign").exit_code == 2


def test_forms_are_listed_filtered_sorted_and_paged(does, store):
    does("form", "set", store, "Bank", "sector=bank", "year=2030")
    does("form", "set", store, "Shop", "sector=shop", "year=2029")
    assert "5 forms" in does("form", "list", store)
    told = does("form", "list", store, "-w", "year >= 2029", "--sort", "year", "--format", "json")
    document = json.loads(told)
    assert [row["form"] for row in document["rows"]] == ["Shop", "Bank"]
    assert document["rows"][1]["year"] == 2030
    paged = does("form", "list", store, "--sort", "form", "--page", "2", "--per-page", "2")
    assert "forms 3 to 4 of 5; next: --page 3" in paged
    assert "Census" not in paged
    rows = list(csv.DictReader(io.StringIO(does("form", "list", store, "--format", "csv"))))
    assert len(rows) == 5


def test_a_query_that_nobody_can_answer_names_near_keys(run, does, store):
    does("form", "set", store, "Bank", "sector=bank")
    told = run("form", "list", store, "-w", "sektor = bank")
    assert told.exit_code == 2
    assert "'sector'" in told.err
    assert run("form", "list", store, "-w", "sector = ").exit_code == 2


def test_a_form_is_added_shown_changed_renamed_and_removed(run, does, store):
    does("form", "add", store, "Club", "-s", "year=2031", "-s", "Form Type=Paper",
         "-a", "Age=0-17; 18-64; 65+", "-a", "Sex=")  # fmt: skip
    made = environment_of(store).form("Club")
    assert made.instances == {"Age": ("0-17", "18-64", "65+"), "Sex": ()}
    assert made.metadata == {"year": 2031, "Form Type": "Paper"}
    does("form", "add", store, "Team", "--like", "Club", "-s", "year=2032")
    assert environment_of(store).form("Team").metadata == {"year": 2032, "Form Type": "Paper"}
    told = does("form", "show", store, "Club")
    assert "Form Type: Paper" in told
    assert "any level of detail" in told
    does("form", "ask", store, "Club", "Sex", "female", "male")
    does("form", "drop", store, "Club", "Age")
    does("form", "set", store, "Club", "--remove", "year")
    does("form", "rename", store, "Club", "The club")
    made = environment_of(store).form("The club")
    assert made.instances == {"Sex": ("female", "male")}
    assert made.metadata == {"Form Type": "Paper"}
    does("form", "remove", store, "The club")
    assert "The club" not in environment_of(store).forms
    for wrong in (
        ("form", "ask", store, "Bank", "Sex"),
        ("form", "ask", store, "Bank", "Sex", "female", "--any-detail"),
        ("form", "ask", store, "Bank", "Sex", "female"),
        ("form", "set", store, "Bank"),
        ("form", "set", store, "Bank", "sector"),
        ("form", "add", store),
        ("form", "add", store, "X", "-a", "Age"),
        ("form", "add", store, "BANK"),
        ("form", "show", store, "Bnak"),
    ):
        told = run(*wrong)
        assert told.exit_code == 2, wrong
        assert told.err.startswith("gamekeeper: ")


def test_a_form_comes_from_a_file(does, run, store, tmp_path):
    file = tmp_path / "form.json"
    file.write_text(json.dumps({"name": "Gym", "metadata": {}, "variables": {"Sex": []}}))
    does("form", "add", store, "--file", file)
    assert environment_of(store).form("Gym").instances == {"Sex": ()}
    file.write_text('{"name": "SECRET-CANARY", "variables": 3}')
    told = run("form", "add", store, "--file", file)
    assert told.exit_code == 2
    assert "CANARY" not in told.err


def test_a_variable_grows_and_keeps_its_codes(run, does, store):
    does("variable", "add", store, "Country", "-c", "England", "-c", "Wales", "-c", "Other")
    does("form", "ask", store, "Bank", "Country", "England", "Wales", "Other")
    code = environment_of(store).code_of("Bank", "Country")
    does("variable", "rename-category", store, "Country", "Other", "Not here")
    does("variable", "split", store, "Country", "Not here", "Scotland", "Abroad")
    does("variable", "join", store, "Country", "Britain", "England", "Wales", "Scotland")
    does("variable", "describe", store, "Country", "Where people live")
    does("variable", "rename", store, "Country", "Country of residence")
    made = environment_of(store)
    assert made.form("Bank").instances["Country of residence"] == ("England", "Wales", "Not here")
    assert made.code_of("Bank", "Country of residence") == code
    told = does("variable", "show", store, "Country of residence")
    assert "Where people live" in told
    assert "1 form asks for it" in told
    refused = run("variable", "remove-category", store, "Country of residence", "Not here")
    assert refused.exit_code == 2
    assert "[unsafe-edit]" in refused.err
    assert run("variable", "remove", store, "Country of residence").exit_code == 2
    assert "variables" in does("variable", "list", store, "--sort", "forms", "-d")


def test_the_unrestricted_editor_shows_first_what_would_break(run, does, store):
    before = environment_of(store)
    told = run("variable", "remove-category", store, "Tenure", "social", "--unrestricted")
    assert told.exit_code == 2
    assert "Landlord" in told.out
    assert "Nothing was changed. Add --yes" in told.out
    assert environment_of(store).forms == before.forms
    does("variable", "remove-category", store, "Tenure", "social", "--unrestricted", "--yes")
    assert "(unrestricted)" in does("env", "history", store)
    assert environment_of(store).form("Landlord").instances["Tenure"] == ("private",)


def test_bands_and_orders(does, run, store, tmp_path):
    does("variable", "add-bands", store, "Age", "25-44", "45-64")
    assert "25-44" in environment_of(store).variable("Age").graph.sinks
    assert run("variable", "remove-bands", store, "Age", "25-44", "45-64").exit_code == 2
    does("variable", "remove-bands", store, "Age", "25-44", "45-64", "--unrestricted", "--yes")
    does("variable", "add", store, "Health", "--ordinal", "-c", "good", "-c", "bad")
    file = tmp_path / "health.json"
    tree = {"name": "Health", "scale": "ordinal", "order": ["good", "fair", "bad"]}
    tree["categories"] = {"good": [], "fair": [], "bad": []}
    file.write_text(json.dumps(tree))
    assert run("variable", "replace", store, "Health", file).exit_code == 2
    does("variable", "replace", store, "Health", file, "--unrestricted", "--yes")
    does("variable", "order", store, "Health", "bad", "fair", "good")
    assert environment_of(store).variable("Health").graph.sinks == ("bad", "fair", "good")
    does("variable", "split", store, "Health", "bad", "very poor", "poor")
    does("variable", "join", store, "Health", "any", "very poor", "poor", "fair", "good")
    does("variable", "set-parts", store, "Health", "any", "bad", "fair", "good")
    assert environment_of(store).variable("Health").graph.children("any") == ("bad", "fair", "good")
    does("variable", "add", store, "Copy", "--file", file)
    does("variable", "remove", store, "Copy")


@pytest.mark.parametrize(
    "wrong",
    [
        ("X",),
        ("X", "-c", "a", "-b", "0-1"),
        ("X", "-c", "a", "-c", "a"),
        ("Ägé", "-c", "a"),
        ("X", "-c", "any: a; b", "-c", "other: b; c", "-c", "top: any; other"),
    ],
)
def test_a_variable_that_cannot_be(run, store, wrong):
    told = run("variable", "add", store, *wrong)
    assert told.exit_code == 2
    assert told.err.startswith("gamekeeper: ")


def test_a_split_into_one_part_is_refused_in_one_error(run, does, store):
    told = run("variable", "split", store, "Tenure", "owns", "outright")
    assert told.exit_code == 2
    assert "'split-category'" in told.err
    assert "into: 1 is given, and 2 or more are needed." in told.err
    does("variable", "split", store, "Tenure", "owns", "outright", "with a loan")


def test_parts_must_be_given_and_be_others(run, does, store):
    assert run("variable", "set-parts", store, "Tenure", "owns").exit_code == 2
    told = run("variable", "set-parts", store, "Tenure", "rents", "social", "private")
    assert told.exit_code == 2
    assert "It has these already: 'private', 'social'." in told.err
    assert "5 forms" in does("form", "list", store)
    with gk.EnvironmentStore.open(store, readonly=True) as opened:
        assert opened.revision == 1


def test_a_page_that_is_not_there_is_refused(run, store):
    told = run("form", "list", store, "--page", "99")
    assert told.exit_code == 2
    assert "Page 99 of forms was asked for. There is 1 page." in told.err
    told = run("form", "list", store, "--page", "4", "--per-page", "2")
    assert "There are 3 pages. Give a page from 1 to the last." in told.err


def test_groups_by_hand_by_query_and_from_groups(does, run, store):
    does("form", "set", store, "Bank", "Form Type=On-line")
    does("group", "add", store, "Hand", "Shop", "Clinic", "--description", "By hand")
    does("group", "add", store, "On-line", "--where", "Form Type = On-line")
    does("group", "add", store, "All", "--union", "Hand", "--union", "On-line")
    does("group", "add", store, "Both", "--intersection", "All", "--intersection", "Commercial")
    does("group", "add", store, "Rest", "--difference", "All", "--difference", "Hand")
    made = environment_of(store)
    assert set(made.group("All").forms) == {"Bank", "Shop", "Clinic"}
    assert set(made.group("Both").forms) == {"Bank", "Shop"}
    assert made.group("Rest").forms == ("Bank",)
    assert "where Form Type = On-line" in does("group", "list", store)
    assert "Clinic" in does("group", "show", store, "All")
    assert run("group", "remove", store, "Hand").exit_code == 2
    does("group", "change", store, "Rest", "Landlord")
    does("group", "rename", store, "Hand", "By hand")
    assert environment_of(store).group("All").forms
    does("group", "remove", store, "Rest")
    assert run("group", "add", store, "Empty", "--where", "a = 1", "--union", "All").exit_code == 2
    assert run("group", "add", store, "Empty").exit_code == 2


def test_history_undo_redo_and_the_past(does, run, store, tmp_path):
    does("form", "rename", store, "Bank", "The bank", "--note", "as it says")
    does("form", "remove", store, "Shop", "--who", "bob")
    told = does("env", "history", store)
    assert "Rename the form 'Bank' to 'The bank'." in told
    assert "as it says" in told
    assert "bob" in told
    only = json.loads(does("env", "history", store, "--form", "Shop", "--format", "json"))
    assert [row["revision"] for row in only["rows"]] == [3]
    assert json.loads(does("env", "history", store, "--by", "ann", "--format", "json"))[
        "summary"
    ]["total"] == 2  # fmt: skip
    refused = run("env", "undo", store)
    assert refused.exit_code == 2
    assert "bob" in refused.err
    does("env", "undo", store, "--anyone")
    assert "Shop" in environment_of(store).forms
    does("env", "redo", store)
    assert "Shop" not in environment_of(store).forms
    assert "Bank" in does("form", "list", store, "--as-of", "1")
    does("env", "export", store, tmp_path / "past", "--as-of", "2")
    assert set(gk.read_environment(tmp_path / "past").forms) >= {"The bank", "Shop"}
    for wrong in ("0", "99", "yesterday", "2001-01-01"):
        assert run("form", "list", store, "--as-of", wrong).exit_code == 2
    assert run("env", "history", store, "--form", "a", "--group", "b").exit_code == 2


def test_a_stale_edit_says_what_changed_meanwhile(does, run, store):
    does("form", "set", store, "Bank", "year=2030", "--who", "bob")
    told = run("form", "set", store, "Bank", "year=2031", "--base", "1")
    assert told.exit_code == 2
    assert "[stale]" in told.err
    assert "bob" in told.err
    does("form", "set", store, "Shop", "year=2031", "--base", "1")
    does("form", "set", store, "Bank", "year=2031", "--base", "3")


def test_edits_come_from_a_file_all_or_none(does, run, store, tmp_path):
    file = tmp_path / "edits.json"
    edits = [
        {"edit": "rename-form", "form": "Bank", "to": "The bank"},
        {"edit": "remove-form", "form": "Shop"},
    ]
    file.write_text(json.dumps([*edits, {"edit": "remove-form", "form": "Nobody"}]))
    before = environment_of(store).forms
    assert run("env", "edit", store, file).exit_code == 2
    assert environment_of(store).forms == before
    file.write_text(json.dumps(edits))
    does("env", "edit", store, file)
    assert {"Bank", "Shop"}.isdisjoint(environment_of(store).forms)
    file.write_text('[{"edit": "SECRET-CANARY"}, 3]')
    told = run("env", "edit", store, file)
    assert told.exit_code == 2
    assert "CANARY" not in told.err
    assert "edit 2" in told.err
    assert run("env", "edit", store, tmp_path / "nothing.json").exit_code == 2


def test_a_damaged_store_is_restored(does, run, store):
    does("form", "remove", store, "Shop")
    does("env", "backup", store)
    store.write_bytes(store.read_bytes()[:5_000])
    told = run("form", "list", store)
    assert told.exit_code == 2
    assert "env restore" in told.err
    does("env", "restore", store)
    assert "Shop" not in environment_of(store).forms
    assert "Bank" in environment_of(store).forms


def test_a_backup_that_was_asked_for_is_kept_listed_and_restored_by_name(does, run, store):
    told = does("env", "backup", store, "--name", "Before the census")
    assert "small.gk.backup-before-the-census-" in told
    does("form", "remove", store, "Shop")
    does("form", "remove", store, "Bank")
    rows = json.loads(does("env", "backups", store, "--format", "json"))["rows"]
    found = {row["backup"]: row["revision"] for row in rows}
    assert found == {"automatic": 3, "before-the-census": 1}
    told = does("env", "restore", store, "--from", "Before the census")
    assert "from before-the-census of 20" in told
    assert "small.gk.replaced-20" in told
    assert {"Shop", "Bank"} <= set(environment_of(store).forms)
    assert "damaged" not in "".join(file.name for file in store.parent.iterdir())
    told = run("env", "restore", store, "--from", "before the consensus")
    assert told.exit_code == 2
    assert "'before-the-census'" in told.err
    does("env", "restore", store, "--from", "replaced")
    assert "Shop" not in environment_of(store).forms


def test_show_and_describe(does, run, store):
    does("env", "describe", store, "--description", "For tests")
    told = does("env", "show", store)
    assert "For tests" in told
    assert "revision 2" in told
    assert run("env", "describe", store).exit_code == 2


def test_a_folder_is_shown_but_edited_by_way_of_a_store(does, run, folder):
    assert "folder" in does("env", "show", folder)
    assert "5 forms" in does("form", "list", folder)
    told = run("form", "remove", folder, "Bank")
    assert told.exit_code == 2
    assert "gamekeeper env import" in told.err
    assert run("form", "list", folder, "--as-of", "1").exit_code == 2


def test_an_edit_is_acknowledged_as_json(does, store):
    document = json.loads(does("form", "remove", store, "Shop", "--format", "json"))
    (row,) = document["rows"]
    assert row["revision"] == 2
    assert row["who"] == "ann"
    assert row["what"] == "Remove the form 'Shop'."


def test_the_shell_runs_a_command(does, run, store, folder, monkeypatch):
    assert "Shop" in does("shell", store, "-c", "print(list(environment.forms))")
    code = "store.apply([gk.edits.RemoveForm(form='Shop')], who='ann')"
    does("shell", store, "-c", code)
    assert "Shop" not in environment_of(store).forms
    assert "Shop" in does("shell", folder, "-c", "print(list(environment.forms))")
    monkeypatch.setattr("sys.stdin", io.StringIO("print(len(environment.forms))"))
    assert does("shell", folder) == "5\n"
    told = run("shell", folder, "-c", "1 / 0")
    assert told.exit_code == 1
    assert "ZeroDivisionError" in told.err
    assert run("shell", folder, "-c", "environment.form('Bnak')").exit_code == 2


@pytest.mark.parametrize("command", ["env", "form", "variable", "group", "scenario"])
def test_every_command_teaches_by_examples(run, command):
    from gamekeeper.cli.environment import edits as variables
    from gamekeeper.cli.environment import env, forms

    part = {
        "env": env.app,
        "form": forms.app,
        "variable": variables.app,
        "group": forms.groups_app,
        "scenario": forms.scenarios_app,
    }
    names = [item.name for item in part[command].registered_commands]
    assert names
    for name in names:
        told = run(command, name, "--help")
        assert told.exit_code == 0
        assert "Examples" in told.out, name
        assert f"gamekeeper {command} {name}" in told.out, name


def test_what_is_saved_is_acknowledged_although_there_is_no_backup(run, store):
    backup = store.with_name(f"{store.name}.backup")
    backup.unlink()
    backup.mkdir()
    (backup / "in the way").touch()
    told = run("form", "remove", store, "Shop")
    assert told.exit_code == 0
    assert "Revision 2" in told.out
    assert "This is saved, but the backup could not be renewed" in told.err
    assert "Shop" not in environment_of(store).forms


@pytest.mark.parametrize("name", ["x\udcff", "\ud800"])
def test_halves_of_characters_are_refused(run, store, name):
    for command in (("form", "add", store, name), ("variable", "add", store, name, "-c", "a")):
        told = run(*command)
        assert told.exit_code == 2
        assert "half of a character" in told.err


def test_metadata_are_numbers_only_where_they_are_written_as_such(does, store):
    given = ["1.10", "007", "1e5", "9" * 5_000, f"{'9' * 400}.5", "-3", "2.5", "true", ""]
    pairs = [item for n, value in enumerate(given) for item in ("-s", f"{n}={value}")]
    does("form", "add", store, "Club", *pairs)
    found = list(environment_of(store).form("Club").metadata.values())
    assert found == [*given[:5], -3, 2.5, True, None]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_for_the_output_is_no_fault_of_ours(store):
    code = "from gamekeeper.cli.app import main; main()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "form", "list", str(store)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "number", "offered"),
    [
        ("form show {} B", 4, ["Bank"]),
        ("variable show {} ", 4, ["Age", "Sex", "Tenure"]),
        ("map {} Ce", 3, ["Census"]),
        ("group show {} C", 4, ["Care", "Commercial"]),
        ("form show nowhere.gk B", 4, []),
    ],
)
def test_names_that_exist_are_offered(store, words, number, offered):
    done = completed(words.format(store), number)
    assert done.stdout.split() == offered
    assert done.stderr == ""


def test_names_are_offered_without_loading_what_a_store_holds(store):
    heavy = ("numpy", "pydantic", "sqlalchemy")
    told = f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    done = completed(f"scenario show {store} C", 4, told)
    assert done.stderr == "[]\n"
    with EnvironmentStore.open(store, readonly=True) as kept:
        environment = kept.environment()
    for kind in ("forms", "variables", "groups", "scenarios"):
        assert names_in(store, kind) == list(getattr(environment, kind))


def test_options_are_offered_without_making_values_of_what_was_typed():
    done = completed("risk suda people.csv --fraction 2% --mis", 6)
    assert done.stdout.split() == ["--missing", "--missing-value"]
    done = completed("risk suda --mis", 3, "print('pydantic' in sys.modules, file=sys.stderr)")
    assert done.stderr == "False\n"


def completed(words, number, at_last=""):
    """Press the tab key in a process of its own, at the end of some words."""
    settings = {
        "_GAMEKEEPER_COMPLETE": "complete_bash",
        "COMP_WORDS": f"gamekeeper {words}",
        "COMP_CWORD": str(number),
    }
    code = (
        "import sys; sys.argv = ['gamekeeper']; from gamekeeper.cli.app import main\n"
        f"try: main()\nfinally: {at_last or 'pass'}"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
