"""A backup put in the place of its store; what was there is kept beside it."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.files.asides import aside as made_aside
from gamekeeper.files.asides import bring_to_disk, move, put_new
from gamekeeper.files.gate import BACKUP, LOGS
from gamekeeper.results import Progress
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.file.backups import (
    AUTOMATIC,
    REPLACED,
    Backup,
    find_backups,
    is_sound,
    stamp_of,
)
from gamekeeper.store.database.file.connections import beside, connect, place_of, require_store
from gamekeeper.store.database.refusals import attempt
from gamekeeper.store.slugs import slugs
from gamekeeper.wording import did_you_mean, quoted, shown_path

_LIST = "The backups of the store {} were asked for."
_RESTORE = "A backup of the store {} was to be put in its place."


def list_backups(path: str | Path) -> list[Backup]:
    """Return the backups of a store, the newest first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with EnvironmentStore.create(Path(folder) / "forms.gk", who="ana") as store:
    ...         _ = store.backup("Before the census")
    ...     sorted(item.name for item in list_backups(Path(folder) / "forms.gk"))
    ['automatic', 'before-the-census']
    """
    place = place_of(path)
    return attempt(_LIST, place, lambda: find_backups(place))


def restore_store(
    path: str | Path, name: str = "", *, progress: Progress | None = None
) -> tuple[Backup, Path | None]:
    """Put a backup of a store in its place.

    The file that was there is kept beside it, with the time in its name: as ``replaced``, or as
    ``damaged`` if it is. A store that was replaced is among the backups from then on.

    Parameters
    ----------
    name
        The name of the backup, with the time where several have it; without the time it is the
        newest of that name. By default the automatic backup.
    progress
        As for `EnvironmentStore.check`: the store is checked to see how to call it.

    Returns
    -------
    Backup, Path or None
        What was put in place; where the file is that was there, None if there was none.

    Raises
    ------
    GamekeeperError
        If there is no such backup, it is damaged too, another program has the store open, or the
        system refuses. Nothing was changed then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "forms.gk"
    ...     EnvironmentStore.create(path, who="ana").close()
    ...     _ = path.write_bytes(b"spoilt")
    ...     backup, aside = restore_store(path)
    ...     with EnvironmentStore.open(path) as store:
    ...         backup.name, aside.read_bytes(), store.revision
    ('automatic', b'spoilt', 1)
    """
    place = place_of(path)
    return attempt(_RESTORE, place, lambda: _restored(place, name, progress))


def _restored(path: Path, name: str, progress: Progress | None) -> tuple[Backup, Path | None]:
    backup = _named(path, name)
    require_store(backup.path, _RESTORE)
    _require_unused(path)
    is_healthy = _is_healthy(path, progress)
    # The store may be gone; then the backup says who may read it.
    like = path if path.exists() else backup.path
    with made_aside(path, private=True, like=like) as made:
        # A store that was replaced may have its log beside it.
        has_log = beside(backup.path, "-wal").exists()
        with closing(connect(backup.path, mode="ro", immutable=not has_log)) as source:
            if not is_sound(source, "integrity_check"):
                raise StoreError(
                    Reason.DAMAGED,
                    _RESTORE.format(shown_path(path)),
                    f"The backup {quoted([backup.full_name])} is damaged"
                    f"{'' if is_healthy else ' too'}. Nothing was changed.",
                    "Take another: 'gamekeeper env backups' lists them. Or look for a copy"
                    " elsewhere, of the store or of its folder.",
                )
            with closing(connect(made, mode="rwc")) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL")
        aside = _set_aside(path, REPLACED if is_healthy else "damaged")
        put_new(made, path)
    return backup, aside


def _named(path: Path, name: str) -> Backup:
    """Return the backup of a name, the newest if several have it."""
    known = find_backups(path) if path.parent.is_dir() else []
    asked = (name or AUTOMATIC).casefold()
    (plain,) = slugs([name or AUTOMATIC]).values()
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
    raise StoreError(
        Reason.NOT_FOUND,
        _RESTORE.format(shown_path(path)),
        f"There is no backup {shown_path(path.name + BACKUP)} beside it. Nothing was changed.",
        "A backup is made whenever a store that was changed is closed. 'gamekeeper env backups'"
        " lists others.",
    )


def _is_healthy(path: Path, progress: Progress | None) -> bool:
    """Tell whether a store is as it should be; one of another version may well be."""
    try:
        with EnvironmentStore.open(path, readonly=True) as store:
            store.check(progress=progress)
    except GamekeeperError as error:
        return error.reason in (Reason.NEWER_VERSION, Reason.READ_ONLY)
    return True


def _set_aside(path: Path, what: str) -> Path | None:
    """Rename a store and the files of its log, which must not be taken for those of another."""
    at = datetime.now(UTC)
    while (aside := beside(path, f".{what}-{stamp_of(at)}")).exists():
        at += timedelta(seconds=1)
    moved: Path | None = None
    for ending in ("", *LOGS):
        with suppress(FileNotFoundError):
            move(beside(path, ending), beside(aside, ending))
            moved = moved or aside
    if moved:
        bring_to_disk(path.parent)
    return moved if aside.exists() else None


def _require_unused(path: Path) -> None:
    """Refuse while another program has the store open: it would go on writing to the old file."""
    try:
        require_store(path, _RESTORE)
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
        _RESTORE.format(shown_path(path)),
        "Another program has the store open. Nothing was changed.",
        "Close it there first.",
    )
