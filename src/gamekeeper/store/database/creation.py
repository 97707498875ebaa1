"""The file of a store made or opened, and brought to the version of today."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine

from gamekeeper.errors import Reason, StoreError
from gamekeeper.files.asides import aside, clear_leftovers, put_new
from gamekeeper.files.gate import LOGS, environment_around
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.contents.seals import renew_seals
from gamekeeper.store.database.file.backups import renew_backup
from gamekeeper.store.database.file.connections import (
    MARK,
    Access,
    beside,
    connect,
    require_store,
)
from gamekeeper.store.database.file.engines import ask_of, engine_of, reading, writing
from gamekeeper.store.database.file.refusals import attempt
from gamekeeper.store.database.file.versions import VERSIONS, migrate, version_of
from gamekeeper.store.database.history.new_revision import begin
from gamekeeper.store.database.history.revisions import Revision, seal_history
from gamekeeper.wording import shown_path

_ASKED_TO_CREATE = "The store {} was to be created."
_ASKED_TO_OPEN = "The store {} was to be opened."


def create_file(path: Path, environment: Environment, first: Revision) -> None:
    """Make the file of a store; it is there whole or not at all."""
    attempt(_ASKED_TO_CREATE, path, lambda: _create(path, environment, first))


def require_no_link(path: Path) -> None:
    """Refuse to make a store where a link says."""
    if os.path.islink(path):  # noqa: PTH114 - a path that cannot be is no link
        raise StoreError(
            Reason.NOT_WRITABLE,
            _ASKED_TO_CREATE.format(shown_path(path)),
            "It is a link, and links are not followed. Nothing was changed.",
            "Name the file itself.",
        )


def open_engine(access: Access) -> Engine:
    """Return an engine for a store, after bringing it to the version of today."""
    clear_leftovers(access.path)
    require_store(access.path, _ASKED_TO_OPEN)
    return attempt(_ASKED_TO_OPEN, access.path, lambda: _open(access))


def _create(path: Path, environment: Environment, first: Revision) -> None:
    # A log that an earlier store left behind would be taken for that of the new one.
    if path.exists() or any(beside(path, ending).exists() for ending in LOGS):
        raise _taken(path)
    if not path.parent.is_dir():
        raise StoreError(
            Reason.NOT_FOUND,
            _ASKED_TO_CREATE.format(shown_path(path)),
            f"There is no folder {shown_path(path.parent)}.",
            "Make the folder first, or check the path.",
        )
    if environment_around(path.parent) is not None:
        raise StoreError(
            Reason.NOT_WRITABLE,
            _ASKED_TO_CREATE.format(shown_path(path)),
            "It lies within the folder of an environment.",
            "Make it elsewhere.",
        )
    clear_leftovers(path)
    with aside(path, private=True) as made:
        with closing(connect(made, mode="rwc")) as connection:
            connection.execute(f"PRAGMA application_id = {MARK}")
        engine = engine_of(Access(made, readonly=False))
        try:
            with writing(engine) as connection:
                migrate(connection)
                begin(connection, environment, first)
        finally:
            engine.dispose()
        with closing(connect(made, mode="rw")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        try:
            put_new(made, path)
        except FileExistsError:
            raise _taken(path) from None


def _open(access: Access) -> Engine:
    engine = engine_of(access)
    try:
        with reading(engine) as connection:
            version = version_of(ask_of(connection), access.path, _ASKED_TO_OPEN)
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
            _ASKED_TO_OPEN.format(shown_path(access.path)),
            "It is of an older version of Gamekeeper, and can only be read here.",
            "Open it once where it can be written, or open a copy.",
        )
    with closing(access.connect()) as source:
        renew_backup(source, access.path, _ASKED_TO_OPEN)
    with writing(engine) as connection:
        # Another program may have done it meanwhile.
        if version_of(ask_of(connection), access.path, _ASKED_TO_OPEN) != VERSIONS[-1]:
            migrate(connection)
            renew_seals(connection)
            seal_history(connection)


def _taken(path: Path) -> StoreError:
    return StoreError(
        Reason.NOT_WRITABLE,
        _ASKED_TO_CREATE.format(shown_path(path)),
        "There is a file or folder of that name already, or a log of an earlier store of that name"
        " (-wal, -shm or -journal). Nothing was changed.",
        "Choose another name, open what is there, or move it away.",
    )
