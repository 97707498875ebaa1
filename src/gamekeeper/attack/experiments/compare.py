"""Measures of record-level risk side by side on samples of a known population.

The experiments of Smith's thesis, chapters 7 and 8, on any population. Samples are drawn, every
measure speaks of the sample uniques, and is judged by who of them is unique in the population
(chapter 8); an intruder attacks those that a measure ranks first, over the range of sampling
fractions (chapter 7). Both share the samples of the fractions that they have in common.

Timings leave out what is done once per process: each measure first runs on a few records, so that
its kernels are loaded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.blocks import map_blocks
from gamekeeper.arrow import pa
from gamekeeper.attack.experiments import attack_experiment, harness
from gamekeeper.attack.experiments.judgement import Judgement, judge_samples
from gamekeeper.attack.experiments.scores import (
    MEASURES,
    AttackValue,
    JointTable,
    ScoredSample,
    Scores,
    all_in_words,
    checked_scores,
    joint_counts,
    named_measures,
    written_measure,
)
from gamekeeper.attack.options import CompareOptions
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import GamekeeperError, InputError, LimitError, Problem, Reason, refuse
from gamekeeper.options import option_text, takes
from gamekeeper.prompt_syntax import Missing, Pool
from gamekeeper.results import Listing, Provenance, Result
from gamekeeper.wording import at_start, count_of, fraction_text, percent_text, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WARMING = 40
_TRY = "Try it by itself on a small sample."
_PARTS = ("values", "match", "unique")
_VALUES = ("pr_cm", "cost", "keys")
ATTACK_FRACTIONS = tuple(Fraction(percent, 100) for percent in (1, 2, 5, 10, 20, 30, 50, 70, 90))
"""Sampling fractions of attacks where none are given."""
AFFORDABLE = 1_000_000
"""Of those, the ones are left out whose samples have more cells: records times key variables.

