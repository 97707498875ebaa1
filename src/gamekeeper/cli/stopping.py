"""Ctrl-C as a wish to stop, granted where the work next tells how far it is.

Python raises KeyboardInterrupt between any two steps, and then compiled code that is about to hand
back an array can crash. Where work tells progress it is safe to stop, and work that keeps what it
has found can do so.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from gamekeeper.cli.loading import on_interrupt
from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress


@contextmanager
def stopped_by_hand(
    progress: Progress, what: str, asked: Callable[[], None]
) -> Generator[Progress]:
    """Let Ctrl-C raise `Cancelled` where progress is told next.

    Before anything was told, or a second time, it raises KeyboardInterrupt at once. If the work
    ends before it tells again, the wish came too late.

    Parameters
    ----------
    progress
        Who is told how far the work is.
    what
        The work, in words.
    asked
        Called when Ctrl-C was pressed the first time.
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
