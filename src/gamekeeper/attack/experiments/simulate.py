"""Repeated samples from a notional population, any set of measures of each, and what they say on average.

What a steward can compute from a sample alone is compared with what is true in the population.
Smith's thesis, chapters 5 and 7; Elliot and Manning 2003. A sample costs its size plus one count per
class, and what the measures cost: only scores of uniques cost more.

The scores of records are held against the true chance of a correct match, 1/F: by correlations, and
by a calibration table, in which records are grouped by score, with the sum of 1/F and the number of
population uniques per group. Every score is grouped by tenths of its ranks; one that is a
probability also in steps of a tenth, with a group of its own for 1.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper import results
from gamekeeper.algorithms.judging import mid_ranks, rank_groups
from gamekeeper.algorithms.models.annealing import anneal
from gamekeeper.algorithms.uniques import strategies
from gamekeeper.arrow import pa
from gamekeeper.attack.experiments import harness
from gamekeeper.attack.experiments.scores import (
    PROBABILITIES,
    Score,
    named_measures,
    score_of,
    written_measure,
)
from gamekeeper.attack.models.fitting import estimate_sample
from gamekeeper.attack.options import Measure, SimulateOptions
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import option_text, takes
from gamekeeper.prompt_syntax import Missing, Pool
from gamekeeper.wording import count_of, did_you_mean, digits_text, fraction_text, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def _count(sample: harness.Sample) -> harness.Values:
    n_uniques, n_paired = len(sample.seen.uniques), sample.seen.n_paired
    return {"sample_uniques": float(n_uniques), "sample_pairs": float(n_paired)}


def _probability(name: str, sample: harness.Sample) -> harness.Values:
    if name != "pr_pu" and not len(sample.seen.uniques):
        return {name: None}
    found = strategies.matching_probabilities(
        sample.population.sizes, sample.class_counts, exact=False
    )
    return {name: float(getattr(found, name))}


def _strategies(r: Sequence[int], sample: harness.Sample) -> harness.Values:
    found = strategies.evaluate_strategies(
        sample.population.sizes, sample.class_counts, strategies.numbered_strategies(r), exact=False
    )
    return {
        f"{strategy_name(value.strategy)}.{part}": float(getattr(value, part))
        if value.feasible
        else None
        for value in found
        for part in STRATEGY_PARTS
    }


def strategy_name(strategy: strategies.Strategy) -> str:
    """Return the name that the measures of a strategy of the thesis begin with.

    Examples
    --------
    >>> [strategy_name(strategy) for strategy in strategies.numbered_strategies([3])][3:6]
    ['strategy_4', 'strategy_5', 'strategy_6_r3']
    """
    return f"strategy_{strategy.number}" + (f"_r{strategy.r}" if strategy.number > 5 else "")


def _dis(sample: harness.Sample) -> harness.Values:
    return {"dis": None if sample.seen.dis is None else float(sample.seen.dis)}


def _correlation(score: Score, power: int, sample: harness.Sample) -> harness.Values:
    uniques = sample.seen.uniques
    scores, chances = score_of(sample.seen, score, power=power), 1 / sample.population_sizes
    everyone: NDArray[np.float64] = np.zeros(len(chances))
    everyone[uniques] = scores
    return {
        f"{score}.pearson": pearson(scores, chances[uniques]),
        f"{score}.spearman": spearman(scores, chances[uniques]),
        f"{score}.pearson_all": pearson(everyone, chances),
        f"{score}.spearman_all": spearman(everyone, chances),
    }


def _calibration(score: Score, power: int, sample: harness.Sample) -> harness.Values:
    scores = score_of(sample.seen, score, power=power)
    sizes = sample.population_sizes[sample.seen.uniques]
    columns = {
        "records": np.ones(len(scores)),
        "scores": scores,
        "chances": 1 / sizes,
        "population_uniques": (sizes == 1).astype(np.float64),
    }
    groups = {"tenth": (rank_groups(scores, N_TENTHS), N_TENTHS)}
    if score in PROBABILITIES:
        groups["band"] = (band_of_probability(scores), N_BANDS)
    return {
        f"{score}.{kind}_{place:02d}.{name}": float(total)
        for kind, (of_record, n_groups) in groups.items()
        for name, column in columns.items()
        for place, total in enumerate(np.bincount(of_record, column, minlength=n_groups))
    }


def _models(sample: harness.Sample) -> dict[str, float | None]:
    """Return the probability of a match and the cost, with replacement, of attacks by models.

    Models are annealed at several precisions. The ten keys that rank first are matched from the
    sample to the population, the others from the population to the sample.
    """
    codes = sample.seen.codes
    levels = [int(most) for most in sample.population.codes.max(axis=0)]
    found = estimate_sample(
        codes,
        [level + bool((codes[:, place] == 0).any()) for place, level in enumerate(levels)],
        sample.seen.fraction,
        lambda scores: anneal(scores, restarts=2, workers=1),
    )
    estimate = found.estimate
    # The classes of the population that the sampled classes are.
    places = sample.classes[found.first]
    chosen = sample.ranked_classes(places, estimate.p_match, estimate.expected_size)
    values: dict[str, float | None] = {}
    for way, classes in chosen.items():
        value = sample.attacked(
            classes, strategies.Direction.S2P if way == "top" else strategies.Direction.P2S
        )
        for part in ("pr_cm", "cost_with"):
            number = float(getattr(value, part)) if value.feasible else None
            values[f"{_NAMES[way]}.{part}"] = number
    return values


def _own(name: str, measure: Measure, sample: harness.Sample) -> harness.Values | harness.Failure:
    try:
        seen = sample.seen
        found = measure(seen.codes, seen.class_sizes, sample.population_sizes)
        numbers = {f"{name}.{part}": float(number) for part, number in found.items()}
    # What a stranger's function says may hold values of the file: only its kind is told.
    except Exception as error:  # noqa: BLE001
        return harness.Failure(name, type(error).__name__, _TRY)
    return {part: x if math.isfinite(x) else None for part, x in numbers.items()}


def _known(
    r: Sequence[int], power: int
) -> dict[str, Callable[[harness.Sample], harness.Values | harness.Failure]]:
    return {
        "counts": _count,
        "strategies": partial(_strategies, r),
        **{
            name: partial(_probability, name)
            for name in ("pr_pu", "pr_pu_given_su", "pr_cm_given_um", "pr_cm_given_su")
        },
        "dis": _dis,
        "models": _models,
        **{f"correlation_{score}": partial(_correlation, score, power) for score in Score},
        **{f"calibration_{score}": partial(_calibration, score, power) for score in Score},
    }


MEASURES = tuple(_known((), 0))


def measure_sample(sample: harness.Sample) -> harness.Values | harness.Failure:
    """Take every measure of a plan of one sample."""
    values: dict[str, float | None] = {}
    for _, take in sample.plan.measures:
        found = take(sample)
        if isinstance(found, harness.Failure):
            return found
        values |= found
    return values


_TOLD = 8


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a measure over the samples of a fraction that have it; with two, a standard error."""

    fraction: Fraction
    measure: str
    samples: int
    mean: float | None
    standard_error: float | None
    least: float | None
    most: float | None

    @property
    def cells(self) -> tuple[results.Cell, ...]:
        """Its numbers as cells of a listing."""
        return self.samples, self.mean, self.standard_error, self.least, self.most


