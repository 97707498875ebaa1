"""Ctrl-C: while code is loaded it ends the process at once, at work it is granted at the next step.

An exception is no way out of an import: compiled modules that import others turn it into errors of
their own, or swallow it. While code is loaded nothing has been written that could be half done.

At work Python raises KeyboardInterrupt between any two steps, and then compiled code that is about to
hand back an array can crash. Where work tells progress it is safe to stop, and work that keeps what
it has found can do so.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress

_CANCELLED = 130


@contextmanager
def on_interrupt(handler: Callable[[int, FrameType | None], None]) -> Generator[None]:
    """Let Ctrl-C call a function meanwhile; what it did before is what it does afterwards."""
    # Signals are for the main thread alone; elsewhere there is nobody at the keyboard.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None stands for a handler that is not Python's, and cannot be put back.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def loading() -> AbstractContextManager[None]:
    """Let Ctrl-C end the process at once: only around imports, for nothing that is open is closed.

    Examples
    --------
    >>> with loading():
    ...     import decimal
    """
    return on_interrupt(lambda *_: os._exit(_CANCELLED))


@contextmanager
def stopped_by_hand(
    progress: Progress, what: str, asked: Callable[[], None]
) -> Generator[Progress]:
    """Let Ctrl-C call `asked` and raise `Cancelled` where progress is told next.

    Before anything was told, or a second time, it raises KeyboardInterrupt at once. If the work (`what`,
    in words) ends before it tells again, the wish came too late.
    """
    is_told, is_asked = False, False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal is_asked
        if is_asked or not is_told:
            raise KeyboardInterrupt
        is_asked = True
        asked()

    def tell(done: int, total: int | None) -> None:
        nonlocal is_told
        is_told = True
        if is_asked:
            raise Cancelled(f"{what}.")
        progress(done, total)

    with on_interrupt(ask):
        yield tell
