"""PRAM: categories drawn anew by known probabilities, so that counts stay on average, or exactly.

With P[a, b] the probability that category a becomes b and t[a] the records of a, the way back is
P'[b, a] = P[a, b] t[a] / sum over c of P[c, b] t[c]: who is seen with b and has a. One after the
other, R = P P', leaves the expected counts as they are: t R = t (invariant PRAM). A mix of R and
the identity does so too, and changes less. A category that no record has keeps its own row, and so
does one into which nothing is drawn. Gouweleeuw, Kooiman, Willenborg and de Wolf, Post
randomisation for statistical disclosure control, Journal of Official Statistics 14 (1998). Exact
with fractions, else in floats; n log n to draw, and the third power of the number of categories to
make R.

Counts stay exactly by controlled rounding of the expected moves t[a] R[a, b], which have the counts
t as sums of rows and of columns. They are rounded, up or down each, so that these sums stay and
every number is right on average: as long as there are fractions, some lie on a cycle of rows and
columns; along it numbers go up and down in turn, by the most that is possible either way, with
chances that leave the mean as it is (Cox 1987, A constructive procedure for unbiased controlled
rounding, JASA 82). Then lots decide which records of a category move where. At most as many cycles
as there are fractions, each found in as many steps as there are fractions at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of

LEAST_RECORDS = 10
"""The fewest records of a stratum among which categories are drawn."""

Matrix = NDArray[Any]
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_ROUNDING = 1e-9


def staying(
    n_categories: int, keep: float | Fraction, blocks: Sequence[int] | None = None
) -> Matrix:
    """Return probabilities by which a category stays as it is or becomes another, each as often.

    The probability to stay is above 0. With `blocks`, a number per category, only categories with
    the same number become one another; one that is alone in its block stays.

    Examples
    --------
    >>> staying(3, Fraction(4, 5), [0, 0, 1]).tolist()
    [[Fraction(4, 5), Fraction(1, 5), 0], [Fraction(1, 5), Fraction(4, 5), 0], [0, 0, 1]]
    """
    if not 0 < keep <= 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"Categories were to stay with probability {keep}.",
            "A probability to stay is above 0, up to 1.",
            "Give such a number; 0.8 is usual.",
        )
    within = np.asarray(blocks if blocks is not None else [0] * n_categories)
    alike = within[:, None] == within[None, :]
    others = alike.sum(axis=1) - 1
    exact = isinstance(keep, Fraction)
    matrix: Matrix = np.zeros((n_categories, n_categories), dtype=object if exact else np.float64)
    for row in range(n_categories):
        if others[row]:
            matrix[row, alike[row]] = (1 - keep) / int(others[row])
        matrix[row, row] = keep if others[row] else 1
    return matrix


def back_matrix(counts: ArrayLike, matrix: Any) -> Matrix:
    """Return who is behind each drawn category: P'[b, a] = P[a, b] t[a] / sum.

    A category into which nothing is drawn has its own row of the identity.

    Examples
    --------
    >>> back_matrix([3, 1], [[0.5, 0.5], [0.0, 1.0]]).tolist()
    [[1.0, 0.0], [0.6, 0.4]]
    """
    given, records = _checked(counts, matrix)
    joint = (given * records[:, None]).T
    total = joint.sum(axis=1)
    back = np.zeros_like(joint)
    for place, whole in enumerate(total):
        if whole:
            back[place] = joint[place] / whole
        else:
            back[place, place] = whole + 1
    return back


def invariant_matrix(
    counts: ArrayLike, matrix: Any, share: float | Fraction = Fraction(1)
) -> Matrix:
    """Return probabilities that leave the expected counts as they are.

    Sums of weights serve as counts too. P has a row per category and is exact where its numbers are
    fractions; `share` is how much of R there is in the mix, and the rest is the identity.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> [list(map(str, row)) for row in invariant_matrix([3, 1], [[half, half], [0, 1]])]
    [['4/5', '1/5'], ['3/5', '2/5']]
    """
    given, records = _checked(counts, matrix)
    if not 0 <= share <= 1:
        raise InputError(
            Reason.BAD_OPTION,
            f"A share of {share} was to be drawn anew.",
            "A share is between 0 and 1.",
            "Give such a number.",
        )
    back = back_matrix(records, given)
    # Exact numbers are objects, which have no fast product.
    both = given.dot(back)
    one = Fraction(1) if both.dtype == object else 1.0
    part = Fraction(share) if both.dtype == object else float(share)
    for place, n_records in enumerate(records):
        row = both[place] * part if n_records else both[place] * 0
        row[place] += one - part if n_records else one
        both[place] = row
    return both


def expected_unchanged(counts: ArrayLike, matrix: Any) -> Any:
    """Return the share of records that keep their category on average."""
    given, records = _checked(counts, matrix)
    return (records * given.diagonal()).sum() / records.sum()


def count_variances(counts: ArrayLike, matrix: Any) -> Matrix:
    """Return the variance of the number of records of each category after drawing."""
    given, records = _checked(counts, matrix)
    return (records[:, None] * given * (1 - given)).sum(axis=0)


def drawn_codes(
    codes: NDArray[np.integer], matrix: ArrayLike, draws: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return categories drawn anew; row a of the matrix is for those with category a.

    Codes count from 0, and missing cells are not among them; `draws` are numbers from 0 to below 1.

    Examples
    --------
    >>> codes, draws = np.array([0, 0, 1]), np.array([0.1, 0.9, 0.7])
    >>> drawn_codes(codes, [[0.5, 0.5], [0.0, 1.0]], draws).tolist()
    [0, 1, 1]
    """
    given = np.asarray(matrix, dtype=np.float64)
    drawn = np.asarray(codes, dtype=np.int64).copy()
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(given) + 1))
    for category, row in enumerate(given):
        own = order[bounds[category] : bounds[category + 1]]
        if not len(own) or row[category] == 1:
            continue
        possible = np.flatnonzero(row > 0)
        ends = np.cumsum(row[possible])
        # The last may be below 1 by rounding, and no draw may fall beyond it.
        places = np.searchsorted(ends[:-1] / ends[-1], draws[own], "right")
        drawn[own] = possible[places]
    return drawn


