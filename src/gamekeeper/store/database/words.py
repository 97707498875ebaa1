"""How SQLite and PostgreSQL differ in words and refusals; the version of a store, and its migration.

Questions of ours are in the words of SQLite. The text of a database error may hold statements and
values, so it is never shown, not even as the cause of our error. Alembic is imported only to make or
to raise a store; all migrations that a store needs happen in one transaction.
"""

from __future__ import annotations

import errno
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gamekeeper.errors import Problem, Reason, StoreError
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import count_of, shown_path

if TYPE_CHECKING:
    from sqlalchemy import Connection


_JOINED: Final = "group_concat(selection_id, ',')"
_JOINED_ELSEWHERE: Final = "string_agg(CAST(selection_id AS TEXT), ',')"
SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
Ask = Callable[[str], Sequence[tuple[Any, ...]]]
"""Returns the rows that answer a question in SQL."""


def spoken(question: str, database: str) -> str:
    """Return a question in the words of a database, `sqlite` or `postgresql`.

    Examples
    --------
    >>> spoken("SELECT group_concat(selection_id, ',') FROM instance", "postgresql")
    "SELECT string_agg(CAST(selection_id AS TEXT), ',') FROM instance"
    """
    return question if database == SQLITE else question.replace(_JOINED, _JOINED_ELSEWHERE)


_Outcome = TypeVar("_Outcome")
RESTORE: Final = (
    "Put the last backup in its place with 'gamekeeper env restore'; the damaged file is kept."
)
"""What to do about a damaged store."""

RESTORE_ON_SERVER: Final = (
    "Have the database put back by those who keep its backups, or put a copy beside it:"
    " 'gamekeeper env copy' writes a file into another schema."
)
"""What to do about a damaged store on a server."""

DAMAGE: Final = (
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
DAMAGED = (Reason.DAMAGED, DAMAGE, RESTORE)
_REFUSED = (
    Reason.NOT_WRITABLE,
    "The system refused to read or write the store or a file beside it. Nothing was changed.",
    "Check the disk and the permissions, and that the store is on a disk of this machine.",
)
_FAULTS: Final = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_PROTOCOL: _BUSY,
    sqlite3.SQLITE_CONSTRAINT: DAMAGED,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_ERROR: DAMAGED,
    sqlite3.SQLITE_FORMAT: DAMAGED,
    sqlite3.SQLITE_MISMATCH: DAMAGED,
    sqlite3.SQLITE_INTERNAL: DAMAGED,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    # The length of a text, where that is what has changed.
    sqlite3.SQLITE_TOOBIG: DAMAGED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
}
_SYSTEM_FAULTS: Final = {
    errno.ENOSPC: _FULL, errno.EDQUOT: _FULL, errno.EFBIG: _FULL, errno.EROFS: _READ_ONLY,
    errno.EACCES: _READ_ONLY, errno.EPERM: _READ_ONLY,
}  # fmt: skip


# What SQLite needs for the shared index of its log.
_LEAST_ROOM: Final = 64 * 1024


class Contradiction(ValueError):  # noqa: N818 - caught within this package, never shown
    """Rows or documents that no environment or history comes to: the store is damaged."""


class ServerRefusal(Exception):  # noqa: N818 - caught within this package, never shown
    """What a server refused, in our words: the reason, what was found, what to do."""

    def __init__(self, reason: Reason, found: str, do: str) -> None:
        super().__init__(reason)
        self.told = (reason, found, do)


# The driver fails to decode its own message where a damaged schema is part of it.
_CAUGHT: Final = (sqlite3.Error, OSError, UnicodeDecodeError, Contradiction)


def attempt(asked: str, place: StorePlace, work: Callable[[], _Outcome]) -> _Outcome:
    """Do some work on a store, and say in our words what the database or the system refuses."""
    try:
        return work()
    except ServerRefusal as refusal:
        reason, found, do = refusal.told
    except _CAUGHT as error:
        reason, found, do = _fault(error)
        # SQLite does not say that there was no room for the files that it needs beside a store.
        if reason is _REFUSED[0] and isinstance(place, Path) and has_no_room(place):
            reason, found, do = _FULL
    if reason is Reason.DAMAGED:
        do = _restoring(place)
    # Raised out here, the error has no cause or context that would show the text of the other.
    raise StoreError(reason, asked.format(shown_path(place)), found, do)


def has_no_room(path: Path) -> bool:
    """Tell whether the disk of a store has no room for the files that SQLite needs beside it."""
    try:
        return shutil.disk_usage(path.absolute().parent).free < _LEAST_ROOM
    except OSError:
        return False


def damaged(asked: str, place: StorePlace, problems: Iterable[Problem] = ()) -> StoreError:
    """Return the error that a store is damaged."""
    return StoreError(
        Reason.DAMAGED,
        asked.format(shown_path(place)),
        DAMAGE,
        _restoring(place),
        problems=problems,
    )


def damage_at(where: str, number: int) -> Problem:
    """Return the problem that something of a store is damaged, in so many places."""
    return Problem(Reason.DAMAGED, where, f"{count_of(number, 'fault')} found.")


def _restoring(place: StorePlace) -> str:
    return RESTORE if isinstance(place, Path) else RESTORE_ON_SERVER


def _fault(error: Exception) -> tuple[Reason, str, str]:
    if isinstance(error, Contradiction | UnicodeDecodeError):
        return DAMAGED
    if isinstance(error, OSError):
        return _SYSTEM_FAULTS.get(error.errno or 0, _REFUSED)
    # Texts that are not UTF-8 and the like are found by the driver, which gives no code.
    number = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return _FAULTS.get(number & 0xFF, _REFUSED)


VERSIONS: Final = ("0005",)
"""All versions of stores, the newest last; those before the first were never published."""

_VERSION: Final = re.compile(r"[0-9]{4}")
# Alembic has one set of migrations at work in a process.
_MIGRATING: Final = Lock()
_SCRIPTS: Final = Path(__file__).with_name("migrations")


def version_of(ask: Ask, place: StorePlace, asked: str) -> str:
    """Return the version of a store; one that is not known is refused."""
    try:
        ((version,),) = ask("SELECT version_num FROM alembic_version")
    except ValueError:
        raise damaged(asked, place) from None
    if version in VERSIONS:
        return version
    if not _VERSION.fullmatch(str(version)):
        raise damaged(asked, place)
    if version < VERSIONS[0]:
        found = "The store is of a version that was never published. Nothing was changed."
        do = "Export it with the Gamekeeper that made it (env export), and import the folder."
        raise StoreError(Reason.WRONG_SCHEMA, asked.format(shown_path(place)), found, do)
    found = "The store is of a newer version of Gamekeeper. Nothing was changed."
    do = "Update Gamekeeper."
    raise StoreError(Reason.NEWER_VERSION, asked.format(shown_path(place)), found, do)


def migrate(connection: Connection) -> None:
    """Bring the tables to the newest version, within the transaction of a connection."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    # A percent sign in the path would be taken for the start of a reference.
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    with _MIGRATING:
        command.upgrade(config, VERSIONS[-1])
