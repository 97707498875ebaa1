"""What is known of hidden numbers: limits of each, and limits of whole-numbered sums of them.

A fact is a row `low <= sum of coefficient times number <= high` with whole coefficients: cells that
add up to a published one, a percentage or a mean that was rounded, the difference of two versions.
Coefficients may be negative or larger than 1, and numbers need be neither whole nor above 0. All
limits are whole numbers: numbers with decimals are scaled by a power of ten before. `NO_LIMIT`
stands for none.

Any multiples of rows prove something of a sum of numbers: it is the sum of the rows plus what is left
over, and each is within its limits (Neumaier and Shcherbina 2004). A certificate is such a proof,
calculated in exact fractions.
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
# Beyond this, sums of products of limits and coefficients could leave 64 bits.
_SAFE = 2**61


class NoNumbersError(ValueError):
    """Nothing satisfies the facts; `rows` are some that contradict each other, where known."""

    def __init__(self, rows: Iterable[int] = ()) -> None:
        super().__init__("no numbers satisfy the facts")
        self.rows = tuple(rows)


@dataclass(frozen=True, eq=False, repr=False)
class LinearFacts:
    """Limits of numbers and of sums of them.

    The numbers of row r are `members[starts[r]:starts[r + 1]]`, with these `factors`; its limits
    are `low` and `high`. `whole` says whether the numbers are known to be whole, and `scale` by how
    much they were multiplied to make limits whole.

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
    factors: NDArray[Any]
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

    @cached_property
    def by_number(self) -> tuple[Integers, Integers, NDArray[Any]]:
        """For each number the rows it is part of, as starts, rows and factors."""
        starts, order = turned(self.members, len(self.lower))
        return starts, self.entry_rows[order], self.factors[order]

    @cached_property
    def endless(self) -> int:
        """From where on a limit is taken for none, so that sums of limits stay within 64 bits."""
        longest = int(np.diff(self.starts).max(initial=1))
        return min(NO_LIMIT, _SAFE // (longest * self.largest_factor) + 1)

    @cached_property
    def largest_factor(self) -> int:
        """The largest coefficient, whatever its sign, and at least 1."""
        # One after the other: of a number of 8 bits, -128 has no opposite.
        return max(1, int(self.factors.max(initial=1)), -int(self.factors.min(initial=-1)))

    @property
    def short_factors(self) -> NDArray[Any]:
        """The coefficients in 8 bits, where they fit: kernels are mostly compiled for those alone."""
        return self.factors.astype(np.int8) if self.largest_factor < 2**7 else self.factors

    @cached_property
    def largest_limit(self) -> int:
        """The largest limit that is one, whatever its sign."""
        found = 0
        for own in (self.lower, self.upper, self.low, self.high):
            finite = own[np.abs(own) < NO_LIMIT]
            found = max(found, int(np.abs(finite).max(initial=0)))
        return found

    @property
    def is_small(self) -> bool:
        """Whether all limits are small enough for sums of them in 64 bits."""
        return self.largest_limit < self.endless

    def row(self, number: int) -> dict[int, int]:
        """Return the coefficients of a row."""
        own = slice(self.starts[number], self.starts[number + 1])
        return dict(zip(self.members[own].tolist(), self.factors[own].tolist(), strict=True))

    def admits(self, numbers: Sequence[int] | NDArray[Any], times: int = 1) -> bool:
        """Whether numbers, of which each stands for 1/times of itself, satisfy every fact."""
        given = np.asarray(numbers)
        if given.dtype.kind != "i":
            given = np.array([int(number) for number in numbers], object)
        kind: Any = np.int64 if times == 1 else object
        pairs = ((given, self.lower, self.upper), (self.sums(given), self.low, self.high))
        for own, low, high in pairs:
            has_low, has_high = low > -NO_LIMIT, high < NO_LIMIT
            if np.any(own[has_low] < low[has_low].astype(kind) * times):
                return False
            if np.any(own[has_high] > high[has_high].astype(kind) * times):
                return False
        return True

    def sums(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of each row, in numbers of any size."""
        largest = max(abs(int(one)) for one in (numbers.min(initial=0), numbers.max(initial=0)))
        longest = int(np.diff(self.starts).max(initial=1))
        kind = np.int64 if largest * self.largest_factor * longest < NO_LIMIT else object
        values = numbers.astype(kind)[self.members] * self.factors.astype(kind)
        return row_sums(self.starts, values)

    def ends(self, lower: Integers, upper: Integers) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the least and the most that each row can be within limits of the numbers."""
        kind = np.int64 if self.is_small else object
        is_positive = self.factors > 0
        found: list[NDArray[Any]] = []
        for is_least in (True, False):
            own = np.where(is_positive == is_least, lower[self.members], upper[self.members])
            is_endless = np.abs(own) >= NO_LIMIT
            values = np.where(is_endless, 0, own).astype(kind) * self.factors.astype(kind)
            n_endless = row_sums(self.starts, is_endless.astype(np.int64))
            none = -NO_LIMIT if is_least else NO_LIMIT
            found.append(np.where(n_endless > 0, none, row_sums(self.starts, values)))
        return found[0], found[1]


def turned(members: Integers, n_numbers: int) -> tuple[Integers, Integers]:
    """Return the entries of rows in the order of their numbers, and where each number starts."""
    starts = np.zeros(n_numbers + 1, np.int64)
    np.cumsum(np.bincount(members, minlength=n_numbers), out=starts[1:])
    return starts, np.argsort(members, kind="stable")


def row_sums(starts: Integers, values: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of consecutive stretches of values, row r from `starts[r]` on.

    In 64 bits the running sum may pass their end, and differences are right again.
    """
    running = np.concatenate([np.zeros(1, values.dtype), np.cumsum(values, dtype=values.dtype)])
    return running[starts[1:]] - running[starts[:-1]]


@dataclass(frozen=True)
class Certificate:
    """A proof of a largest or least value of a number from rows, each taken so many times."""

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
