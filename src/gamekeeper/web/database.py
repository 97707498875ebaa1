"""The server's own database: sessions, accounts and jobs. What people know is not in it.

It lies in the private folder of the server and not in the store of the environment, whose history,
export and backup must know nothing of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from gamekeeper.errors import StoreError
from gamekeeper.files.writing import write_file

_TABLES = """
CREATE TABLE IF NOT EXISTS account (
    folded TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS session (
    digest TEXT PRIMARY KEY, who TEXT NOT NULL, folded TEXT NOT NULL,
    made REAL NOT NULL, seen REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS attempt (
    key TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, who TEXT NOT NULL, request TEXT NOT NULL,
    state TEXT NOT NULL, made REAL NOT NULL, changed REAL NOT NULL,
    done INTEGER NOT NULL DEFAULT 0, total INTEGER, pid INTEGER, started TEXT,
    cancel REAL, error TEXT
);
"""


class Database:
    """A file of SQLite; every use is a transaction of its own, from whatever thread or process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            # Whoever comes second finds it there.
            with suppress(StoreError):
                write_file(path, b"", private=True, replace=False)
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_TABLES)

    @contextmanager
    def at_work(self) -> Generator[sqlite3.Connection]:
        """Give a connection within a transaction that can write."""
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def looking(self) -> Generator[sqlite3.Connection]:
        """Give a connection to read from."""
        with closing(self._connect()) as connection:
            yield connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=20, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection
