"""Whatever is wrong with a file: one clear error, nothing changed, nothing of it shown."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.mapping.edits import AddForm, SetMetadata
from gamekeeper.store.database import file
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.file import MARK
from gamekeeper.store.database.restoration import restore_store
from tests.store.database import children
from tests.store.database.conftest import WHO, contents, everything, refusal, small_environment

CANARY = "CANARY-7341"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "forms.gk"
    with EnvironmentStore.create(path, small_environment(), who=WHO) as store:
        for number in range(6):
            edits = [SetMetadata(form="Shop", values={f"{CANARY} {number}": CANARY * 50})]
            store.apply(edits, who=CANARY, note=CANARY)
    return path


@pytest.fixture
def closed(template: Path, path: Path) -> Path:
    """A store with a canary in it, closed and without a backup."""
    shutil.copy(template, path)
    return path


def refused(path: Path, reason: Reason) -> GamekeeperError:
    """Open what must be refused; nothing in its folder may change, nothing of it be shown."""
    before = contents(path.parent)
    error = refusal(lambda: EnvironmentStore.open(path), reason)
    assert contents(path.parent) == before
    assert CANARY not in f"{error} {error.problems!r} {error.__context__!r} {error.__cause__!r}"
    return error


def other_sqlite(path: Path, mark: int = 0) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE person (name TEXT DEFAULT '{CANARY}')")
        connection.execute("INSERT INTO person VALUES (?)", [CANARY])
        connection.execute(f"PRAGMA application_id = {mark}")


def test_no_such_file(path: Path) -> None:
    refused(path, Reason.NOT_FOUND)


def test_no_such_folder(tmp_path: Path) -> None:
    path = tmp_path / "none" / "forms.gk"
    refusal(lambda: EnvironmentStore.open(path), Reason.NOT_FOUND)
    error = refusal(lambda: EnvironmentStore.create(path, who=WHO), Reason.NOT_FOUND)
    assert "There is no folder" in error.found
    assert not path.parent.exists()


def test_a_folder(tmp_path: Path) -> None:
    refused(tmp_path, Reason.WRONG_SCHEMA)
    refusal(lambda: EnvironmentStore.create(tmp_path, who=WHO), Reason.NOT_WRITABLE)


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_a_path_that_cannot_be(tmp_path: Path, name: str) -> None:
    for work in (
        lambda: EnvironmentStore.open(tmp_path / name),
        lambda: EnvironmentStore.create(tmp_path / name, who=WHO),
        lambda: restore_store(tmp_path / name),
    ):
        with pytest.raises(GamekeeperError):
            work()


def test_a_file_is_never_overwritten(closed: Path) -> None:
    before = contents(closed.parent)
    refusal(lambda: EnvironmentStore.create(closed, who=WHO), Reason.NOT_WRITABLE)
    assert contents(closed.parent) == before


def test_an_empty_file(path: Path) -> None:
    path.touch()
    refused(path, Reason.DAMAGED)


@pytest.mark.parametrize(
    "data",
    [CANARY.encode(), f"id,name\n1,{CANARY}\n".encode() * 500, b"SQLite format 3", b"\0" * 5000],
)
def test_a_file_of_something_else(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    refused(path, Reason.WRONG_SCHEMA)


def test_the_database_of_another_program(path: Path) -> None:
    other_sqlite(path)
    refused(path, Reason.WRONG_SCHEMA)


def test_a_database_that_only_has_our_mark(path: Path) -> None:
    other_sqlite(path, MARK)
    refused(path, Reason.DAMAGED)


@pytest.mark.parametrize("version", ["9999", "0777"])
def test_a_store_of_a_newer_version(closed: Path, version: str) -> None:
    with closing(sqlite3.connect(closed)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [version])
    error = refused(closed, Reason.NEWER_VERSION)
    assert error.do == "Update Gamekeeper."


@pytest.mark.parametrize("version", ["0000", "0004"])
def test_a_store_of_a_version_that_was_never_published(closed: Path, version: str) -> None:
    with closing(sqlite3.connect(closed)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [version])
    error = refused(closed, Reason.WRONG_SCHEMA)
    assert "env export" in error.do


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM alembic_version",
        f"UPDATE alembic_version SET version_num = '{CANARY}'",
        "UPDATE alembic_version SET version_num = ''",
        "UPDATE alembic_version SET version_num = 'DROP TABLE form'",
        "INSERT INTO alembic_version VALUES ('0001')",
        "DROP TABLE alembic_version",
    ],
)
def test_a_store_without_a_version(closed: Path, statement: str) -> None:
    with closing(sqlite3.connect(closed)) as connection, connection:
        connection.execute(statement)
    refused(closed, Reason.DAMAGED)


SPOILT = [
    "DELETE FROM environment",
    "DROP TABLE selection",
    "UPDATE variable SET definition = '{'",
    "UPDATE variable SET definition = '[]'",
    "UPDATE variable SET definition = x'ff'",
    f'UPDATE variable SET definition = \'{{"name": "{CANARY}"}}\'',
    f"UPDATE variable SET name = '{CANARY}'",
    "UPDATE code SET blocks = '[[\"nobody\"]]'",
    "UPDATE code SET blocks = '5'",
    "UPDATE code SET code = 'X' WHERE code = 'C3.001'",
    f"UPDATE form SET metadata = '[\"{CANARY}\"]'",
    "UPDATE form SET metadata = 5",
    "UPDATE form SET metadata = cast(x'ff' AS TEXT)",
    f"UPDATE selection SET labels = '[\"{CANARY}\"]'",
    "UPDATE selection SET labels = '{}'",
    "UPDATE selection SET labels = '[1]'",
    "UPDATE form_group SET definition = '{}'",
    f'UPDATE form_group SET definition = \'{{"name": "Trade", "where": "{CANARY} ="}}\'',
    "DELETE FROM form WHERE name = 'Bank'",
    "UPDATE variable SET definition = NULL",
]


@pytest.mark.parametrize("statement", SPOILT)
def test_rows_that_contradict_each_other(closed: Path, statement: str) -> None:
    with closing(sqlite3.connect(closed)) as connection, connection:
        connection.execute(statement)
    before = contents(closed.parent)
    with EnvironmentStore.open(closed) as store:
        for work in (
            store.environment,
            store.check,
            lambda: store.environment(as_of=1),
            lambda: store.apply([AddForm(name="New")], who=WHO),
            lambda: store.undo(who=CANARY),
        ):
            error = refusal(work, Reason.DAMAGED)
            assert CANARY not in f"{error} {error.problems!r} {error.__context__!r}"
            assert "env restore" in error.do
    after = contents(closed.parent)
    assert after == before


SPOILT_HISTORY = [
    "DELETE FROM revision WHERE number = 1",
    "UPDATE revision SET changes = x'00'",
    "UPDATE revision SET changes = 'text'",
    "UPDATE environment SET revision = 99",
    f"UPDATE revision SET edits = '{CANARY}' WHERE number = 3",
    f"UPDATE form SET metadata = '{{\"x\": \"{CANARY}\"}}' WHERE name = 'Shop'",
    "UPDATE form SET metadata = '{}' WHERE name = 'Shop'",
]


@pytest.mark.parametrize("statement", SPOILT_HISTORY)
def test_a_history_that_does_not_lead_to_what_is_there(closed: Path, statement: str) -> None:
    with EnvironmentStore.open(closed) as store:
        store.check()
    with closing(sqlite3.connect(closed)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement)
        connection.commit()
    with EnvironmentStore.open(closed) as store:
        error = refusal(store.check, Reason.DAMAGED)
        assert CANARY not in f"{error} {error.problems!r} {error.__context__!r}"


def works_or_says_why(path: Path) -> bool:
    """Use a store that may be damaged; tell whether anything was found."""
    try:
        opened_and_checked(path)
    except GamekeeperError as error:
        fault = error
    else:
        return False
    assert CANARY not in f"{fault} {fault.problems!r} {fault.__context__!r}"
    assert fault.reason in (Reason.DAMAGED, Reason.WRONG_SCHEMA, Reason.NEWER_VERSION)
    return True


def opened_and_checked(path: Path) -> None:
    with EnvironmentStore.open(path, readonly=True) as store:
        store.environment()
        store.history()
        store.environment(as_of=1)
        store.check()


def test_a_truncated_store(closed: Path, tmp_path: Path) -> None:
    data = closed.read_bytes()
    (tmp_path / "cut").mkdir()
    page = 4096
    lengths = {0, 1, 15, 16, 50, 99, 100, 101, page - 1, page, len(data) - 1, len(data) - page}
    lengths |= {*range(0, len(data), 3 * page), *(Random(1).sample(range(len(data)), 10))}
    for length in sorted(lengths):
        path = tmp_path / "cut" / f"forms-{length}.gk"
        path.write_bytes(data[:length])
        error = refusal(lambda path=path: opened_and_checked(path), _truncation_reason(length))
        assert CANARY not in str(error)
        assert path.read_bytes() == data[:length]


def _truncation_reason(length: int) -> Reason:
    return Reason.WRONG_SCHEMA if 0 < length < 16 else Reason.DAMAGED


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_in_the_middle(closed: Path, tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    whole = closed.read_bytes()
    found = 0
    for number in range(25):
        data = bytearray(whole)
        start = rng.randrange(16, len(data))
        length = rng.choice([1, 20, 500, 5_000])
        data[start : start + length] = rng.randbytes(len(data[start : start + length]))
        path = tmp_path / f"spoilt-{number}.gk"
        path.write_bytes(data)
        found += works_or_says_why(path)
        if not is_whole_for_sqlite(path):
            assert works_or_says_why(path)
        # Whoever only read a damaged file has not changed it.
        assert path.read_bytes() == bytes(data)
        path.unlink()
    assert found > 5


def is_whole_for_sqlite(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def test_a_damaged_store_is_not_made_worse_by_edits(closed: Path) -> None:
    data = bytearray(closed.read_bytes())
    page = 4096
    for number in range(2, len(data) // page):
        spoilt = bytearray(data)
        spoilt[number * page : (number + 1) * page] = b"\xff" * page
        closed.write_bytes(spoilt)
        with EnvironmentStore.open(closed) as store:
            with suppress(GamekeeperError):
                store.apply([AddForm(name="New")], who=WHO)
            refusal(store.check, Reason.DAMAGED)
            backup = closed.with_name("forms.gk.backup")
            refusal(store.backup, Reason.DAMAGED)
            assert not backup.exists()
            store._file.has_written = False
        break


def test_a_full_disk(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = file.connect

    def limited(*given: object, **how: object) -> sqlite3.Connection:
        connection = plain(*given, **how)  # pyright: ignore[reportArgumentType]
        if given[0] == closed:  # a backup beside it has room
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        return connection

    monkeypatch.setattr("gamekeeper.store.database.file.connect", limited)
    with EnvironmentStore.open(closed) as store:
        before = everything(store.environment())
        large = AddForm(name="Large", metadata={"x": Random(1).randbytes(100_000).hex()})
        refusal(lambda: store.apply([large], who=WHO), Reason.DISK_FULL)
        assert everything(store.environment()) == before
        store.check()
        # It is good for what there is room for.
        store.apply([AddForm(name="Small")], who=WHO)
        store.check()


@pytest.mark.parametrize("job", [children.create_large, children.edit_large, children.back_up_now])
def test_no_room_for_a_file_to_grow(closed: Path, tmp_path: Path, job: children.Job) -> None:
    with EnvironmentStore.open(closed) as store:
        before = everything(store.environment())
    child, pipe = children.start(job, closed, 20_000)
    ((reason, message),) = children.said(pipe)
    child.join()
    pipe.close()
    assert reason in ("disk-full", "not-writable")
    assert "Nothing was changed" in str(message)
    left = {entry.name for entry in tmp_path.iterdir()}
    assert left <= {"forms.gk", "forms.gk-wal", "forms.gk-shm"}
    with EnvironmentStore.open(closed) as store:
        assert everything(store.environment()) == before
        store.check()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a small disk, with options, where the system allows it."""
    place = tmp_path / "disk"
    place.mkdir()
    made: list[Path] = []

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        done = shutil.which("mount") and subprocess.run(command, capture_output=True, check=False)
        if not done or done.returncode:
            pytest.skip("a disk cannot be mounted here")
        made.append(place)
        return place

    yield mount
    for place in made:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(mounted: Callable[[str], Path], closed: Path) -> None:
    place = mounted("size=600k")
    path = place / "forms.gk"
    shutil.copy(closed, path)
    with EnvironmentStore.open(path) as store:
        before = everything(store.environment())
        with suppress(OSError), (place / "more").open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 512)
        large = AddForm(name="L", metadata={"x": Random(1).randbytes(90_000).hex()})
        refusal(lambda: store.apply([large], who=WHO), Reason.DISK_FULL)
        refusal(store.backup, Reason.DISK_FULL)
        assert everything(store.environment()) == before
        refusal(lambda: EnvironmentStore.create(place / "b.gk", who=WHO), Reason.DISK_FULL)
        (place / "more").unlink()
        store.apply([AddForm(name="Small")], who=WHO)
        store.check()
    assert not (place / "b.gk").exists()


