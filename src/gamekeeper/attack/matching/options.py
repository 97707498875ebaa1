"""What may be asked of matching strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from gamekeeper.options import Option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamekeeper.algorithms.intrusion.strategies import Predicate
    from gamekeeper.data.keys.key_table import KeyTable

NUMBERS = (1, 2, 3, 4, 5, 6, 7)
"""The strategies of the thesis."""


class Estimate(StrEnum):
    """From what the population is estimated."""

    WEIGHTS = "weights"
    FRACTION = "fraction"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingOptions:
    """What may be asked of matching strategies.

    Attributes
    ----------
    population
        The keys of everybody, counted alike; or the number of people F in each class of
        `key_table.classes()`, in that order; or None, to estimate it.
    population_size
        The number N of people, needed with a list of F. Estimates take it from the weights or
        the sampling fraction where it is not given.
    estimate
        `weights` or `fraction`; by default whichever the key table has, weights first.
    strategies
        Which of the strategies 1 to 7.
    predicates
        Strategies of your own by name: `predicate(f, F)` tells for arrays of sample and
        population counts which classes are used; each is tried in both directions. With a list of
        F, people of classes without a record are one more class with f = 0; with an estimate F is
        the expected count of sampled classes.
    exact
        Exact fractions or floats, where the population is known; by default fractions up to
        10,000 classes.
    """

    r: Annotated[
        Sequence[int],
        Option(
            "Sample class size of strategies 6 and 7; by default 2 and 3.", flags="--r", least=1
        ),
    ] = (2, 3)
    population: KeyTable | Sequence[int] | NDArray[Any] | None = None
    population_size: int | None = None
    estimate: Estimate | str | None = None
    strategies: Sequence[int] = NUMBERS
    predicates: Mapping[str, Predicate] | None = None
    exact: bool | None = None
