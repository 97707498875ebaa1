"""Threads that do the tasks of a search and tell how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from gamekeeper.results import Progress

T = TypeVar("T")


def run_apart(work: Callable[[], T]) -> T:
    """Do work in a thread of its own and wait for it.

    A signal such as Ctrl-C is handled in the main thread. If that is inside a compiled kernel at
    the time, the process can crash; here it only waits.
    """
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(work).result()


class Crew:
    """Runs tasks by threads, never by the caller's own: see `run_apart`.

    Tasks are started as results are taken, so that little waits to be taken.
    """

    def __init__(self, workers: int, total: int, progress: Progress | None) -> None:
        self._executor = ThreadPoolExecutor(workers)
        self._ahead = 2 * workers
        self._done = 0
        self._total = total
        self._progress = progress

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(cancel_futures=True)

    def run(self, work: Callable[[int], T], numbers: Iterable[int]) -> Iterator[T]:
        """Yield what the work returns for each number, in any order.

        What the work or progress raises ends the rest.
        """
        waiting = iter(numbers)
        pending = {self._executor.submit(work, n) for n in islice(waiting, self._ahead)}
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                result = future.result()
                self._tell()
                pending |= {self._executor.submit(work, n) for n in islice(waiting, 1)}
                yield result

    def do(self, work: Callable[[int], None], numbers: Iterable[int]) -> None:
        """Do the work for each number."""
        for _ in self.run(work, numbers):
            pass

    def _tell(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
