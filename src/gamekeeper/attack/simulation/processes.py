"""Tasks on a notional population, done here or by whoever does blocks; each worker gets it once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, TypeVar

from gamekeeper.algorithms.blocks import Kernel, MapBlocks, Shared
from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

Plan = TypeVar("Plan")
Task = TypeVar("Task")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Failure:
    """A measure of one's own that could not be taken: which, what kind of error, what to do."""

    measure: str
    kind: str
    do: str


def run_tasks(
    population: NotionalPopulation,
    plan: Plan,
    tasks: Sequence[Task],
    work: Callable[[NotionalPopulation, Plan, Task], Found | Failure],
    *,
    blocks: MapBlocks | None,
    finish: Callable[[Task, Found], None],
    prepare: Callable[[NotionalPopulation, Plan], None] | None = None,
) -> None:
    """Do tasks, here or by blocks, and hand over what each found, in their order.

    `work` and `prepare`, which is done once by every worker, stand at the top of a module.
    """
    if blocks is None or len(tasks) < 2:
        if prepare is not None and tasks:
            prepare(population, plan)
        made = (work(population, plan, task) for task in tasks)
    else:
        kernel = Kernel(partial(_prepared, plan, work, prepare), _do)
        made = blocks(kernel, arrays_of(population), tasks)
    with closing(made) as outcomes:
        for task, outcome in zip(tasks, outcomes, strict=True):
            if isinstance(outcome, Failure):
                raise InputError(
                    Reason.BAD_OPTION,
                    f"The measure {quoted([outcome.measure])} was to be taken of a sample.",
                    f"It ended with an error of the kind {outcome.kind}.",
                    outcome.do,
                )
            finish(task, outcome)


def arrays_of(population: NotionalPopulation) -> Shared:
    """Return the arrays of a population by name, those that it has."""
    arrays = {item.name: getattr(population, item.name) for item in fields(population)}
    return {name: array for name, array in arrays.items() if array is not None}


def _prepared(
    plan: Any,
    work: Callable[[NotionalPopulation, Any, Any], Any],
    prepare: Callable[[NotionalPopulation, Any], None] | None,
    shared: Shared,
) -> Callable[[Any], Any]:
    population = NotionalPopulation(**shared)
    if prepare is not None:
        prepare(population, plan)
    return partial(work, population, plan)


def _do(work: Callable[[Any], Any], task: Any) -> Any:
    return work(task)
