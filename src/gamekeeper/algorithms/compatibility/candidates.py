"""How many candidates people and released rows have for each other, by every criterion.

With true keys x of people and released rows y, a person *fits* a row if the two are equal wherever
the row is not suppressed. Where a cell can stand for several values (a band, a category that others
were made part of), she fits if hers is one of them. Counted are, a record counting itself,

- own: released rows that are identical, a suppressed cell being equal to a suppressed cell only;
- released to people, (k,1): for each row the people who fit it;
- people to released, (1,k): for each person the rows that the person fits;
- both, (k,k): the two together;
- wildcard: for each row the rows that it could be equal to, suppressed cells on both sides being
  equal to anything.

If every true value is released or suppressed, then own implies both, both implies each of the two
between, and each of these the wildcard; no arrow turns round. The wildcard count answers no attack:
one record suppressed wholly gives every record of a file two.

Gionis, Mazza and Tassa (k-anonymization revisited, 2008) have the (k,1), (1,k) and (k,k) relations.

The probability that a person is matched rightly is estimated: a row that g people fit is taken for
each of them with weight 1/g, and a person chooses among the rows that fit by these weights (one step
of balancing). It is exact where classes of people and rows are apart, as in a file without suppressed
cells, and an approximation else (`matchings` has exact probabilities for small parts).

Counts are whole numbers and exact. Cost: the number of different sets of suppressed columns with the
levels of the others (`packed_keys`), times the number of different people. Weights of rows are kept to
2^-40, so that no order of work changes sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compatibility.packed_keys import (
    CellSets,
    Codes,
    DistinctRows,
    Held,
    KeyFields,
    Keys,
    distinct_rows,
    fits_in_column,
    require_comparable,
)

Columns = NDArray[np.uint64]
Counts = NDArray[np.int64]
_ONE = 1 << 40


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Candidates:
    """Candidates of every person and every released row.

    Attributes
    ----------
    own, released_to_people
        For each released row, in the order of the file.
    people_to_released
        For each person, in the order of the file.
    wildcard
        For each released row; None where it was not asked for, or cells can stand for several values.
    right
        For each person the estimated probability of the right row; None where it is not known which
        row that is.
    """

    own: Counts
    released_to_people: Counts
    people_to_released: Counts
    wildcard: Counts | None
    right: NDArray[np.float64] | None

    @property
    def both(self) -> int:
        """The largest k for which (k,k) holds."""
        return int(min(self.released_to_people.min(), self.people_to_released.min()))

    @property
    def expected(self) -> float | None:
        """The expected number of right matches, by approximation."""
        return None if self.right is None else float(self.right.sum())

    def __repr__(self) -> str:
        return (
            f"Candidates({len(self.people_to_released)} people, {len(self.own)} rows,"
            f" own {self.own.min()}, both {self.both})"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Sides:
    """People and released rows, packed with the same fields."""

    fields: KeyFields
    people: DistinctRows
    released: DistinctRows
    held: Held = field(default_factory=dict[int, CellSets])

    def pairs(self) -> Iterator[tuple[int, int, Keys, Keys]]:
        """Yield groups of people and of rows, people as these rows have them, and the fields compared."""
        for j, yours in enumerate(self.released.open):
            keys = self.fields.at_levels(self.people.keys, self.held, self.released.levels[j])
            for i, mine in enumerate(self.people.open):
                yield i, j, keys, self.fields.mask_without(mine | yours)


def count_candidates(
    people: Codes,
    released: Codes,
    suppressed: Columns,
    *,
    unknown: Columns | None = None,
    truth: NDArray[np.int64] | None = None,
    wildcard: bool = False,
    held: Held | None = None,
) -> Candidates:
    """Count the candidates of people and of released rows.

    Parameters
    ----------
    people, released
        True keys and released rows as codes, a row each, the same code meaning the same.
    suppressed
        For each released row the set of its suppressed columns: bit c is column c.
    unknown
        For each person the set of columns that the intruder does not know; none when None.
    truth
        For each person the released row that is the right one, -1 where it is not there; the same
        place where None and both have as many.
    wildcard
        Whether the wildcard count is wanted, which takes the square of the sets of columns.
    held
        By column what its released codes can stand for; people have the values. Others are plain.

    Examples
    --------
    >>> rows = np.array([[3, 1], [4, 1], [5, 2], [5, 2]])
    >>> found = count_candidates(rows, rows, np.array([1, 0, 0, 0], dtype=np.uint64), wildcard=True)
    >>> found.own.tolist(), found.wildcard.tolist()
    ([1, 1, 2, 2], [2, 2, 2, 2])
    >>> found.released_to_people.tolist(), found.people_to_released.tolist(), found.both
    ([2, 1, 2, 2], [1, 2, 2, 2], 1)
    """
    sets = held or {}
    fields = KeyFields.for_codes(people, released, held=sets)
    x = distinct_rows(fields, fields.pack(people), unknown)
    y = distinct_rows(fields, fields.pack(released), suppressed, held=sets)
    require_comparable(x.n_rows, y.levels)
    sides = Sides(fields, x, y, sets)
    fits, of_rows = sums_of_fitting(sides, x.counts, y.counts)
    right = None
    if truth is None and len(people) == len(released):
        truth = np.arange(len(people), dtype=np.int64)
    if truth is not None:
        # What nobody fits is chosen by nobody.
        shares = np.where(of_rows > 0, _ONE // np.maximum(of_rows, 1), 0)
        totals, _ = sums_of_fitting(sides, x.counts, y.counts * shares)
        right = _right(sides, people, released, suppressed, unknown, truth, shares, totals)
    return Candidates(
        own=y.counts[y.row_of],
        released_to_people=of_rows[y.row_of],
        people_to_released=fits[x.row_of],
        # Whether two sets have a value in common is not a matter of equal codes at any level.
        wildcard=_wildcard(sides)[y.row_of] if wildcard and not sets else None,
        right=right,
    )


def sums_of_fitting(sides: Sides, people: Counts, rows: Counts) -> tuple[Counts, Counts]:
    """Return for each distinct person the sum over rows that fit, and the other way round."""
    from gamekeeper.algorithms.compatibility.key_kernels import count_both_ways

    x, y = sides.people, sides.released
    fits, of_rows = np.zeros(x.n_rows, dtype=np.int64), np.zeros(y.n_rows, dtype=np.int64)
    room = Room(max(np.diff(y.starts), default=0))
    for i, j, keys, mask in sides.pairs():
        first, last = int(y.starts[j]), int(y.starts[j + 1])
        count_both_ways(
            *(y.keys, rows, first, last),
            *(keys, people, int(x.starts[i]), int(x.starts[i + 1]), mask),
            *(room.slots(last - first), room.place_of, room.row_at, room.sums),
            *(of_rows, fits),
        )
    return fits, of_rows


def _right(
    sides: Sides,
    people: Codes,
    released: Codes,
    suppressed: Columns,
    unknown: Columns | None,
    truth: NDArray[np.int64],
    shares: Counts,
    totals: Counts,
) -> NDArray[np.float64]:
    """Return the probability that each person takes the right row."""
    known = truth >= 0
    rows = np.where(known, truth, 0)
    fitting = known.copy()
    for column in range(people.shape[1]):
        bit = np.uint64(column)
        is_open = (suppressed[rows] >> bit) & np.uint64(1) == 1
        if unknown is not None:
            is_open |= (unknown >> bit) & np.uint64(1) == 1
        fitting &= is_open | fits_in_column(
            people[:, column], released[rows, column], column, sides.held
        )
    share = shares[sides.released.row_of[rows]]
    total = totals[sides.people.row_of]
    right = np.zeros(len(people))
    np.divide(share, total, out=right, where=fitting & (total > 0))
    return right


def _wildcard(sides: Sides) -> Counts:
    from gamekeeper.algorithms.compatibility.key_kernels import count_both_ways

    y = sides.released
    found = np.zeros(y.n_rows, dtype=np.int64)
    nothing = np.zeros(y.n_rows, dtype=np.int64)
    room = Room(max(np.diff(y.starts), default=0))
    for j, mine in enumerate(y.open):
        first, last = int(y.starts[j]), int(y.starts[j + 1])
        for i, yours in enumerate(y.open[: j + 1]):
            mask = sides.fields.mask_without(mine | yours)
            count_both_ways(
                *(y.keys, y.counts, first, last),
                *(y.keys, y.counts, int(y.starts[i]), int(y.starts[i + 1]), mask),
                *(room.slots(last - first), room.place_of, room.row_at, room.sums),
                # A group with itself is counted once.
                *(found, nothing if i == j else found),
            )
    return found


class Room:
    """Room in which keys are counted, for up to so many rows at a time."""

    def __init__(self, n_rows: int) -> None:
        most = max(int(n_rows), 1)
        self._slots = np.empty(n_slots(most), dtype=np.int32)
        self.place_of = np.empty(most, dtype=np.int32)
        self.row_at = np.empty(most, dtype=np.int32)
        self.sums = np.empty((2, most), dtype=np.int64)

    def slots(self, n_rows: int) -> NDArray[np.int32]:
        """Return cleared slots for so many rows."""
        made = self._slots[: n_slots(n_rows)]
        made.fill(-1)
        return made


def n_slots(n_rows: int) -> int:
    """Return how many slots a table of so many rows has: a power of two, at least twice the rows."""
    return max(16, 1 << (2 * max(int(n_rows), 1) - 1).bit_length())
