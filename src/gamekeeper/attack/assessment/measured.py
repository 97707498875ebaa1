"""Everything that is measured of the keys of a file in one go: uniques, models, matching, households.

What cannot be measured of a file is None, with the reason in words beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gamekeeper.algorithms.anonymity.households import household_risk
from gamekeeper.attack.assessment.chances import (
    Basis,
    MatchChances,
    bounded_chances,
    counted_chances,
    modelled_chances,
)
from gamekeeper.attack.assessment.options import MeasureOptions
from gamekeeper.attack.matching.result import MatchingRisk
from gamekeeper.attack.matching.strategies import assess_matching
from gamekeeper.attack.measures.per_record import household_codes
from gamekeeper.attack.models.fitting import fit_models, why_no_models
from gamekeeper.attack.models.inference import ModelRisk, infer_risk
from gamekeeper.attack.models.levels import RelativeRisk, variables_risk
from gamekeeper.attack.risk_classes import RiskClasses
from gamekeeper.attack.uniques.suda import UniquesRisk, assess_uniques
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.options import takes

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLASSES = RiskClasses({"very high": 0.5, "high": 0.2, "medium": 0.05}, measure="p_match")
"""The classes of the probability of a right match; no authority has set these thresholds."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Measured:
    """What was measured of a file.

    Attributes
    ----------
    keys, uniques
        Its classes of records that look alike, and what sets its uniques apart.
    chances
        What a match is worth, record by record and for the file.
    models, variables
        What models infer, and what each variable adds by them; None where there are none.
    matching, why_no_matching
        What an intruder's search achieves and costs, or why that is not known.
    household, household_chances
        The variable that tells households, and of each counted record the probability that a member
        of its household is matched rightly (its bound, where there is no estimate).
    """

    keys: KeyTable
    uniques: UniquesRisk
    chances: MatchChances
    models: ModelRisk | None
    variables: RelativeRisk | None
    matching: MatchingRisk | None
    why_no_matching: str
    household: str
    household_chances: NDArray[np.float64] | None
    classes: RiskClasses = CLASSES

    def class_counts(self) -> dict[str, int]:
        """Return how many counted records are in each class, the highest first."""
        found = self.classes.classify(self.chances.ranking)
        counts = np.bincount(found, self.chances.counts, minlength=len(self.classes.names))
        return {name: int(n) for name, n in zip(self.classes.names, counts, strict=True)}

    def sensitive_shares(self) -> dict[str, float]:
        """Return, by sensitive variable, the share of records whose class has at most one value."""
        return {
            name: (by_values.get(0, 0) + by_values.get(1, 0)) / self.keys.n_records
            for name, by_values in self.keys.diversity.items()
        }


def modelled_bytes(n_records: int, n_keys: int) -> int:
    """Return the bytes that an assessment with models takes at least.

    Measured with half a million and two million records.
    """
    return n_records * (419 + 4 * n_keys)


@takes(MeasureOptions)
def measure_file(key_table: KeyTable, asked: MeasureOptions) -> Measured:
    """Measure the risk of a file on its keys.

    Models are fitted by annealing unless another method is asked for: it is the quickest, and what
    is known of how far estimates can be trusted was measured with it (docs/explain/models.md).
    """
    uniques = assess_uniques(
        key_table, max_size=asked.max_size, max_seconds=asked.max_seconds, workers=asked.workers,
        progress=asked.progress,
    )  # fmt: skip
    why = why_no_models(key_table)
    models = variables = None
    if key_table.fraction == 1 and key_table.missing in (Missing.CATEGORY, Missing.EXCLUDE):
        chances = counted_chances(key_table)
    elif why:
        chances = bounded_chances(key_table, why)
    else:
        fit = fit_models(
            key_table, method=asked.method, patient=asked.patient, seed=asked.seed, workers=asked.workers,
            progress=asked.progress,
        )  # fmt: skip
        models = infer_risk(key_table, fit, household=asked.household, seed=asked.seed)
        chances = modelled_chances(key_table, models)
        variables = variables_risk(models, progress=asked.progress) if len(fit.keys) > 1 else None
    # Whatever is known of match chances tells what a search achieves, and nothing else does.
    why_no_matching = chances.why if chances.basis is Basis.BOUND else ""
    homes = None
    if asked.household:
        homes = household_codes(key_table.listed, asked.household)[key_table.records]
    return Measured(
        key_table,
        uniques,
        chances,
        models,
        variables,
        None if why_no_matching else assess_matching(key_table, models=models),
        why_no_matching,
        asked.household,
        None if homes is None else household_risk(chances.ranking, homes),
    )
