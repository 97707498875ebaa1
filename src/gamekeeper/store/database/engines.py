"""SQLAlchemy on a store: transactions that read and transactions that write.

Reading sees one state, whatever is written meanwhile. There is one writer at a time. SQLite has one
by `BEGIN IMMEDIATE`; PostgreSQL by a lock that is the first statement of a transaction at READ
COMMITTED: a snapshot taken while waiting for the lock would be the state before the other's commit.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from gamekeeper.store.database.words import POSTGRESQL, SQLITE, Ask, Contradiction, spoken

_BEGIN: Final = "gamekeeper_begin"
_READING: Final[Mapping[str, Mapping[str, Any]]] = {
    SQLITE: {_BEGIN: "BEGIN"},
    POSTGRESQL: {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}

# What the database prefers must not matter: under other levels a writer would see an old state.
_WRITING: Final[Mapping[str, Mapping[str, Any]]] = {
    SQLITE: {},
    POSTGRESQL: {"isolation_level": "READ COMMITTED", "postgresql_readonly": False},
}

Refused = Callable[[BaseException, bool], Exception | None]
"""Says in our words what a driver refused, and whether that was while it was committed."""


def make_engine(
    url: str,
    connect: Callable[[], Any],
    *,
    pings: bool = False,
    lock: str = "",
    refused: Refused | None = None,
) -> Engine:
    """Return an engine whose transactions begin as ours do; every thread gets its own connection.

    One that `pings` replaces connections that are dead. `lock` is what a writer asks first, where
    to begin is not enough; `refused` tells what errors of the driver mean.
    """
    # A connection in use is never waited for: threads beyond the pool get one of their own.
    engine = create_engine(
        url, creator=connect, poolclass=QueuePool, pool_size=5, max_overflow=-1,
        pool_pre_ping=pings, hide_parameters=True,
    ).execution_options(gamekeeper_lock=lock, gamekeeper_refused=refused)  # fmt: skip

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        # The driver itself would begin late and leave statements that define tables outside.
        if first := connection.get_execution_options().get(_BEGIN, ""):
            connection.exec_driver_sql(first)

    return engine


@contextmanager
def reading(engine: Engine) -> Generator[Connection]:
    """Give a connection that sees one state of the store, whatever is written meanwhile."""
    reader = engine.execution_options(**_READING[engine.dialect.name])
    with _Told(engine), reader.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Generator[Connection]:
    """Give the connection of the one writer; all that it writes is committed, or nothing is."""
    lock = engine.get_execution_options()["gamekeeper_lock"]
    first = {_BEGIN: lock or "BEGIN IMMEDIATE"}
    writer = engine.execution_options(**first, **_WRITING[engine.dialect.name])
    with _Told(engine) as told, writer.connect() as connection, connection.begin() as transaction:
        yield connection
        told.is_committing = True
        transaction.commit()


def ask_of(connection: Connection) -> Ask:
    """Return what answers questions in plain SQL within a transaction."""
    name = connection.dialect.name

    def ask(question: str) -> list[tuple[Any, ...]]:
        with _Told(connection.engine):
            return [tuple(row) for row in connection.exec_driver_sql(spoken(question, name))]

    return ask


class _Told:
    """Lets the errors of the driver through as such: what is refused is told from their codes."""

    def __init__(self, engine: Engine) -> None:
        self._refused: Refused | None = engine.get_execution_options()["gamekeeper_refused"]
        self.is_committing = False

    def __enter__(self) -> _Told:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        cause = error
        if isinstance(error, DBAPIError) and error.orig is not None:
            cause = error.orig
        if self._refused is not None and (told := self._refused(cause, self.is_committing)):
            raise told from None
        if cause is not error:
            raise cause from None
        if isinstance(error, SQLAlchemyError):
            raise Contradiction from None