def test_a_read_only_disk(mounted: Callable[[str], Path], closed: Path) -> None:
    place = mounted("size=2m")
    path = place / "forms.gk"
    shutil.copy(closed, path)
    with EnvironmentStore.open(path) as store:
        before = everything(store.environment())
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    with EnvironmentStore.open(path) as store:
        assert store.readonly
        assert everything(store.environment()) == before
        assert len(store.history()) == 7
        store.check()
        refusal(lambda: store.apply([AddForm(name="A")], who=WHO), Reason.READ_ONLY)
        refusal(lambda: store.undo(who=CANARY), Reason.READ_ONLY)
        refusal(store.backup, Reason.READ_ONLY)
    refusal(lambda: EnvironmentStore.create(place / "b.gk", who=WHO), Reason.READ_ONLY)
    refusal(lambda: restore_store(path), Reason.NOT_FOUND)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write whatever the permissions")
def test_permissions(closed: Path) -> None:
    closed.chmod(0o444)
    closed.parent.chmod(0o555)
    try:
        with EnvironmentStore.open(closed) as store:
            assert store.readonly
            store.environment()
            refusal(lambda: store.apply([AddForm(name="A")], who=WHO), Reason.READ_ONLY)
    finally:
        closed.parent.chmod(0o755)


def test_a_store_that_is_busy(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "_PATIENCE_SECONDS", 0.05)
    with (
        EnvironmentStore.open(closed) as store,
        closing(sqlite3.connect(closed, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        refusal(lambda: store.apply([AddForm(name="A")], who=WHO), Reason.BUSY)
        # Readers do not mind.
        assert "A" not in store.environment().forms
        other.execute("ROLLBACK")
        store.apply([AddForm(name="A")], who=WHO)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_log_that_was_left_behind_is_not_that_of_a_new_store(path: Path, ending: str) -> None:
    log = path.with_name(path.name + ending)
    log.write_bytes(b"of an earlier store")
    refusal(lambda: EnvironmentStore.create(path, who=WHO), Reason.NOT_WRITABLE)
    assert contents(path.parent) == {log.name: b"of an earlier store"}
