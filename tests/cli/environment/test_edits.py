"""Commands made from the records of edits: one place for a field, and nothing imported too soon."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest

from gamekeeper.cli.app import load
from gamekeeper.mapping.edits import Edit
from gamekeeper.mapping.edits.environment import options_of_record

GROUPS = ("env", "form", "variable", "group", "scenario")
# Asked for in other ways: from a file, in words, as the outcome of an analysis.
OTHERWISE = {
    "add-form",
    "add-variable",
    "ask-question",
    "ask-variable",
    "replace-variable",
    "save-scenario",
    "set-universe",
    "keep-history",  # made by a merge
}


def parameters(group: str, command: str) -> dict[str, object]:
    return {item.name: item for item in load(group).commands[command].params}


@pytest.mark.parametrize("record", get_args(Edit), ids=lambda record: record.__name__)
def test_every_field_of_a_record_is_asked_for_with_its_own_words(record):
    name = record.model_fields["edit"].default
    if name in OTHERWISE:
        return
    asked = options_of_record(record)
    assert set(asked) == set(record.model_fields) - {"edit"}
    found = [
        command
        for group in GROUPS
        for command in load(group).commands.values()
        if {item.name for item in command.params} >= {"store", "who", "base", *asked}
        and all(
            item.help.startswith(asked[item.name].help)
            for item in command.params
            if item.name in asked
        )
    ]
    assert found, name


def test_what_must_be_given_comes_first():
    names = [
        item.name
        for item in load("group").commands["add"].params
        if item.param_type_name == "argument"
    ]
    assert names == ["store", "name", "forms"]
    required = {name: item.required for name, item in parameters("group", "add").items()}
    assert (required["name"], required["forms"], required["where"]) == (True, False, False)


def test_only_edits_that_can_break_offer_the_unrestricted_editor():
    offers = {
        f"{group} {name}"
        for group in GROUPS
        for name, command in load(group).commands.items()
        if "unrestricted" in {item.name for item in command.params}
    }
    assert offers == {
        "env edit",
        "form ask",
        "form question",
        "form drop-question",
        "variable replace",
        "variable remove",
        "variable join",
        "variable split",
        "variable set-parts",
        "variable remove-category",
        "variable remove-bands",
        "variable prune",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["form", "--help"], ("numpy", "pydantic_core.core_schema", "sqlalchemy", "pyarrow")),
        (["form", "list", "STORE"], ("sqlalchemy", "alembic", "pyarrow", "pandas", "scipy")),
        (["variable", "show", "STORE", "Age", "--format", "csv"], ("sqlalchemy", "alembic")),
        (["form", "rename", "STORE", "--help"], ("sqlalchemy", "alembic", "pyarrow")),
    ],
)
def test_nothing_is_imported_that_a_command_does_not_need(run, folder, tmp_path, arguments, absent):
    store = tmp_path / "small.gk"
    assert run("env", "import", folder, store).exit_code == 0
    typed = [str(store) if item == "STORE" else item for item in arguments]
    code = (
        f"import sys; sys.argv = ['gamekeeper', *{typed}]\n"
        "from gamekeeper.cli.app import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        f"print([name for name in {absent} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
