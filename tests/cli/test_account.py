"""Accounts at the prompt, and what `serve` refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gamekeeper.cli.app import app
from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.store.database.environment_store import EnvironmentStore

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
