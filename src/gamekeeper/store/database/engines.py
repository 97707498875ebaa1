"""SQLAlchemy on a store: its tables as the migrations make them, and transactions that read and write.

Documents (definitions, metadata, labels) are JSON texts of the shapes that the files of a folder
have. What is looked up by name has besides it a digest of the folded name: unique whatever case
and accents, and of one length however long the name.

Reading sees one state, whatever is written meanwhile. There is one writer at a time. SQLite has one
by `BEGIN IMMEDIATE`; PostgreSQL by a lock that is the first statement of a transaction at READ
COMMITTED: a snapshot taken while waiting for the lock would be the state before the other's commit.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from gamekeeper.store.database.words import POSTGRESQL, SQLITE, Ask, Contradiction, spoken
from gamekeeper.wording import folded

_Value = TypeVar("_Value")

# How many values one statement looks for; the drivers of databases bound them.
_AT_ONCE = 500
METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)


def _named(name: str, *columns: Column[Any]) -> Table:
    """Return a table of parts that are looked up by their names."""
    return Table(
        name,
        METADATA,
        Column("id", Integer, primary_key=True, autoincrement=False),
        Column("name", Text, nullable=False),
        Column("folded", String(64), nullable=False, unique=True),
        *columns,
    )


environment = Table(
    "environment",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    # How often codes were saved apart from revisions.
    Column("codes_saved", Integer, nullable=False),
    # None where there are no rules.
    Column("rules", Text),
)

# A variable that is removed stays as a row without a definition: its codes are never given again.
variable = _named("variable", Column("definition", Text))

# A code without blocks is retired. `since` is the revision that it was given in or after.
code = Table(
    "code",
    METADATA,
    Column("variable_id", ForeignKey("variable.id"), primary_key=True),
    Column("code", String(40), primary_key=True),
    Column("blocks", Text),
    Column("since", Integer, nullable=False),
)

form = _named(
    "form",
    Column("metadata", Text, nullable=False),
    # Its questions and its universe; None where it has neither.
    Column("words", Text),
)

# Thousands of forms offer the same few selections of categories, so each is kept once.
selection = Table(
    "selection",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("variable_id", ForeignKey("variable.id"), nullable=False, index=True),
    Column("labels", Text, nullable=False),
)

instance = Table(
    "instance",
    METADATA,
    Column("form_id", ForeignKey("form.id"), primary_key=True),
    Column("selection_id", ForeignKey("selection.id"), primary_key=True, index=True),
)

group = _named("form_group", Column("definition", Text, nullable=False))

scenario = _named("scenario", Column("body", Text, nullable=False))

# `at` is a time in UTC as text, such as 2031-05-17T09:30:00.000000Z, so that it sorts everywhere.
revision = Table(
    "revision",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", String(27), nullable=False, index=True),
    Column("who", Text, nullable=False),
    Column("action", String(10), nullable=False),
    Column("of", Integer),
    Column("unrestricted", Boolean, nullable=False),
    Column("note", Text, nullable=False),
    Column("edits", Text, nullable=False),
    Column("changes", LargeBinary, nullable=False),
    # Checksums of the row, but for the changes, which have one of their own, and of its touches.
    Column("seal", String(16)),
    Column("touches_seal", String(16)),
    # Whoever saves may name the save, to be able to send it again without making it twice.
    Column("key", String(100), index=True),
)

touch = Table(
    "touch", METADATA, Column("revision", ForeignKey("revision.number"), primary_key=True),
    Column("kind", String(20), primary_key=True), Column("folded", String(64), primary_key=True),
    Column("name", Text, nullable=False), Index("ix_touch_folded", "folded"),
)  # fmt: skip


# The checksum of each part, renewed by whoever writes.
seal = Table(
    "seal",
    METADATA,
    Column("part", String(20), primary_key=True),
    Column("digest", String(16), nullable=False),
)


def digest(name: str) -> str:
    """Return what a name is looked up by: the same for names that fold to the same.

    Examples
    --------
    >>> digest("École") == digest("ecole"), len(digest("e" * 10_000))
    (True, 64)
    """
    # A name with half of a character is refused where names are checked, not here.
    return sha256(folded(name).encode(errors="surrogatepass")).hexdigest()


def batches(values: Iterable[_Value]) -> Iterator[list[_Value]]:
    """Yield values in lists that are short enough for one statement to look for.

    Examples
    --------
    >>> [len(some) for some in batches(range(1_200))]
    [500, 500, 200]
    """
    waiting = iter(values)
    while some := list(islice(waiting, _AT_ONCE)):
        yield some


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
