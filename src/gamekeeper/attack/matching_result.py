"""What matching strategies achieve: as a table, in words, as a plot of chance against cost."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gamekeeper.algorithms.models.rate_mixture import Measure as Estimated
from gamekeeper.algorithms.uniques import strategies
from gamekeeper.arrow import arrow_table, pa
from gamekeeper.attack.models.inference import ModelRisk, measure_text
from gamekeeper.attack.risk import FileRisk, RiskLine
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import EVERYTHING, Listing, Provenance, Result, make_listing
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
    from matplotlib.figure import Figure

_PARTS = ("pr_cm", "cost_without", "cost_with", "eff_without", "eff_with")
_MEANINGS = {
    "pr_pu": "Pr(PU): {value} of the population have a key that nobody else has",
    "pr_pu_given_su": "Pr(PU|SU): {value} of the sample uniques are unique in the population",
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

    - `estimated`: whether the population is not known, so that models of the sample infer it.
    - `values`: what each strategy achieves; all zero where it has no target.
    - `dominance`: which strategy is at least another here, and whether that holds on every table.
    - `file`: Pr(PU), Pr(PU|SU), Pr(CM|UM), Pr(CM|SU) and DIS.
    - `why_not_known`: why neither the population nor models tell what a match is worth, in words;
      empty where one does. No value is a number then, and of the file there is DIS alone.
    - `reservations`: what changes how far the estimates of models can be used, in words.
    """

    tells_of_records = False

    n_records: int
    n_people: int | float
    n_uniques: int
    estimated: bool
    values: tuple[strategies.StrategyValue, ...]
    dominance: tuple[strategies.Dominance, ...]
    file: FileRisk
    provenance: Provenance
    why_not_known: str = ""
    reservations: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> strategies.StrategyValue:
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
            "feasible": "not known" if self.why_not_known else len(feasible),
            **_best(best, self.why_not_known),
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
                *((None, None) if self.why_not_known else (value.feasible, value.n_cells)),
                *(float(getattr(value, part)) if value.feasible else None for part in _PARTS),
                told(value, self.why_not_known),
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
            *(told(value, self.why_not_known) for value in self.values),
            *self.dominance_sentences(),
        ]

    def file_sentences(self) -> list[str]:
        """Return what holds for the file as a whole, in words."""
        sample = (
            f"A sample of {count_of(self.n_records, 'record')}, {self.n_uniques:,} of them unique,"
        )
        people = f"{number_text(round(self.n_people))} people"
        if self.why_not_known:
            return [
                f"What matching would achieve is not known, because {self.why_not_known}.",
                f"{sample} was to be matched with a population of {people}: give it (--population).",
                *self.file.sentences(),
            ]
        how = ", whose keys models of the sample infer" if self.estimated else ""
        return [
            f"{sample} is matched with a population of {people}{how}.",
            *self.file.sentences(),
            *self.reservations,
        ]

    def dominance_sentences(self) -> list[str]:
        """Return which strategies are never worse than others, always and here, in words."""
        lines: list[str] = []
        pairs = [line for line in self.dominance if line.measure is strategies.Measure.PR_CM]
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
        if self.why_not_known:
            raise InputError(
                Reason.BAD_OPTION,
                "A plot of matching strategies was asked for.",
                f"There is nothing to draw: it is not known what they would achieve, because"
                f" {self.why_not_known}.",
                "Give the population (--population).",
            )
        from gamekeeper.attack.experiments.plots import plot_costs

        return plot_costs(
            {
                value.name: {part: [float(getattr(value, part))] for part in _PARTS}
                for value in self.values
                if value.feasible
            }
        )


def _best(best: strategies.StrategyValue | None, why_not_known: str) -> dict[str, Any]:
    if why_not_known:
        return dict.fromkeys(("most_probable", "pr_cm", "cost_without"), "not known")
    return {
        "most_probable": best.name if best else "none",
        "pr_cm": float(best.pr_cm) if best else 0.0,
        "cost_without": float(best.cost_without) if best else 0.0,
    }


