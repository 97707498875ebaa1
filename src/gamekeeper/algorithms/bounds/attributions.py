"""Logical attributions: what cells that are certainly empty, or nearly, say about people.

A positive attribution says that everyone with some categories K = k has V = v, because every cell
with K = k and another category of V is certainly empty. A negative one says that nobody with K = k
has V = v, because every cell with both is. K may be empty. Only the most general statements are
made: none that follows from one with fewer conditions, no negative one that follows from a positive
one, and none about people of whom there is certainly nobody.

A sum of counts is certainly 0 if, and only if, each of its cells is, so that tight upper bounds of
the base table decide every statement. Beside each category an axis gets the place of "any", and one
array holds for every combination of categories whether it is certainly empty. It has the product of
(categories + 1) places; time is that, times the number of axes. Smith's thesis, chapters 2 and 3.

Some attributions hold for most of a kind, or for all but the few who put together what they know.
With conditions K = k, let L be the least number of people who also have V = v, and U the largest
number of those who have not. Whatever the table, the share of those who have it is at least L / (L
+ U): the share a / (a + b) rises with a and falls with b. Where U is at most k, as many people who
know themselves and each other know that everybody else of the kind has V = v. U is bounded by the
sum of the other categories, and by all with the conditions less L.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Statement: TypeAlias = tuple[
    Literal["positive", "negative"], tuple[int, ...], tuple[int, ...], int, int
]

People: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...]], tuple[int, int]]
"""Returns the lower and upper number of people with some categories of some axes."""

MOST_COMBINATIONS = 20_000_000
MOST_STATEMENTS = 500_000


@dataclass(frozen=True, slots=True)
class Attribution:
    """Everyone ("positive"), or nobody ("negative"), with some categories has a further one.

    `axes` and `categories` are the conditions, perhaps none; `target` and `category` what is said
    of the `people_low` to `people_high` people who meet them.
    """

    kind: Literal["positive", "negative"]
    axes: tuple[int, ...]
    categories: tuple[int, ...]
    target: int
    category: int
    people_low: int
    people_high: int

    @property
    def certain(self) -> bool:
        """Whether there is certainly somebody who meets the conditions."""
        return self.people_low > 0


def find_attributions(
    zeros: ArrayLike,
    people: People,
    *,
    max_conditions: int | None = None,
    max_combinations: int = MOST_COMBINATIONS,
    max_statements: int = MOST_STATEMENTS,
) -> tuple[Attribution, ...]:
    """Return the most general attributions, those that concern most people first.

    First come those with the largest lower number of people, then by the upper number, then
    positive ones, then those with fewer conditions. Statements whose upper number of people is 0
    are left out.

    `zeros` says of each cell of the base table whether it is certainly empty; `people` gives the
    number who meet some conditions, and is called once for each of them.

    Examples
    --------
    Two ages by work, place by place: (yes, no).

    >>> lower = upper = np.array([[3, 0], [5, 2]])
    >>> for one in find_attributions(upper == 0, people_within(lower, upper)):
    ...     print(one.kind, one.axes, one.categories, one.target, one.category, one.people_low)
    positive (0,) (0,) 1 0 3
    positive (1,) (1,) 0 1 2
    """
    empty = np.asarray(zeros)
    if empty.dtype != np.bool_:
        raise InputError(
            Reason.MALFORMED,
            "Attributions were asked for.",
            f"The certain zeros came as {empty.dtype}.",
            "Give true or false for each cell, such as upper == 0.",
        )
    n_combinations = math.prod(length + 1 for length in empty.shape)
    if n_combinations > max_combinations:
        raise LimitError(
            Reason.TOO_LARGE,
            f"Attributions of a table with {count_of(empty.size, 'cell')} and"
            f" {count_of(empty.ndim, 'axis', 'axes')} were asked for.",
            f"There are {n_combinations:,} combinations of categories;"
            f" the limit is {max_combinations:,}.",
            "Attack a table of fewer axes, or raise max_combinations"
            " (--max-combinations of tables infer).",
        )
    if not empty.size:
        return ()
    most_conditions = empty.ndim if max_conditions is None else max_conditions
    found = list(_statements(_with_any(empty, np.logical_and), most_conditions, max_statements))
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, int]] = {}
    made: list[Attribution] = []
    for kind, axes, categories, target, category in found:
        conditions = (axes, categories)
        if conditions not in known:
            low, high = people(axes, categories)
            known[conditions] = int(low), int(high)
        low, high = known[conditions]
        if high > 0:
            made.append(Attribution(kind, axes, categories, target, category, low, high))
    return tuple(sorted(made, key=_rank))


def people_within(lower: ArrayLike, upper: ArrayLike) -> People:
    """Return numbers of people as sums of the bounds of cells: valid, and not tight in general.

    Examples
    --------
    >>> people = people_within([[0, 1], [2, 2]], [[1, 1], [2, UNBOUNDED]])
    >>> people((0,), (0,)), people((), ()) == (5, UNBOUNDED)
    ((1, 2), True)
    """
    high = np.asarray(upper, np.int64)
    is_open = _with_any(high >= UNBOUNDED, np.logical_or)
    lows = _with_any(np.asarray(lower, np.int64), np.add)
    highs = _with_any(np.where(high >= UNBOUNDED, 0, high), np.add)

    def people(axes: tuple[int, ...], categories: tuple[int, ...]) -> tuple[int, int]:
        place = [-1] * high.ndim
        for axis, category in zip(axes, categories, strict=True):
            place[axis] = category
        at = tuple(place)
        return int(lows[at]), UNBOUNDED if is_open[at] else int(highs[at])

    return people


def _with_any(values: NDArray[_Scalar], combine: np.ufunc) -> NDArray[_Scalar]:
    """Return an array with a last place on each axis that combines all others."""
    for axis in range(values.ndim):
        total = combine.reduce(values, axis=axis, keepdims=True)
        values = np.concatenate([values, total], axis=axis)
    return values


def _statements(empty: Flags, most_conditions: int, most: int) -> Iterator[_Statement]:
    """Yield the most general statements, without asking for people."""
    minimal = _without_more_general(empty)
    n_found = 0
    for target in range(empty.ndim):
        others = np.moveaxis(empty, target, -1)
        if others.shape[-1] == 2:
            continue
        decided = _with_one_left(others[..., :-1])
        stated = _places(_without_more_general(decided), most_conditions)
        n_found = _counted(n_found, len(stated), most)
        for place in stated:
            axes, categories = _conditions(place, others.shape, target)
            category = int(np.argmin(others[tuple(place)]))
            yield "positive", axes, categories, target, category
        # The conditions of a minimal combination are not empty by themselves.
        denied = np.moveaxis(minimal, target, -1)[..., :-1] & ~decided[..., None]
        for category in range(denied.shape[-1]):
            stated = _places(denied[..., category], most_conditions)
            n_found = _counted(n_found, len(stated), most)
            for place in stated:
                axes, categories = _conditions(place, others.shape, target)
                yield "negative", axes, categories, target, category


def _with_one_left(empty: Flags) -> Flags:
    """Return where exactly one category of the last axis is not empty."""
    one, more = np.zeros(empty.shape[:-1], np.bool_), np.zeros(empty.shape[:-1], np.bool_)
    for category in range(empty.shape[-1]):
        possible = ~empty[..., category]
        more |= one & possible
        one |= possible
    return one & ~more


def _places(flags: Flags, most_conditions: int) -> list[list[int]]:
    places = np.argwhere(flags)
    n_conditions = (places < np.array(flags.shape, np.int64) - 1).sum(axis=1)
    return places[n_conditions <= most_conditions].tolist()


def _without_more_general(flags: Flags) -> Flags:
    """Return which flags are set where none of those with one condition fewer is."""
    kept = flags.copy()
    for axis in range(flags.ndim):
        own = np.moveaxis(kept, axis, -1)
        own[..., :-1] &= ~np.moveaxis(flags, axis, -1)[..., -1:]
    return kept


def _conditions(
    place: list[int], shape: tuple[int, ...], target: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes with a category at a place, numbered as in the base table."""
    chosen = [
        (axis + (axis >= target), category)
        for axis, category in enumerate(place)
        if category < shape[axis] - 1
    ]
    return tuple(axis for axis, _ in chosen), tuple(category for _, category in chosen)


