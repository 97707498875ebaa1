"""Samples drawn and measured one by one, by threads, processes or whoever does blocks.

A sample depends on the population, the plan, the seed and its own number only, so the outcome is
the same whoever draws it and in whatever order. A process is given the population once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import MapBlocks
from gamekeeper.attack.simulation.measures import Failure, MeasurePlan, Values, measure_sample
from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.attack.simulation.processes import run_blocks
from gamekeeper.attack.simulation.sample import Sample
from gamekeeper.attack.simulation.sampling import draw_records, sample_size
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

Found = TypeVar("Found")

_TRY = "Try it by itself on a small table of codes with class sizes f and F."


@dataclass(frozen=True, slots=True)
class SampleTask:
    """One sample to draw: its number from 0, its fraction, the seed of the whole simulation."""

    number: int
    fraction: Fraction
    seed: int


def drawn_records(population: NotionalPopulation, task: SampleTask) -> NDArray[np.int64]:
    """Return the places of the records of a sample in the population."""
    # The same as the child of that number that SeedSequence(seed).spawn would give.
    seeds = np.random.SeedSequence(task.seed, spawn_key=(task.number,))
    size = sample_size(population.n_records, task.fraction)
    generator = np.random.default_rng(seeds)
    return draw_records(population.n_records, size, generator, population.strata)


def run_task(
    population: NotionalPopulation, plan: MeasurePlan, task: SampleTask
) -> Values | Failure:
    """Draw one sample and measure it."""
    return measure_sample(
        Sample(
            population,
            drawn_records(population, task),
            max_size=plan.max_size,
            max_seconds=plan.max_seconds,
            power=plan.power,
        ),
        plan,
    )


def run_samples(
    population: NotionalPopulation,
    plan: MeasurePlan,
    tasks: Sequence[SampleTask],
    *,
    blocks: MapBlocks | None,
    finish: Callable[[SampleTask, Values], None],
) -> None:
    """Draw samples, here or by blocks, and hand each one's values over in the order of tasks."""
    if blocks is None or len(tasks) < 2:
        for task in tasks:
            finish(task, require_measured(run_task(population, plan, task), _TRY))
        return
    run_blocks(
        population,
        plan,
        tasks,
        run_task,
        blocks=blocks,
        finish=lambda task, outcome: finish(task, require_measured(outcome, _TRY)),
    )


def require_measured(outcome: Found | Failure, do: str) -> Found:
    """Return what was found in a sample; refuse a measure that failed, and say what to do."""
    if isinstance(outcome, Failure):
        raise InputError(
            Reason.BAD_OPTION,
            f"The measure {quoted([outcome.measure])} was to be taken of a sample.",
            f"It ended with an error of the kind {outcome.kind}.",
            do,
        )
    return outcome
