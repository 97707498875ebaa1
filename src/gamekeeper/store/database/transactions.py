"""Transactions on an open store, and the state that was read or written last in one.

Loading takes long, so a state is kept and brought up to date by what was written since.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TypeVar

from sqlalchemy import Connection

from gamekeeper.errors import Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.access import Access
from gamekeeper.store.database.contents.loading import State
from gamekeeper.store.database.creation import open_engine
from gamekeeper.store.database.engines import reading, writing
from gamekeeper.store.database.history.catching_up import refreshed
from gamekeeper.store.database.history.codes import new_codes, save_codes
from gamekeeper.store.database.history.new_revision import record
from gamekeeper.store.database.history.revisions import Revision, revisions
from gamekeeper.store.database.refusals import attempt
from gamekeeper.wording import shown_path

_Outcome = TypeVar("_Outcome")


class Transactions:
    """What is done with an open store, a transaction at a time.

    Attributes
    ----------
    access
        How the store is reached.
    state
        What was read or written last here; None before that.
    has_written
        Whether anything was written here since it was last said otherwise.
    """

    def __init__(self, access: Access) -> None:
        self.access = access
        self.state: State | None = None
        self.has_written = False
        self._engine = open_engine(access)
        self._lock = RLock()

    def close(self) -> None:
        """Give up all connections."""
        self._engine.dispose()

    def read(self, asked: str, work: Callable[[Connection], _Outcome]) -> _Outcome:
        """Do some work that sees one state of the store."""

        def read() -> _Outcome:
            with reading(self._engine) as connection:
                return work(connection)

        return attempt(asked, self.access.place, read)

    def read_state(self, asked: str, work: Callable[[Connection, State], _Outcome]) -> _Outcome:
        """Do some work with the newest state, which is kept."""

        def with_state(connection: Connection) -> _Outcome:
            self.state = state = refreshed(connection, self.state)
            return work(connection, state)

        with self._lock:
            return self.read(asked, with_state)

    def write(
        self, asked: str, change: Callable[[Connection, State], tuple[Environment, Revision]]
    ) -> tuple[Environment, Environment, Revision]:
        """Make a revision; return the environment before and after, and the revision."""
        self._require_writable(asked)

        def write() -> tuple[Environment, Environment, Revision]:
            with self._lock:
                # Loading takes long; others can write meanwhile, and it is brought up to date.
                with reading(self._engine) as connection:
                    loaded = refreshed(connection, self.state)
                with writing(self._engine) as connection:
                    before = refreshed(connection, loaded)
                    environment, made = change(connection, before)
                    after = record(connection, before, environment, made)
                    self.access.announce(connection, after.revision)
                    (revision,) = revisions(connection, numbers=[after.revision])
                # Only now it is on disk.
                self.state, self.has_written = after, True
            return before.environment, after.environment, revision

        return attempt(asked, self.access.place, write)

    def write_codes(self, asked: str, environment: Environment) -> int:
        """Write codes that an analysis gave, apart from revisions, and return their number."""
        self._require_writable(asked)
        told = asked.format(shown_path(self.access.place))

        def write() -> int:
            with self._lock:
                with reading(self._engine) as connection:
                    state = refreshed(connection, self.state)
                if not new_codes(state, environment, told):
                    return 0
                with writing(self._engine) as connection:
                    state = refreshed(connection, self.state)
                    given = new_codes(state, environment, told)
                    state = save_codes(connection, state, given)
                self.state, self.has_written = state, True
            return len(given)

        return attempt(asked, self.access.place, write)

    def _require_writable(self, asked: str) -> None:
        if self.access.is_full:
            raise StoreError(
                Reason.DISK_FULL,
                asked.format(shown_path(self.access.place)),
                "The disk is full. Nothing was changed.",
                "Make space and do it again.",
            )
        if self.access.readonly:
            raise StoreError(
                Reason.READ_ONLY,
                asked.format(shown_path(self.access.place)),
                "The store was opened to be read only, or cannot be written here."
                " Nothing was changed.",
                "Open it to write, check the permissions, or work on a copy.",
            )
