"""Microaggregation as a step: numbers become the means of groups of at least k records."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.perturbation.group_means import error_share, group_means
from gamekeeper.algorithms.perturbation.mdav import Labels, mdav_groups
from gamekeeper.algorithms.perturbation.univariate_groups import univariate_groups
from gamekeeper.algorithms.perturbation.variable_groups import variable_mdav_groups
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.errors import InputError, Reason
from gamekeeper.options import Option
from gamekeeper.protect.perturbation.columns import (
    Floats,
    canonical_order,
    changed_words,
    left_words,
    members_of,
    read_numbers,
    read_weights,
    rounded,
    strata_of,
    with_numbers,
    within_words,
)
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, percent_text, quoted


class Grouping(StrEnum):
    """How records are put in groups."""

    MDAV = "mdav"
    VARIABLE_SIZE = "variable size"
    ONE_BY_ONE = "one by one"


class IncompleteRecords(StrEnum):
    """What becomes of records of which a number is missing."""

    LEAVE = "leave"
    REFUSE = "refuse"


@dataclass(frozen=True, kw_only=True)
class Microaggregate(Step):
    """Numbers become the means of groups of near records."""

    do: ClassVar[str] = "microaggregate"
    iso: ClassVar[str] = "microaggregation"

    variables: Annotated[tuple[str, ...], Option("The numeric variables.")]
    k: Annotated[int, Option("The least number of records of a group.", least=2)] = 3
    grouping: Annotated[
        Grouping,
        Option(
            "All variables together (mdav), in groups of k to 2k - 1 that belong together (variable"
            " size), or each by itself with the least error (one by one)."
        ),
    ] = Grouping.MDAV
    gain: Annotated[
        float,
        Option(
            "How readily a near record joins a group of variable size: 0.2 where records are scattered,"
            " 1.1 where they are in clusters.",
            least=0,
        ),
    ] = 0.2
    within: Annotated[
        tuple[str, ...],
        Option("Groups keep within the classes of these variables, else within the strata."),
    ] = ()
    weighted: Annotated[bool, Option("Take means by weight, so that weighted totals stay.")] = False
    incomplete: Annotated[
        IncompleteRecords,
        Option("Records of which a number is missing: left as they are and counted, or refused."),
    ] = IncompleteRecords.LEAVE
    decimals: Annotated[
        int | None,
        Option("Round means to so many decimals.", least=0, most=15, default_text="as in the file"),
    ] = None

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Put records in groups and give every group its mean."""
        begun = time.perf_counter()
        asked = f"Numbers were to become the means of groups of {self.k} records."
        before = read_numbers(table, self.variables, setting, asked)
        strata, within = strata_of(table, setting, self.within, asked)
        weights = read_weights(table, setting, asked) if self.weighted else None
        every = np.arange(before.shape[1])
        is_single = self.grouping == Grouping.ONE_BY_ONE
        each = [every[p : p + 1] for p in every] if is_single else [every]
        after = before.copy()
        order = canonical_order(table, setting)
        n_small = n_left = n_groups = 0
        errors: list[float] = []
        for columns in each:
            whole: NDArray[np.bool_] = np.asarray(np.isfinite(before[:, columns]).all(axis=1))
            n_left += int(np.count_nonzero(~whole))
            labels = np.full(table.n_records, -1, np.int64)
            n_own = 0
            for members in members_of(strata[order]):
                own = order[members]
                own = own[whole[own]]
                if 0 < len(own) < self.k:
                    n_small += 1
                    continue
                groups = self._groups(before[np.ix_(own, columns)], setting.progress)
                labels[own] = groups + n_own
                n_own += int(groups.max(initial=-1)) + 1
            grouped = order[labels[order] >= 0]
            n_groups += n_own
            values = before[np.ix_(grouped, columns)]
            given = None if weights is None else weights[grouped]
            after[np.ix_(grouped, columns)] = group_means(values, labels[grouped], given)
            errors.append(error_share(values, labels[grouped]) if len(grouped) else 0.0)
        self._check(asked, n_small, n_left, within)
        after = rounded(after, before, self.decimals)
        after[~np.isfinite(before)] = np.nan
        made, log = with_numbers(table, self.variables, before, after, setting)
        loss = float(np.mean(errors))
        told = [
            (
                f"{quoted(self.variables)}: means of {count_of(n_groups, 'group')} of at least"
                f" {self.k} records{within_words(within)}"
                f"{', each variable by itself' if self.grouping == Grouping.ONE_BY_ONE else ''}."
            ),
            f"{percent_text(loss)} of the variation of these numbers is lost.",
            changed_words(log, self.variables),
        ]
        told += left_words(n_left, "group")
        found = {"groups": n_groups, "error_share": loss, "left_as_they_are": n_left}
        return protected_by(self, table, made, log, setting, told=told, found=found, began=begun)

    def _groups(self, values: Floats, progress: Progress | None) -> Labels:
        if self.grouping == Grouping.MDAV:
            return mdav_groups(values, self.k, progress=progress)
        if self.grouping == Grouping.VARIABLE_SIZE:
            return variable_mdav_groups(values, self.k, self.gain)
        return univariate_groups(values[:, 0], self.k)

    def _check(self, asked: str, n_small: int, n_left: int, within: tuple[str, ...]) -> None:
        if n_small:
            where = (
                f"{count_of(n_small, 'class', 'classes')} of {quoted(within)}"
                if within
                else "The file"
            )
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                f"{where} {'have' if within and n_small > 1 else 'has'} fewer complete records.",
                "Ask for smaller groups, or for groups across the whole file.",
            )
        if n_left and self.incomplete == IncompleteRecords.REFUSE:
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                f"A number is missing in {count_of(n_left, 'record')}.",
                "Leave such records as they are (incomplete: leave), or fill the cells first.",
            )
