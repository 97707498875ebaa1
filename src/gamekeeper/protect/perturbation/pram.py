"""PRAM as a step: categories drawn anew so that counts stay as they are, on average or exactly."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.counter_stream import CounterStream
from gamekeeper.algorithms.perturbation.exact_counts import moved_codes, rounded_moves
from gamekeeper.algorithms.perturbation.invariant_pram import (
    LEAST_RECORDS,
    drawn_codes,
    expected_unchanged,
    invariant_matrix,
    staying,
)
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.coding.replaced_cells import replace_cells
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.mapping.recoding.applying import recode_table
from gamekeeper.options import Option
from gamekeeper.protect.changes import ChangeLog, VariableChange
from gamekeeper.protect.perturbation.columns import (
    canonical_order,
    changed_words,
    members_of,
    naming_problems,
    strata_of,
    within_words,
)
from gamekeeper.protect.protected import Protected
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.step import Step, protected_by
from gamekeeper.wording import count_of, did_you_mean, percent_text, quoted

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
_MOST_CATEGORIES = 1000
_MOST_EXACT = 200


@dataclass(frozen=True, kw_only=True)
class Pram(Step):
    """Categories are drawn anew by known probabilities (post randomisation)."""

    do: ClassVar[str] = "pram"
    iso: ClassVar[str] = "randomization"

    variables: Annotated[tuple[str, ...], Option("The coded variables, each by itself.")]
    keep: Annotated[
        float, Option("The probability to stay, before it is made invariant.", least=1e-6, most=1)
    ] = 0.8
    share: Annotated[
        float, Option("How much is drawn; the rest stays for certain.", least=0, most=1)
    ] = 0.5
    exact_counts: Annotated[bool, Option("Every count stays exactly, and not only on average.")] = (
        False
    )
    within_categories: Annotated[
        tuple[str, ...],
        Option(
            "Values become others of the same coarser category only: rules of recoding that say"
            " which, such as 'Age=width 10'."
        ),
    ] = ()
    within: Annotated[
        tuple[str, ...],
        Option("Drawn separately in the classes of these variables, else in the strata."),
    ] = ()

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Draw categories anew."""
        begun = time.perf_counter()
        asked = "Categories were to be drawn anew."
        self._check(asked, table)
        strata, within = strata_of(table, setting, self.within, asked)
        order = canonical_order(table, setting)
        parts = [order[members] for members in members_of(strata[order])]
        small = sum(len(members) < LEAST_RECORDS for members in parts)
        if small:
            raise InputError(
                Reason.BAD_OPTION,
                asked,
                f"{count_of(small, 'class has', 'classes have')} fewer than {LEAST_RECORDS} records:"
                " too few to hide among.",
                "Draw within fewer or coarser variables, or across the whole file.",
            )
        blocks = self._blocks(table, setting)
        ids = setting.records(table)
        codes: dict[str, Codes] = {}
        changes: dict[str, VariableChange] = {}
        expected: dict[str, float] = {}
        households = setting.households(table)
        for name in self.variables:
            stream = setting.stream(place, self.do, name)
            old = table.codes(name).astype(np.int64)
            units = _units(old, strata, households)
            draws = stream.uniform(ids)
            new, stays, total = old.copy(), 0.0, 0
            for number, members in enumerate(parts):
                own = members[old[members] != MISSING]
                if not len(own):
                    continue
                # Of a household the first record draws, and the others follow.
                _, first = np.unique(units[own], return_index=True)
                chosen = own[np.sort(first)]
                counts = np.bincount(old[own] - 1, minlength=table.codebook[name].n_codes - 1)
                drawn, kept = self._drawn(
                    old[chosen] - 1, counts, blocks.get(name), draws[chosen],
                    _lots(stream, number),
                )  # fmt: skip
                after = np.zeros(int(units.max()) + 1, np.int64)
                after[units[chosen]] = drawn + 1
                new[own] = after[units[own]]
                stays, total = stays + kept * len(own), total + len(own)
            codes[name] = new
            changes[name] = VariableChange.of_cells(new != old)
            expected[name] = stays / total if total else 1.0
        made = replace_cells(table, codes)
        log = ChangeLog(table.n_records, changes)
        how = "exactly" if self.exact_counts else "on average"
        told = [
            (
                f"{quoted(self.variables)}: categories were drawn anew{within_words(within)} so that their"
                f" counts stay {how}; missing cells stay missing."
            ),
            "A record keeps its category with a probability of "
            + ", ".join(f"{percent_text(p)} ({quoted([name])})" for name, p in expected.items())
            + ".",
            changed_words(log, self.variables),
        ]
        found = {"expected_unchanged": expected}
        return protected_by(self, table, made, log, setting, told=told, found=found, began=begun)

    def _drawn(
        self,
        codes: Codes,
        counts: Codes,
        blocks: Sequence[int] | None,
        draws: Floats,
        lot: Callable[[], float],
    ) -> tuple[Codes, float]:
        """Return categories drawn anew, from 0, and the probability to stay."""
        # Categories that nobody has are neither drawn nor drawn from.
        used = np.flatnonzero(counts)
        own = np.searchsorted(used, codes)
        if self.exact_counts:
            # What stays exactly is counted in what is drawn, which may be whole households.
            counts = np.bincount(codes, minlength=len(counts))
        within = None if blocks is None else [blocks[code] for code in used.tolist()]
        matrix = invariant_matrix(counts[used], staying(len(used), self.keep, within), self.share)
        stays = float(expected_unchanged(counts[used], matrix))
        if not self.exact_counts:
            return used[drawn_codes(own, matrix, draws)], stays
        moves = rounded_moves(counts[used][:, None] * matrix, lot)
        return used[moved_codes(own, moves, draws)], stays

    def _blocks(self, table: CodedTable, setting: Setting) -> dict[str, list[int]]:
        """Return for variables with a coarser categorization the category of each code from 1 on."""
        if not self.within_categories:
            return {}
        coarse = recode_table(
            table, self.within_categories, environment=setting.environment, sinks=setting.sinks,
            numbers=setting.numbers, decimal=setting.decimal,
        )  # fmt: skip
        blocks: dict[str, list[int]] = {}
        for rule in coarse.rules:
            variable = table.codebook[rule.variable]
            found = np.arange(variable.n_codes)
            found[table.codes(variable.name)] = coarse.table.codes(variable.name)
            blocks[variable.name] = found[MISSING + 1 :].tolist()
        return blocks

    def _check(self, asked: str, table: CodedTable) -> None:
        known = table.codebook.names
        most = _MOST_EXACT if self.exact_counts else _MOST_CATEGORIES
        problems = [
            Problem(Reason.UNKNOWN_NAME, f"variable {quoted([name])}",
                    "It is not among the coded variables.", did_you_mean(name, known))
            for name in self.variables
            if name not in known
        ]  # fmt: skip
        problems += naming_problems(self.variables)
        problems += [
            Problem(
                Reason.TOO_LARGE,
                f"variable {quoted([name])}",
                f"It has {table.codebook[name].n_codes - 1:,} categories, and at most {most:,} are drawn"
                f" from{' where counts stay exactly' if self.exact_counts else ''}.",
                "Recode it first, or swap its ranks.",
            )
            for name in self.variables
            if name in known and table.codebook[name].n_codes - 1 > most
        ]
        refuse(problems, asked, f"{count_of(len(problems), 'variable')} cannot be used.")


def _lots(stream: CounterStream, stratum: int) -> Callable[[], float]:
    """Return numbers that belong to a stratum and to no record, one after the other."""
    turns = count(1)
    return lambda: float(stream.uniform([stratum], 2 * next(turns))[0])


def _units(codes: Codes, strata: Codes, households: Codes | None) -> Codes:
    """Return who draws together: households, for a variable that is the same for all their members."""
    everybody = np.arange(len(codes))
    if households is None:
        return everybody
    _, first, unit = np.unique(households, return_index=True, return_inverse=True)
    same = (codes == codes[first][unit]).all() and (strata == strata[first][unit]).all()
    return unit if same else everybody
