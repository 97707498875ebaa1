"""Measures of record-level risk side by side on samples of a known population.

The experiments of Smith's thesis, chapters 7 and 8, on any population. Samples are drawn, every
measure speaks of the sample uniques, and is judged by who of them is unique in the population
(chapter 8); an intruder attacks those that a measure ranks first, over the range of sampling
fractions (chapter 7). Both share the samples of the fractions that they have in common.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.sampling_fraction import FractionLike
from gamekeeper.attack.judging.attack_experiment import AttackedSample, AttackExperiment
from gamekeeper.attack.judging.comparison import Comparison, Setting
from gamekeeper.attack.judging.joint import JointTable
from gamekeeper.attack.judging.judgement import judge_samples
from gamekeeper.attack.judging.measures import named_measures
from gamekeeper.attack.judging.running import ScoringPlan, run_scoring
from gamekeeper.attack.judging.scores import Measure, ScoredSample
from gamekeeper.attack.judging.scores_folder import ScoreFolder
from gamekeeper.attack.simulation.notional import NotionalPopulation, open_population
from gamekeeper.attack.simulation.options import checked_fractions, require_samples
from gamekeeper.attack.simulation.running import SampleTask
from gamekeeper.attack.simulation.sampling import sample_size
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Problem
from gamekeeper.options import option_text
from gamekeeper.results import Progress, Provenance, package_version
from gamekeeper.wording import there_are

if TYPE_CHECKING:
    from gamekeeper.data.coding.coded_table import CodedTable

__all__ = ["AFFORDABLE", "ATTACK_FRACTIONS", "compare_measures"]

ATTACK_FRACTIONS = tuple(Fraction(percent, 100) for percent in (1, 2, 5, 10, 20, 30, 50, 70, 90))
"""Sampling fractions of attacks where none are given."""

AFFORDABLE = 1_000_000
"""Of those, the ones are left out whose samples have more cells: records times key variables.

At this size a sample takes up to a minute with all five measures of the default.
"""


def compare_measures(
    population: CodedTable,
    keys: Sequence[str],
    *,
    fractions: Sequence[FractionLike] = ("1%", "5%"),
    samples: int = 1,
    attack_fractions: Sequence[FractionLike] | None = (),
    attack_samples: int = 1,
    measures: Sequence[str | Measure] = ("suda", "dis_is", "mc3", "annealing", "occam"),
    missing: Missing | str = Missing.CATEGORY,
    stratify_by: Sequence[str] = (),
    seed: int = 0,
    workers: int = 1,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Draw samples from a known population, judge what measures say of their uniques, and attack.

    Parameters
    ----------
    population
        A coded file that stands for everybody.
    keys
        The key variables.
    fractions
        Sampling fractions, each above 0 and at most 1: 0.05, "5%" or "1/20".
    samples
        How many samples to draw at each fraction; they are judged together, and attacked.
    attack_fractions
        More sampling fractions, at which attacks are tried and nothing is judged. None stands for
        `ATTACK_FRACTIONS`, 1% to 90%, as far as samples are not too large (`AFFORDABLE`).
    attack_samples
        How many samples to draw at each of those.
    measures
        Names from `MEASURES`, or functions of your own that get a `SampleData` and return `Scores`.
    missing
        Whether a missing cell is a `category` of its own, or its record is to `exclude`.
    stratify_by
        The variables of the strata; a simple random sample by default.
    seed
        The seed of all samples and measures.
    workers
        How many processes score samples. A script that uses several must call this below
        `if __name__ == "__main__":`. Times are best taken with one.
    folder
        Where finished samples are kept, so that the same call resumes after an interruption.
    progress
        Called with the samples finished and their total; those for attacks count as well.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> people = coded_from_codes([[1, 1], [1, 1], [1, 2], [2, 1], [2, 2], [2, 2]], ["a", "b"])
    >>> found = compare_measures(people, ["a", "b"], fractions=["1/2"], measures=["suda", "is"])
    >>> found.to_arrow().column("measure").to_pylist()
    ['suda', 'is']
    """
    started = time.perf_counter()
    named = named_measures(measures)
    steps, more_steps = _checked_steps(
        fractions,
        ATTACK_FRACTIONS if attack_fractions is None else attack_fractions,
        samples=samples,
        attack_samples=attack_samples,
        workers=workers,
        seed=seed,
        missing=missing,
    )
    notional = open_population(
        population, keys, missing=Missing(missing), stratify_by=tuple(stratify_by)
    )
    too_large: tuple[Fraction, ...] = ()
    more_steps = tuple(step for step in more_steps if step not in steps)
    if attack_fractions is None:
        more_steps, too_large = _affordable(notional, more_steps)
    require_samples(notional, [*steps, *more_steps])
    numbered = [step for step in steps for _ in range(samples)]
    n_judged = len(numbered)
    numbered += [step for step in more_steps for _ in range(attack_samples)]
    plan = ScoringPlan(tuple(named.items()), _levels(population, keys, notional), n_judged)
    parameters = {
        "keys": list(keys),
        "missing": str(missing),
        "stratify_by": list(stratify_by),
        "fractions": [str(step) for step in steps],
        "samples": samples,
        "attack_fractions": [str(step) for step in more_steps],
        "attack_samples": attack_samples,
        "measures": [
            f"{name} ({measure.__module__}.{getattr(measure, '__qualname__', name)})"
            for name, measure in named.items()
        ],
    }
    kept = None
    if folder is not None:
        wanted = {
            "comparison": 2,
            **parameters,
            "seed": seed,
            "levels": list(plan.levels),
            "data": notional.fingerprint(),
            "version": package_version(),
        }
        kept = ScoreFolder(Path(folder), wanted, tuple(named))
    tasks = [SampleTask(number, step, seed) for number, step in enumerate(numbered)]
    found = _run(notional, plan, tasks, kept, workers, progress)
    provenance = Provenance(
        "comparison of measures",
        "stratified, proportional allocation" if stratify_by else "simple random samples",
        {
            **{name: option_text(value) for name, value in parameters.items()},
            "measures": ", ".join(named),
        },
        seed,
        population.fingerprint,
        f"numpy {np.__version__}",
    )
    n_cells = math.prod(plan.levels)
    settings = tuple(
        _setting(step, found[place * samples : (place + 1) * samples], n_cells, provenance)
        for place, step in enumerate(steps)
    )
    provenance = replace(provenance, seconds=time.perf_counter() - started)
    attacks = AttackExperiment(
        notional.n_records,
        tuple(named),
        tuple(
            AttackedSample(step, sample.attacks, sample.seconds)
            for step, sample in zip(numbered, found, strict=True)
        ),
        too_large,
        replace(provenance, method="attacks by measures"),
    )
    return Comparison(
        notional.n_records,
        notional.n_uniques,
        n_cells,
        tuple(keys),
        settings,
        attacks,
        provenance,
    )


