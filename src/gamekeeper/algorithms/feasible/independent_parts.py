"""The feasible tables of a release as independent parts of a few open cells.

Limits are tightened row by row first. A cell whose limits meet is known and drops out; a row that
its cells satisfy in any case drops out too, and so does one that follows from smaller rows. What
is left falls into parts without a common row, and every feasible table is one choice per part.

A cell without an upper limit is in no row with one, since no cell exceeds a sum that it is part
of. So there are infinitely many tables exactly if there is such a cell and the rest has a table.

Tables can have weights: the product of a weight for each cell (a prior) and of a weight for each
known sum (the probability of what was published about it). Memory is linear in the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.components import connected
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, NoTableError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

Likelihood = tuple[int, Sequence[Fraction | float]]
"""A smallest true sum, and for it and the following sums the probability of what was published."""


@dataclass(frozen=True, eq=False)
class TableWeights:
    """Weights of tables: a prior for each cell, and likelihoods of published sums.

    Attributes
    ----------
    means
        Means of independent Poisson counts with the shape of the base table; None for a weight of
        1 for every count.
    likelihoods
        For each margin one entry for each of its cells, flat; None where nothing is to be weighed.
        A true sum outside the entry has probability 0.
    """

    means: Floats | None = None
    likelihoods: Sequence[Sequence[Likelihood | None] | None] = ()


@dataclass(frozen=True, eq=False)
class TablePart:
    """Open cells that depend on each other, counted from their lower limits.

    Attributes
    ----------
    cells, least, widths
        The flat cells, their lower limits, and upper less lower limits.
    starts, members
        Row r holds the cells `members[starts[r]:starts[r + 1]]`, numbered within the part.
    row_lower, row_upper
        The limits of the sums of the rows, of what the cells have above their lower limits.
    cell_logs
        The log weights of each cell's counts, from its lower limit up; empty without weights.
    row_logs
        The log weights of each row's sums, from its lower limit up; None for no weight.
    """

    cells: Integers
    least: Integers
    widths: Integers
    starts: Integers
    members: Integers
    row_lower: Integers
    row_upper: Integers
    cell_logs: tuple[Floats, ...] = ()
    row_logs: tuple[Floats | None, ...] = ()

    @property
    def n_cells(self) -> int:
        """The number of open cells."""
        return len(self.cells)

    @property
    def n_rows(self) -> int:
        """The number of rows that bind them."""
        return len(self.row_lower)

    @cached_property
    def rows(self) -> tuple[Integers, ...]:
        """The cells of each row, numbered within the part."""
        return tuple(np.split(self.members, self.starts[1:-1])) if self.n_rows else ()

    def matrix(self) -> Integers:
        """Return the rows as lines of 0 and 1."""
        made = np.zeros((self.n_rows, self.n_cells), np.int64)
        for row, members in enumerate(self.rows):
            made[row, members] = 1
        return made


@dataclass(frozen=True, eq=False)
class SplitTables:
    """All feasible tables: what is known of each cell, and the independent parts.

    Attributes
    ----------
    lower, upper
        Limits of all cells, flat; not always tight.
    parts
        The open cells, by parts.
    unbounded
        The flat cells without an upper limit, which are in no part.
    """

    lower: Integers
    upper: Integers
    parts: tuple[TablePart, ...]
    unbounded: Integers


@dataclass
class _Row:
    """A row on its way into a part."""

    members: Integers
    lower: int
    upper: int
    margin: int
    logs: Floats | None


def split_tables(
    constraints: CountConstraints,
    weights: TableWeights | None = None,
    *,
    caps: Integers | None = None,
) -> SplitTables:
    """Return the parts that the feasible tables fall into.

    Parameters
    ----------
    weights
        Weights of the tables; without, every table counts the same.
    caps
        Upper limits to use for the cells that have none, flat.

    Raises
    ------
    NoTableError
        If the limits contradict each other row by row; there may be no table in other ways.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> [part.widths.tolist() for part in split_tables(known).parts]
    [[1, 1, 1, 1]]
    """
    lower, upper = _tightened(constraints, caps)
    unbounded = np.flatnonzero(upper >= UNBOUNDED)
    logs = _cell_logs(weights, lower, upper)
    kept = _open_rows(constraints, weights or TableWeights(), lower, upper, logs)
    kept = _without_implied(_merged(kept), len(constraints.margins))
    open_cells = np.flatnonzero((lower < upper) & (upper < UNBOUNDED))
    return SplitTables(lower, upper, _parts(open_cells, lower, upper, kept, logs), unbounded)


def _tightened(constraints: CountConstraints, caps: Integers | None) -> tuple[Integers, Integers]:
    """Return limits of the cells after propagation, with caps where there is no upper one."""
    from gamekeeper.algorithms.releases.propagation_kernels import propagate, rows_of_cells

    rows = constraints.rows
    low, high = constraints.cell_limits()
    lower, upper = low.reshape(-1).copy(), high.reshape(-1).copy()
    wrong = np.flatnonzero(lower > upper)
    if len(wrong):
        raise NoTableError()
    places = rows_of_cells(rows.starts, rows.cells, constraints.size)
    all_rows = np.arange(len(rows), dtype=np.int64)
    for _ in range(2):
        row = propagate(
            rows.starts, rows.cells, rows.lower, rows.upper, *places, lower, upper,
            all_rows, len(rows),
        )  # fmt: skip
        if row >= 0:
            raise NoTableError([int(row)])
        beyond = upper >= UNBOUNDED
        if caps is None or not beyond.any():
            break
        upper[beyond] = np.maximum(caps, lower)[beyond]
    return lower, upper


def _cell_logs(
    weights: TableWeights | None, lower: Integers, upper: Integers
) -> dict[int, Floats] | None:
    """Return the log prior weights of the counts of each open cell."""
    from scipy.special import gammaln

    if weights is None:
        return None
    logs: dict[int, Floats] = {}
    flat = None if weights.means is None else np.asarray(weights.means, np.float64).reshape(-1)
    for cell in np.flatnonzero((lower < upper) & (upper < UNBOUNDED)).tolist():
        counts = np.arange(lower[cell], upper[cell] + 1, dtype=np.float64)
        if flat is None:
            logs[cell] = np.zeros(len(counts))
        else:
            logs[cell] = counts * np.log(flat[cell]) - gammaln(counts + 1)
    return logs


def _open_rows(
    constraints: CountConstraints,
    weights: TableWeights,
    lower: Integers,
    upper: Integers,
    cell_logs: dict[int, Floats] | None,
) -> list[_Row]:
    """Return the rows over open cells that bind or weigh; single cells take their weights over."""
    rows = constraints.rows
    is_open = lower < upper
    without_limit = upper >= UNBOUNDED
    width = np.where(without_limit, 0, upper - lower)
    known, total = rows.sums(lower), rows.sums(width)
    n_open = rows.sums(is_open.astype(np.int64))
    endless = rows.sums(without_limit.astype(np.int64)) > 0
    least = np.maximum(rows.lower - known, 0)
    most = np.minimum(np.where(rows.upper >= UNBOUNDED, UNBOUNDED, rows.upper - known), total)
    binds = ((least > 0) | (most < total)) & (n_open > 1)
    weighed = np.zeros(len(rows), bool)
    for number, entries in enumerate(weights.likelihoods):
        if entries is not None:
            weighed[rows.margin == number] = [entry is not None for entry in entries]
    kept: list[_Row] = []
    for row in np.flatnonzero((binds | weighed) & ~endless).tolist():
        members = rows.cells[rows.starts[row] : rows.starts[row + 1]]
        members = members[is_open[members]]
        logs = None
        if weighed[row]:
            entries = weights.likelihoods[rows.margin[row]]
            entry = None if entries is None else entries[rows.cell[row]]
            assert entry is not None
            logs = _log_likelihood(entry, known[row] + least[row], known[row] + most[row])
            if not np.isfinite(logs).any():
                raise NoTableError([row])
            if len(members) == 1 and cell_logs is not None:
                cell_logs[int(members[0])] += logs
            if len(members) < 2 or bool(np.all(logs == logs[0])):
                logs = None
        if len(members) > 1 and (binds[row] or logs is not None):
            kept.append(_Row(members, int(least[row]), int(most[row]), int(rows.margin[row]), logs))
    return kept


def _log_likelihood(entry: Likelihood, low: int, high: int) -> Floats:
    """Return the log probabilities for true sums low .. high."""
    first, given = entry
    logs = np.full(int(high - low) + 1, -np.inf)
    for place in range(len(logs)):
        at = int(low) + place - int(first)
        if 0 <= at < len(given) and given[at] > 0:
            logs[place] = np.log(float(given[at]))
    return logs


def _merged(rows: list[_Row]) -> list[_Row]:
    """Return the rows with those over the same cells made one."""
    merged: dict[bytes, _Row] = {}
    for row in rows:
        row.members = np.sort(row.members)
        same = merged.setdefault(row.members.tobytes(), row)
        if same is row:
            continue
        lower, upper = max(row.lower, same.lower), min(row.upper, same.upper)
        if lower > upper:
            raise NoTableError()
        logs = None
        for one in (row, same):
            if one.logs is not None:
                part = one.logs[lower - one.lower : upper - one.lower + 1]
                logs = part if logs is None else logs + part
        same.lower, same.upper, same.logs = lower, upper, logs
    return list(merged.values())


def _without_implied(rows: list[_Row], n_margins: int) -> list[_Row]:
    """Return the rows without those that are sums of smaller rows and follow from them.

    No row can go because of one that goes because of it: each is larger than those it follows from.
    """
    n_cells = 1 + max((int(row.members[-1]) for row in rows), default=0)
    place = np.full((n_margins, n_cells), -1, np.int64)
    for number, row in enumerate(rows):
        place[row.margin, row.members] = number
    lengths = np.array([len(row.members) for row in rows], np.int64)
    kept: list[_Row] = []
    for row in rows:
        implied = False
        for margin in range(n_margins if row.logs is None else 0):
            under = place[margin, row.members]
            if margin == row.margin or under.min() < 0:
                continue
            smaller, times = np.unique(under, return_counts=True)
            if len(smaller) > 1 and np.array_equal(times, lengths[smaller]):
                low = sum(rows[number].lower for number in smaller)
                high = sum(rows[number].upper for number in smaller)
                implied = implied or (low >= row.lower and high <= row.upper)
        if not implied:
            kept.append(row)
    return kept


def _parts(
    open_cells: Integers,
    lower: Integers,
    upper: Integers,
    rows: list[_Row],
    cell_logs: dict[int, Floats] | None,
) -> tuple[TablePart, ...]:
    """Return the components of the graph of cells and rows, in the order of their first cells."""
    n_cells = len(open_cells)
    if not n_cells:
        return ()
    number = np.full(len(lower), -1, np.int64)
    number[open_cells] = np.arange(n_cells)
    of_row = np.repeat(np.arange(len(rows)), [len(row.members) for row in rows])
    members = [row.members for row in rows]
    of_cell = number[np.concatenate(members)] if rows else of_row
    labels, row_labels = connected(of_row, of_cell, len(rows), n_cells)
    # Every row holds an open cell, so that every component has one.
    n_parts = int(labels.max()) + 1
    cells_of = np.split(
        open_cells[np.argsort(labels, kind="stable")],
        np.cumsum(np.bincount(labels, minlength=n_parts))[:-1],
    )
    rows_of: list[list[_Row]] = [[] for _ in range(n_parts)]
    for label, row in zip(row_labels.tolist(), rows, strict=True):
        rows_of[label].append(row)
    parts: list[TablePart] = []
    for cells, own in zip(cells_of, rows_of, strict=True):
        number[cells] = np.arange(len(cells))
        members = [number[row.members] for row in own]
        parts.append(
            TablePart(
                cells, lower[cells], upper[cells] - lower[cells],
                np.cumsum([0, *(len(one) for one in members)], dtype=np.int64),
                np.concatenate(members) if members else np.zeros(0, np.int64),
                np.array([row.lower for row in own], np.int64),
                np.array([row.upper for row in own], np.int64),
                () if cell_logs is None else tuple(cell_logs[cell] for cell in cells.tolist()),
                tuple(row.logs for row in own),
            )
        )  # fmt: skip
    return tuple(sorted(parts, key=lambda part: int(part.cells[0])))
