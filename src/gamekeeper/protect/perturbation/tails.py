"""Top and bottom coding as a step: numbers beyond a limit become it, their mean, or a category."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from gamekeeper.algorithms.perturbation.tail_coding import TailValue, tail_coded, tail_limit
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.recode import Recode
from gamekeeper.data.reading.numerals import float_of, number_of
from gamekeeper.data.reading.values import value_text
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option
from gamekeeper.protect.changes import ChangeLog, VariableChange
from gamekeeper.protect.perturbation.columns import (
    Floats,
    changed_words,
    read_numbers,
    read_weights,
    rounded,
    with_numbers,
)
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.wording import count_of, quoted


class Beyond(StrEnum):
    """What is released for a value beyond a limit."""

    LIMIT = "limit"
    MEAN = "mean"
    CATEGORY = "category"


@dataclass(frozen=True, kw_only=True)
class TailCode(Step):
    """Values beyond limits are released as the limit, their mean, or a category such as "85+"."""

    do: ClassVar[str] = "tail code"
    iso: ClassVar[str] = "top and bottom coding"

    variable: Annotated[str, Option("The numeric variable.")]
    top: Annotated[float | None, Option("The upper limit.")] = None
    bottom: Annotated[float | None, Option("The lower limit.")] = None
    top_share: Annotated[
        float | None,
        Option("Find the upper limit: at most this share lies above it.", least=0, most=1),
    ] = None
    bottom_share: Annotated[
        float | None,
        Option("Find the lower limit: at most this share lies below it.", least=0, most=1),
    ] = None
    beyond: Annotated[
        Beyond,
        Option(
            "What values beyond a limit become: the limit, the mean of all beyond it, or a category"
            " of their own (of coded variables)."
        ),
    ] = Beyond.LIMIT
    at_least: Annotated[
        int,
        Option("So many records look alike at the end, even if that takes more than the share.",
               least=1),
    ] = 1  # fmt: skip
    weighted: Annotated[bool, Option("Shares and means are by weight.")] = False

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Cut the tails."""
        begun = time.perf_counter()
        asked = f"The tails of {quoted([self.variable])} were to be coded."
        before = read_numbers(table, [self.variable], setting, asked)
        self._check(asked, table)
        weights = read_weights(table, setting, asked) if self.weighted else None
        there = np.isfinite(before[:, 0])
        given = None if weights is None else weights[there]
        known = before[there, 0]
        top, bottom = self._limits(asked, known, given)
        # Who has the limit itself is in the category as well.
        at = self.beyond == Beyond.CATEGORY
        n_top = n_bottom = 0
        if top is not None:
            n_top = int(np.count_nonzero(known >= top if at else known > top))
        if bottom is not None:
            n_bottom = int(np.count_nonzero(known <= bottom if at else known < bottom))
        if self.beyond == Beyond.CATEGORY:
            recode = self._recode(table, setting.decimal, top, bottom)
            made = table.recoded([recode])
            log = ChangeLog(table.n_records, {self.variable: VariableChange(recode)})
        else:
            after = before.copy()
            after[there, 0] = tail_coded(
                known, top=top, bottom=bottom, value=TailValue(str(self.beyond)), weights=given
            )
            if self.beyond == Beyond.MEAN:
                after = rounded(after, before, None)
            made, log = with_numbers(table, [self.variable], before, after, setting)
        became = {
            Beyond.LIMIT: "have the limit",
            Beyond.MEAN: "have the mean of all beyond it",
            Beyond.CATEGORY: "are one category",
        }[Beyond(self.beyond)]
        ends = [
            f"{count_of(number, 'record')} {'at or ' if at else ''}{word} the {side} limit {became}"
            for number, word, side, limit in (
                (n_top, "above", "upper", top),
                (n_bottom, "below", "lower", bottom),
            )
            if limit is not None
        ]
        told = [f"{quoted([self.variable])}: {'; '.join(ends)}."]
        if self.beyond != Beyond.CATEGORY:
            told.append(changed_words(log, [self.variable]))
        found = {"above": n_top, "below": n_bottom}
        fixed = replace(self, top=top, bottom=bottom, top_share=None, bottom_share=None)
        frozen = [] if fixed == self else [fixed]
        return protected_by(
            self, table, made, log, setting, told=told, found=found, frozen=frozen, began=begun
        )

    def _check(self, asked: str, table: CodedTable) -> None:
        found, do = "", ""
        if all(x is None for x in (self.top, self.bottom, self.top_share, self.bottom_share)):
            found, do = "No limit is given.", "Give a limit (top, bottom) or a share."
        elif (self.top is not None and self.top_share is not None) or (
            self.bottom is not None and self.bottom_share is not None
        ):
            found, do = "A limit and a share are given for the same end.", "Give one of them."
        elif self.beyond == Beyond.CATEGORY and self.variable not in table.codebook:
            found = "It is read as numbers, which have no categories."
            do = "Name it among the coded variables, or let values become the limit."
        elif self.beyond == Beyond.CATEGORY and self.variable in table.numbers:
            found = "It is read as codes and as numbers, and a category is no number."
            do = "Let values become the limit or their mean."
        if found:
            raise InputError(Reason.BAD_OPTION, asked, found, do)

    def _limits(
        self, asked: str, known: Floats, weights: Floats | None
    ) -> tuple[float | None, float | None]:
        value = TailValue.MEAN if self.beyond == Beyond.MEAN else TailValue.LIMIT
        found: list[float | None] = []
        for given, share, is_bottom in (
            (self.top, self.top_share, False),
            (self.bottom, self.bottom_share, True),
        ):
            if share is not None:
                given = tail_limit(
                    known,
                    share,
                    bottom=is_bottom,
                    weights=weights,
                    least=self.at_least,
                    value=value,
                )
            found.append(given)
            if given is None or share is not None or self.at_least == 1:
                continue
            beyond = known < given if is_bottom else known > given
            alike = beyond if self.beyond == Beyond.MEAN else beyond | (known == given)
            n_alike = int(np.count_nonzero(alike))
            if 0 < n_alike < self.at_least:
                raise InputError(
                    Reason.BAD_OPTION,
                    asked,
                    f"{count_of(n_alike, 'record')} would look alike at the"
                    f" {'lower' if is_bottom else 'upper'} end, and {self.at_least:,} are asked for.",
                    "Move the limit inwards, or give a share: then the limit is found.",
                )
        top, bottom = found
        return top, bottom

    def _recode(
        self, table: CodedTable, decimal: str, top: float | None, bottom: float | None
    ) -> Recode:
        """Return the recoding by which everything from a limit on is one category."""
        variable = table.codebook[self.variable]
        numbers = [
            float_of(number_of(v, decimal) or Fraction(0)) for v in variable.values[MISSING + 1 :]
        ]
        upper = np.inf if top is None else top
        lower = -np.inf if bottom is None else bottom
        words, codes = [variable.words[MISSING]], [MISSING]
        ends: dict[str, int] = {}
        for number, word in zip(numbers, variable.words[MISSING + 1 :], strict=True):
            if lower < number < upper:
                words.append(word)
                codes.append(len(words) - 1)
                continue
            is_top = number >= upper
            end = f"{_shown(upper, decimal)}+" if is_top else f"up to {_shown(lower, decimal)}"
            if end not in ends:
                ends[end] = len(words)
                words.append(end)
            codes.append(ends[end])
        return Recode(self.variable, codes, words)


def _shown(limit: float, decimal: str) -> str:
    return (value_text(float(limit)) or "").replace(".", decimal)
