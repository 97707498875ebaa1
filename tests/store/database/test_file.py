from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.errors import Reason
from gamekeeper.files import aside
from gamekeeper.mapping.edits import AddForm
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.file import backup_position
from gamekeeper.store.database.loading import read_state
from gamekeeper.store.database.restoration import list_backups, restore_store
from tests.store.database.conftest import add, contents, refusal


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
        made = store.backup()
        assert made.name.startswith("forms.gk.backup-revision-2-")
        # The automatic one is renewed when the store is closed.
        assert backup_position(closed) == (1, 0)


def test_a_backup_that_was_asked_for_stays_and_is_listed(closed: Path) -> None:
    with EnvironmentStore.open(closed) as store:
        made = store.backup("Before the census")
    before = made.read_bytes()
    for name in ("A", "B"):
        add(closed, name)
    assert made.read_bytes() == before
    with EnvironmentStore.open(made, readonly=True) as kept:
        assert kept.revision == 1
    with EnvironmentStore.open(closed) as store:
        again, third = store.backup("before the CENSUS"), store.backup("before the CENSUS")
    assert len({made, again, third}) == 3
    (closed.parent / "forms.gk.backup-unrelated").touch()
    (closed.parent / "forms.gk.damaged-20310501T143000Z").touch()
    found = list_backups(closed)
    assert sorted((item.name, item.revision) for item in found) == [
        ("automatic", 3),
        ("before-the-census", 1),
        ("before-the-census", 3),
        ("before-the-census", 3),
    ]
    assert len({item.full_name for item in found}) == 4
    assert [item.at for item in found] == sorted((item.at for item in found), reverse=True)


@pytest.mark.parametrize("name", ["  ", "automatic", "Replaced"])
def test_names_that_a_backup_cannot_have(closed: Path, name: str) -> None:
    before = contents(closed.parent)
    with EnvironmentStore.open(closed) as store:
        refusal(lambda: store.backup(name), Reason.BAD_NAME)
    assert contents(closed.parent) == before


def test_a_backup_that_cannot_be_read_is_listed_without_a_revision(closed: Path) -> None:
    closed.with_name("forms.gk.backup").write_bytes(b"spoilt")
    (found,) = list_backups(closed)
    assert (found.name, found.revision) == ("automatic", None)


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


def test_what_was_cut_off_is_cleared_at_the_next_opening(closed: Path) -> None:
    def killed(*, ago: float = 0, process: int = os.getpid(), computer: str = "") -> Path:
        with aside(closed, private=True) as made:
            head, here, _ = made.name.rsplit("-", 2)
        left = made.with_name(f"{head}-{computer or here}-{process}.tmp")
        left.write_bytes(b"half a copy")
        os.utime(left, (time.time() - ago, time.time() - ago))
        return left

    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, old = killed(process=ended.pid), killed(ago=4_000)
    alive, elsewhere = killed(), killed(process=ended.pid, computer="0" * 8)
    read_state(closed)
    assert [path.exists() for path in (dead, old, alive, elsewhere)] == [False, False, True, True]
    another = killed(process=ended.pid)
    EnvironmentStore.open(closed, readonly=True).close()
    assert not another.exists()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_store_and_its_backups_are_for_the_owner_and_modes_are_kept(closed: Path) -> None:
    backup = closed.with_name("forms.gk.backup")
    assert (mode(closed), mode(backup)) == (0o600, 0o600)
    closed.chmod(0o640)
    add(closed, "A")
    assert (mode(closed), mode(backup)) == (0o640, 0o640)
    with EnvironmentStore.open(closed) as store:
        assert mode(store.backup("kept")) == 0o640
    closed.chmod(0o600)
    backup.chmod(0o644)
    restore_store(closed)
    assert mode(closed) == 0o600
    # Where the store is gone, the backup says who may read it.
    closed.unlink()
    restore_store(closed)
    assert mode(closed) == 0o644
