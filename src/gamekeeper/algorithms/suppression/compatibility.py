"""How many candidates people and released rows have for each other, alone and in matchings of all.

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
each of them with weight 1/g, and a person chooses among the rows that fit by these weights (one
step of balancing). It is exact where classes of people and rows are apart, as in a file without
suppressed cells, and an approximation else. Counts are whole numbers and exact. Cost: the number of
different sets of suppressed columns with the levels of the others (`algorithms.classes`), times the
number of different people. Weights of rows are kept to 2^-40, so that no order of work changes
sums.

An intruder who knows that everybody is in the file, and that everybody has one row, need not look
at a person alone: a row that somebody else must have is not hers. Taking every one-to-one
assignment of all people to rows that fit as equally likely, the probability of the right row is the
share of these (perfect) matchings that give it to her. One of them is the truth. With it, a pair
occurs in some matching exactly if person and row's owner lie in the same strongly connected part of
the graph in which a person points to the owners of all rows that fit (Dulmage and Mendelsohn 1958;
`assignment.sparse` uses the same for links of equal cost). Parts are independent of each other.
Within a part that is complete everybody has each row with the same probability; a small part is
counted through, set by set of rows; larger ones are out of reach, since counting matchings is
#P-complete (Valiant 1979), and that is said. People who are alike with rows that are alike are one
node, and rows of one set of suppressed columns, and of one level of the others, with the same key
are reached by one: memory is linear in rows times these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms import classes
from gamekeeper.errors import LimitError, Reason

Columns = NDArray[np.uint64]
Counts = NDArray[np.int64]
_ONE = 1 << 40


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Candidates:
    """Candidates of every person and every released row, in the order of the file.

    `own`, `released_to_people` and `wildcard` are of rows, the last None where it was not asked
    for, or cells can stand for several values. `right` has for each person the estimated
    probability of the right row; None where it is not known which row that is.
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

    fields: classes.KeyFields
    people: classes.DistinctRows
    released: classes.DistinctRows
    held: classes.Held = field(default_factory=dict[int, classes.CellSets])

    def pairs(self) -> Iterator[tuple[int, int, classes.Keys, classes.Keys]]:
        """Yield groups of people and of rows, people as these rows have them, and the fields compared."""
        for j, yours in enumerate(self.released.open):
            keys = self.fields.at_levels(self.people.keys, self.held, self.released.levels[j])
            for i, mine in enumerate(self.people.open):
                yield i, j, keys, self.fields.mask_without(mine | yours)


def count_candidates(
    people: classes.Codes,
    released: classes.Codes,
    suppressed: Columns,
    *,
    unknown: Columns | None = None,
    truth: NDArray[np.int64] | None = None,
    wildcard: bool = False,
    held: classes.Held | None = None,
) -> Candidates:
    """Count the candidates of people and of released rows.

    - `people`, `released`: codes, a row each, the same code meaning the same.
    - `suppressed`, `unknown`: for each released row the set of its suppressed columns, for each
      person that of columns that the intruder does not know (none when None): bit c is column c.
    - `truth`: for each person the released row that is the right one, -1 where it is not there; the
      same place where None and both have as many.
    - `wildcard`: whether that count is wanted, which takes the square of the sets of columns.
    - `held`: by column what its released codes can stand for; people have the values. Others are
      plain.

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
    fields = classes.KeyFields.for_codes(people, released, held=sets)
    x = classes.distinct_rows(fields, fields.pack(people), unknown)
    y = classes.distinct_rows(fields, fields.pack(released), suppressed, held=sets)
    classes.require_comparable(x.n_rows, y.levels)
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
    from gamekeeper.algorithms.suppression.kernels import count_both_ways

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
    people: classes.Codes,
    released: classes.Codes,
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
        fitting &= is_open | classes.fits_in_column(
            people[:, column], released[rows, column], column, sides.held
        )
    share = shares[sides.released.row_of[rows]]
    total = totals[sides.people.row_of]
    right = np.zeros(len(people))
    np.divide(share, total, out=right, where=fitting & (total > 0))
    return right


def _wildcard(sides: Sides) -> Counts:
    from gamekeeper.algorithms.suppression.kernels import count_both_ways

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


MOST_COUNTED = 12
"""The largest part, in people, whose matchings are counted through."""

MOST_LINKS = 100_000_000
"""The most links of people to keys of rows that are kept, some 30 bytes each."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Matchings:
    """What all assignments of people to rows have in common.

    `parts` has the number of the part that each person is in, `candidates` how many rows each
    person has in at least one assignment, `right` the probability of the right row; None where the
    part is too large to be counted through.
    """

    parts: NDArray[np.int64]
    candidates: NDArray[np.int64]
    right: tuple[Fraction | None, ...]
    _counts: tuple[int | None, ...]

    @property
    def expected(self) -> Fraction | None:
        """The expected number of right matches; None where a part is too large."""
        if self.n_known < len(self.right):
            return None
        return sum((chance for chance in self.right if chance is not None), Fraction(0))

    @property
    def n_known(self) -> int:
        """For how many people the probability is known."""
        return sum(chance is not None for chance in self.right)

    @property
    def number(self) -> int | None:
        """How many assignments there are; None where a part is too large."""
        counts = [count for count in self._counts if count is not None]
        return prod(counts) if len(counts) == len(self._counts) else None

    def __repr__(self) -> str:
        return f"Matchings({len(self.right)} people, {len(self._counts)} parts)"


