"""A store read once, for whoever only looks: with the driver alone, without SQLAlchemy."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from gamekeeper.files.asides import clear_leftovers
from gamekeeper.store.database.contents.loading import State, load
from gamekeeper.store.database.file.connections import Access, place_of, require_store
from gamekeeper.store.database.file.refusals import attempt
from gamekeeper.store.database.file.versions import VERSIONS, version_of

_OPEN = "The store {} was to be opened."
_READ = "The environment in the store {} was to be read."


def read_state(path: str | Path) -> State | None:
    """Return what a store holds; None if it is of an older version, which must be raised first.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     EnvironmentStore.create(Path(folder) / "forms.gk", who="ana", name="Norland").close()
    ...     read_state(Path(folder) / "forms.gk").environment.name
    'Norland'
    """
    place = place_of(path)
    clear_leftovers(place)
    require_store(place, _OPEN)
    with closing(attempt(_OPEN, place, lambda: _begun(place))) as connection:

        def ask(question: str) -> list[tuple[Any, ...]]:
            return connection.execute(question).fetchall()

        version = attempt(_OPEN, place, lambda: version_of(ask, place, _OPEN))
        return attempt(_READ, place, lambda: load(ask)) if version == VERSIONS[-1] else None


def _begun(path: Path) -> sqlite3.Connection:
    """Return a connection within a transaction: all it is asked is answered from one state."""
    connection = Access(path, readonly=True).connect()
    try:
        connection.execute("BEGIN")
    except BaseException:
        connection.close()
        raise
    return connection