@dataclass(frozen=True, repr=False, eq=False)
class SimulationResult(results.Result):
    """The measures of every sample: a row of values for each, NaN where one is not defined."""

    tells_of_records = False

    n_records: int
    n_population_uniques: int
    keys: tuple[str, ...]
    fractions: tuple[Fraction, ...]
    measures: tuple[str, ...]
    values: NDArray[np.float64]
    provenance: results.Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        return {
            "records": self.n_records,
            "population_uniques": self.n_population_uniques,
            "keys": ", ".join(self.keys),
            "samples": len(self.fractions),
            "fractions": harness.range_text(self.fractions),
            "measures": len(self.measures),
        }

    def to_arrow(self) -> pa.Table:
        """Return one line per sample and measure; an undefined measure has no value."""
        n_samples, n_measures = self.values.shape
        flat = self.values.ravel()
        return pa.table(
            {
                "sample": np.repeat(np.arange(1, n_samples + 1), n_measures),
                "fraction": np.repeat([float(item) for item in self.fractions], n_measures),
                "measure": pa.array(list(self.measures) * n_samples, pa.string()),
                "value": pa.array(flat, pa.float64(), mask=np.isnan(flat)),
            }
        )

    def column(self, measure: str) -> NDArray[np.float64]:
        """Return one measure over all samples; NaN where it is not defined."""
        if measure not in self.measures:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"The measure {quoted([measure])} of a simulation was asked for.",
                "It was not among those computed.",
                did_you_mean(measure, self.measures),
            )
        return self.values[:, self.measures.index(measure)]

    def mean(self, measure: str, fraction: Fraction | None = None) -> Mean:
        """Return the mean of a measure over the samples of a fraction, or of the only one."""
        steps = set(self.fractions)
        if fraction is None and len(steps) == 1:
            fraction = next(iter(steps))
        if fraction is None or fraction not in steps:
            raise InputError(
                Reason.BAD_OPTION,
                f"The mean of the measure {quoted([measure])} was asked for.",
                f"There are {count_of(len(steps), 'sampling fraction')}, and none was named.",
                "Name the fraction that is meant.",
            )
        chosen = np.array([item == fraction for item in self.fractions])
        given = self.column(measure)[chosen]
        given = given[~np.isnan(given)]
        if not given.size:
            return Mean(fraction, measure, 0, None, None, None, None)
        error = float(given.std(ddof=1)) / math.sqrt(given.size) if given.size > 1 else None
        return Mean(
            fraction,
            measure,
            int(given.size),
            math.fsum(given.tolist()) / given.size,
            error,
            float(given.min()),
            float(given.max()),
        )

    def means(self) -> results.Listing:
        """Return the mean of every measure for every fraction, with standard error and range."""
        rows: list[tuple[results.Cell, ...]] = [
            (float(fraction), name, *self.mean(name, fraction).cells)
            for fraction in sorted(set(self.fractions))
            for name in self.measures
        ]
        columns = ("fraction", "measure", "samples", "mean", "standard_error", "least", "most")
        return results.make_listing("means of a simulation", columns, rows, results.EVERYTHING)

    def sentences(self) -> list[str]:
        """Return what was found, in words, for the first measures."""
        steps = sorted(set(self.fractions))
        drawn = count_of(len(self.fractions), "sample")
        ends = dict.fromkeys((steps[0], steps[-1]))
        were = "was" if len(self.fractions) == 1 else "were"
        what = (
            f"{drawn} of {harness.range_text(steps)} {were} drawn from a population of "
            f"{count_of(self.n_records, 'record')}, {self.n_population_uniques:,} of them unique "
            f"on {count_of(len(self.keys), 'key variable')}."
        )
        lines = [what]
        for name in self.measures[:_TOLD]:
            means = [self.mean(name, fraction) for fraction in ends]
            lines.append(f"{measure_words(name)}: {_told(means)}.")
        if len(self.measures) > _TOLD:
            lines.append(f"{len(self.measures) - _TOLD} more measures are in the table of means.")
        return lines

    def plot(self, measures: Sequence[str] = ()) -> Figure:
        """Plot measures, by default the first eight, by fraction: a point per sample, and means."""
        unknown = [name for name in measures if name not in self.measures]
        if unknown:
            raise InputError(
                Reason.UNKNOWN_NAME,
                "A plot of a simulation was asked for.",
                f"{count_of(len(unknown), 'measure')} to plot cannot be found:",
                problems=[
                    Problem(Reason.UNKNOWN_NAME, quoted([name]), did_you_mean(name, self.measures))
                    for name in unknown
                ],
            )
        from gamekeeper.attack.experiments.plots import plot_measures

        return plot_measures(self, measures or self.measures[:_TOLD])


