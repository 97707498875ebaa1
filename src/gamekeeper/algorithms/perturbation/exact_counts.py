"""Categories drawn anew so that every count stays exactly: controlled rounding of expected moves.

With the invariant matrix R the expected moves t[a] R[a, b] have the counts t as sums of rows and of
columns. They are rounded, up or down each, so that these sums stay and every number is right on average:
as long as there are fractions, some lie on a cycle of rows and columns; along it numbers go up and
down in turn, by the most that is possible either way, with chances that leave the mean as it is
(Cox 1987, A constructive procedure for unbiased controlled rounding, JASA 82). Then lots decide which
records of a category move where. At most as many cycles as there are fractions, each found in as
many steps as there are fractions at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Cell = tuple[int, int]
_WHOLE = 1e-7


class _Line:
    """The places of fractions in a row or column; the first is found at once, whatever has gone."""

    def __init__(self, places: Sequence[int]) -> None:
        self.places = dict.fromkeys(places)
        self._n_gone = 0

    def first(self, *, but: int) -> int:
        """Return the first place that is not the given one; -1 if there is none."""
        return next((place for place in self.places if place != but), -1)

    def remove(self, place: int) -> None:
        """Take a place out. A dictionary keeps the room of what has gone, so it is made anew at times."""
        del self.places[place]
        self._n_gone += 1
        if self._n_gone > len(self.places):
            self.places, self._n_gone = dict.fromkeys(self.places), 0


def rounded_moves(moves: ArrayLike, draw: Callable[[], float]) -> Counts:
    """Round a table up and down so that the sums of its rows and columns stay.

    The sums of `moves`, numbers from 0, are whole by row and by column, but for rounding. `draw`
    gives a new number from 0 to below 1 each time.

    Examples
    --------
    >>> rounded_moves([[0.5, 0.5], [0.5, 0.5]], lambda: 0.9).tolist()
    [[0, 1], [1, 0]]
    """
    table = np.asarray(moves, dtype=np.float64)
    rows, columns = (np.rint(table.sum(axis=axis)).astype(np.int64) for axis in (1, 0))
    whole = np.floor(table + _WHOLE).astype(np.int64)
    part = np.maximum(table - whole, 0.0)
    by_row = [_Line(np.flatnonzero(row > _WHOLE).tolist()) for row in part]
    by_column = [_Line(np.flatnonzero(column > _WHOLE).tolist()) for column in part.T]
    start = 0
    while start < len(by_row):
        if not by_row[start].places:
            start += 1
            continue
        cycle = _cycle(start, by_row, by_column)
        _shift(cycle, part, draw)
        for row, column in cycle:
            if not _WHOLE < part[row, column] < 1 - _WHOLE:
                whole[row, column] += round(part[row, column])
                by_row[row].remove(column)
                by_column[column].remove(row)
    if not (np.array_equal(whole.sum(1), rows) and np.array_equal(whole.sum(0), columns)):
        raise ArithmeticError("the sums of expected moves are not whole")
    return whole


def _cycle(start: int, by_row: Sequence[_Line], by_column: Sequence[_Line]) -> list[Cell]:
    """Return cells with fractions, each with the next in a row or in a column in turn.

    Since sums are whole, no row and no column has a single fraction; where rounding says otherwise,
    that cell alone is returned.
    """
    path: list[Cell] = []
    rows: dict[int, int] = {}
    columns: dict[int, int] = {}
    row = start
    while row not in rows:
        rows[row] = len(path)
        before = path[-1][1] if path else -1
        column = by_row[row].first(but=before)
        if column < 0:
            return [(row, before)]
        if column in columns:
            # Back in a column: from where it was left to here, and no cell twice.
            return [*path[columns[column] :], (row, column)]
        path.append((row, column))
        following = by_column[column].first(but=row)
        if following < 0:
            return [(row, column)]
        columns[column] = len(path)
        path.append((following, column))
        row = following
    return path[rows[row] :]


def _shift(cycle: list[Cell], part: Floats, draw: Callable[[], float]) -> None:
    """Move the fractions of a cycle up and down in turn until one of them is whole."""
    if len(cycle) == 1:
        part[cycle[0]] = round(part[cycle[0]])
        return
    up, down = cycle[0::2], cycle[1::2]
    rise = min(*(1 - part[cell] for cell in up), *(part[cell] for cell in down))
    fall = min(*(part[cell] for cell in up), *(1 - part[cell] for cell in down))
    step = rise if draw() * (rise + fall) < fall else -fall
    for cells, sign in ((up, step), (down, -step)):
        for cell in cells:
            part[cell] += sign


def moved_codes(codes: NDArray[np.integer], moves: Counts, draws: Floats) -> NDArray[np.int64]:
    """Return new categories, so many of each to each, by lot.

    Categories are from 0, and `moves[a, b]` records of a become b. Those with the smallest draws
    get the first category that there is.

    Examples
    --------
    >>> codes, draws = np.array([0, 0, 1]), np.array([0.7, 0.2, 0.5])
    >>> moved_codes(codes, np.array([[1, 1], [1, 0]]), draws).tolist()
    [1, 0, 0]
    """
    moved = np.asarray(codes, dtype=np.int64).copy()
    order = np.lexsort((draws, codes))
    bounds = np.searchsorted(codes[order], np.arange(len(moves) + 1))
    for category, row in enumerate(moves):
        own = order[bounds[category] : bounds[category + 1]]
        moved[own] = np.repeat(np.arange(len(row)), row)
    return moved
