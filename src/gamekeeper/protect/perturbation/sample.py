"""Sampling as a step: some records only, by lot, with weights that stand for all."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from gamekeeper.algorithms.perturbation.record_sampling import draw_records
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.replaced_cells import replace_cells
from gamekeeper.options import Option
from gamekeeper.protect.changes import ChangeLog, VariableChange
from gamekeeper.protect.perturbation.columns import canonical_order, strata_of, within_words
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.wording import count_of, percent_text, quoted


@dataclass(frozen=True, kw_only=True)
class Sample(Step):
    """A share of the records is released, drawn by lot; the others are left out."""

    do: ClassVar[str] = "sample"
    iso: ClassVar[str] = "sampling"

    fraction: Annotated[
        float, Option("The share of records (or of households) to release.", least=1e-9, most=1)
    ]
    within: Annotated[
        tuple[str, ...],
        Option("The same share of every class of these variables, else of every stratum."),
    ] = ()

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Draw records; of households all or none."""
        begun = time.perf_counter()
        asked = f"A sample of {percent_text(self.fraction)} of the records was to be drawn."
        strata, within = strata_of(table, setting, self.within, asked)
        order = canonical_order(table, setting)
        homes = setting.households(table)
        units = None if homes is None else homes[order]
        draws = setting.stream(place, self.do).uniform(setting.records(table))[order]
        found = draw_records(Fraction(str(self.fraction)), draws, strata=strata[order], units=units)
        drawn, factors = np.zeros(table.n_records, np.bool_), np.zeros(table.n_records)
        drawn[order], factors[order] = found.drawn, found.factors
        records = np.flatnonzero(drawn)
        numbers = {}
        changes = {}
        if setting.weight:
            numbers[setting.weight] = table.number(setting.weight) * factors
            changes[setting.weight] = VariableChange.of_cells(drawn & (factors != 1))
        made = replace_cells(table, numbers=numbers, records=records)
        log = ChangeLog(table.n_records, changes, records)
        left_out = table.n_records - len(records)
        told = [
            (
                f"{count_of(len(records), 'record')} of {table.n_records:,} were drawn by lot"
                f"{', households as a whole' if setting.household else ''}{within_words(within)};"
                f" {left_out:,} are left out."
            ),
            f"Weights ({quoted([setting.weight])}) grew to match."
            if setting.weight
            else "There are no weights: counts of the sample are to be scaled up by its user.",
        ]
        facts = {"drawn": len(records), "left_out": left_out}
        return protected_by(self, table, made, log, setting, told=told, found=facts, began=begun)
