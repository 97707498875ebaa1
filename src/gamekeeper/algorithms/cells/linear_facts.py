"""What is known of hidden numbers: limits of each, and limits of whole-numbered sums of them.

A fact is a row `low <= sum of coefficient times number <= high` with whole coefficients: cells that
add up to a published one, a percentage or a mean that was rounded, the difference of two versions.
This generalizes sums of cells within limits (`releases.constraints`): coefficients may be negative
or larger than 1, and numbers need be neither whole nor above 0. All limits are whole numbers: numbers
with decimals are scaled by a power of ten before. `NO_LIMIT` stands for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

NO_LIMIT = 2**62
"""An upper limit, or with a minus a lower one, of what has none."""


class NoNumbersError(ValueError):
    """Nothing satisfies the facts.

    Attributes
    ----------
    rows
        Some rows that contradict each other, where they are known.
    """

    def __init__(self, rows: Iterable[int] = ()) -> None:
        super().__init__("no numbers satisfy the facts")
        self.rows = tuple(rows)


@dataclass(frozen=True, eq=False, repr=False)
class LinearFacts:
    """Limits of numbers and of sums of them.

    Attributes
    ----------
    lower, upper
        The limits of each number.
    starts, members, factors
        The numbers of row r are `members[starts[r]:starts[r + 1]]`, with these coefficients.
    low, high
        The limits of each row.
    whole
        Whether the numbers are known to be whole.
    scale
        By how much the numbers were multiplied to make limits whole.

    Examples
    --------
    >>> facts = LinearFacts.of([(0, 9), (0, 9)], [({0: 1, 1: 1}, 5, 5)], whole=True)
    >>> facts.admits([2, 3]), facts.admits([2, 4])
    (True, False)
    """

    lower: Integers
    upper: Integers
    starts: Integers
    members: Integers
    factors: Integers
    low: Integers
    high: Integers
    whole: bool = True
    scale: int = 1

    @classmethod
    def of(
        cls,
        limits: Sequence[tuple[int | None, int | None]],
        rows: Iterable[tuple[Mapping[int, int], int | None, int | None]],
        *,
        whole: bool,
        scale: int = 1,
    ) -> LinearFacts:
        """Return facts from plain values, None where there is no limit."""
        listed = [(dict(own), low, high) for own, low, high in rows]
        lengths = [len(own) for own, _, _ in listed]
        return cls(
            _limits([low for low, _ in limits], -NO_LIMIT),
            _limits([high for _, high in limits], NO_LIMIT),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array([one for own, _, _ in listed for one in own], np.int64),
            np.array([factor for own, _, _ in listed for factor in own.values()], np.int64),
            _limits([low for _, low, _ in listed], -NO_LIMIT),
            _limits([high for _, _, high in listed], NO_LIMIT),
            whole,
            scale,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.low)

    @cached_property
    def entry_rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), np.diff(self.starts))

    def row(self, number: int) -> dict[int, int]:
        """Return the coefficients of a row."""
        own = slice(self.starts[number], self.starts[number + 1])
        return dict(zip(self.members[own].tolist(), self.factors[own].tolist(), strict=True))

    def admits(self, numbers: Sequence[int] | Integers, times: int = 1) -> bool:
        """Whether numbers, of which each stands for 1/times of itself, satisfy every fact."""
        given = np.asarray(numbers)
        if given.dtype.kind != "i":
            given = np.array([int(number) for number in numbers], object)
        pairs = ((given, self.lower, self.upper), (self.sums(given), self.low, self.high))
        for own, low, high in pairs:
            has_low, has_high = low > -NO_LIMIT, high < NO_LIMIT
            if np.any(own[has_low] < low[has_low].astype(object) * times):
                return False
            if np.any(own[has_high] > high[has_high].astype(object) * times):
                return False
        return True

    def sums(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of each row, in numbers of any size."""
        largest = max(abs(int(one)) for one in (numbers.min(initial=0), numbers.max(initial=0)))
        factor = int(np.abs(self.factors).max(initial=1))
        longest = int(np.diff(self.starts).max(initial=1))
        kind = np.int64 if largest * factor * longest < NO_LIMIT else object
        found = np.zeros(self.n_rows, kind)
        values = self.factors.astype(kind) * numbers.astype(kind)[self.members]
        np.add.at(found, self.entry_rows, values)
        return found


@dataclass(frozen=True)
class Certificate:
    """A proof that a number is at least or at most something, from rows and limits.

    Attributes
    ----------
    target
        The number that it is about.
    is_upper
        Whether it is a largest value, and not a least one.
    rows
        How many times each row is taken.
    bound
        What follows.
    """

    target: int
    is_upper: bool
    rows: Mapping[int, Fraction]
    bound: Fraction

    def left_over(self, facts: LinearFacts) -> dict[int, Fraction]:
        """Return what the rows leave of the number: its coefficient less that in their sum."""
        left: dict[int, Fraction] = {self.target: Fraction(1)}
        for row, times in self.rows.items():
            for member, factor in facts.row(row).items():
                left[member] = left.get(member, Fraction(0)) - times * factor
        return {member: factor for member, factor in left.items() if factor}


def verified(
    facts: LinearFacts, target: int, rows: Mapping[int, Fraction], *, is_upper: bool
) -> Certificate | None:
    """Return what some rows prove about a number, calculated in exact fractions; None if nothing.

    Any multiples of rows give a valid bound: the number is the sum of the rows plus what is left
    over, and each is within its limits (Neumaier and Shcherbina 2004).

    Examples
    --------
    >>> facts = LinearFacts.of([(0, None), (0, None)], [({0: 1, 1: 1}, 5, 5)], whole=False)
    >>> verified(facts, 0, {0: Fraction(1)}, is_upper=True).bound
    Fraction(5, 1)
    """
    taken = {row: times for row, times in rows.items() if times}
    found = Certificate(target, is_upper, taken, Fraction(0))
    bound = Fraction(0)
    pairs = [(times, int(facts.low[row]), int(facts.high[row])) for row, times in taken.items()]
    pairs += [
        (factor, int(facts.lower[member]), int(facts.upper[member]))
        for member, factor in found.left_over(facts).items()
    ]
    for times, low, high in pairs:
        limit = high if (times > 0) == is_upper else low
        if abs(limit) >= NO_LIMIT:
            return None
        bound += times * limit
    return Certificate(target, is_upper, taken, bound)


def _limits(given: Sequence[int | None], none: int) -> Integers:
    return np.array([none if limit is None else limit for limit in given], np.int64)
