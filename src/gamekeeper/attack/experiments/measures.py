"""What can be measured of a sample, by name or by the user's own function, and what it means in words.

The scores of records are held against the true chance of a correct match, 1/F: by correlations, and
by a calibration table, in which records are grouped by score, with the sum of 1/F and the number of
population uniques per group. Every score is grouped by tenths of its ranks; one that is a
probability also in steps of a tenth, with a group of its own for 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.judging import mid_ranks
from gamekeeper.algorithms.models.annealing import anneal
from gamekeeper.algorithms.uniques.strategies import (
    Direction,
    Strategy,
    evaluate_strategies,
    matching_probabilities,
    numbered_strategies,
)
from gamekeeper.attack.experiments.notional import PROBABILITIES, Failure, Sample, Score
from gamekeeper.attack.models.fitting import estimate_sample
from gamekeeper.attack.options import Measure
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.prompt_syntax import MAX_SECONDS
from gamekeeper.wording import did_you_mean, quoted

Values = Mapping[str, float | None]
_WORDS = {
    "sample_uniques": "Sample uniques",
    "sample_pairs": "Records in sample pairs",
    "pr_pu": "Pr(PU), the share of the population that is population unique",
    "pr_pu_given_su": "Pr(PU|SU), the share of sample uniques that are population unique",
    "pr_cm_given_um": "Pr(CM|UM), the chance that a unique match is correct",
    "pr_cm_given_su": "Pr(CM|SU), the chance of a correct match for a sample unique at random",
    "dis": "DIS, the estimate of Pr(CM|UM) from the sample alone",
    "models_top10.pr_cm": "Models, the ten keys that rank first, probability of a correct match",
    "models_top10.cost_with": "Models, the ten keys that rank first, people searched on average",
    "models_mcmcmc1.pr_cm": "Models at the cost of Pr(CM|UM) (MCMCMC1), correct with probability",
    "models_mcmcmc1.cost_with": "Models (MCMCMC1), people searched on average",
    "models_mcmcmc2.pr_cm": "Models at the expected cost (MCMCMC2), correct with probability",
    "models_mcmcmc2.cost_with": "Models (MCMCMC2), people searched on average",
}
_PARTS = {
    "pr_cm": "probability of a correct match",
    "cost_without": "people searched on average, nobody twice",
    "cost_with": "people searched on average, anybody again",
    "eff_without": "probability per person searched, nobody twice",
    "eff_with": "probability per person searched, anybody again",
}
_SCORES = {
    "suda": "SUDA score (2002)",
    "is": "intermediate score (IS)",
    "dis_suda": "DIS-SUDA",
    "dis_is": "DIS-IS",
}
_CORRELATIONS = {
    "pearson": "Pearson correlation with 1/F over sample uniques",
    "spearman": "Spearman correlation with 1/F over sample uniques",
    "pearson_all": "Pearson correlation with 1/F over all records",
    "spearman_all": "Spearman correlation with 1/F over all records",
}
_STRATEGY = re.compile(r"strategy_(\d)(?:_r(\d+))?\.(\w+)")
MODEL_CURVES = ("models_top10.pr_cm", "models_mcmcmc1.pr_cm", "models_mcmcmc2.pr_cm")
"""The probabilities of a correct match of the three attacks."""
_NAMES = {"top": "models_top10", "mcmcmc1": "models_mcmcmc1", "mcmcmc2": "models_mcmcmc2"}
N_BANDS = 11
"""The steps of a probability: ten, and one for 1 itself."""
N_TENTHS = 10
STRATEGY_PARTS = ("pr_cm", "cost_without", "cost_with", "eff_without", "eff_with")
_TRY = "Try it by itself on a small table of codes with class sizes f and F."


def measure_words(name: str) -> str:
    """Return what a measure is, in words; its name where it is the user's own.

    Examples
    --------
    >>> measure_words("strategy_6_r3.pr_cm")
    'Strategy 6 with r = 3, probability of a correct match'
    """
    if name in _WORDS:
        return _WORDS[name]
    found = _STRATEGY.fullmatch(name)
    if found and found[3] in _PARTS:
        with_r = f" with r = {found[2]}" if found[2] else ""
        return f"Strategy {found[1]}{with_r}, {_PARTS[found[3]]}"
    score, _, part = name.partition(".")
    if score in _SCORES and part in _CORRELATIONS:
        return f"{_SCORES[score]}, {_CORRELATIONS[part]}"
    return name


def model_attacks(sample: Sample) -> dict[str, float | None]:
    """Return the probability of a match and the cost, with replacement, of attacks by models.

    Models are annealed at several precisions. The ten keys that rank first are matched from the
    sample to the population, the others from the population to the sample.
    """
    population = sample.population
    codes = sample.codes
    levels = [int(most) for most in population.codes.max(axis=0)]
    found = estimate_sample(
        codes,
        [level + bool((codes[:, place] == 0).any()) for place, level in enumerate(levels)],
        sample.fraction,
        lambda scores: anneal(scores, restarts=2, workers=1),
    )
    estimate = found.estimate
    # The classes of the population that the sampled classes are.
    places = population.classes[sample.records][found.first]
    chosen = sample.ranked_classes(places, estimate.p_match, estimate.expected_size)
    values: dict[str, float | None] = {}
    for way, classes in chosen.items():
        value = sample.attacked(classes, Direction.S2P if way == "top" else Direction.P2S)
        for part in ("pr_cm", "cost_with"):
            number = float(getattr(value, part)) if value.feasible else None
            values[f"{_NAMES[way]}.{part}"] = number
    return values


def pearson(first: NDArray[Any], second: NDArray[Any]) -> float | None:
    """Return the correlation of two columns; None where one of them does not vary.

    Examples
    --------
    >>> round(pearson(np.array([1, 2, 3]), np.array([1, 2, 4])), 4)
    0.982
    """
    if len(first) < 2 or (first == first[0]).all() or (second == second[0]).all():
        return None
    # Scores may be as large as factorials: their squares would not fit.
    left = first / np.abs(first).max()
    right = second / np.abs(second).max()
    left, right = left - left.mean(), right - right.mean()
    spread = float(np.sqrt((left**2).sum() * (right**2).sum()))
    return min(1.0, max(-1.0, float((left * right).sum()) / spread)) if spread else None


def spearman(first: NDArray[Any], second: NDArray[Any]) -> float | None:
    """Return the correlation of the ranks of two columns, with equal values at mid-rank."""
    return pearson(mid_ranks(first), mid_ranks(second))


def band_of_probability(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the group of each probability: 0 for [0, 0.1), ..., 9 for [0.9, 1), 10 for 1."""
    # A score that is 1 but for rounding belongs to the ones.
    return np.floor(np.clip(scores, 0.0, 1.0) * 10 + 1e-9).astype(np.int64)


def band_of_rank(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the tenth of its ranks that each score is in, 0 for the lowest; ties together.

    Examples
    --------
    >>> band_of_rank(np.array([3.0, 1.0, 1.0, 9.0])).tolist()
    [6, 2, 2, 8]
    """
    if not len(scores):
        return np.zeros(0, np.int64)
    return np.floor((mid_ranks(scores) - 0.5) * 10 / len(scores)).astype(np.int64)


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
