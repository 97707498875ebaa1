"""What happens, told to open pages as it happens (server-sent events).

Anybody may publish, from any thread. A page that does not read fast enough misses what is old: it
learns from the next event at which revision the environment is, and reads that.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from threading import Lock
from typing import Any

_WAITING = 100
_HEARTBEAT = 15.0


class Events:
    """Those who listen, and what they are told."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[asyncio.Queue[str | None], asyncio.AbstractEventLoop] = {}
        self._is_closed = False

    def publish(self, kind: str, **told: Any) -> None:
        """Tell everybody who listens."""
        self._send(f"event: {kind}\ndata: {json.dumps(told)}\n\n")

    def close(self) -> None:
        """Let all listeners go."""
        self._is_closed = True
        self._send(None)

    @property
    def n_listeners(self) -> int:
        """How many pages listen."""
        return len(self._listeners)

    async def listen(
        self, *first: tuple[str, dict[str, Any]], may_go_on: Callable[[], bool] = lambda: True
    ) -> AsyncGenerator[str]:
        """Yield what is told from now on, after some events for this listener alone.

        Now and then it is asked whether the listener may go on, as sessions end.
        """
        queue: asyncio.Queue[str | None] = asyncio.Queue(_WAITING)
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield "retry: 2000\n\n"
            for kind, told in first:
                yield f"event: {kind}\ndata: {json.dumps(told)}\n\n"
            asked = time.monotonic()
            while not self._is_closed:
                if time.monotonic() - asked > _HEARTBEAT:
                    asked = time.monotonic()
                    if not may_go_on():
                        return
                try:
                    text = await asyncio.wait_for(queue.get(), _HEARTBEAT)
                except TimeoutError:
                    text = ": still here\n\n"
                if text is None:
                    return
                yield text
        finally:
            with self._lock:
                del self._listeners[queue]

    def _send(self, text: str | None) -> None:
        with self._lock:
            for queue, loop in self._listeners.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_put, queue, text)


def _put(queue: asyncio.Queue[str | None], text: str | None) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(text)
