"""SQLAlchemy on the file of a store: transactions that read and transactions that write."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from gamekeeper.store.database.file.connections import Access
from gamekeeper.store.database.file.refusals import Contradiction

_BEGIN: Final = "gamekeeper_begin"


def engine_of(access: Access) -> Engine:
    """Return an engine for a store; every thread gets its own connection."""
    # A connection in use is never waited for: threads beyond the pool get one of their own.
    engine = create_engine(
        "sqlite://",
        creator=access.connect,
        poolclass=QueuePool,
        pool_size=5,
        max_overflow=-1,
        hide_parameters=True,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        # The driver itself would begin late and leave statements that define tables outside.
        connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))

    return engine


@contextmanager
def reading(engine: Engine) -> Generator[Connection]:
    """Give a connection that sees one state of the store, whatever is written meanwhile."""
    with _driver_errors(), engine.begin() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Generator[Connection]:
    """Give the connection of the one writer; all that it writes is committed, or nothing is."""
    writer = engine.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
    with _driver_errors(), writer.begin() as connection:
        yield connection


def ask_of(connection: Connection) -> Callable[[str], Sequence[tuple[Any, ...]]]:
    """Return what answers questions in plain SQL within a transaction."""
    return lambda question: [tuple(row) for row in connection.exec_driver_sql(question)]


@contextmanager
def _driver_errors() -> Generator[None]:
    """Let the errors of the driver through as such: what is refused is told from their codes."""
    try:
        yield
    except DBAPIError as error:
        if error.orig is None:
            raise Contradiction from None
        raise error.orig from None
    except SQLAlchemyError:
        raise Contradiction from None
