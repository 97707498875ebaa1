"""A store read once, for whoever only looks: with the driver alone, without SQLAlchemy."""

from __future__ import annotations

from gamekeeper.store.database.access import access_of, place_of
from gamekeeper.store.database.contents.loading import State, load
from gamekeeper.store.database.refusals import attempt
from gamekeeper.store.database.versions import VERSIONS, version_of
from gamekeeper.store.place import StorePlace

_OPEN = "The store {} was to be opened."
_READ = "The environment in the store {} was to be read."


def read_state(path: str | StorePlace) -> State | None:
    """Return what a store holds; None if it is of an older version, which must be raised first.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     EnvironmentStore.create(Path(folder) / "forms.gk", who="ana", name="Norland").close()
    ...     read_state(Path(folder) / "forms.gk").environment.name
    'Norland'
    """
    access = access_of(place_of(path), readonly=True)
    access.require(_OPEN)

    def read() -> State | None:
        with access.asking() as ask:
            if version_of(ask, access.place, _OPEN) != VERSIONS[-1]:
                return None
            return attempt(_READ, access.place, lambda: load(ask))

    return attempt(_OPEN, access.place, read)
