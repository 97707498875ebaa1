"""Samples drawn and measured one by one, by threads or by processes.

A sample depends on the population, the plan, the seed and its own number only, so the outcome is
the same whoever draws it and in whatever order. A process is given the population once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gamekeeper.attack.simulation.measures import Failure, MeasurePlan, Values, measure_sample
from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.attack.simulation.options import Pool
from gamekeeper.attack.simulation.processes import run_in_processes
from gamekeeper.attack.simulation.sample import Sample
from gamekeeper.attack.simulation.sampling import draw_records, sample_size
from gamekeeper.budget import workers_of
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
    workers: int,
    pool: Pool,
    finish: Callable[[SampleTask, Values], None],
) -> None:
    """Draw samples, and hand each one's values over as it is finished, in any order."""
    if workers == 1 or len(tasks) < 2:
        for task in tasks:
            finish(task, _values(run_task(population, plan, task)))
        return
    if pool is Pool.PROCESSES:
        run_in_processes(
            population,
            plan,
            tasks,
            run_task,
            workers=workers,
            finish=lambda task, outcome: finish(task, _values(outcome)),
        )
        return
    with ThreadPoolExecutor(workers_of(workers, len(tasks))) as executor:
        try:
            waiting = {executor.submit(run_task, population, plan, task): task for task in tasks}
            for future in as_completed(waiting):
                # Not kept beyond its turn.
                finish(waiting.pop(future), _values(future.result()))
        finally:
            executor.shutdown(cancel_futures=True)


def _values(outcome: Values | Failure) -> Values:
    if isinstance(outcome, Failure):
        raise InputError(
            Reason.BAD_OPTION,
            f"The measure {quoted([outcome.measure])} was to be taken of a sample.",
            outcome.found,
            "Try it by itself on a small table of codes with class sizes f and F.",
        )
    return outcome
