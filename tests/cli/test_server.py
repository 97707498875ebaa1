"""Accounts at the prompt, and what `serve` refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gamekeeper.cli.app import app
from gamekeeper.errors import Cancelled, GamekeeperError, Reason
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.given.cases import only_thoroughly

PASSWORD = "several words in a row"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "forms.gk"
    EnvironmentStore.create(path, who="ana").close()
    return path


def account(*arguments: object, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["account", *map(str, arguments)], input=typed)


def reason(told: Result) -> Reason | None:
    error = told.exception
    return error.reason if isinstance(error, GamekeeperError) else None


def test_accounts_are_added_listed_changed_and_removed(store: Path) -> None:
    first = account("add", store, "ana", "--role", "administrator", typed=f"{PASSWORD}\n")
    assert first.output == "ana may sign in, as administrator.\n"
    account("add", store, "bo", typed=f"{PASSWORD}\n")
    assert account("list", store, "--format", "csv").output == (
        "account,role\nana,administrator\nbo,editor\n"
    )
    assert account("role", store, "bo", "reader").output == "bo is reader now.\n"
    assert account("password", store, "bo", typed=f"{PASSWORD} 2\n").exit_code == 0
    assert account("revoke", store, "bo").output == "Sessions that ended: 0.\n"
    assert account("remove", store, "bo").exit_code == 0
    assert "bo" not in account("list", store).output
    state = store.with_name("forms.gk.server")
    assert state.stat().st_mode & 0o077 == 0
    assert PASSWORD.encode() not in (state / "server.db").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "typed", "why"),
    [
        (["add", "{}", "bo"], PASSWORD, Reason.BAD_OPTION),
        (["add", "{}", "ana", "--role", "administrator"], "short", Reason.BAD_OPTION),
        (["add", "{}", " ana", "--role", "administrator"], PASSWORD, Reason.BAD_NAME),
        (["remove", "{}", "nobody"], "", Reason.UNKNOWN_NAME),
        (["list", "{}x"], "", Reason.NOT_FOUND),
    ],
)
def test_what_cannot_be_done_is_told(
    store: Path, arguments: list[str], typed: str, why: Reason
) -> None:
    told = account(*(text.format(store) for text in arguments), typed=f"{typed}\n")
    assert reason(told) is why


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], Reason.NOTHING_GIVEN),
        (["{}", "--demo"], Reason.BAD_OPTION),
        (["{}x"], Reason.NOT_FOUND),
        (["{}", "--allow", "{}-none"], Reason.NOT_FOUND),
        (["{}", "--origin", "https://a.example/path"], Reason.BAD_OPTION),
        (["{}", "--host", "0.0.0.0", "--port", "0"], Reason.BAD_OPTION),
    ],
)
def test_what_cannot_be_served_is_told(store: Path, arguments: list[str], why: Reason) -> None:
    told = CliRunner().invoke(app, ["serve", *(text.format(store) for text in arguments)])
    assert reason(told) is why


@only_thoroughly
@pytest.mark.slow
def test_one_seed_gives_one_demo(run, tmp_path):
    runs = [
        json.loads(run("demo", "-o", tmp_path / name, "--seed", seed, "--format", "json").out)
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    ]
    first, second, other = (document["rows"] for document in runs)
    assert first == second
    assert first != other


def test_the_command_is_there_without_the_demo():
    code = (
        "import sys, gamekeeper.cli.server;"
        "print([name for name in sys.modules if name.startswith('gamekeeper.workbench.demo')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_a_cancelled_demo_says_what_it_left(run, tmp_path, monkeypatch):
    from gamekeeper.workbench import demo_walk

    def stopped(*_, **__):
        raise Cancelled("Making up a country.")

    monkeypatch.setattr(demo_walk, "import_folder", stopped)
    told = run("demo", "--output", tmp_path / "demo")
    assert told.exit_code == 130
    assert f"left in {tmp_path / 'demo'}" in told.err.replace("\n", "")
    assert (tmp_path / "demo" / "environment").is_dir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    told = run("demo", "--output", tmp_path / "other")
    assert (told.exit_code, [path.name for path in (tmp_path / "other").iterdir()]) == (
        2,
        ["mine.txt"],
    )
