"""A store that is a file of SQLite: how it is opened, asked, checked and copied."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.errors import Problem, Reason
from gamekeeper.files.asides import clear_leftovers
from gamekeeper.store.database.file.backups import backup_position, keep_backup, renew_backup
from gamekeeper.store.database.file.connections import FileConnections, require_store
from gamekeeper.wording import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, Engine


class FileAccess:
    """How the file of a store is reached."""

    has_backups = True

    def __init__(self, path: Path, *, readonly: bool) -> None:
        self.place = path
        self._connections = FileConnections(path, readonly=readonly)
        self.readonly = self._connections.readonly
        self.is_full = self._connections.is_full

    def require(self, asked: str) -> None:
        """Refuse what is not a store of ours, after clearing what a killed program left."""
        clear_leftovers(self.place)
        require_store(self.place, asked)

    def engine(self) -> Engine:
        """Return an engine; every thread gets its own connection."""
        from sqlalchemy import create_engine
        from sqlalchemy.pool import QueuePool

        from gamekeeper.store.database.engines import prepare

        # A connection in use is never waited for: threads beyond the pool get one of their own.
        return prepare(
            create_engine(
                "sqlite://",
                creator=self._connections.connect,
                poolclass=QueuePool,
                pool_size=5,
                max_overflow=-1,
                hide_parameters=True,
            )
        )

    @contextmanager
    def asking(self) -> Generator[Callable[[str], Sequence[tuple[Any, ...]]]]:
        """Give what answers questions, all from one state, without SQLAlchemy."""
        with closing(self._begun()) as connection:
            yield lambda question: connection.execute(question).fetchall()

    def faults(self, connection: Connection) -> list[Problem]:
        """Return what is wrong with the file as a database; the words for it may show its content."""
        faults = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        loose = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        problems = [_problem("pages of the file", len(faults))] if faults != ["ok"] else []
        return problems + ([_problem("rows that name others", len(loose))] if loose else [])

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
        with closing(self._connections.connect()) as source:
            renew_backup(source, self.place, asked)

    def keep_backup(self, name: str, asked: str) -> Path:
        """Copy the store to a backup of its own, under a name and the time."""
        with closing(self._connections.connect()) as source:
            return keep_backup(source, self.place, asked, name=name)

    def _begun(self) -> sqlite3.Connection:
        connection = self._connections.connect()
        try:
            connection.execute("BEGIN")
        except BaseException:
            connection.close()
            raise
        return connection


def _problem(where: str, number: int) -> Problem:
    return Problem(Reason.DAMAGED, where, f"{count_of(number, 'fault')} found.")
