"""One sample drawn and measured, by whichever thread, process or worker.

A sample depends on the population, the plan, the seed and its own number only, so the outcome is
the same whoever draws it and in whatever order. A process is given the population once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.attack.simulation.measures import MeasurePlan, Values, measure_sample
from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.attack.simulation.processes import Failure
from gamekeeper.attack.simulation.sample import Sample
from gamekeeper.attack.simulation.sampling import draw_records, sample_size


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
