"""Where a store is kept and how it is reached: its file, the copies beside it, the names in it.

Readers and one writer at a time work side by side (write-ahead log). What was committed is on disk
before the commit returns. The first bytes of a file are looked at without SQLite, so that a file of
something else is not touched.

The automatic backup is the last good state, renewed whenever a store that was changed is closed.
Backups that were asked for are kept, each under its name and the time: `forms.gk.backup-before-
census-20310501T143000Z`. A copy is made while others may write, checked, brought to disk and only
then given its name. A store that SQLite finds damaged never replaces a good copy.

Names are read by themselves: they are all that is offered while somebody types.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote

from gamekeeper import files
from gamekeeper.errors import GamekeeperError, InputError, Problem, Reason, StoreError
from gamekeeper.store.database.words import Ask, attempt, damage_at, damaged, has_no_room
from gamekeeper.store.place import ServerPlace, StorePlace, slugs, store_place
from gamekeeper.wording import quoted, shown_path

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from gamekeeper.store.database.server import ServerAccess


MARK: Final = 0x476B5374
"""The application id of our files: "GkSt"."""

_MARK_AT: Final = 68
_HEADER: Final = 100
# Waiting is not fair: with many at once, somebody may wait much longer than on average.
_PATIENCE_SECONDS: Final = 120


def beside(path: Path, ending: str) -> Path:
    """Return the file whose name is that of a store and something more.

    Examples
    --------
    >>> beside(Path("forms.gk"), ".backup").name
    'forms.gk.backup'
    """
    return path.with_name(path.name + ending)


def file_place(path: str | Path) -> Path:
    """Return the full path of a store, beyond any links: files beside it belong to its own name."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        asked = f"The store {shown_path(path)} was asked for."
        found = "That cannot be the path of a file."
        raise InputError(Reason.NOT_READABLE, asked, found, "Check the path.") from None


def require_store(path: Path, asked: str) -> None:
    """Refuse what is not a store of ours, by its first bytes."""
    fault = _strangeness(path)
    if fault is None:
        return
    kind, reason, found, do = fault
    raise kind(reason, asked.format(shown_path(path)), found, do)


