"""Rank swapping as a step: records whose values are near in rank exchange them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from gamekeeper.algorithms.perturbation.rank_swapping import rank_swapped
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option
from gamekeeper.protect.perturbation.columns import (
    canonical_order,
    changed_words,
    members_of,
    named,
    read_numbers,
    strata_of,
    with_numbers,
    within_words,
)
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.wording import count_of, percent_text


@dataclass(frozen=True, kw_only=True)
class RankSwap(Step):
    """Records whose values are near in rank exchange them, one variable at a time."""

    do: ClassVar[str] = "rank swap"
    iso: ClassVar[str] = "permutation"

    variables: Annotated[tuple[str, ...], Option("The numeric variables.")]
    share: Annotated[
        float, Option("How far a value may move, as a share of the ranks.", least=0, most=1)
    ] = 0.05
    within: Annotated[
        tuple[str, ...],
        Option("Partners are of the same class of these variables, else of the same stratum."),
    ] = ()

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Exchange values."""
        begun = time.perf_counter()
        asked = f"Values were to change places within {percent_text(self.share)} of the ranks."
        before = read_numbers(table, self.variables, setting, asked)
        strata, within = strata_of(table, setting, self.within, asked)
        ids = setting.records(table)
        order = canonical_order(table, setting)
        share = Fraction(str(self.share))
        after = before.copy()
        n_small = n_without = 0
        parts = [order[members] for members in members_of(strata[order])]
        for column, name in enumerate(self.variables):
            stream = setting.stream(place, self.do, name)
            draws = np.stack([stream.uniform(ids, draw) for draw in (0, 1)], axis=1)
            for members in parts:
                own = members[np.isfinite(before[members, column])]
                if int(share * len(own)) < 1:
                    n_small += int(len(own) > 0)
                    n_without += len(own)
                    continue
                after[own, column] = rank_swapped(before[own, column], share, draws[own])
        if n_without == int(np.isfinite(before).sum()):
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                "That is less than one rank: nothing would change.",
                "Give a larger share, or swap across the whole file.",
            )
        made, log = with_numbers(table, self.variables, before, after, setting)
        told = [
            (
                f"{named(self.variables)}: values of near ranks changed places, none further than"
                f" {percent_text(self.share)} of the ranks{within_words(within)}; every value is still"
                " there."
            ),
            changed_words(log, self.variables),
        ]
        if n_without:
            told.append(
                f"{count_of(n_without, 'cell is', 'cells are')} in classes too small for one rank,"
                " and stayed."
            )
        return protected_by(
            self, table, made, log, setting, told=told, found={"stayed": n_without},
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
