"""Samples drawn and measured one by one, by threads, processes or whoever does blocks.

A sample depends on the population, the plan, the seed and its own number only, so the outcome is
the same whoever draws it and in whatever order. A process is given the population once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.blocks import MapBlocks
from gamekeeper.attack.simulation.measures import Failure, MeasurePlan, Values, measure_sample
from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.attack.simulation.processes import run_blocks
from gamekeeper.attack.simulation.sample import Sample
from gamekeeper.attack.simulation.sampling import draw_records, sample_size
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted


@dataclass(frozen=True, slots=True)
class SampleTask:
    """One sample to draw: its number from 0, its fraction, the seed of the whole simulation."""

    number: int
    fraction: Fraction
    seed: int


def run_task(
    population: NotionalPopulation, plan: MeasurePlan, task: SampleTask
) -> Values | Failure:
    """Draw one sample and measure it."""
    # The same as the child of that number that SeedSequence(seed).spawn would give.
    seeds = np.random.SeedSequence(task.seed, spawn_key=(task.number,))
    size = sample_size(population.n_records, task.fraction)
    generator = np.random.default_rng(seeds)
    drawn = draw_records(population.n_records, size, generator, population.strata)
    sample = Sample(
        population,
        drawn,
        max_size=plan.max_size,
        max_seconds=plan.max_seconds,
        power=plan.power,
    )
    return measure_sample(sample, plan)


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
            finish(task, _values(run_task(population, plan, task)))
        return
    run_blocks(
        population,
        plan,
        tasks,
        run_task,
        blocks=blocks,
        finish=lambda task, outcome: finish(task, _values(outcome)),
    )


def _values(outcome: Values | Failure) -> Values:
    if isinstance(outcome, Failure):
        raise InputError(
            Reason.BAD_OPTION,
            f"The measure {quoted([outcome.measure])} was to be taken of a sample.",
            outcome.found,
            "Try it by itself on a small table of codes with class sizes f and F.",
        )
    return outcome
