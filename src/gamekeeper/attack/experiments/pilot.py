"""Experiments on any population: strategies by cost, measures by fraction, scores against 1/F.

Strategies: 40 samples of 3%, the probability of a correct match with both costs of seven matching
strategies (Smith's thesis, Figures 31 and 32). Fractions: samples of 1% to 99%, DIS with what it
estimates, and with attacks by models if asked (Figures 43 and 44).

The pilot study of DIS-SUDA: 50 stratified samples of 2%. In each, every sample unique gets its
scores, which are compared with 1/F, its true chance of a correct match: correlations per sample,
and a calibration table over all samples. Elliot and Manning 2003, whose table of results was never
printed; Smith's thesis, chapter 8, for IS and DIS-IS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.uniques.strategies import Strategy, numbered_strategies
from gamekeeper.arrow import pa, table_of
from gamekeeper.attack.experiments.scores import PROBABILITIES, Score, in_words
from gamekeeper.attack.experiments.simulate import (
    MODEL_CURVES,
    N_BANDS,
    N_TENTHS,
    STRATEGY_PARTS,
    Mean,
    SimulationResult,
    measure_words,
    simulate,
    strategy_name,
)
from gamekeeper.attack.options import FractionsOptions, PilotOptions, StrategiesOptions, of_sampling
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.options import takes
from gamekeeper.results import EVERYTHING, Cell, Listing, Provenance, Result, make_listing
from gamekeeper.wording import (
    count_of,
    did_you_mean,
    digits_text,
    fraction_text,
    people_text,
    percent_text,
    quoted,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CURVES = ("pr_cm_given_su", "pr_pu_given_su", "pr_cm_given_um", "dis")


@dataclass(frozen=True, repr=False, eq=False)
class StrategyExperiment(Result):
    """Probability, cost and efficiency of strategies 1 to 7 on repeated samples."""

    tells_of_records = False

    simulation: SimulationResult
    r: int
    provenance: Provenance

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The seven strategies."""
        return numbered_strategies([self.r])

    def mean(self, number: int, part: str = "pr_cm") -> float | None:
        """Return the mean of `pr_cm`, a cost or an efficiency of strategy 1 to 7."""
        return self.simulation.mean(f"{strategy_name(self.strategies[number - 1])}.{part}").mean

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        chances = {number: self.mean(number) or 0.0 for number in range(1, 8)}
        best = max(chances, key=lambda number: chances[number])
        return {
            **{
                name: self.simulation.summary()[name]
                for name in ("records", "samples", "fractions")
            },
            "r": self.r,
            "most_probable": f"strategy {best}",
            "pr_cm": chances[best],
            "cost_without": self.mean(best, "cost_without") or 0.0,
        }

    def to_arrow(self) -> pa.Table:
        """Return one line per sample and strategy; without values where it had no target."""
        simulation, strategies = self.simulation, self.strategies
        n_samples = len(simulation.fractions)
        columns: dict[str, Any] = {
            "sample": np.repeat(np.arange(1, n_samples + 1), len(strategies)),
            "strategy": pa.array([s.number for s in strategies] * n_samples, pa.int32()),
            "direction": pa.array([s.direction.words for s in strategies] * n_samples, pa.string()),
        }
        for part in STRATEGY_PARTS:
            found = [simulation.column(f"{strategy_name(s)}.{part}") for s in strategies]
            flat = np.column_stack(found).ravel()
            columns[part] = pa.array(flat, pa.float64(), mask=np.isnan(flat))
        return pa.table(columns)

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        lines = self.simulation.sentences()[:1]
        for strategy in self.strategies:
            chance, cost = (self.mean(strategy.number, part) for part in ("pr_cm", "cost_without"))
            told = f"Strategy {strategy.number} ({strategy.direction.words}, {strategy.words})"
            if chance is None or cost is None:
                lines.append(f"{told} had no target in any sample.")
            else:
                lines.append(
                    f"{told}: a correct match with probability {chance:.3f}, after a search of "
                    f"{people_text(cost)} on average."
                )
        return lines

    def plot(self) -> Figure:
        """Plot probability against both costs on logarithmic axes, one point per sample."""
        from gamekeeper.attack.experiments.plots import plot_costs

        return plot_costs(
            {
                f"strategy {one.number}": {
                    part: self.simulation.column(f"{strategy_name(one)}.{part}").tolist()
                    for part in STRATEGY_PARTS
                }
                for one in self.strategies
            }
        )


