"""Rank swapping as a step: records whose values are near in rank exchange them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.perturbation.rank_swapping import rank_swapped
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option
from gamekeeper.protect.perturbation.columns import (
    Floats,
    canonical_order,
    changed_words,
    members_of,
    read_numbers,
    strata_of,
    with_numbers,
    within_words,
)
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.wording import count_of, percent_text, quoted, three_digits


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
    most_moved: Annotated[
        float | None,
        Option(
            "No correlation between these variables may move by more than this: the share is halved"
            " until that holds.",
            least=0,
            most=2,
        ),
    ] = None

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Exchange values."""
        begun = time.perf_counter()
        asked = f"Values were to change places within {percent_text(self.share)} of the ranks."
        before = read_numbers(table, self.variables, setting, asked)
        strata, within = strata_of(table, setting, self.within, asked)
        ids = setting.records(table)
        order = canonical_order(table, setting)
        parts = [order[members] for members in members_of(strata[order])]
        draws = [
            np.stack([setting.stream(place, self.do, name).uniform(ids, n) for n in (0, 1)], axis=1)
            for name in self.variables
        ]
        share = Fraction(str(self.share))
        after, n_without = _swapped(before, parts, draws, share)
        # In one order, whatever that of the file: sums of numbers depend on it.
        moved = _moved(before[order], after[order])
        while self.most_moved is not None and moved is not None and moved > self.most_moved:
            share /= 2
            after, n_without = _swapped(before, parts, draws, share)
            moved = _moved(before[order], after[order])
        if n_without == int(np.isfinite(before).sum()):
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                "That is less than one rank: nothing would change."
                if share == Fraction(str(self.share))
                else "Correlations move by more than is allowed, however near partners are.",
                "Give a larger share, allow correlations to move further, or swap across the whole file.",
            )
        made, log = with_numbers(table, self.variables, before, after, setting)
        told = [
            (
                f"{quoted(self.variables)}: values of near ranks changed places, none further than"
                f" {percent_text(float(share))} of the ranks{within_words(within)}; every value is still"
                " there."
            ),
            changed_words(log, self.variables),
        ]
        if moved is not None:
            told.append(f"No correlation between them moved by more than {three_digits(moved)}.")
        if n_without:
            told.append(
                f"{count_of(n_without, 'cell is', 'cells are')} in classes too small for one rank,"
                " and stayed."
            )
        found = {"stayed": n_without, "share": float(share)}
        return protected_by(self, table, made, log, setting, told=told, found=found, began=begun)


def _swapped(
    before: Floats, parts: list[NDArray[np.int64]], draws: list[Floats], share: Fraction
) -> tuple[Floats, int]:
    """Return the numbers with partners exchanged, and how many cells had none within one rank."""
    after, n_without = before.copy(), 0
    for column, own_draws in enumerate(draws):
        for members in parts:
            own = members[np.isfinite(before[members, column])]
            if int(share * len(own)) < 1:
                n_without += len(own)
                continue
            after[own, column] = rank_swapped(before[own, column], share, own_draws[own])
    return after, n_without


def _moved(before: Floats, after: Floats) -> float | None:
    """Return by how much a correlation moved at most; None where there is none to be told."""
    if before.shape[1] < 2:
        return None
    found: list[float] = []
    for one, other in combinations(range(before.shape[1]), 2):
        there = np.isfinite(before[:, one]) & np.isfinite(before[:, other])
        pairs = [side[there][:, [one, other]] for side in (before, after)]
        if len(pairs[0]) > 1 and all((pair.std(axis=0) > 0).all() for pair in pairs):
            old, new = (float(np.corrcoef(pair[:, 0], pair[:, 1])[0, 1]) for pair in pairs)
            found.append(abs(new - old))
    return max(found, default=None)
