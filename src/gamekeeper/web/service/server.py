"""What a running server has: the store it holds, its database, who is signed in, who listens."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any
from weakref import ref

from gamekeeper.errors import Reason
from gamekeeper.files.asides import clear_temporary_folders, make_private, temporary_folder
from gamekeeper.files.gate import SERVER
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.web.database import Database
from gamekeeper.web.jobs.jobs import Jobs
from gamekeeper.web.people.accounts import Accounts
from gamekeeper.web.people.sessions import Sessions
from gamekeeper.web.settings import Settings
from gamekeeper.web.wire.errors import Refused
from gamekeeper.web.wire.events import Events
from gamekeeper.web.wire.ids import Names
from gamekeeper.workbench.environment.holding import HeldStore, holding
from gamekeeper.workbench.environment.opening import Place, opened


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
        from gamekeeper.web.service.ticking import ticking

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
            raise Refused(
                503,
                Reason.BUSY.value,
                "Other files are being read.",
                "Wait a little, and send it again.",
                wait=int(_LONGEST_TURN),
            )
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
