"""A store on a PostgreSQL server: how it is opened, asked and checked."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.store.database.refusals import attempt
from gamekeeper.store.database.server.connections import connect, require_driver
from gamekeeper.store.database.server.refusals import refusal_of
from gamekeeper.store.database.server.schemas import Found, require_store
from gamekeeper.store.database.words import POSTGRESQL, Ask, spoken
from gamekeeper.store.place import ServerPlace
from gamekeeper.wording import shown_path

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_REACH = "The store {} was asked for."


class ServerAccess:
    """How a store on a server is reached; whoever may not write there only reads.

    Nothing is asked of the server before there is something to ask.
    """

    is_full = False
    has_backups = False

    def __init__(self, place: ServerPlace, *, readonly: bool) -> None:
        self.place = place
        self._readonly = readonly
        self._found: Found | None = None

    @property
    def readonly(self) -> bool:
        """Whether it can only be read: as was asked, or as the server has it."""
        return self._readonly or not self._look().may_write

    def require(self, asked: str) -> None:
        """Refuse what is not a store of ours."""
        require_store(self._look(asked), self.place, asked)

    def engine(self) -> Engine:
        """Return an engine; a connection that is dead is replaced."""
        require_driver()
        from gamekeeper.store.database.engines import make_engine

        return make_engine(
            "postgresql+psycopg://",
            lambda: connect(self.place),
            pings=True,
            lock=f"SELECT pg_advisory_xact_lock({lock_of(self.place)})",
            refused=refusal_of,
        )

    @contextmanager
    def asking(self) -> Generator[Ask]:
        """Give what answers questions, all from one state, without SQLAlchemy."""
        require_driver()
        from psycopg import Error, IsolationLevel

        try:
            with connect(self.place) as connection:
                connection.isolation_level = IsolationLevel.REPEATABLE_READ
                connection.read_only = True

                def ask(question: str) -> list[tuple[Any, ...]]:
                    try:
                        return connection.execute(spoken(question, POSTGRESQL).encode()).fetchall()
                    except Error as error:
                        refusal = refusal_of(error, False)
                    assert refusal is not None, "it is an error of the driver"
                    raise refusal

                yield ask
        except Error as error:
            refusal = refusal_of(error, False)
        else:
            return
        assert refusal is not None, "it is an error of the driver"
        raise refusal

    def faults(self, connection: Connection) -> list[Problem]:
        """Return what is wrong with the database as such: the server sees to that by itself."""
        return []

    def identity(self, connection: Connection) -> object:
        """Return what no other store of this name has had: a store can be replaced while open."""
        table = f"{self.place.schema}.environment"
        return connection.exec_driver_sql("SELECT CAST(to_regclass(%s) AS oid)", (table,)).scalar()

    def announce(self, connection: Connection, revision: int) -> None:
        """Tell whoever listens of a new revision, once it is committed; its number and no more."""
        connection.exec_driver_sql(
            "SELECT pg_notify(%s, %s)", (channel_of(self.place), f"{self.place.schema} {revision}")
        )

    def backup_position(self) -> tuple[int, int] | None:
        """Return nothing: a store on a server has no backup of ours beside it."""
        return None

    def renew_backup(self, asked: str) -> None:
        """Leave backups to those who keep the server's."""

    def keep_backup(self, name: str, asked: str) -> Path:
        """Refuse: there is no place beside a store on a server."""
        refuse_backups(self.place, asked)

    def _look(self, asked: str = _REACH) -> Found:
        if self._found is None:

            def look() -> Found:
                with self.asking() as ask:
                    return Found(ask, self.place.schema)

            self._found = attempt(asked, self.place, look)
        return self._found


def refuse_backups(place: ServerPlace, asked: str) -> NoReturn:
    """Say how a store on a server is backed up, which is not beside it."""
    raise InputError(
        Reason.BAD_OPTION,
        asked.format(shown_path(place)),
        "It is on a server, and has no files beside it.",
        "Copy it to a file, and back into a new schema: gamekeeper env copy FROM TO. Backups of the"
        " whole database are made on the server.",
    )


def lock_of(place: ServerPlace) -> int:
    """Return the number of the lock that a writer holds: one for every schema.

    Examples
    --------
    >>> lock_of(ServerPlace("norland")) == lock_of(ServerPlace("norland", host="db"))
    True
    """
    digest = blake2b(f"gamekeeper {place.schema}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def channel_of(place: ServerPlace) -> str:
    """Return the name under which new revisions of a store are told.

    Examples
    --------
    >>> channel_of(ServerPlace("norland"))
    'gamekeeper_norland'
    """
    return f"gamekeeper_{place.schema}"
