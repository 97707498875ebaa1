"""What a database refuses, as errors of ours.

The text of a database error may hold statements and values, so it is never shown, not even as the
cause of our error.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

from gamekeeper.errors import Problem, Reason, StoreError
from gamekeeper.wording import shown_path

_Outcome = TypeVar("_Outcome")

RESTORE: Final = (
    "Put the last backup in its place with 'gamekeeper env restore'; the damaged file is kept."
)
"""What to do about a damaged store."""

_DAMAGE: Final = (
    "The store is damaged: what it holds contradicts itself or cannot be read. Nothing was changed."
)

_FULL = (
    Reason.DISK_FULL,
    "There is no space left for it. Nothing was changed.",
    "Make space and do it again.",
)
_READ_ONLY = (
    Reason.READ_ONLY,
    "The store can only be read here. Nothing was changed.",
    "Check the permissions of the file and its folder, or work on a copy.",
)
_BUSY = (
    Reason.BUSY,
    "Another program was writing to the store all the time. Nothing was changed.",
    "Do it again when that program is done.",
)
_DAMAGED = (Reason.DAMAGED, _DAMAGE, RESTORE)
_REFUSED = (
    Reason.NOT_WRITABLE,
    "The system refused to read or write the store or a file beside it. Nothing was changed.",
    "Check the disk and the permissions, and that the store is on a disk of this machine.",
)
_FAULTS: Final = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_PROTOCOL: _BUSY,
    sqlite3.SQLITE_CONSTRAINT: _DAMAGED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_ERROR: _DAMAGED,
    sqlite3.SQLITE_FORMAT: _DAMAGED,
    sqlite3.SQLITE_MISMATCH: _DAMAGED,
    sqlite3.SQLITE_INTERNAL: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    # The length of a text, where that is what has changed.
    sqlite3.SQLITE_TOOBIG: _DAMAGED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
}
_SYSTEM_FAULTS: Final = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
}


# What SQLite needs for the shared index of its log.
_LEAST_ROOM: Final = 64 * 1024


class Contradiction(ValueError):  # noqa: N818 - caught within this package, never shown
    """Rows or documents that no environment or history comes to: the store is damaged."""


# The driver fails to decode its own message where a damaged schema is part of it.
_CAUGHT: Final = (sqlite3.Error, OSError, UnicodeDecodeError, Contradiction)


def attempt(asked: str, path: Path, work: Callable[[], _Outcome]) -> _Outcome:
    """Do some work on a store, and say in our words what the database or the system refuses."""
    try:
        return work()
    except _CAUGHT as error:
        reason, found, do = _fault(error)
        # SQLite does not say that there was no room for the files that it needs beside a store.
        if reason is _REFUSED[0] and has_no_room(path):
            reason, found, do = _FULL
    # Raised out here, the error has no cause or context that would show the text of the other.
    raise StoreError(reason, asked.format(shown_path(path)), found, do)


def has_no_room(path: Path) -> bool:
    """Tell whether the disk of a store has no room for the files that SQLite needs beside it."""
    try:
        return shutil.disk_usage(path.absolute().parent).free < _LEAST_ROOM
    except OSError:
        return False


def damaged(asked: str, path: Path, problems: Iterable[Problem] = ()) -> StoreError:
    """Return the error that a store is damaged."""
    return StoreError(
        Reason.DAMAGED, asked.format(shown_path(path)), _DAMAGE, RESTORE, problems=problems
    )


def _fault(error: Exception) -> tuple[Reason, str, str]:
    if isinstance(error, Contradiction | UnicodeDecodeError):
        return _DAMAGED
    if isinstance(error, OSError):
        return _SYSTEM_FAULTS.get(error.errno or 0, _REFUSED)
    # Texts that are not UTF-8 and the like are found by the driver, which gives no code.
    number = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return _FAULTS.get(number & 0xFF, _REFUSED)
