"""Sessions: who is signed in, known by a cookie whose value only the browser has.

The database has the digest of the value, so that whoever reads it cannot sign in with it. A session
ends when it is not used for a while, in any case after a time, and whenever it is revoked.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from gamekeeper.web.database import Database
from gamekeeper.web.people.roles import Role, role_of
from gamekeeper.wording import folded

IDLE_SECONDS = 12 * 3600
LONGEST_SECONDS = 7 * 24 * 3600
_SEEN_EVERY = 60


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who is signed in."""

    name: str
    role: Role
    session: str


class Sessions:
    """The sessions of a server; with accounts, whose roles are asked at every request."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, who: str) -> str:
        """Begin a session, and return the value of its cookie."""
        value = secrets.token_urlsafe(32)
        now = time.time()
        with self._database.at_work() as connection:
            connection.execute("DELETE FROM session WHERE seen < ? OR made < ?", _limits(now))
            connection.execute(
                "INSERT INTO session VALUES (?, ?, ?, ?, ?)",
                (digest_of(value), who, folded(who), now, now),
            )
        return value

    def who(self, value: str, *, accounts: bool) -> Who | None:
        """Return who has a cookie; without accounts that is an administrator."""
        now = time.time()
        digest = digest_of(value)
        with self._database.looking() as connection:
            row = connection.execute(
                "SELECT s.who, s.made, s.seen, a.role FROM session s"
                " LEFT JOIN account a ON a.folded = s.folded WHERE s.digest = ?",
                (digest,),
            ).fetchone()
        idle, oldest = _limits(now)
        if row is None or row["seen"] < idle or row["made"] < oldest:
            return None
        if accounts and row["role"] is None:
            return None
        if now - row["seen"] > _SEEN_EVERY:
            # Where the disk is full, whoever only reads can go on.
            with suppress(sqlite3.OperationalError), self._database.at_work() as connection:
                connection.execute("UPDATE session SET seen = ? WHERE digest = ?", (now, digest))
        role = role_of(row["role"]) if accounts else Role.ADMINISTRATOR
        return Who(row["who"], role, digest)

    def end(self, session: str) -> None:
        """End one session."""
        with self._database.at_work() as connection:
            connection.execute("DELETE FROM session WHERE digest = ?", (session,))

    def revoke(self, who: str) -> int:
        """End all sessions of somebody, and return their number."""
        with self._database.at_work() as connection:
            found = connection.execute("DELETE FROM session WHERE folded = ?", (folded(who),))
            return found.rowcount


def digest_of(value: str) -> str:
    """Return what the database knows a cookie by."""
    return sha256(value.encode(errors="replace")).hexdigest()


def _limits(now: float) -> tuple[float, float]:
    return now - IDLE_SECONDS, now - LONGEST_SECONDS
