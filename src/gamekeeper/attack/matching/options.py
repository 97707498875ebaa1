"""What may be asked of matching strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from gamekeeper.attack.models.options import FitMethod, Patient
from gamekeeper.attack.shared_options import Seed, Workers
from gamekeeper.options import Option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamekeeper.algorithms.intrusion.strategies import Predicate
    from gamekeeper.attack.models.inference import ModelRisk
    from gamekeeper.data.keys.key_table import KeyTable
    from gamekeeper.results import Progress

NUMBERS = (1, 2, 3, 4, 5, 6, 7)
"""The strategies of the thesis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingOptions:
    """What may be asked of matching strategies.

    Attributes
    ----------
    population
        The keys of everybody, counted alike; or the number of people F in each class of
        `key_table.classes()`, in that order; or None, to have models infer it.
    population_size
        The number N of people, needed with a list of F.
    models
        What models inferred of the same keys, without a population; they are fitted and asked here
        where it is not given.
    strategies
        Which of the strategies 1 to 7.
    predicates
        Strategies of your own by name: `predicate(f, F)` tells for arrays of sample and
        population counts which classes are used; each is tried in both directions. With a list of
        F, people of classes without a record are one more class with f = 0; with models F is
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
    models: ModelRisk | None = None
    strategies: Sequence[int] = NUMBERS
    predicates: Mapping[str, Predicate] | None = None
    exact: bool | None = None
    method: Annotated[
        FitMethod | str,
        Option(
            "How models are searched where no population is given. annealing: the best model,"
            " fastest. mc3: Markov chains, averaged. occam: all models nearly as good as the best."
        ),
    ] = FitMethod.ANNEALING
    patient: Patient = False
    seed: Seed = 0
    workers: Workers = None
    progress: Progress | None = None
