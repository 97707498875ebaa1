"""Copies beside a store: the automatic backup, and backups that somebody asked for.

The automatic backup is the last good state, renewed whenever a store that was changed is closed.
Backups that were asked for are kept, each under its name and the time: `forms.gk.backup-before-
census-20310501T143000Z`. A copy is made while others may write, checked, brought to disk and only
then given its name. A store that SQLite finds damaged never replaces a good copy.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from gamekeeper.errors import InputError, Reason
from gamekeeper.files.asides import aside, put_in_place, put_new
from gamekeeper.files.gate import BACKUP
from gamekeeper.store.database.file.connections import beside, connect
from gamekeeper.store.database.refusals import damaged
from gamekeeper.store.slugs import slugs
from gamekeeper.wording import quoted

AUTOMATIC: Final = "automatic"
"""What the automatic backup is called in lists."""

REPLACED: Final = "replaced"
"""What a healthy store is called that another copy was put in the place of."""

_STAMP: Final = "%Y%m%dT%H%M%SZ"
_KEPT: Final = re.compile(r"\.(?:backup-)?(?P<name>[a-z0-9-]+)-(?P<stamp>\d{8}T\d{6}Z)")


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a store beside it.

    Attributes
    ----------
    name
        What it is called: as was asked for, `automatic` or `replaced`.
    at
        When it was made.
    revision
        The newest revision in it; None if it cannot be read.
    """

    name: str
    at: datetime
    revision: int | None
    path: Path

    @property
    def full_name(self) -> str:
        """The name with the time, which no other backup of the store has."""
        return self.name if self.name == AUTOMATIC else f"{self.name}-{self.at:{_STAMP}}"


def renew_backup(source: sqlite3.Connection, path: Path, asked: str) -> Path:
    """Copy a store to its automatic backup, in place of the one before."""
    target = beside(path, BACKUP)
    with _copied(source, path, asked) as made:
        put_in_place(made, target)
    return target


def keep_backup(source: sqlite3.Connection, path: Path, asked: str, *, name: str) -> Path:
    """Copy a store to a backup of its own, under a name and the time."""
    with _copied(source, path, asked) as made:
        at = datetime.now(UTC)
        while True:
            target = beside(path, f"{BACKUP}-{name}-{at:{_STAMP}}")
            try:
                put_new(made, target)
            except FileExistsError:
                # Two of one name within a second.
                at += timedelta(seconds=1)
            else:
                return target


def find_backups(path: Path) -> list[Backup]:
    """Return the backups of a store, the newest first; those that were replaced count too."""
    found: list[Backup] = []
    for entry in path.parent.iterdir():
        ending = entry.name.removeprefix(path.name)
        if ending == entry.name or not entry.is_file():
            continue
        if ending == BACKUP:
            # Whole seconds, as the names of others have them.
            at = datetime.fromtimestamp(int(entry.stat().st_mtime), UTC)
            found.append(Backup(AUTOMATIC, at, _revision(entry), entry))
        elif (kept := _KEPT.fullmatch(ending)) and (
            ending.startswith(f"{BACKUP}-") or kept["name"] == REPLACED
        ):
            at = datetime.strptime(kept["stamp"], _STAMP).replace(tzinfo=UTC)
            found.append(Backup(kept["name"], at, _revision(entry), entry))
    return sorted(found, key=lambda item: (item.at, item.name), reverse=True)


def plain_name(name: str) -> str:
    """Return the name of a backup as file names have it.

    Examples
    --------
    >>> plain_name("Before the census")
    'before-the-census'
    """
    (plain,) = slugs([name]).values()
    if not name.strip() or plain in (AUTOMATIC, REPLACED):
        raise InputError(
            Reason.BAD_NAME,
            f"The name {quoted([name])} was asked for a backup.",
            "It is empty." if not name.strip() else "Gamekeeper uses that name itself.",
            "Choose another name.",
        )
    return plain


def stamp_of(at: datetime) -> str:
    """Return a time as the names of files have it."""
    return f"{at:{_STAMP}}"


def backup_position(path: Path) -> tuple[int, int] | None:
    """Return the newest revision in the automatic backup and how often codes were saved.

    None if there is no backup that can be read.
    """
    return _position(beside(path, BACKUP))


def is_sound(connection: sqlite3.Connection, check: str) -> bool:
    """Tell whether SQLite finds a file sound; `check` is quick_check or integrity_check."""
    try:
        return connection.execute(f"PRAGMA {check}(1)").fetchone() == ("ok",)
    except (sqlite3.Error, UnicodeDecodeError):
        return False


@contextmanager
def _copied(source: sqlite3.Connection, path: Path, asked: str) -> Generator[Path]:
    """Give a checked copy of a store, with its permissions, under a name that is not to last."""
    with aside(path, private=True, like=path) as made:
        with closing(connect(made, mode="rwc")) as copy:
            copy.execute("PRAGMA synchronous = OFF")
            source.backup(copy)
            # One file by itself, without a log beside it.
            copy.execute("PRAGMA journal_mode = DELETE")
            if not is_sound(copy, "quick_check"):
                raise damaged(asked, path)
        yield made


def _revision(path: Path) -> int | None:
    found = _position(path)
    return None if found is None else found[0]


def _position(path: Path) -> tuple[int, int] | None:
    try:
        with closing(connect(path, mode="ro", immutable=True)) as copy:
            return copy.execute("SELECT revision, codes_saved FROM environment").fetchone()
    except (sqlite3.Error, UnicodeDecodeError):
        return None
