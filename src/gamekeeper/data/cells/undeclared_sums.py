"""Sums among the labels of an axis that nobody declared: found, told, and taken only when confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.releases.perturbation import HIDDEN
from gamekeeper.algorithms.releases.schemes import Exact
from gamekeeper.data.cells.cell_rows import CellRows
from gamekeeper.data.cells.hierarchy import Hierarchy
from gamekeeper.data.cells.statuses import Status
from gamekeeper.data.tables.axes import Axis
from gamekeeper.data.tables.published_table import PublishedTable
from gamekeeper.data.tables.subtotals import MOST_FIGURES, Subtotal, find_subtotals
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

_MOST = 2**52


def undeclared_sums(
    axis: str, labels: Sequence[str], tables: Sequence[CellRows]
) -> tuple[Subtotal, ...]:
    """Return the labels of an axis that may be sums of others, by their words, codes and figures."""
    published = [made for table in tables if (made := _lines(axis, labels, table)) is not None]
    return find_subtotals(Axis(axis, tuple(labels)), published)


def detected_hierarchy(
    axis: str, labels: Sequence[str], found: Sequence[Subtotal]
) -> tuple[Hierarchy, tuple[str, ...]]:
    """Return the sums that were found as a hierarchy, and the labels that are the whole axis.

    Of nested sums, a label is the sum of what is next below it.
    """
    wholes = tuple(one.whole for one in found if not one.parts)
    below = {one.whole: set(one.parts) for one in found if one.parts}
    for _ in range(len(below)):
        # A part that is a sum itself stands for its own parts.
        before = {whole: frozenset(parts) for whole, parts in below.items()}
        for whole, parts in below.items():
            inner = {deep for part in parts if part in below for deep in before[part]}
            below[whole] = parts - inner
        if all(below[whole] == set(parts) for whole, parts in before.items()):
            break
    order = {label: at for at, label in enumerate(labels)}
    children = {whole: sorted(parts, key=order.__getitem__) for whole, parts in below.items()}
    return Hierarchy.of_tree(children, f"sums found on axis {quoted([axis])}"), wholes


def confirmed(axis: str, made: Hierarchy, tables: Sequence[CellRows]) -> Hierarchy:
    """Return a hierarchy that nobody declared, as far as published figures bear it out.

    Where a figure is less than those of its parts together, it is no sum of them; where it is more, it
    holds more than these parts. What no line allows to compare is taken as it was asked for: if that
    is wrong, more seems to be given away than is, and nothing seems safer.
    """
    inner = (part for ways in made.parts.values() for way in ways for part in way)
    labels = list(dict.fromkeys([*made.parts, *inner]))
    places = {label: at for at, label in enumerate(labels)}
    published = [one.counts for table in tables if (one := _lines(axis, labels, table)) is not None]
    # Of figures with decimals, each may be off by one in the last.
    is_whole = all(f.denominator == 1 for t in tables for f in t.figures if f is not None)
    kept: dict[str, tuple[tuple[str, ...], ...]] = {}
    open_: list[str] = []
    for whole, ways in made.parts.items():
        own = [places[part] for part in ways[0]]
        allowed = 0 if is_whole else len(own)
        more = less = same = False
        for counts in published:
            known = (counts[:, places[whole]] != HIDDEN) & (counts[:, own] != HIDDEN).all(axis=1)
            left = counts[known, places[whole]] - counts[known][:, own].sum(axis=1)
            more |= bool((left > allowed).any())
            less |= bool((left < -allowed).any())
            same |= bool((np.abs(left) <= allowed).any())
        if not less or same:
            kept[whole] = ways
        if more and not less:
            open_.append(whole)
    return Hierarchy.of_ways(kept, made.source, labels).with_open(open_)


def _lines(axis: str, labels: Sequence[str], table: CellRows) -> PublishedTable | None:
    """Return the published figures of a table as lines by labels, whole numbers after scaling."""
    if axis not in table.axes:
        return None
    at = table.axes.index(axis)
    others = [own for number, own in enumerate(table.labels) if number != at]
    keys = list(zip(*others, strict=True)) if others else [()] * len(table)
    lines: dict[tuple[str, ...], int] = {}
    for key in keys:
        lines.setdefault(key, len(lines))
    if len(lines) * len(labels) > MOST_FIGURES:
        raise InputError(
            Reason.POSSIBLE_SUBTOTALS,
            "Published tables were to be put together.",
            f"Axis {quoted([axis])} has {len(labels):,} labels by {len(lines):,} lines, too many to look for"
            " labels that are sums of others.",
            f"Say how they add up (--hierarchy {axis}=FILE), or that nobody is counted under two of them"
            f" (--disjoint {axis}).",
        )
    places: Mapping[str, int] = {label: number for number, label in enumerate(labels)}
    counts = np.full((len(lines), len(labels)), HIDDEN, np.int64)
    shown = [
        figure
        for figure, status in zip(table.figures, table.statuses, strict=True)
        if figure is not None and status is Status.SHOWN
    ]
    scale = scale_of(shown)
    for key, label, figure, status in zip(
        keys, table.labels[at], table.figures, table.statuses, strict=True
    ):
        if figure is not None and status is Status.SHOWN and label in places:
            whole = round(figure * scale)
            if 0 <= whole < _MOST:
                counts[lines[key], places[label]] = whole
    return PublishedTable(table.name, ("line", axis), Exact(), counts)


def scale_of(figures: Sequence[Fraction], most_decimals: int = 6) -> int:
    """Return the power of ten that makes figures whole; of more decimals than that, the most."""
    decimals = 0
    for denominator in {figure.denominator for figure in figures}:
        while decimals < most_decimals and (10**decimals) % denominator:
            decimals += 1
    return 10**decimals