def told(value: strategies.StrategyValue, why_not_known: str = "") -> str:
    """Return a strategy and what it achieves as a sentence."""
    strategy = value.strategy
    if strategy.number:
        name = f"Strategy {strategy.name}"
        if strategy.direction is strategies.Direction.S2P:
            does = f"pick {_target(strategy)} at random and search the population for its match"
        elif strategy.number == 2:
            does = "take anyone in the population and look for a match in the sample"
        else:
            does = f"search the population for anyone who matches {_target(strategy)}"
    else:
        name = f"Strategy {quoted([strategy.words])}"
        does = f"match from {strategy.direction.words}"
    if why_not_known:
        return f"{name}, {does}: not known, because {why_not_known}."
    if not value.feasible:
        return f"{name}, {does}: there is no target."
    return (
        f"{name}, {does}: correct with probability {three_digits(value.pr_cm)}, after a search of "
        f"{people_text(value.cost_without)} on average ({people_text(value.cost_with)} if anybody "
        "may be met again)."
    )


def _target(strategy: strategies.Strategy) -> str:
    if strategy.number < 4:
        return "any sample record"
    return "a sample unique" if strategy.r == 1 else f"a record of a class of {strategy.r}"


def _is_same(one: strategies.Strategy, other: strategies.Strategy) -> bool:
    """Tell whether two numbered strategies are one under two names, as 4 and 6 with r = 1."""
    return one.r >= 1 and (one.r, one.direction) == (other.r, other.direction)


def known_lines(
    found: strategies.MatchingProbabilities, *, whole: bool, has_uniques: bool
) -> tuple[RiskLine, ...]:
    """Return the measures of a file whose population, or its sampled classes alone, is known."""
    measures = {
        "pr_pu": found.pr_pu if whole else None,
        "pr_pu_given_su": found.pr_pu_given_su if has_uniques else None,
        "pr_cm_given_um": found.pr_cm_given_um if has_uniques else None,
        "pr_cm_given_su": found.pr_cm_given_su if has_uniques else None,
    }
    return tuple(
        _line(name, value, "" if value is None else _shown(name, value))
        for name, value in measures.items()
    )


def modelled_lines(risk: ModelRisk) -> tuple[RiskLine, ...]:
    """Return the measures of a file as its models expect them, with what they mean."""
    file = risk.estimate.file
    if not file.n_uniques:
        names = ("pr_pu_given_su", "pr_cm_given_um", "pr_cm_given_su")
        return tuple(_line(name, None, "") for name in names)
    by_cell = risk.fractions
    shares = float(risk.fraction) if by_cell is None else by_cell.of(risk.table.rows)
    # Whoever is alone in the population is in the sample with the probability of its fraction.
    alone = float((risk.estimate.p_unique / shares).sum())
    pr_pu = min(alone * float(risk.fraction) / risk.fit.n_records, 1.0)
    given_su = Estimated(*(part / file.n_uniques for part in astuple(file.tau1)))
    model = ", as models of the sample expect it"
    return (
        _line("pr_pu", pr_pu, share_text(pr_pu), model),
        _line("pr_pu_given_su", given_su.value, measure_text(given_su, share_text), model),
        *(
            _line(name, measure.value, measure_text(measure), model)
            for name, measure in (
                ("pr_cm_given_um", file.pr_cm_given_um),
                ("pr_cm_given_su", file.pr_cm_given_su),
            )
        ),
    )


def dis_line(value: Fraction | None) -> RiskLine:
    """Return what data intrusion simulation says of the file."""
    return _line("dis", value, "" if value is None else three_digits(value))


def _shown(name: str, value: Fraction | float) -> str:
    return share_text(value) if name.startswith("pr_pu") else three_digits(value)


def _line(name: str, value: Fraction | float | None, shown: str, model: str = "") -> RiskLine:
    if value is None:
        named = _MEANINGS[name].split(":")[0]
        return RiskLine(name, None, f"{named} is not known: {_ABSENT.get(name, _NO_UNIQUE)}.")
    return RiskLine(name, value, f"{_MEANINGS[name].format(value=shown)}{model}.")
