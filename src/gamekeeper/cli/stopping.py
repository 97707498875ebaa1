"""Ctrl-C as a wish to stop and keep what was found, for work that can."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress

__all__ = ["stopped_by_hand"]


@contextmanager
def stopped_by_hand(progress: Progress) -> Generator[Progress]:
    """Let Ctrl-C cancel what tells progress; before that, or a second time, it ends the command."""
    is_told, is_asked = False, False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal is_asked
        if is_asked or not is_told:
            raise KeyboardInterrupt
        is_asked = True

    def tell(done: int, total: int | None) -> None:
        nonlocal is_told
        is_told = True
        if is_asked:
            raise Cancelled("Models were to be searched.")
        progress(done, total)

    # Signals are for the main thread alone; elsewhere there is nobody at the keyboard.
    if threading.current_thread() is not threading.main_thread():
        yield tell
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield tell
    finally:
        signal.signal(signal.SIGINT, before)
