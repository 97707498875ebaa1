"""A backup is the last good state, and one call puts it back."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.backups import backup_position, restore_store
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.files import temporary
from tests.store.database.conftest import WHO, contents, everything, refusal


@pytest.fixture
def closed(path: Path, environment: Environment) -> Path:
    EnvironmentStore.create(path, environment, who=WHO).close()
    return path


def add(path: Path, name: str) -> None:
    with EnvironmentStore.open(path) as store:
        store.apply([AddForm(name=name)], who=WHO)


def test_a_backup_is_made_when_a_changed_store_is_closed(closed: Path) -> None:
    backup = closed.with_name("forms.gk.backup")
    assert backup_position(closed) == (1, 0)
    add(closed, "A")
    assert backup_position(closed) == (2, 0)
    before = backup.stat().st_mtime_ns
    with EnvironmentStore.open(closed) as store:
        store.environment()
    with EnvironmentStore.open(closed, readonly=True) as store:
        store.environment()
    assert backup.stat().st_mtime_ns == before
    # It is a store by itself, in one file.
    with EnvironmentStore.open(backup, readonly=True) as store:
        assert "A" in store.environment().forms
    assert sorted(contents(closed.parent)) == ["forms.gk", "forms.gk.backup"]


def test_codes_that_were_saved_are_backed_up_too(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store:
        environment = store.environment()
        environment.code("Country", Partition.from_labels([0, 1, 0, 1]))
        assert store.save_codes(environment) == 1
    assert backup_position(closed) == (1, 1)


def test_a_backup_can_be_asked_for_while_others_write(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store, EnvironmentStore.open(closed) as other:
        other.apply([AddForm(name="A")], who="ben")
        assert store.backup() == closed.with_name("forms.gk.backup")
        assert backup_position(closed) == (2, 0)


def test_a_damaged_store_is_restored_and_kept_aside(closed: Path) -> None:
    add(closed, "A")
    with EnvironmentStore.open(closed) as store:
        before = everything(store.environment())
    rng = Random(1)
    for number in range(12):
        data = bytearray(closed.read_bytes())
        start = rng.randrange(len(data))
        data[start : start + 3_000] = rng.randbytes(len(data[start : start + 3_000]))
        closed.write_bytes(data[: rng.choice([0, 50, 5_000, len(data)])])
        spoilt = closed.read_bytes()
        aside = restore_store(closed)
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
    store.backup()
    store.apply([AddForm(name="A")], who=WHO)
    copies = {ending: path.with_name(path.name + ending).read_bytes() for ending in ("", "-wal")}
    store.close()
    store_backup = path.with_name("forms.gk.backup")
    with EnvironmentStore.open(store_backup, readonly=True) as backup:
        assert backup.revision == 2
    # As if the machine had stopped while the store was open.
    for ending, data in copies.items():
        path.with_name(path.name + ending).write_bytes(data)
    aside = restore_store(path)
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
    assert restore_store(closed) is None
    with EnvironmentStore.open(closed) as store:
        store.check()


def test_without_a_backup_nothing_changes(closed: Path) -> None:
    closed.with_name("forms.gk.backup").unlink()
    before = contents(closed.parent)
    refusal(lambda: restore_store(closed), Reason.NOT_FOUND)
    assert contents(closed.parent) == before


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.DAMAGED),
        (b"something else", Reason.WRONG_SCHEMA),
        (None, Reason.DAMAGED),
    ],
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


def test_a_store_in_use_is_not_restored(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store:
        store.environment()
        refusal(lambda: restore_store(closed), Reason.BUSY)
        store.apply([AddForm(name="A")], who=WHO)
    assert restore_store(closed) is not None


def test_a_backup_of_a_damaged_store_never_replaces_a_good_one(closed: Path) -> None:
    backup = closed.with_name("forms.gk.backup")
    good = backup.read_bytes()
    with closing(sqlite3.connect(closed)) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name='form'").fetchone()
    data = bytearray(closed.read_bytes())
    start = (page[0] - 1) * 4096
    data[start + 8 : start + 4096] = b"\xff" * 4088
    closed.write_bytes(data)
    with EnvironmentStore.open(closed) as store:
        refusal(store.backup, Reason.DAMAGED)
    assert backup.read_bytes() == good
    assert [name for name in contents(closed.parent) if name.endswith(".tmp")] == []


def test_what_was_cut_off_is_cleared_after_an_hour(closed: Path) -> None:
    backup = closed.with_name("forms.gk.backup")
    old, new = temporary(backup), temporary(backup)
    os.utime(old, (time.time() - 4_000, time.time() - 4_000))
    add(closed, "A")
    assert not old.exists()
    assert new.exists()
