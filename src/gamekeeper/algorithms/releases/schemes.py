"""Perturbation schemes: exact, rounded, Barnardized, suppressed and interval counts, and their names.

A scheme is a value. Its mass function P(published | true) is exact; from it follow the sampling of
published counts, the smallest and largest true count behind a published one, and the likelihood of
each (Smith's thesis, chapter 2). Limits of an array cost one look at each cell and one calculation
per different value.

Conventional rounding goes to the nearest multiple of a base (the "controlled" rounding of Smith's
thesis, chapter 2, which is not additive); a base that is even has ties and needs a rule for them.
Random rounding goes to a neighbouring multiple and is unbiased. Barnardization leaves zeros, keeps
other counts with a probability and else adds or takes away one.

Every scheme writes itself as its name and its parameters with colons between them, such as
'conventional:5', and is read from that or from a mapping. Others can be registered under a name of
their own and are then read like the schemes that come with the package.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.errors import InputError, Reason
from gamekeeper.prompt_syntax import parse_fraction
from gamekeeper.wording import did_you_mean, quoted

Integers = NDArray[np.int64]

HIDDEN = -1
"""What stands in an array of published counts for a cell that is not shown."""

_LOOKED_UP_BELOW = 1 << 20


class Scheme(ABC):
    """How true counts are published.

    A scheme of your own needs `name`, `text`, `mass` and `reach`; all else follows from them. Its
    text must be one that `parse_scheme` reads once the scheme is registered. True and published
    counts are whole numbers from 0 up; `HIDDEN` is published for a cell that is not shown.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def text(self) -> str:
        """The scheme with its parameters, as `parse_scheme` reads it."""

    @abstractmethod
    def mass(self, true: int) -> dict[int, Fraction]:
        """Return the probability of every count that may be published for a true count."""

    @abstractmethod
    def reach(self, published: int) -> tuple[int, int | None] | None:
        """Return the least and the largest true count behind a published one.

        The largest is None where there is no limit; nothing is returned for what is never
        published.
        """

    def can_publish(self, published: int) -> bool:
        """Return whether a count can be published at all."""
        return self.reach(published) is not None

    def bounds(self, published: int) -> tuple[int, int | None]:
        """Return the least and the largest true count behind a published one, or refuse it."""
        found = self.reach(published)
        if found is None:
            shown = "a hidden cell" if published == HIDDEN else f"the count {published}"
            raise InputError(
                Reason.IMPOSSIBLE_COUNT,
                f"Bounds of a cell published under '{self.text}' were asked for.",
                f"This scheme never publishes {shown}.",
                "Check the published count and the scheme.",
            )
        return found

    def likelihood(self, published: int) -> tuple[int, list[Fraction] | None]:
        """Return the least true count and the probability of the published one from there on.

        The list is None where the true count has no limit.
        """
        low, high = self.bounds(published)
        if high is None:
            return low, None
        nothing = Fraction(0)
        return low, [self.mass(true).get(published, nothing) for true in range(low, high + 1)]

    def limits(self, published: ArrayLike) -> tuple[Integers, Integers]:
        """Return lower and upper limits of the true counts; `UNBOUNDED` where there is none."""
        counts = np.asarray(published, np.int64)
        values, places = _different(counts)
        ends = np.array([self._ends(value) for value in values], np.int64).reshape(-1, 2)
        return ends[places, 0], ends[places, 1]

    def possible(self, published: ArrayLike) -> NDArray[np.bool_]:
        """Return for each count whether it can be published."""
        values, places = _different(np.asarray(published, np.int64))
        return np.array([self.can_publish(value) for value in values], bool)[places]

    def publish(self, counts: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return counts published for true ones, each on its own."""
        given = np.asarray(counts, np.int64)
        values, places = _different(given)
        order = np.argsort(places, axis=None, kind="stable")
        made = np.empty(given.size, np.int64)
        start = 0
        for value, n_here in zip(values, np.bincount(places.reshape(-1)).tolist(), strict=True):
            here = order[start : start + n_here]
            start += n_here
            outcomes = self.mass(value)
            chances = np.array([float(chance) for chance in outcomes.values()])
            drawn = rng.choice(len(chances), n_here, p=chances / chances.sum())
            made[here] = np.array(list(outcomes), np.int64)[drawn]
        return made.reshape(given.shape)

    def __str__(self) -> str:
        return self.text

    def _ends(self, published: int) -> tuple[int, int]:
        low, high = self.bounds(published)
        return low, UNBOUNDED if high is None else high


def _different(counts: Integers) -> tuple[Sequence[int], NDArray[np.intp]]:
    """Return all values that may occur and the place of each count among them."""
    if counts.size and counts.min() >= 0 and counts.max() < min(_LOOKED_UP_BELOW, counts.size):
        present = np.bincount(counts.reshape(-1)) > 0
        return np.flatnonzero(present).tolist(), (np.cumsum(present) - 1)[counts]
    values, places = np.unique(counts, return_inverse=True)
    return values.tolist(), places.reshape(counts.shape)


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
    """Counts are rounded to the nearest multiple of a base, from 1.

    Ties, counts in the middle, go where one of `TIES` says; only an even base has such counts, and
    it needs the rule.

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
    """No count is shown, or none from 1 up to, but without, `below`.

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

    Cuts are the first count of each interval, from 0 up; the last one has no end. A count stands
    for the interval that begins with it. Without cuts, every published interval is taken as it is,
    and true counts cannot be published.

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


SchemeLike = Scheme | str | Mapping[str, object]
"""How a scheme may be given: itself, 'random:3', or {"type": "random", "base": 3}."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*", re.ASCII)