@takes(StrategiesOptions)
def strategy_experiment(
    population: CodedTable | KeyTable, asked: StrategiesOptions
) -> StrategyExperiment:
    """Compare matching strategies on repeated samples of one fraction.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> people = coded_from_codes([[1], [1], [2], [3]], ["age"])
    >>> found = strategy_experiment(people, ["age"], fraction=1, samples=1)
    >>> found.mean(4), found.mean(5, "cost_with")
    (1.0, 2.0)
    """
    simulation = simulate(
        population,
        fractions=asked.fraction,
        samples=asked.samples,
        measures=["strategies"],
        r=[asked.r],
        **of_sampling(asked),
    )
    return StrategyExperiment(simulation, asked.r, simulation.provenance)


@dataclass(frozen=True, repr=False, eq=False)
class FractionExperiment(Result):
    """Measures of risk over the range of sampling fractions, with or without those of models."""

    tells_of_records = False

    simulation: SimulationResult
    provenance: Provenance

    @property
    def curves(self) -> tuple[str, ...]:
        """The measures that are compared."""
        return tuple(n for n in (*_CURVES, *MODEL_CURVES) if n in self.simulation.measures)

    @property
    def dis_error(self) -> float | None:
        """The mean absolute difference between DIS and Pr(CM|UM); None where neither exists."""
        gaps = np.abs(self.simulation.column("dis") - self.simulation.column("pr_cm_given_um"))
        gaps = gaps[~np.isnan(gaps)]
        return float(gaps.mean()) if gaps.size else None

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        told = self.simulation.summary()
        error = self.dis_error
        return {
            **{name: told[name] for name in ("records", "population_uniques", "samples")},
            "fractions": told["fractions"],
            "dis_error": "not known" if error is None else error,
        }

    def to_arrow(self) -> pa.Table:
        """Return one line per sample."""
        columns: dict[str, Any] = {
            "sample": np.arange(1, len(self.simulation.fractions) + 1),
            "fraction": [float(step) for step in self.simulation.fractions],
        }
        for name in self.curves:
            found = self.simulation.column(name)
            columns[name] = pa.array(found, pa.float64(), mask=np.isnan(found))
        return pa.table(columns)

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        lines = self.simulation.sentences()[: 1 + len(_CURVES)]
        for name in self.curves[len(_CURVES) :]:
            values = self.simulation.column(name)
            if not np.isnan(values).all():
                lines.append(f"{measure_words(name)}: {np.nanmean(values):.3f} on average.")
        error = self.dis_error
        if error is not None:
            lines.append(f"DIS was off Pr(CM|UM) by {error:.4f} on average.")
        gaps = self.simulation.column("pr_pu_given_su") - self.simulation.column("pr_cm_given_um")
        below = [
            fraction
            for fraction, gap in zip(self.simulation.fractions, gaps.tolist(), strict=True)
            if gap < 0
        ]
        if below:
            lines.append(
                f"Pr(CM|UM) was above Pr(PU|SU) in {count_of(len(below), 'sample')}, "
                f"up to a fraction of {fraction_text(max(below))}."
            )
        else:
            lines.append("Pr(PU|SU) was never below Pr(CM|UM).")
        return lines

    def plot(self) -> Figure:
        """Plot the measures against the sampling fraction."""
        return self.simulation.plot(self.curves)


