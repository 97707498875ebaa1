"""Reports on released tables and on audits: bounds, what is given away and why, and of whom.

An audit's has how rules stand, and the tables by levels; that of a release has what subtraction
adds.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from gamekeeper.algorithms.releases.cell_system import AxisNodes
from gamekeeper.arrow import pa
from gamekeeper.attack.tables.audit_result import HiddenCell, TableAudit, figure_text, printed_text
from gamekeeper.attack.tables.bounding import HOW_IN_AUDITS, possible_sums_words
from gamekeeper.attack.tables.bounds import TableBounds
from gamekeeper.attack.tables.feasible import Attributions
from gamekeeper.attack.tables.subtraction import SubtractionAttack
from gamekeeper.data.tables.release import Release
from gamekeeper.report.page import RiskReport, RiskSection, RiskTable
from gamekeeper.results import Provenance
from gamekeeper.wording import count_of, digits_text, quoted, shape_text

_GRIDS, _ROWS, _COLUMNS = 12, 40, 10
_LISTED = 200
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
        (f"{found.n_near:,}", f"more within {digits_text(found.within)}%"),
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
    sections = [_levels(found)] if found.cells else []
    if with_records:
        sections = [
            _given_away(found), *_insiders(found), *sections, *_grid_sections(found), _hidden(found),
        ]  # fmt: skip
    if found.standings:
        sections.insert(0, _rules(found))
    if found.assumed and with_records:
        said = possible_sums_words(found.assumed, HOW_IN_AUDITS)
        sections.insert(0, RiskSection("labels", "Labels to ask about", said, (), []))
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


def bounds_report(found: TableBounds, *, with_records: bool = True) -> RiskReport:
    """Put together the bounds of cells of published tables; without records, no cells."""
    assert found.cells is not None
    tables = found.cells.tables
    sections = [_bounds(found)] if with_records else []
    if found.standings:
        sections.insert(0, _rules(found))
    return RiskReport(
        "What published tables give away",
        [
            *(found.sentences() if with_records else found.sentences(0)),
            *([] if with_records else ["Single cells are left out of this page."]),
        ],
        [
            *(
                (table.name, f"{len(table):,} cells, {table.scheme.text}")
                for table in tables.tables
            ),
            ("Axes", ", ".join(tables.axes)),
            ("Sums", f"{tables.system.n_equations:,}"),
        ],
        [
            (f"{found.n_cells:,}", "cells"),
            (f"{found.n_known:,}", "known exactly"),
            (f"{found.n_zeros:,}", "certainly empty"),
        ],
        sections,
        [found.provenance],
        words=_RELEASE_WORDS[1:3],
        kicker="Published tables",
        question="How small and how large can each figure be?",
    )


def _rules(found: TableAudit | TableBounds) -> RiskSection:
    columns = {
        "rule": [one.rule for one in found.standings],
        "what it asks": [one.words for one in found.standings],
        "standing": [str(one.standing) for one in found.standings],
        "cells that break it": [len(one.broken) for one in found.standings],
        "not proven": [len(one.not_proven) for one in found.standings],
    }
    rows = pa.table(columns)
    said = [one.sentence() for one in found.standings]
    return RiskSection("rules", "How the rules stand", said, (), [RiskTable.of("Rules", rows)])


def _given_away(found: TableAudit) -> RiskSection:
    own = [one for one in found.cells if one.is_known or one.is_near]
    columns = {
        "cell": pa.array([found.tables.words(one.cell) for one in own], pa.string()),
        "status": pa.array([str(one.status) for one in own], pa.string()),
        "figure": pa.array([_interval(one) for one in own], pa.string()),
        "why": pa.array([_why(found, one) for one in own], pa.string()),
    }
    rows = pa.table(columns)
    is_open = found.cells and not own and not found.n_not_settled
    said = ["No hidden cell is given away."] if is_open else [found.verdict()]
    if len(own) > _LISTED:
        said.append(
            f"The first {_LISTED:,} are listed, those that a rule or a person called unsafe before others;"
            " all are written by --output."
        )
    tables = (
        [RiskTable.of("Cells, and the figures that give them away", rows, most=_LISTED)]
        if own
        else []
    )
    return RiskSection("given-away", "What is given away", said, (), tables)


def _why(found: TableAudit, one: HiddenCell) -> str:
    """Return the reason without the name of the cell, which stands beside it."""
    name = f"{found.tables.words(one.cell)} "
    return found.why(one).replace(f". {name}", ". It ").removeprefix(name)


def _insiders(found: TableAudit) -> list[RiskSection]:
    if found.insiders is None:
        return []
    said = found.insiders.sentences(found.tables, Fraction(str(found.within)), 100)
    return [RiskSection("insiders", "What contributors learn of each other", said, (), [])]


def _levels(found: TableAudit) -> RiskSection:
    """Return how many cells of each level are hidden and given away."""
    tables = found.tables
    system = tables.system
    listed = np.unique(np.concatenate(system.tables[: len(tables.tables)]))
    depths = [_depths(axis) for axis in system.axes]
    keys = [
        tuple(d[node] for d, node in zip(depths, own, strict=True)) for own in system.nodes.tolist()
    ]
    verdicts = {one.cell: one.verdict for one in found.cells}
    counts: dict[tuple[int, ...], Counter[str]] = {}
    for cell in listed.tolist():
        own = counts.setdefault(keys[cell], Counter())
        own["cells"] += 1
        if cell in verdicts:
            own["hidden"] += 1
            own[verdicts[cell]] += 1
    order = sorted(counts)
    columns: dict[str, Any] = {
        name: [_level_words(key[at], max(depths[at])) for key in order]
        for at, name in enumerate(tables.axes)
    }
    for name, kinds in (
        ("cells", ("cells",)),
        ("hidden", ("hidden",)),
        ("recomputed", ("recomputed", "published elsewhere")),
        ("nearly known", ("nearly known",)),
        ("not settled", ("not settled",)),
    ):
        title = name if name not in columns else f"{name} "
        columns[title] = [sum(counts[key][kind] for kind in kinds) for key in order]
    said = [
        "Level 1 is below the total; what is recomputed at a high level gives much away below it."
    ]
    return RiskSection(
        "levels",
        "By level",
        said,
        (),
        [RiskTable.of("Cells by level", pa.table(columns), most=_LISTED)],
    )


def _depths(axis: AxisNodes) -> list[int]:
    """Return how far each node is below the total of its axis, by the longest way."""
    found = [0] * len(axis)
    waiting = [axis.total]
    while waiting:
        node = waiting.pop()
        for way in axis.splits[node]:
            for part in way.tolist():
                if found[part] <= found[node]:
                    found[part] = found[node] + 1
                    waiting.append(part)
    return found


def _level_words(depth: int, most: int) -> str:
    if not depth:
        return "total"
    return "each label" if most == 1 else f"level {depth} of {most}"


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
    n_left = 0
    parts: list[list[tuple[str, pa.Table]]] = []
    for number, table in enumerate(found.tables.tables):
        own, n_more = _grids(found, number, table.axes)
        parts.append(own)
        n_left += n_more
    # The top of each table first, then the rest of each.
    listed = [own[0] for own in parts if own] + [one for own in parts for one in own[1:]]
    grids = [RiskTable.of(title, rows) for title, rows in listed]
    if not grids:
        return []
    said = [
        (
            "Figures as they are published; '?' stands for a hidden cell, '= 5 !' for one that can be"
            " recomputed, '~' for one that is nearly known, '·' for no row."
            + (" '≈' is before a figure that is not the true one." if found.n_perturbed else "")
        ),
    ]
    n_left += max(0, len(grids) - _GRIDS)
    if n_left:
        said.append(
            f"{n_left:,} more parts are left out; those in which most is given away come first."
        )
    return [RiskSection("grids", "The tables, level by level", said, (), grids[:_GRIDS])]


def _grids(
    found: TableAudit, number: int, names: tuple[str, ...]
) -> tuple[list[tuple[str, pa.Table]], int]:
    """Return parts of a table, totals and what is most given away first, and how many more there are."""
    tables = found.tables
    system = tables.system
    if not names:
        return [], 0
    at = [tables.axes.index(name) for name in names[:2]]
    axes = [system.axes[one] for one in at]
    cells = system.tables[number]
    place = {tuple(system.nodes[cell].tolist()): int(cell) for cell in cells.tolist()}
    marks = {one.cell: one for one in found.cells}
    over = [_wholes(axis) for axis in axes]
    totals = np.array([axis.total for axis in system.axes])
    inner = [own for own in range(len(totals)) if own not in at]
    counts: Counter[tuple[int, ...]] = Counter({tuple(axis.total for axis in axes): 0})
    for cell in cells.tolist():
        one, nodes = marks.get(int(cell)), system.nodes[cell]
        if one is None or not (one.is_known or one.is_near) or np.any((nodes != totals)[inner]):
            continue
        for pair in product(*(own.get(int(nodes[a]), ()) for own, a in zip(over, at, strict=True))):
            counts[pair] += 1
    top, *others = counts
    order = [top, *sorted(others, key=lambda pair: (-counts[pair], pair))]
    made: list[tuple[str, pa.Table]] = []
    for pair in order[:_GRIDS]:
        sides = [
            [*axis.splits[whole][0].tolist(), whole] if axis.splits[whole] else [whole]
            for axis, whole in zip(axes, pair, strict=True)
        ]
        words = [axis.labels[whole] for axis, whole in zip(axes, pair, strict=True)]
        grid = _grid(found, place, marks, at, sides)
        if grid is not None:
            title = f"Table {quoted([tables.tables[number].name])}: {' by '.join(words)}"
            made.append((title, grid))
    return made, max(0, len(order) - _GRIDS)


def _wholes(axis: AxisNodes) -> dict[int, list[int]]:
    """Return for each node the wholes that it is shown with: those it is part of, or the total itself."""
    found: dict[int, list[int]] = {axis.total: [axis.total]}
    for whole, ways in enumerate(axis.splits):
        for part in ways[0].tolist() if ways else ():
            found.setdefault(part, []).append(whole)
    return found


def _grid(
    found: TableAudit,
    place: dict[tuple[int, ...], int],
    marks: dict[int, HiddenCell],
    at: list[int],
    sides: list[list[int]],
) -> pa.Table | None:
    axes = found.tables.system.axes
    rows = [*sides[0][: _ROWS - 1], sides[0][-1]] if len(sides[0]) > _ROWS else sides[0]
    columns = sides[1] if len(sides) > 1 else [-1]
    if len(columns) > _COLUMNS:
        columns = [*columns[: _COLUMNS - 1], columns[-1]]
    first = axes[at[0]]
    texts: dict[str, Any] = {found.tables.axes[at[0]]: [first.labels[row] for row in rows]}
    is_empty = True
    for column in columns:
        own: list[str] = []
        for row in rows:
            key = [axis.total for axis in axes]
            key[at[0]] = row
            if len(at) > 1:
                key[at[1]] = column
            cell = place.get(tuple(key))
            own.append(_mark(found, cell, marks.get(-1 if cell is None else cell)))
        is_empty &= all(text == "·" for text in own)
        name = "figure" if len(at) < 2 else axes[at[1]].labels[column]
        while name in texts:
            name = f"{name} "
        texts[name] = own
    return None if is_empty else pa.table(texts)


def _mark(found: TableAudit, cell: int | None, hidden: HiddenCell | None) -> str:
    if cell is None:
        return "·"
    if hidden is None:
        figure = found.tables.figures[cell]
        return "·" if figure is None else figure_text(figure)
    if hidden.is_known and hidden.interval.low is not None:
        return f"= {figure_text(hidden.interval.low)} !"
    if hidden.is_near:
        return "~"
    shown = printed_text(found.tables, hidden.cell)
    return f"≈ {shown}" if shown else "?"


_RELEASE_WORDS = (
    ("Base table", "the table over all variables of the release, published or not"),
    ("Bounds", "the smallest and largest count that agree with everything published"),
    ("Tight", "some table that agrees with the release has exactly this count"),
    ("Attribution", "a statement that holds for everybody of a kind, because cells are empty"),
    (
        "SAP(n)",
        (
            "the probability that somebody who knows n people of the table at random, and takes them"
            " out, finds a cell in which nobody else can be"
        ),
    ),
)


def released_report(
    release: Release,
    bounds: TableBounds,
    attributions: Attributions,
    *,
    subtraction: SubtractionAttack | None = None,
    with_records: bool = True,
) -> RiskReport:
    """Put together what released tables give away; without records, no cells and no statements."""
    sections = [_bounds(bounds), _attributions(attributions)] if with_records else []
    provenances: list[Provenance] = [bounds.provenance, attributions.provenance]
    tiles = [
        (f"{bounds.n_cells:,}", "cells"),
        (f"{bounds.n_known:,}", "known exactly"),
        (f"{bounds.n_zeros:,}", "certainly empty"),
        (f"{len(attributions.statements):,}", "certain statements"),
    ]
    if subtraction is not None:
        sections.append(_subtraction(subtraction, with_records))
        provenances.append(subtraction.provenance)
    shape = shape_text(release.shape)
    facts = [
        ("Base table", f"{', '.join(release.names)} ({shape} cells)"),
        *((table.name, table.scheme.text) for table in release.published),
        *(
            (name, "said to be disjoint, although some labels look like sums of others")
            for name in release.doubted
        ),
    ]
    return RiskReport(
        f"What {release.title or 'the release'} gives away",
        [
            *(bounds.sentences() if with_records else bounds.sentences(0)),
            attributions.sentences()[0],
            *([] if with_records else ["Single cells and statements are left out of this page."]),
        ],
        facts,
        tiles,
        sections,
        provenances,
        words=_RELEASE_WORDS,
        kicker="Released tables",
        question="What can an intruder work out about the cells, and about people?",
    )


def _bounds(found: TableBounds) -> RiskSection:
    figures = [(found.plot(), "The possible counts of each cell.")]
    tables = [RiskTable.of("Cells, those that are known best first", found.top(found.n_cells))]
    return RiskSection("bounds", "Bounds on the cells", found.sentences(), figures, tables)


def _attributions(found: Attributions) -> RiskSection:
    said = found.sentences(most=5)
    tables = [
        RiskTable.of(
            "Statements, those that concern most people first",
            found.to_arrow(),
            names={"people_from": "people, at least", "people_to": "at most"},
            most=50,
        )
    ]
    return RiskSection("attributions", "What can be said of people for certain", said, (), tables)


def _subtraction(found: SubtractionAttack, with_records: bool) -> RiskSection:
    tables = [
        RiskTable.of(
            "SAP by the number of people known",
            found.to_arrow(),
            names={"n": "people known", "sap": "SAP", "expected_zeros": "zeros expected"},
        )
    ]
    if found.detail is not None and with_records:
        tables.append(
            RiskTable.of(
                f"Where zeros are recovered when {found.detail.n} people are known",
                found.detail.to_arrow(),
            )
        )
    return RiskSection(
        "subtraction",
        "What somebody learns who knows some of the people",
        found.sentences(),
        [(found.plot(), "The probability of recovering at least one zero.")],
        tables,
    )
