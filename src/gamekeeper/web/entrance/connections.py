"""Connections: a request must come in time, and no address has all the places.

Whoever connects and says nothing, or half a line, would else hold a place for as long as they like,
and a few hundred of them the whole server. So half a request is waited for some seconds only; and
where an address, or all together, have as many connections as there may be, the one that has been
waited for the longest gives way. One whose request is being answered never does.
"""

from __future__ import annotations

import asyncio
import time

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take."""

BODY_SECONDS = 30.0
"""How long nothing may come of a body that has begun."""

MOST_TOGETHER = 400
"""From so many connections on, requests are refused."""

_ROOM = 10
_MOST_OF_ONE = MOST_TOGETHER // 2


class Connection(H11Protocol):
    """A connection that is waited for, and looked after where there are many."""

    most_of_one = _MOST_OF_ONE
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
