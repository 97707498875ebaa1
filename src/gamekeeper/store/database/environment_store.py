"""`EnvironmentStore`: an environment in a store, read and edited by several, with history and undo.

Every edit is one transaction that is on disk before it is acknowledged; every revision can be
undone, and the environment can be had as it was. Several people may work on one store at once: each
sees one state at a time, and an edit of something that was changed meanwhile is refused. Loading
takes long, so the state that was read or written last is kept, and brought up to date.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import TypeVar

from sqlalchemy import Connection, Engine

from gamekeeper.errors import GamekeeperError, InputError, Problem, Reason, StoreError
from gamekeeper.files import LOGS, aside, clear_leftovers, environment_around, put_new
from gamekeeper.mapping.edits import Edit, apply_edits, edit_notes, touched
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.results import Progress
from gamekeeper.store.database import file, past
from gamekeeper.store.database.codes import Renames, merged, new_codes, save_codes, without_spent
from gamekeeper.store.database.engines import ask_of, reading, writing
from gamekeeper.store.database.loading import State, load, position, renew_seals
from gamekeeper.store.database.revisions import (
    Action,
    Revision,
    begin,
    last_content_revision,
    record,
    require_signed,
    revision_of_key,
    revisions,
)
from gamekeeper.store.database.words import VERSIONS, attempt, damaged, migrate, version_of
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.wording import shown_path

_ASKED_TO_CREATE = "The store {} was to be created."
_ASKED_TO_OPEN = "The store {} was to be opened."


def create_store(place: StorePlace, fill: Callable[[Connection], None]) -> None:
    """Make a store; it is there whole or not at all. `fill` writes to its empty tables."""

    def create() -> None:
        if isinstance(place, ServerPlace):
            _create_schema(place, fill)
        else:
            _create_file(place, fill)

    attempt(_ASKED_TO_CREATE, place, create)


def require_no_link(path: Path) -> None:
    """Refuse to make a store where a link says."""
    if os.path.islink(path):  # noqa: PTH114 - a path that cannot be is no link
        found = "It is a link, and links are not followed. Nothing was changed."
        do = "Name the file itself."
        raise StoreError(Reason.NOT_WRITABLE, _ASKED_TO_CREATE.format(shown_path(path)), found, do)


def open_engine(access: file.Access) -> Engine:
    """Return an engine for a store, after bringing it to the version of today."""
    access.require(_ASKED_TO_OPEN)
    return attempt(_ASKED_TO_OPEN, access.place, lambda: _open(access))


def _create_schema(place: ServerPlace, fill: Callable[[Connection], None]) -> None:
    from gamekeeper.store.database.server import Found, ServerAccess, finish_schema, make_schema

    engine = ServerAccess(place, readonly=False).engine()
    try:
        # What defines tables is part of the transaction, and of two who make a store one waits.
        with writing(engine) as connection:
            found = Found(ask_of(connection), place.schema)
            make_schema(connection, found, place, _ASKED_TO_CREATE)
            migrate(connection)
            finish_schema(connection, place)
            fill(connection)
    finally:
        engine.dispose()


def _create_file(path: Path, fill: Callable[[Connection], None]) -> None:
    # A log that an earlier store left behind would be taken for that of the new one.
    if path.exists() or any(file.beside(path, ending).exists() for ending in LOGS):
        raise _taken(path)
    if not path.parent.is_dir():
        found = f"There is no folder {shown_path(path.parent)}."
        do = "Make the folder first, or check the path."
        raise StoreError(Reason.NOT_FOUND, _ASKED_TO_CREATE.format(shown_path(path)), found, do)
    if environment_around(path.parent) is not None:
        found = "It lies within the folder of an environment."
        do = "Make it elsewhere."
        raise StoreError(Reason.NOT_WRITABLE, _ASKED_TO_CREATE.format(shown_path(path)), found, do)
    clear_leftovers(path)
    with aside(path, private=True) as made:
        with closing(file.connect(made, mode="rwc")) as connection:
            connection.execute(f"PRAGMA application_id = {file.MARK}")
        engine = file.FileAccess(made, readonly=False).engine()
        try:
            with writing(engine) as connection:
                migrate(connection)
                fill(connection)
        finally:
            engine.dispose()
        with closing(file.connect(made, mode="rw")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        try:
            put_new(made, path)
        except FileExistsError:
            raise _taken(path) from None


def _open(access: file.Access) -> Engine:
    engine = access.engine()
    try:
        with reading(engine) as connection:
            version = version_of(ask_of(connection), access.place, _ASKED_TO_OPEN)
        if version != VERSIONS[-1]:
            _raise_version(access, engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _raise_version(access: file.Access, engine: Engine) -> None:
    if access.readonly:
        raise StoreError(
            Reason.READ_ONLY,
            _ASKED_TO_OPEN.format(shown_path(access.place)),
            "It is of an older version of Gamekeeper, and can only be read here.",
            "Open it once where it can be written, or open a copy.",
        )
    access.renew_backup(_ASKED_TO_OPEN)
    with writing(engine) as connection:
        # Another program may have done it meanwhile.
        if version_of(ask_of(connection), access.place, _ASKED_TO_OPEN) != VERSIONS[-1]:
            migrate(connection)
            if isinstance(access.place, ServerPlace):
                from gamekeeper.store.database.server import finish_schema

                finish_schema(connection, access.place)
            # A migration may change rows, and the checksums of what is there go with them.
            renew_seals(connection)


def _taken(path: Path) -> StoreError:
    found = (
        "There is a file or folder of that name already, or a log of an earlier store of that name"
        " (-wal, -shm or -journal). Nothing was changed."
    )
    do = "Choose another name, open what is there, or move it away."
    return StoreError(Reason.NOT_WRITABLE, _ASKED_TO_CREATE.format(shown_path(path)), found, do)


_Outcome = TypeVar("_Outcome")


class Transactions:
    """What is done with an open store, a transaction at a time.

    `state` is what was read or written last here, None before that; `has_written` tells whether anything
    was written here since it was last said otherwise.
    """

    def __init__(self, access: file.Access) -> None:
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
            self.state = state = past.refreshed(connection, self.state)
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
                    loaded = past.refreshed(connection, self.state)
                with writing(self._engine) as connection:
                    before = past.refreshed(connection, loaded)
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
                    state = past.refreshed(connection, self.state)
                if not new_codes(state, environment, told):
                    return 0
                with writing(self._engine) as connection:
                    state = past.refreshed(connection, self.state)
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


_EDIT = "Edits were to be made in the store {}."
_UNDO = "An undo was asked for in the store {}."
_REDO = "A redo was asked for in the store {}."
_REPLACE = "The environment in the store {} was to be replaced."
_CODES = "Codes were to be saved in the store {}."
_READ = "The environment in the store {} was to be read."
_HISTORY = "The history of the store {} was asked for."
_CHECK = "A check of the store {} was asked for."
_BACKUP = "A backup of the store {} was to be made."


class EnvironmentStore:
    """An environment in one SQLite file or on a server, with history, undo and backup.

    Make one with `create` or `open`, and use it in a ``with`` statement or close it. It may be
    used from several threads. Microdata never belong here. Where it `backs_up_later`, somebody else
    sees to the backup, and who edits need not wait for it.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.mapping.edits import AddForm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with EnvironmentStore.create(Path(folder) / "forms.gk", who="ana") as store:
    ...         made = store.apply([AddForm(name="Bank")], who="ana")
    ...         list(store.environment().forms), made.number, made.words
    ...         store.undo(who="ana").words, list(store.environment().forms)
    (['Bank'], 2, ("Add the form 'Bank' with 0 variables.",))
    (("Undo revision 2: add the form 'Bank' with 0 variables.",), [])
    """

    def __init__(self, access: file.Access) -> None:
        """Open the store; use `create` or `open` instead."""
        self.path = access.place
        self.readonly = access.readonly
        self.backs_up_later = False
        self._file = Transactions(access)
        self._closed = False

    @classmethod
    def create(
        cls,
        path: str | StorePlace,
        environment: Environment | None = None,
        *,
        who: str,
        name: str | None = None,
        description: str | None = None,
        note: str = "",
    ) -> EnvironmentStore:
        """Create a store, empty or with an environment, and open it.

        Parameters
        ----------
        path
            The file, or the address with its schema, which must not be there yet.
        who, note
            The person, and what to say about it, for the history.
        name, description
            Of the environment, in place of its own.
        """
        require_signed(who, note)
        begun = environment or Environment([])
        if name is not None or description is not None:
            begun = begun.changed(name=name, description=description)
        place = file.place_of(path)
        if not isinstance(place, ServerPlace):
            require_no_link(Path(str(path)))
        first = Revision(1, datetime.now(UTC), who, Action.IMPORT, note=note)
        create_store(place, lambda connection: begin(connection, begun, first))
        store = cls.open(place)
        store._file.has_written = True
        return store

    @classmethod
    def open(cls, path: str | StorePlace, *, readonly: bool = False) -> EnvironmentStore:
        """Open a store; where it cannot be written it can only be read.

        A store of an older version is brought to this one, after a backup. One of a newer version
        is refused, and so is a file that is something else or damaged.
        """
        return cls(file.access_of(file.place_of(path), readonly=readonly))

    def __enter__(self) -> EnvironmentStore:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except GamekeeperError:
            # The error that ended the work is the one to tell.
            if error is None:
                raise

    def __repr__(self) -> str:
        return f"EnvironmentStore({shown_path(self.path)})"

    def close(self) -> None:
        """Close the store, after a backup if it was changed here since the last one.

        Raises
        ------
        StoreError
            If there can be no backup; what was changed is saved all the same.
        """
        if self._closed:
            return
        self._closed = True
        try:
            fault = self.renew_backup()
        finally:
            self._file.close()
        if fault is not None:
            raise StoreError(
                fault.reason,
                _BACKUP.format(shown_path(self.path)),
                # That nothing was changed holds of the backup.
                f"{fault.found.removesuffix('Nothing was changed.').strip()} What was changed in the"
                " store is saved.",
                fault.do,
            )

    def renew_backup(self) -> GamekeeperError | None:
        """Make a backup if the store was changed here since the last; return what prevents it.

        Edits that were acknowledged are saved whether there is a backup or not.
        """
        if not self._file.has_written or not self._file.access.has_backups:
            return None
        self._file.has_written = False
        try:
            if self._file.access.backup_position() != self._position():
                attempt(_BACKUP, self.path, lambda: self._file.access.renew_backup(_BACKUP))
        except GamekeeperError as error:
            return error
        return None

    @property
    def revision(self) -> int:
        """The revision of the environment that was read or written last through this object.

        Before that, it is the newest revision.
        """
        state = self._file.state
        return self._position()[0] if state is None else state.revision

    def identity(self) -> object:
        """Return what another store in the same place would not have; None if there is none now."""
        return self._file.read(_READ, self._file.access.identity)

    def content_revision(self, *, as_of: datetime | int | None = None) -> int:
        """Return the newest revision, up to a moment, that changed anything but scenarios."""
        return self._file.read(_READ, lambda connection: last_content_revision(connection, as_of))

    def environment(self, *, as_of: datetime | int | None = None) -> Environment:
        """Return the environment, as it is or as it was.

        `as_of` is the number of a revision, or a moment, for the last revision at or before it. A moment
        must have a time zone: without one it could be taken for another. In an environment as it was,
        documents are what they were, and so are codes that existed. Codes given since keep their meaning
        where they have one then, and are retired otherwise; none is given again.
        """

        def look(connection: Connection, state: State) -> Environment:
            return (
                state.environment
                if as_of is None
                else past.environment_at(connection, state, as_of)
            )

        return self._file.read_state(_READ, look)

    def snapshot(self) -> tuple[Environment, int]:
        """Return the environment as it is, and its revision."""
        return self._file.read_state(_READ, lambda _, state: (state.environment, state.revision))

    def apply(
        self,
        edits: Iterable[Edit],
        *,
        who: str,
        base: int | None = None,
        unrestricted: bool = False,
        note: str = "",
        key: str = "",
    ) -> Revision:
        """Make edits, all of them or none, as one revision, which is on disk when it is returned.

        Parameters
        ----------
        edits
            What is to be done, one after the other.
        who, note
            The person, and what to say about it, for the history.
        base
            The revision that the edits were thought out on; by default the one that was read last
            through this object. If what they touch was changed since, they are refused as stale.
            Otherwise they are made in the newest environment.
        unrestricted
            Whether earlier categorizations may be lost.
        key
            A name for this save, such as whoever lost the answer sends again: what was made under
            it already is returned, and not made twice.
        """
        given = tuple(edits)
        require_signed(who, note)
        if not given:
            raise InputError(
                Reason.NOTHING_GIVEN,
                _EDIT.format(shown_path(self.path)),
                "No edit was given.",
                "Give one or more.",
            )
        names = frozenset(pair for edit in given for pair in touched(edit))
        made = Revision(
            0, datetime.now(UTC), who, Action.EDIT, None, unrestricted, note, given, touched=names,
            key=key,
        )  # fmt: skip
        seen = self._file.state

        def edited(connection: Connection, state: State) -> tuple[Environment, Revision]:
            if key and (number := revision_of_key(connection, key)) is not None:
                raise _MadeBefore(number)
            start = base if base is not None else (seen or state).revision
            asked = _EDIT.format(shown_path(self.path))
            past.require_fresh(connection, start, state.revision, names, asked)
            try:
                after = apply_edits(state.environment, given, unrestricted=unrestricted)
            except InputError as error:
                raise past.refusal_since(connection, start, state.revision, error) from error
            return without_spent(connection, state, after, Renames.of(given)), made

        try:
            before, after, revision = self._file.write(_EDIT, edited)
        except _MadeBefore as found:
            (revision,) = self.history(since=found.number, until=found.number)
            return revision
        # Near names are looked for when nobody waits for the store any more.
        return replace(revision, notes=edit_notes(before, after, given))

    def undo(self, *, who: str, anyone: bool = False) -> Revision:
        """Take back the newest revision that is not undone; with `anyone`, also of another person.

        Documents become exactly what they were. Codes are not unlearnt: those given since keep
        their meaning or are retired.
        """
        return self._take_back(_UNDO, Action.UNDO, who, anyone=anyone)

    def redo(self, *, who: str, anyone: bool = False) -> Revision:
        """Do again what was undone last, as long as nothing else was done since."""
        return self._take_back(_REDO, Action.REDO, who, anyone=anyone)

    def replace(self, environment: Environment, *, who: str, note: str = "") -> Revision:
        """Replace the environment by one from elsewhere, such as a folder, as one revision.

        Codes of the store keep their meaning. Where the environment has other meanings for them
        its categorizations get new codes; the notes of the revision say so.
        """
        require_signed(who, note)
        made = Revision(0, datetime.now(UTC), who, Action.IMPORT, note=note)
        notes: tuple[str, ...] = ()

        def replaced(connection: Connection, state: State) -> tuple[Environment, Revision]:
            nonlocal notes
            after, notes = merged(state, environment)
            return without_spent(connection, state, after, Renames()), made

        return replace(self._file.write(_REPLACE, replaced)[2], notes=notes)

    def save_codes(self, environment: Environment) -> int:
        """Save codes that an analysis gave beyond those that edits give, and return their number.

        Raises
        ------
        StoreError
            If variables changed since the environment was read, or others saved the same codes
            with another meaning. Nothing is saved then.
        """
        return self._file.write_codes(_CODES, environment)

    def history(
        self,
        *,
        since: datetime | int | None = None,
        until: datetime | int | None = None,
        who: str | None = None,
        touching: str | tuple[str, str] | None = None,
        most: int | None = None,
    ) -> tuple[Revision, ...]:
        """Return the revisions, newest first, at most so many.

        Parameters
        ----------
        since, until
            Moments, with a time zone, or numbers of revisions; both count in.
        who
            Only those of this person.
        touching
            Only those that touch something of this name, or of this kind and name.
        """
        return self._file.read(
            _HISTORY,
            lambda connection: revisions(
                connection, since=since, until=until, who=who, touching=touching, most=most
            ),
        )

    def check(self, *, progress: Progress | None = None) -> None:
        """Check the file, the environment and that the history leads to it.

        `progress` is told how many revisions are done, of how many.

        Raises
        ------
        StoreError
            If the store is damaged, with where.
        """

        def look(connection: Connection) -> list[Problem]:
            problems = self._file.access.faults(connection)
            return problems or past.history_problems(connection, load(ask_of(connection)), progress)

        problems = self._file.read(_CHECK, look)
        if problems:
            raise damaged(_CHECK, self.path, problems)

    def backup(self, name: str = "", *, progress: Progress | None = None) -> Path:
        """Check the store as a whole, copy it to a backup that is kept, and return where that is.

        It is called by a name, by default the revision as in ``revision-12``, and the time.
        """
        called = file.plain_name(name) if name else ""
        self.check(progress=progress)
        called = called or f"revision-{self._position()[0]}"
        return attempt(_BACKUP, self.path, lambda: self._file.access.keep_backup(called, _BACKUP))

    def _take_back(self, asked: str, action: Action, who: str, *, anyone: bool) -> Revision:
        require_signed(who, "")
        told = asked.format(shown_path(self.path))
        return self._file.write(
            asked,
            lambda connection, state: past.take_back(
                connection, state, action, who, anyone=anyone, asked=told
            ),
        )[2]

    def _position(self) -> tuple[int, int]:
        return self._file.read(_READ, lambda connection: position(ask_of(connection)))


class _MadeBefore(Exception):  # noqa: N818 - no fault: it ends a transaction that has nothing to do
    """What is to be saved was saved under its key before."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
