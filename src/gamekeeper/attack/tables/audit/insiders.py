"""What the sole contributors to hidden cells learn of others, since they know their own figure.

Whoever is alone in a cell knows it, and subtracts it from what is published like anybody would a
published figure. That is what the "singleton" rules of other tools approximate; here the attack itself
is run, once for each cell with one contributor.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.cells.fact_bounds import FactSearch
from gamekeeper.algorithms.cells.linear_facts import NoNumbersError
from gamekeeper.attack.tables.audit.standing import Interval
from gamekeeper.data.cells.cell_facts import CellFacts
from gamekeeper.data.cells.table_set import TableSet
from gamekeeper.errors import Cancelled
from gamekeeper.results import Progress


@dataclass(frozen=True)
class InsiderGain:
    """What the sole contributor to one cell can recompute."""

    insider: int
    cells: tuple[int, ...]


def insider_gains(
    tables: TableSet,
    known: CellFacts,
    intervals: dict[int, Interval],
    progress: Progress | None,
    until: float | None,
) -> tuple[tuple[InsiderGain, ...], bool]:
    """Return who can recompute what, of those alone in a hidden cell, and whether it was stopped."""
    alone = _alone(tables, known)
    asked = [
        int(known.number[cell])
        for cell, one in intervals.items()
        if not one.is_known and known.number[cell] >= 0
    ]
    found: list[InsiderGain] = []
    for done, (cell, figure) in enumerate(alone):
        if until is not None and time.monotonic() > until:
            return tuple(found), True
        number = int(known.number[cell])
        lower, upper = known.facts.lower.copy(), known.facts.upper.copy()
        lower[number] = upper[number] = int(figure * known.scale)
        try:
            facts = replace(known.facts, lower=lower, upper=upper)
            search = FactSearch(facts, np.array([n for n in asked if n != number], np.int64))
            search.run(only_known=True)
        except (Cancelled, NoNumbersError):
            continue
        bounds = search.found()
        gained = tuple(
            int(known.cells[n])
            for at, n in enumerate(bounds.numbers)
            if bounds.least[at] is not None and bounds.least[at] == bounds.most[at]
        )
        if gained:
            found.append(InsiderGain(cell, gained))
        if progress is not None:
            try:
                progress(done + 1, len(alone))
            except Cancelled:
                return tuple(found), True
    return tuple(found), False


def _alone(tables: TableSet, known: CellFacts) -> list[tuple[int, Fraction]]:
    """Return the hidden cells with one contributor whose figure the files have."""
    found: dict[int, Fraction] = {}
    for table, cells in zip(tables.tables, tables.system.tables, strict=False):
        for at, cell in enumerate(cells.tolist()):
            figure = table.figures[at]
            is_one = table.counts is not None and table.counts[at] == 1
            if (
                is_one
                and figure is not None
                and table.statuses[at].is_hidden
                and known.number[cell] >= 0
            ):
                found[cell] = figure
    return sorted(found.items())
