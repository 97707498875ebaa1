"""New revisions of a store on a server, heard as they are committed.

A server tells whoever listens; what it told while the connection was broken is lost. So whoever
listens is called after every new connection as well, and looks for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from gamekeeper.errors import GamekeeperError
from gamekeeper.store.database.refusals import ServerRefusal
from gamekeeper.store.database.server.access import channel_of
from gamekeeper.store.database.server.connections import connect
from gamekeeper.store.place import ServerPlace

_PATIENCE: Final = 1.0
_LONGEST: Final = 30.0


@contextmanager
def listening(place: ServerPlace, heard: Callable[[], None]) -> Generator[None]:
    """Call `heard`, from a thread of its own, whenever a revision may have been made."""
    end = Event()

    def run() -> None:
        from psycopg import Error

        pause = _PATIENCE
        while not end.is_set():
            try:
                with connect(place, autocommit=True) as connection:
                    connection.execute(f"LISTEN {channel_of(place)}".encode())
                    pause = _PATIENCE
                    heard()
                    while not end.is_set():
                        for _ in connection.notifies(timeout=_PATIENCE, stop_after=1):
                            heard()
            except (Error, ServerRefusal, GamekeeperError):
                # Whoever reads the store tells what is wrong with it; here it is tried again.
                end.wait(pause)
                pause = min(2 * pause, _LONGEST)

    thread = Thread(target=run, name="gamekeeper-listener", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
