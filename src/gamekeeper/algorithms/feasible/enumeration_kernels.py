"""Compiled search through the tables of a part.

The limits of the cells and the sums of both over each row are kept up to date while cells are
narrowed, so that a visit to a row that has room costs one comparison per cell. What a cell was
before it was first narrowed on a level is kept, and undone on the way back. The search takes the
open cell with the fewest counts left and tries them in turn; it can be left and taken up again.
The kernels let go of the interpreter.
"""

# pyright: basic, reportCallIssue=false
# numba infers the types of what it compiles.

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from gamekeeper.algorithms.feasible.independent_parts import TablePart
from gamekeeper.algorithms.linear.facts import turned

# Places of the numbers that are kept with the limits.
TRAIL, HEAD, WAITING, LEVEL = 0, 1, 2, 3


class Problem(NamedTuple):
    """The rows of a part, both ways, and their limits."""

    starts: Any
    members: Any
    cell_starts: Any
    cell_rows: Any
    row_lower: Any
    row_upper: Any


class Limits(NamedTuple):
    """Limits of cells, their sums over rows, the queue of rows to visit, and what to undo."""

    lower: Any
    upper: Any
    low: Any
    high: Any
    queue: Any
    is_waiting: Any
    trail_cell: Any
    trail_lower: Any
    trail_upper: Any
    stamp: Any
    numbers: Any


class Search(NamedTuple):
    """Where a search stands: its levels, and what it has done."""

    cell: Any
    value: Any
    last: Any
    mark: Any
    numbers: Any


def problem_of(part: TablePart) -> Problem:
    """Return the rows of a part as the kernels take them."""
    cell_starts, order = turned(part.members, part.n_cells)
    cell_rows = np.repeat(np.arange(part.n_rows), np.diff(part.starts))[order]
    return Problem(
        part.starts, part.members, cell_starts, cell_rows, part.row_lower, part.row_upper
    )


def limits_of(part: TablePart, *, deep: bool = False) -> Limits:
    """Return the widest limits of a part; deep ones can be undone level by level."""
    n, n_rows = part.n_cells, part.n_rows
    high = np.array([part.widths[members].sum() for members in part.rows], np.int64)
    # A cell is kept once per level, and each time it has lost a count.
    n_trail = min(n * (n + 1), int(min(part.widths.sum(), 2**40)) + n) if deep else 3 * n
    return Limits(
        np.zeros(n, np.int64), part.widths.copy(), np.zeros(n_rows, np.int64), high,
        np.empty(n_rows + 1, np.int64), np.zeros(n_rows, np.bool_),
        np.empty(n_trail, np.int64), np.empty(n_trail, np.int64), np.empty(n_trail, np.int64),
        np.full(n, -1, np.int64), np.zeros(4, np.int64),
    )  # fmt: skip


def begin_search(part: TablePart) -> Search:
    """Return a search that has not begun."""
    n = part.n_cells + 1
    return Search(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
        np.zeros(n, np.int64), np.array([0, 0, 0], np.int64),
    )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def _set(problem, limits, cell, lower, upper):
    """Give a cell narrower limits; its rows wait for a visit."""
    numbers = limits.numbers
    if limits.stamp[cell] != numbers[LEVEL]:
        limits.stamp[cell] = numbers[LEVEL]
        at = numbers[TRAIL]
        limits.trail_cell[at] = cell
        limits.trail_lower[at] = limits.lower[cell]
        limits.trail_upper[at] = limits.upper[cell]
        numbers[TRAIL] = at + 1
    size = len(limits.queue)
    for k in range(problem.cell_starts[cell], problem.cell_starts[cell + 1]):
        row = problem.cell_rows[k]
        limits.low[row] += lower - limits.lower[cell]
        limits.high[row] += upper - limits.upper[cell]
        if not limits.is_waiting[row]:
            limits.is_waiting[row] = True
            limits.queue[(numbers[HEAD] + numbers[WAITING]) % size] = row
            numbers[WAITING] += 1
    limits.lower[cell] = lower
    limits.upper[cell] = upper


