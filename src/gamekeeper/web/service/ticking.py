"""What goes on beside requests: who else changed the store or put another in its place, and backups when nobody waits.

The file of a store is looked at every second. A database server tells of new revisions by itself:
then it is looked at when it does, and now and then in case something was not heard.

A backup is a copy of the whole store. It is renewed when nothing was saved for some seconds, and at
least every minute while people save; a last time when the server ends.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from gamekeeper.errors import GamekeeperError
from gamekeeper.store.place import ServerPlace
from gamekeeper.web.wire.errors import LOG, fault_of_ours

if TYPE_CHECKING:
    from gamekeeper.web.service.server import Server

_EVERY = 1.0
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
            ticker.heard.wait(_EVERY)
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
            from gamekeeper.store.database.server.listening import listening

            stack.enter_context(listening(server.settings.store, ticker.heard.set))
        yield
