"""What matching strategies achieve: as a table, in words, as a plot of chance against cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.algorithms.intrusion.dominance import Dominance, Measure
from gamekeeper.algorithms.intrusion.strategies import Direction, Strategy, StrategyValue
from gamekeeper.attack.risk import FileRisk, RiskLine
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import EVERYTHING, Listing, Provenance, Result, arrow_table, make_listing
from gamekeeper.wording import (
    count_of,
    did_you_mean,
    number_text,
    people_text,
    quoted,
    share_text,
    three_digits,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

_PARTS = ("pr_cm", "cost_without", "cost_with", "eff_without", "eff_with")
_MEANINGS = {
    "pr_pu": "Pr(PU): {share} of the population have a key that nobody else has",
    "pr_pu_given_su": "Pr(PU|SU): {share} of the sample uniques are unique in the population",
    "pr_cm_given_um": "Pr(CM|UM): a person who matches a sample unique is that record with "
    "probability {value}",
    "pr_cm_given_su": "Pr(CM|SU): a sample unique picked at random is matched correctly with "
    "probability {value}",
    "dis": "DIS: from the sample alone, Pr(CM|UM) is estimated as {value}",
}
_NO_UNIQUE = "there is no sample unique"
_ABSENT = {
    "pr_pu": "the population is known for sampled classes only",
    "dis": "there are neither sample uniques nor pairs that tell",
}


@dataclass(frozen=True, repr=False)
class MatchingRisk(Result):
    """What an intruder achieves by each strategy.

    Attributes
    ----------
    n_records, n_people, n_uniques
        The sizes of sample and population, and the number of sample uniques.
    estimated
        Whether the population is estimated.
    values
        What each strategy achieves; all zero where it has no target.
    dominance
        Which strategy is at least another here, and whether that holds on every table.
    file
        Pr(PU), Pr(PU|SU), Pr(CM|UM), Pr(CM|SU) and DIS.
    """

    tells_of_records = False

    n_records: int
    n_people: int | float
    n_uniques: int
    estimated: bool
    values: tuple[StrategyValue, ...]
    dominance: tuple[Dominance, ...]
    file: FileRisk
    provenance: Provenance

    def __getitem__(self, name: str) -> StrategyValue:
        for value in self.values:
            if value.name == name:
                return value
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The strategy {quoted([name])} was asked for.",
            "It is not among those assessed.",
            did_you_mean(name, [value.name for value in self.values]),
        )

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        feasible = [value for value in self.values if value.feasible]
        best = max(feasible, key=lambda value: value.pr_cm, default=None)
        return {
            "records": self.n_records,
            "people": self.n_people,
            "uniques": self.n_uniques,
            "estimated": self.estimated,
            "strategies": len(self.values),
            "feasible": len(feasible),
            "most_probable": best.name if best else "none",
            "pr_cm": float(best.pr_cm) if best else 0.0,
            "cost_without": float(best.cost_without) if best else 0.0,
        }

    def to_arrow(self) -> pa.Table:
        """Return one line per strategy; without numbers where it has no target."""
        columns = {
            **dict.fromkeys(("strategy", "direction", "target"), "string"),
            "feasible": "bool",
            "classes": "int64",
            **dict.fromkeys(_PARTS, "float64"),
            "in_words": "string",
        }
        rows = [
            (
                value.name,
                value.direction.words,
                value.strategy.words,
                value.feasible,
                value.n_cells,
                *(float(getattr(value, part)) if value.feasible else None for part in _PARTS),
                told(value),
            )
            for value in self.values
        ]
        return arrow_table(columns, rows)

    def dominance_table(self) -> Listing:
        """Return which strategy is at least another, by every measure, here or always."""
        rows = [
            (line.measure.value, line.higher, line.lower, line.proved, line.why)
            for line in self.dominance
        ]
        columns = ("measure", "at_least", "the_other", "always", "why")
        return make_listing("dominance of strategies", columns, rows, EVERYTHING)

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        return [
            *self.file_sentences(),
            *(told(value) for value in self.values),
            *self.dominance_sentences(),
        ]

    def file_sentences(self) -> list[str]:
        """Return what holds for the file as a whole, in words."""
        how = "an estimated" if self.estimated else "a"
        what = (
            f"A sample of {count_of(self.n_records, 'record')}, {self.n_uniques:,} of them unique, "
            f"is matched with {how} population of {number_text(round(self.n_people))} people."
        )
        # Measured on several populations: see docs/explain/uniques-and-matching.md.
        warning = (
            "The model knows of a class only its size and its weight, and takes small classes of"
            " the population for larger than they are: trust DIS rather, or give the population."
        )
        return [what, *self.file.sentences(), *([warning] if self.estimated else [])]

    def dominance_sentences(self) -> list[str]:
        """Return which strategies are never worse than others, always and here, in words."""
        lines: list[str] = []
        pairs = [line for line in self.dominance if line.measure is Measure.PR_CM]
        named = {value.name: value.strategy for value in self.values}
        always = [
            f"{line.higher} over {line.lower}"
            for line in pairs
            if line.proved and not _is_same(named[line.higher], named[line.lower])
        ]
        if always:
            lines.append(
                f"By probability these are never worse, on any table: {'; '.join(always)}."
            )
        here = [
            value.name
            for value in self.values
            if value.feasible
            and sum(line.higher == value.name for line in pairs)
            == sum(other.feasible for other in self.values) - 1
        ]
        if here:
            lines.append(f"Here no strategy is more probable than: {', '.join(here)}.")
        return lines

    def plot(self) -> Figure:
        """Plot probability against both costs, on logarithmic axes, one point per strategy."""
        from gamekeeper.attack.simulation.simulation_plots import plot_costs

        return plot_costs(
            {
                value.name: {part: [float(getattr(value, part))] for part in _PARTS}
                for value in self.values
                if value.feasible
            }
        )


def told(value: StrategyValue) -> str:
    """Return a strategy and what it achieves as a sentence."""
    strategy = value.strategy
    if strategy.number:
        name = f"Strategy {strategy.name}"
        if strategy.direction is Direction.S2P:
            does = f"pick {_target(strategy)} at random and search the population for its match"
        elif strategy.number == 2:
            does = "take anyone in the population and look for a match in the sample"
        else:
            does = f"search the population for anyone who matches {_target(strategy)}"
    else:
        name = f"Strategy {quoted([strategy.words])}"
        does = f"match from {strategy.direction.words}"
    if not value.feasible:
        return f"{name}, {does}: there is no target."
    return (
        f"{name}, {does}: correct with probability {three_digits(value.pr_cm)}, after a search of "
        f"{people_text(value.cost_without)} on average ({people_text(value.cost_with)} if anybody "
        "may be met again)."
    )


def _target(strategy: Strategy) -> str:
    """Return the records that a strategy of the thesis is after."""
    if strategy.number < 4:
        return "any sample record"
    return "a sample unique" if strategy.r == 1 else f"a record of a class of {strategy.r}"


def _is_same(one: Strategy, other: Strategy) -> bool:
    """Tell whether two numbered strategies are one under two names, as 4 and 6 with r = 1."""
    return one.r >= 1 and (one.r, one.direction) == (other.r, other.direction)


def file_lines(
    measures: Mapping[str, Fraction | float | None], *, estimated: bool
) -> tuple[RiskLine, ...]:
    """Return the measures of the file with what they mean."""
    lines: list[RiskLine] = []
    for name, value in measures.items():
        if value is None:
            named = _MEANINGS[name].split(":")[0]
            # An estimate of Pr(PU) is made from sample uniques, as all but DIS are.
            is_by_uniques = estimated and name == "pr_pu"
            why = _NO_UNIQUE if is_by_uniques else _ABSENT.get(name, _NO_UNIQUE)
            lines.append(RiskLine(name, None, f"{named} is not known: {why}."))
            continue
        said = _MEANINGS[name].format(share=share_text(value), value=three_digits(value))
        model = " (estimated by a model)" if estimated and name != "dis" else ""
        lines.append(RiskLine(name, value, f"{said}{model}."))
    return tuple(lines)
