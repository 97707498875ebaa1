"""Which hidden numbers equations determine, given all others: the span of what is published.

A number is determined if it is a combination of equations and of numbers that are given. That is a
matter of the equations alone, whatever the figures are, and so it tells what can be recomputed where
figures were rounded and every interval is some units wide. Elimination is over the whole numbers
modulo a large prime: a table's equations have small coefficients, so that a wrong verdict would need
a determinant that the prime divides.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.cells.linear_facts import LinearFacts

_PRIME = 2**61 - 1
_MOST_ENTRIES = 5_000_000


def determined_numbers(
    facts: LinearFacts, is_open: NDArray[np.bool_], is_equation: NDArray[np.bool_]
) -> list[bool | None]:
    """Return whether each number is determined by equations, all but the open ones given.

    None stands for numbers of which it was not found out, since the equations fill up too much.

    Examples
    --------
    >>> facts = LinearFacts.of(
    ...     [(0, None)] * 4,
    ...     [({0: 1, 1: -1, 2: -1, 3: -1}, 0, 0), ({1: 1, 2: 1}, 5, 5)],
    ...     whole=False,
    ... )
    >>> determined_numbers(facts, np.array([0, 1, 1, 1], bool), np.ones(2, bool))
    [True, False, False, True]
    """
    rows = [
        {member: factor % _PRIME for member, factor in facts.row(row).items() if is_open[member]}
        for row in np.flatnonzero(is_equation).tolist()
    ]
    solved = _solved(row for row in sorted(rows, key=len) if row)
    if solved is None:
        return [None if is_open[number] else True for number in range(len(is_open))]
    return [
        not is_open[number] or len(solved.get(number, (0, 0))) == 1
        for number in range(len(is_open))
    ]


def _solved(rows: Iterable[dict[int, int]]) -> dict[int, dict[int, int]] | None:
    """Return the row of each number that has one, each cleared of the numbers of all others."""
    by_pivot: dict[int, dict[int, int]] = {}
    uses: dict[int, set[int]] = {}
    n_entries = 0
    for given in rows:
        row = dict(given)
        for number in [own for own in row if own in by_pivot]:
            _add(row, by_pivot[number], -row[number])
        if not row:
            continue
        pivot = min(row, key=lambda number: (len(uses.get(number, ())), number))
        inverse = pow(row[pivot], -1, _PRIME)
        row = {number: times * inverse % _PRIME for number, times in row.items()}
        for other in list(uses.get(pivot, ())):
            before = by_pivot[other]
            n_entries -= len(before)
            old = set(before)
            _add(before, row, -before[pivot])
            n_entries += len(before)
            for number in old - set(before):
                uses[number].discard(other)
            for number in set(before) - old:
                uses.setdefault(number, set()).add(other)
        by_pivot[pivot] = row
        for number in row:
            uses.setdefault(number, set()).add(pivot)
        n_entries += len(row)
        if n_entries > _MOST_ENTRIES:
            return None
    return by_pivot


def _add(row: dict[int, int], other: dict[int, int], times: int) -> None:
    for number, factor in other.items():
        value = (row.get(number, 0) + times * factor) % _PRIME
        if value:
            row[number] = value
        else:
            row.pop(number, None)
