"""Work done in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def run_apart(work: Callable[[], T]) -> T:
    """Do work in a thread of its own and wait for it.

    A signal such as Ctrl-C is handled in the main thread. If that is inside a compiled kernel at
    the time, the process can crash; here it only waits.
    """
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(work).result()