def connect(path: Path, *, mode: str, immutable: bool = False) -> sqlite3.Connection:
    """Return a connection of the driver; `mode` is ro, rw or rwc as SQLite has it.

    `immutable` is for a disk on which not even the files can be made that readers share.
    """
    place = quote(os.fsencode(path.absolute()))
    connection = sqlite3.connect(
        f"file:{place}?mode={mode}{'&immutable=1' if immutable else ''}",
        uri=True,
        timeout=_PATIENCE_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _strangeness(path: Path) -> tuple[type[GamekeeperError], Reason, str, str] | None:
    try:
        do = "Check the path."
        if beside(path, ".backup").exists():
            do = "Check the path. A backup is there: 'gamekeeper env restore' puts it in place."
        if path.is_dir():
            return InputError, Reason.WRONG_SCHEMA, "It is a folder, and a store is a file.", do
        if not path.exists():
            return InputError, Reason.NOT_FOUND, "There is no such file.", do
        files.require_ordinary(path)
        with path.open("rb") as file:
            start = file.read(_HEADER)
    except OSError as error:
        found = f"It could not be read: {error.strerror or 'no reason given'}."
        return InputError, Reason.NOT_READABLE, found, "Check the path and the permissions."
    if not start:
        return StoreError, Reason.DAMAGED, "The file is empty.", do
    if not start.startswith(files.SQLITE):
        return InputError, Reason.WRONG_SCHEMA, "The file is not a store.", do
    if len(start) < _HEADER:
        return StoreError, Reason.DAMAGED, "The file breaks off after a few bytes.", do
    if int.from_bytes(start[_MARK_AT : _MARK_AT + 4], "big") != MARK:
        return InputError, Reason.WRONG_SCHEMA, "The file is of another program.", do
    return None


AUTOMATIC: Final = "automatic"
"""What the automatic backup is called in lists."""

REPLACED: Final = "replaced"
"""What a healthy store is called that another copy was put in the place of."""

_STAMP: Final = "%Y%m%dT%H%M%SZ"
_KEPT: Final = re.compile(r"\.(?:backup-)?(?P<name>[a-z0-9-]+)-(?P<stamp>\d{8}T\d{6}Z)")


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a store beside it, called as was asked for, `automatic` or `replaced`.

    `revision` is the newest in it; None if it cannot be read.
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
    target = beside(path, files.BACKUP)
    with _copied(source, path, asked) as made:
        files.put_in_place(made, target)
    return target


def keep_backup(source: sqlite3.Connection, path: Path, asked: str, *, name: str) -> Path:
    """Copy a store to a backup of its own, under a name and the time."""
    with _copied(source, path, asked) as made:
        at = datetime.now(UTC)
        while True:
            target = beside(path, f"{files.BACKUP}-{name}-{at:{_STAMP}}")
            try:
                files.put_new(made, target)
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
        if ending == files.BACKUP:
            # Whole seconds, as the names of others have them.
            at = datetime.fromtimestamp(int(entry.stat().st_mtime), UTC)
            found.append(Backup(AUTOMATIC, at, _revision(entry), entry))
        elif (kept := _KEPT.fullmatch(ending)) and (
            ending.startswith(f"{files.BACKUP}-") or kept["name"] == REPLACED
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
        asked = f"The name {quoted([name])} was asked for a backup."
        found = "It is empty." if not name.strip() else "Gamekeeper uses that name itself."
        raise InputError(Reason.BAD_NAME, asked, found, "Choose another name.")
    return plain


def stamp_of(at: datetime) -> str:
    """Return a time as the names of files have it."""
    return f"{at:{_STAMP}}"


def backup_position(path: Path) -> tuple[int, int] | None:
    """Return the newest revision in the automatic backup and how often codes were saved.

    None if there is no backup that can be read.
    """
    return _position(beside(path, files.BACKUP))


def is_sound(connection: sqlite3.Connection, check: str) -> bool:
    """Tell whether SQLite finds a file sound; `check` is quick_check or integrity_check."""
    try:
        return connection.execute(f"PRAGMA {check}(1)").fetchone() == ("ok",)
    except (sqlite3.Error, UnicodeDecodeError):
        return False


@contextmanager
def _copied(source: sqlite3.Connection, path: Path, asked: str) -> Generator[Path]:
    """Give a checked copy of a store, with its permissions, under a name that is not to last."""
    with files.aside(path, private=True, like=path) as made:
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


class FileAccess:
    """How the file of a store is reached: to write, to read, or where nobody can write."""

    has_backups = True

    def __init__(self, path: Path, *, readonly: bool) -> None:
        self.place = path
        locks = os.access(beside(path, "-shm"), os.F_OK)
        # A full disk is like one that is read-only, as long as nobody has the store open.
        self.is_full = not locks and has_no_room(path)
        folder_is_open = os.access(path.absolute().parent, os.W_OK) and not self.is_full
        can_write = folder_is_open and os.access(path, os.W_OK)
        self.readonly = readonly or not can_write
        # A connection that only could read would leave the files of the log behind.
        self._mode = "rw" if can_write else "ro"
        # Readers of a write-ahead log need a file for locks beside it. Where it cannot be made
        # and there is no log, nobody is writing and the file can be read as it is.
        log = beside(path, "-wal")
        can_lock = folder_is_open or locks
        self._immutable = not can_lock and not (log.exists() and log.stat().st_size)

    def require(self, asked: str) -> None:
        """Refuse what is not a store of ours, after clearing what a killed program left."""
        files.clear_leftovers(self.place)
        require_store(self.place, asked)

    def engine(self) -> Engine:
        """Return an engine of SQLAlchemy."""
        from gamekeeper.store.database.engines import make_engine

        return make_engine("sqlite://", self._connect)

    @contextmanager
    def asking(self) -> Generator[Ask]:
        """Give what answers questions, all from one state, without SQLAlchemy."""
        with closing(self._begun()) as connection:
            yield lambda question: connection.execute(question).fetchall()

    def faults(self, connection: Connection) -> list[Problem]:
        """Return what is wrong with the file as a database, but not in words that show its content."""
        faults = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        loose = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        problems = [damage_at("pages of the file", len(faults))] if faults != ["ok"] else []
        return problems + ([damage_at("rows that name others", len(loose))] if loose else [])

    def identity(self, connection: Connection) -> object:
        """Return which file it is."""
        found = self.place.stat()
        return found.st_dev, found.st_ino

    def announce(self, connection: Connection, revision: int) -> None:
        """Tell others of a new revision: of a file, they look for themselves."""

    def backup_position(self) -> tuple[int, int] | None:
        """Return the newest revision in the automatic backup and how often codes were saved."""
        return backup_position(self.place)

    def renew_backup(self, asked: str) -> None:
        """Copy the store to its automatic backup, in place of the one before."""
        with closing(self._connect()) as source:
            renew_backup(source, self.place, asked)

    def keep_backup(self, name: str, asked: str) -> Path:
        """Copy the store to a backup of its own, under a name and the time."""
        with closing(self._connect()) as source:
            return keep_backup(source, self.place, asked, name=name)

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.place, mode=self._mode, immutable=self._immutable)
        if self.readonly:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def _begun(self) -> sqlite3.Connection:
        connection = self._connect()
        try:
            connection.execute("BEGIN")
        except BaseException:
            connection.close()
            raise
        return connection


Access: TypeAlias = "FileAccess | ServerAccess"
"""What everything above asks of where a store is kept: both kinds answer alike."""


def place_of(given: str | Path | ServerPlace) -> StorePlace:
    """Return where a store is: a full path beyond any links, or an address."""
    place = store_place(given)
    return place if isinstance(place, ServerPlace) else file_place(place)


def access_of(place: StorePlace, *, readonly: bool) -> Access:
    """Return how a store is reached."""
    if isinstance(place, ServerPlace):
        from gamekeeper.store.database.server import ServerAccess

        return ServerAccess(place, readonly=readonly)
    return FileAccess(place, readonly=readonly)


_NAMES: Final = "The names in the store {} were asked for."

# A variable that was removed stays as a row without a definition.
_QUESTIONS: Final = {
    "forms": "SELECT name FROM form ORDER BY name, id",
    "variables": "SELECT name FROM variable WHERE definition IS NOT NULL ORDER BY name, id",
    "groups": "SELECT name FROM form_group ORDER BY name, id",
    "scenarios": "SELECT name FROM scenario ORDER BY name, id",
}


def read_names(path: str | StorePlace, kind: str) -> list[str]:
    """Return the names of forms, variables, groups or scenarios in their order.

    Nothing else is read or checked, so that it takes a few milliseconds.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.mapping.edits import AddForm
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with EnvironmentStore.create(Path(folder) / "forms.gk", who="ana") as store:
    ...         _ = store.apply([AddForm(name="Bank")], who="ana")
    ...     read_names(Path(folder) / "forms.gk", "forms")
    ['Bank']
    """
    place = place_of(path)
    access = access_of(place, readonly=True)
    access.require(_NAMES)

    def read() -> list[str]:
        with access.asking() as ask:
            return [name for (name,) in ask(_QUESTIONS[kind])]

    return attempt(_NAMES, place, read)
