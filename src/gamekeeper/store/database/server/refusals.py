"""What a PostgreSQL server refuses, as errors of ours, by its codes (SQLSTATE).

The text of its errors holds statements, values, hosts and names of people, so it is never shown.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, Final

from gamekeeper.errors import Reason
from gamekeeper.store.database.refusals import DAMAGE, ServerRefusal
from gamekeeper.store.place import ServerPlace

if TYPE_CHECKING:
    from psycopg import Error

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
    "08": _LOST,
    "57P": _LOST,
    "55P03": _BUSY,
    "57014": _CROWDED,
    "25P": _LOST,
    "53100": _FULL,
    "53": _CROWDED,
    "42501": _NO_RIGHT,
    "25006": _NO_RIGHT,
    "40": _AGAIN,
    "42P01": _OTHER,
    "42P06": _AGAIN,
    "42P07": _AGAIN,
    "42703": _OTHER,
    "3F000": _OTHER,
    "3D000": _NOT_LET_IN,
    "28": _NOT_LET_IN,
    "23": _DAMAGED,
    "22": _DAMAGED,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}


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
