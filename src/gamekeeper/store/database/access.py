"""How a store is reached, whether it is a file or on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gamekeeper.store.database.file.access import FileAccess
from gamekeeper.store.database.file.connections import place_of as file_place
from gamekeeper.store.place import ServerPlace, StorePlace, store_place

if TYPE_CHECKING:
    from gamekeeper.store.database.server.access import ServerAccess


Access: TypeAlias = "FileAccess | ServerAccess"
"""What everything above asks of where a store is kept: both kinds answer alike."""


def place_of(given: str | Path | ServerPlace) -> StorePlace:
    """Return where a store is: a full path beyond any links, or an address."""
    place = store_place(given)
    return place if isinstance(place, ServerPlace) else file_place(place)


def access_of(place: StorePlace, *, readonly: bool) -> Access:
    """Return how a store is reached.

    Examples
    --------
    >>> access_of(Path("forms.gk"), readonly=True).readonly
    True
    """
    if isinstance(place, ServerPlace):
        from gamekeeper.store.database.server.access import ServerAccess

        return ServerAccess(place, readonly=readonly)
    return FileAccess(place, readonly=readonly)
