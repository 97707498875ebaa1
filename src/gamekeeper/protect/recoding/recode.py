"""Recoding by rules, as they are typed at the prompt (`--recode "Age=width 5"`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.recode import Recode
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.recoding.applying import recode_table
from gamekeeper.options import Option
from gamekeeper.protect.changes import ChangeLog, VariableChange
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.wording import count_of, quoted


@dataclass(frozen=True, kw_only=True)
class Recoding(Step):
    """Put categories together by rules."""

    do: ClassVar[str] = "recode"
    iso: ClassVar[str] = "generalization: rounding, top and bottom coding, combining attributes"

    rules: Annotated[
        tuple[str, ...],
        Option("One rule per variable: VARIABLE=WAY, as --recode takes it.", flags="--recode"),
    ] = ()
    groups: Annotated[
        Mapping[str, Mapping[str, Sequence[str]]],
        Option("Values to put together, by variable and name, for what no rule can write."),
    ] = field(default_factory=dict[str, Mapping[str, Sequence[str]]])
    strict: Annotated[bool, Option("Whether groups may only name values that the file has.")] = True

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Recode a file; no record is copied."""
        made = recode_table(
            table,
            self.rules,
            environment=setting.environment,
            sinks=setting.sinks,
            numbers=setting.numbers,
            decimal=setting.decimal,
            strict=self.strict,
        )
        recodes = [*made.recodes, *(self._grouped(table, name) for name in self.groups)]
        changed = table.recoded(recodes)
        variables = {recode.variable: VariableChange(recode) for recode in recodes}
        told = [
            f"{quoted([recode.variable])}:"
            f" {count_of(len(recode.codes) - 1, 'category becomes', 'categories become')}"
            f" {len(recode.words) - 1:,}."
            for recode in recodes
        ]
        log = ChangeLog(table.n_records, variables)
        return protected_by(self, table, changed, log, setting, told=told)

    def _grouped(self, table: CodedTable, name: str) -> Recode:
        variable = table.codebook[name]
        place = {value: code for code, value in enumerate(variable.values) if code != MISSING}
        label = list(variable.words)
        for group, values in self.groups[name].items():
            unknown = sum(value not in place for value in values)
            if unknown and self.strict:
                raise InputError(
                    Reason.UNKNOWN_NAME,
                    f"Values of {quoted([name])} were to be put together.",
                    f"{count_of(unknown, 'value is', 'values are')} not in the file.",
                    "Search anew, or give groups of values that the file has.",
                )
            for value in values:
                if value in place:
                    label[place[value]] = group
        words = list(dict.fromkeys(label[MISSING + 1 :]))
        number = {word: at for at, word in enumerate(words, 1)}
        codes = np.array([MISSING, *(number[word] for word in label[MISSING + 1 :])])
        return Recode(name, codes, (variable.words[MISSING], *words))