@takes(FractionsOptions)
def fraction_experiment(
    population: CodedTable | KeyTable, asked: FractionsOptions
) -> FractionExperiment:
    """Compare Pr(CM|SU), Pr(PU|SU), Pr(CM|UM) and DIS over sampling fractions, 1% to 99%.

    With models, attacks on the keys that they rank first are compared as well (the thesis' Figures
    43 and 44); a sample then takes a second or more.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> people = coded_from_codes([[1], [1], [2], [3]] * 3, ["age"])
    >>> fraction_experiment(people, ["age"], fractions=["50%", 1]).to_arrow().num_rows
    2
    """
    simulation = simulate(
        population,
        fractions=asked.fractions,
        samples=asked.samples,
        measures=[*_CURVES, *(["models"] if asked.with_models else [])],
        **of_sampling(asked),
    )
    return FractionExperiment(simulation, simulation.provenance)


@dataclass(frozen=True, slots=True)
class CalibrationLine:
    """The sample uniques of one group of scores, over all samples, and how many have F = 1.

    `by` is `rank`, in tenths, or `score`; `mean_chance` is of 1/F, the true chance of a right match.
    """

    score: Score
    by: str
    group: str
    records: int
    mean_score: float
    mean_chance: float
    population_uniques: int

    @property
    def share_unique(self) -> float:
        """The share of population uniques."""
        return self.population_uniques / self.records


@dataclass(frozen=True, repr=False, eq=False)
class PilotStudy(Result):
    """How scores of sample uniques agree with their true chance of a correct match."""

    tells_of_records = False

    simulation: SimulationResult
    scores: tuple[Score, ...]
    calibration: tuple[CalibrationLine, ...]
    provenance: Provenance

    def correlation(self, score: Score | str, kind: str = "pearson") -> Mean:
        """Return the mean correlation of a score with 1/F over the samples.

        `kind` is `pearson` or `spearman`, over sample uniques; with `_all` over all records, where
        those that are not unique have score 0.
        """
        return self.simulation.mean(f"{score}.{kind}")

    def correlations(self) -> Listing:
        """Return all correlations with standard errors and ranges."""
        rows: list[tuple[Cell, ...]] = []
        for score in self.scores:
            for kind in ("pearson", "spearman", "pearson_all", "spearman_all"):
                over = "all records" if kind.endswith("_all") else "sample uniques"
                found = self.correlation(score, kind).cells
                rows.append((in_words(score), kind.removesuffix("_all"), over, *found))
        columns = (
            "score", "correlation", "over", "samples", "mean", "standard_error", "least", "most",
        )  # fmt: skip
        return make_listing("correlations with 1/F", columns, rows, EVERYTHING)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        told = self.simulation.summary()
        found: dict[str, Any] = {
            name: told[name] for name in ("records", "population_uniques", "samples", "fractions")
        }
        for score in self.scores:
            mean = self.correlation(score).mean
            found[f"{score}_correlation"] = "not known" if mean is None else mean
        return found

    def to_arrow(self) -> pa.Table:
        """Return the calibration table: one line per score and group that has records."""
        return table_of(
            self.calibration,
            {
                "score": ("string", lambda line: in_words(line.score)),
                "grouped_by": ("string", lambda line: line.by),
                "group": ("string", lambda line: line.group),
                "records": ("int64", lambda line: line.records),
                "mean_score": ("float64", lambda line: line.mean_score),
                "mean_chance": ("float64", lambda line: line.mean_chance),
                "population_uniques": ("int64", lambda line: line.population_uniques),
                "share_unique": ("float64", lambda line: line.share_unique),
            },
        )

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        lines = self.simulation.sentences()[:1]
        for score in self.scores:
            for kind in ("pearson", "spearman"):
                line = self.correlation(score, kind)
                words = measure_words(line.measure)
                if line.mean is None:
                    lines.append(f"{words}: not defined in any sample.")
                else:
                    error = line.standard_error
                    spread = "" if error is None else f" (standard error {error:.3f})"
                    lines.append(f"{words}: {line.mean:.3f}{spread}.")
        for score in self.scores:
            tenths = self._tenths(score)
            if tenths and score in PROBABILITIES:
                n_records = sum(line.records for line in tenths)
                mean = sum(line.records * line.mean_score for line in tenths) / n_records
                chance = sum(line.records * line.mean_chance for line in tenths) / n_records
                lines.append(
                    f"Over all sample uniques {in_words(score)} is {mean:.3f} on average, and the true "
                    f"chance of a correct match {chance:.3f}."
                )
            if tenths:
                low, top = tenths[0], tenths[-1]
                lines.append(
                    f"Of the sample uniques with the highest {in_words(score)} ({top.group}), "
                    f"{percent_text(top.share_unique)} are population unique; of those with the "
                    f"lowest ({low.group}), {percent_text(low.share_unique)}."
                )
        return lines

    def plot(self) -> Figure:
        """Plot the mean of 1/F against the mean score, by tenths, for the probabilities."""
        from gamekeeper.attack.experiments.plots import plot_calibration

        return plot_calibration(
            {
                in_words(score): (
                    [line.mean_score for line in self._tenths(score)],
                    [line.mean_chance for line in self._tenths(score)],
                )
                for score in self.scores
                if score in PROBABILITIES
            }
        )

    def _tenths(self, score: Score) -> list[CalibrationLine]:
        return [line for line in self.calibration if line.score is score and line.by == "rank"]


