"""The corner that a linear program ended in, and what it proves, in exact fractions.

A corner is where some limits meet: each number that is not basic is at one of its limits, each row
that is not basic at one of its own, and the basic numbers follow from these rows. The same equations,
transposed, give the multiples of rows that prove the corner best. HiGHS tells which limits they are;
solving for them again in fractions needs none of its digits. It is for programs with few rows at their
limits: those with percentages, whose corners have no small denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gamekeeper.algorithms.cells.linear_facts import LinearFacts

_MOST_BASIC = 400
_MOST_STEPS = 400_000

Row = dict[int, Fraction]


def exact_corner(
    facts: LinearFacts, columns: Sequence[str], rows: Sequence[str], free: Sequence[int]
) -> list[Fraction] | None:
    """Return the numbers of a corner; None where they are too many, or it is no corner.

    Parameters
    ----------
    columns, rows
        Of each number and row "lower" or "upper", the limit that it is at, or "basic", or "free".
    free
        What a number that is "free" is taken to be.

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
