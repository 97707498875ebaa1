"""A store that is a file of SQLite: how it is opened, asked, checked and copied."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.errors import Problem
from gamekeeper.files.asides import clear_leftovers
from gamekeeper.store.database.file.backups import backup_position, keep_backup, renew_backup
from gamekeeper.store.database.file.connections import beside, connect, require_store
from gamekeeper.store.database.refusals import damage_at, has_no_room
from gamekeeper.store.database.words import Ask

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class FileAccess:
    """How the file of a store is reached: to write, to read, or on a disk on which nobody can write.

    Examples
    --------
    >>> FileAccess(Path("forms.gk"), readonly=True).readonly
    True
    """

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
        clear_leftovers(self.place)
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
        """Return what is wrong with the file as a database; the words for it may show its content."""
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