def _checked_steps(
    fractions: Sequence[FractionLike],
    attack_fractions: Sequence[FractionLike],
    *,
    samples: int,
    attack_samples: int,
    workers: int,
    seed: int,
    missing: Missing | str,
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the fractions that are judged and those of attacks; one error for all that is wrong."""
    problems: list[Problem] = []
    steps: tuple[Fraction, ...] = ()
    more_steps: tuple[Fraction, ...] = ()
    asked = "A comparison of measures was asked for."
    choices = {"missing": (missing, Missing)}
    try:
        steps = checked_fractions(
            asked, fractions, samples=samples, workers=workers, seed=seed, choices=choices
        )
    except InputError as error:
        problems += error.problems
    if isinstance(attack_fractions, str) or len(attack_fractions):
        try:
            more_steps = checked_fractions(
                asked, attack_fractions, samples=attack_samples, workers=1, seed=0, choices={}
            )
        except InputError as error:
            problems += [replace(one, where=f"attack {one.where}") for one in error.problems]
    if problems:
        raise InputError(
            problems[0].reason,
            asked,
            f"{there_are(len(problems), 'problem')}:",
            problems=problems,
        )
    return steps, more_steps


def _affordable(
    notional: NotionalPopulation, steps: Sequence[Fraction]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the fractions to draw, without those of empty samples, and those that are too large."""
    most = AFFORDABLE // notional.codes.shape[1]
    sizes = {step: sample_size(notional.n_records, step) for step in steps}
    return (
        tuple(step for step, size in sizes.items() if 0 < size <= most),
        tuple(step for step, size in sizes.items() if size > most),
    )


def _run(
    notional: NotionalPopulation,
    plan: ScoringPlan,
    tasks: Sequence[SampleTask],
    kept: ScoreFolder | None,
    workers: int,
    progress: Progress | None,
) -> list[ScoredSample]:
    found: dict[int, ScoredSample] = {}
    if kept is not None:
        for task in tasks:
            sample = kept.read(task.number, str(task.fraction))
            if sample is not None:
                found[task.number] = sample

    def finish(task: SampleTask, sample: ScoredSample) -> None:
        found[task.number] = sample
        if kept is not None:
            kept.write(task.number, str(task.fraction), sample)
        if progress is not None:
            progress(len(found), len(tasks))

    if progress is not None:
        progress(len(found), len(tasks))
    left = [task for task in tasks if task.number not in found]
    run_scoring(notional, plan, left, workers=workers, finish=finish)
    return [found[task.number] for task in tasks]


def _setting(
    fraction: Fraction, samples: Sequence[ScoredSample], n_cells: int, provenance: Provenance
) -> Setting:
    tables = [sample.joint for sample in samples if sample.joint is not None]
    return Setting(
        fraction,
        judge_samples(samples, provenance, time.perf_counter()),
        JointTable.of(tables, n_cells),
    )


def _levels(
    population: CodedTable, keys: Sequence[str], notional: NotionalPopulation
) -> tuple[int, ...]:
    missing = (notional.codes == 0).any(axis=0).tolist()
    n_codes = population.n_codes(list(keys))
    return tuple(n if has else n - 1 for n, has in zip(n_codes, missing, strict=True))
