"""What goes on beside requests: who else changed the store, and backups when nobody waits.

A backup is a copy of the whole store. It is renewed when nothing was saved for some seconds, and at
least every minute while people save; a last time when the server ends.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from gamekeeper.errors import GamekeeperError
from gamekeeper.web.wire.errors import LOG, fault_of_ours

if TYPE_CHECKING:
    from gamekeeper.web.service.server import Server

_EVERY = 1.0
_QUIET = 5.0
_LATEST = 60.0


class Ticker:
    """Looks at the store every second."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._revision = 0
        self._changed = 0.0
        self._first_unsaved = 0.0
        self._jobs: dict[str, float] = {}

    def tick(self) -> None:
        """Tell of jobs that went on and of a new revision, and see to the backup."""
        self._tell_jobs()
        revision = self._server.seen().revision
        now = time.monotonic()
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
        while not end.wait(_EVERY):
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
    try:
        yield
    finally:
        end.set()
        thread.join()
