"""What every perturbation scheme does: publish true counts, and give something away of them.

A scheme is a value. Its mass function P(published | true) is exact; from it follow the sampling of
published counts, the smallest and largest true count behind a published one, and the likelihood of
each (Smith's thesis, chapter 2). Limits of an array cost one look at each cell and one calculation
per different value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.errors import InputError, Reason

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
