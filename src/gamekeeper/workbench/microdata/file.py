"""A file of microdata that is open: its records under the key variables they are compared on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.algorithms.categories.partitions import Arbitrary
from gamekeeper.algorithms.sampling_fraction import parse_fraction
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.recode import Recode
from gamekeeper.data.keys.checks import design_problems, raise_problems
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.reading.source import Source
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.environment.scenario import Scenario
from gamekeeper.mapping.recoding.applying import Recoded
from gamekeeper.mapping.variables.category_blocks import categorization_of
from gamekeeper.mapping.variables.coarsening import coarsenings
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, quoted
from gamekeeper.workbench.requests.microdata import SampleDesign

if TYPE_CHECKING:
    import pyarrow as pa

    from gamekeeper.attack.models.options import FitOptions
    from gamekeeper.attack.what_if import WhatIf
    from gamekeeper.report.attacks.file_facts import AboutFile


NO_DESIGN = SampleDesign()


@dataclass(frozen=True)
class Microdata:
    """A file that is open: its source, its codes and the key variables they are read under."""

    source: Source
    coded: CodedTable
    keys: tuple[str, ...]
    missing: Missing = Missing.CATEGORY
    design: SampleDesign = NO_DESIGN
    sensitive: tuple[str, ...] = ()
    missing_codes: tuple[str, ...] = ()
    of_scenario: tuple[str, ...] = ()
    scenario: Scenario | None = None
    environment: Environment | None = None
    recoded: Recoded | None = None
    before: CodedTable | None = None
    """The file before it was recoded, where it was."""
    identifier: str = ""
    """The column with the user's own name of each record."""
    person: str = ""
    """The column that tells whose a record is, where one record of each person is to be counted."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What to know before anything is believed: of the scenario, of codes that may mean missing.

        And that weights were taken for strata.
        """
        told = (*self.of_scenario, *self.missing_codes)
        if self.design.weight and self.design.strata == self.design.weight:
            n_weights = self.coded.codebook[self.design.weight].n_codes - 1
            by_weight = (
                f"{quoted([self.design.weight])} has {n_weights} different weights: records of one weight"
                " are taken as a stratum, of people who were drawn with the same chance."
            )
            told = (*told, by_weight)
        return told

    def count(self, *, progress: Progress | None = None) -> KeyTable:
        """Count the keys of the file, as a sample of the design that was given."""
        return self._counted(self.coded, progress)

    def what_if(
        self, after: KeyTable, *, fit: FitOptions | None = None, progress: Progress | None = None
    ) -> WhatIf | None:
        """Compare the file with what it was before it was recoded; None where it was not."""
        if self.before is None or self.recoded is None:
            return None
        from gamekeeper.attack.what_if import compare_recoded

        before = self._counted(self.before, None)
        changes = self.recoded.changes
        return compare_recoded(before, after, changes=changes, fit=fit, progress=progress)

    def about(self, notices: Sequence[str], what_if: WhatIf | None = None) -> AboutFile:
        """Return what a report says of the file."""
        from gamekeeper.report.attacks.file_facts import AboutFile

        return AboutFile(
            self.source.name,
            self.source.settings,
            "" if self.scenario is None else self.scenario.name,
            "" if self.scenario is None else self.scenario.attacker,
            notices,
            what_if,
        )

    def with_identifiers(self, table: pa.Table) -> pa.Table:
        """Return a table of records with the user's own name of each, where one is known."""
        if not self.identifier:
            return table
        import pyarrow as pa

        variable = self.coded.codebook[self.identifier]
        values = pa.array(variable.values)
        codes = self.coded.codes_at(self.identifier, table["record"].to_numpy() - 1)
        named = values.take(pa.array(codes.astype(np.int64), mask=codes == MISSING))
        name = self.identifier
        while name in table.column_names:
            name += "_"
        return table.add_column(table.column_names.index("record") + 1, name, named)

    def _counted(self, coded: CodedTable, progress: Progress | None) -> KeyTable:
        return count_keys(
            coded,
            self.keys,
            missing=self.missing,
            weight=self.design.weight,
            strata=self.design.strata,
            fraction=fraction_of(self.design.fraction),
            sensitive=self.sensitive,
            person=self.person,
            progress=progress,
        )

    def coarser(self) -> dict[str, list[Recode]]:
        """Return, for each key variable of a scenario, coarser and coarser recodings of it."""
        if self.scenario is None or self.environment is None:
            return {}
        made: dict[str, list[Recode]] = {}
        recoded = () if self.recoded is None else self.recoded.rules
        taken = {rule.variable.casefold() for rule in recoded}
        for key in self.scenario.keys:
            if key.variable.casefold() in taken:
                # Its codes are no longer those of the scenario.
                continue
            variable = self.environment.variable(key.variable)
            categorization = categorization_of(variable, key.blocks)
            if categorization is None or isinstance(categorization, Arbitrary):
                continue
            fine = categorization.blocks()
            for step in coarsenings(variable, categorization):
                place = {
                    sink: code for code, block in enumerate(step.blocks(), 1) for sink in block
                }
                codes = np.array([0, *(place[block[0]] for block in fine)])
                words = ("missing", *variable.words(step))
                made.setdefault(key.variable, []).append(Recode(key.variable, codes, words))
        return made


def require_design(design: SampleDesign, n_keys: int) -> None:
    """Refuse a sample that cannot have been drawn as it is said, before a record is read."""
    fraction = fraction_of(design.fraction)
    problems = design_problems(weight=design.weight, strata=design.strata, fraction=fraction)
    raise_problems(problems, n_keys)
    for share in fraction.values() if isinstance(fraction, Mapping) else ():
        parse_fraction(share)


def fraction_of(text: str | Any) -> Any:
    """Return the fraction, or those of strata: '0.02', '2%', '1/50' or 'North=2%, South=5%'."""
    if not isinstance(text, str):
        return text
    if not text.strip():
        return None
    if "=" not in text:
        return text.strip()
    pairs = [part.rpartition("=") for part in text.split(",") if part.strip()]
    fractions = {name.strip(): value.strip() for name, _, value in pairs}
    n_twice = len(pairs) - len(fractions)
    if n_twice:
        raise InputError(
            Reason.DUPLICATE,
            f"Sampling fractions of {count_of(len(pairs), 'stratum', 'strata')} were given.",
            f"{count_of(n_twice, 'stratum is', 'strata are')} given more than once.",
            "Give one fraction for each: --fraction 'North=2%, South=5%'.",
        )
    return fractions
