"""The version of a store: read on opening, raised by migrations.

Alembic is imported only to make or to raise a store. All migrations that a store needs happen in
one transaction.
"""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from gamekeeper.errors import Reason, StoreError
from gamekeeper.store.database.refusals import damaged
from gamekeeper.store.database.words import Ask
from gamekeeper.store.place import StorePlace
from gamekeeper.wording import shown_path

if TYPE_CHECKING:
    from sqlalchemy import Connection

VERSIONS: Final = ("0005",)
"""All versions of stores, the newest last; those before the first were never published."""

_VERSION: Final = re.compile(r"[0-9]{4}")
# Alembic has one set of migrations at work in a process.
_MIGRATING: Final = Lock()
_SCRIPTS: Final = Path(__file__).with_name("migrations")


def version_of(ask: Ask, place: StorePlace, asked: str) -> str:
    """Return the version of a store; one that is not known is refused."""
    try:
        ((version,),) = ask("SELECT version_num FROM alembic_version")
    except ValueError:
        raise damaged(asked, place) from None
    if version in VERSIONS:
        return version
    if not _VERSION.fullmatch(str(version)):
        raise damaged(asked, place)
    if version < VERSIONS[0]:
        raise StoreError(
            Reason.WRONG_SCHEMA,
            asked.format(shown_path(place)),
            "The store is of a version that was never published. Nothing was changed.",
            "Export it with the Gamekeeper that made it (env export), and import the folder.",
        )
    raise StoreError(
        Reason.NEWER_VERSION,
        asked.format(shown_path(place)),
        "The store is of a newer version of Gamekeeper. Nothing was changed.",
        "Update Gamekeeper.",
    )


def migrate(connection: Connection) -> None:
    """Bring the tables to the newest version, within the transaction of a connection."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    # A percent sign in the path would be taken for the start of a reference.
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    with _MIGRATING:
        command.upgrade(config, VERSIONS[-1])
