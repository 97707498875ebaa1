"""A server run until it is stopped, its connections, and its accounts seen to at the prompt.

Whoever connects and says nothing, or half a line, would else hold a place for as long as they like,
and a few hundred of them the whole server. So half a request is waited for some seconds only; and
where an address, or all together, have as many connections as there may be, the one that has been
waited for the longest gives way. One whose request is being answered never does.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from gamekeeper.errors import InputError, Reason
from gamekeeper.files import SERVER, make_private
from gamekeeper.store.place import ServerPlace, StorePlace
from gamekeeper.web.app import STATIC, make_app
from gamekeeper.web.people import Accounts, Sessions
from gamekeeper.web.service import Server
from gamekeeper.web.settings import (
    LOOPBACK,
    Database,
    Settings,
    checked_origin,
    named_folders,
)
from gamekeeper.web.stamp import is_current
from gamekeeper.wording import quoted, shown_path
from gamekeeper.workbench.demo_place import DEMO, demo_workplace
from gamekeeper.workbench.environment.opening import opened_store
from gamekeeper.workbench.requests.shared import AccountsRequest, ServeRequest

HEAD_SECONDS = 10.0
"""How long the head of a request may take."""
BODY_SECONDS = 30.0
"""How long nothing may come of a body that has begun."""
MOST_TOGETHER = 400
"""From so many connections on, requests are refused."""
_ROOM = 10


class Connection(H11Protocol):
    """A connection that is waited for, and looked after where there are many."""

    most_of_one = MOST_TOGETHER // 2
    _timer: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, and make room for it."""
        super().connection_made(transport)
        self._since = time.monotonic()
        self._wait(HEAD_SECONDS)
        everybody = [
            each
            for each in self.connections
            if isinstance(each, Connection) and not each.transport.is_closing()
        ]
        own = [each for each in everybody if each.address == self.address]
        crowd = own if len(own) > self.most_of_one else everybody
        if crowd is own or len(everybody) > MOST_TOGETHER - _ROOM:
            # A new one is the last to go.
            waited_for = [each for each in crowd if each.is_waited_for]
            min(waited_for, key=lambda each: each._since).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait on if it is not all of a request."""
        was_waiting_for_head = self._timer is not None and self.conn.their_state is h11.IDLE
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._wait(BODY_SECONDS)
        elif state is not h11.IDLE:
            self._wait(None)
        elif not was_waiting_for_head:
            # Half of the next request: its time began with its first bytes.
            self._wait(HEAD_SECONDS)

    def on_response_complete(self) -> None:
        """Begin to be idle."""
        self._since = time.monotonic()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait(None)
        super().connection_lost(exc)

    @property
    def address(self) -> str:
        """Where it comes from."""
        return self.client[0] if self.client else ""

    @property
    def is_waited_for(self) -> bool:
        """Whether it has no whole request that is answered."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _wait(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        self.transport.abort()


class BehindProxy(Connection):
    """A connection where all come from the one address of a proxy."""

    most_of_one = MOST_TOGETHER


STATE = ".server"
"""What the name of the private folder has after that of the store."""
FRONTEND = Path(__file__).parents[3] / "frontend"
"""Where the sources of the pages are, in a checkout."""


def settings_of(asked: ServeRequest) -> Settings:
    """Return how a server is set up; what cannot be is refused."""
    folders = asked.folders
    if asked.demo == (asked.store is not None):
        raise InputError(
            Reason.BAD_OPTION if asked.demo else Reason.NOTHING_GIVEN,
            "The workbench was to be opened in the browser.",
            "A store and --demo are given." if asked.demo else "No store is given.",
            "Name the file of a store, or give --demo.",
        )
    if asked.store is not None:
        store = asked.store if isinstance(asked.store, ServerPlace) else asked.store.absolute()
    else:
        place = demo_workplace(DEMO)
        store, folders = place.store.absolute(), (*folders, place.files)
    state = state_folder(store, asked.state)
    with opened_store(store):
        pass
    return Settings(
        store=store,
        state=state,
        folders=named_folders(folders),
        host=asked.host,
        port=asked.port,
        origin=checked_origin(asked.origin) if asked.origin else "",
        keep_days=asked.keep_days,
    )


def state_folder(store: StorePlace, given: Path | None) -> Path:
    """Return the private folder of the server of a store."""
    if given is None and isinstance(store, ServerPlace):
        asked = f"The server of the store {shown_path(store)} was asked for."
        found = "The store is on a database server, and has no place beside it for what is private."
        do = "Name a folder of this machine with --state."
        raise InputError(Reason.NOTHING_GIVEN, asked, found, do)
    return given.absolute() if given is not None else Path(f"{Path(str(store)).absolute()}{STATE}")


def serve(asked: ServeRequest, *, say: Callable[[str], None]) -> None:
    """Serve a store until somebody stops it; `say` is told where it is, in one line."""
    settings = settings_of(asked)
    listening = _listening(settings)
    with listening:
        settings = replace(settings, port=listening.getsockname()[1])
        server = Server(settings, say=say)
        if settings.host not in LOOPBACK and not server.accounts.are_there:
            wanted = f"The server was to listen on {quoted([settings.host])}."
            found = "Others can reach that, and nobody has an account."
            do = "Add accounts first: gamekeeper account add STORE NAME --role administrator."
            raise InputError(Reason.BAD_OPTION, wanted, found, do)
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
        config = uvicorn.Config(
            make_app(server),
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=True,
            # Who stands before it is known by its own settings, not by what a request says.
            proxy_headers=False,
            timeout_graceful_shutdown=2,
            timeout_keep_alive=75,
            limit_concurrency=MOST_TOGETHER,
            http=BehindProxy if settings.origin else Connection,
        )
        if not is_current(FRONTEND, STATIC):
            say("The pages are not built, or not from these sources: run make pages.")
        say(f"The workbench is at {server.start_address}")
        running = _Uvicorn(config, server)
        running.run(sockets=[listening])


class _Uvicorn(uvicorn.Server):
    """Lets listeners go when it is asked to stop: they would be waited for."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._ours = server

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # The environment stays: to look through all of it for garbage takes longer than a request.
        gc.collect()
        gc.freeze()

    def handle_exit(self, sig: int, frame: object) -> None:
        self._ours.events.close()
        super().handle_exit(sig, frame)  # pyright: ignore[reportArgumentType]


def _listening(settings: Settings) -> socket.socket:
    bare = settings.host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    # The protocol is named, or asyncio would leave the system to hold small answers back for a while.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((bare, settings.port))
        # Whoever comes before all is ready waits, and is not sent away.
        made.listen(128)
    except (OSError, OverflowError) as error:
        made.close()
        asked = f"The server was to listen on port {settings.port} of {quoted([settings.host])}."
        found = "The system refused: another program may listen there."
        do = "Choose another port with --port, or 0 for any that is free."
        raise InputError(Reason.IN_USE, asked, found, do) from error
    return made


def people_of(asked: AccountsRequest) -> tuple[Accounts, Sessions]:
    """Return the accounts and the sessions of the server of a store."""
    with opened_store(asked.place.store, readonly=True):
        pass
    folder = state_folder(asked.place.store, asked.state)
    make_private(folder)
    database = Database(folder / SERVER)
    return Accounts(database), Sessions(database)
