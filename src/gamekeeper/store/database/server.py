"""A store on a PostgreSQL server: its schema, what is refused, how it is opened, asked and heard.

A store is known by a comment on its table of versions, which dumps and copies of a database keep.
Texts are compared by their bytes, as SQLite does, whatever the database prefers: checksums are of
rows in the order of their names.

What a server refuses becomes an error of ours by its code (SQLSTATE). The text of its errors holds
statements, values, hosts and names of people, so it is never shown.

A server tells new revisions to whoever listens, as they are committed; what it told while the
connection was broken is lost. So whoever listens is called after every new connection as well, and
looks for itself.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, NoReturn

from gamekeeper.errors import GamekeeperError, InputError, Problem, Reason, StoreError
from gamekeeper.store.database.words import DAMAGE, POSTGRESQL, Ask, ServerRefusal, attempt, spoken
from gamekeeper.store.place import ServerPlace
from gamekeeper.wording import shown_path

if TYPE_CHECKING:
    import psycopg
    from psycopg import Error
    from sqlalchemy import Connection, Engine


MARK: Final = "Gamekeeper store"
"""What the comment on the table of versions says."""

# The schema is one of small letters, digits and underscores.
_FOUND: Final = """
SELECT obj_description(to_regclass('{schema}.alembic_version'), 'pg_class'),
       (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('{schema}')),
       to_regnamespace('{schema}') IS NOT NULL,
       current_setting('server_encoding'),
       pg_is_in_recovery()
"""
_MAY_WRITE: Final = """
SELECT has_table_privilege('{schema}.environment', 'UPDATE')
   AND has_table_privilege('{schema}.revision', 'INSERT')
"""
_OTHER_ORDER: Final = """
SELECT table_name, column_name, data_type, character_maximum_length
  FROM information_schema.columns
 WHERE table_schema = '{schema}' AND data_type IN ('text', 'character varying')
   AND collation_name IS DISTINCT FROM 'C'
