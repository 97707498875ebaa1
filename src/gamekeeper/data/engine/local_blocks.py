"""Blocks of work done on this machine, by threads or by processes."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from gamekeeper.algorithms.blocks import Kernel, Shared, in_order, map_by_threads
from gamekeeper.budget import workers_of
from gamekeeper.data.engine.pool import Pool
from gamekeeper.data.engine.shared_arrays import ArraysHandle, lent, received
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import count_of

State = TypeVar("State")
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def map_locally(
    kernel: Kernel[State, Task, Outcome],
    shared: Shared,
    tasks: Sequence[Task],
    *,
    workers: int | None = None,
    pool: Pool = Pool.THREADS,
    progress: Progress | None = None,
) -> Generator[Outcome]:
    """Yield the outcome of every task, in the order of tasks; see `Engine.map_blocks`."""
    n_workers = workers_of(workers, len(tasks))
    if pool is Pool.PROCESSES and n_workers > 1:
        return _map_by_processes(n_workers, kernel, shared, tasks, progress)
    return map_by_threads(n_workers, kernel, shared, tasks, progress=progress)


def _map_by_processes(
    workers: int,
    kernel: Kernel[State, Task, Outcome],
    shared: Shared,
    tasks: Sequence[Task],
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

            def submit(task: Task) -> Future[Any]:
                return executor.submit(_do, task)

            yield from in_order(submit, tasks, 2 * workers, progress)
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


_held: list[tuple[Callable[[Any, Any], Any], Any]] = []


def _start(handle: ArraysHandle, kernel: Kernel[Any, Any, Any]) -> None:
    _held[:] = [(kernel.work, kernel.prepare(received(handle)))]


def _do(task: Any) -> Any:
    work, state = _held[0]
    return work(state, task)