def _checked(counts: ArrayLike, matrix: Any) -> tuple[Matrix, Matrix]:
    given: Matrix = np.array(matrix)
    exact = given.dtype == object or given.dtype.kind in "iu"
    if exact:
        whole = np.empty(given.shape, dtype=object)
        for place, number in np.ndenumerate(given):
            whole[place] = Fraction(number if isinstance(number, Fraction) else int(number))
        given = whole
    records: Matrix = np.asarray(counts)
    if exact:
        records = np.array([Fraction(number) for number in records.tolist()], dtype=object)
    else:
        records = records.astype(np.float64)
    problems: list[Problem] = []
    if given.ndim != 2 or given.shape != (len(records), len(records)):
        found = f"It has the shape {given.shape}, and there are {len(records)} categories."
        problems.append(Problem(Reason.BAD_OPTION, "the matrix", found))
    else:
        n_negative = sum(bool((row < 0).any()) for row in given)
        uneven = sum(bool(abs(row.sum() - 1) > (0 if exact else _ROUNDING)) for row in given)
        for number, what in ((n_negative, "a negative number"), (uneven, "a sum that is not 1")):
            if number:
                has = count_of(number, "row has", "rows have")
                problems.append(Problem(Reason.BAD_OPTION, "the matrix", f"{has} {what}."))
    if (records < 0).any():
        problems.append(Problem(Reason.BAD_OPTION, "the counts", "Some are negative."))
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "Categories were to be drawn anew by a matrix of probabilities.",
            "It cannot be used.",
            "Give a row per category, of probabilities that add up to 1.",
            problems=problems,
        )
    return given, records


Cell = tuple[int, int]
_WHOLE = 1e-7


class _Line:
    """The places of fractions in a row or column; the first is found at once, whatever has gone."""

    def __init__(self, places: Sequence[int]) -> None:
        self.places = dict.fromkeys(places)
        self._n_gone = 0

    def first(self, *, but: int) -> int:
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