@numba.njit(cache=True, nogil=True)
def narrow(problem, limits, cell, lower, upper):
    """Give a cell narrower limits and all others what follows row by row; return whether it holds."""
    numbers = limits.numbers
    size = len(limits.queue)
    _set(problem, limits, cell, lower, upper)
    holds = True
    while numbers[WAITING] > 0:
        row = limits.queue[numbers[HEAD]]
        numbers[HEAD] = (numbers[HEAD] + 1) % size
        numbers[WAITING] -= 1
        limits.is_waiting[row] = False
        if not holds:
            continue
        if limits.low[row] > problem.row_upper[row] or limits.high[row] < problem.row_lower[row]:
            holds = False
            continue
        for k in range(problem.starts[row], problem.starts[row + 1]):
            other = problem.members[k]
            room_up = problem.row_upper[row] - limits.low[row]
            room_down = limits.high[row] - problem.row_lower[row]
            low, high = limits.lower[other], limits.upper[other]
            if high - low > room_up or high - low > room_down:
                new_low, new_high = max(low, high - room_down), min(high, low + room_up)
                if new_low > new_high:
                    holds = False
                    break
                _set(problem, limits, other, new_low, new_high)
    return holds


@numba.njit(cache=True, nogil=True)
def undo(problem, limits, mark):
    """Restore the limits as they were when the trail had this length."""
    for at in range(limits.numbers[TRAIL] - 1, mark - 1, -1):
        cell = limits.trail_cell[at]
        for k in range(problem.cell_starts[cell], problem.cell_starts[cell + 1]):
            row = problem.cell_rows[k]
            limits.low[row] += limits.trail_lower[at] - limits.lower[cell]
            limits.high[row] += limits.trail_upper[at] - limits.upper[cell]
        limits.lower[cell] = limits.trail_lower[at]
        limits.upper[cell] = limits.trail_upper[at]
        limits.stamp[cell] = -1
    limits.numbers[TRAIL] = mark


@numba.njit(cache=True, nogil=True)
def narrowest(limits):
    """Return the open cell with the fewest counts left, the first of several, or -1."""
    best, width = -1, np.int64(0)
    for cell in range(len(limits.lower)):
        room = limits.upper[cell] - limits.lower[cell]
        if room > 0 and (best < 0 or room < width):
            best, width = cell, room
            if room == 1:
                break
    return best


@numba.njit(cache=True, nogil=True)
def search(problem, limits, state, tables, keeps, most_tables, most_nodes):
    """Go on with a search; return 0 when it is at its end, 1 at a limit of tables, 2 of nodes.

    `state.numbers` holds the level, the tables found and the nodes visited; with `keeps` the tables
    are written to `tables` from its beginning on, and the caller takes them out after each call.
    """
    numbers = state.numbers
    found, nodes = np.int64(0), np.int64(0)
    level = numbers[0]
    if level == 0:
        cell = narrowest(limits)
        nodes += 1
        if cell < 0:
            if keeps:
                tables[0] = limits.lower
            numbers[1] += 1
            numbers[2] += 1
            return 0
        level = 1
        state.cell[1], state.value[1] = cell, limits.lower[cell]
        state.last[1], state.mark[1] = limits.upper[cell], limits.numbers[TRAIL]
    status = 0
    while level > 0:
        undo(problem, limits, state.mark[level])
        if state.value[level] > state.last[level]:
            level -= 1
            continue
        if found >= most_tables or nodes >= most_nodes:
            status = 1 if found >= most_tables else 2
            break
        cell, value = state.cell[level], state.value[level]
        state.value[level] += 1
        nodes += 1
        limits.numbers[LEVEL] = level
        if not narrow(problem, limits, cell, value, value):
            continue
        following = narrowest(limits)
        if following < 0:
            if keeps:
                tables[found] = limits.lower
            found += 1
            continue
        level += 1
        state.cell[level], state.value[level] = following, limits.lower[following]
        state.last[level], state.mark[level] = limits.upper[following], limits.numbers[TRAIL]
    numbers[0] = level
    numbers[1] += found
    numbers[2] += nodes
    return status
