"""What the report on an audit says: what is given away and why, how rules stand, the tables by levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamekeeper.attack.tables.audit.equations import figure_text
from gamekeeper.attack.tables.audit.result import HiddenCell, TableAudit
from gamekeeper.report.risk_page import RiskReport, RiskSection, RiskTable
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_GRIDS, _ROWS, _COLUMNS = 12, 40, 14
_LISTED = 1_000
_WORDS = (
    ("Hidden", "the figure is not published, whatever the reason"),
    ("Recomputed", "one figure alone agrees with everything that is published"),
    ("Nearly known", "a guess of the middle is off by at most the percentage that was asked for"),
    ("Open", "two different figures are shown to agree with everything that is published"),
    ("Not settled", "neither was proven: under a rule, that counts as not met"),
    ("Tight", "figures at both ends of the interval are shown to be possible"),
)


def audit_report(found: TableAudit, *, with_records: bool = True) -> RiskReport:
    """Put together what an audit found; without records, no cells."""
    tables = found.tables
    tiles = [
        (f"{found.n_hidden:,}", "hidden cells"),
        (f"{found.n_recomputed:,}", "recomputed"),
        (f"{found.n_near:,}", f"more within {found.within:g}%"),
        (f"{found.n_not_settled:,}", "not settled"),
    ]
    facts = [
        *(
            (table.name, f"{len(table):,} cells, {table.n_hidden:,} hidden")
            for table in tables.tables
        ),
        ("Axes", ", ".join(tables.axes)),
        ("Sums", f"{tables.system.n_equations:,}"),
        *((one.rule, f"{one.standing}: {one.words}") for one in found.standings),
    ]
    sections = [_given_away(found), *_grid_sections(found), _hidden(found)] if with_records else []
    if found.standings:
        sections.insert(0, _rules(found))
    return RiskReport(
        "What hidden cells give away",
        [
            *found.sentences(0),
            *([] if with_records else ["Single cells are left out of this page."]),
        ],
        facts,
        tiles,
        sections,
        [found.provenance],
        words=_WORDS,
        kicker="Audit of published tables",
        question="Which hidden cells can be worked out from what is published?",
    )


def _rules(found: TableAudit) -> RiskSection:
    import pyarrow as pa

    rows = pa.table(
        {
            "rule": [one.rule for one in found.standings],
            "what it asks": [one.words for one in found.standings],
            "standing": [str(one.standing) for one in found.standings],
            "cells that break it": [len(one.broken) for one in found.standings],
            "not proven": [len(one.not_proven) for one in found.standings],
        }
    )
    said = [one.sentence() for one in found.standings]
    return RiskSection("rules", "How the rules stand", said, (), [RiskTable.of("Rules", rows)])


def _given_away(found: TableAudit) -> RiskSection:
    import pyarrow as pa

    own = [one for one in found.cells if one.is_known or one.is_near]
    rows = pa.table(
        {
            "cell": pa.array([found.tables.words(one.cell) for one in own], pa.string()),
            "known": pa.array([one.verdict for one in own], pa.string()),
            "interval": pa.array([_interval(one) for one in own], pa.string()),
            "why": pa.array([found.why(one) for one in own], pa.string()),
        }
    )
    said = [found.verdict()] if own else ["No hidden cell is given away."]
    return RiskSection(
        "given-away",
        "What is given away",
        said,
        (),
        [RiskTable.of("Cells, and the figures that give them away", rows, most=_LISTED)]
        if own
        else [],
    )


def _hidden(found: TableAudit) -> RiskSection:
    said = [f"{count_of(found.n_hidden, 'hidden cell')}, those that are known best first."]
    rows = found.to_arrow().drop_columns(["why"])
    return RiskSection(
        "hidden", "All hidden cells", said, (), [RiskTable.of("Hidden cells", rows, most=_LISTED)]
    )


def _interval(one: HiddenCell) -> str:
    low, high = one.interval.low, one.interval.high
    least = "no least" if low is None else figure_text(low)
    if one.is_known and low is not None:
        return least
    return f"{least} or more" if high is None else f"{least} to {figure_text(high)}"


def _grid_sections(found: TableAudit) -> list[RiskSection]:
    """Return the tables as grids, level by level: the top ones, and those with what is given away."""
    grids = [
        RiskTable.of(title, rows)
        for number, table in enumerate(found.tables.tables)
        for title, rows in _grids(found, number, table.axes)
    ]
    if not grids:
        return []
    said = [
        (
            "Figures as they are published; '?' stands for a hidden cell, '= 5 !' for one that can be"
            " recomputed, '~' for one that is nearly known, '·' for no row."
        ),
    ]
    if len(grids) > _GRIDS:
        said.append(
            f"{len(grids) - _GRIDS:,} more parts are left out; those with cells that are given away come first."
        )
    return [RiskSection("grids", "The tables, level by level", said, (), grids[:_GRIDS])]


def _grids(found: TableAudit, number: int, names: tuple[str, ...]) -> list[tuple[str, pa.Table]]:
    tables = found.tables
    system = tables.system
    if not names:
        return []
    rows_at = tables.axes.index(names[0])
    columns_at = tables.axes.index(names[1]) if len(names) > 1 else None
    cells = system.tables[number]
    place = {tuple(system.nodes[cell].tolist()): int(cell) for cell in cells.tolist()}
    marks = {one.cell: one for one in found.cells}
    top = system.axes[rows_at]
    wholes = [
        node
        for node in dict.fromkeys([top.total, *system.nodes[cells][:, rows_at].tolist()])
        if top.splits[node]
    ]
    made: list[tuple[bool, str, pa.Table]] = []
    for whole in wholes:
        own = [int(node) for node in top.splits[whole][0]][:_ROWS]
        grid, has_known = _grid(found, place, marks, rows_at, columns_at, [*own, whole])
        if grid is not None:
            words = f"Table {quoted([tables.tables[number].name])}: {top.labels[whole]}"
            made.append((has_known or whole == top.total, words, grid))
    made.sort(key=lambda one: not one[0])
    return [(words, grid) for _, words, grid in made]


def _grid(
    found: TableAudit,
    place: dict[tuple[int, ...], int],
    marks: dict[int, HiddenCell],
    rows_at: int,
    columns_at: int | None,
    rows: list[int],
) -> tuple[pa.Table | None, bool]:
    import pyarrow as pa

    axes = found.tables.system.axes
    columns = [-1]
    if columns_at is not None:
        side = axes[columns_at]
        used = {key[columns_at] for key in place}
        columns = [node for node in range(len(side)) if node in used and node != side.total][
            : _COLUMNS - 1
        ]
        columns += [side.total] if side.total in used else []
    texts: dict[str, Any] = {
        axes[rows_at].labels[axes[rows_at].total]: [axes[rows_at].labels[row] for row in rows]
    }
    has_known = False
    for column in columns:
        own: list[str] = []
        for row in rows:
            key = np.array([axis.total for axis in axes])
            key[rows_at] = row
            if columns_at is not None:
                key[columns_at] = column
            cell = place.get(tuple(key.tolist()))
            hidden = marks.get(-1 if cell is None else cell)
            has_known |= hidden is not None and (hidden.is_known or hidden.is_near)
            own.append(_mark(found, cell, hidden))
        name = "figure" if columns_at is None else axes[columns_at].labels[column]
        texts[name if name not in texts else f"{name} "] = own
    if all(text == "·" for name, own in texts.items() for text in own if name != next(iter(texts))):
        return None, False
    return pa.table(texts), has_known


def _mark(found: TableAudit, cell: int | None, hidden: HiddenCell | None) -> str:
    if cell is None:
        return "·"
    if hidden is None:
        figure = found.tables.figures[cell]
        return "·" if figure is None else figure_text(figure)
    if hidden.is_known and hidden.interval.low is not None:
        return f"= {figure_text(hidden.interval.low)} !"
    return "~" if hidden.is_near else "?"
