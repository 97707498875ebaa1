"""Published percentages, means and ratios as facts: each was rounded to the digits that are written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.cells.linear_facts import NO_LIMIT
from gamekeeper.data.cells.table_set import TableSet

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class PublishedShare:
    """A percentage, ratio or mean that a fact is from.

    Attributes
    ----------
    name, value
        Its column, and what is published.
    cell
        The cell that it is published of.
    whole
        The cell that it is a share of; None for a mean.
    count
        How many a mean is over.
    """

    name: str
    value: Fraction
    cell: int
    whole: int | None = None
    count: Fraction | None = None


Row = tuple[dict[int, int], int, int]


def published_shares(
    tables: TableSet, number: Integers, values: Integers, scale: int
) -> tuple[list[tuple[Row, PublishedShare]], int]:
    """Return percentages, ratios and means as rows, and how many of them could not be used.

    A hundred times the part lies within the rounded percentage of the whole; the sum within the rounded
    mean times the count.
    """
    rows = [*_shares(tables, number, values), *_means(tables, number, values, scale)]
    untold = sum(
        value is not None and (table.counts is None or table.counts[at] is None)
        for table in tables.tables
        for mean in table.means
        for at, value in enumerate(mean.values)
    )
    wanted = [(row, told) for row, told in rows if row[0]]
    # Numbers that do not fit 64 bits are not used, and that is told.
    fitting = [
        (row, told)
        for row, told in wanted
        if max(abs(row[1]), abs(row[2]), *map(abs, row[0].values())) <= NO_LIMIT
    ]
    return fitting, untold + len(wanted) - len(fitting)


def _shares(
    tables: TableSet, number: Integers, values: Integers
) -> Iterator[tuple[Row, PublishedShare]]:
    if not any(table.shares for table in tables.tables):
        return
    keys = {tuple(nodes): cell for cell, nodes in enumerate(tables.system.nodes.tolist())}
    for table, own in zip(tables.tables, tables.system.tables, strict=False):
        for share in table.shares:
            for cell, value, digits in zip(own.tolist(), share.values, share.digits, strict=True):
                if value is None:
                    continue
                nodes = tables.system.nodes[cell].tolist()
                for at, name in enumerate(tables.axes):
                    axis, label = tables.system.axes[at], share.label_of(name)
                    if label is not None:
                        nodes[at] = axis.number[label] if label else axis.total
                whole = keys[tuple(nodes)]
                told = PublishedShare(share.name, value, cell, whole)
                part, of = (_term(one, number, values) for one in (cell, whole))
                for row in share_rows(part, of, value, digits, share.times):
                    yield row, told


def _means(
    tables: TableSet, number: Integers, values: Integers, scale: int
) -> Iterator[tuple[Row, PublishedShare]]:
    for table, own in zip(tables.tables, tables.system.tables, strict=False):
        counts = table.counts or [None] * len(table)
        for mean in table.means:
            for cell, value, digits, count in zip(
                own.tolist(), mean.values, mean.digits, counts, strict=True
            ):
                if value is None or count is None:
                    continue
                half = Fraction(1, 2 * 10**digits)
                numbers, known = _term(cell, number, values)
                ends = [(value + off) * count * scale for off in (-half, half)]
                times = math.lcm(*(end.denominator for end in ends))
                low, high = (int(end * times) - known * times for end in ends)
                row = {one: factor * times for one, factor in numbers.items()}
                yield (row, low, high), PublishedShare(mean.name, value, cell, count=count)


Term = tuple[dict[int, int], int]
"""Numbers with their factors, and a constant."""


def share_rows(part: Term, whole: Term, value: Fraction, digits: int, times: int) -> list[Row]:
    """Return the rows that say that a part is a rounded share of a whole.

    Rounding to d digits leaves half a unit on both sides, ends among them.

    Examples
    --------
    >>> share_rows(({0: 1}, 0), ({1: 1}, 0), Fraction(8), 0, 100)
    [({0: 40, 1: -3}, 0, 4611686018427387904), ({0: 200, 1: -17}, -4611686018427387904, 0)]
    """
    unit = 2 * 10**digits
    rows: list[Row] = []
    for is_upper in (False, True):
        edge = value * unit + (1 if is_upper else -1)
        factors = (unit * times * edge.denominator, -edge.numerator)
        own: dict[int, int] = {}
        constant = 0
        for (numbers, known), factor in zip((part, whole), factors, strict=True):
            constant += factor * known
            for number, count in numbers.items():
                own[number] = own.get(number, 0) + factor * count
        own = {number: factor for number, factor in own.items() if factor}
        shared = math.gcd(constant, *own.values()) or 1
        own = {number: factor // shared for number, factor in own.items()}
        limit = -constant // shared
        rows.append((own, -NO_LIMIT, limit) if is_upper else (own, limit, NO_LIMIT))
    return rows


def _term(cell: int, number: Integers, values: Integers) -> Term:
    at = int(number[cell])
    return ({at: 1}, 0) if at >= 0 else ({}, int(values[cell]))
