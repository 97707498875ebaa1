"""Constraints on counts cut down to what is open: limits, fixed cells, independent components.

Propagation fixes some cells and makes some rows say nothing that the limits of their cells do not
say. What remains falls into components: cells are tied by the rows that they share. Each is a
problem of its own, and is stated in counts above the lower limits of its cells, which keeps the
numbers small whatever the size of the published counts.

A cell is without upper limit if and only if no row with an upper limit holds it, because all
coefficients are 1 and no cell is negative. Any table stays feasible when such a cell is cut to the
largest lower limit of its rows. So it is given that limit here, and all numbers are finite.
Cost: linear in the length of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    ConstraintRows,
    NoTableError,
    row_sums,
)

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of the cells that contain every table.

    Attributes
    ----------
    lower, upper
        The limits of each cell. All are finite.
    unbounded
        The cells without an upper limit; the one they are given here changes no other bound.
    """

    lower: Integers
    upper: Integers
    unbounded: NDArray[np.bool_]


class CountLimits(NamedTuple):
    """Limits of the cells and of the rows of a component."""

    lower: Integers
    upper: Integers
    row_lower: Integers
    row_upper: Integers

    def copied(self) -> CountLimits:
        """Return the same, to be changed in place."""
        return CountLimits(*(limits.copy() for limits in self))


@dataclass(frozen=True, eq=False)
class CountComponent:
    """Open cells that rows tie together, in counts above the lower limits of the cells.

    Attributes
    ----------
    cells
        The cells of the base table, flat. All below speaks of places in this list.
    starts, members, row_lower, row_upper
        Rows: first the `n_rows` constraints, then one for each sum that is asked for, without
        limits.
    cell_starts, cell_rows
        The same by cell.
    upper
        The upper limits of the cells; the lower ones are 0.
    sums
        The numbers of the sums that are asked for, as far as they are within this component.
    """

    cells: Integers
    starts: Integers
    members: Integers
    row_lower: Integers
    row_upper: Integers
    cell_starts: Integers
    cell_rows: Integers
    upper: Integers
    sums: Integers
    n_rows: int

    def members_of(self, row: int) -> Integers:
        """Return the cells of a row."""
        return self.members[self.starts[row] : self.starts[row + 1]]

    def totals(self, table: Integers) -> Integers:
        """Return the sums of all rows."""
        return row_sums(self.starts, table[self.members])

    def limits(self) -> CountLimits:
        """Return the limits of cells and rows; they are not to be changed."""
        return CountLimits(np.zeros_like(self.upper), self.upper, self.row_lower, self.row_upper)

    def propagate(self, limits: CountLimits, rows: Integers, n_rows: int) -> bool:
        """Tighten limits of cells in place, beginning with the first of some rows.

        Returns whether nothing contradicts. There is a place in `rows` for each row.
        """
        from gamekeeper.algorithms.releases.propagation_kernels import propagate

        broken = propagate(
            self.starts, self.members, limits.row_lower, limits.row_upper,
            self.cell_starts, self.cell_rows, limits.lower, limits.upper, rows, n_rows,
        )  # fmt: skip
        return broken < 0

    def admits(self, table: Integers, limits: CountLimits | None = None) -> bool:
        """Return whether a table is within its limits, or others, in whole numbers."""
        low, high, row_low, row_high = self.limits() if limits is None else limits
        totals = self.totals(table)
        return bool(
            np.all(table >= low)
            and np.all(table <= high)
            and np.all(totals >= row_low)
            and np.all(totals <= row_high)
        )


def tightened(rows: ConstraintRows, lower: Integers, upper: Integers) -> Limits:
    """Return limits of cells, within those given, after propagation.

    Raises
    ------
    NoTableError
        A row cannot hold.
    """
    from gamekeeper.algorithms.releases.propagation_kernels import propagate, rows_of_cells

    lower, upper = np.maximum(lower, 0), upper.copy()
    if np.any(lower > upper):
        raise NoTableError
    cell_starts, cell_rows = rows_of_cells(rows.starts, rows.cells, len(lower))
    broken = propagate(
        rows.starts, rows.cells, rows.lower, rows.upper, cell_starts, cell_rows, lower, upper,
        np.arange(len(rows)), len(rows),
    )  # fmt: skip
    if broken >= 0:
        raise NoTableError
    unbounded = upper >= UNBOUNDED
    cut = lower.copy()
    np.maximum.at(cut, rows.cells, np.repeat(rows.lower, np.diff(rows.starts)))
    upper[unbounded] = cut[unbounded]
    return Limits(lower, upper, unbounded)