def _counted(before: int, further: int, most: int) -> int:
    if before + further > most:
        raise LimitError(
            Reason.TOO_LARGE,
            "Attributions were asked for.",
            f"There are at least {before + further:,} statements; the limit is {most:,}.",
            "Ask for fewer conditions with max_conditions (--conditions of tables infer), or raise"
            " max_statements (--max-statements of tables infer).",
        )
    return before + further


def _rank(one: Attribution) -> tuple[object, ...]:
    return (
        -one.people_low, -one.people_high, one.kind == "negative", len(one.axes),
        one.target, one.axes, one.categories, one.category,
    )  # fmt: skip


MarginBounds = Callable[[tuple[int, ...]], tuple[Integers, Integers]]
"""Returns the lower and upper bounds of the cells of a marginal table, by its axes in order."""


@dataclass(frozen=True, slots=True)
class GroupAttribution:
    """Most of those with some categories, or all but a few, have a further one.

    By `kind` a "share" of at least so many has it, or all but a "coalition" of at most so many. At
    least `least` have it, and at most `others` have not; the rest is as in `Attribution`.
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
    """Return what holds for at least a share of a kind, or all but a coalition, and not for all.

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
                found += _group_statements(bounds, chosen, target, share, coalition)
                if len(found) > max_statements:
                    raise LimitError(
                        Reason.TOO_LARGE,
                        "Attributions of groups were asked for.",
                        f"There are more than {max_statements:,} statements.",
                        "Ask for fewer conditions with max_conditions (--conditions of tables infer), or"
                        " raise max_statements (--max-statements of tables infer).",
                    )
    return tuple(sorted(found, key=_group_rank))


def _group_statements(
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


def _group_rank(one: GroupAttribution) -> tuple[object, ...]:
    return (
        one.kind == "share", -one.people_low, -one.share, len(one.axes),
        one.target, one.axes, one.categories, one.category,
    )  # fmt: skip
