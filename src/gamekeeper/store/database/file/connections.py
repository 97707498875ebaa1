"""The file of a store: whether it is one, and connections to it.

Readers and one writer at a time work side by side (write-ahead log). What was committed is on disk
before the commit returns. The first bytes are looked at without SQLite, so that a file of
something else is not touched.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final
from urllib.parse import quote

from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.files.gate import SQLITE
from gamekeeper.files.reading import require_ordinary
from gamekeeper.wording import shown_path

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


def place_of(path: str | Path) -> Path:
    """Return the full path of a store, beyond any links: files beside it belong to its own name."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise InputError(
            Reason.NOT_READABLE,
            f"The store {shown_path(path)} was asked for.",
            "That cannot be the path of a file.",
            "Check the path.",
        ) from None


def require_store(path: Path, asked: str) -> None:
    """Refuse what is not a store of ours, by its first bytes."""
    fault = _strangeness(path)
    if fault is None:
        return
    kind, reason, found, do = fault
    raise kind(reason, asked.format(shown_path(path)), found, do)


def connect(path: Path, *, mode: str, immutable: bool = False) -> sqlite3.Connection:
    """Return a connection of the driver; `mode` is ro, rw or rwc as SQLite has it.

    `immutable` is for a disk on which nobody can write, not even the files beside the store that
    readers share.
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
    """Return why a file is not a store, if so."""
    try:
        do = "Check the path."
        if beside(path, ".backup").exists():
            do = "Check the path. A backup is there: 'gamekeeper env restore' puts it in place."
        if path.is_dir():
            return InputError, Reason.WRONG_SCHEMA, "It is a folder, and a store is a file.", do
        if not path.exists():
            return InputError, Reason.NOT_FOUND, "There is no such file.", do
        require_ordinary(path)
        with path.open("rb") as file:
            start = file.read(_HEADER)
    except OSError as error:
        found = f"It could not be read: {error.strerror or 'no reason given'}."
        return InputError, Reason.NOT_READABLE, found, "Check the path and the permissions."
    if not start:
        return StoreError, Reason.DAMAGED, "The file is empty.", do
    if not start.startswith(SQLITE):
        return InputError, Reason.WRONG_SCHEMA, "The file is not a store.", do
    if len(start) < _HEADER:
        return StoreError, Reason.DAMAGED, "The file breaks off after a few bytes.", do
    if int.from_bytes(start[_MARK_AT : _MARK_AT + 4], "big") != MARK:
        return InputError, Reason.WRONG_SCHEMA, "The file is of another program.", do
    return None
