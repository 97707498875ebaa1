"""The perturbation schemes: exact, rounded, Barnardized, suppressed and interval counts.

Conventional rounding goes to the nearest multiple of a base (the "controlled" rounding of Smith's
thesis, chapter 2, which is not additive); a base that is even has ties and needs a rule for them.
Random rounding goes to a neighbouring multiple and is unbiased. Barnardization leaves zeros, keeps
other counts with a probability and else adds or takes away one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.perturbation import HIDDEN, Integers, Scheme
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

TIES = ("up", "down", "even", "random")
"""The rules for counts in the middle between two multiples: to the larger, to the smaller, to the
even multiple of the base, or to either with the same probability."""

_LARGEST_BASE = 2**31


@dataclass(frozen=True)
class Exact(Scheme):
    """Counts are published as they are."""

    name = "exact"

    @property
    def text(self) -> str:
        """The name."""
        return self.name

    def mass(self, true: int) -> dict[int, Fraction]:
        """Return the true count with certainty."""
        return {true: Fraction(1)}

    def reach(self, published: int) -> tuple[int, int | None] | None:
        """Return the count itself."""
        return (published, published) if published >= 0 else None

    def publish(self, counts: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return the counts."""
        return np.array(counts, np.int64)


@dataclass(frozen=True)
class Conventional(Scheme):
    """Counts are rounded to the nearest multiple of a base.

    Parameters
    ----------
    base
        The base, from 1.
    ties
        Where counts in the middle go, one of `TIES`; only an even base has such counts, and it
        needs the rule.

    Examples
    --------
    >>> Conventional(5).mass(3), Conventional(5).bounds(5)
    ({5: Fraction(1, 1)}, (3, 7))
    >>> Conventional(4, "even").bounds(4)
    (3, 5)
    """

    name = "conventional"
    base: int
    ties: str | None = None

    def __post_init__(self) -> None:
        _check_base(self.name, self.base)
        if self.ties is not None and self.ties not in TIES:
            raise InputError(
                Reason.BAD_OPTION,
                f"Rounding with the rule {quoted([str(self.ties)])} for ties was asked for.",
                "There is no such rule.",
                f"There are: {quoted(TIES)}.",
            )
        if self.base % 2:
            object.__setattr__(self, "ties", None)
        elif self.ties is None:
            raise InputError(
                Reason.BAD_OPTION,
                f"Conventional rounding to the base {self.base} was asked for.",
                f"The base is even, so that counts such as {self.base // 2} are as near to the "
                "next smaller multiple as to the next larger, and no rule for them is given.",
                f"Give a rule for ties ({', '.join(TIES)}), as in 'conventional:{self.base}:up', "
                "or an odd base.",
            )

    @property
    def text(self) -> str:
        """The name, the base, and the rule for ties of an even base."""
        return ":".join([self.name, str(self.base), *([self.ties] if self.ties else [])])

    def mass(self, true: int) -> dict[int, Fraction]:
        """Return the nearest multiple; both with one half each for a tie broken at random."""
        below, rest = true - true % self.base, true % self.base
        above = below + self.base
        if 2 * rest != self.base:
            return {above if 2 * rest > self.base else below: Fraction(1)}
        if self.ties == "random":
            return {below: Fraction(1, 2), above: Fraction(1, 2)}
        goes_up = self.ties == "up" or (self.ties == "even" and (below // self.base) % 2 == 1)
        return {above if goes_up else below: Fraction(1)}

    def reach(self, published: int) -> tuple[int, int | None] | None:
        """Return half a base either way, with or without the ties."""
        if published < 0 or published % self.base:
            return None
        ties_to_here = {
            None: (False, False),
            "up": (True, False),
            "down": (False, True),
            "even": ((published // self.base) % 2 == 0,) * 2,
            "random": (True, True),
        }[self.ties]
        near = (self.base - 1) // 2
        return max(0, published - near - ties_to_here[0]), published + near + ties_to_here[1]

    def publish(self, counts: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return the nearest multiples."""
        given = np.asarray(counts, np.int64)
        multiple, rest = given // self.base, given % self.base
        up = 2 * rest > self.base
        tie = 2 * rest == self.base
        if self.ties == "up":
            up |= tie
        elif self.ties == "even":
            up |= tie & (multiple % 2 == 1)
        elif self.ties == "random":
            up |= tie & (rng.integers(0, 2, given.shape) == 1)
        return (multiple + up) * self.base


@dataclass(frozen=True)
class RandomRounding(Scheme):
    """Counts are rounded at random to a neighbouring multiple of a base, without bias.

    Examples
    --------
    >>> RandomRounding(3).mass(4), RandomRounding(3).bounds(3)
    ({3: Fraction(2, 3), 6: Fraction(1, 3)}, (1, 5))
    """

    name = "random"
    base: int

    def __post_init__(self) -> None:
        _check_base(self.name, self.base)

    @property
    def text(self) -> str:
        """The name and the base."""
        return f"{self.name}:{self.base}"

    def mass(self, true: int) -> dict[int, Fraction]:
        """Return the two neighbouring multiples, the nearer one with more probability."""
        rest = true % self.base
        below = true - rest
        if not rest:
            return {true: Fraction(1)}
        up = Fraction(rest, self.base)
        return {below: 1 - up, below + self.base: up}

    def reach(self, published: int) -> tuple[int, int | None] | None:
        """Return all between the neighbouring multiples."""
        if published < 0 or published % self.base:
            return None
        return max(0, published - self.base + 1), published + self.base - 1

    def publish(self, counts: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return neighbouring multiples."""
        given = np.asarray(counts, np.int64)
        rest = given % self.base
        return given - rest + self.base * (rng.integers(0, self.base, given.shape) < rest)


@dataclass(frozen=True)
class Barnardization(Scheme):
    """Zeros stay; other counts are kept with a probability, and else one more or one less.

    Parameters
    ----------
    keep
        The probability that a count is kept, above 0; with 1 all counts are exact.

    Examples
    --------
    >>> scheme = Barnardization(Fraction(1, 2))
    >>> scheme.mass(1)
    {0: Fraction(1, 4), 1: Fraction(1, 2), 2: Fraction(1, 4)}
    >>> scheme.bounds(0), scheme.bounds(1), scheme.bounds(2)
    ((0, 1), (1, 2), (1, 3))
    """

    name = "barnardization"
    keep: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.keep <= 1 or self.keep.denominator > 2**60:
            raise InputError(
                Reason.BAD_OPTION,
                "Barnardization was asked for.",
                "The probability that a count is kept must be above 0 and at most 1.",
                "Write it as in 'barnardization:0.8' or 'barnardization:4/5'.",
            )

    @property
    def text(self) -> str:
        """The name and the probability, as a decimal where that is exact."""
        decimal = f"{Decimal(self.keep.numerator) / Decimal(self.keep.denominator):f}"
        return f"{self.name}:{decimal if Fraction(decimal) == self.keep else self.keep}"

    def mass(self, true: int) -> dict[int, Fraction]:
        """Return zero for zero; else the count and its two neighbours."""
        if true == 0 or self.keep == 1:
            return {true: Fraction(1)}
        other = (1 - self.keep) / 2
        return {true - 1: other, true: self.keep, true + 1: other}

    def reach(self, published: int) -> tuple[int, int | None] | None:
        """Return one either way; a published one is never from zero."""
        if published < 0:
            return None
        if self.keep == 1:
            return published, published
        return (published and max(1, published - 1)), published + 1

    def publish(self, counts: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return zeros for zeros, and the other counts with 1, 0 or -1 added."""
        given = np.asarray(counts, np.int64)
        kept, all_ways = 2 * self.keep.numerator, 2 * self.keep.denominator
        drawn = rng.integers(0, all_ways, given.shape)
        step = np.where(drawn < kept, 0, np.where(drawn < (kept + all_ways) // 2, 1, -1))
        return given + np.where(given == 0, 0, step)


@dataclass(frozen=True)
class Suppressed(Scheme):
    """No count is shown, or none of the small ones.

    Parameters
    ----------
    below
        Counts from 1 up to, but without, this one are hidden and all others shown; None when
        every count is hidden.

    Examples
    --------
    >>> Suppressed().bounds(HIDDEN), Suppressed(below=5).bounds(HIDDEN)
    ((0, None), (1, 4))
    """

    name = "suppressed"
    below: int | None = None

    def __post_init__(self) -> None:
        if self.below is not None and not 2 <= self.below < _LARGEST_BASE:
            raise InputError(
                Reason.BAD_OPTION,
                f"The suppression of counts below {self.below} was asked for.",
                "Then no count is hidden: zeros are always shown.",
                "Give a number from 2, or none to hide every count.",
            )

    @property
    def text(self) -> str:
        """The name, and below which count."""
        return self.name if self.below is None else f"{self.name}:{self.below}"

    def mass(self, true: int) -> dict[int, Fraction]:
        """Return `HIDDEN` for what is not shown."""
        hidden = self.below is None or 1 <= true < self.below
        return {HIDDEN if hidden else true: Fraction(1)}

    def reach(self, published: int) -> tuple[int, int | None] | None:
        """Return what may be hidden; a count that is shown is exact."""
        if published == HIDDEN:
            return (0, None) if self.below is None else (1, self.below - 1)
        if self.below is None or published < 0 or 1 <= published < self.below:
            return None
        return published, published

    def publish(self, counts: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return the counts that are shown, and `HIDDEN` for the others."""
        given = np.asarray(counts, np.int64)
        shown = (given == 0) | (given >= self.below) if self.below else np.zeros(given.shape, bool)
        return np.where(shown, given, HIDDEN)


@dataclass(frozen=True)
class Interval(Scheme):
    """Intervals are published in place of counts.

    Parameters
    ----------
    cuts
        The first count of each interval, from 0 up; the last one has no end. A count stands for
        the interval that begins with it. Without cuts, every published interval is taken as it
        is, and true counts cannot be published.

    Examples
    --------
    >>> scheme = Interval((0, 1, 5, 20))
    >>> scheme.mass(7), scheme.bounds(5), scheme.bounds(20)
    ({5: Fraction(1, 1)}, (5, 19), (20, None))
    """

    name = "interval"
    cuts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        cuts = self.cuts
        rising = all(low < high for low, high in pairwise(cuts))
        if cuts and (cuts[0] != 0 or not rising or cuts[-1] >= UNBOUNDED):
            raise InputError(
                Reason.BAD_OPTION,
                "Intervals of counts were asked for.",
                "The counts with which they begin must rise from 0.",
                "Write them as in 'interval:0,1,5,20'.",
            )

    @property
    def text(self) -> str:
        """The name and the cuts."""
        cuts = ",".join(map(str, self.cuts))
        return f"{self.name}:{cuts}" if cuts else self.name

    def mass(self, true: int) -> dict[int, Fraction]:
        """Return the beginning of the interval."""
        self._need_cuts()
        return {self.cuts[bisect_right(self.cuts, true) - 1]: Fraction(1)}

    def reach(self, published: int) -> tuple[int, int | None] | None:
        """Return the interval that begins with a count; without cuts, the count alone."""
        if not self.cuts:
            return (published, published) if published >= 0 else None
        if published not in self.cuts:
            return None
        after = bisect_right(self.cuts, published)
        return published, self.cuts[after] - 1 if after < len(self.cuts) else None

    def publish(self, counts: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return the beginnings of the intervals."""
        self._need_cuts()
        cuts = np.array(self.cuts, np.int64)
        return cuts[np.searchsorted(cuts, np.asarray(counts, np.int64), side="right") - 1]

    def _need_cuts(self) -> None:
        if not self.cuts:
            raise InputError(
                Reason.BAD_OPTION,
                "Counts were to be published as intervals.",
                "It is not said where the intervals begin.",
                "Write it as in 'interval:0,1,5,20'.",
            )

    def admits(self, low: int, high: int | None) -> bool:
        """Return whether an interval can be published."""
        if self.cuts:
            return self.reach(low) == (low, high)
        return low >= 0 and (high is None or low <= high)


def _check_base(name: str, base: int) -> None:
    if isinstance(base, bool) or int(base) != base or not 1 <= base < _LARGEST_BASE:
        raise InputError(
            Reason.BAD_OPTION,
            f"Rounding ('{name}') was asked for.",
            f"Its base must be a whole number from 1 to {_LARGEST_BASE - 1:,}.",
            f"Write it as in '{name}:5'.",
        )
