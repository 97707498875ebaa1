"""A store made or opened, and brought to the version of today: a file, or a schema of a server."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files import LOGS, aside, clear_leftovers, environment_around, put_new
from gamekeeper.store.database.engines import ask_of, reading, writing
from gamekeeper.store.database.file import MARK, Access, FileAccess, beside, connect
from gamekeeper.store.database.loading import renew_seals
from gamekeeper.store.database.words import VERSIONS, attempt, migrate, version_of
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.wording import shown_path

_ASKED_TO_CREATE = "The store {} was to be created."
_ASKED_TO_OPEN = "The store {} was to be opened."


def create_store(place: StorePlace, fill: Callable[[Connection], None]) -> None:
    """Make a store; it is there whole or not at all. `fill` writes to its empty tables."""

    def create() -> None:
        if isinstance(place, ServerPlace):
            _create_schema(place, fill)
        else:
            _create_file(place, fill)

    attempt(_ASKED_TO_CREATE, place, create)


def require_no_link(path: Path) -> None:
    """Refuse to make a store where a link says."""
    if os.path.islink(path):  # noqa: PTH114 - a path that cannot be is no link
        found = "It is a link, and links are not followed. Nothing was changed."
        do = "Name the file itself."
        raise StoreError(Reason.NOT_WRITABLE, _ASKED_TO_CREATE.format(shown_path(path)), found, do)


def open_engine(access: Access) -> Engine:
    """Return an engine for a store, after bringing it to the version of today."""
    access.require(_ASKED_TO_OPEN)
    return attempt(_ASKED_TO_OPEN, access.place, lambda: _open(access))


def _create_schema(place: ServerPlace, fill: Callable[[Connection], None]) -> None:
    from gamekeeper.store.database.server import Found, ServerAccess, finish_schema, make_schema

    engine = ServerAccess(place, readonly=False).engine()
    try:
        # What defines tables is part of the transaction, and of two who make a store one waits.
        with writing(engine) as connection:
            found = Found(ask_of(connection), place.schema)
            make_schema(connection, found, place, _ASKED_TO_CREATE)
            migrate(connection)
            finish_schema(connection, place)
            fill(connection)
    finally:
        engine.dispose()


def _create_file(path: Path, fill: Callable[[Connection], None]) -> None:
    # A log that an earlier store left behind would be taken for that of the new one.
    if path.exists() or any(beside(path, ending).exists() for ending in LOGS):
        raise _taken(path)
    if not path.parent.is_dir():
        found = f"There is no folder {shown_path(path.parent)}."
        do = "Make the folder first, or check the path."
        raise StoreError(Reason.NOT_FOUND, _ASKED_TO_CREATE.format(shown_path(path)), found, do)
    if environment_around(path.parent) is not None:
        found = "It lies within the folder of an environment."
        do = "Make it elsewhere."
        raise StoreError(Reason.NOT_WRITABLE, _ASKED_TO_CREATE.format(shown_path(path)), found, do)
    clear_leftovers(path)
    with aside(path, private=True) as made:
        with closing(connect(made, mode="rwc")) as connection:
            connection.execute(f"PRAGMA application_id = {MARK}")
        engine = FileAccess(made, readonly=False).engine()
        try:
            with writing(engine) as connection:
                migrate(connection)
                fill(connection)
        finally:
            engine.dispose()
        with closing(connect(made, mode="rw")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        try:
            put_new(made, path)
        except FileExistsError:
            raise _taken(path) from None


def _open(access: Access) -> Engine:
    engine = access.engine()
    try:
        with reading(engine) as connection:
            version = version_of(ask_of(connection), access.place, _ASKED_TO_OPEN)
        if version != VERSIONS[-1]:
            _raise_version(access, engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _raise_version(access: Access, engine: Engine) -> None:
    if access.readonly:
        raise StoreError(
            Reason.READ_ONLY,
            _ASKED_TO_OPEN.format(shown_path(access.place)),
            "It is of an older version of Gamekeeper, and can only be read here.",
            "Open it once where it can be written, or open a copy.",
        )
    access.renew_backup(_ASKED_TO_OPEN)
    with writing(engine) as connection:
        # Another program may have done it meanwhile.
        if version_of(ask_of(connection), access.place, _ASKED_TO_OPEN) != VERSIONS[-1]:
            migrate(connection)
            if isinstance(access.place, ServerPlace):
                from gamekeeper.store.database.server import finish_schema

                finish_schema(connection, access.place)
            # A migration may change rows, and the checksums of what is there go with them.
            renew_seals(connection)


def _taken(path: Path) -> StoreError:
    found = (
        "There is a file or folder of that name already, or a log of an earlier store of that name"
        " (-wal, -shm or -journal). Nothing was changed."
    )
    do = "Choose another name, open what is there, or move it away."
    return StoreError(Reason.NOT_WRITABLE, _ASKED_TO_CREATE.format(shown_path(path)), found, do)