def _told(means: Sequence[Mean]) -> str:
    parts: list[str] = []
    for line in means:
        if line.mean is None:
            text = "not defined in any sample"
        elif line.standard_error is None or line.least is None or line.most is None:
            text = digits_text(line.mean, 4)
        else:
            text = (
                f"{digits_text(line.mean, 4)} on average (standard error {digits_text(line.standard_error, 2)}; "
                f"from {digits_text(line.least, 4)} to {digits_text(line.most, 4)})"
            )
        parts.append(text + (f" at {fraction_text(line.fraction)}" if len(means) > 1 else ""))
    return ", and ".join(parts)


@takes(SimulateOptions)
def simulate(population: CodedTable | KeyTable, asked: SimulateOptions) -> SimulationResult:
    """Draw samples from a notional population and measure each.

    The population is a coded file that stands for everybody, or a key table of one. Measures are
    names from `MEASURES`, or functions of your own: `measure(codes, f, F)` gets the codes of the
    sampled records (one row each, one column per key variable) and their class sizes in sample and
    population, and returns named numbers. A number that is not finite counts as undefined.
    Functions are told apart by their names. A stratified sample is allocated in proportion.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> people = coded_from_codes([[1], [1], [2], [3]], ["age"], [("missing", "a", "b", "c")])
    >>> found = simulate(people, ["age"], fractions=1, measures=["pr_pu_given_su", "dis"])
    >>> found.to_arrow().column("value").to_pylist()
    [1.0, 1.0]
    """
    started = time.perf_counter()
    stratify_by = (
        (asked.stratify_by,)
        if isinstance(asked.stratify_by, str) and asked.stratify_by
        else tuple(asked.stratify_by)
    )
    steps = harness.checked_fractions("A simulation was asked for.", asked.fractions)
    harness.require_samples_fit(len(steps) * asked.samples, len(asked.measures))
    known = _known(tuple(asked.r), asked.power)
    named, problems = named_measures(asked.measures, known)
    if len(set(asked.r)) < len(asked.r):
        problems.append(Problem(Reason.DUPLICATE, "r", "a size is given twice."))
    refuse(problems, "Measures of samples were asked for.")
    own = {name: measure for name, measure in named.items() if name not in asked.measures}
    taken = {name: take for name, take in named.items() if name not in own}
    plan = harness.Plan(
        (*taken.items(), *((name, partial(_own, name, take)) for name, take in own.items())),
        max_size=asked.max_size,
        max_seconds=asked.max_seconds or None,
    )
    keys, missing = asked.keys, asked.missing
    if isinstance(population, KeyTable):
        keys, missing = keys or population.keys, population.missing
    coded = population.coded if isinstance(population, KeyTable) else population
    notional = harness.open_population(
        coded, keys, missing=Missing(missing), stratify_by=stratify_by
    )
    harness.require_samples(notional, steps)
    parameters = {
        "keys": list(keys),
        "missing": str(missing),
        "stratify_by": list(stratify_by),
        "fractions": [str(step) for step in steps],
        "samples": asked.samples,
        "measures": [*taken, *(written_measure(name, take) for name, take in own.items())],
        "r": list(asked.r),
        "max_size": plan.max_size,
        "power": asked.power,
    }
    told = {"simulation": 1, **parameters, "seed": asked.seed}
    kept = harness.SampleFolder[harness.Values].of(
        asked.folder, notional, told, lambda values: (values, {}), lambda values, _: values
    )
    numbered = [step for step in steps for _ in range(asked.samples)]
    blocks = None
    if asked.workers != 1:
        blocks = partial(coded.engine.map_blocks, workers=asked.workers, pool=Pool(asked.pool))
    lines = harness.run_samples(
        notional,
        plan,
        numbered,
        measure_sample,
        seed=asked.seed,
        blocks=blocks,
        folder=kept,
        progress=asked.progress,
    )
    # A function of one's own may name other numbers in one sample than in another.
    names = tuple(dict.fromkeys(name for values in lines for name in values))
    values = np.array(
        [[np.nan if (x := line.get(name)) is None else x for name in names] for line in lines],
        dtype=np.float64,
    )
    return SimulationResult(
        notional.n_records,
        notional.n_uniques,
        tuple(keys),
        tuple(numbered),
        names,
        values,
        results.Provenance(
            "simulation of samples",
            "stratified, proportional allocation" if stratify_by else "simple random",
            {name: option_text(value) for name, value in parameters.items()},
            asked.seed,
            coded.fingerprint,
            f"numpy {np.__version__}",
            seconds=time.perf_counter() - started,
        ),
    )
