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
from functools import partial
from pathlib import Path

import numpy as np

from gamekeeper.attack.judging.attack_experiment import AttackedSample, AttackExperiment
from gamekeeper.attack.judging.comparison import Comparison, Setting
from gamekeeper.attack.judging.joint import JointTable
from gamekeeper.attack.judging.judgement import judge_samples
from gamekeeper.attack.judging.measures import named_measures
from gamekeeper.attack.judging.options import CompareOptions
from gamekeeper.attack.judging.running import ScoringPlan, score_sample, warm_up
from gamekeeper.attack.judging.scores import ScoredSample
from gamekeeper.attack.judging.scores_folder import ScoreFolder
from gamekeeper.attack.simulation.checks import (
    checked_fractions,
    require_samples,
    require_samples_fit,
)
from gamekeeper.attack.simulation.notional import NotionalPopulation, open_population
from gamekeeper.attack.simulation.processes import run_tasks
from gamekeeper.attack.simulation.resuming import run_left
from gamekeeper.attack.simulation.running import SampleTask
from gamekeeper.attack.simulation.sampling import sample_size
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.engine.local_blocks import map_locally
from gamekeeper.data.engine.pool import Pool
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Problem, refuse
from gamekeeper.options import option_text, takes
from gamekeeper.results import Provenance, package_version

ATTACK_FRACTIONS = tuple(Fraction(percent, 100) for percent in (1, 2, 5, 10, 20, 30, 50, 70, 90))
"""Sampling fractions of attacks where none are given."""

AFFORDABLE = 1_000_000
"""Of those, the ones are left out whose samples have more cells: records times key variables.

At this size a sample takes up to a minute with all five measures of the default.
"""


@takes(CompareOptions)
def compare_measures(population: CodedTable, asked: CompareOptions) -> Comparison:
    """Draw samples from a known population, judge what measures say of their uniques, and attack.

    The population is a coded file that stands for everybody. The samples of each fraction are
    judged together, and attacked; at the fractions of attacks nothing is judged. Progress is told
    of the samples finished and their total; those for attacks count as well.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> people = coded_from_codes([[1, 1], [1, 1], [1, 2], [2, 1], [2, 2], [2, 2]], ["a", "b"])
    >>> found = compare_measures(people, ["a", "b"], fractions=["1/2"], measures=["suda", "is"])
    >>> found.to_arrow().column("measure").to_pylist()
    ['suda', 'is']
    """
    started = time.perf_counter()
    keys, samples, stratify_by = asked.keys, asked.samples, tuple(asked.stratify_by)
    named = named_measures(asked.measures)
    steps, more_steps = _checked_steps(asked)
    notional = open_population(
        population, keys, missing=Missing(asked.missing), stratify_by=stratify_by
    )
    too_large: tuple[Fraction, ...] = ()
    more_steps = tuple(step for step in more_steps if step not in steps)
    if asked.attack_fractions is None:
        more_steps, too_large = _affordable(notional, more_steps)
    require_samples(notional, [*steps, *more_steps])
    n_samples = len(steps) * samples + len(more_steps) * asked.attack_samples
    require_samples_fit(n_samples, len(named))
    numbered = [step for step in steps for _ in range(samples)]
    n_judged = len(numbered)
    numbered += [step for step in more_steps for _ in range(asked.attack_samples)]
    plan = ScoringPlan(
        tuple(named.items()),
        _levels(population, keys, notional),
        n_judged,
        asked.max_size,
        asked.max_seconds or None,
    )
    parameters = {
        "keys": list(keys),
        "missing": str(asked.missing),
        "stratify_by": list(stratify_by),
        "fractions": [str(step) for step in steps],
        "samples": samples,
        "attack_fractions": [str(step) for step in more_steps],
        "attack_samples": asked.attack_samples,
        "measures": [
            f"{name} ({measure.__module__}.{getattr(measure, '__qualname__', name)})"
            for name, measure in named.items()
        ],
        **({} if asked.max_size is None else {"max_size": asked.max_size}),
    }
    kept = None
    if asked.folder is not None:
        wanted = {
            "comparison": 2,
            **parameters,
            "seed": asked.seed,
            "levels": list(plan.levels),
            "data": notional.fingerprint(),
            "version": package_version(),
        }
        kept = ScoreFolder(Path(asked.folder), wanted, tuple(named))
    tasks = [SampleTask(number, step, asked.seed) for number, step in enumerate(numbered)]
    blocks = None
    if asked.workers > 1:
        blocks = partial(map_locally, workers=asked.workers, pool=Pool.PROCESSES)
    by_number = run_left(
        tasks,
        kept,
        asked.progress,
        lambda left, finish: run_tasks(
            notional, plan, left, score_sample, blocks=blocks, finish=finish, prepare=warm_up
        ),
    )
    found = [by_number[task.number] for task in tasks]
    provenance = Provenance(
        "comparison of measures",
        "stratified, proportional allocation" if stratify_by else "simple random samples",
        {
            **{name: option_text(value) for name, value in parameters.items()},
            "measures": ", ".join(named),
        },
        asked.seed,
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


def _checked_steps(asked: CompareOptions) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the fractions that are judged and those of attacks; one error for all that is wrong."""
    problems: list[Problem] = []
    steps: tuple[Fraction, ...] = ()
    more_steps: tuple[Fraction, ...] = ()
    what = "A comparison of measures was asked for."
    try:
        steps = checked_fractions(what, asked.fractions)
    except InputError as error:
        problems += error.problems
    attacked = ATTACK_FRACTIONS if asked.attack_fractions is None else asked.attack_fractions
    if isinstance(attacked, str) or len(attacked):
        try:
            more_steps = checked_fractions(what, attacked)
        except InputError as error:
            problems += [replace(one, where=f"attack {one.where}") for one in error.problems]
    refuse(problems, what)
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
