"""Commands on a store that is on a PostgreSQL server: as on a file, and no password is ever shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gamekeeper.cli.environment.edits import OFFERS
from tests.cli.conftest import Run
from tests.postgres import TestServer

SECRET = "Hunter2-Zanzibar"


@pytest.mark.slow
def test_a_day_with_a_store_on_a_server(
    postgres: TestServer, run: Callable[..., Run], folder: Path, tmp_path: Path
) -> None:
    address, file = postgres.address(), tmp_path / "norland.gk"
    assert run("env", "import", folder, file).exit_code == 0
    copied = run("env", "copy", file, address)
    assert (copied.exit_code, copied.out) == (0, f"Copied: {address}, up to revision 1.\n")
    assert run("form", "add", address, "Post").exit_code == 0
    assert "Post" in run("form", "list", address).out
    assert run("check", address).exit_code == run("check", file).exit_code
    here = run("map", address, "Census", "--format", "json")
    assert here.exit_code == 0
    assert run("form", "remove", address, "Post", "--who", "ben").exit_code == 0
    there = run("map", file, "Census", "--format", "json")
    keys = [json.loads(each.out)["rows"] for each in (here, there)]
    assert len(keys[0]) == len(keys[1])
    history = json.loads(run("env", "history", address, "--format", "json").out)
    assert [row["revision"] for row in history["rows"]] == [3, 2, 1]
    assert "Post" in run("form", "list", address, "--as-of", "2").out
    assert run("env", "diff", address, file).exit_code == 0
    assert run("env", "undo", address, "--anyone").exit_code == 0
    back = tmp_path / "back.gk"
    assert run("env", "copy", address, back).exit_code == 0
    assert "Post" in run("form", "list", back).out
    for words in (["backup"], ["backups"], ["restore"]):
        refused = run("env", *words, address)
        assert refused.exit_code == 2
        assert "env copy" in refused.err


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ana:{SECRET}@127.0.0.1:1/forms?schema=norland",
        f"postgresql://ana@127.0.0.1:1/forms?schema=norland&password={SECRET}",
        f"postgresql://ana:{SECRET}@[::1/forms",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_shown(
    run: Callable[..., Run], folder: Path, address: str
) -> None:
    for words in (
        ["env", "show", address],
        ["env", "new", address],
        ["env", "copy", folder, address],
        ["form", "add", address, "A"],
        ["serve", address],
        ["map", address, "Census"],
    ):
        done = run(*words)
        assert done.exit_code == 2, done
        assert SECRET not in done.out + done.err


def test_a_server_that_is_not_there(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    done = run("env", "show", "postgresql://ana@127.0.0.1:1/forms?schema=norland")
    assert done.exit_code == 2
    assert "No server answers there." in done.err
    assert SECRET not in done.err


@pytest.mark.parametrize("words", [("form", "list"), ("env", "show"), ("env", "new")])
def test_without_the_driver_it_is_said_how_to_get_it(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    done = run(*words, "postgresql://ana@127.0.0.1:1/forms?schema=norland")
    assert done.exit_code == 2
    assert "pip install 'gamekeeper[postgres]'" in done.err


@pytest.mark.slow
def test_names_are_offered(postgres: TestServer, run: Callable[..., Run], folder: Path) -> None:
    address = postgres.address()
    assert run("env", "import", folder, address).exit_code == 0

    class Typed:
        params = {"store": address}  # noqa: RUF012

    assert OFFERS["form"](Typed(), "C") == ["Census", "Clinic"]
