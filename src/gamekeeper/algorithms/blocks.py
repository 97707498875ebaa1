"""Work on blocks: one kernel, some arrays that all share, and tasks whose order does not matter.

A kernel stands at the top of a module and depends on nothing but the shared arrays and its task. So
threads, processes and other machines do the same work, and what comes out does not depend on who did
what: outcomes come in the order of the tasks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from gamekeeper.results import Progress

State = TypeVar("State")
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

Shared = Mapping[str, NDArray[Any]]
"""Arrays that every worker gets once, and nobody changes."""


@dataclass(frozen=True, slots=True)
class Kernel(Generic[State, Task, Outcome]):
    """Work on a block.

    Attributes
    ----------
    prepare
        Makes of the shared arrays what every task needs, once per worker.
    work
        Does one task. Both stand at the top of a module, or are `partial` of what does.
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