"""


class Found:
    """What there is under the name of a schema; `may_write` tells whether this person may."""

    def __init__(self, ask: Ask, schema: str) -> None:
        ((mark, tables, is_there, encoding, is_copy),) = ask(_FOUND.format(schema=schema))
        self.is_there = bool(is_there)
        self.is_store = mark == MARK
        self.is_empty = not tables
        self.is_unicode = encoding == "UTF8"
        self.may_write = False
        if self.is_store and not is_copy:
            ((may_write,),) = ask(_MAY_WRITE.format(schema=schema))
            self.may_write = bool(may_write)


def require_store(found: Found, place: ServerPlace, asked: str) -> None:
    """Refuse what is not a store of ours."""
    if found.is_store:
        return
    if not found.is_there:
        reason, told = Reason.NOT_FOUND, "The database has no such schema."
        do = "Check its name. To make a store there: gamekeeper env new, or env copy."
    elif found.is_empty:
        reason, told = Reason.NOT_FOUND, "The schema is empty."
        do = "Make a store there: gamekeeper env new, or env copy."
    else:
        reason, told = Reason.WRONG_SCHEMA, "The schema holds something else."
        do = "Check the name of the schema and of the database."
    raise InputError(reason, asked.format(shown_path(place)), told, do)


def make_schema(connection: Connection, found: Found, place: ServerPlace, asked: str) -> None:
    """Make the schema of a new store, within the transaction that fills it.

    A schema that is there and empty is taken: some may use a schema, and not make one.
    """
    if not found.is_unicode:
        raise StoreError(
            Reason.WRONG_ENCODING,
            asked.format(shown_path(place)),
            "The database is not in UTF-8, and could not hold every name. Nothing was changed.",
            "Make the store in another database, one that is in UTF-8.",
        )
    if found.is_there and not found.is_empty:
        raise StoreError(
            Reason.NOT_WRITABLE,
            asked.format(shown_path(place)),
            f"The schema is there already and holds {'a store' if found.is_store else 'something'}."
            " Nothing was changed.",
            "Choose another schema, or open what is there.",
        )
    if not found.is_there:
        connection.exec_driver_sql(f"CREATE SCHEMA {place.schema}")


def finish_schema(connection: Connection, place: ServerPlace) -> None:
    """Mark the tables as ours, and have texts compared by their bytes."""
    wrong = connection.exec_driver_sql(_OTHER_ORDER.format(schema=place.schema)).all()
    for table, column, kind, most in wrong:
        told = kind if most is None else f"{kind}({most})"
        connection.exec_driver_sql(
            f'ALTER TABLE {place.schema}."{table}" ALTER COLUMN "{column}" TYPE {told} COLLATE "C"'
        )
    connection.exec_driver_sql(f"COMMENT ON TABLE {place.schema}.alembic_version IS '{MARK}'")


_Told = tuple[Reason, str, str]
_LOST: Final[_Told] = (
    Reason.UNREACHABLE,
    "The connection to the server was lost. Nothing was changed.",
    "Do it again when the server is back.",
)
_UNCERTAIN: Final[_Told] = (
    Reason.UNCERTAIN,
    (
        "The connection to the server was lost while it was being saved: whether it was saved, whole, or"
        " not at all is not known."
    ),
    "Look at the last lines of 'gamekeeper env history' before it is done again.",
)
_ABSENT: Final[_Told] = (
    Reason.UNREACHABLE,
    "No server answers there.",
    "Check host and port, and that the server runs and may be reached from here.",
)
_NO_PASSWORD: Final[_Told] = (
    Reason.UNREACHABLE,
    "The server asks for a password, and none was found.",
    "Set PGPASSWORD, or write it into the file that PGPASSFILE names (by default ~/.pgpass).",
)
_NOT_LET_IN: Final[_Told] = (
    Reason.UNREACHABLE,
    (
        "The server does not let this person in: the name, the password, the database or the way in"
        " which the connection is encrypted does not fit."
    ),
    "Check them; PGPASSWORD comes before the file that PGPASSFILE names.",
)
_BUSY: Final[_Told] = (
    Reason.BUSY,
    "Another program was writing to the store all the time. Nothing was changed.",
    "Do it again when that program is done.",
)
_CROWDED: Final[_Told] = (
    Reason.BUSY,
    "The server has too much to do, or too many are connected. Nothing was changed.",
    "Do it again in a while, or ask its administrator for room.",
)
_FULL: Final[_Told] = (
    Reason.DISK_FULL,
    "The disk of the server is full. Nothing was changed.",
    "Ask its administrator for space, and do it again.",
)
_NO_RIGHT: Final[_Told] = (
    Reason.READ_ONLY,
    (
        "This person has not the right to do that on the server, or the server can only be read."
        " Nothing was changed."
    ),
    (
        "Ask its administrator for the rights on the schema: usage, and to select, insert, update and"
        " delete in its tables; to make a store, to create a schema."
    ),
)
_AGAIN: Final[_Told] = (
    Reason.BUSY,
    "Somebody else wrote at the same time. Nothing was changed.",
    "Do it again.",
)
_OTHER: Final[_Told] = (
    Reason.WRONG_SCHEMA,
    "The schema does not hold a store, or only a part of one. Nothing was changed.",
    "Check the name of the schema.",
)
_DAMAGED: Final[_Told] = (Reason.DAMAGED, DAMAGE, "")
_REFUSED: Final[_Told] = (
    Reason.NOT_WRITABLE,
    "The server refused it, and its code is {}. Nothing was changed.",
    "Ask its administrator: its log says more.",
)
# By the whole code or by its class, the first two letters.
_FAULTS: Final = {
    "08": _LOST, "57P": _LOST, "55P03": _BUSY, "57014": _CROWDED, "25P": _LOST, "53100": _FULL,
    "53": _CROWDED, "42501": _NO_RIGHT, "25006": _NO_RIGHT, "40": _AGAIN, "42P01": _OTHER,
    "42P06": _AGAIN, "42P07": _AGAIN, "42703": _OTHER, "3F000": _OTHER, "3D000": _NOT_LET_IN,
    "28": _NOT_LET_IN, "23": _DAMAGED, "22": _DAMAGED, "XX001": _DAMAGED, "XX002": _DAMAGED,
}  # fmt: skip


def refusal_of(error: BaseException, is_committing: bool) -> ServerRefusal | None:
    """Return what an error of the driver means in our words; None for other errors.

    What is lost while it is committed may be saved or not, and that is said.
    """
    import psycopg

    if not isinstance(error, psycopg.Error):
        return None
    told = _told(error)
    return ServerRefusal(*(_UNCERTAIN if is_committing and told is _LOST else told))


def refusal_to_connect(error: Error, place: ServerPlace) -> ServerRefusal:
    """Return why there is no connection, as far as the driver lets us know."""
    if error.sqlstate:
        return ServerRefusal(*_told(error))
    begun: Any = getattr(error, "pgconn", None)
    if getattr(begun, "needs_password", False):
        return ServerRefusal(*_NO_PASSWORD)
    if getattr(begun, "used_password", False) or _answers(place) is not False:
        return ServerRefusal(*_NOT_LET_IN)
    return ServerRefusal(*_ABSENT)


def _told(error: Error) -> _Told:
    state = error.sqlstate or ""
    if not state:
        # What the driver notices by itself is that nobody is there any more.
        return _LOST
    for known in (state, state[:3], state[:2]):
        if known in _FAULTS:
            return _FAULTS[known]
    reason, found, do = _REFUSED
    return reason, found.format(state), do


def _answers(place: ServerPlace) -> bool | None:
    """Tell whether anybody listens at a place; None where the address does not say which."""
    if not place.host:
        return None
    port = int(place.port or 5432)
    try:
        if place.host.startswith("/"):
            with socket.socket(socket.AF_UNIX) as made:
                made.settimeout(2)
                made.connect(f"{place.host}/.s.PGSQL.{port}")
        else:
            socket.create_connection((place.host, port), timeout=2).close()
    except (OSError, ValueError):
        return False
    return True


_TO_CONNECT: Final = 8
# As long as for a file: somebody may wait much longer than on average.
_SETTINGS: Final = {
    "lock_timeout": "120s",
    "statement_timeout": "600s",
    # Whoever stops in the middle of an edit does not keep others from theirs for ever.
    "idle_in_transaction_session_timeout": "600s",
    # What is acknowledged is on disk, even where the server's own default is quicker.
    "synchronous_commit": "on",
    "client_encoding": "UTF8",
    "datestyle": "ISO",
}


def require_driver() -> None:
    """Refuse to speak with a server where the driver is not installed."""
    try:
        import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        asked = "A store on a PostgreSQL server was asked for."
        found = "The package psycopg, with which one speaks with it, is not installed."
        do = "Install it: pip install 'gamekeeper[postgres]'."
        raise InputError(Reason.MISSING_PACKAGE, asked, found, do) from None


def connect(place: ServerPlace, *, autocommit: bool = False) -> psycopg.Connection[Any]:
    """Return a connection whose names are looked up in the schema of a store alone.

    A ServerRefusal says that there is none within seconds.
    """
    require_driver()
    import psycopg

    settings = {**_SETTINGS, "search_path": place.schema}
    given: dict[str, Any] = {
        "host": place.host,
        "port": place.port,
        "user": place.user,
        "dbname": place.database,
        **place.settings,
    }
    try:
        return psycopg.connect(
            **{name: value for name, value in given.items() if value},
            connect_timeout=_TO_CONNECT,
            application_name="gamekeeper",
            # A machine that is gone says nothing: after half a minute it is taken for gone.
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=4,
            tcp_user_timeout=30_000,
            options=" ".join(f"-c {name}={value}" for name, value in settings.items()),
            autocommit=autocommit,
        )
    except psycopg.Error as error:
        refusal = refusal_to_connect(error, place)
    # Out here it has no context that would show what the driver says.
    raise refusal


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
    found = "It is on a server, and has no files beside it."
    do = (
        "Copy it to a file, and back into a new schema: gamekeeper env copy FROM TO. Backups of the"
        " whole database are made on the server."
    )
    raise InputError(Reason.BAD_OPTION, asked.format(shown_path(place)), found, do)


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


_PATIENCE: Final = 1.0
_LONGEST: Final = 30.0


@contextmanager
def listening(place: ServerPlace, heard: Callable[[], None]) -> Generator[None]:
    """Call `heard`, from a thread of its own, whenever a revision may have been made."""
    end = Event()

    def run() -> None:
        from psycopg import Error

        pause = _PATIENCE
        while not end.is_set():
            try:
                with connect(place, autocommit=True) as connection:
                    connection.execute(f"LISTEN {channel_of(place)}".encode())
                    pause = _PATIENCE
                    heard()
                    while not end.is_set():
                        for _ in connection.notifies(timeout=_PATIENCE, stop_after=1):
                            heard()
            except (Error, ServerRefusal, GamekeeperError):
                # Whoever reads the store tells what is wrong with it; here it is tried again.
                end.wait(pause)
                pause = min(2 * pause, _LONGEST)

    thread = Thread(target=run, name="gamekeeper-listener", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
