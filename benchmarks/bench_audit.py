"""Audits of published tables: a large one of two axes with three levels each, and four linked ones.

The large table has 585 by 187 labels: 8 x 8 x 8 regions with all sums over them, by 6 x 5 x 5
activities. Counts from 1 to 2 are hidden, and at random a share of all others. With the environment
variable GAMEKEEPER_DATA the four linked tables of rtauargus are audited too, hidden where fewer than
three contribute or the largest has more than 85%.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import Row, measured
from gamekeeper.attack.tables.audit_result import TableAudit
from gamekeeper.attack.tables.auditing import audit_tables
from gamekeeper.data.tables.cell_file import CellRows, Columns, Status, read_cells
from gamekeeper.data.tables.hierarchy import Hierarchy, read_hierarchy
from gamekeeper.data.tables.table_set import TableSet

__all__ = ["rows"]

LINKED = {
    "turnover_act_size": ("ACTIVITY", "SIZE"),
    "turnover_act_cj": ("ACTIVITY", "CJ"),
    "turnover_nuts_size": ("NUTS", "SIZE"),
    "turnover_nuts_cj": ("NUTS", "CJ"),
}


def rows() -> Iterator[Row]:
    """Measure audits from rows in memory to proofs, on one core."""
    for mean, share in ((20.0, 0.02), (3.0, 0.02), (3.0, 0.12)):
        table, trees = large(mean, share)
        row, found = measured(
            f"audit of {len(table):,} cells, counts of {mean:g} on average",
            partial(_audited, [table], trees, whole=True, absent="error"),
            output=lambda found: found.n_hidden,
            aim="60 s",
            memory=False,
        )
        yield replace(row, name=f"{row.name} ({_told(found)})")
    folder = Path(os.environ.get("GAMEKEEPER_DATA", ""), "tables", "rtauargus")
    if os.environ.get("GAMEKEEPER_DATA") and folder.is_dir():
        tables = [_linked(folder, name, axes) for name, axes in LINKED.items()]
        trees = {
            "ACTIVITY": read_hierarchy(folder / "activity.hrc"),
            "NUTS": read_hierarchy(folder / "nuts23.hrc"),
        }
        row, found = measured(
            "audit of four linked tables (rtauargus)",
            partial(_audited, tables, trees, whole=False, absent="zero"),
            output=lambda found: found.n_hidden,
            aim="30 s",
            memory=False,
        )
        yield replace(row, name=f"{row.name} ({_told(found)})")


def large(mean: float, share: float, seed: int = 5) -> tuple[CellRows, dict[str, Hierarchy]]:
    """Return a table of two axes with three levels each, and their hierarchies."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5, mean / 0.5, (512, 150)))
    regions, region_tree = _tree((8, 8, 8), "R")
    activities, activity_tree = _tree((6, 5, 5), "N")
    for axis, widths in ((0, (8, 8, 8)), (1, (5, 5, 6))):
        levels = [counts]
        for width in widths:
            last = np.moveaxis(levels[-1], axis, 0)
            levels.append(np.moveaxis(last.reshape(-1, width, last.shape[1]).sum(axis=1), 0, axis))
        counts = np.concatenate(levels, axis=axis)
    hidden = ((counts > 0) & (counts < 3)) | (rng.random(counts.shape) < share)
    flat = counts.reshape(-1).tolist()
    statuses = [Status.HIDDEN if one else Status.SHOWN for one in hidden.reshape(-1).tolist()]
    labels = (
        [label for label in regions for _ in activities],
        [label for _ in regions for label in activities],
    )
    table = CellRows(
        "large",
        ("Region", "Activity"),
        labels,
        [Fraction(one) for one in flat],
        statuses,
        [""] * len(flat),
    )
    return table, {"Region": region_tree, "Activity": activity_tree}


def _tree(widths: tuple[int, ...], lead: str) -> tuple[list[str], Hierarchy]:
    """Return the labels of all levels, the finest first and the total last, and who is whose part."""
    levels = [[lead]]
    children: dict[str, list[str]] = {}
    for width in widths:
        for over in levels[-1]:
            children[over] = [f"{over}{chr(97 + at)}" for at in range(width)]
        levels.append([one for over in levels[-1] for one in children[over]])
    tops = children.pop(lead)
    tree = Hierarchy.of_tree({**dict.fromkeys(tops, ()), **children}, "a tree")
    return [label for level in reversed(levels[1:]) for label in level] + ["Total"], tree


def _linked(folder: Path, name: str, axes: tuple[str, ...]) -> CellRows:
    columns = Columns(axes=axes, value="TOT", count="N_OBS", tops=["MAX"])
    table = read_cells(folder / f"{name}.csv", columns)
    assert table.counts is not None
    unsafe = [
        count is not None and figure is not None and most is not None
        and (0 < count < 3 or most > Fraction(85, 100) * figure)
        for count, figure, most in zip(table.counts, table.figures, table.tops[0], strict=True)
    ]  # fmt: skip
    return replace(table, statuses=[Status.UNSAFE if one else Status.SHOWN for one in unsafe])


def _audited(
    tables: list[CellRows], trees: dict[str, Hierarchy], *, whole: bool, absent: str
) -> TableAudit:
    return audit_tables(TableSet.of(tables, trees, absent=absent, whole=whole), rules=["exact"])


def _told(found: TableAudit) -> str:
    tight = sum(one.is_tight for one in found.cells)
    return f"{found.n_recomputed:,} of {found.n_hidden:,} recomputed, {tight:,} tight"