def find_matchings(
    people: classes.Codes,
    suppressed: NDArray[np.uint64],
    rows: classes.Codes | None = None,
    held: classes.Held | None = None,
) -> Matchings:
    """Tell which rows people have in some assignment, where each row is a person's with some stars.

    Bit c of `suppressed` is column c of the row that the person at the same place has. Where cells
    can stand for several values (`held`, by column), `rows` has them; the person at the same place
    fits.

    Examples
    --------
    >>> rows = np.array([[3, 1], [4, 1], [5, 2], [5, 2]])
    >>> found = find_matchings(rows, np.array([1, 0, 0, 0], dtype=np.uint64))
    >>> found.candidates.tolist(), found.expected, found.number
    ([1, 1, 2, 2], Fraction(3, 1), 2)
    """
    graph = _Graph(people, suppressed, people if rows is None else rows, held or {})
    parts = graph.parts()
    candidates = graph.candidates(parts)
    right, counts = _probabilities(graph, parts, candidates)
    return Matchings(
        parts[graph.kind_of],
        candidates[graph.kind_of],
        tuple(right[kind] for kind in graph.kind_of.tolist()),
        tuple(counts),
    )


class _Graph:
    """People of the same key and the same stars as one node, and which rows each of these fits."""

    def __init__(
        self,
        people: classes.Codes,
        suppressed: NDArray[np.uint64],
        rows: classes.Codes,
        held: classes.Held,
    ) -> None:
        from gamekeeper.algorithms.suppression.kernels import places_both_ways

        fields = classes.KeyFields.for_codes(people, rows, held=held)
        keys = fields.pack(people)
        # Without sets a row is told by its person and by what is open.
        shown = [fields.pack(rows) & fields.masks(fields.every & ~suppressed)] if held else []
        marked = np.column_stack([keys, suppressed, *shown])
        kinds = classes.EqualRows.of(classes.word_numbers(marked[:, ::-1])[0])
        self.kind_of, self.counts, first = kinds.numbers, kinds.sizes, kinds.firsts
        self.keys, self.sets = keys[first], suppressed[first]
        row_keys = shown[0][first] if held else self.keys
        self.n_kinds = len(first)
        self.codes, self.rows, self.held = people[first], rows[first], held
        # Of a group of rows with the same stars and levels: who reaches which of its different keys.
        self.links: list[tuple[NDArray[np.int64], ...]] = []
        n_links = 0
        opened, levels, group_of = classes.groups_of(fields, row_keys, self.sets, held)
        classes.require_comparable(self.n_kinds, levels)
        order = np.argsort(group_of, kind="stable")
        begins = np.searchsorted(group_of[order], np.arange(len(opened) + 1))
        for number, stars in enumerate(opened):
            group = order[begins[number] : begins[number + 1]]
            theirs = row_keys[group]
            mask = fields.mask_without(stars)
            room = Room(len(group))
            reached = np.empty(self.n_kinds, dtype=np.int64)
            own = fields.at_levels(self.keys, held, levels[number])
            places_both_ways(
                *(theirs, 0, len(group), own, 0, self.n_kinds, mask),
                *(room.slots(len(group)), room.place_of, room.row_at, reached),
            )
            who = np.flatnonzero(reached >= 0)
            n_links += len(who) + len(group)
            if n_links > MOST_LINKS:
                raise LimitError(
                    Reason.TOO_LARGE,
                    "All assignments of people to released records were to be looked through.",
                    "Too many people fit too many records.",
                    "Compare fewer key variables, or fewer records.",
                )
            places = room.place_of[: len(group)].astype(np.int64)
            self.links.append((group, places, who, reached[who]))

    def parts(self) -> NDArray[np.int64]:
        """Return the strongly connected part of each kind."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        sources: list[NDArray[np.int64]] = []
        targets: list[NDArray[np.int64]] = []
        offset = self.n_kinds
        for group, places, who, reached in self.links:
            sources += [who, offset + places]
            targets += [offset + reached, group]
            offset += int(places.max(initial=-1)) + 1
        source, target = np.concatenate(sources), np.concatenate(targets)
        graph = coo_array((np.ones(len(source), np.int8), (source, target)), (offset, offset))
        _, labels = connected_components(graph, directed=True, connection="strong")
        return classes.dense_numbers(labels[: self.n_kinds])

    def candidates(self, parts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows of its own part each kind of person fits."""
        n_parts = int(parts.max(initial=-1)) + 1
        found = np.zeros(self.n_kinds, dtype=np.int64)
        for group, places, who, reached in self.links:
            pairs, inverse = np.unique(places * n_parts + parts[group], return_inverse=True)
            sums = np.bincount(inverse, weights=self.counts[group]).astype(np.int64)
            asked = reached * n_parts + parts[who]
            at = np.searchsorted(pairs, asked)
            at[at == len(pairs)] = 0
            found[who] += np.where(pairs[at] == asked, sums[at], 0)
        return found

    def fits(self, person: int, row: int) -> bool:
        """Tell whether a kind of person fits a kind of row."""
        stars = int(self.sets[row])
        own, cells = self.codes[person : person + 1], self.rows[row : row + 1]
        return all(
            stars >> c & 1 or bool(classes.fits_in_column(own[:, c], cells[:, c], c, self.held)[0])
            for c in range(self.codes.shape[1])
        )


