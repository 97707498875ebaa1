"""Work handed to workers: threads, processes, and by the same interface the machines of a cluster.

A kernel stands at the top of a module and depends on nothing but arrays that all share and its
task. So threads, processes and other machines do the same work, and what comes out does not depend
on who did what: outcomes come in the order of the tasks.

Arrays are handed to processes through shared memory. As arguments they would be simpler, but a
process that dies while it starts leaves the parent writing into a pipe that nobody reads, for ever.
A handle fits into the pipe whole.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.budget import workers_of
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.prompt_syntax import Pool
from gamekeeper.results import Progress
from gamekeeper.wording import count_of

State = TypeVar("State")
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

Shared = Mapping[str, NDArray[Any]]
"""Arrays that every worker gets once, and nobody changes."""

_LOOK_EVERY = 0.1


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


def map_blocks(
    kernel: Kernel[State, Task, Outcome],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    workers: int | None = None,
    pool: Pool = Pool.THREADS,
    progress: Progress | None = None,
) -> Generator[Outcome]:
    """Yield the outcome of every task, done by workers of this machine; see `MapBlocks`.

    Examples
    --------
    >>> kernel = Kernel(lambda shared: shared["x"], lambda x, task: int(x[task].sum()))
    >>> list(map_blocks(kernel, {"x": np.arange(4)}, [slice(0, 2), slice(2, 4)], workers=2))
    [1, 5]
    """
    n_workers = workers_of(workers, len(tasks))
    if pool is Pool.PROCESSES and n_workers > 1:
        yield from _in_processes(kernel, shared, tasks, n_workers, progress)
        return
    (state,) = in_threads(kernel.prepare, [shared], 1)
    yield from in_threads(partial(kernel.work, state), tasks, n_workers, progress=progress)


def in_threads(
    work: Callable[[Task], Outcome],
    tasks: Sequence[Task],
    workers: int,
    *,
    progress: Progress | None = None,
    look: Callable[[], None] | None = None,
    stop: Callable[[], None] | None = None,
) -> Generator[Outcome]:
    """Yield the outcome of every task, in their order, done by threads, never by the caller's own.

    A signal such as Ctrl-C is handled in the main thread. If that is inside a compiled kernel at the
    time, the process can crash; here it only waits. `look` is called some times a second while
    nothing is done, and may raise; `stop`, when tasks that have begun are not wanted any more.

    Examples
    --------
    >>> list(in_threads(abs, [-3, 2], 2))
    [3, 2]
    """
    with ThreadPoolExecutor(workers) as executor:
        try:
            submit = partial(executor.submit, work)
            yield from _in_order(submit, tasks, 2 * workers, progress, look)
        except BaseException:
            if stop is not None:
                stop()
            raise
        finally:
            executor.shutdown(cancel_futures=True)


def _in_order(
    submit: Callable[[Task], Future[Outcome]],
    tasks: Sequence[Task],
    ahead: int,
    progress: Progress | None,
    look: Callable[[], None] | None = None,
) -> Generator[Outcome]:
    """Yield outcomes in the order of tasks; tasks are begun as outcomes are taken."""
    rest = iter(tasks)
    waiting = deque(submit(task) for task in islice(rest, ahead))
    for done in range(1, len(tasks) + 1):
        future = waiting.popleft()
        while look is not None and wait([future], timeout=_LOOK_EVERY).not_done:
            look()
        outcome = future.result()
        if progress is not None:
            progress(done, len(tasks))
        waiting.extend(submit(task) for task in islice(rest, 1))
        yield outcome


def _in_processes(
    kernel: Kernel[State, Task, Outcome],
    shared: Shared,
    tasks: Sequence[Task],
    workers: int,
    progress: Progress | None,
) -> Generator[Outcome]:
    try:
        pickle.dumps(kernel)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            Reason.BAD_OPTION,
            "Work was to be done by processes.",
            "Something that was given, such as a measure, cannot be handed to a process.",
            "Define it at the top of a module, or use one worker.",
        ) from error
    with (
        lent(shared) as handle,
        ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start,
            initargs=(handle, kernel),
        ) as executor,
    ):
        try:
            yield from _in_order(partial(executor.submit, _do), tasks, 2 * workers, progress)
        except BrokenProcessPool as error:
            raise LimitError(
                Reason.TOO_LARGE,
                f"Work was to be done by {count_of(workers, 'process', 'processes')}.",
                "One of them ended before its time, often for want of memory.",
                "Use fewer workers (--workers). In a script, call it below `if __name__ == '__main__':`.",
            ) from error
        finally:
            # A process that is still starting must find the shared memory, which ends after this.
            executor.shutdown(cancel_futures=True)


_held: list[Callable[[Any], Any]] = []


def _start(handle: ArraysHandle, kernel: Kernel[Any, Any, Any]) -> None:
    _held[:] = [partial(kernel.work, kernel.prepare(received(handle)))]


def _do(task: Any) -> Any:
    return _held[0](task)


@dataclass(frozen=True, slots=True)
class ArraysHandle:
    """Where arrays lie: the name of the memory, and name, shape, type and place of each."""

    name: str
    parts: tuple[tuple[str, tuple[int, ...], str, int], ...]


@contextmanager
def lent(shared: Shared) -> Generator[ArraysHandle]:
    """Put arrays into shared memory as long as the context lasts."""
    arrays = {name: np.ascontiguousarray(array) for name, array in shared.items()}
    places: dict[str, int] = {}
    size = 0
    for name, array in arrays.items():
        places[name] = size
        size += -(-array.nbytes // 8) * 8
    memory = SharedMemory(create=True, size=max(size, 1))
    try:
        for name, array in arrays.items():
            _view(memory, array.shape, array.dtype.str, places[name])[...] = array
        yield ArraysHandle(
            memory.name,
            tuple((name, a.shape, a.dtype.str, places[name]) for name, a in arrays.items()),
        )
    finally:
        memory.close()
        memory.unlink()


def received(handle: ArraysHandle) -> dict[str, Any]:
    """Return the arrays that a handle leads to, copied, so that nothing of them stays open."""
    memory = SharedMemory(name=handle.name)
    try:
        return {
            name: _view(memory, shape, kind, place).copy()
            for name, shape, kind, place in handle.parts
        }
    finally:
        memory.close()


def _view(memory: SharedMemory, shape: tuple[int, ...], kind: str, place: int) -> Any:
    return np.ndarray(shape, dtype=kind, buffer=memory.buf, offset=place)