def connected(
    of_row: Integers, of_cell: Integers, n_rows: int, n_cells: int
) -> tuple[Integers, Integers]:
    """Return the number of the component of each cell and of each row.

    Entry k says that the row `of_row[k]` holds the cell `of_cell[k]`. What is in no entry is alone.

    Examples
    --------
    >>> rows, cells = np.array([0, 0, 1]), np.array([0, 2, 1])
    >>> [numbers.tolist() for numbers in connected(rows, cells, 2, 4)]
    [[0, 1, 0, 2], [0, 1]]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array(
        (np.ones(len(of_row), np.int8), (of_row + n_cells, of_cell)),
        shape=(n_cells + n_rows, n_cells + n_rows),
    )
    numbers = connected_components(graph, directed=False)[1].astype(np.int64)
    return numbers[:n_cells], numbers[n_cells:]


def components(rows: ConstraintRows, limits: Limits, sums: Integers) -> list[CountComponent]:
    """Return the components of the open cells, each with the sums that are asked for.

    `sums` gives the number of the sum that each cell belongs to, or -1. A component of one cell
    without rows is left out unless it belongs to a sum.
    """
    n_cells, n_rows = len(limits.lower), len(rows)
    is_open = limits.lower < limits.upper
    spread = np.where(is_open, limits.upper - limits.lower, 0)
    below, most = rows.sums(limits.lower), rows.sums(spread)
    low = np.maximum(rows.lower - below, 0)
    high = np.where(rows.upper >= UNBOUNDED, UNBOUNDED, rows.upper - below)
    high[high >= most] = UNBOUNDED
    counts_row = (low > 0) | (high < UNBOUNDED)
    of_row = np.repeat(np.arange(n_rows), np.diff(rows.starts))
    kept = counts_row[of_row] & is_open[rows.cells]
    of_row, of_cell = of_row[kept], rows.cells[kept]
    label, _ = connected(of_row, of_cell, n_rows, n_cells)
    open_cells = np.flatnonzero(is_open & ((sums >= 0) | (np.bincount(of_cell, minlength=n_cells) > 0)))  # fmt: skip
    found: list[CountComponent] = []
    # Sorted once, so that many small components cost no more than a large one.
    open_cells = open_cells[np.argsort(label[open_cells], kind="stable")]
    by_label = np.argsort(label[of_cell], kind="stable")
    of_row, of_cell = of_row[by_label], of_cell[by_label]
    entry_label = label[of_cell]
    labels, firsts = np.unique(label[open_cells], return_index=True)
    ends = np.append(firsts, len(open_cells))[1:]
    for one, start, end in zip(labels.tolist(), firsts.tolist(), ends.tolist(), strict=True):
        cells = open_cells[start:end]
        first, last = np.searchsorted(entry_label, [one, one + 1])
        found.append(
            _component(
                np.sort(cells), of_row[first:last], of_cell[first:last], low, high, spread, sums
            )
        )
    return found


def _component(
    cells: Integers, of_row: Integers, of_cell: Integers,
    low: Integers, high: Integers, spread: Integers, sums: Integers,
) -> CountComponent:  # fmt: skip
    from gamekeeper.algorithms.releases.propagation_kernels import rows_of_cells

    order = np.argsort(of_row, kind="stable")
    numbers, row_of = np.unique(of_row[order], return_inverse=True)
    wanted = np.flatnonzero(sums[cells] >= 0)
    wanted = wanted[np.argsort(sums[cells[wanted]], kind="stable")]
    asked, sum_of = np.unique(sums[cells[wanted]], return_inverse=True)
    members = np.concatenate([np.searchsorted(cells, of_cell[order]), wanted])
    lengths = np.bincount(
        np.concatenate([row_of, len(numbers) + sum_of]), minlength=len(numbers) + len(asked)
    )
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    cell_starts, cell_rows = rows_of_cells(starts, members, len(cells))
    return CountComponent(
        cells, starts, members,
        np.concatenate([low[numbers], np.zeros(len(asked), np.int64)]),
        np.concatenate([high[numbers], np.full(len(asked), UNBOUNDED, np.int64)]),
        cell_starts, cell_rows, spread[cells], asked, len(numbers),
    )  # fmt: skip
