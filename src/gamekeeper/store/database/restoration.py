"""Backups put in the place of their store, and stores copied as a whole, history and codes and all.

What was in the place of a backup is kept beside it. Copies go between files and servers, there and
back. All tables are read within one transaction, and the new store is there whole or not at all.
What was written is read back and compared with its checksums before it is kept. Rows come in the
order of their keys, so that a copy of a copy is the same.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.files import BACKUP, LOGS, aside, bring_to_disk, move, put_new
from gamekeeper.results import Progress
from gamekeeper.store.database import environment_store, file
from gamekeeper.store.database.engines import METADATA, ask_of, reading
from gamekeeper.store.database.loading import load
from gamekeeper.store.database.words import attempt
from gamekeeper.store.place import StorePlace, slugs
from gamekeeper.wording import did_you_mean, quoted, shown_path

_LIST = "The backups of the store {} were asked for."
_RESTORE = "A backup of the store {} was to be put in its place."


def list_backups(path: str | Path) -> list[file.Backup]:
    """Return the backups of a store, the newest first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with environment_store.EnvironmentStore.create(
    ...         Path(folder) / "forms.gk", who="ana"
    ...     ) as store:
    ...         _ = store.backup("Before the census")
    ...     sorted(item.name for item in list_backups(Path(folder) / "forms.gk"))
    ['automatic', 'before-the-census']
    """
    place = file.file_place(path)
    return attempt(_LIST, place, lambda: file.find_backups(place))


def restore_store(
    path: str | Path, name: str = "", *, progress: Progress | None = None
) -> tuple[file.Backup, Path | None]:
    """Put a backup of a store in its place.

    The file that was there is kept beside it, with the time in its name: as ``replaced``, or as
    ``damaged`` if it is. A store that was replaced is among the backups from then on.

    Returned are what was put in place, and where the file is that was there, if any. Nothing is
    changed where there is no such backup, it is damaged too, another program has the store open, or
    the system refuses.

    Parameters
    ----------
    name
        The name of the backup, with the time where several have it; without the time it is the
        newest of that name. By default the automatic backup.
    progress
        As for `EnvironmentStore.check`: the store is checked to see how to call it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "forms.gk"
    ...     environment_store.EnvironmentStore.create(path, who="ana").close()
    ...     _ = path.write_bytes(b"spoilt")
    ...     backup, aside = restore_store(path)
    ...     with environment_store.EnvironmentStore.open(path) as store:
    ...         backup.name, aside.read_bytes(), store.revision
    ('automatic', b'spoilt', 1)
    """
    place = file.file_place(path)
    return attempt(_RESTORE, place, lambda: _restored(place, name, progress))


def _restored(path: Path, name: str, progress: Progress | None) -> tuple[file.Backup, Path | None]:
    backup = _named(path, name)
    file.require_store(backup.path, _RESTORE)
    _require_unused(path)
    is_healthy = _is_healthy(path, progress)
    # The store may be gone; then the backup says who may read it.
    like = path if path.exists() else backup.path
    with aside(path, private=True, like=like) as made:
        # A store that was replaced may have its log beside it.
        has_log = file.beside(backup.path, "-wal").exists()
        with closing(file.connect(backup.path, mode="ro", immutable=not has_log)) as source:
            if not file.is_sound(source, "integrity_check"):
                raise StoreError(
                    Reason.DAMAGED,
                    _RESTORE.format(shown_path(path)),
                    f"The backup {quoted([backup.full_name])} is damaged"
                    f"{'' if is_healthy else ' too'}. Nothing was changed.",
                    "Take another: 'gamekeeper env backups' lists them. Or look for a copy"
                    " elsewhere, of the store or of its folder.",
                )
            with closing(file.connect(made, mode="rwc")) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL")
        kept = _set_aside(path, file.REPLACED if is_healthy else "damaged")
        put_new(made, path)
    return backup, kept


def _named(path: Path, name: str) -> file.Backup:
    """Return the backup of a name, the newest if several have it."""
    known = file.find_backups(path) if path.parent.is_dir() else []
    asked = (name or file.AUTOMATIC).casefold()
    (plain,) = slugs([name or file.AUTOMATIC]).values()
    for backup in known:
        if asked == backup.full_name.casefold() or plain == backup.name:
            return backup
    if name:
        raise InputError(
            Reason.NOT_FOUND,
            f"The backup {quoted([name])} of the store {shown_path(path)} was asked for.",
            "There is no such backup. Nothing was changed.",
            did_you_mean(name, [backup.name for backup in known])
            + " 'gamekeeper env backups' lists them.",
        )
    found = f"There is no backup {shown_path(path.name + BACKUP)} beside it. Nothing was changed."
    do = (
        "A backup is made whenever a store that was changed is closed. 'gamekeeper env backups'"
        " lists others."
    )
    raise StoreError(Reason.NOT_FOUND, _RESTORE.format(shown_path(path)), found, do)


def _is_healthy(path: Path, progress: Progress | None) -> bool:
    """Tell whether a store is as it should be; one of another version may well be."""
    try:
        with environment_store.EnvironmentStore.open(path, readonly=True) as store:
            store.check(progress=progress)
    except GamekeeperError as error:
        return error.reason in (Reason.NEWER_VERSION, Reason.READ_ONLY)
    return True


def _set_aside(path: Path, what: str) -> Path | None:
    """Rename a store and the files of its log, which must not be taken for those of another."""
    at = datetime.now(UTC)
    while (kept := file.beside(path, f".{what}-{file.stamp_of(at)}")).exists():
        at += timedelta(seconds=1)
    moved: Path | None = None
    for ending in ("", *LOGS):
        with suppress(FileNotFoundError):
            move(file.beside(path, ending), file.beside(kept, ending))
            moved = moved or kept
    if moved:
        bring_to_disk(path.parent)
    return moved if kept.exists() else None


def _require_unused(path: Path) -> None:
    """Refuse while another program has the store open: it would go on writing to the old file."""
    try:
        file.require_store(path, _RESTORE)
        with closing(file.connect(path, mode="rw")) as connection:
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
    found = "Another program has the store open. Nothing was changed."
    raise StoreError(Reason.BUSY, _RESTORE.format(shown_path(path)), found, "Close it there first.")


_COPY: Final = "The store {} was to be copied."
_AT_ONCE: Final = 2_000


def copy_store(
    source: str | StorePlace, target: str | StorePlace, *, progress: Progress | None = None
) -> int:
    """Copy a store to a new one, a file or a schema of a server; return its newest revision.

    `progress` is told how many tables are done, of how many. Nothing is left of a copy that fails.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     environment_store.EnvironmentStore.create(Path(folder) / "forms.gk", who="ana").close()
    ...     copy_store(Path(folder) / "forms.gk", Path(folder) / "copy.gk")
    1
    """
    place, aim = file.place_of(source), file.place_of(target)
    if isinstance(aim, Path):
        environment_store.require_no_link(Path(str(target)))
    engine = environment_store.open_engine(file.access_of(place, readonly=False))

    def copy() -> int:
        with reading(engine) as there:
            newest = load(ask_of(there)).revision

            def fill(here: Connection) -> None:
                tables = METADATA.sorted_tables
                for done, table in enumerate(tables):
                    if progress is not None:
                        progress(done, len(tables))
                    wanted = select(table).order_by(*table.primary_key.columns)
                    for some in there.execute(wanted).mappings().partitions(_AT_ONCE):
                        here.execute(table.insert(), [dict(row) for row in some])
                load(ask_of(here))

            environment_store.create_store(aim, fill)
        return newest

    try:
        return attempt(_COPY, place, copy)
    finally:
        engine.dispose()
