"""A store copied as a whole, history and codes and all: between files and servers, there and back.

All tables are read within one transaction, and the new store is there whole or not at all. What was
written is read back and compared with its checksums before it is kept. Rows come in the order of
their keys, so that a copy of a copy is the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select

from gamekeeper.results import Progress
from gamekeeper.store.database.access import access_of, place_of
from gamekeeper.store.database.contents.loading import load
from gamekeeper.store.database.contents.tables import METADATA
from gamekeeper.store.database.creation import create_store, open_engine, require_no_link
from gamekeeper.store.database.engines import ask_of, reading
from gamekeeper.store.database.refusals import attempt
from gamekeeper.store.place import StorePlace

_COPY: Final = "The store {} was to be copied."
_AT_ONCE: Final = 2_000


def copy_store(
    source: str | StorePlace, target: str | StorePlace, *, progress: Progress | None = None
) -> int:
    """Copy a store to a new one, a file or a schema of a server; return its newest revision.

    Parameters
    ----------
    source, target
        Paths or addresses. There must be no store at the target yet.
    progress
        Told how many tables are done, of how many.

    Raises
    ------
    GamekeeperError
        If the one cannot be read or is damaged, or the other cannot be made. Nothing is left of it.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     EnvironmentStore.create(Path(folder) / "forms.gk", who="ana").close()
    ...     copy_store(Path(folder) / "forms.gk", Path(folder) / "copy.gk")
    1
    """
    place, aim = place_of(source), place_of(target)
    if isinstance(aim, Path):
        require_no_link(Path(str(target)))
    engine = open_engine(access_of(place, readonly=False))

    def copy() -> int:
        with reading(engine) as there:
            newest = load(ask_of(there)).revision

            def fill(here: Connection) -> None:
                tables = METADATA.sorted_tables
                for done, table in enumerate(tables):
                    if progress is not None:
                        progress(done, len(tables))
                    wanted = select(table).order_by(*table.primary_key.columns)
                    for some in there.execute(wanted).mappings().partitions(_AT_ONCE):
                        here.execute(table.insert(), [dict(row) for row in some])
                load(ask_of(here))

            create_store(aim, fill)
        return newest

    try:
        return attempt(_COPY, place, copy)
    finally:
        engine.dispose()
