"""Calls to Spark in threads of their own, so that whoever waits can be interrupted.

A signal such as Ctrl-C in the middle of a call would leave the connection to Spark between two
messages; here it only ends the waiting. Nobody has to wait for these threads when the process ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Begin some work in a thread of its own and return what will become of it."""
    future: Future[T] = Future()

    def do() -> None:
        try:
            made = work()
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            future.set_exception(error)
        else:
            future.set_result(made)

    threading.Thread(target=do, name="gamekeeper-spark", daemon=True).start()
    return future
