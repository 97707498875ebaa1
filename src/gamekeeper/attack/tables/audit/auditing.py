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

from gamekeeper.algorithms.cells.fact_bounds import FactSearch
from gamekeeper.attack.tables.assumptions import assumed_summary
from gamekeeper.attack.tables.audit.equations import Equation, equation_of
from gamekeeper.attack.tables.audit.insiders import Insiders, insiders_of
from gamekeeper.attack.tables.audit.intervals import Interval
from gamekeeper.attack.tables.audit.options import AuditInput
from gamekeeper.attack.tables.audit.result import HiddenCell, TableAudit
from gamekeeper.attack.tables.audit.rounding import rounding_of
from gamekeeper.attack.tables.audit.searching import MOST_SECONDS, intervals_of, searched
from gamekeeper.attack.tables.audit.standing import judge, read_rules
from gamekeeper.data.cells.cell_facts import CellFacts, Says, assumed_of_tables, cell_facts
from gamekeeper.data.cells.contributors import contributors_of_tables
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.errors import Cancelled, InputError, Reason
from gamekeeper.options import takes, texts_of
from gamekeeper.results import Provenance
from gamekeeper.wording import did_you_mean, joined, quoted

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
    if asked.says and not tables.whole:
        raise InputError(
            Reason.BAD_OPTION,
            "Statuses were said to tell something of the cells that they hide.",
            "They tell how many contribute, and the figures of these tables are values.",
            "Leave out --says: how many contribute says nothing of what they add up to.",
        )
    _require_said(tables, asked.says or {})
    known = cell_facts(tables, tolerance=asked.tolerance, negative=asked.negative, says=asked.says)
    is_limited = asked.max_seconds is None
    until = time.monotonic() + (MOST_SECONDS if asked.max_seconds is None else asked.max_seconds)
    try:
        # From here on, Ctrl-C keeps what is found.
        if asked.progress is not None:
            asked.progress(0, None)
    except Cancelled:
        until = time.monotonic()
    search, is_stopped = searched(
        tables, known, asked.progress, until, tell=asked.tell, is_limited=is_limited
    )
    intervals = intervals_of(tables, known, search)
    without: int | None = None
    if asked.says and not is_stopped:
        bare = cell_facts(tables, tolerance=asked.tolerance, negative=asked.negative)
        again, is_stopped = searched(tables, bare, asked.progress, until)
        without = sum(one.is_known for one in intervals_of(tables, bare, again).values())
    insiders: Insiders | None = None
    if asked.insiders:
        given = asked.contributors or contributors_of_tables(tables)
        end = time.monotonic() if is_stopped else until
        insiders = insiders_of(
            tables, known, search, intervals, given, asked.coalition, asked.progress, end
        )
    percent = Fraction(str(asked.within))
    cells, proofs = _hidden_cells(tables, known, search, intervals, percent)
    rounding = rounding_of(tables, asked.tolerance)
    standings = judge(
        rules,
        intervals,
        tables,
        insiders,
        signed=known.is_signed,
        unexamined=rounding.left_out,
    )
    found = TableAudit(
        tables,
        known,
        tuple(cells),
        proofs,
        tuple(standings),
        float(percent),
        insiders,
        without,
        is_stopped,
        rounding,
        Provenance(
            "audit of tables",
            "whole numbers" if known.facts.whole else "real numbers",
            {
                "tables": joined([table.name for table in tables.tables], _SHOWN),
                "cells": str(tables.system.n_cells),
                "sums": str(tables.system.n_equations),
                "programs": str(search.programs),
                **texts_of(
                    replace(asked, progress=None, tell=None, contributors=None),
                    "rules",
                    "within",
                    "tolerance",
                    "negative",
                    "insiders",
                    "coalition",
                ),
            },
            fingerprint=tables.fingerprint,
            seconds=time.perf_counter() - started,
        ),
    )
    assumed = assumed_of_tables(tables, known)
    if not assumed:
        return found
    # What seems possible if labels exclude each other need not be.
    doubted = {cell: one.doubted() for cell, one in intervals.items()}
    standings = judge(
        rules,
        doubted,
        tables,
        insiders,
        signed=known.is_signed,
        unexamined=rounding.left_out,
    )
    return replace(
        found,
        cells=tuple(one.doubted() for one in found.cells),
        standings=tuple(standings),
        assumed=assumed,
        if_disjoint=found,
        provenance=replace(
            found.provenance,
            parameters={**found.provenance.parameters, **assumed_summary(assumed)},
        ),
    )


def _require_said(tables: TableSet, says: Says) -> None:
    """Refuse what is said of something that no hidden cell has, by its status or by what is printed."""
    seen = {
        own.strip()
        for table in tables.tables
        for texts in (table.marks, table.printed or ())
        for own, status in zip(texts, table.statuses, strict=False)
        if status.is_hidden and own.strip()
    }
    unknown = [own for own in says if own not in seen]
    if unknown:
        raise InputError(
            Reason.UNKNOWN_NAME,
            "It was said what some hidden cells tell of their counts (--says).",
            f"No hidden cell has {quoted(unknown)} as its status, or printed in its place.",
            did_you_mean(unknown[0], seen)
            if seen
            else "Hidden cells are empty: nothing to say of them.",
        )


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
        # One that is an equation says both how small and how large a figure is.
        made = [own for own in made if own.is_equation][:1] or made
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
