"""Two experiments on any population: strategies against cost, and measures against fraction.

The first draws 40 samples of 3% and compares the probability of a correct match with both costs
of seven matching strategies (the thesis' Figures 31 and 32); the second draws samples of 1% to 99%
and compares DIS with what it estimates, and with attacks by models if asked (Figures 43 and 44).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.intrusion.strategies import Strategy, numbered_strategies
from gamekeeper.attack.simulation.measure_words import measure_words
from gamekeeper.attack.simulation.measures import STRATEGY_PARTS, strategy_name
from gamekeeper.attack.simulation.model_attacks import MODEL_CURVES
from gamekeeper.attack.simulation.options import FractionsOptions, StrategiesOptions, of_sampling
from gamekeeper.attack.simulation.result import SimulationResult
from gamekeeper.attack.simulation.simulate import simulate
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.options import takes
from gamekeeper.results import Provenance, Result
from gamekeeper.wording import count_of, fraction_text, people_text

if TYPE_CHECKING:
    import pyarrow as pa
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
        import pyarrow as pa

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
        from gamekeeper.attack.simulation.simulation_plots import plot_costs

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
        import pyarrow as pa

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
