"""What a running server has: its store and database, who asks, who listens, what goes on beside.

Who asks is found by the cookie, and held against the role that a route needs. Beside requests it is
seen who else changed the store or put another in its place: the file of a store is looked at every
second; a database server tells of new revisions by itself, and is looked at when it does, and now
and then in case something was not heard. A backup is a copy of the whole store. It is renewed when
nothing was saved for some seconds, and at least every minute while people save; a last time when
the server ends.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import Annotated, Any
from weakref import ref

from fastapi import Depends, Request

from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.files import SERVER, clear_temporary_folders, make_private, temporary_folder
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.place import ServerPlace
from gamekeeper.web.jobs import Jobs
from gamekeeper.web.people import Accounts, Role, Sessions, Who
from gamekeeper.web.settings import Database, Settings
from gamekeeper.web.wire import LOG, Events, Names, Refused, fault_of_ours
from gamekeeper.workbench.environment.opening import HeldStore, Place, holding, opened


@dataclass(frozen=True, slots=True)
class Seen:
    """An environment as it was a moment ago: whoever looks at it waits for nobody."""

    environment: Environment
    revision: int
    store: EnvironmentStore
    names: Names


class Server:
    """One store, held open, and what it takes to show it to browsers."""

    def __init__(self, settings: Settings, *, say: Callable[[str], None] = print) -> None:
        make_private(settings.state)
        # What was sent to a server that was cut off while it read that.
        clear_temporary_folders(settings.state)
        self.settings = settings
        self.database = Database(settings.state / SERVER)
        self.accounts = Accounts(self.database)
        self.sessions = Sessions(self.database)
        self.events = Events()
        self.jobs = Jobs(self.database, settings.state / "jobs", keep_days=settings.keep_days)
        self._say = say
        self._lock = Lock()
        self._token = secrets.token_urlsafe(32)
        self._names: Names | None = None
        self._kept: dict[Any, Any] = {}
        self._making: dict[Any, Lock] = {}
        self._held: HeldStore | None = None
        self._reading = BoundedSemaphore(_READ_AT_ONCE)

    @property
    def held(self) -> HeldStore:
        """The store that is held, while the server runs."""
        assert self._held is not None, "the server is not running"
        return self._held

    @contextmanager
    def running(self) -> Generator[None]:
        """Hold the store, and keep what goes on beside the requests going."""
        with ExitStack() as stack:
            self._held = stack.enter_context(holding(self.settings.store))
            stack.enter_context(ticking(self))
            yield

    def seen(self) -> Seen:
        """Return the environment as it is now, for those who only look at what is there already."""
        environment, revision, store = self.held.seen()
        return Seen(environment, revision, store, self.names(environment))

    @contextmanager
    def opened(self) -> Generator[tuple[Place, Names]]:
        """Give the environment as it is now, and its names by id, to one at a time who may give codes."""
        with opened(self.settings.store) as place:
            yield place, self.names(place.environment)

    def names(self, environment: Environment) -> Names:
        """Return the names of an environment by id; those of the newest are kept."""
        with self._lock:
            if self._names is None or self._names.environment is not environment:
                self._names = Names(environment)
            return self._names

    def kept(self, key: tuple[Any, ...], of: object, make: Callable[[], Any]) -> Any:
        """Return what was made for a key as long as what it is made of is the same object.

        What it is made of is not kept: environments of the past would fill the memory.
        """
        with self._lock:
            making = self._making.setdefault(key, Lock())
        # Many ask for the same after a save: one makes it, and the others wait for that.
        with making:
            found = self._kept.get(key)
            if found is None or found[0]() is not of:
                found = (ref(of), make())
                if len(self._kept) > _MOST_KEPT:
                    self._kept.clear()
                self._kept[key] = found
            return found[1]

    @contextmanager
    def scratch(self) -> Generator[Path]:
        """Give a private folder that is gone afterwards, to a few at a time: each reads a file."""
        if not self._reading.acquire(timeout=_LONGEST_TURN):
            found = "Other files are being read."
            do = "Wait a little, and send it again."
            raise Refused(503, Reason.BUSY.value, found, do, wait=int(_LONGEST_TURN))
        folder = None
        try:
            folder = temporary_folder(self.settings.state)
            yield folder
        finally:
            self._reading.release()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    @property
    def start_address(self) -> str:
        """Where the one who started the server goes first."""
        settings = self.settings
        base = settings.origin or f"http://{settings.host}:{settings.port}"
        return base if self.accounts.are_there else f"{base}/start?token={self._token}"

    def exchange(self, token: str, who: str) -> str | None:
        """Return the cookie of a new session for the start token, which is good for one time."""
        with self._lock:
            if not compare_digest(token.encode(errors="replace"), self._token.encode()):
                return None
            self._token = secrets.token_urlsafe(32)
        self._say(f"Signed in. For another browser: {self.start_address}")
        return self.sessions.begin(who)


_MOST_KEPT = 400
_READ_AT_ONCE = 2
_LONGEST_TURN = 20.0
_NAME = "gamekeeper"


def cookie_name(settings: Settings) -> str:
    """Return the name of the cookie; over https one that no neighbour can set."""
    return f"__Host-{_NAME}" if settings.is_secure else f"{_NAME}-{settings.port}"


def server_of(request: Request) -> Server:
    """Return the server that a request came to."""
    return request.app.state.server


TheServer = Annotated[Server, Depends(server_of)]


class Needs:
    """A route needs a role."""

    def __init__(self, role: Role) -> None:
        self.role = role

    def __call__(self, request: Request, server: TheServer) -> Who:
        """Return who asks, or refuse."""
        who = signed_in(request, server)
        if who is None:
            raise Refused(401)
        if who.role < self.role:
            found = f"This is for the role {self.role.word}; yours is {who.role.word}."
            raise Refused(403, "not-allowed", found, "Ask an administrator.")
        return who


def signed_in(request: Request, server: Server) -> Who | None:
    """Return who has the cookie of a request."""
    value = request.cookies.get(cookie_name(server.settings))
    if value is None:
        return None
    return server.sessions.who(value, accounts=server.accounts.are_there)


Reader = Annotated[Who, Depends(Needs(Role.READER))]
Editor = Annotated[Who, Depends(Needs(Role.EDITOR))]
Administrator = Annotated[Who, Depends(Needs(Role.ADMINISTRATOR))]
_UNHEARD = 15.0
_QUIET = 5.0
_LATEST = 60.0


class Ticker:
    """Looks at the store every second."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._revision = 0
        self._place = ""
        self._changed = 0.0
        self._first_unsaved = 0.0
        self._jobs: dict[str, float] = {}
        self._looked = 0.0
        self.heard = Event()

    def tick(self) -> None:
        """Tell of jobs that went on and of a new revision, and see to the backup."""
        was_heard = self.heard.is_set()
        self.heard.clear()
        self._tell_jobs()
        now = time.monotonic()
        is_told = isinstance(self._server.settings.store, ServerPlace)
        if is_told and not was_heard and now - self._looked < _UNHEARD:
            return
        # Should it fail, the next second is another.
        self._looked = 0.0
        revision = self._server.seen().revision
        if (place := self._server.held.place) != self._place:
            if self._place:
                self._server.events.publish("replaced", revision=revision)
            self._place = place
        now = self._looked = time.monotonic()
        if revision != self._revision:
            if self._revision:
                self._server.events.publish("revision", revision=revision)
                self._changed = now
                self._first_unsaved = self._first_unsaved or now
            self._revision = revision
        if self._first_unsaved and (
            now - self._changed > _QUIET or now - self._first_unsaved > _LATEST
        ):
            self._first_unsaved = 0.0
            if (fault := self._server.held.renew_backup()) is not None:
                LOG.warning("the backup could not be renewed [%s]", fault.reason.value)
                self._server.events.publish("backup", code=fault.reason.value)

    def _tell_jobs(self) -> None:
        self._server.jobs.advance()
        for job in self._server.jobs.all():
            if self._jobs.get(job.id) != job.changed:
                self._jobs[job.id] = job.changed
                self._server.events.publish(
                    "job", id=job.id, state=job.state.value, done=job.done, total=job.total
                )


@contextmanager
def ticking(server: Server) -> Generator[None]:
    """Look at the store every second for as long as this lasts."""
    ticker, end = Ticker(server), Event()

    def run() -> None:
        told = ""
        while not end.is_set():
            # Who is told of a new revision does not wait for the next second.
            ticker.heard.wait(1.0)
            if end.is_set():
                return
            now = ""
            try:
                ticker.tick()
            except GamekeeperError as error:
                now = error.reason.value
                # What lasts is told once.
                if now != told:
                    LOG.warning("the store cannot be read [%s]", now)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next second is another
                now = type(error).__name__
                if now != told:
                    fault_of_ours(error)
            told = now

    thread = Thread(target=run, name="gamekeeper-ticker", daemon=True)
    ticker.tick()
    thread.start()
    with ExitStack() as stack:
        stack.callback(thread.join)
        stack.callback(ticker.heard.set)
        stack.callback(end.set)
        if isinstance(server.settings.store, ServerPlace):
            from gamekeeper.store.database.server import listening

            stack.enter_context(listening(server.settings.store, ticker.heard.set))
        yield
