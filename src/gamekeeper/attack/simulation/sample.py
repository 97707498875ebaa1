"""One sample of a notional population: its class sizes and, when asked for, its scores.

Class sizes are counts of the population's class numbers, so that no codes are compared again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.intrusion.dis import dis
from gamekeeper.algorithms.intrusion.ranked_cells import choose_cells
from gamekeeper.algorithms.intrusion.strategies import (
    Direction,
    Strategy,
    StrategyValue,
    evaluate_strategies,
)
from gamekeeper.algorithms.uniques.apportionment import dis_is, dis_suda
from gamekeeper.algorithms.uniques.limits import MAX_SECONDS
from gamekeeper.algorithms.uniques.scores import ScoreKind, size_weights, weigh
from gamekeeper.attack.simulation.notional import NotionalPopulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamekeeper.algorithms.uniques.minimal_uniques import MinimalUniques


class Score(StrEnum):
    """The scores of sample uniques whose relation to 1/F can be measured."""

    SUDA = "suda"
    IS = "is"
    DIS_SUDA = "dis_suda"
    DIS_IS = "dis_is"


TOP = 10
"""How many keys or sample uniques that rank first are attacked."""

PROBABILITIES = (Score.DIS_SUDA, Score.DIS_IS)
"""The scores that estimate a probability."""


@dataclass(repr=False, eq=False)
class Sample:
    """The records at some places of the population, with what is known of them and of it."""

    population: NotionalPopulation
    records: NDArray[np.int64]
    max_size: int | None = None
    max_seconds: float | None = MAX_SECONDS
    power: int = 6

    @property
    def fraction(self) -> Fraction:
        """The sampling fraction that was reached, n/N."""
        return Fraction(len(self.records), self.population.n_records)

    @cached_property
    def class_counts(self) -> NDArray[np.int64]:
        """The sample count f of every class of the population, 0 where none was drawn."""
        drawn = self.population.classes[self.records]
        return np.bincount(drawn, minlength=len(self.population.sizes))

    @cached_property
    def codes(self) -> NDArray[np.unsignedinteger]:
        """The codes of the key variables of the sampled records."""
        return self.population.codes[self.records]

    @cached_property
    def sample_sizes(self) -> NDArray[np.int64]:
        """The sample class size f of every sampled record."""
        return self.class_counts[self.population.classes[self.records]]

    @cached_property
    def population_sizes(self) -> NDArray[np.int64]:
        """The population class size F of every sampled record."""
        return self.population.sizes[self.population.classes[self.records]]

    @property
    def n_uniques(self) -> int:
        """The number of sample uniques."""
        return int(np.count_nonzero(self.class_counts == 1))

    @property
    def n_paired(self) -> int:
        """The number of records in classes of two."""
        return 2 * int(np.count_nonzero(self.class_counts == 2))

    @cached_property
    def dis(self) -> Fraction | None:
        """The DIS of the sample by the general method; None where it is not defined."""
        return dis(self.n_uniques, self.n_paired, self.fraction)

    @cached_property
    def minimal_uniques(self) -> MinimalUniques:
        """Numbers of minimal sample uniques by record and size."""
        from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques

        return find_minimal_uniques(
            self.codes,
            max_size=self.max_size,
            listing=False,
            workers=1,
            max_seconds=self.max_seconds,
        )

    def score(self, score: Score) -> NDArray[np.float64]:
        """Return a score of the sample uniques, in the order of `minimal_uniques.records`."""
        return scores_of(self.minimal_uniques, score, self.dis, power=self.power)

    def ranked_classes(
        self,
        classes: NDArray[np.int64],
        p_match: NDArray[np.float64],
        expected_size: NDArray[np.float64],
    ) -> dict[str, NDArray[np.bool_]]:
        """Return the classes of the population that attacks on those that rank first take.

        Of some sampled classes, by number, the chance of a match and the expected size are given.
        """
        chance = np.zeros(len(self.population.sizes))
        expected = np.full(len(chance), np.inf)
        chance[classes], expected[classes] = p_match, expected_size
        return choose_cells(chance, expected, self.class_counts, self.population.sizes, top=TOP)

    def attacked(self, classes: NDArray[np.bool_], direction: Direction) -> StrategyValue:
        """Return what an attack on some classes of the population achieves."""
        strategy = Strategy("attack", direction, lambda f, people: classes)
        (value,) = evaluate_strategies(
            self.population.sizes, self.class_counts, [strategy], exact=False
        )
        return value


def scores_of(
    found: MinimalUniques, score: Score, share: Fraction | float | None, *, power: int = 6
) -> NDArray[np.float64]:
    """Return a score of the sample uniques; `share` is the DIS of the sample."""
    kind = ScoreKind.SUDA if score in (Score.SUDA, Score.DIS_SUDA) else ScoreKind.IS
    weights = size_weights(found.n_variables, kind, power=power, max_size=found.max_size)
    sums = weigh(found.counts, weights)
    if score is Score.DIS_SUDA:
        return dis_suda(sums, share).values
    if score is Score.DIS_IS:
        return dis_is(sums, share, found.n_variables)
    return sums.astype(np.float64)
