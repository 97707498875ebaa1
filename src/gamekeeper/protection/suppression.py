"""The step that suppresses cells: what may be asked of it, and what it did, in words."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.suppression.problem import MAX_WORK
from gamekeeper.data.coding.codebook import MISSING
from gamekeeper.data.coding.coded_table import CodedTable, replace_cells
from gamekeeper.data.reading.columns import matched_names
from gamekeeper.errors import Problem, Reason
from gamekeeper.options import Option, defaulting
from gamekeeper.prompt_syntax import names_of, number_pairs_of, pairs_of
from gamekeeper.protection import suppression_problem
from gamekeeper.protection.step import (
    ChangeLog,
    NotReachableError,
    Protected,
    Setting,
    Step,
    VariableChange,
    problems_of,
    protected_by,
)
from gamekeeper.protection.targets import Criterion
from gamekeeper.wording import count_of, digits_text, joined, percent_text, quoted

_suppressing = defaulting(partial(Option, panel="Suppression"))


@dataclass(frozen=True, kw_only=True)
class Suppress(Step):
    """Suppress cells of key variables.

    Examples
    --------
    >>> from gamekeeper.data.coding.coded_table import coded_from_codes
    >>> table = coded_from_codes([[3, 1], [4, 1], [5, 2], [5, 2]], ["age", "sex"])
    >>> made = Suppress(k=2).apply(table, Setting(keys=("age", "sex")))
    >>> made.log.n_suppressed, made.table.matrix().tolist()
    (2, [[0, 1], [0, 1], [5, 2], [5, 2]])
    """

    do: ClassVar[str] = "suppress"
    iso: ClassVar[str] = "local suppression"
    criterion: Criterion | str = _suppressing(
        Criterion.BOTH,
        "What is to be reached. both: everybody fits k rows and every row k people."
        " released_to_people: every row fits k people, the cheapest of all. own: every row looks"
        " like k-1 others.",
    )
    k: int = _suppressing(3, "So many candidates at least.", least=2)
    costs: Mapping[str, float] = _suppressing(
        {},
        "VARIABLE=NUMBER: what a suppressed cell of it costs; 1 where it is not said.",
        flags="--cost",
        read=partial(number_pairs_of, "--cost VARIABLE=NUMBER"),
    )
    pinned: tuple[str, ...] = _suppressing(
        (), "A key variable that is never suppressed.", flags="--pin", read=names_of
    )
    related: Mapping[str, str] = _suppressing(
        {},
        "COLUMN=VARIABLE: a column that is suppressed wherever the key variable is, such as a year"
        " of birth with the age.",
        read=partial(pairs_of, "--related COLUMN=VARIABLE"),
    )
    dimension: int | None = _suppressing(
        None,
        "Look at combinations of up to so many key variables, and not at all together"
        " (released_to_people only).",
        least=1,
    )
    thresholds: tuple[int, ...] = _suppressing(
        (),
        "For 1, 2, ... variables the least number of people; k where it is not said.",
        flags="--threshold",
        least=2,
    )
    several: tuple[str, ...] = _suppressing(
        (),
        "Key variables that are known together, with commas: 'Age,Sex,Region'. Given several"
        " times, each key is protected and all of them at once (released_to_people only).",
        flags="--key-set",
    )
    max_is: int | None = _suppressing(
        None,
        "Suppress until the intruder score IS of every record is at most this, instead of k.",
        least=0,
    )
    above: str = _suppressing(
        "",
        "MEASURE>NUMBER: protect only records above a threshold of a measure per record, such as"
        " 'is>100', 'dis_suda>0.02', 'individual_risk>0.05' (released_to_people only).",
    )
    weighted: bool = _suppressing(
        False, "Whether a cell costs as much as the weight of its record."
    )
    population: bool = _suppressing(
        False,
        "Whether k counts people of the population, by sums of weights (released_to_people only).",
    )
    household_variables: suppression_problem.HouseholdVariables = ()
    partial: bool = _suppressing(
        False, "Whether to protect those who can be where some cannot, and tell how many are left."
    )
    max_work: int = _suppressing(MAX_WORK, "Rows times sets of variables at most.", least=1)

    def to_json(self) -> dict[str, Any]:
        """Return the step as plain values; what is to be reached is told even where it is the default."""
        aim: dict[str, Any] = {"criterion": Criterion(self.criterion).value, "k": self.k}
        return {"do": self.do, **aim, **super().to_json()}

    def columns(self) -> tuple[str, ...]:
        """Return the columns that follow key variables."""
        return tuple(self.related)

    def check(self, table: CodedTable, setting: Setting) -> list[Problem]:
        """Return what cannot be asked of this file."""
        found = problems_of(
            lambda: suppression_problem.checked(self, table, setting), "suppression"
        )
        homes = matched_names(self.household_variables, setting.keys)
        known = [name for name in homes if name in setting.keys]
        if known:
            found += problems_of(
                lambda: suppression_problem.find_households(table, setting, known), "household"
            )
        return found

    def apply(self, table: CodedTable, setting: Setting, place: int = 1) -> Protected:
        """Suppress cells; `place` does not matter, since nothing is drawn."""
        started = time.perf_counter()
        asked = suppression_problem.checked(self, table, setting)
        solved = suppression_problem.solve(asked, table, setting)
        if solved.n_unmet and not self.partial:
            raise _cannot(asked, solved)
        made, log = _suppressed(asked, solved, table)
        found = {
            "cells": log.n_suppressed,
            "cost": float(solved.cost),
            "lower_bound": float(solved.lower_bound),
            "optimal": solved.is_optimal,
            "gap": solved.gap,
            **({"unmet": solved.n_unmet} if solved.n_unmet else {}),
        }
        told = _told(asked, solved, log)
        return protected_by(self, table, made, log, setting, told=told, found=found, began=started)


def _suppressed(
    asked: suppression_problem.Checked, solved: suppression_problem.Solved, table: CodedTable
) -> tuple[CodedTable, ChangeLog]:
    codes: dict[str, NDArray[np.int64]] = {}
    changes: dict[str, VariableChange] = {}
    for column, name in enumerate(asked.keys):
        stars = (solved.stars >> np.uint64(column)) & np.uint64(1) == 1
        if not stars.any():
            continue
        for each in (name, *asked.related.get(name, ())):
            before = table.codes(each).astype(np.int64)
            shown = stars
            if each in changes:
                # A column that follows several variables.
                shown = stars | (codes[each] == MISSING) & (before != MISSING)
            codes[each] = np.where(shown, MISSING, before)
            change = shown & (before != MISSING)
            changes[each] = VariableChange.of_cells(change, suppressed=shown)
    return replace_cells(table, codes), ChangeLog(table.n_records, changes)


def _told(
    asked: suppression_problem.Checked, solved: suppression_problem.Solved, log: ChangeLog
) -> list[str]:
    step = asked.step
    n_cells = count_of(log.n_suppressed, "cell")
    most = sorted(((c.n_suppressed, name) for name, c in log.variables.items()), reverse=True)
    where = joined([f"{name} {n:,}" for n, name in most if n])
    if asked.has_costs:
        # Costs have no unit that says anything by itself: what is told is how much could be saved.
        proof = "By what cells cost, nothing cheaper does it: proven."
        if not solved.is_optimal and solved.cost:
            share = float(solved.lower_bound / solved.cost)
            proof = f"By what cells cost, whatever does it costs at least {percent_text(share)} of that."
    elif solved.is_optimal:
        proof = "It is proven that fewer do not do."
    else:
        bound = digits_text(float(solved.lower_bound), 10)
        proof = f"At least {bound} cells are needed (gap {percent_text(solved.gap)})."
    if solved.n_unmet:
        left = count_of(
            solved.n_unmet, "record cannot be helped and stays", "records cannot be helped and stay"
        )
        proof = f"{left} as before: no cells that may be suppressed do."
    stars = f"{n_cells} suppressed{f' ({where})' if where else ''}"
    # What is reached for some is not told as if it were for all.
    reached = (
        f"{stars}; that {asked.aim} is not reached for all."
        if solved.n_unmet
        else f"{stars}, so that {asked.aim}."
    )
    said = [f"{reached} {proof}"]
    said += list(solved.notes)
    if step.related and log.n_suppressed:
        said.append(f"{quoted(list(step.related))} followed the variables they go with.")
    return said


def _cannot(
    asked: suppression_problem.Checked, solved: suppression_problem.Solved
) -> NotReachableError:
    pinned = asked.step.pinned
    blocked = f" with {quoted(pinned)} pinned" if pinned else ""
    return NotReachableError(
        Reason.BAD_OPTION,
        f"Cells were to be suppressed, so that {asked.aim}.",
        f"{count_of(solved.n_unmet, 'record')} cannot be helped by any cells that may be suppressed"
        f"{blocked}.",
        "Pin fewer variables, ask for a smaller k, or make what is pinned coarser first.",
        problems=[Problem(Reason.BAD_OPTION, "k", f"{solved.n_unmet:,} records stay below it.")],
    )
