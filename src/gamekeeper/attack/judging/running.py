"""One sample drawn, scored by every measure, attacked and timed, here or by a process.

A sample depends on the population, the seed and its own number only, and is the one that a
simulation with the same seed draws. Timings leave out what is done once per process: each measure
first runs on a few records, so that its kernels are loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.judging.attacks import matched_attacks, plain_attacks, top_attack
from gamekeeper.attack.judging.joint import joint_counts
from gamekeeper.attack.judging.scores import (
    AttackValue,
    Measure,
    SampleData,
    ScoredSample,
    Scores,
    checked_scores,
)
from gamekeeper.attack.simulation.notional import NotionalPopulation
from gamekeeper.attack.simulation.processes import Failure
from gamekeeper.attack.simulation.running import SampleTask, drawn_records
from gamekeeper.attack.simulation.sample import Sample
from gamekeeper.errors import GamekeeperError, LimitError

_WARMING = 40
_TRY = "Try it by itself on a small sample."


@dataclass(frozen=True, slots=True)
class ScoringPlan:
    """Which measures are taken of every sample.

    Attributes
    ----------
    measures
        The measures by name.
    levels
        How many categories the key variables have.
    n_judged
        The samples from this number on are drawn for attacks only: scores are not kept, and a
        measure that refuses the work is left out.
    max_size, max_seconds
        A search for minimal sample uniques looks at so many variables together, and is refused
        where it would take longer; None for no limit.
    """

    measures: tuple[tuple[str, Measure], ...]
    levels: tuple[int, ...]
    n_judged: int
    max_size: int | None = None
    max_seconds: float | None = MAX_SECONDS


def score_sample(
    population: NotionalPopulation, plan: ScoringPlan, task: SampleTask
) -> ScoredSample | Failure:
    """Draw one sample and let every measure speak of its sample uniques."""
    # A child of what the sample was drawn with, as SeedSequence.spawn would give.
    measuring = np.random.SeedSequence(task.seed, spawn_key=(task.number, 0))
    sample = Sample(population, drawn_records(population, task))
    seen = SampleData(
        sample.codes,
        plan.levels,
        sample.fraction,
        sample.sample_sizes,
        int(measuring.generate_state(1, np.uint32)[0]),
        max_size=plan.max_size,
        max_seconds=plan.max_seconds,
    )
    judged = task.number < plan.n_judged
    sizes = sample.population_sizes[seen.uniques]
    attacks = {(name, ""): value for name, value in plain_attacks(sample).items()}
    scores: dict[str, Scores] = {}
    seconds: dict[str, float] = {}
    for name, measure in plan.measures:
        try:
            found, taken = seen.timed(measure)
        except LimitError:
            if judged:
                raise
            continue
        except GamekeeperError:
            raise
        # What a stranger's function says may hold values of the file: only its kind is told.
        except Exception as error:  # noqa: BLE001
            return Failure(name, type(error).__name__, _TRY)
        told = checked_scores(name, found, len(seen.uniques), n_records=len(seen.codes))
        seconds[name] = taken
        attacks |= {(attack, name): value for attack, value in _attacked(sample, sizes, told)}
        if judged:
            scores[name] = replace(told, records=None)
    if not judged:
        return ScoredSample(sizes[:0], scores, seconds, attacks=attacks)
    joint = joint_counts(sample.class_counts, population.sizes)
    return ScoredSample(sizes, scores, seconds, joint, attacks)


def _attacked(
    sample: Sample, sizes: NDArray[np.int64], told: Scores
) -> Iterator[tuple[str, AttackValue]]:
    first = top_attack(told.values, sizes, sample.population.n_records)
    if first is not None:
        yield "top10", first
    if told.records is not None:
        yield from matched_attacks(sample, told.records).items()


def warm_up(population: NotionalPopulation, plan: ScoringPlan) -> None:
    """Let every measure run on a few records, so that its kernels are loaded."""
    codes = population.codes[:_WARMING]
    _, places, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    sizes = counts[places.ravel()].astype(np.int64)
    for _, measure in plan.measures:
        # What is wrong with a measure is told when it runs on a sample.
        with suppress(Exception):
            measure(SampleData(codes, plan.levels, Fraction(1, 10), sizes, 0))