At this size a sample takes up to a minute with all five measures of the default.
"""


def score_sample(sample: harness.Sample) -> ScoredSample | harness.Failure:
    """Let every measure speak of the sample uniques of a sample, and attack.

    Where nothing is judged, scores are not kept, and a measure that refuses the work is left out.
    """
    seen, plan = sample.seen, sample.plan
    judged = sample.number < plan.n_judged
    sizes = sample.population_sizes[seen.uniques]
    attacks = {(name, ""): value for name, value in attack_experiment.plain_attacks(sample).items()}
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
            return harness.Failure(name, type(error).__name__, _TRY)
        told = checked_scores(name, found, len(seen.uniques), n_records=len(seen.codes))
        seconds[name] = taken
        attacks |= {(attack, name): value for attack, value in _attacked(sample, sizes, told)}
        if judged:
            scores[name] = replace(told, records=None)
    if not judged:
        return ScoredSample(sizes[:0], scores, seconds, attacks=attacks)
    joint = joint_counts(sample.class_counts, sample.population.sizes)
    return ScoredSample(sizes, scores, seconds, joint, attacks)


def _attacked(
    sample: harness.Sample, sizes: NDArray[np.int64], told: Scores
) -> Iterator[tuple[str, AttackValue]]:
    first = attack_experiment.top_attack(told.values, sizes, sample.population.n_records)
    if first is not None:
        yield "top10", first
    if told.records is not None:
        yield from attack_experiment.matched_attacks(sample, told.records).items()


def warm_up(population: harness.NotionalPopulation, plan: harness.Plan) -> None:
    """Let every measure run on a few records, so that its kernels are loaded."""
    codes = population.codes[:_WARMING]
    _, places, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    sizes = counts[places.ravel()].astype(np.int64)
    for _, measure in plan.measures:
        # What is wrong with a measure is told when it runs on a sample.
        with suppress(Exception):
            measure(harness.SampleData(codes, plan.levels, Fraction(1, 10), sizes, 0))


@dataclass(frozen=True, repr=False, eq=False)
class Setting:
    """The samples of one sampling fraction."""

    fraction: Fraction
    judgement: Judgement
    joint: JointTable

    @property
    def words(self) -> str:
        """The sampling fraction for reading."""
        return fraction_text(self.fraction)

    def __repr__(self) -> str:
        return f"Setting({self.words}, {self.judgement.n_uniques:,} sample uniques)"


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """How measures fared on samples of a population: by fraction, and attacks at these and others."""

    tells_of_records = False

    n_records: int
    n_population_uniques: int
    n_cells: int
    keys: tuple[str, ...]
    settings: tuple[Setting, ...]
    attacks: attack_experiment.AttackExperiment
    provenance: Provenance

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return self.settings[0].judgement.measures

    def at(self, fraction: Fraction) -> Setting:
        """Return the samples of one sampling fraction."""
        for setting in self.settings:
            if setting.fraction == fraction:
                return setting
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Samples of {fraction_text(Fraction(fraction))} were asked for.",
            "None was drawn.",
            f"There are: {quoted(setting.words for setting in self.settings)}.",
        )

    def timings(self) -> Listing:
        """Return the seconds of every measure per sample at every fraction: mean, least and most."""
        return self.attacks.timings()

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        found: dict[str, Any] = {
            "records": self.n_records,
            "population_uniques": self.n_population_uniques,
            "keys": len(self.keys),
            "samples": sum(len(setting.judgement.samples) for setting in self.settings),
        }
        for setting in self.settings:
            best = setting.judgement.best
            if best is not None and best.auc is not None:
                found[f"best at {setting.words}"] = f"{best.measure}, AUC {best.auc.value:.3f}"
            else:
                found[f"best at {setting.words}"] = "not known"
        first = self.attacks.best
        found["best first ten"] = "not known" if first is None else f"{first[0]}, {first[1]:.3f}"
        return found

    def to_arrow(self) -> pa.Table:
        """Return one line per sampling fraction and measure."""
        tables: list[pa.Table] = []
        for setting in self.settings:
            table = setting.judgement.to_arrow()
            n_rows = table.num_rows
            fractions = pa.array([float(setting.fraction)] * n_rows, pa.float64())
            samples = pa.array([len(setting.judgement.samples)] * n_rows, pa.int64())
            uniques = pa.array([setting.judgement.n_uniques] * n_rows, pa.int64())
            table = table.add_column(0, "fraction", fractions)
            table = table.add_column(2, "samples", samples)
            tables.append(table.add_column(3, "sample_uniques", uniques))
        return pa.concat_tables(tables)

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        told = (
            f"Samples were drawn from a population of {count_of(self.n_records, 'record')}, of "
            f"which {self.n_population_uniques:,} are unique on "
            f"{count_of(len(self.keys), 'key variable')}."
        )
        lines = [told]
        for setting in self.settings:
            judgement = setting.judgement
            best = judgement.best
            n_samples = count_of(len(judgement.samples), "sample")
            told = (
                f"{n_samples} of {setting.words}: {count_of(judgement.n_uniques, 'sample unique')}"
            )
            if best is None or best.auc is None:
                lines.append(f"{told}; no ranking can be judged.")
                continue
            lines.append(
                f"{told}, {judgement.n_population_uniques:,} of them population unique. "
                f"{_finders(judgement.best_measures)} one above another sample "
                f"unique in {percent_text(best.auc.value)} of pairs."
            )
        return lines

    def plot(self) -> Figure:
        """Plot the mean time of every measure."""
        from gamekeeper.attack.experiments.plots import plot_seconds

        return plot_seconds(self)


def _finders(measures: tuple[str, ...]) -> str:
    words = at_start(all_in_words(measures))
    if len(measures) == 1:
        return f"{words} finds these best: it ranks"
    return f"{words} find these best, equally well: they rank"


def _packed(
    measures: tuple[str, ...], sample: ScoredSample
) -> tuple[dict[str, float | None], dict[str, NDArray[Any]]]:
    """Return a finished sample as numbers and arrays, measures by their places."""
    arrays: dict[str, NDArray[Any]] = {"population_sizes": sample.population_sizes}
    if sample.joint is not None:
        arrays["joint"] = sample.joint
    numbers: dict[str, float | None] = {"judged": float(bool(sample.scores))}
    for place, name in enumerate(measures):
        numbers[f"{place}.seconds"] = sample.seconds.get(name)
        scores = sample.scores.get(name)
        if scores is None:
            continue
        for part in _PARTS:
            column = getattr(scores, part)
            if column is not None:
                arrays[f"{place}.{part}"] = column
        numbers[f"{place}.pr_cm_given_um"] = scores.pr_cm_given_um
    for (attack, name), value in sample.attacks.items():
        place = measures.index(name) if name else ""
        for part in _VALUES:
            numbers[f"{place}.{attack}.{part}"] = getattr(value, part)
    return numbers, arrays


def _unpacked(
    measures: tuple[str, ...], numbers: harness.Values, arrays: harness.Arrays
) -> ScoredSample:
    # A sample for attacks only has no scores.
    joint = arrays["joint"] if numbers["judged"] else None
    scores: dict[str, Scores] = {}
    seconds: dict[str, float] = {}
    attacks: dict[tuple[str, str], AttackValue] = {}
    for place, name in [("", ""), *((str(place), name) for place, name in enumerate(measures))]:
        for attack in attack_experiment.ATTACKS:
            pr_cm, cost, keys = (numbers.get(f"{place}.{attack}.{part}") for part in _VALUES)
            if pr_cm is not None:
                attacks[attack, name] = AttackValue(pr_cm, cost, keys)
        if not name:
            continue
        taken = numbers[f"{place}.seconds"]
        if taken is not None:
            seconds[name] = taken
        if joint is not None:
            scores[name] = Scores(
                arrays[f"{place}.values"],
                arrays.get(f"{place}.match"),
                arrays.get(f"{place}.unique"),
                numbers[f"{place}.pr_cm_given_um"],
            )
    return ScoredSample(arrays["population_sizes"], scores, seconds, joint, attacks)


@takes(CompareOptions)
def compare_measures(population: CodedTable, asked: CompareOptions) -> Comparison:
    """Draw samples from a known population, judge what measures say of their uniques, and attack.

    The population is a coded file that stands for everybody. At the fractions of attacks nothing is
    judged. Progress is told of the samples finished and their total, with those for attacks.

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
    hint = f"There are: {quoted(MEASURES)}."
    named, problems = named_measures(asked.measures, MEASURES, hint)
    refuse(problems, "Measures were to be compared.")
    steps, more_steps = _checked_steps(asked)
    notional = harness.open_population(
        population, keys, missing=Missing(asked.missing), stratify_by=stratify_by
    )
    too_large: tuple[Fraction, ...] = ()
    more_steps = tuple(step for step in more_steps if step not in steps)
    if asked.attack_fractions is None:
        more_steps, too_large = _affordable(notional, more_steps)
    harness.require_samples(notional, [*steps, *more_steps])
    n_samples = len(steps) * samples + len(more_steps) * asked.attack_samples
    harness.require_samples_fit(n_samples, len(named))
    numbered = [step for step in steps for _ in range(samples)]
    n_judged = len(numbered)
    numbered += [step for step in more_steps for _ in range(asked.attack_samples)]
    plan = harness.Plan(
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
            f"{name} ({written_measure(name, measure)})" for name, measure in named.items()
        ],
        **({} if asked.max_size is None else {"max_size": asked.max_size}),
    }
    told = {"comparison": 2, **parameters, "seed": asked.seed, "levels": list(plan.levels)}
    pack, unpack = partial(_packed, tuple(named)), partial(_unpacked, tuple(named))
    kept = harness.SampleFolder.of(asked.folder, notional, told, pack, unpack)
    blocks = None
    if asked.workers > 1:
        blocks = partial(map_blocks, workers=asked.workers, pool=Pool.PROCESSES)
    found = harness.run_samples(
        notional,
        plan,
        numbered,
        score_sample,
        seed=asked.seed,
        blocks=blocks,
        folder=kept,
        progress=asked.progress,
        prepare=warm_up,
    )
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
    attacks = attack_experiment.AttackExperiment(
        notional.n_records,
        tuple(named),
        tuple(numbered),
        tuple(found),
        too_large,
        replace(provenance, method="attacks by measures"),
    )
    return Comparison(
        notional.n_records, notional.n_uniques, n_cells, tuple(keys), settings, attacks, provenance
    )


