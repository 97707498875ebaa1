"""Opening an environment, kept in a store or as a folder; a store that stays open, for a server.

While a store is held, whoever opens its path in this process gets what is open, and leaves it open: a
server asks a thousand times what a command asks once. They take turns: codes are given to
harmonizations as they are met, and two at once could give one code to two of them. Whoever only looks
at what is there already waits for nobody (`seen`): an environment that was read does not change.
"""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, TypeGuard

from gamekeeper.errors import GamekeeperError, InputError, Reason, StoreError
from gamekeeper.files import LOGS, is_database, remove
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.results import Progress
from gamekeeper.store.place import ServerPlace, StorePlace, store_place
from gamekeeper.wording import quoted, shown_path

if TYPE_CHECKING:
    from gamekeeper.mapping.variables.codes import CodeRegister
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


class Place:
    """An environment that is open, and where it comes from; its store is opened when it is asked for."""

    def __init__(
        self,
        environment: Environment,
        path: StorePlace | None = None,
        *,
        as_of: datetime | int | None = None,
        codes: Mapping[str, CodeRegister] | None = None,
        held: EnvironmentStore | None = None,
    ) -> None:
        """Use `opened` instead; a store that is `held` by somebody is not closed here."""
        self.environment = environment
        self.as_of = as_of
        self._path = path
        self._codes = codes
        self._store = held
        self._is_held = held is not None

    @property
    def store(self) -> EnvironmentStore | None:
        """The store that the environment comes from, if it is one."""
        if self._store is None and self._path is not None:
            from gamekeeper.store.database.environment_store import EnvironmentStore

            # Not read-only where it need not be: an analysis may give codes that are to be kept.
            self._store = EnvironmentStore.open(self._path, readonly=self.as_of is not None)
        return self._store

    @property
    def content_revision(self) -> int:
        """The newest revision that changed anything but scenarios, 0 for a folder."""
        return self.store.content_revision(as_of=self.as_of) if self.store is not None else 0

    def keep_codes(self) -> None:
        """Keep codes that an analysis gave; in a folder, `check --assign` does."""
        if self.as_of is not None or self._has_all_codes():
            return
        if self.store is not None and not self.store.readonly:
            self.store.save_codes(self.environment)

    def _has_all_codes(self) -> bool:
        names = self.environment.variables
        return self._codes is not None and all(
            self.environment.register(name) == self._codes[name] for name in names
        )

    def close(self) -> None:
        """Close the store if it was opened here."""
        if self._store is not None and not self._is_held:
            self._store.close()


def is_store(path: StorePlace) -> bool:
    """Tell whether a place is a store rather than a folder or another file."""
    return isinstance(path, ServerPlace) or is_database(path)


def is_folder(path: StorePlace) -> TypeGuard[Path]:
    """Tell whether a place is a folder; what the system cannot look up is none."""
    if isinstance(path, ServerPlace):
        return False
    try:
        return path.is_dir()
    except OSError:
        return False


@contextmanager
def opened(
    path: str | StorePlace, *, as_of: str = "", progress: Progress | None = None
) -> Generator[Place]:
    """Open a folder or a store to read from it; `as_of` is a date, a time or a revision."""
    path = store_place(path)
    if (held := held_at(path)) is not None:
        asked = moment(as_of) if as_of else None
        with held.at_work() as store:
            yield Place(store.environment(as_of=asked), path, as_of=asked, held=store)
        return
    if is_folder(path):
        if as_of:
            raise InputError(
                Reason.BAD_OPTION,
                f"The environment as of {quoted([as_of])} was asked for.",
                f"{shown_path(path)} is a folder, which has no history.",
                "Import it into a store: gamekeeper env import FOLDER STORE.",
            )
        from gamekeeper.store.folder import read_environment

        yield Place(read_environment(path, progress=progress))
        return
    place = _read(path, as_of)
    try:
        yield place
    except BaseException:
        # The error that ended the work is the one to tell.
        with suppress(GamekeeperError):
            place.close()
        raise
    place.close()


def _read(path: StorePlace, as_of: str) -> Place:
    if as_of:
        asked = moment(as_of)
        with opened_store(path, readonly=True) as store:
            return Place(store.environment(as_of=asked), path, as_of=asked)
    from gamekeeper.store.database.loading import read_state

    state = read_state(path)
    if state is not None:
        return Place(state.environment, path, codes=state.registers)
    # An older version, which is raised first.
    with opened_store(path) as store:
        return Place(store.environment(), path)


@contextmanager
def opened_store(path: str | StorePlace, *, readonly: bool = False) -> Generator[EnvironmentStore]:
    """Open a store to change it or to look back; a folder is pointed to where that can be done."""
    path = store_place(path)
    if (held := held_at(path)) is not None:
        with held.at_work() as store:
            yield store
        return
    if is_folder(path):
        raise InputError(
            Reason.BAD_OPTION,
            f"The store {shown_path(path)} was asked for.",
            "It is a folder; edits are made in a store, which keeps their history.",
            "Import it once: gamekeeper env import FOLDER STORE. Or edit its files by hand.",
        )
    from gamekeeper.store.database.environment_store import EnvironmentStore

    with EnvironmentStore.open(path, readonly=readonly) as store:
        yield store


def moment(text: str) -> datetime | int:
    """Read a revision number, a date (its whole day is meant) or a time, UTC if it says no zone.

    Examples
    --------
    >>> moment("12"), moment("2031-05-01").isoformat()
    (12, '2031-05-01T23:59:59.999999+00:00')
    """
    if text.isascii() and text.isdecimal():
        return int(text)
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            Reason.BAD_OPTION,
            f"The time {quoted([text])} was asked for.",
            "It is neither a date, nor a time, nor the number of a revision.",
            "Write 2031-05-01, 2031-05-01T14:30 or the number of a revision.",
        ) from None
    aware = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        aware += timedelta(days=1) - timedelta(microseconds=1)
    return aware.astimezone(UTC)


def person(who: str | None) -> str:
    """Return who makes an edit: as said, else as set for all edits, else as the system knows."""
    if who or (who := os.environ.get("GAMEKEEPER_WHO")):
        return who
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
