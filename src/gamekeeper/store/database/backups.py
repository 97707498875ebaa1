"""A copy of the last good state beside a store, and the way back to it.

The copy is made while others may write, checked, brought to disk and only then put in the place of
the copy before it. A store that SQLite finds damaged never replaces a good copy; a backup that is
asked for checks the environment and its history besides.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gamekeeper.errors import GamekeeperError, Reason, StoreError
from gamekeeper.store.database.connecting import beside, connect, require_store
from gamekeeper.store.database.files import (
    LOGS,
    bring_to_disk,
    clear_leftovers,
    put_in_place,
    put_new,
    remove_with_logs,
    temporary,
)
from gamekeeper.store.database.refusals import attempt, damaged
from gamekeeper.store.layout import shown_path

__all__ = ["BACKUP", "backup_position", "make_backup", "restore_store"]

BACKUP: Final = ".backup"
"""What the name of a backup has after that of its store."""


def make_backup(source: sqlite3.Connection, path: Path, asked: str) -> Path:
    """Copy a store to its backup."""
    target = beside(path, BACKUP)
    clear_leftovers(target)
    made = temporary(target)
    try:
        with closing(connect(made, mode="rwc")) as copy:
            copy.execute("PRAGMA synchronous = OFF")
            source.backup(copy)
            # One file by itself, without a log beside it.
            copy.execute("PRAGMA journal_mode = DELETE")
            if not _is_sound(copy, "quick_check"):
                raise damaged(asked, path)
        put_in_place(made, target)
    finally:
        remove_with_logs(made)
    return target


def backup_position(path: Path) -> tuple[int, int] | None:
    """Return the newest revision in the backup of a store and how often codes were saved.

    None if there is no backup that can be read.
    """
    try:
        with closing(connect(beside(path, BACKUP), mode="ro", immutable=True)) as copy:
            return copy.execute("SELECT revision, codes_saved FROM environment").fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def restore_store(path: str | Path) -> Path | None:
    """Put the backup of a store in its place.

    The file that was there is kept beside it, under a name with ``damaged`` and the time.

    Returns
    -------
    Path or None
        Where the file is that was there; None if there was none.

    Raises
    ------
    GamekeeperError
        If there is no backup, it is damaged too, another program has the store open, or the
        system refuses. Nothing was changed then.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "forms.gk"
    ...     EnvironmentStore.create(path, who="ana").close()
    ...     _ = path.write_bytes(b"spoilt")
    ...     aside = restore_store(path)
    ...     with EnvironmentStore.open(path) as store:
    ...         aside.read_bytes(), store.revision
    (b'spoilt', 1)
    """
    asked = "The backup of the store {} was to be put in its place."
    place = Path(path).absolute()
    return attempt(asked, place, lambda: _restored(place, asked))


def _restored(path: Path, asked: str) -> Path | None:
    backup = beside(path, BACKUP)
    if not backup.exists():
        raise StoreError(
            Reason.NOT_FOUND,
            asked.format(shown_path(path)),
            f"There is no backup {shown_path(backup.name)} beside it. Nothing was changed.",
            "A backup is made whenever a store that was changed is closed.",
        )
    require_store(backup, asked)
    _require_unused(path, asked)
    made = temporary(path)
    try:
        with closing(connect(backup, mode="ro", immutable=True)) as source:
            if not _is_sound(source, "integrity_check"):
                raise StoreError(
                    Reason.DAMAGED,
                    asked.format(shown_path(path)),
                    "The backup is damaged too. Nothing was changed.",
                    "Look for an older copy of the store or of its folder.",
                )
            with closing(connect(made, mode="rwc")) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL")
        aside = _set_aside(path)
        put_new(made, path)
    finally:
        remove_with_logs(made)
    return aside


def _set_aside(path: Path) -> Path | None:
    """Rename a store and the files of its log, which must not be taken for those of another."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    aside = beside(path, f".damaged-{stamp}")
    moved: Path | None = None
    for ending in ("", *LOGS):
        with suppress(FileNotFoundError):
            beside(path, ending).rename(beside(aside, ending))
            moved = moved or aside
    if moved:
        bring_to_disk(path.parent)
    return moved if aside.exists() else None


def _require_unused(path: Path, asked: str) -> None:
    """Refuse while another program has the store open: it would go on writing to the old file."""
    try:
        require_store(path, asked)
        with closing(connect(path, mode="rw")) as connection:
            connection.execute("PRAGMA busy_timeout = 1000")
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
    except (GamekeeperError, UnicodeDecodeError):
        return
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            return
    else:
        return
    raise StoreError(
        Reason.BUSY,
        asked.format(shown_path(path)),
        "Another program has the store open. Nothing was changed.",
        "Close it there first.",
    )


def _is_sound(connection: sqlite3.Connection, check: str) -> bool:
    try:
        return connection.execute(f"PRAGMA {check}(1)").fetchone() == ("ok",)
    except (sqlite3.Error, UnicodeDecodeError):
        return False
