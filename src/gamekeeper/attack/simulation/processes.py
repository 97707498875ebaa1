"""Tasks on a notional population, done by whoever does blocks; each worker gets the population once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

from gamekeeper.algorithms.blocks import Kernel, MapBlocks, Shared
from gamekeeper.attack.simulation.notional import NotionalPopulation

Plan = TypeVar("Plan")
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def run_blocks(
    population: NotionalPopulation,
    plan: Plan,
    tasks: Sequence[Task],
    work: Callable[[NotionalPopulation, Plan, Task], Outcome],
    *,
    blocks: MapBlocks,
    finish: Callable[[Task, Outcome], None],
    prepare: Callable[[NotionalPopulation, Plan], None] | None = None,
) -> None:
    """Do tasks, and hand each outcome over in the order of tasks.

    `work` and `prepare`, which is done once by every worker, stand at the top of a module.
    """
    kernel = Kernel(partial(_prepared, plan, work, prepare), _do)
    with closing(blocks(kernel, arrays_of(population), tasks)) as outcomes:
        for task, outcome in zip(tasks, outcomes, strict=True):
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
