"""Attributions that hold for most of a kind, or for all but the few who put together what they know.

With conditions K = k, let L be the least number of people who also have V = v, and U the largest
number of those who have not. Whatever the table, the share of those who have it is at least
L / (L + U): the share a / (a + b) rises with a and falls with b. Where U is at most k, as many people
who know themselves and each other know that everybody else of the kind has V = v. U is bounded by the
sum of the other categories, and by all with the conditions less L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.errors import LimitError, Reason

Integers = NDArray[np.int64]
MarginBounds = Callable[[tuple[int, ...]], tuple[Integers, Integers]]
"""Returns the lower and upper bounds of the cells of a marginal table, by its axes in order."""


@dataclass(frozen=True, slots=True)
class GroupAttribution:
    """Most of those with some categories, or all but a few, have a further one.

    Attributes
    ----------
    kind
        "share" where at least a share has it, "coalition" where all but at most so many have.
    axes, categories
        The conditions.
    target, category
        The axis that the statement is about, and its category.
    least
        At least so many have it.
    others
        At most so many have not.
    people_low, people_high
        Bounds of the number of people who meet the conditions.
    """

    kind: Literal["share", "coalition"]
    axes: tuple[int, ...]
    categories: tuple[int, ...]
    target: int
    category: int
    least: int
    others: int
    people_low: int
    people_high: int

    @property
    def share(self) -> Fraction:
        """The share that is proven."""
        return Fraction(self.least, self.least + self.others)


def find_group_attributions(
    bounds: MarginBounds,
    n_axes: int,
    *,
    share: Fraction | None = None,
    coalition: int = 0,
    max_conditions: int | None = None,
    max_statements: int = 500_000,
) -> tuple[GroupAttribution, ...]:
    """Return what holds for at least a share of a kind, or for all but a coalition.

    Statements that hold for everyone are not among them.

    Examples
    --------
    >>> counts = np.array([[95, 3, 2], [10, 10, 10]])
    >>> def bounds(axes):
    ...     others = tuple(axis for axis in range(2) if axis not in axes)
    ...     return counts.sum(axis=others), counts.sum(axis=others)
    >>> [
    ...     (one.kind, one.axes, one.categories, one.category, str(one.share))
    ...     for one in find_group_attributions(bounds, 2, share=Fraction(9, 10))
    ...     if one.target == 1
    ... ]
    [('share', (0,), (0,), 0, '19/20')]
    """
    most = n_axes - 1 if max_conditions is None else min(max_conditions, n_axes - 1)
    found: list[GroupAttribution] = []
    for target in range(n_axes):
        others = [axis for axis in range(n_axes) if axis != target]
        for size in range(most + 1):
            for chosen in combinations(others, size):
                found += _statements(bounds, chosen, target, share, coalition)
                if len(found) > max_statements:
                    raise LimitError(
                        Reason.TOO_LARGE,
                        "Attributions of groups were asked for.",
                        f"There are more than {max_statements:,} statements.",
                        "Ask for fewer conditions with max_conditions (--conditions of tables infer), or"
                        " raise max_statements (--max-statements of tables infer).",
                    )
    return tuple(sorted(found, key=_rank))


def _statements(
    bounds: MarginBounds,
    chosen: tuple[int, ...],
    target: int,
    share: Fraction | None,
    coalition: int,
) -> list[GroupAttribution]:
    axes = tuple(sorted((*chosen, target)))
    place = axes.index(target)
    lower, upper = (np.moveaxis(own, place, -1) for own in bounds(axes))
    low, high = bounds(chosen)
    is_open = upper >= UNBOUNDED
    added = np.where(is_open, 0, upper)
    rest = added.sum(axis=-1, keepdims=True) - added
    rest_open = is_open.sum(axis=-1, keepdims=True) - is_open > 0
    whole = high[..., None]
    by_whole = np.where(whole >= UNBOUNDED, UNBOUNDED, whole - lower)
    others = np.minimum(np.where(rest_open, UNBOUNDED, rest), by_whole)
    usable = (lower > 0) & (others > 0) & (others < UNBOUNDED)
    made: list[GroupAttribution] = []
    for at in np.argwhere(usable).tolist():
        spot = tuple(at)
        least, left = int(lower[spot]), int(others[spot])
        kinds: list[Literal["share", "coalition"]] = []
        if share is not None and Fraction(least, least + left) >= share:
            kinds.append("share")
        if 0 < left <= coalition:
            kinds.append("coalition")
        people = int(low[spot[:-1]]), int(high[spot[:-1]])
        made += [
            GroupAttribution(kind, chosen, spot[:-1], target, spot[-1], least, left, *people)
            for kind in kinds
        ]
    return made


def _rank(one: GroupAttribution) -> tuple[object, ...]:
    return (
        one.kind == "share", -one.people_low, -one.share, len(one.axes),
        one.target, one.axes, one.categories, one.category,
    )  # fmt: skip
