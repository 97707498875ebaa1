"""What is asked of a suppression, held against the file: every fault in one error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compatibility.packed_keys import MOST_COLUMNS
from gamekeeper.data.coding.coded_table import CodedTable
from gamekeeper.data.keys.missing import Missing
from gamekeeper.data.reading.column_names import matched_name
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.prompt_syntax import names_of
from gamekeeper.protect.setting import Setting
from gamekeeper.protect.targets import Criterion
from gamekeeper.wording import count_of, digits_text, joined, quoted

if TYPE_CHECKING:
    from gamekeeper.protect.suppression.suppress import Suppress

_ABOVE = re.compile(
    r"^\s*(?P<measure>\w+)\s*>\s*(?P<limit>[0-9]+(?:\.[0-9]+)?)\s*(?P<percent>%?)\s*$"
)
SCALE = 1 << 20
"""Weights count in parts of this, rounded down, so that no sum is larger than it is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A suppression that can be asked of a file.

    Attributes
    ----------
    keys
        The columns that are compared: key variables, and the stratum at last where there is one.
    costs
        What a cell of each costs.
    pinned
        The places of columns that are never suppressed.
    key_sets
        The places of the columns of each key; one list of all where there is one key.
    related
        For each key variable the columns that follow it.
    above
        A measure per record and its threshold.
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
            problems.append(
                Problem(
                    Reason.BAD_OPTION,
                    f"related column {quoted([column])}",
                    "it is a key variable itself.",
                )
            )
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
    refuse(
        problems,
        "Cells were to be suppressed.",
        f"{count_of(len(problems), 'thing')} cannot be asked.",
    )
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
        problems.append(
            Problem(
                Reason.NOTHING_GIVEN,
                "weight",
                "weights are to count, and none are named.",
                "Name them (--weight).",
            )
        )
    if step.household_variables and not setting.household:
        problems.append(
            Problem(
                Reason.NOTHING_GIVEN,
                "household",
                "it is not named.",
                "Name the column (--household).",
            )
        )
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
        problems.append(
            Problem(
                Reason.BAD_OPTION,
                f"above {quoted([typed])}",
                "it cannot be read.",
                "Write MEASURE>NUMBER: 'is>100'.",
            )
        )
        return None
    return match["measure"], float(match["limit"]) / (100 if match["percent"] else 1)