def _conventional(base: object, ties: object = None) -> Scheme:
    return Conventional(_whole(base), None if ties is None else str(ties))


def _barnardization(p: object) -> Scheme:
    if isinstance(p, bool) or not isinstance(p, str | int | float | Fraction):
        raise ValueError
    return Barnardization(parse_fraction(p))


def _suppressed(below: object = None) -> Scheme:
    return Suppressed(None if below is None else _whole(below))


def _interval(cuts: object = ()) -> Scheme:
    parts = cuts.split(",") if isinstance(cuts, str) else cuts
    if not isinstance(parts, list | tuple):
        raise TypeError
    return Interval(tuple(_whole(part) for part in parts))


_MAKERS: dict[str, Callable[..., Scheme]] = {
    "barnardization": _barnardization,
    "conventional": _conventional,
    "exact": Exact,
    "interval": _interval,
    "random": lambda base: RandomRounding(_whole(base)),
    "suppressed": _suppressed,
}
_EXAMPLES = {
    "barnardization": "barnardization:0.8",
    "conventional": "conventional:5' or 'conventional:4:up",
    "interval": "interval:0,1,5,20",
    "random": "random:3",
    "suppressed": "suppressed' or 'suppressed:5",
}


def register_scheme(name: str, maker: Callable[..., Scheme]) -> None:
    """Make a scheme of your own known under a name, so that it can be read like the others.

    Names are of small letters, digits, hyphens and underscores, and not taken by another maker.
    From a text, such as 'mine:3:0.5', the maker gets the parts after the name as texts; from a
    mapping, all fields but `type` by their names.

    Examples
    --------
    >>> register_scheme("round-to-ten", lambda: Conventional(10, "up"))
    >>> parse_scheme("round-to-ten").bounds(10)
    (5, 14)
    """
    if not _NAME.fullmatch(name) or _MAKERS.get(name, maker) is not maker:
        taken = name in _MAKERS
        raise InputError(
            Reason.DUPLICATE if taken else Reason.BAD_NAME,
            f"A scheme was to be registered as {quoted([name])}.",
            "There is a scheme of this name." if taken else "This is no name of a scheme.",
            "Take a name of small letters, digits and hyphens that is free.",
        )
    _MAKERS[name] = maker


def parse_scheme(given: SchemeLike) -> Scheme:
    """Read a scheme: a scheme, a text, or a mapping.

    Texts are such as 'exact', 'conventional:5', 'conventional:4:up', 'random:3',
    'barnardization:0.8', 'suppressed', 'suppressed:5', 'interval' or 'interval:0,1,5,20'. A mapping
    has the name as `type` and the parameters (`base`, `ties`, `p`, `below`, `cuts`).

    Examples
    --------
    >>> parse_scheme("random:3") == parse_scheme({"type": "random", "base": 3})
    True
    """
    if isinstance(given, Scheme):
        return given
    parts: tuple[object, ...] = ()
    fields: dict[str, object] = {}
    if isinstance(given, str):
        name, *texts = (part.strip() for part in given.split(":"))
        parts = tuple(texts)
    elif isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - what callers give is not checked
        fields = {str(field): value for field, value in given.items() if field != "type"}
        name = str(given.get("type", ""))
    else:
        raise InputError(
            Reason.WRONG_SCHEMA,
            "A scheme was asked for.",
            f"A {type(given).__name__} is no scheme.",
            "Give a text such as 'conventional:5', or a mapping with its 'type'.",
        )
    name = name.casefold()
    maker = _MAKERS.get(name)
    if maker is None:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"The scheme {quoted([name])} was asked for.",
            "There is no scheme of this name." if name else "It has no name.",
            did_you_mean(name, _MAKERS),
        )
    try:
        made = maker(*parts, **fields)
    except (TypeError, ValueError):
        made = None
    if not isinstance(made, Scheme):
        example = f" Write it as in '{_EXAMPLES[name]}'." if name in _EXAMPLES else ""
        raise InputError(
            Reason.BAD_OPTION,
            f"The scheme {quoted([name])} was asked for.",
            "Its parameters cannot be used.",
            f"Check their number and what they are.{example}",
        )
    return made


def _whole(value: object) -> int:
    if isinstance(value, str):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value
