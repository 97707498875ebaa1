"""Facts solved as equations: corners in exact fractions, and what equations determine.

A corner is where some limits meet: each number that is not basic is at one of its limits, each row
that is not basic at one of its own, and the basic numbers follow from these rows. The same equations,
transposed, give the multiples of rows that prove the corner best. A linear program tells which limits
they are; solving for them again in fractions needs none of its digits, and no small denominators,
which corners of programs with percentages do not have.

A number is determined if it is a combination of equations and of numbers that are given. That is a
matter of the equations alone, whatever the figures are, and so it tells what can be recomputed
where figures were rounded and every interval is some units wide. Elimination is over the whole
numbers modulo a large prime: a table's equations have small coefficients, so that a wrong verdict
would need a determinant that the prime divides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.linear.facts import LinearFacts

_MOST_BASIC = 400
_MOST_STEPS = 400_000
_PRIME = 2**61 - 1
_MOST_ENTRIES = 5_000_000

Row = dict[int, Fraction]


def exact_corner(
    facts: LinearFacts, columns: Sequence[str], rows: Sequence[str], free: Sequence[int]
) -> list[Fraction] | None:
    """Return the numbers of a corner; None where they are too many, or it is no corner.

    Each number and row is at its "lower" or "upper" limit, or "basic", or "free"; `free` has what a
    number that is "free" is taken to be.

    Examples
    --------
    >>> facts = LinearFacts.of([(0, 9), (0, 9)], [({0: 3, 1: 1}, 5, 5)], whole=False)
    >>> exact_corner(facts, ["basic", "lower"], ["lower"], [0, 0])
    [Fraction(5, 3), Fraction(0, 1)]
    """
    place, active = _basic(columns, rows)
    if len(place) != len(active) or len(place) > _MOST_BASIC:
        return None
    found = [Fraction(0)] * len(columns)
    for number, own in enumerate(columns):
        if own != "basic":
            limit = {"lower": facts.lower, "upper": facts.upper}.get(own)
            found[number] = Fraction(int(free[number] if limit is None else limit[number]))
    system: list[tuple[Row, Fraction]] = []
    for row in active:
        left = Fraction(int((facts.low if rows[row] == "lower" else facts.high)[row]))
        own_row: Row = {}
        for number, factor in facts.row(row).items():
            if number in place:
                own_row[place[number]] = Fraction(factor)
            else:
                left -= factor * found[number]
        system.append((own_row, left))
    solved = _solve(system, len(place))
    if solved is None:
        return None
    for number, at in place.items():
        found[number] = solved[at]
    return found


def exact_multiples(
    facts: LinearFacts, columns: Sequence[str], rows: Sequence[str], target: int
) -> dict[int, Fraction] | None:
    """Return the multiples of the rows at their limits that make up a number of a corner.

    Examples
    --------
    >>> facts = LinearFacts.of([(0, 9), (0, 9)], [({0: 3, 1: 1}, 5, 5)], whole=False)
    >>> exact_multiples(facts, ["basic", "lower"], ["lower"], 0)
    {0: Fraction(1, 3)}
    """
    place, active = _basic(columns, rows)
    if len(place) != len(active) or len(place) > _MOST_BASIC:
        return None
    system: list[tuple[Row, Fraction]] = [({}, Fraction(int(n == target))) for n in place]
    for at, row in enumerate(active):
        for number, factor in facts.row(row).items():
            if number in place:
                system[place[number]][0][at] = Fraction(factor)
    solved = _solve(system, len(active))
    if solved is None:
        return None
    return {row: times for row, times in zip(active, solved, strict=True) if times}


def _basic(columns: Sequence[str], rows: Sequence[str]) -> tuple[dict[int, int], list[int]]:
    """Return the place of each basic number among them, and the rows at one of their limits."""
    basic = [number for number, own in enumerate(columns) if own == "basic"]
    active = [row for row, own in enumerate(rows) if own in ("lower", "upper")]
    return {number: at for at, number in enumerate(basic)}, active


def _solve(system: list[tuple[Row, Fraction]], n: int) -> list[Fraction] | None:
    """Return the solution of equations, None where there is not exactly one or it takes too long."""
    waiting = [(dict(row), value) for row, value in system]
    done: list[tuple[int, Row, Fraction]] = []
    steps = 0
    while waiting:
        waiting.sort(key=lambda one: -len(one[0]))
        row, value = waiting.pop()
        if not row:
            return None
        pivot = min(row, key=lambda at: (sum(at in other for other, _ in waiting), at))
        inverse = 1 / row.pop(pivot)
        row = {at: factor * inverse for at, factor in row.items()}
        value *= inverse
        done.append((pivot, row, value))
        for at, (other, own) in enumerate(waiting):
            times: Any = other.pop(pivot, None)
            if times is None:
                continue
            steps += len(row) + 1
            for number, factor in row.items():
                left = other.get(number, Fraction(0)) - times * factor
                if left:
                    other[number] = left
                else:
                    other.pop(number, None)
            waiting[at] = other, own - times * value
        if steps > _MOST_STEPS:
            return None
    if len(done) != n:
        return None
    found = [Fraction(0)] * n
    for pivot, row, value in reversed(done):
        found[pivot] = value - sum((f * found[at] for at, f in row.items()), Fraction(0))
    return found


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
