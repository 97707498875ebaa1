"""Attacks on the keys that models rank first: how good they are, and what they cost.

The thesis takes the ten keys with the highest probability of a match; or, to match the cost of a
search for any sample unique, keys in order of their expected population size until so many people
are expected (MCMCMC2), or in truth (MCMCMC1), to have them. Smith's thesis, chapter 7.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.intrusion.ranked_cells import choose_cells
from gamekeeper.algorithms.intrusion.strategies import (
    Direction,
    StrategyValue,
    custom_strategies,
    evaluate_strategies,
)
from gamekeeper.attack.matching.population import MatchedClasses, match_classes
from gamekeeper.attack.models.inference import ModelRisk, require_same_keys
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Provenance, Result, arrow_table
from gamekeeper.wording import count_of, number_text, three_digits

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from gamekeeper.data.keys.key_table import KeyTable

_WORDS = {
    "top": "The {top} keys with the highest probability of a match",
    "mcmcmc1": "Keys by expected size, at the true cost of a search for any unique (MCMCMC1)",
    "mcmcmc2": "Keys by expected size, at the expected cost of that search (MCMCMC2)",
}


@dataclass(frozen=True, repr=False, eq=False)
class RankedAttack(Result):
    """What attacks on the keys that rank first achieve, with the population known."""

    tells_of_records = False

    values: tuple[StrategyValue, ...]
    n_people: int
    provenance: Provenance

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers."""
        best = max(self.values, key=lambda value: value.pr_cm)
        return {
            "attacks": len(self.values),
            "people": self.n_people,
            "best": best.strategy.words,
            "pr_cm": float(best.pr_cm),
        }

    def to_arrow(self) -> pa.Table:
        """Return one row per attack and direction."""
        parts = ("pr_cm", "cost_with", "cost_without")
        columns = {"attack": "string", "direction": "string", "keys": "int64"}
        rows = [
            (
                value.strategy.words,
                value.direction.words,
                value.n_cells,
                *(float(getattr(value, part)) for part in parts),
            )
            for value in self.values
        ]
        return arrow_table({**columns, **dict.fromkeys(parts, "float64")}, rows)

    def sentences(self) -> list[str]:
        """Return what each attack achieves, in words."""
        return [
            f"{value.strategy.words}, {value.direction.words}, {count_of(value.n_cells, 'key')}:"
            f" right with probability {three_digits(value.pr_cm)}, after a search of"
            f" {number_text(round(float(value.cost_with), 1))} people."
            if value.feasible
            else f"{value.strategy.words}, {value.direction.words}: no key can be attacked."
            for value in self.values
        ]


def rank_attacks(
    risk: ModelRisk, key_table: KeyTable, population: KeyTable, *, top: int = 10
) -> RankedAttack:
    """Evaluate attacks on the keys that models rank first, against the known population.

    The key table is the one that the risk was inferred for; the population has the keys of everybody,
    counted alike. The first attack takes the `top` keys.

    Examples
    --------
    >>> from gamekeeper.attack.models.fitting import fit_models
    >>> from gamekeeper.attack.models.inference import infer_risk
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> from gamekeeper.data.keys.counting import count_keys
    >>> people = [[1, 1]] * 9 + [[1, 2], [2, 2], [2, 2]] + [[2, 1]]
    >>> everybody = count_keys(coded_from_codes(people, ["age", "job"]), ["age", "job"])
    >>> keys = count_keys(coded_from_codes(people[::2], ["age", "job"]), ["age", "job"])
    >>> risk = infer_risk(keys, fit_models(keys, method="annealing"), fraction="1/2")
    >>> len(rank_attacks(risk, keys, everybody, top=1).values)
    6
    """
    started = time.perf_counter()
    if top < 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"An attack on the {top} first keys was asked for.",
            "That is less than one.",
            "Give a positive whole number.",
        )
    require_same_keys(key_table, risk.fit)
    matched = match_classes(key_table, population)
    f, people = matched.sample, matched.population
    chosen = _chosen(risk, matched, top)
    values: list[StrategyValue] = []
    for name, cells in chosen.items():
        taking = custom_strategies({name: lambda f, people, cells=cells: cells})
        found = evaluate_strategies(people, f, taking, exact=False)
        values += sorted(found, key=lambda value: value.direction is Direction.S2P)
    provenance = replace(
        risk.provenance,
        method="ranked attacks",
        parameters={**risk.provenance.parameters, "top": str(top)},
        seconds=time.perf_counter() - started,
    )
    return RankedAttack(tuple(values), int(people.sum()), provenance)


def _chosen(risk: ModelRisk, matched: MatchedClasses, top: int) -> Mapping[str, NDArray[np.bool_]]:
    """Return the keys that each attack takes."""
    n_classes = len(matched.sample)
    table = risk.records.table
    counted = table["class_size"].is_valid().to_numpy(zero_copy_only=False)
    chance, expected = np.zeros(n_classes), np.full(n_classes, np.inf)
    for name, into in (("p_match", chance), ("expected_size", expected)):
        into[matched.of_record] = table[name].to_numpy(zero_copy_only=False)[counted]
    cells = choose_cells(chance, expected, matched.sample, matched.population, top=top)
    return {_WORDS[way].format(top=top): taken for way, taken in cells.items()}
