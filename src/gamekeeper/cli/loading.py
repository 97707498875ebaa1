"""Ctrl-C while code is loaded: the process ends at once, with exit code 130 and without a word.

An exception is no way out of an import: compiled modules that import others turn it into errors
of their own, or swallow it. While code is loaded nothing has been written that could be half done,
so there is nothing to tidy up.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

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
    """Let Ctrl-C end the process at once.

    Only around imports: nothing that is open is closed.

    Examples
    --------
    >>> with loading():
    ...     import decimal
    """
    return on_interrupt(lambda *_: os._exit(_CANCELLED))
