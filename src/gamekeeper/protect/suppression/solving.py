"""A suppression that was asked, given to the algorithm that solves it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.suppression.both import suppress_both
from gamekeeper.algorithms.suppression.hitting_sets import rare_sets, scored_sets, suppress_sets
from gamekeeper.algorithms.suppression.own import suppress_own
from gamekeeper.algorithms.suppression.problem import (
    Suppression,
    SuppressionProblem,
    suppression_bytes,
)
from gamekeeper.algorithms.suppression.released_to_people import suppress_released_to_people
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.missing import Missing
from gamekeeper.errors import InputError, Reason
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.suppression.checked import Checked, record_counts
from gamekeeper.protect.suppression.households import Households, find_households
from gamekeeper.protect.targets import Criterion
from gamekeeper.wording import count_of, did_you_mean, quoted

_WAYS = {
    Criterion.BOTH: suppress_both,
    Criterion.OWN: suppress_own,
    Criterion.RELEASED_TO_PEOPLE: suppress_released_to_people,
}


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """What is to be suppressed.

    Attributes
    ----------
    stars
        For each record the places of columns to be shown as suppressed, as bits.
    cost, lower_bound
        What that costs, and what anything costs that reaches the same.
    n_unmet
        How many records cannot be helped.
    notes
        What to know of it, in words.
    """

    stars: NDArray[np.uint64]
    cost: Fraction
    lower_bound: Fraction
    is_optimal: bool
    n_unmet: int
    notes: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """By what share it may be dearer than the cheapest."""
        if self.is_optimal or self.cost == self.lower_bound:
            return 0.0
        return float((self.cost - self.lower_bound) / self.lower_bound) if self.lower_bound else 1.0


def solve(asked: Checked, table: CodedTable, setting: Setting) -> Solved:
    """Return which cells to suppress."""
    require_memory(
        "Cells were to be suppressed.",
        suppression_bytes(table.n_records, len(asked.keys)),
        f"{count_of(table.n_records, 'record')} with {count_of(len(asked.keys), 'key variable')}",
        "Take fewer key variables, or part of the file",
    )
    # Of records that are alike the first by their own names are opened, not the first in the file.
    order = np.argsort(setting.records(table), kind="stable")
    return _Solving(asked, table, setting, order).solve()


@dataclass(frozen=True, slots=True, eq=False)
class _Solving:
    """What was asked of which file; the algorithms have its records in an order of their own."""

    asked: Checked
    table: CodedTable
    setting: Setting
    order: NDArray[np.int64]

    def solve(self) -> Solved:
        asked, order = self.asked, self.order
        counts, k = record_counts(asked, self.table, self.setting)
        problem = SuppressionProblem(
            self.table.matrix(asked.keys)[order],
            k,
            asked.costs,
            asked.pinned,
            self.setting.missing.value,
            None if counts is None else counts[order],
            max_work=asked.step.max_work,
            progress=self.setting.progress,
        )
        homes = find_households(self.table, self.setting, asked.household_variables)
        if homes is not None:
            return self._with_households(problem, homes)
        found = self._of_persons(problem).put_back(order)
        cost, bound = found.cost, found.lower_bound
        if asked.step.weighted:
            cost = bound = self._cost(problem, found.suppressed)
            # Of a criterion of rows alone each has the cheapest cells, whatever it weighs.
            if not found.is_optimal and asked.criterion is not Criterion.RELEASED_TO_PEOPLE:
                bound = self._bound(problem)
        return Solved(found.stars, cost, bound, found.is_optimal, len(found.unmet))

    def _of_persons(self, problem: SuppressionProblem) -> Suppression:
        asked, step = self.asked, self.asked.step
        only = _above(asked, self.table, self.setting)
        only = None if only is None else only[self.order]
        if step.max_is is not None:
            from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques

            found = find_minimal_uniques(
                problem.codes.astype(np.uint32),
                missing=self.setting.missing.value,
                workers=self.setting.workers,
            )
            assert found.offsets is not None
            assert found.masks is not None
            families = scored_sets(problem, found.records, found.offsets, found.masks)
            return suppress_sets(problem, families, allowed=step.max_is, only=only)
        if asked.by_sets:
            size = step.dimension or max(len(key) for key in asked.key_sets)
            families = rare_sets(
                problem, asked.key_sets, size, thresholds=step.thresholds, within=asked.strata
            )
            return suppress_sets(problem, families, only=only)
        if asked.criterion is Criterion.RELEASED_TO_PEOPLE:
            return suppress_released_to_people(problem, only=only)
        return _WAYS[asked.criterion](problem)

    def _with_households(self, problem: SuppressionProblem, homes: Households) -> Solved:
        """Protect households by what they have in common, then persons by the rest."""
        asked, table = self.asked, self.table
        shared = sum(1 << asked.keys.index(name) for name in homes.variables)
        stars = np.zeros(table.n_records, dtype=np.uint64)
        if homes.n_homes < asked.step.k:
            raise InputError(
                Reason.BAD_OPTION,
                f"Each household was to have {asked.step.k:,} candidates.",
                f"There are {count_of(homes.n_homes, 'household')}.",
                "Ask for a smaller k.",
            )
        if homes.variables:
            columns = [asked.keys.index(name) for name in homes.variables]
            columns += [place for place in asked.strata if place not in columns]
            whole = SuppressionProblem(
                table.matrix([asked.keys[c] for c in columns])[homes.first],
                asked.step.k,
                [asked.costs[c] for c in columns],
                [columns.index(c) for c in asked.pinned if c in columns],
                self.setting.missing.value,
                max_work=asked.step.max_work,
            )
            found = _WAYS[asked.criterion](whole)
            if len(found.unmet):
                n_unmet = int(homes.sizes[found.unmet].sum())
                return Solved(stars, Fraction(0), Fraction(0), False, n_unmet)
            for place, column in enumerate(columns):
                has = (found.stars >> np.uint64(place)) & np.uint64(1)
                stars |= has[homes.home_of] << np.uint64(column)
        opened = stars[self.order]
        fixed = sorted({*asked.pinned, *(c for c in range(len(asked.keys)) if shared >> c & 1)})
        persons = replace(problem, pinned=fixed, opened=opened)
        if asked.criterion is Criterion.OWN:
            # Rows are compared as they are released: a suppressed cell is a value of its own.
            codes = problem.codes.astype(np.int64)
            for column in range(codes.shape[1]):
                is_open = (opened >> np.uint64(column)) & np.uint64(1) == 1
                codes[is_open, column] = codes[:, column].max(initial=0) + 1
            persons = replace(problem, codes=codes, pinned=fixed)
        found = self._of_persons(persons)
        if len(found.unmet):
            return Solved(stars, Fraction(0), Fraction(0), False, len(found.unmet))
        made, blank = np.empty_like(opened), np.empty_like(opened)
        made[self.order], blank[self.order] = found.stars | opened, problem.blank
        cost, bound = self._cost(problem, made & ~blank), self._bound(problem)
        note = (
            f"Households have {quoted(homes.variables)} in common: each was suppressed for all members of"
            f" a household, so that it has {asked.step.k} candidates among"
            f" {count_of(homes.n_homes, 'household')}."
            if homes.variables
            else "Households have no key variable in common, and were not protected as such."
        )
        return Solved(made, cost, bound, cost == bound, 0, (note,))

    def _bound(self, problem: SuppressionProblem) -> Fraction:
        """Return what whatever reaches the same costs at least: what is asked of rows alone."""
        is_of_rows = self.asked.criterion is Criterion.RELEASED_TO_PEOPLE
        cheapest = self._of_persons(problem) if is_of_rows else suppress_released_to_people(problem)
        if not self.asked.step.weighted:
            return cheapest.cost
        return self._cost(problem, cheapest.put_back(self.order).suppressed)

    def _cost(self, problem: SuppressionProblem, lost: NDArray[np.uint64]) -> Fraction:
        """Return what cells cost, times the weights of their records if that is asked."""
        per_record = problem.cost_of(lost)
        if not self.asked.step.weighted:
            return Fraction(int(per_record.sum()), problem.scaled[1])
        weights = np.nan_to_num(self.table.number(self.setting.weight))
        # Summed in an order of their own, so that no order of records changes the sum.
        return Fraction(float(np.sort(per_record * weights).sum())) / problem.scaled[1]


def _above(asked: Checked, table: CodedTable, setting: Setting) -> NDArray[np.bool_] | None:
    """Return the records above the threshold of a measure; None where all are protected."""
    if asked.above is None:
        return None
    from gamekeeper.attack.measures.measuring import measure_risk
    from gamekeeper.attack.uniques.suda import assess_uniques

    measure, limit = asked.above
    keys = count_keys(
        table, setting.keys, missing=Missing(setting.missing), weight=setting.weight, blank=True
    )
    # Models of the file are asked for no cells: they say nothing of single records.
    measures = measure_risk(
        keys, household=setting.household, sensitive=setting.sensitive, max_cells=1
    )
    parts = [measures.records.to_arrow()]
    if measure not in parts[0].column_names:
        parts.append(assess_uniques(keys, workers=setting.workers).records.to_arrow())
    known = {
        name: part[name]
        for part in parts
        for name in part.column_names
        if name not in ("record", "risk_class")
    }
    if measure not in known:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Records above a threshold of {quoted([measure])} were to be protected.",
            "There is no such measure per record here.",
            did_you_mean(measure, list(known)),
        )
    values = known[measure].to_numpy(zero_copy_only=False).astype(np.float64)
    return np.nan_to_num(values, nan=-np.inf) > limit
