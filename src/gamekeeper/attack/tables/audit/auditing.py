"""Audit of published tables: what can be worked out about the cells that they hide.

The auditor knows nothing of how cells were chosen to be hidden. It takes everything that is published
of one base, several tables, earlier versions, percentages and means, and asks how small and how large
each hidden figure can be. What it calls known comes with the published figures that give it away;
what it calls open, with figures that agree with everything.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.cells.fact_bounds import FactSearch
from gamekeeper.algorithms.cells.linear_facts import NO_LIMIT, NoNumbersError
from gamekeeper.attack.tables.audit.equations import Equation, equation_of
from gamekeeper.attack.tables.audit.insiders import insider_gains
from gamekeeper.attack.tables.audit.options import AuditInput
from gamekeeper.attack.tables.audit.result import HiddenCell, TableAudit
from gamekeeper.attack.tables.audit.standing import Interval, judge, read_rules
from gamekeeper.data.cells.cell_facts import CellFacts, cell_facts
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.errors import Cancelled, InputError, Problem, Reason
from gamekeeper.options import takes, texts_of
from gamekeeper.results import Progress, Provenance
from gamekeeper.wording import joined

_ASKED = "Published tables were to be audited."
_MOST_PROOFS = 20_000
_SHOWN = 6


@takes(AuditInput)
def audit_tables(tables: TableSet, asked: AuditInput) -> TableAudit:
    """Work out what published tables say about the cells that they hide.

    Stopped by Ctrl-C or after `max_seconds`, it tells what is proven by then.

    Examples
    --------
    >>> from gamekeeper.data.cells.cell_rows import CellRows
    >>> rows = [["Total", 18], ["South", None], ["North", 9], ["East", 7]]
    >>> found = audit_tables(TableSet.of([CellRows.typed(["area"], rows)]))
    >>> print(*found.sentences(), sep=chr(10))
    1 of 1 hidden cell can be recomputed from what is published.
    area=South is 2: 18 (total) less 9 (area=North) and 7 (area=East).
    """
    started = time.perf_counter()
    rules = read_rules(asked.rules)
    known = cell_facts(tables, tolerance=asked.tolerance, negative=asked.negative, says=asked.says)
    until = time.monotonic() + asked.max_seconds
    try:
        # From here on, Ctrl-C keeps what is found.
        if asked.progress is not None:
            asked.progress(0, None)
    except Cancelled:
        until = time.monotonic()
    search, is_stopped = _searched(tables, known, asked.progress, until)
    intervals = _intervals(tables, known, search)
    without: int | None = None
    if asked.says and not is_stopped:
        bare = cell_facts(tables, tolerance=asked.tolerance, negative=asked.negative)
        again, is_stopped = _searched(tables, bare, asked.progress, until)
        without = sum(one.is_known for one in _intervals(tables, bare, again).values())
    gains = ()
    if asked.insiders and not is_stopped:
        gains, is_stopped = insider_gains(tables, known, intervals, asked.progress, until)
    percent = Fraction(str(asked.within))
    cells, proofs = _hidden_cells(tables, known, search, intervals, percent)
    return TableAudit(
        tables,
        known,
        tuple(cells),
        proofs,
        tuple(judge(tables, rules, intervals)),
        float(percent),
        gains,
        without,
        is_stopped,
        Provenance(
            "audit of tables",
            "whole numbers" if known.facts.whole else "real numbers",
            {
                "tables": joined([table.name for table in tables.tables], _SHOWN),
                "cells": str(tables.system.n_cells),
                "sums": str(tables.system.n_equations),
                "programs": str(search.programs),
                **texts_of(
                    replace(asked, progress=None),
                    "rules",
                    "within",
                    "tolerance",
                    "negative",
                    "insiders",
                ),
            },
            fingerprint=tables.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )


def _searched(
    tables: TableSet, known: CellFacts, progress: Progress | None, until: float | None
) -> tuple[FactSearch, bool]:
    """Return the search as far as it came, and whether it was stopped."""
    try:
        search = FactSearch(known.facts, known.wanted)
    except NoNumbersError as error:
        raise _contradiction(tables, known, error) from None
    is_stopped = False
    try:
        left = None if until is None else max(0.0, until - time.monotonic())
        search.run(progress, max_seconds=left)
        is_stopped = until is not None and time.monotonic() > until
    except Cancelled:
        is_stopped = True
    except NoNumbersError as error:
        raise _contradiction(tables, known, error) from None
    return search, is_stopped


def _contradiction(tables: TableSet, known: CellFacts, error: NoNumbersError) -> InputError:
    equations = [int(known.equations[row]) for row in error.rows if known.equations[row] >= 0]
    cells = list(dict.fromkeys(tables.system.equation(e)[0] for e in equations))[:_SHOWN]
    problems = [
        Problem(
            Reason.CONFLICTING_COUNTS,
            tables.words(cell),
            "its published parts do not fit it, whatever the hidden ones are.",
        )
        for cell in cells
    ]
    return InputError(
        Reason.CONFLICTING_COUNTS,
        _ASKED,
        "No figures for the hidden cells agree with everything that is published.",
        "Check the hierarchy, the totals (--total), and whether all tables are of one base. Figures that"
        " were rounded one by one take --tolerance, values that may be below 0 --negative.",
        problems=problems,
    )


def _intervals(tables: TableSet, known: CellFacts, search: FactSearch) -> dict[int, Interval]:
    """Return what is known of every hidden cell."""
    found = search.found()
    # Where tables were not joined, or shares not used, what seems possible need not be.
    is_whole_story = tables.system.is_joined and not any(
        "could not be used" in n for n in known.notices
    )
    slack = _slack(known)
    intervals: dict[int, Interval] = {}
    for cell in tables.hidden.tolist():
        if cell in tables.published_elsewhere:
            figure = tables.figures[cell]
            intervals[cell] = Interval(figure, figure, figure, figure, False)
    for at, number in enumerate(found.numbers):
        low, high, reached_low, reached_high = (
            None if one is None else one / known.scale
            for one in (
                found.least[at],
                found.most[at],
                found.reached_least[at],
                found.reached_most[at],
            )
        )
        intervals[int(known.cells[number])] = Interval(
            low,
            high,
            reached_low if is_whole_story else None,
            reached_high if is_whole_story else None,
            found.endless[at] and is_whole_story,
            Fraction(int(slack[number]), known.scale),
        )
    return {cell: intervals[cell] for cell in tables.hidden.tolist()}


def _slack(known: CellFacts) -> NDArray[np.int64]:
    """Return for each number how wide an interval rounding explains: the least room of its sums."""
    facts = known.facts
    gaps = np.where(known.equations >= 0, facts.high - facts.low, NO_LIMIT)
    found = np.full(len(facts.lower), NO_LIMIT, np.int64)
    np.minimum.at(found, facts.members, gaps[facts.entry_rows])
    return np.where(found >= NO_LIMIT, 0, found)


def _hidden_cells(
    tables: TableSet,
    known: CellFacts,
    search: FactSearch,
    intervals: dict[int, Interval],
    percent: Fraction,
) -> tuple[list[HiddenCell], dict[int, tuple[Equation, ...]]]:
    where = _where(tables)
    cells = [
        HiddenCell(
            cell,
            where.get(cell, ()),
            tables.statuses[cell],
            tables.truths[cell],
            interval,
            interval.is_within(percent),
            cell in tables.published_elsewhere,
            percent,
        )
        for cell, interval in intervals.items()
    ]
    cells.sort(key=lambda one: one.order)
    proofs: dict[int, tuple[Equation, ...]] = {}
    for one in [own for own in cells if own.is_known or own.is_near][:_MOST_PROOFS]:
        if one.is_elsewhere:
            continue
        number = int(known.number[one.cell])
        sides = [search.proof(number, is_upper=side) for side in (True, False)]
        made = [equation_of(tables, known, proof) for proof in sides if proof is not None]
        if made and made[0].is_equation:
            made = made[:1]
        proofs[one.cell] = tuple(made)
    return cells, proofs


def _where(tables: TableSet) -> dict[int, tuple[str, ...]]:
    """Return the tables that hide each cell."""
    found: dict[int, list[str]] = {}
    for table, own in zip(tables.tables, tables.system.tables, strict=False):
        for cell, status in zip(own.tolist(), table.statuses, strict=True):
            if status.is_hidden:
                found.setdefault(cell, []).append(table.name)
    return {cell: tuple(names) for cell, names in found.items()}
