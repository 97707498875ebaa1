"""Tasks on a notional population done by processes, each of which gets the population once."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.attack.simulation.sharing import PopulationHandle, received, shared
from gamekeeper.budget import workers_of
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of

Plan = TypeVar("Plan")
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def run_in_processes(
    population: NotionalPopulation,
    plan: Plan,
    tasks: Sequence[Task],
    work: Callable[[NotionalPopulation, Plan, Task], Outcome],
    *,
    workers: int,
    finish: Callable[[Task, Outcome], None],
    prepare: Callable[[NotionalPopulation, Plan], None] | None = None,
) -> None:
    """Do tasks by processes, and hand each outcome over as it comes, in any order.

    `work` and `prepare`, which is done once in every process, stand at the top of a module.
    """
    try:
        pickle.dumps(plan)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            Reason.BAD_OPTION,
            "Samples were to be drawn by processes.",
            "A measure that was given cannot be handed to a process.",
            "Define it at the top of a module, or use one worker.",
        ) from error
    with (
        shared(population) as handle,
        ProcessPoolExecutor(
            workers_of(workers, len(tasks)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start,
            initargs=(handle, plan, prepare),
        ) as executor,
    ):
        try:
            waiting = {executor.submit(_do, work, task): task for task in tasks}
            for future in as_completed(waiting):
                # Not kept beyond its turn.
                finish(waiting.pop(future), future.result())
        except BrokenProcessPool as error:
            raise LimitError(
                Reason.TOO_LARGE,
                f"Samples were to be drawn by {count_of(workers, 'process', 'processes')}.",
                "One of them ended before its time, often for want of memory.",
                "Use fewer workers (--workers). In a script, call it below `if __name__ == '__main__':`.",
            ) from error
        finally:
            # A process that is still starting must find the shared memory, which ends after this.
            executor.shutdown(cancel_futures=True)


_held: list[tuple[NotionalPopulation, Any]] = []


def _start(
    handle: PopulationHandle,
    plan: Any,
    prepare: Callable[[NotionalPopulation, Any], None] | None,
) -> None:
    population = received(handle)
    _held[:] = [(population, plan)]
    if prepare is not None:
        prepare(population, plan)


def _do(work: Callable[[NotionalPopulation, Any, Any], Any], task: Any) -> Any:
    population, plan = _held[0]
    return work(population, plan, task)
