"""Joint harmonization: how finely many forms can be matched on several variables at once.

Every form is a row of categorizations, one for each variable that the target has: a partition of
the sinks that count, or None where the form does not ask for the variable. A set of forms can be
matched together on the variables that all of them have, each at the harmonization of the target's
categorization and theirs. The size of such a composite key is the number of combinations of
categories that are possible; arbitrary precision counts as beyond any number.

`largest_keys` returns for every number of forms N a largest key that at least N of the forms hold
together. It is exact: keys are looked at from the largest down, each made coarser by one further
form at a time. A coarser key never has more combinations, so the first that N forms hold is a
largest one. The number of keys looked at can be exponential in the number of different rows, so
the search ends at a limit, and what it has not reached is not known.

This is the multivariate harmonization that Smith and Elliot name in their discussion, restricted
to combinations of variables that the same forms hold.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import prod

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition, join

Cell = Partition | Arbitrary | None
Row = tuple[Cell, ...]
Size = tuple[int, int]
"""How many variables have arbitrary precision, and the combinations of all others."""


@dataclass(frozen=True, slots=True)
class JointKey:
    """A composite key: a categorization per variable (None where it has no part), its forms."""

    row: Row
    size: Size
    forms: tuple[str, ...]


def largest_keys(
    target: Row,
    forms: Mapping[str, Row],
    *,
    size: Callable[[Row], Size],
    most: int,
) -> tuple[list[JointKey], int]:
    """Return largest composite keys, and up to which number of forms they are known.

    The keys come with fewer and fewer forms at first and more later: each is a largest one for
    all numbers of forms above that of the key before it, up to its own.

    `size` gives the size of a key from its row, and must not grow when a row gets coarser. The
    search ends when `most` keys were made.

    Examples
    --------
    >>> fine, coarse = Partition.finest(4), Partition.from_labels([0, 0, 1, 1])
    >>> rows = {"a": (fine, fine), "b": (fine, None), "c": (coarse, coarse)}
    >>> def combinations(row):
    ...     sizes = [cell.n_blocks for cell in row if cell is not None]
    ...     return 0, sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
    >>> keys, known = largest_keys((fine, fine), rows, size=combinations, most=100)
    >>> [(key.size[1], key.forms) for key in keys], known
    ([(16, ('a',)), (4, ('a', 'b')), (2, ('a', 'b', 'c'))], 3)
    """
    columns = [_Column() for _ in target]
    groups: dict[_Numbers, list[str]] = {}
    own = tuple(column.number(cell) for column, cell in zip(columns, target, strict=True))
    for name, row in forms.items():
        numbers = tuple(c.number(cell) for c, cell in zip(columns, row, strict=True))
        met = tuple(c.joined(a, b) for c, a, b in zip(columns, own, numbers, strict=True))
        if any(met):
            groups.setdefault(met, []).append(name)
    if not groups:
        return [], 0
    rows = np.array(list(groups), dtype=np.int64)
    members = list(groups.values())
    total = sum(map(len, members))

    def cells_of(numbers: _Numbers) -> Row:
        return tuple(c.cells[number] for c, number in zip(columns, numbers, strict=True))

    def sized(numbers: _Numbers) -> tuple[int, int]:
        unbounded, finite = size(cells_of(numbers))
        return -unbounded, -finite

    order = count()
    waiting = [(sized(row), next(order), row) for row in groups]
    heapq.heapify(waiting)
    seen = set(groups)
    found: list[JointKey] = []
    reached = 0
    while waiting and reached < total:
        rank, _, numbers = heapq.heappop(waiting)
        holds = np.ones(len(rows), dtype=bool)
        for place, column in enumerate(columns):
            holds &= column.refine(numbers[place])[rows[:, place]]
        n_holding = sum(len(members[place]) for place in np.flatnonzero(holds))
        if n_holding > reached:
            reached = n_holding
            names = tuple(n for place in np.flatnonzero(holds) for n in members[place])
            found.append(JointKey(cells_of(numbers), (-rank[0], -rank[1]), names))
        others = rows[~holds]
        joins = [column.joins(numbers[place]) for place, column in enumerate(columns)]
        made = {
            tuple(joined[number] for joined, number in zip(joins, other, strict=True))
            for other in others.tolist()
        }
        for new in made:
            if new in seen or not any(new):
                continue
            if len(seen) >= most:
                return found, reached
            seen.add(new)
            heapq.heappush(waiting, (sized(new), next(order), new))
    # What is left has no variable in common.
    return found, total


def possible_combinations(
    sizes: Sequence[int], boxes: Sequence[Sequence[frozenset[int] | None]]
) -> int:
    """Return how many combinations of categories are possible.

    `boxes` are combinations that are impossible: per variable some of its categories, by their
    numbers, or None for all of them.

    Examples
    --------
    >>> possible_combinations([3, 2], [[frozenset([0]), frozenset([1])]])
    5
    """
    whole = [
        [frozenset(range(n)) if cats is None else cats for n, cats in zip(sizes, box, strict=True)]
        for box in boxes
    ]
    return prod(sizes) - _volume([box for box in whole if all(box)])


def _volume(boxes: Sequence[Sequence[frozenset[int]]]) -> int:
    """Return the number of cells that lie in any of some boxes."""
    volume = 0
    for number, box in enumerate(boxes):
        shared = [[a & b for a, b in zip(box, earlier, strict=True)] for earlier in boxes[:number]]
        volume += prod(map(len, box)) - _volume([part for part in shared if all(part)])
    return volume


_Numbers = tuple[int, ...]
"""A row by the numbers of its cells; 0 where a variable has no part."""


class _Column:
    """The categorizations of one variable that are met, by numbers; 0 is none at all."""

    def __init__(self) -> None:
        self.cells: list[Cell] = [None]
        self._numbers: dict[Cell, int] = {None: 0}
        self._joined: dict[tuple[int, int], int] = {}

    def number(self, cell: Cell) -> int:
        if cell not in self._numbers:
            self._numbers[cell] = len(self.cells)
            self.cells.append(cell)
        return self._numbers[cell]

    def joined(self, a: int, b: int) -> int:
        if not a or not b:
            return 0
        pair = (a, b) if a < b else (b, a)
        if pair not in self._joined:
            one, other = self.cells[a], self.cells[b]
            assert one is not None
            assert other is not None
            self._joined[pair] = self.number(join(one, other))
        return self._joined[pair]

    def joins(self, number: int) -> list[int]:
        """Return the joins of one with all that are known so far."""
        return [self.joined(number, other) for other in range(len(self.cells))]

    def refine(self, number: int) -> NDArray[np.bool_]:
        """Tell for all that are known which refine one: their join with it is that one."""
        if not number:
            return np.ones(len(self.cells), dtype=bool)
        return np.array([joined == number for joined in self.joins(number)])
