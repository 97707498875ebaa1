"""How a store is reached, whether it is a file or on a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gamekeeper.store.database.file.access import FileAccess
from gamekeeper.store.database.file.connections import place_of as file_place
from gamekeeper.store.place import ServerPlace, StorePlace, store_place

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from gamekeeper.errors import Problem


class Access(Protocol):
    """What everything above asks of where a store is kept."""

    @property
    def place(self) -> StorePlace:
        """Where the store is."""
        ...

    @property
    def readonly(self) -> bool:
        """Whether it can only be read, as was asked or as it is."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether there is no room to write."""
        ...

    @property
    def has_backups(self) -> bool:
        """Whether we see to its backups, beside it."""
        ...

    def require(self, asked: str) -> None:
        """Refuse what is not a store of ours."""
        ...

    def engine(self) -> Engine:
        """Return an engine of SQLAlchemy, made ready for `engines`."""
        ...

    def asking(self) -> AbstractContextManager[Callable[[str], Sequence[tuple[Any, ...]]]]:
        """Give what answers questions, all from one state, without SQLAlchemy."""
        ...

    def faults(self, connection: Connection) -> list[Problem]:
        """Return what is wrong with the database as such."""
        ...

    def identity(self, connection: Connection) -> object:
        """Return what another store in the same place would not have; None if there is none."""
        ...

    def announce(self, connection: Connection, revision: int) -> None:
        """Tell whoever listens of a new revision, once it is committed."""
        ...

    def backup_position(self) -> tuple[int, int] | None:
        """Return the revision in the automatic backup and how often codes were saved, if known."""
        ...

    def renew_backup(self, asked: str) -> None:
        """Make the automatic backup anew, where there is one."""
        ...

    def keep_backup(self, name: str, asked: str) -> Path:
        """Make a backup that is kept, and return where it is."""
        ...


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
