"""Connections to a PostgreSQL server, with patience that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gamekeeper.errors import InputError, Reason
from gamekeeper.store.database.server.refusals import refusal_to_connect
from gamekeeper.store.place import ServerPlace

if TYPE_CHECKING:
    from psycopg import Connection

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
        raise InputError(
            Reason.MISSING_PACKAGE,
            "A store on a PostgreSQL server was asked for.",
            "The package psycopg, with which one speaks with it, is not installed.",
            "Install it: pip install 'gamekeeper[postgres]'.",
        ) from None


def connect(place: ServerPlace, *, autocommit: bool = False) -> Connection[Any]:
    """Return a connection whose names are looked up in the schema of a store alone.

    Raises
    ------
    ServerRefusal
        If there is none within seconds.
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
