"""Work in blocks whose order does not matter, and random numbers that do not depend on who draws them.

A kernel stands at the top of a module and depends on nothing but arrays that all share and its
task. So threads, processes and other machines do the same work, and what comes out does not depend
on who did what: outcomes come in the order of the tasks.

A counter-based generator gives the number at any place of a stream without those before it: here
the place is the identity of a record, so that what is drawn for it is the same whatever the order
of records and however many work at it. The stream itself is named by a seed and by words, such as
the step of a recipe and a variable; streams of other names have nothing to do with each other.

The generator is Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, Parallel random numbers:
as easy as 1, 2, 3; 2011), checked against the published vectors. Its key are 64 bits of a SHA-256
of seed and words; its counter are the 64 bits of the record and 32 of the number of the draw. Costs
some forty operations on whole arrays a draw; two draws of 53 bits come from one counter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.results import Progress

Words = NDArray[np.uint64]
State = TypeVar("State")
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

Shared = Mapping[str, NDArray[Any]]
"""Arrays that every worker gets once, and nobody changes."""


@dataclass(frozen=True, slots=True)
class Kernel(Generic[State, Task, Outcome]):
    """Work on a block.

    `prepare` makes of the shared arrays what every task needs, once per worker, and `work` does one
    task. Both stand at the top of a module, or are `partial` of what does.
    """

    prepare: Callable[[Shared], State]
    work: Callable[[State, Task], Outcome]


class MapBlocks(Protocol):
    """Whoever does the tasks of a kernel."""

    def __call__(
        self,
        kernel: Kernel[State, Task, Outcome],
        shared: Shared,
        tasks: Sequence[Task],
        *,
        progress: Progress | None = None,
    ) -> Generator[Outcome]:
        """Yield the outcome of every task, in the order of tasks.

        `progress` is told how many are done, and may raise `Cancelled`. What it or the work raises
        ends the rest; so does closing what is yielded.
        """
        ...


def by_threads(workers: int) -> MapBlocks:
    """Return what does tasks by threads of this process, never by the caller's own.

    A signal such as Ctrl-C is handled in the main thread. If that is inside a compiled kernel at the
    time, the process can crash; here it only waits.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Kernel(lambda shared: shared["x"], lambda x, task: int(x[task].sum()))
    >>> list(by_threads(2)(kernel, {"x": np.arange(4)}, [slice(0, 2), slice(2, 4)]))
    [1, 5]
    """
    return partial(map_by_threads, workers)


def map_by_threads(
    workers: int,
    kernel: Kernel[State, Task, Outcome],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    progress: Progress | None = None,
) -> Generator[Outcome]:
    """Do tasks by threads; see `MapBlocks`."""
    with ThreadPoolExecutor(max(1, workers)) as executor:
        try:
            state = executor.submit(kernel.prepare, shared).result()

            def submit(task: Task) -> Future[Outcome]:
                return executor.submit(kernel.work, state, task)

            yield from in_order(submit, tasks, 2 * workers, progress)
        finally:
            executor.shutdown(cancel_futures=True)


def in_order(
    submit: Callable[[Task], Future[Outcome]],
    tasks: Sequence[Task],
    ahead: int,
    progress: Progress | None,
) -> Generator[Outcome]:
    """Yield outcomes in the order of tasks; tasks are begun as outcomes are taken."""
    rest = iter(tasks)
    waiting = deque(submit(task) for task in islice(rest, ahead))
    for done in range(1, len(tasks) + 1):
        outcome = waiting.popleft().result()
        if progress is not None:
            progress(done, len(tasks))
        waiting.extend(submit(task) for task in islice(rest, 1))
        yield outcome


_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10


def philox(
    counter: tuple[Words, Words, Words, Words], key: tuple[int, int]
) -> tuple[Words, Words, Words, Words]:
    """Return the four words of 32 bits, each in 64, of many counters under one key.

    Examples
    --------
    >>> nothing = np.zeros(1, dtype=np.uint64)
    >>> [f"{int(word[0]):08x}" for word in philox((nothing,) * 4, (0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (
            (p1 >> _HALF) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _HALF) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _W0) & 0xFFFFFFFF, (k1 + _W1) & 0xFFFFFFFF
    return c0, c1, c2, c3


@dataclass(frozen=True, slots=True)
class CounterStream:
    """A stream of random numbers with a place for each record.

    `purpose` says in words what the numbers are for: the step, the variable.

    Examples
    --------
    >>> stream = CounterStream(7, ("1 pram", "Sex"))
    >>> numbers = stream.uniform([3, 1, 2])
    >>> bool((numbers == stream.uniform([2, 1, 3])[[2, 1, 0]]).all())
    True
    """

    seed: int
    purpose: tuple[str, ...]

    def bits(self, records: ArrayLike, draw: int = 0) -> Words:
        """Return 64 random bits for each record; another `draw` gives others."""
        record = np.asarray(records).astype(np.uint64)
        turn = np.full(record.shape, draw >> 1, dtype=np.uint64)
        counter = (record & _LOW, record >> _HALF, turn, np.zeros_like(record))
        words = philox(counter, self._key())
        high, low = (words[2], words[3]) if draw & 1 else (words[0], words[1])
        return (high << _HALF) | low

    def uniform(self, records: ArrayLike, draw: int = 0) -> NDArray[np.float64]:
        """Return a number from 0 to below 1 for each record."""
        return (self.bits(records, draw) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, records: ArrayLike, draw: int = 0) -> NDArray[np.float64]:
        """Return a standard normal number for each record."""
        from scipy.special import ndtri

        # Half a step up: 0 has no quantile.
        return ndtri(self.uniform(records, draw) + 2.0**-54)

    def order(self, records: ArrayLike, draw: int = 0) -> NDArray[np.int64]:
        """Return places of the records in a random order; the same records come in the same order."""
        ids = np.asarray(records).astype(np.uint64)
        return np.lexsort((ids, self.bits(ids, draw)))

    def _key(self) -> tuple[int, int]:
        told = repr((int(self.seed), self.purpose)).encode("utf-8", "surrogatepass")
        key = int.from_bytes(sha256(told).digest()[:8], "little")
        return key & 0xFFFFFFFF, key >> 32
