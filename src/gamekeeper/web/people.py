"""People of a server: roles, accounts with their passwords, and sessions.

Each of the three roles has all that the one before it may do. Of passwords only a slow digest
(argon2id) is kept. A wrong one costs time: after a few failures an account has to wait at that
address, twice as long after each, and the others there do not. Whoever tries one account from many
addresses, or many accounts from one, has to wait after far more failures than people make. At most
two digests are worked out at once, or signing in would be a way to stop the server.

Who is signed in is known by a cookie whose value only the browser has. The database has the digest
of the value, so that whoever reads it cannot sign in with it. A session ends when it is not used
for a while, in any case after a time, and whenever it is revoked.
"""

from __future__ import annotations

import math
import secrets
import sqlite3
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.variables.codes import name_problems
from gamekeeper.web.settings import Database
from gamekeeper.web.wire import Refused
from gamekeeper.wording import count_of, folded, quoted


class Role(IntEnum):
    """What an account is for."""

    READER = 1
    """Looks at the environment and at results of the whole."""
    EDITOR = 2
    """Edits the environment, and reads and assesses files of people."""
    ADMINISTRATOR = 3
    """Sees to accounts and sessions too."""

    @property
    def word(self) -> str:
        """The role as it is written."""
        return self.name.lower()


def role_of(word: str) -> Role:
    """Return the role that a word names.

    Examples
    --------
    >>> role_of("editor") < Role.ADMINISTRATOR
    True
    """
    return Role[word.upper()]


