"""Which pairs of people and rows occur in some assignment of everybody, and how probable each is.

An intruder who knows that everybody is in the file, and that everybody has one row, need not look at
a person alone: a row that somebody else must have is not hers. Taking every one-to-one assignment of
all people to rows that fit as equally likely, the probability of the right row is the share of these
(perfect) matchings that give it to her.

One of them is the truth. With it, a pair occurs in some matching exactly if person and row's owner
lie in the same strongly connected part of the graph in which a person points to the owners of all rows
that fit (Dulmage and Mendelsohn 1958; `assignment.margins` uses the same for links of equal cost).
Parts are independent of each other. Within a part that is complete everybody has each row with the
same probability; a small part is counted through, set by set of rows; larger ones are out of reach,
since counting matchings is #P-complete (Valiant 1979), and that is said.

People who are alike with rows that are alike are one node, and rows of one set of suppressed columns,
and of one level of the others (`packed_keys`), with the same key are reached by one: memory is linear
in rows times these.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compatibility.candidates import Room
from gamekeeper.algorithms.compatibility.packed_keys import (
    Codes,
    Held,
    KeyFields,
    fits_in_column,
    groups_of,
    require_comparable,
)
from gamekeeper.errors import LimitError, Reason

MOST_COUNTED = 12
"""The largest part, in people, whose matchings are counted through."""

MOST_LINKS = 100_000_000
"""The most links of people to keys of rows that are kept, some 30 bytes each."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Matchings:
    """What all assignments of people to rows have in common.

    Attributes
    ----------
    parts
        The number of the part that each person is in.
    candidates
        How many rows each person has in at least one assignment.
    right
        For each person the probability of the right row; None where the part is too large to be
        counted through.
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
    people: Codes,
    suppressed: NDArray[np.uint64],
    rows: Codes | None = None,
    held: Held | None = None,
) -> Matchings:
    """Tell which rows people have in some assignment, where each row is a person's with some stars.

    Bit c of `suppressed` is column c of the row that the person at the same place has. Where cells can
    stand for several values (`held`, by column), `rows` has them; the person at the same place fits.

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
        self, people: Codes, suppressed: NDArray[np.uint64], rows: Codes, held: Held
    ) -> None:
        from gamekeeper.algorithms.compatibility.key_kernels import places_both_ways

        fields = KeyFields.for_codes(people, rows, held=held)
        keys = fields.pack(people)
        # Without sets a row is told by its person and by what is open.
        shown = [fields.pack(rows) & fields.masks(fields.every & ~suppressed)] if held else []
        marked = np.column_stack([keys, suppressed, *shown])
        kinds, first, self.kind_of, self.counts = np.unique(
            marked, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        self.kind_of = self.kind_of.reshape(-1)
        self.keys, self.sets = keys[first], suppressed[first]
        row_keys = shown[0][first] if held else self.keys
        self.n_kinds = len(kinds)
        self.codes, self.rows, self.held = people[first], rows[first], held
        # Of a group of rows with the same stars and levels: who reaches which of its different keys.
        self.links: list[tuple[NDArray[np.int64], ...]] = []
        n_links = 0
        opened, levels, group_of = groups_of(fields, row_keys, self.sets, held)
        require_comparable(self.n_kinds, levels)
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
        return np.unique(labels[: self.n_kinds], return_inverse=True)[1].astype(np.int64)

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
            stars >> c & 1 or bool(fits_in_column(own[:, c], cells[:, c], c, self.held)[0])
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
