"""A store that stays open, for a server: it is asked a thousand times what a command asks once.

While a store is held, whoever opens its path in this process gets what is open, and leaves it open.
So the functions of the workbench serve a server as they are. They take turns: codes are given to
harmonizations as they are met, and two at once could give one code to two of them. Whoever only looks
at what is there already waits for nobody (`seen`): an environment that was read does not change.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING

from gamekeeper.errors import GamekeeperError, Reason, StoreError
from gamekeeper.files.asides import LOGS, remove
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.wording import shown_path

if TYPE_CHECKING:
    from gamekeeper.mapping.environment.environment import Environment
    from gamekeeper.store.database.environment_store import EnvironmentStore

_PATIENCE = 60.0

_held: dict[StorePlace, HeldStore] = {}
_registering = Lock()


class HeldStore:
    """A store that is open until `holding` ends; use `at_work` to get at it."""

    def __init__(self, path: StorePlace) -> None:
        self.path = path
        self._turn = RLock()
        # Before it is opened: a file that is replaced meanwhile is opened again.
        self._file = None if isinstance(path, ServerPlace) else _file_identity(path)
        self._store = _opened(path)
        if isinstance(path, ServerPlace):
            self._file = self._store.identity()
        self._log = self._log_identity()

    @contextmanager
    def at_work(self) -> Generator[EnvironmentStore]:
        """Give the store to one at a time; one that another program put in its place is opened."""
        if not self._turn.acquire(timeout=_PATIENCE):
            raise StoreError(
                Reason.BUSY,
                f"The store {shown_path(self.path)} was asked for.",
                "It is at work for somebody else.",
                "Wait a little, and do it again.",
            )
        try:
            now = self._identity()
            if now != self._file:
                self._leave_no_log()
                store = _opened(self.path)
                with suppress(GamekeeperError):
                    self._store.close()
                self._store, self._file = store, now
            yield self._store
        finally:
            self._log = self._log_identity()
            self._turn.release()

    def _log_identity(self) -> object:
        """Return what tells the log beside the file of a store from another; None if there is none."""
        if isinstance(self.path, ServerPlace):
            return None
        return _file_identity(self.path.with_name(f"{self.path.name}-wal"))

    def _leave_no_log(self) -> None:
        """Remove the log of a store whose file was replaced: it would be played into the new one."""
        if isinstance(self.path, ServerPlace) or self._log is None:
            return
        if self._log_identity() == self._log:
            for ending in LOGS:
                remove(self.path.with_name(self.path.name + ending))

    def seen(self) -> tuple[Environment, int, EnvironmentStore]:
        """Return the environment, its revision and the store, for those who give no code and write nothing."""
        if self._identity() != self._file:
            with self.at_work():
                pass
        store = self._store
        return *store.snapshot(), store

    def _identity(self) -> object:
        """Return what another store in the same place would not have; None if there is none."""
        if isinstance(self.path, ServerPlace):
            return self._store.identity()
        return _file_identity(self.path)

    @property
    def place(self) -> str:
        """Tells the store that is open from another that is in its place later."""
        return sha256(repr(self._file).encode()).hexdigest()[:12]

    def renew_backup(self) -> GamekeeperError | None:
        """Renew the backup if anything was written since the last; return what prevents it."""
        with self.at_work() as store:
            return store.renew_backup()

    def close(self) -> None:
        """Close the store, after a last backup."""
        with self._turn:
            self._store.close()


@contextmanager
def holding(path: StorePlace) -> Generator[HeldStore]:
    """Hold a store open for as long as this lasts.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.store.database.environment_store import EnvironmentStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "forms.gk")
    ...     EnvironmentStore.create(path, who="ana").close()
    ...     with holding(path) as held:
    ...         held_at(path) is held
    ...     held_at(path) is None
    True
    True
    """
    held = HeldStore(path)
    with _registering:
        assert path not in _held, "a store is held once"
        _held[path] = held
    try:
        yield held
    finally:
        with _registering:
            del _held[path]
        held.close()


def held_at(path: StorePlace) -> HeldStore | None:
    """Return the store that is held at a path, if one is."""
    return _held.get(path)


def _opened(path: StorePlace) -> EnvironmentStore:
    from gamekeeper.store.database.environment_store import EnvironmentStore

    store = EnvironmentStore.open(path)
    # Whoever holds a store sees to its backup: nobody who saves is to wait for it.
    store.backs_up_later = True
    return store


def _file_identity(path: Path) -> object:
    try:
        found = os.stat(path)  # noqa: PTH116 - what cannot be looked up is told on opening
    except OSError:
        return None
    return found.st_dev, found.st_ino