# OWASP's setting for a server: 19 MiB, two passes, one lane.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_AT_ONCE = BoundedSemaphore(2)
_SHORTEST, _LONGEST = 10, 1_000
_FREE_FAILURES = 4
_FREE_FOR_MANY = 100
_LONGEST_WAIT = 900.0
# What a name that is not known is compared with, so that it takes as long.
_NOBODY = _HASHER.hash("nobody has this password")


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may sign in."""

    name: str
    role: Role


class Accounts:
    """The accounts of a server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Account]:
        """Return all accounts by name."""
        with self._database.looking() as connection:
            rows = connection.execute("SELECT name, role FROM account ORDER BY folded").fetchall()
        return [Account(row["name"], role_of(row["role"])) for row in rows]

    @property
    def are_there(self) -> bool:
        """Whether people sign in by name."""
        with self._database.looking() as connection:
            return connection.execute("SELECT 1 FROM account LIMIT 1").fetchone() is not None

    def add(self, name: str, role: Role, password: str) -> None:
        """Add an account."""
        if problems := name_problems("account", [name]):
            asked = "An account was to be added."
            found = "Its name cannot be used."
            raise InputError(problems[0].reason, asked, found, problems=problems)
        made = _hashed(password)
        with self._database.at_work() as connection:
            (n_accounts,) = connection.execute("SELECT COUNT(*) FROM account").fetchone()
            if not n_accounts and role < Role.ADMINISTRATOR:
                asked = f"The account {quoted([name])} was to be added, as {role.word}."
                found = "It is the first, and nobody could see to the others."
                raise InputError(Reason.BAD_OPTION, asked, found, "Begin with an administrator.")
            if _row(connection, name) is not None:
                asked = f"The account {quoted([name])} was to be added."
                found = "There is one of that name already."
                raise InputError(Reason.DUPLICATE, asked, found, "Choose another name.")
            connection.execute(
                "INSERT INTO account VALUES (?, ?, ?, ?)", (folded(name), name, role.word, made)
            )

    def change(self, name: str, *, role: Role | None = None, password: str | None = None) -> None:
        """Give an account another role or password; its sessions end."""
        made = None if password is None else _hashed(password)
        with self._database.at_work() as connection:
            row = self._required(connection, name)
            if role is not None and role < Role.ADMINISTRATOR:
                self._require_another_administrator(connection, name)
            connection.execute(
                "UPDATE account SET role = ?, hash = ? WHERE folded = ?",
                (role.word if role else row["role"], made or row["hash"], folded(name)),
            )
            connection.execute("DELETE FROM session WHERE folded = ?", (folded(name),))

    def remove(self, name: str) -> None:
        """Remove an account; its sessions end, and what it did stays in the history."""
        with self._database.at_work() as connection:
            self._required(connection, name)
            self._require_another_administrator(connection, name, last_is_fine=True)
            connection.execute("DELETE FROM account WHERE folded = ?", (folded(name),))
            connection.execute("DELETE FROM session WHERE folded = ?", (folded(name),))

    def sign_in(self, name: str, password: str, address: str) -> Account:
        """Return the account of a name and its password, or refuse with the same words for both.

        `address` is where the request came from; empty where that says nothing.
        """
        account = f"account {folded(name)[:200]}"
        own = f"{account} at {address}"
        free = {own: _FREE_FAILURES, account: _FREE_FOR_MANY}
        if address:
            free[f"address {address}"] = _FREE_FOR_MANY
        self._require_patience(free)
        with self._database.looking() as connection:
            row = _row(connection, name)
        known = _NOBODY if row is None else str(row["hash"])
        right = len(password) <= _LONGEST and _verified(known, password) and row is not None
        if not right or row is None:
            self._note_failure(free)
            found = "The name and the password do not go together."
            do = "Try again, or ask an administrator for a new password."
            raise Refused(401, "wrong-password", found, do)
        with self._database.at_work() as connection:
            # Whoever has an account could else begin anew with those of others at that address.
            connection.execute("DELETE FROM attempt WHERE key IN (?, ?)", (own, account))
        return Account(row["name"], role_of(row["role"]))

    def _require_patience(self, keys: Mapping[str, int]) -> None:
        now = time.time()
        marks = ", ".join("?" * len(keys))
        with self._database.looking() as connection:
            (until,) = connection.execute(
                f"SELECT MAX(until) FROM attempt WHERE key IN ({marks})",  # noqa: S608 - marks alone
                tuple(keys),
            ).fetchone()
        if until is not None and until > now:
            wait = math.ceil(until - now)
            raise Refused(429, hint=f"Wait {count_of(wait, 'second')}, and try again.", wait=wait)

    def _note_failure(self, keys: Mapping[str, int]) -> None:
        now = time.time()
        with self._database.at_work() as connection:
            connection.execute("DELETE FROM attempt WHERE until < ?", (now - 24 * 3600,))
            for key, free in keys.items():
                row = connection.execute(
                    "SELECT failures FROM attempt WHERE key = ?", (key,)
                ).fetchone()
                failures = 1 + (row["failures"] if row else 0)
                over = failures - free
                wait = min(2.0 ** min(over, 12), _LONGEST_WAIT) if over > 0 else 0.0
                connection.execute(
                    "INSERT OR REPLACE INTO attempt VALUES (?, ?, ?)", (key, failures, now + wait)
                )

    def _required(self, connection: sqlite3.Connection, name: str) -> dict[str, str]:
        row = _row(connection, name)
        if row is None:
            asked = f"The account {quoted([name])} was asked for."
            do = "List them: gamekeeper account list STORE."
            raise InputError(Reason.UNKNOWN_NAME, asked, "There is no such account.", do)
        return row

    def _require_another_administrator(
        self, connection: sqlite3.Connection, name: str, *, last_is_fine: bool = False
    ) -> None:
        """Refuse to leave accounts without an administrator; with none left there are none."""
        rows = connection.execute("SELECT folded, role FROM account").fetchall()
        others = [row for row in rows if row["folded"] != folded(name)]
        if last_is_fine and not others:
            return
        if not any(row["role"] == Role.ADMINISTRATOR.word for row in others):
            asked = f"The account {quoted([name])} was to be changed or removed."
            do = "Make another one an administrator first."
            raise InputError(Reason.BAD_OPTION, asked, "No other account is an administrator.", do)


def _row(connection: sqlite3.Connection, name: str) -> dict[str, str] | None:
    found = connection.execute(
        "SELECT name, role, hash FROM account WHERE folded = ?", (folded(name),)
    ).fetchone()
    return None if found is None else dict(found)


def _hashed(password: str) -> str:
    if not _SHORTEST <= len(password) <= _LONGEST:
        found = f"It has less than {_SHORTEST} or more than {_LONGEST:,} characters."
        do = "Choose a longer one; several words are easy to keep in mind."
        raise InputError(Reason.BAD_OPTION, "A password was to be set.", found, do)
    with _AT_ONCE:
        return _HASHER.hash(password)


def _verified(known: str, password: str) -> bool:
    with _AT_ONCE:
        try:
            return _HASHER.verify(known, password)
        except (Argon2Error, InvalidHashError):
            return False


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
