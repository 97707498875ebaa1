"""What can be measured of a sample, by name or by the user's own function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.intrusion.strategies import (
    Strategy,
    evaluate_strategies,
    matching_probabilities,
    numbered_strategies,
)
from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.attack.simulation.agreement import (
    N_BANDS,
    N_TENTHS,
    band_of_probability,
    band_of_rank,
    pearson,
    spearman,
)
from gamekeeper.attack.simulation.model_attacks import model_attacks
from gamekeeper.attack.simulation.options import Measure
from gamekeeper.attack.simulation.processes import Failure
from gamekeeper.attack.simulation.sample import PROBABILITIES, Sample, Score
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.wording import did_you_mean, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRATEGY_PARTS = ("pr_cm", "cost_without", "cost_with", "eff_without", "eff_with")
"""What is measured of each strategy."""

Values = Mapping[str, float | None]

_TRY = "Try it by itself on a small table of codes with class sizes f and F."


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """Which measures are taken of every sample, and their options."""

    names: tuple[str, ...]
    own: tuple[tuple[str, Measure], ...] = ()
    r: tuple[int, ...] = (1, 2, 3)
    max_size: int | None = None
    max_seconds: float | None = MAX_SECONDS
    power: int = 6

    def written(self) -> list[str]:
        """Return the measures as texts that tell one plan from another."""
        own = [f"{m.__module__}.{getattr(m, '__qualname__', name)}" for name, m in self.own]
        return [*self.names, *own]


def measure_sample(sample: Sample, plan: MeasurePlan) -> Values | Failure:
    """Take every measure of a plan of one sample."""
    values: dict[str, float | None] = {}
    take = _of_sample(plan)
    for name in plan.names:
        values |= take[name](sample)
    for name, measure in plan.own:
        try:
            found = measure(sample.codes, sample.sample_sizes, sample.population_sizes)
            numbers = {f"{name}.{part}": float(number) for part, number in found.items()}
        # What a stranger's function says may hold values of the file: only its kind is told.
        except Exception as error:  # noqa: BLE001
            return Failure(name, type(error).__name__, _TRY)
        values |= {part: x if math.isfinite(x) else None for part, x in numbers.items()}
    return values


def plan_measures(
    measures: Sequence[str | Measure],
    *,
    r: Sequence[int],
    max_size: int | None,
    max_seconds: float | None,
    power: int,
) -> MeasurePlan:
    """Check measures and put them in a plan."""
    names: list[str] = []
    own: list[tuple[str, Measure]] = []
    problems: list[Problem] = []
    if not measures:
        problems.append(Problem(Reason.NOTHING_GIVEN, "measures", "none is given."))
    for measure in measures:
        name = measure if isinstance(measure, str) else getattr(measure, "__name__", "own")
        where = f"measure {quoted([name])}"
        if name in names or any(name == known for known, _ in own):
            problems.append(Problem(Reason.DUPLICATE, where, "given twice."))
        elif not isinstance(measure, str):
            own.append((name, measure))
        elif measure in MEASURES:
            names.append(measure)
        else:
            hint = did_you_mean(measure, MEASURES)
            problems.append(Problem(Reason.UNKNOWN_NAME, where, "not known.", hint))
    if len(set(r)) < len(r):
        problems.append(Problem(Reason.DUPLICATE, "r", "a size is given twice."))
    refuse(problems, "Measures of samples were asked for.")
    return MeasurePlan(tuple(names), tuple(own), tuple(r), max_size, max_seconds, power)


def _count(sample: Sample) -> Values:
    return {"sample_uniques": float(sample.n_uniques), "sample_pairs": float(sample.n_paired)}


def _probability(name: str, sample: Sample) -> Values:
    if name != "pr_pu" and not sample.n_uniques:
        return {name: None}
    found = matching_probabilities(sample.population.sizes, sample.class_counts, exact=False)
    return {name: float(getattr(found, name))}


def _strategies(r: Sequence[int], sample: Sample) -> Values:
    found = evaluate_strategies(
        sample.population.sizes, sample.class_counts, numbered_strategies(r), exact=False
    )
    return {
        f"{strategy_name(value.strategy)}.{part}": float(getattr(value, part))
        if value.feasible
        else None
        for value in found
        for part in STRATEGY_PARTS
    }


def strategy_name(strategy: Strategy) -> str:
    """Return the name that the measures of a strategy of the thesis begin with.

    Examples
    --------
    >>> [strategy_name(strategy) for strategy in numbered_strategies([3])][3:6]
    ['strategy_4', 'strategy_5', 'strategy_6_r3']
    """
    return f"strategy_{strategy.number}" + (f"_r{strategy.r}" if strategy.number > 5 else "")


def _dis(sample: Sample) -> Values:
    return {"dis": None if sample.dis is None else float(sample.dis)}


def _correlation(score: Score, sample: Sample) -> Values:
    uniques = sample.minimal_uniques.records
    scores, chances = sample.score(score), 1 / sample.population_sizes
    everyone: NDArray[np.float64] = np.zeros(len(chances))
    everyone[uniques] = scores
    return {
        f"{score}.pearson": pearson(scores, chances[uniques]),
        f"{score}.spearman": spearman(scores, chances[uniques]),
        f"{score}.pearson_all": pearson(everyone, chances),
        f"{score}.spearman_all": spearman(everyone, chances),
    }


def _calibration(score: Score, sample: Sample) -> Values:
    scores = sample.score(score)
    sizes = sample.population_sizes[sample.minimal_uniques.records]
    columns = {
        "records": np.ones(len(scores)),
        "scores": scores,
        "chances": 1 / sizes,
        "population_uniques": (sizes == 1).astype(np.float64),
    }
    groups = {"tenth": (band_of_rank(scores), N_TENTHS)}
    if score in PROBABILITIES:
        groups["band"] = (band_of_probability(scores), N_BANDS)
    return {
        f"{score}.{kind}_{place:02d}.{name}": float(total)
        for kind, (of_record, n_groups) in groups.items()
        for name, column in columns.items()
        for place, total in enumerate(np.bincount(of_record, column, minlength=n_groups))
    }


def _of_sample(plan: MeasurePlan) -> Mapping[str, Callable[[Sample], Values]]:
    """Return what takes each measure of a sample, by name."""
    return {
        "counts": _count,
        "strategies": partial(_strategies, plan.r),
        **{
            name: partial(_probability, name)
            for name in ("pr_pu", "pr_pu_given_su", "pr_cm_given_um", "pr_cm_given_su")
        },
        "dis": _dis,
        "models": model_attacks,
        **{f"correlation_{score}": partial(_correlation, score) for score in Score},
        **{f"calibration_{score}": partial(_calibration, score) for score in Score},
    }


MEASURES = tuple(_of_sample(MeasurePlan(())))
"""The measures that are known by name."""
