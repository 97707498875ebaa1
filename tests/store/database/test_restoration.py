"""One call puts a backup back, and keeps what was there under an honest name."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.restoration import list_backups, restore_store
from tests.store.database.conftest import WHO, add, contents, everything, refusal


def test_a_backup_is_restored_by_name_and_a_healthy_store_is_called_replaced(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store:
        store.backup("start")
    add(closed, "A")
    backup, aside = restore_store(closed, "start")
    assert (backup.name, backup.revision) == ("start", 1)
    assert aside is not None
    assert aside.name.startswith("forms.gk.replaced-")
    with EnvironmentStore.open(closed) as store:
        assert (store.revision, "A" in store.environment().forms) == (1, False)
    # What was replaced can be had back in the same way.
    assert "replaced" in {item.name for item in list_backups(closed)}
    backup, second = restore_store(closed, "replaced")
    assert backup.path == aside
    assert second is not None
    assert second.name.startswith("forms.gk.replaced-")
    with EnvironmentStore.open(closed) as store:
        assert (store.revision, "A" in store.environment().forms) == (2, True)


def test_of_one_name_the_newest_is_restored_or_the_one_of_a_time(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store:
        store.backup("Week 1")
        store.apply([AddForm(name="A")], who=WHO)
        store.backup("Week 1")
    older, newer = sorted(
        (item for item in list_backups(closed) if item.name == "week-1"), key=lambda item: item.at
    )
    assert restore_store(closed, "Week 1")[0] == newer
    assert restore_store(closed, older.full_name)[0] == older
    with EnvironmentStore.open(closed) as store:
        assert store.revision == 1


def test_a_name_that_no_backup_has(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store:
        store.backup("start")
    before = contents(closed.parent)
    error = refusal(lambda: restore_store(closed, "strat"), Reason.NOT_FOUND)
    assert "'start'" in error.do
    assert contents(closed.parent) == before


def test_a_store_that_contradicts_itself_is_called_damaged(closed: Path) -> None:
    add(closed, "A")
    with closing(sqlite3.connect(closed)) as connection, connection:
        connection.execute("UPDATE form SET metadata = '{\"year\": 1}' WHERE name = 'A'")
    _, aside = restore_store(closed)
    assert aside is not None
    assert aside.name.startswith("forms.gk.damaged-")
    assert "damaged" not in {item.name for item in list_backups(closed)}


@pytest.mark.slow
def test_a_damaged_store_is_restored_and_kept_aside(closed: Path) -> None:
    add(closed, "A")
    with EnvironmentStore.open(closed) as store:
        before = everything(store.environment())
    rng = Random(2)
    for number in range(12):
        data = bytearray(closed.read_bytes())
        start = rng.randrange(len(data))
        # More than a page: the room that a page has left holds nothing that could be damaged.
        data[start : start + 9_000] = rng.randbytes(len(data[start : start + 9_000]))
        closed.write_bytes(data[: rng.choice([0, 50, 5_000, len(data)])])
        spoilt = closed.read_bytes()
        _, aside = restore_store(closed)
        assert aside is not None
        assert aside.name.startswith("forms.gk.damaged-")
        assert aside.read_bytes() == spoilt
        with EnvironmentStore.open(closed) as store:
            assert everything(store.environment()) == before
            store.check()
            store.apply([AddForm(name=f"B{number}")], who=WHO)
            store.undo(who=WHO)
            before = everything(store.environment())


def test_the_log_goes_aside_with_its_store(path: Path, environment: Environment) -> None:
    store = EnvironmentStore.create(path, environment, who=WHO)
    store.renew_backup()
    store.apply([AddForm(name="A")], who=WHO)
    copies = {ending: path.with_name(path.name + ending).read_bytes() for ending in ("", "-wal")}
    store.close()
    store_backup = path.with_name("forms.gk.backup")
    with EnvironmentStore.open(store_backup, readonly=True) as backup:
        assert backup.revision == 2
    # As if the machine had stopped while the store was open.
    for ending, data in copies.items():
        path.with_name(path.name + ending).write_bytes(data)
    _, aside = restore_store(path)
    assert aside is not None
    assert not path.with_name("forms.gk-wal").exists()
    with EnvironmentStore.open(aside) as kept:
        assert "A" in kept.environment().forms
    with EnvironmentStore.open(path) as restored:
        assert restored.revision == 2


def test_a_store_that_is_gone_is_restored(closed: Path) -> None:
    closed.unlink()
    error = refusal(lambda: EnvironmentStore.open(closed), Reason.NOT_FOUND)
    assert "env restore" in error.do
    closed.with_name("forms.gk-wal").write_bytes(b"left behind")
    assert restore_store(closed)[1] is None
    with EnvironmentStore.open(closed) as store:
        store.check()


def test_without_a_backup_nothing_changes(closed: Path) -> None:
    closed.with_name("forms.gk.backup").unlink()
    before = contents(closed.parent)
    refusal(lambda: restore_store(closed), Reason.NOT_FOUND)
    assert contents(closed.parent) == before


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", Reason.DAMAGED), (b"something else", Reason.WRONG_SCHEMA), (None, Reason.DAMAGED)],
)
def test_a_backup_that_is_no_good_is_not_used(
    closed: Path, data: bytes | None, reason: Reason
) -> None:
    backup = closed.with_name("forms.gk.backup")
    whole = backup.read_bytes()
    backup.write_bytes(whole[: len(whole) // 2] if data is None else data)
    closed.write_bytes(b"spoilt")
    before = contents(closed.parent)
    refusal(lambda: restore_store(closed), reason)
    assert contents(closed.parent) == before


@pytest.mark.slow
def test_a_store_in_use_is_not_restored(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store:
        store.environment()
        refusal(lambda: restore_store(closed), Reason.BUSY)
        store.apply([AddForm(name="A")], who=WHO)
    assert restore_store(closed)[1] is not None
