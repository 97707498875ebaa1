"""What lies in the folders of an environment: nothing is left out without a word."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.folder import read_environment
from tests.store.conftest import the_only
from tests.store.everything import everything_in

Refused = Callable[[], InputError]


def test_a_folder_below_forms_is_not_passed_over(folder: Path, refused: Refused) -> None:
    (folder / "forms/uk").mkdir()
    problem = the_only(refused())
    assert problem.where == "forms/uk"
    assert "only the files in forms are read" in problem.found


@pytest.mark.parametrize("name", ["tax.json.txt", "tax", "tax.csv", "tax.json~", "readme-2.md"])
def test_files_of_another_ending_are_not_passed_over(
    folder: Path, refused: Refused, name: str
) -> None:
    for kind in ("forms", "groups", "variables"):
        (folder / kind / name).write_text("mine")
    problems = refused().problems
    assert sorted(str(problem) for problem in problems) == [
        f"{kind}/{name}: is not a .json file. Take it away or rename it."
        for kind in ("forms", "groups", "variables")
    ]


def test_files_with_a_large_ending_are_read_and_notes_are_passed_over(
    environment: Environment, folder: Path
) -> None:
    for kind, name in [("forms", "bank"), ("groups", "trade"), ("variables", "age")]:
        (folder / kind / f"{name}.json").rename(folder / kind / f"{name}.JSON")
        for note in ("README", "ReadMe.md", "readme.de.txt", ".gitkeep"):
            (folder / kind / note).write_text("mine")
    assert everything_in(read_environment(folder)) == everything_in(environment)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.parametrize("name", ["\x1b[31mred.json", "a\u202eb.json", "half\udcff.json", "x\n"])
def test_names_of_files_never_disturb_a_terminal(folder: Path, refused: Refused, name: str) -> None:
    (folder / "forms" / name).write_bytes((folder / "forms/empty.json").read_bytes())
    error = refused()
    assert the_only(error).reason is Reason.BAD_NAME
    assert str(error).replace("\n", "").isprintable()


def test_a_file_in_place_of_the_forms(folder: Path, refused: Refused) -> None:
    for path in (folder / "forms").iterdir():
        path.unlink()
    (folder / "forms").rmdir()
    (folder / "forms").write_text("id,age")
    assert "folder forms" in {problem.where for problem in refused().problems}


def test_forms_need_variables(folder: Path, refused: Refused) -> None:
    for path in (folder / "variables").iterdir():
        path.unlink()
    (folder / "variables").rmdir()
    assert str(the_only(refused())).startswith("folder variables: is missing, but forms have")
    (folder / "variables").mkdir()
    assert str(the_only(refused())).startswith("folder variables: holds no files, but forms have")


def test_groups_need_forms(folder: Path, refused: Refused) -> None:
    (folder / "forms").rename(folder / "elsewhere")
    problem = the_only(refused())
    assert str(problem).startswith("folder forms: is missing, but groups name forms.")
    (folder / "groups/trade.json").unlink()
    (folder / "groups/other-trade.json").unlink()
    assert read_environment(folder).forms == {}