def _probabilities(
    graph: _Graph, parts: NDArray[np.int64], candidates: NDArray[np.int64]
) -> tuple[list[Fraction | None], list[int | None]]:
    """Return the probability of the right row for each kind, and how many matchings each part has."""
    right: list[Fraction | None] = [None] * graph.n_kinds
    sizes = np.bincount(parts, weights=graph.counts).astype(np.int64)
    least = np.full(len(sizes), np.iinfo(np.int64).max)
    np.minimum.at(least, parts, candidates)
    is_complete = least == sizes
    counts: list[int | None] = [None] * len(sizes)
    # Parts of the same size share one number each.
    alike = {
        size: (factorial(size) if size <= 1000 else None, Fraction(1, size))
        for size in np.unique(sizes[is_complete]).tolist()
    }
    order = np.argsort(parts, kind="stable")
    begins = np.searchsorted(parts[order], np.arange(len(sizes) + 1))
    for part, size in enumerate(sizes.tolist()):
        kinds = order[begins[part] : begins[part + 1]].tolist()
        if is_complete[part]:
            counts[part], share = alike[size]
            for kind in kinds:
                right[kind] = share
        elif size <= MOST_COUNTED:
            counts[part] = _count_through(graph, kinds, right)
    return right, counts


def _count_through(graph: _Graph, kinds: list[int], right: list[Fraction | None]) -> int:
    """Count the matchings of a small part, and note the share of the right row for each kind."""
    people = [kind for kind in kinds for _ in range(int(graph.counts[kind]))]
    n = len(people)
    fits = [
        sum(1 << j for j, row in enumerate(people) if graph.fits(person, row)) for person in people
    ]
    full = (1 << n) - 1
    # Ways to give the first people these rows, and the last people those that are left.
    ahead, behind = [0] * (full + 1), [0] * (full + 1)
    ahead[0] = behind[full] = 1
    for rows in range(full):
        if ahead[rows]:
            for j in _bits(fits[rows.bit_count()] & ~rows):
                ahead[rows | 1 << j] += ahead[rows]
    for rows in range(full - 1, -1, -1):
        behind[rows] = sum(behind[rows | 1 << j] for j in _bits(fits[rows.bit_count()] & ~rows))
    total = ahead[full]
    shares = [0] * n
    for rows in range(full):
        person = rows.bit_count()
        if ahead[rows] and not rows >> person & 1:
            shares[person] += ahead[rows] * behind[rows | 1 << person]
    for person, kind in enumerate(people):
        right[kind] = Fraction(shares[person], total)
    return total


def _bits(number: int) -> list[int]:
    return [j for j in range(number.bit_length()) if number >> j & 1]
