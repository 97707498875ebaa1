"""A suppression that was asked, held against the file and its households, and given to its algorithm.

Every fault in what is asked comes in one error. A variable of the household is one cell of all its
members: it is suppressed for all of them or for none. Households then count as one each, and have k
of them as candidates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.classes import MOST_COLUMNS, EqualRows, dense_numbers
from gamekeeper.algorithms.suppression import hitting_sets
from gamekeeper.algorithms.suppression.both import suppress_both, suppress_released_to_people
from gamekeeper.algorithms.suppression.problem import (
    Suppression,
    SuppressionProblem,
    suppression_bytes,
)
from gamekeeper.algorithms.uniques.minimal_uniques import find_minimal_uniques
from gamekeeper.attack.uniques.suda import assess_uniques
from gamekeeper.budget import require_memory
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.reading.columns import matched_name
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.options import Option
from gamekeeper.prompt_syntax import Missing, names_of
from gamekeeper.protection.step import Setting
from gamekeeper.protection.targets import Criterion
from gamekeeper.wording import count_of, did_you_mean, digits_text, joined, quoted

if TYPE_CHECKING:
    from gamekeeper.protection.suppression import Suppress


HouseholdVariables = Annotated[
    tuple[str, ...],
    Option(
        "Key variables that a household has in common: one cell for all its members. By default"
        " those that never differ within one.",
        panel="Suppression",
        read=names_of,
    ),
]
"""The option that names them, for every step that knows households."""


@dataclass(frozen=True, slots=True, eq=False)
class Households:
    """The households of a file, and the key variables that members have in common.

    `home_of` is the number of each record's household (a record without one is one of its own),
    `first` a record of each household and `sizes` how many members it has.
    """

    variables: tuple[str, ...]
    home_of: NDArray[np.int64]
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def n_homes(self) -> int:
        """How many households there are."""
        return len(self.first)


def find_households(
    table: CodedTable, setting: Setting, wanted: Sequence[str] = ()
) -> Households | None:
    """Return the households of a file; None where none are told.

    `wanted` are the key variables that members have in common, by default those that never differ
    within a household. One in which members differ is refused.
    """
    codes = setting.households(table)
    if codes is None:
        return None
    homes = EqualRows.of(dense_numbers(codes))
    keys = setting.keys
    unlike: dict[str, int] = {}
    for name in keys:
        own = table.codes(name)
        differs = own != own[homes.firsts][homes.numbers]
        unlike[name] = len(np.unique(homes.numbers[differs]))
    wanted = wanted or tuple(name for name in keys if not unlike[name])
    faults = {name: f"it differs within {count_of(n, 'household')}." for name, n in unlike.items()}
    do = "Leave it out, or mend the file."
    problems = [
        Problem(Reason.BAD_OPTION, f"variable {quoted([name])}", faults[name], do)
        for name in wanted
        if unlike[name]
    ]
    found = f"{count_of(len(problems), 'variable has', 'variables have')} conflicting values."
    refuse(problems, "Variables of households were to be one cell for all members.", found)
    return Households(tuple(wanted), homes.numbers, homes.firsts, homes.sizes)


_ABOVE = re.compile(
    r"^\s*(?P<measure>\w+)\s*>\s*(?P<limit>[0-9]+(?:\.[0-9]+)?)\s*(?P<percent>%?)\s*$"
)
SCALE = 1 << 20
"""Weights count in parts of this, rounded down, so that no sum is larger than it is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A suppression that can be asked of a file, by the places of the columns that are compared.

    These `keys` are the key variables, and the stratum at last where there is one. `costs` is what
    a cell of each costs, `pinned` columns are never suppressed, `key_sets` are the columns of each
    key, `related` the columns that follow each key variable, `above` is a measure per record and
    its threshold.
    """

    step: Suppress
    keys: tuple[str, ...]
    costs: tuple[float, ...]
    pinned: tuple[int, ...]
    strata: tuple[int, ...]
    key_sets: tuple[tuple[int, ...], ...]
    related: Mapping[str, tuple[str, ...]]
    household_variables: tuple[str, ...]
    above: tuple[str, float] | None

    @property
    def criterion(self) -> Criterion:
        """What is to be reached."""
        return Criterion(self.step.criterion)

    @property
    def has_costs(self) -> bool:
        """Whether cells cost something else than 1."""
        return self.step.weighted or any(cost != 1 for cost in self.costs)

    @property
    def by_sets(self) -> bool:
        """Whether rare combinations are looked for, and not the whole key."""
        step = self.step
        return bool(step.dimension or step.thresholds or len(self.key_sets) > 1)

    @property
    def aim(self) -> str:
        """What is to be reached, in words."""
        step = self.step
        if step.max_is is not None:
            return f"the intruder score IS of every record is at most {step.max_is:,}"
        k = step.k
        who = (
            "every record"
            if self.above is None
            else f"every record with {self.above[0]} above {digits_text(self.above[1])}"
        )
        if self.by_sets:
            size = step.dimension or max(len(key) for key in self.key_sets)
            keys = f" in each of {len(self.key_sets)} keys" if len(self.key_sets) > 1 else ""
            told = [
                f"{least} people for {count_of(place, 'variable')}"
                for place, least in enumerate(step.thresholds[:size], 1)
            ]
            if len(told) < size:
                told.append(f"{k} for more" if told else f"{k} people")
            many = count_of(size, "variable")
            return f"{who} shares each combination of up to {many}{keys} with {joined(told)}"
        people = "people of the population" if step.population else "people"
        if self.strata:
            people += " of its stratum"
        return {
            Criterion.BOTH: f"everybody fits at least {k} records and {who} at least {k} people",
            Criterion.RELEASED_TO_PEOPLE: f"{who} fits at least {k} {people}",
        }.get(self.criterion, f"{who} looks like {k - 1} others")


def checked(step: Suppress, table: CodedTable, setting: Setting) -> Checked:
    """Hold a step against a file; raise one error for all that cannot be asked."""
    problems: list[Problem] = []

    def known(name: str, what: str, among: tuple[str, ...]) -> str:
        try:
            return matched_name(name, among)
        except InputError as error:
            found = error.problems[0] if error.problems else None
            do = found.do if found else ""
            problems.append(
                Problem(Reason.UNKNOWN_NAME, f"{what} {quoted([name])}", "it is not there.", do)
            )
            return ""

    keys = setting.keys
    if not keys:
        problems.append(Problem(Reason.NOTHING_GIVEN, "keys", "none is given."))
    if setting.missing is Missing.EXCLUDE:
        problems.append(
            Problem(Reason.BAD_OPTION, "missing", "records that are left out would be released as they are.",
                    "Read missing cells in another way (--missing category).")
        )  # fmt: skip
    costs = {known(name, "cost of", keys): cost for name, cost in step.costs.items()}
    problems += [
        Problem(Reason.BAD_OPTION, f"cost of {quoted([name])}", "it is not above 0.", "To keep a variable, pin it.")
        for name, cost in costs.items()
        if not cost > 0
    ]  # fmt: skip
    pinned = [known(name, "pinned variable", keys) for name in step.pinned]
    both = [name for name in pinned if name and name in costs]
    problems += [
        Problem(Reason.BAD_OPTION, f"variable {quoted([name])}", "it is pinned, and has a cost.", "Give either.")
        for name in both
    ]  # fmt: skip
    related: dict[str, list[str]] = {}
    for follower, leader in step.related.items():
        column = known(follower, "related column", table.codebook.names)
        variable = known(leader, "key variable", keys)
        if column and column in keys:
            where = f"related column {quoted([column])}"
            problems.append(Problem(Reason.BAD_OPTION, where, "it is a key variable itself."))
        related.setdefault(variable, []).append(column)
    sets = _key_sets(step, keys, known)
    homes = tuple(known(name, "household variable", keys) for name in step.household_variables)
    problems += _contradictions(step, setting, sets, table)
    above = _above(step.above, problems)
    compared = keys
    if setting.strata and setting.strata not in keys:
        compared = (*keys, known(setting.strata, "stratum", table.codebook.names))
    if len(compared) > MOST_COLUMNS:
        problems.append(Problem(Reason.TOO_LARGE, "keys", f"they are more than {MOST_COLUMNS}."))
    asked = "Cells were to be suppressed."
    refuse(problems, asked, f"{count_of(len(problems), 'thing')} cannot be asked.")
    strata = (compared.index(setting.strata),) if setting.strata else ()
    fixed = {compared.index(name) for name in pinned} | set(strata)
    return Checked(
        step,
        compared,
        tuple(float(costs.get(name, 1)) for name in compared),
        tuple(sorted(fixed)),
        strata,
        sets or (tuple(range(len(keys))),),
        {name: tuple(followers) for name, followers in related.items()},
        homes,
        above,
    )


def record_counts(
    asked: Checked, table: CodedTable, setting: Setting
) -> tuple[NDArray[np.int64] | None, int]:
    """Return what each record counts for k, and k in the same unit."""
    if not asked.step.population:
        return None, asked.step.k
    weights = np.nan_to_num(table.number(setting.weight))
    return np.floor(weights * SCALE).astype(np.int64), asked.step.k * SCALE


def _key_sets(
    step: Suppress, keys: tuple[str, ...], known: Callable[[str, str, tuple[str, ...]], str]
) -> tuple[tuple[int, ...], ...]:
    sets: list[tuple[int, ...]] = []
    for text in step.several:
        names = [known(name, "key variable", keys) for name in names_of([text])]
        sets.append(tuple(keys.index(name) for name in names if name))
    return tuple(sets)


def _contradictions(
    step: Suppress, setting: Setting, sets: tuple[tuple[int, ...], ...], table: CodedTable
) -> list[Problem]:
    problems: list[Problem] = []
    criterion = Criterion(step.criterion)
    if not criterion.may_be_target:
        problems.append(
            Problem(Reason.BAD_OPTION, f"criterion {quoted([criterion.value])}",
                    "a few records suppressed wholly meet it, and protect nobody.",
                    "Ask for both, own or released_to_people.")
        )  # fmt: skip
    rows_only = {
        "dimension": step.dimension is not None,
        "thresholds": bool(step.thresholds),
        "several": bool(sets),
        "max_is": step.max_is is not None,
        "above": bool(step.above),
        "population": step.population,
    }
    if criterion is not Criterion.RELEASED_TO_PEOPLE:
        problems += [
            Problem(Reason.BAD_OPTION, name, f"it goes with released_to_people, and not with {criterion.value}.")
            for name, is_given in rows_only.items()
            if is_given
        ]  # fmt: skip
    if (step.weighted or step.population) and not setting.weight:
        found = "weights are to count, and none are named."
        problems.append(Problem(Reason.NOTHING_GIVEN, "weight", found, "Name them (--weight)."))
    if step.household_variables and not setting.household:
        do = "Name the column (--household)."
        problems.append(Problem(Reason.NOTHING_GIVEN, "household", "it is not named.", do))
    if step.max_is is not None and (step.dimension or step.thresholds or sets):
        problems.append(
            Problem(Reason.BAD_OPTION, "max_is", "it is asked instead of rare combinations.")
        )
    if step.k > table.n_records and not step.population:
        problems.append(
            Problem(Reason.BAD_OPTION, "k", f"it is {step.k:,}, and there are {table.n_records:,} records.",
                    "Ask for a smaller k.")
        )  # fmt: skip
    return problems


def _above(typed: str, problems: list[Problem]) -> tuple[str, float] | None:
    if not typed:
        return None
    match = _ABOVE.match(typed)
    if match is None:
        where = f"above {quoted([typed])}"
        found = "it cannot be read."
        problems.append(Problem(Reason.BAD_OPTION, where, found, "Write MEASURE>NUMBER: 'is>100'."))
        return None
    return match["measure"], float(match["limit"]) / (100 if match["percent"] else 1)


_WAYS = {
    Criterion.BOTH: suppress_both,
    Criterion.OWN: hitting_sets.suppress_own,
    Criterion.RELEASED_TO_PEOPLE: suppress_released_to_people,
}


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """What is to be suppressed: `stars` has as bits the places of columns shown as suppressed, by record.

    `cost` is what that costs, `lower_bound` what anything costs that reaches the same. `n_unmet`
    records cannot be helped; `notes` say what to know of it.
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
        only = _records_above(asked, self.table, self.setting)
        only = None if only is None else only[self.order]
        if step.max_is is not None:
            found = find_minimal_uniques(
                problem.codes.astype(np.uint32),
                missing=self.setting.missing.value,
                workers=self.setting.workers,
            )
            assert found.offsets is not None
            assert found.masks is not None
            families = hitting_sets.scored_sets(problem, found.records, found.offsets, found.masks)
            return hitting_sets.suppress_sets(problem, families, allowed=step.max_is, only=only)
        if asked.by_sets:
            size = step.dimension or max(len(key) for key in asked.key_sets)
            families = hitting_sets.rare_sets(
                problem, asked.key_sets, size, thresholds=step.thresholds, within=asked.strata
            )
            return hitting_sets.suppress_sets(problem, families, only=only)
        if asked.criterion is Criterion.RELEASED_TO_PEOPLE:
            return suppress_released_to_people(problem, only=only)
        return _WAYS[asked.criterion](problem)

    def _with_households(self, problem: SuppressionProblem, homes: Households) -> Solved:
        """Protect households by what they have in common, then persons by the rest."""
        asked, table = self.asked, self.table
        shared = sum(1 << asked.keys.index(name) for name in homes.variables)
        stars = np.zeros(table.n_records, dtype=np.uint64)
        if homes.n_homes < asked.step.k:
            wanted = f"Each household was to have {asked.step.k:,} candidates."
            fault = f"There are {count_of(homes.n_homes, 'household')}."
            raise InputError(Reason.BAD_OPTION, wanted, fault, "Ask for a smaller k.")
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


def _records_above(asked: Checked, table: CodedTable, setting: Setting) -> NDArray[np.bool_] | None:
    """Return the records above the threshold of a measure; None where all are protected."""
    if asked.above is None:
        return None
    from gamekeeper.attack.measures import measure_risk

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
        wanted = f"Records above a threshold of {quoted([measure])} were to be protected."
        found = "There is no such measure per record here."
        raise InputError(Reason.UNKNOWN_NAME, wanted, found, did_you_mean(measure, list(known)))
    values = known[measure].to_numpy(zero_copy_only=False).astype(np.float64)
    return np.nan_to_num(values, nan=-np.inf) > limit