@takes(PilotOptions)
def pilot_study(population: CodedTable | KeyTable, asked: PilotOptions) -> PilotStudy:
    """Compare scores of sample uniques with 1/F on repeated samples.

    Name the strata, such as area and household, to have the samples stratified. Sample uniques are
    grouped by tenths of the ranks of each score, and by steps of a tenth of DIS-SUDA and DIS-IS.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> people = coded_from_codes([[1, 1], [1, 1], [2, 1], [3, 2], [3, 1], [3, 1]], ["a", "b"])
    >>> study = pilot_study(people, ["a", "b"], fraction="1/2", samples=4, scores=["dis_is"])
    >>> study.to_arrow().column_names[:4]
    ['score', 'grouped_by', 'group', 'records']
    """
    chosen = _checked(asked.scores)
    simulation = simulate(
        population,
        fractions=asked.fraction,
        samples=asked.samples,
        measures=[
            "counts",
            "dis",
            "pr_cm_given_um",
            "pr_cm_given_su",
            *(f"correlation_{score}" for score in chosen),
            *(f"calibration_{score}" for score in chosen),
        ],
        max_size=asked.max_size,
        max_seconds=asked.max_seconds,
        power=asked.power,
        **of_sampling(asked),
    )
    calibration = tuple(line for score in chosen for line in _calibrate(simulation, score))
    return PilotStudy(simulation, chosen, calibration, simulation.provenance)


def _checked(scores: Sequence[Score | str]) -> tuple[Score, ...]:
    known = [str(score) for score in Score]
    problems = [
        Problem(Reason.UNKNOWN_NAME, quoted([str(score)]), "not known.", did_you_mean(score, known))
        for score in scores
        if score not in known
    ]
    if problems or not scores:
        raise InputError(
            Reason.UNKNOWN_NAME if problems else Reason.NOTHING_GIVEN,
            "A study of scores was asked for.",
            "Some scores are not known:" if problems else "No score was named.",
            "" if problems else f"There are: {quoted(known)}.",
            problems=problems,
        )
    return tuple(dict.fromkeys(Score(score) for score in scores))


def _calibrate(simulation: SimulationResult, score: Score) -> list[CalibrationLine]:
    kinds = [("tenth", "rank", N_TENTHS)]
    if score in PROBABILITIES:
        kinds.append(("band", "score", N_BANDS))
    lines: list[CalibrationLine] = []
    for kind, by, n_groups in kinds:
        for place in range(n_groups):
            records, scores, chances, uniques = (
                float(simulation.column(f"{score}.{kind}_{place:02d}.{part}").sum())
                for part in ("records", "scores", "chances", "population_uniques")
            )
            if records:
                lines.append(
                    CalibrationLine(
                        score,
                        by,
                        _group(by, place),
                        round(records),
                        scores / records,
                        chances / records,
                        round(uniques),
                    )
                )
    return lines


def _group(by: str, place: int) -> str:
    if by == "rank":
        return f"tenth {place + 1} of {N_TENTHS}"
    return (
        "1"
        if place == N_BANDS - 1
        else f"{digits_text(place / 10)} to under {digits_text((place + 1) / 10)}"
    )