def _checked_steps(asked: CompareOptions) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    problems: list[Problem] = []
    steps: tuple[Fraction, ...] = ()
    more_steps: tuple[Fraction, ...] = ()
    what = "A comparison of measures was asked for."
    try:
        steps = harness.checked_fractions(what, asked.fractions)
    except InputError as error:
        problems += error.problems
    attacked = ATTACK_FRACTIONS if asked.attack_fractions is None else asked.attack_fractions
    if isinstance(attacked, str) or len(attacked):
        try:
            more_steps = harness.checked_fractions(what, attacked)
        except InputError as error:
            problems += [replace(one, where=f"attack {one.where}") for one in error.problems]
    refuse(problems, what)
    return steps, more_steps


def _affordable(
    notional: harness.NotionalPopulation, steps: Sequence[Fraction]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the fractions to draw, without those of empty samples, and those that are too large."""
    most = AFFORDABLE // notional.codes.shape[1]
    sizes = {step: harness.sample_size(notional.n_records, step) for step in steps}
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
    population: CodedTable, keys: Sequence[str], notional: harness.NotionalPopulation
) -> tuple[int, ...]:
    missing = (notional.codes == 0).any(axis=0).tolist()
    n_codes = population.n_codes(list(keys))
    return tuple(n if has else n - 1 for n, has in zip(n_codes, missing, strict=True))
