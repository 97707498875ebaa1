"""How a server is set up, and its own database: sessions, accounts, jobs.

Settings say which store, where it listens, what it may read, where it keeps its own. The database
has nothing of what people know: it lies in the private folder of the server and not in the store of
the environment, whose history, export and backup must know nothing of it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.files import write_file
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import quoted, shown_path

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"[A-Za-z0-9.\-]{1,253}|\[[0-9A-Fa-f:]{2,45}\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a server is started with; made by `settings_of`.

    `state` is its private folder, with the database and the results of jobs, which are deleted
    after `keep_days`. The `folders` with files of people that may be read go by the names that
    pages show. `origin` is the address that people use, where it is not that of the server itself.
    """

    store: StorePlace
    state: Path
    folders: dict[str, Path]
    host: str = "127.0.0.1"
    port: int = 8720
    origin: str = ""
    keep_days: int = 14

    @property
    def origins(self) -> frozenset[str]:
        """The addresses that a page of this server can have come from."""
        own = {f"http://{host}:{self.port}" for host in (*LOOPBACK, self.host)}
        return frozenset({self.origin} if self.origin else own)

    @property
    def hosts(self) -> frozenset[str]:
        """What the Host header may say."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def is_secure(self) -> bool:
        """Whether people come by https."""
        return self.origin.startswith("https://")


def checked_origin(text: str) -> str:
    """Return an address as browsers write it, or refuse it.

    Examples
    --------
    >>> checked_origin("https://Forms.example/")
    'https://forms.example'
    """
    parts = urlsplit(text.strip())
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    fits = parts.scheme in ("http", "https") and _HOST.fullmatch(shown) and not parts.username
    if not fits or parts.path not in ("", "/") or parts.query or parts.fragment:
        asked = f"The address {quoted([text])} was given."
        do = "Write https://forms.example, without anything after the name."
        raise InputError(Reason.BAD_OPTION, asked, "It is not one of a server.", do)
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}"


def named_folders(folders: tuple[Path, ...]) -> dict[str, Path]:
    """Return folders by the names that pages show: their own, with a number where two are alike."""
    named: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            asked = f"Files in {shown_path(folder)} were to be read."
            raise InputError(Reason.NOT_FOUND, asked, "There is no such folder.", "Check the path.")
        place = folder.resolve()
        if place in named.values():
            continue
        name, number = place.name or "root", 1
        while name in named:
            number += 1
            name = f"{place.name} ({number})"
        named[name] = place
    return named


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
