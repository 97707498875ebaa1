"""Whatever happens to the bytes of a store: what is read is what was written, or it is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.loading import read_state
from gamekeeper.store.database.words import attempt
from tests.given.cases import only_thoroughly
from tests.store.database.conftest import WHO, everything, refusal
from tests.store.database.damage import try_damage
from tests.store.database.later import become_later, raised


def test_no_damage_is_our_fault_or_goes_unseen() -> None:
    outcome = try_damage(24, seed=15)
    assert outcome.faults == []
    # Some damage is to be noticed, and some is where nothing is kept.
    assert outcome.ends["export: exit 2"] > 3
    assert outcome.ends["export: exit 0"] > 3


@only_thoroughly
@pytest.mark.slow
def test_nor_is_much_more_of_it() -> None:
    assert try_damage(1_000, seed=16).faults == []


def test_a_length_beyond_all_limits_is_damage(path: Path) -> None:
    def read() -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100)
            connection.execute("SELECT zeroblob(1000)").fetchall()

    def work() -> None:
        attempt("The store {} was to be opened.", path, read)

    assert "env restore" in refusal(work, Reason.DAMAGED).do


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE environment SET description = 'other'",
        "UPDATE environment SET codes_saved = 7",
        "UPDATE variable SET definition = replace(definition, 'In years', 'In weeks')",
        "UPDATE variable SET folded = replace(folded, 'a', 'b')",
        "UPDATE code SET since = 2",
        "UPDATE form SET metadata = '{}' WHERE name = 'Bank'",
        "UPDATE form SET folded = 'x' WHERE name = 'Bank'",
        "DELETE FROM instance WHERE form_id = 1",
        "UPDATE selection SET labels = replace(labels, 'UK', 'NI')",
        "DELETE FROM form_group WHERE name = 'Either'",
        "UPDATE form_group SET definition = replace(definition, 'sells', 'buys')",
        "UPDATE form SET metadata = replace(metadata, '2011', '2012')",
        "UPDATE form SET metadata = CAST(metadata AS BLOB) WHERE name = 'Bank'",
        "UPDATE variable SET name = CAST(name AS BLOB)",
        "UPDATE instance SET selection_id = 'x' WHERE rowid = 1",
        "DELETE FROM seal",
    ],
)
def test_a_change_that_no_database_notices_is_damage(store, statement: str) -> None:
    store.close()
    with closing(sqlite3.connect(store.path)) as connection, connection:
        assert connection.execute(statement).rowcount

    def opened() -> None:
        with EnvironmentStore.open(store.path) as again:
            again.environment()

    for work in (lambda: read_state(store.path), opened):
        assert "env restore" in refusal(work, Reason.DAMAGED).do


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE revision SET edits = replace(edits, 'Kiosk', 'Stall') WHERE number = 2",
        "UPDATE revision SET who = 'ben' WHERE number = 2",
        "UPDATE revision SET edits = CAST(edits AS BLOB) WHERE number = 2",
        "UPDATE revision SET note = CAST('a' AS BLOB) WHERE number = 2",
        "UPDATE touch SET name = CAST(name AS BLOB) WHERE revision = 2",
        "UPDATE touch SET name = 'Stall' WHERE revision = 2",
        "DELETE FROM touch WHERE revision = 2",
        "DELETE FROM touch; DELETE FROM revision WHERE number = 2",
    ],
)
def test_a_changed_history_is_damage(store, statement: str) -> None:
    store.apply([AddForm(name="Kiosk")], who=WHO)
    store.apply([AddForm(name="Market")], who=WHO)
    store.close()
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.executescript(statement)
    with EnvironmentStore.open(store.path, readonly=True) as again:
        refusal(again.history, Reason.DAMAGED)


def test_an_older_store_is_sealed_again_once_it_is_raised(
    path: Path, environment, tmp_path_factory, monkeypatch
) -> None:
    with EnvironmentStore.create(path, environment, who=WHO) as store:
        store.apply([AddForm(name="Kiosk")], who=WHO)
        before, told = everything(store.environment()), store.history()
    become_later(tmp_path_factory.mktemp("later"), monkeypatch.setattr)
    with EnvironmentStore.open(path) as store:
        assert everything(store.environment()) == raised(before)
        assert store.history() == told
        store.check()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE form SET metadata = '{\"a\": 1}' WHERE name = 'Kiosk'")
    refusal(lambda: read_state(path), Reason.DAMAGED)
