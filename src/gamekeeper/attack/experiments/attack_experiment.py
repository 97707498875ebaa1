"""What attacks by measures achieve over sampling fractions, and at what cost, tried on the population.

Beside the two plain strategies of matching sample uniques, each measure has the ten sample uniques
that it ranks first looked for in the population. A measure that says of every key how many people
have it can also match the cost of the search for any sample unique (MCMCMC1, MCMCMC2). Smith's
thesis, chapter 7. Costs are the people searched on average where anybody may be met again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.uniques.strategies import Direction, matching_probabilities
from gamekeeper.arrow import pa, table_of
from gamekeeper.attack.experiments import scores
from gamekeeper.attack.experiments.harness import TOP, Sample, range_text
from gamekeeper.results import EVERYTHING, Cell, Listing, Provenance, Result, make_listing
from gamekeeper.wording import at_start, count_of, fraction_text, fractions_text, people_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAIN = ("pr_cm_given_um", "pr_cm_given_su", "pr_pu_given_su", "dis")
"""What needs no measure: two strategies, and two numbers to hold beside them."""
BY_MEASURE = ("top10", "mcmcmc1", "mcmcmc2")
ATTACKS = (*PLAIN, *BY_MEASURE)


def plain_attacks(sample: Sample) -> dict[str, scores.AttackValue]:
    """Return what the strategies without a measure achieve, and what DIS says of the first.

    An attack without a target is left out, and DIS where it is not defined.
    """
    found: dict[str, scores.AttackValue] = {}
    alone = sample.class_counts == 1
    for name, direction in (("pr_cm_given_um", Direction.P2S), ("pr_cm_given_su", Direction.S2P)):
        value = _evaluated(sample, alone, direction)
        if value is not None:
            found[name] = value
    if len(sample.seen.uniques):
        shares = matching_probabilities(sample.population.sizes, sample.class_counts, exact=False)
        found["pr_pu_given_su"] = scores.AttackValue(float(shares.pr_pu_given_su))
    if sample.seen.dis is not None:
        found["dis"] = scores.AttackValue(float(sample.seen.dis))
    return found


def top_attack(
    values: NDArray[np.float64], population_sizes: NDArray[np.int64], n_people: int
) -> scores.AttackValue | None:
    """Return what looking for the ten sample uniques of the highest score achieves.

    Where several have the score of the tenth, the mean over all choices among them. Every sample
    unique has its score and its true class size F; `n_people` is the size of the population.

    Examples
    --------
    >>> scores, sizes = np.array([3.0] * 9 + [2.0, 2.0]), np.array([1] * 9 + [1, 2])
    >>> top_attack(scores, sizes, 1000).pr_cm
    0.975
    """
    if not len(values):
        return None
    n_taken = min(TOP, len(values))
    least = np.sort(values)[-n_taken]
    chances, surely, tied = 1 / population_sizes, values > least, values == least
    left = n_taken - int(np.count_nonzero(surely))
    total = float(chances[surely].sum()) + left * float(chances[tied].mean())
    pr_cm = total / n_taken
    return scores.AttackValue(pr_cm, n_people * pr_cm, float(n_taken))


def matched_attacks(sample: Sample, told: scores.RecordEstimates) -> dict[str, scores.AttackValue]:
    """Return the attacks that cost as much as the search for any sample unique.

    Keys are taken in order of their expected size, until as many people have them in truth
    (`mcmcmc1`) or are expected to (`mcmcmc2`) as have the key of a sample unique.
    """
    chosen = sample.ranked_classes(sample.classes, told.match, told.expected_size)
    found = {
        name: _evaluated(sample, chosen[name], Direction.P2S) for name in ("mcmcmc1", "mcmcmc2")
    }
    return {name: value for name, value in found.items() if value is not None}


def _evaluated(
    sample: Sample, cells: NDArray[np.bool_], direction: Direction
) -> scores.AttackValue | None:
    value = sample.attacked(cells, direction)
    if not value.feasible:
        return None
    return scores.AttackValue(float(value.pr_cm), float(value.cost_with), float(value.n_cells))


_WORDS = {
    "pr_cm_given_um": "Pr(CM|UM)",
    "pr_cm_given_su": "Pr(CM|SU)",
    "pr_pu_given_su": "Pr(PU|SU)",
    "dis": "DIS",
    "top10": "first ten by {}",
    "mcmcmc1": "MCMCMC1 by {}",
    "mcmcmc2": "MCMCMC2 by {}",
}

_SEARCHES = {
    "pr_cm_given_um": "To meet people until one matches a sample unique, Pr(CM|UM)",
    "pr_cm_given_su": "To draw a sample unique by lot and look for that person, Pr(CM|SU)",
}


def attack_words(attack: str, measure: str = "") -> str:
    """Return the name of an attack for reading.

    Examples
    --------
    >>> attack_words("top10", "dis_is"), attack_words("dis")
    ('first ten by DIS-IS', 'DIS')
    """
    return _WORDS[attack].format(scores.in_words(measure))


@dataclass(frozen=True, slots=True)
class AttackLine:
    """An attack over the samples of one fraction in which it has a target: means, and least and most.

    - `cost`: the people searched on average; None for what is no search.
    """

    attack: str
    measure: str
    fraction: Fraction
    samples: int
    pr_cm: float
    least: float
    most: float
    cost: float | None
    keys: float | None


@dataclass(frozen=True, repr=False, eq=False)
class AttackExperiment(Result):
    """How often attacks are right, and what they cost, over sampling fractions.

    Every sample has its fraction at its place in `steps`. Fractions of the usual range whose samples
    were too large to be drawn unasked are told (`too_large`).
    """

    tells_of_records = False

    n_records: int
    measures: tuple[str, ...]
    steps: tuple[Fraction, ...]
    samples: tuple[scores.ScoredSample, ...]
    too_large: tuple[Fraction, ...]
    provenance: Provenance

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        """The sampling fractions, ascending."""
        return tuple(sorted(set(self.steps)))

    @property
    def series(self) -> tuple[tuple[str, str], ...]:
        """The attacks with their measures that had a target in some sample."""
        asked = [(attack, "") for attack in PLAIN]
        asked += [(attack, measure) for attack in BY_MEASURE for measure in self.measures]
        return tuple(one for one in asked if any(one in s.attacks for s in self.samples))

    def at(self, fraction: Fraction) -> tuple[scores.ScoredSample, ...]:
        """Return the samples of one fraction."""
        each = zip(self.steps, self.samples, strict=True)
        return tuple(sample for step, sample in each if step == fraction)

    def line(self, attack: str, measure: str, fraction: Fraction) -> AttackLine | None:
        """Return an attack at one fraction; None where it had no target in any sample."""
        values = [
            sample.attacks[attack, measure]
            for sample in self.at(fraction)
            if (attack, measure) in sample.attacks
        ]
        if not values:
            return None
        chances = [value.pr_cm for value in values]
        return AttackLine(
            attack,
            measure,
            fraction,
            len(values),
            math.fsum(chances) / len(chances),
            min(chances),
            max(chances),
            _mean([value.cost for value in values if value.cost is not None]),
            _mean([value.keys for value in values if value.keys is not None]),
        )

    def lines(self) -> tuple[AttackLine, ...]:
        """Return every attack at every fraction at which it had a target."""
        found = [
            self.line(attack, measure, fraction)
            for fraction in self.fractions
            for attack, measure in self.series
        ]
        return tuple(line for line in found if line is not None)

    def curve(self, attack: str, measure: str = "", part: str = "pr_cm") -> list[float | None]:
        """Return the `pr_cm`, `cost` or `keys` of an attack, by fraction."""
        lines = [self.line(attack, measure, fraction) for fraction in self.fractions]
        return [None if line is None else getattr(line, part) for line in lines]

    def left_out(self) -> list[tuple[str, tuple[Fraction, ...]]]:
        """Return the measures that refused the work on some samples, and their fractions."""
        found: list[tuple[str, tuple[Fraction, ...]]] = []
        for measure in self.measures:
            each = zip(self.steps, self.samples, strict=True)
            steps = {step for step, sample in each if measure not in sample.seconds}
            if steps:
                found.append((measure, tuple(sorted(steps))))
        return found

    def seconds(self, measure: str, fraction: Fraction) -> list[float]:
        """Return the seconds that a measure took on each sample of a fraction."""
        return [s.seconds[measure] for s in self.at(fraction) if measure in s.seconds]

    def timings(self) -> Listing:
        """Return the seconds of every measure per sample by fraction: mean, least and most."""
        rows: list[tuple[Cell, ...]] = []
        for fraction in self.fractions:
            for measure in self.measures:
                taken = self.seconds(measure, fraction)
                mean = _mean(taken)
                if mean is not None:
                    words = fraction_text(fraction)
                    rows.append((words, scores.in_words(measure), mean, min(taken), max(taken)))
        columns = ("fraction", "measure", "seconds", "least", "most")
        return make_listing("seconds per sample", columns, rows, EVERYTHING)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        found: dict[str, Any] = {
            "records": self.n_records,
            "samples": len(self.samples),
            "fractions": range_text(self.fractions),
        }
        for (attack, measure), mean in self._firsts().items():
            found[attack_words(attack, measure)] = mean
        return found

    def to_arrow(self) -> pa.Table:
        """Return one line per fraction and attack; means over samples."""
        return table_of(
            self.lines(),
            {
                "fraction": ("float64", lambda line: float(line.fraction)),
                "attack": ("string", lambda line: line.attack),
                "measure": ("string", lambda line: line.measure or None),
                "samples": ("int64", lambda line: line.samples),
                "pr_cm": ("float64", lambda line: line.pr_cm),
                "pr_cm_least": ("float64", lambda line: line.least),
                "pr_cm_most": ("float64", lambda line: line.most),
                "cost": ("float64", lambda line: line.cost),
                "keys": ("float64", lambda line: line.keys),
            },
        )

    @property
    def best(self) -> tuple[str, float] | None:
        """The measure whose first ten are right most often, the first of equals, and how often.

        The mean over the fractions at which all measures have a value; None where there is none.
        """
        known = {
            measure: mean for (attack, measure), mean in self._firsts().items() if attack == "top10"
        }
        return max(known.items(), key=lambda one: one[1]) if known else None

    @property
    def headline(self) -> str:
        """What was found, in one sentence."""
        if self.best is None:
            return "No sample had a unique that could be attacked by all measures."
        measure, mean = self.best
        lots = self._firsts()["pr_cm_given_su", ""]
        return (
            f"An intruder who looks for the ten sample uniques that {scores.in_words(measure)} ranks first"
            f" is right with probability {mean:.3f} on average over samples of {range_text(self.fractions)}; one"
            f" who draws a sample unique by lot, with {lots:.3f}."
        )

    def sentences(self) -> list[str]:
        """Return what was found, in words."""
        n_samples = count_of(len(self.samples), "sample")
        told = (
            f"{n_samples} of {range_text(self.fractions)} {'was' if len(self.samples) == 1 else 'were'} attacked"
            " by looking for sample uniques in the population: any of them, one drawn by lot, or"
            " the ten that a measure ranks first."
        )
        if not self.series:
            return [told, "No sample had a unique."]
        lines = [
            told,
            *(
                f"{words}: {self._told(attack)}."
                for attack, words in _SEARCHES.items()
                if (attack, "") in self.series
            ),
        ]
        firsts = [
            f"{_mean(known):.3f} by {scores.in_words(measure)} ({min(known):.3f} to {max(known):.3f})"
            for measure in self.measures
            if (known := _known(self.curve("top10", measure)))
        ]
        if firsts:
            lines.append(
                f"To look for the first ten: right with probability {', '.join(firsts)}; means over"
                " fractions, least and most."
            )
        means = self._means(("pr_cm_given_um", "mcmcmc1", "mcmcmc2"))
        matched = [
            f"{means['mcmcmc1', measure]:.3f} and {means['mcmcmc2', measure]:.3f} by"
            f" {scores.in_words(measure)}"
            for measure in self.measures
            if ("mcmcmc1", measure) in means and ("mcmcmc2", measure) in means
        ]
        if matched:
            lines.append(
                "To meet people until one matches a key of small expected size, with as many keys"
                f" as make it cost what Pr(CM|UM) costs, in truth (MCMCMC1) and as expected"
                f" (MCMCMC2): right with probability {'; '.join(matched)}; Pr(CM|UM) itself is"
                f" {means['pr_cm_given_um', '']:.3f}, all on average."
            )
        gaps = [
            abs(sample.attacks["dis", ""].pr_cm - sample.attacks["pr_cm_given_um", ""].pr_cm)
            for sample in self.samples
            if {("dis", ""), ("pr_cm_given_um", "")} <= sample.attacks.keys()
        ]
        if gaps:
            lines.append(f"DIS was off Pr(CM|UM) by {_mean(gaps):.4f} on average.")
        return lines

    def notices(self) -> list[str]:
        """Return what was left out, and how far to trust a point."""
        lines = [
            f"{at_start(scores.in_words(measure))} is not shown at {fractions_text(steps)}: it refused such"
            " large samples."
            for measure, steps in self.left_out()
        ]
        if self.too_large:
            lines.append(
                f"Samples of {fractions_text(self.too_large)} were not attacked: they would take long."
                " Name the fractions of attacks to have them."
            )
        if any(len(self.at(step)) == 1 for step in self.fractions):
            lines.append("One sample of a fraction is one draw: single points jump about the mean.")
        return lines

    def _told(self, attack: str) -> str:
        known = [line for step in self.fractions if (line := self.line(attack, "", step))]
        return ", and ".join(
            f"right with probability {line.pr_cm:.3f} after {people_text(line.cost or 0.0)} at"
            f" {fraction_text(line.fraction)}"
            for line in dict.fromkeys((known[0], known[-1]))
        )

    def _firsts(self) -> dict[tuple[str, str], float]:
        return self._means(("pr_cm_given_su", "top10"))

    def _means(self, attacks: Sequence[str]) -> dict[tuple[str, str], float]:
        curves = {one: self.curve(*one) for one in self.series if one[0] in attacks}
        rows = [row for row in zip(*curves.values(), strict=True) if None not in row]
        columns = [_mean(column) for column in zip(*rows, strict=True)]
        return {one: mean for one, mean in zip(curves, columns, strict=False) if mean is not None}

    def plot(self) -> Figure:
        """Plot the probability of a correct match of the first ten by each measure."""
        from gamekeeper.attack.experiments.plots import plot_attacks

        return plot_attacks(self, [*PLAIN, "top10"])

    def plot_matched(self) -> Figure | None:
        """Plot that of attacks at equal cost; None where no measure speaks of all keys."""
        from gamekeeper.attack.experiments.plots import plot_attacks

        if not any(attack in ("mcmcmc1", "mcmcmc2") for attack, _ in self.series):
            return None
        return plot_attacks(self, ["pr_cm_given_um", "pr_cm_given_su", "mcmcmc1", "mcmcmc2"])

    def plot_costs(self) -> Figure:
        """Plot the people searched on average, by where the search begins."""
        from gamekeeper.attack.experiments.plots import plot_attack_costs

        return plot_attack_costs(self)

    def plot_seconds(self) -> Figure:
        """Plot the time of every measure."""
        from gamekeeper.attack.experiments.plots import plot_attack_seconds

        return plot_attack_seconds(self)


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float | None]) -> float | None:
    known = _known(values)
    return math.fsum(known) / len(known) if known else None
