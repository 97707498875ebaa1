"""A study of how to protect a file, kept in one SQLite file (.gkp): every candidate, and where one is.

Candidates are figures and steps, never records. Each was made from another one or from the file
itself, so that they are a tree: undo goes back to the one before, and what is tried next branches off
there. Nothing that was tried is ever lost. A checksum of all that a study holds is written with every
change and looked at by whoever reads: a study that was damaged is refused, and never shown otherwise
than it was written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from gamekeeper import files
from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.wording import count_of, shown_path

VERSION: Final = 1
MARK: Final = 0x476B5072
"""The application id of studies: "GkPr"."""

_CANDIDATES = "SELECT number, parent, content FROM candidate ORDER BY number"
_SCHEMA = """
CREATE TABLE study (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE candidate (
    number INTEGER PRIMARY KEY,
    parent INTEGER NOT NULL,
    content TEXT NOT NULL
);
"""


class Study:
    """A study that is open.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = Study.create(Path(folder, "study.gkp"), {"keys": ["Age"]})
    ...     number = study.add({"label": "first", "parent": 0})
    ...     study.choose(number)
    ...     study.current, study.undo(), study.candidates()[0]["label"]
    (1, 0, 'first')
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: str | Path, about: Mapping[str, Any]) -> Study:
        """Make a study of a file; `about` says which file, under which scenario."""
        path = Path(path)
        asked = f"A study was to be made in {shown_path(path)}."
        found, do = files.fault_of_file(path, replace=False)
        if found:
            raise StoreError(Reason.NOT_WRITABLE, asked, f"It {found}", do)
        try:
            files.clear_leftovers(path)
            with files.aside(path, private=True) as made:
                with cls(made)._open(asked) as connection:
                    connection.executescript(
                        f"PRAGMA application_id = {MARK}; PRAGMA user_version = {VERSION};"
                    )
                    connection.executescript(_SCHEMA)
                    rows = [("about", json.dumps(dict(about))), ("current", "0"), ("seal", "")]
                    connection.executemany("INSERT INTO study VALUES (?, ?)", rows)
                    _seal(connection)
                files.put_new(made, path)
        except OSError as error:
            raise files.refusal(asked, error) from error
        return cls(path)

    @classmethod
    def open(cls, path: str | Path) -> Study:
        """Open a study that is there."""
        path = Path(path)
        asked = f"The study {shown_path(path)} was asked for."
        do = "Give the file that --study of protect try made."
        try:
            files.require_ordinary(path)
            with path.open("rb") as file:
                start = file.read(100)
        except FileNotFoundError:
            raise InputError(Reason.NOT_FOUND, asked, "There is no such file.", do) from None
        except OSError as error:
            found = f"It could not be read ({type(error).__name__})."
            raise InputError(Reason.NOT_READABLE, asked, found, do) from None
        if not start.startswith(files.SQLITE) or int.from_bytes(start[68:72], "big") != MARK:
            raise InputError(Reason.WRONG_SCHEMA, asked, "It is no study.", do)
        version = int.from_bytes(start[60:64], "big")
        if version > VERSION:
            found = f"It is of version {version}, and this program knows {VERSION}."
            do = "Use the newer gamekeeper that it was made by, or a later one."
            raise InputError(Reason.NEWER_VERSION, asked, found, do)
        return cls(path)

    @property
    def about(self) -> dict[str, Any]:
        """What the study is of."""
        return json.loads(self._value("about"))

    @property
    def current(self) -> int:
        """The candidate that the next one is made from; 0 is the file itself."""
        return int(self._value("current"))

    def candidates(self) -> list[dict[str, Any]]:
        """Return all candidates, in the order of their numbers."""
        with self._whole() as connection:
            rows = connection.execute(_CANDIDATES)
            return [
                {**json.loads(content), "number": number, "parent": parent}
                for number, parent, content in rows
            ]

    def add(self, content: Mapping[str, Any]) -> int:
        """Keep a candidate, and return the number that it gets."""
        with self._changed() as connection:
            text = json.dumps({k: v for k, v in content.items() if k not in ("number", "parent")})
            done = connection.execute(
                "INSERT INTO candidate (parent, content) VALUES (?, ?)",
                (int(content.get("parent", 0)), text),
            )
            return int(done.lastrowid or 0)

    def choose(self, number: int) -> None:
        """Let the next candidate be made from this one; 0 is the file itself."""
        with self._changed() as connection:
            known = [row[0] for row in connection.execute("SELECT number FROM candidate")]
            if number and number not in known:
                raise InputError(
                    Reason.UNKNOWN_NAME,
                    f"Candidate {number} of the study was asked for.",
                    f"There {'is' if len(known) == 1 else 'are'} {count_of(len(known), 'candidate')}.",
                    "See them all: gamekeeper protect map STUDY.",
                )
            connection.execute("UPDATE study SET value = ? WHERE name = 'current'", (str(number),))

    def undo(self) -> int:
        """Go back to the candidate that the current one was made from, and return its number."""
        with self._changed() as connection:
            (text,) = connection.execute(
                "SELECT value FROM study WHERE name = 'current'"
            ).fetchone()
            if text == "0":
                asked = "The last choice of a study was to be undone."
                found = "It is at the file itself: nothing was chosen."
                do = "Choose a candidate: gamekeeper protect choose STUDY NUMBER."
                raise InputError(Reason.NOTHING_TO_UNDO, asked, found, do)
            query = "SELECT parent FROM candidate WHERE number = ?"
            (parent,) = connection.execute(query, (int(text),)).fetchone()
            connection.execute("UPDATE study SET value = ? WHERE name = 'current'", (str(parent),))
            return int(parent)

    def __repr__(self) -> str:
        return f"Study({shown_path(self.path)})"

    @property
    def _asked(self) -> str:
        return f"The study {shown_path(self.path)} was asked for."

    def _value(self, name: str) -> str:
        with self._whole() as connection:
            row = connection.execute("SELECT value FROM study WHERE name = ?", (name,)).fetchone()
            return str(row[0])

    @contextmanager
    def _whole(self) -> Generator[sqlite3.Connection]:
        """Open the study, and refuse one that is not as it was written."""
        with self._open(self._asked) as connection:
            told = connection.execute("SELECT value FROM study WHERE name = 'seal'").fetchone()
            if told is None or told[0] != _digest(connection):
                found = "It is not as it was written: its checksum is another."
                do = "Use a copy of it, or try the candidates anew: gamekeeper protect try."
                raise StoreError(Reason.DAMAGED, self._asked, found, do)
            yield connection

    @contextmanager
    def _changed(self) -> Generator[sqlite3.Connection]:
        """Open the study to change it."""
        with self._whole() as connection:
            yield connection
            _seal(connection)

    @contextmanager
    def _open(self, asked: str) -> Generator[sqlite3.Connection]:
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(self.path, timeout=30, isolation_level="IMMEDIATE")
            with connection:
                yield connection
        except GamekeeperError:
            raise
        except (sqlite3.Error, OSError, TypeError, ValueError) as error:
            raise StoreError(
                Reason.NOT_WRITABLE if isinstance(error, OSError) else Reason.DAMAGED,
                asked,
                f"The system refused it ({type(error).__name__}).",
                "Check the file, the space left and the permissions.",
            ) from None
        finally:
            if connection is not None:
                connection.close()


def _digest(connection: sqlite3.Connection) -> str:
    values = connection.execute("SELECT name, value FROM study WHERE name != 'seal' ORDER BY name")
    held = [values.fetchall(), connection.execute(_CANDIDATES).fetchall()]
    return blake2b(json.dumps(held).encode(), digest_size=16).hexdigest()


def _seal(connection: sqlite3.Connection) -> None:
    digest = _digest(connection)
    connection.execute("UPDATE study SET value = ? WHERE name = 'seal'", (digest,))
