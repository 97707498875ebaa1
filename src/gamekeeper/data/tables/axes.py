"""The axes of tables of counts, groups of their categories, and what is published of some of them.

A published table has some axes of the base table, grouped or not, under a scheme. A scheme tells
which true figures a published one can have come from. Sums hold of the true figures, and not of the
published ones. Of values, a rounded one stands for all that lies within half a base, or within a
base where it was rounded at random; the ends are counted among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases import schemes
from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.arrow import pa
from gamekeeper.errors import Problem, Reason, refuse
from gamekeeper.wording import (
    count_of,
    did_you_mean,
    listed,
    on_one_line,
    quoted,
    shape_text,
    there_are,
    unfit_character,
)

Groups = Mapping[str, Sequence[str]]
"""The groups of an axis: for each label the categories of the base table that it stands for."""

MOST_AXES = 64
"""As many as an array has dimensions."""

_LETTERS = 40
_SHOWN_CELLS = 6


@dataclass(frozen=True, slots=True)
class Axis:
    """A variable of a table of counts, with its categories in their order.

    >>> Axis("work", ("yes", "no"))
    Axis('work', 2 categories)
    """

    name: str
    categories: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.categories)

    def __repr__(self) -> str:
        return f"Axis({quoted([self.name])}, {count_of(len(self), 'category', 'categories')})"


def axes_of(given: Mapping[str, Iterable[object]] | Iterable[Axis]) -> tuple[Axis, ...]:
    """Return axes that are given as such, or by name with their categories."""
    if isinstance(given, Mapping):
        return tuple(
            Axis(str(name), tuple(map(str, categories))) for name, categories in given.items()
        )
    return tuple(given)


def too_many_axes(number: int) -> list[Problem]:
    """Return the problem of a table that has more axes than an array."""
    if number <= MOST_AXES:
        return []
    found = f"there are {number:,}; the limit is {MOST_AXES}."
    return [Problem(Reason.TOO_LARGE, "axes", found, "Leave axes out.")]


def axis_problems(axes: Sequence[Axis]) -> list[Problem]:
    """Return what is wrong with the names of axes and of their categories."""
    problems = too_many_axes(len(axes))
    problems += [
        Problem(Reason.DUPLICATE, f"axis {quoted([name])}", f"is there {count} times.")
        for name, count in Counter(axis.name for axis in axes).items()
        if count > 1
    ]
    for axis in axes:
        where = f"axis {quoted([axis.name])}"
        if not axis.name.strip():
            problems.append(Problem(Reason.BAD_NAME, where, "has no name."))
        if not axis.categories:
            problems.append(Problem(Reason.NOTHING_GIVEN, where, "has no categories."))
        problems += [
            Problem(Reason.BAD_NAME, where, f"has a name with {unfit}.")
            for name in (axis.name, *axis.categories)
            if (unfit := unfit_character(name))
        ]
        twice = [name for name, count in Counter(axis.categories).items() if count > 1]
        if twice:
            found = f"has categories of the same name: {quoted(twice)}."
            problems.append(Problem(Reason.DUPLICATE, where, found))
    return problems


def unknown_axes(names: Iterable[str], known: Collection[str], said: str) -> list[Problem]:
    """Return a problem for each of some names that is not one of an axis."""
    return [
        Problem(Reason.UNKNOWN_NAME, f"axis {quoted([name])}", said, did_you_mean(name, known))
        for name in names
        if name not in known
    ]


def grouped(
    axis: Axis, groups: Groups, where: str, problems: list[Problem]
) -> tuple[Axis, NDArray[np.int64]] | None:
    """Return the axis of groups and the group of each category; None after adding problems."""
    where = f"{where}, axis {quoted([axis.name])}"
    found: list[Problem] = []
    places = {category: place for place, category in enumerate(axis.categories)}
    numbers = np.full(len(axis), -1, np.int64)
    twice: list[str] = []
    for number, (label, categories) in enumerate(groups.items()):
        group = f"{where}, group {quoted([label])}"
        if isinstance(categories, str) or not categories:
            found.append(Problem(Reason.NOTHING_GIVEN, group, "has no list of categories."))
            continue
        for category in categories:
            place = places.get(category)
            if place is None:
                near = did_you_mean(category, places)
                said = f"names {quoted([category])}, which is not in the base table."
                found.append(Problem(Reason.UNKNOWN_NAME, group, said, near))
            elif numbers[place] >= 0:
                twice.append(category)
            else:
                numbers[place] = number
    left = [category for category, place in places.items() if numbers[place] < 0]
    if twice:
        said = f"these categories are in more than one place: {quoted(twice)}."
        found.append(Problem(Reason.DUPLICATE, where, said, "Put each in one group."))
    if left and not any(problem.reason is Reason.NOTHING_GIVEN for problem in found):
        said = f"these categories are in no group: {quoted(left)}."
        found.append(Problem(Reason.NOT_A_CATEGORIZATION, where, said, "Put each in one group."))
    problems += found
    return None if found else (Axis(axis.name, tuple(groups)), numbers)


def cell_words(axes: Sequence[Axis], cell: int) -> str:
    """Return a cell, numbered by rows, in the words of its categories.

    >>> cell_words([Axis("age", ("young", "old")), Axis("work", ("yes", "no"))], 2)
    'age=old, work=yes'
    >>> cell_words([], 0)
    'total'
    """
    words: list[str] = []
    for axis in reversed(axes):
        cell, place = divmod(cell, len(axis))
        shown = (on_one_line(text, _LETTERS) for text in (axis.name, axis.categories[place]))
        words.append("=".join(shown))
    return ", ".join(reversed(words)) or "total"


def cells_words(axes: Sequence[Axis], cells: Sequence[int]) -> str:
    """Return the first of some cells in words, and the number of the others.

    >>> cells_words([Axis("work", ("yes", "no"))], [0, 1])
    'work=yes; work=no'
    """
    # There may be millions of cells.
    first = [cell_words(axes, cell) for cell in cells[:_SHOWN_CELLS]]
    letters = (2 * _LETTERS + 3) * max(len(axes), 1)
    return listed(first, _SHOWN_CELLS, among=len(cells), letters=letters)


def category_columns(axes: Sequence[Axis], cells: NDArray[np.int64]) -> dict[str, Any]:
    """Return for each axis the categories of some cells, numbered by rows, as an Arrow array.

    >>> made = category_columns(
    ...     [Axis("age", ("young", "old")), Axis("work", ("yes", "no"))], np.array([2])
    ... )
    >>> {name: column.to_pylist() for name, column in made.items()}
    {'age': ['old'], 'work': ['yes']}
    """
    places = np.unravel_index(cells, tuple(map(len, axes))) if axes else ()
    return {
        axis.name: pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int32)), pa.array(list(axis.categories), pa.string())
        ).dictionary_decode()
        for axis, codes in zip(axes, places, strict=True)
    }


def raise_all(asked: str, problems: Sequence[Problem], do: str = "") -> None:
    """Raise one error with every problem, if there is any."""
    refuse(problems, asked, f"{there_are(len(problems), 'problem')}.", do)


Integers = NDArray[np.int64]

_SHOWN_FAULTS = 20


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTable:
    """What is published of some axes of the base table.

    - `name`: what the table is called in messages.
    - `axes`: the names of its axes in the order of its counts; none for the total.
    - `counts`: the published counts, `HIDDEN` where none is shown; the lower limits of intervals.
    - `highs`: the upper limits of intervals that are given one by one, `UNBOUNDED` where there is none.
    - `groups`: for axes that are recoded, the categories of the base table under each label.
    - `hidden`: the least and the largest count that a hidden cell may have, where the release says
      so; else it is what the scheme hides, or anything.
    """

    name: str
    axes: tuple[str, ...]
    scheme: schemes.Scheme
    counts: Integers
    highs: Integers | None = None
    groups: Mapping[str, Groups] = field(default_factory=dict[str, Groups])
    hidden: tuple[int, int | None] | None = None

    @property
    def hidden_limits(self) -> tuple[int, int | None]:
        """The least and the largest count that a hidden cell may have."""
        return self.hidden or self.scheme.reach(schemes.HIDDEN) or (0, None)

    @property
    def n_hidden(self) -> int:
        """The number of hidden cells."""
        return int(np.count_nonzero(self.counts == schemes.HIDDEN))

    @cached_property
    def limits(self) -> tuple[Integers, Integers]:
        """Lower and upper limits of the true counts; `UNBOUNDED` where there is none."""
        shown = self.counts != schemes.HIDDEN
        low, high = self.hidden_limits
        lower = np.full(self.counts.shape, low, np.int64)
        upper = np.full(self.counts.shape, UNBOUNDED if high is None else high, np.int64)
        if self.highs is None:
            lower[shown], upper[shown] = self.scheme.limits(self.counts[shown])
        else:
            lower[shown], upper[shown] = self.counts[shown], self.highs[shown]
        return lower, upper

    def likelihood(self, cell: int) -> tuple[int, list[Fraction] | None]:
        """Return the least true count of a cell, and the probability of what is published.

        There is one probability for each true count from the least up; None where there is no
        largest. Hidden cells and intervals are as probable for every count that they allow.
        """
        published = int(self.counts.reshape(-1)[cell])
        if published != schemes.HIDDEN and self.highs is None:
            return self.scheme.likelihood(published)
        lower, upper = (int(limits.reshape(-1)[cell]) for limits in self.limits)
        return lower, None if upper >= UNBOUNDED else [Fraction(1)] * (upper - lower + 1)

    def words(self, cell: int) -> str:
        """Return what is published for a cell."""
        published = int(self.counts.reshape(-1)[cell])
        if published == schemes.HIDDEN:
            return "hidden"
        if isinstance(self.scheme, schemes.Interval):
            low, high = (int(limits.reshape(-1)[cell]) for limits in self.limits)
            return f"published {low} or more" if high >= UNBOUNDED else f"published {low} to {high}"
        return f"published {published}"

    def __repr__(self) -> str:
        shape = shape_text(self.counts.shape)
        return f"{type(self).__name__}({quoted([self.name])}, {shape} cells, {self.scheme.text})"


def published_axes(
    axes: Sequence[Axis],
    names: Sequence[str],
    groups: Mapping[str, Groups],
    where: str,
    problems: list[Problem],
) -> tuple[Axis, ...] | None:
    """Return the axes of a published table as they are grouped; None after adding problems."""
    known = {axis.name: axis for axis in axes}
    found = [
        Problem(
            Reason.UNKNOWN_NAME,
            where,
            f"has the axis {quoted([name])}, which is not in the base table.",
            did_you_mean(name, known),
        )
        for name in dict.fromkeys(names)
        if name not in known
    ]
    if len(set(names)) < len(names):
        found.append(Problem(Reason.DUPLICATE, where, "has an axis twice."))
    found += [
        Problem(
            Reason.UNKNOWN_NAME,
            where,
            f"groups the axis {quoted([name])}, which it does not have.",
            did_you_mean(name, names),
        )
        for name in groups
        if name not in names
    ]
    made: list[Axis] = []
    for name in names:
        if name in known and name in groups:
            pair = grouped(known[name], groups[name], where, found)
            made += [pair[0]] if pair else []
        elif name in known:
            made.append(known[name])
    problems += found
    return None if found else tuple(made)


@dataclass(frozen=True)
class Place:
    """How a published table lies in the base table.

    - `axes`: the labels of each axis of the base table, in the order of the first category they
      hold; None for an axis that is summed out.
    - `orders`: for these labels, their places in the published table.
    - `groups`: the label of each category, for each axis of the base table.
    """

    axes: tuple[Axis | None, ...]
    orders: tuple[Integers, ...]
    groups: tuple[Integers, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of labels of each axis of the base table, 1 where it is summed out."""
        return tuple(1 if axis is None else len(axis) for axis in self.axes)

    @property
    def own_axes(self) -> list[Axis]:
        """The axes that are not summed out, in the order of the base table."""
        return [axis for axis in self.axes if axis is not None]


def place_of(axes: Sequence[Axis], table: PublishedTable) -> Place:
    """Return how a published table without problems lies in the base table."""
    labels: list[Axis | None] = []
    orders: list[Integers] = []
    numbers: list[Integers] = []
    for axis in axes:
        groups = table.groups.get(axis.name)
        if axis.name not in table.axes:
            labels.append(None)
            numbers.append(np.zeros(len(axis), np.int64))
            continue
        if groups is None:
            labels.append(axis)
            orders.append(np.arange(len(axis), dtype=np.int64))
            numbers.append(np.arange(len(axis), dtype=np.int64))
            continue
        of = {category: place for place, own in enumerate(groups.values()) for category in own}
        given = np.array([of[category] for category in axis.categories], np.int64)
        _, first = np.unique(given, return_index=True)
        order = np.argsort(first, kind="stable").astype(np.int64)
        labels.append(Axis(axis.name, tuple(np.array(list(groups), object)[order].tolist())))
        orders.append(order)
        numbers.append(np.argsort(order, kind="stable").astype(np.int64)[given])
    return Place(tuple(labels), tuple(orders), tuple(numbers))


def table_problems(axes: Sequence[Axis], table: PublishedTable) -> list[Problem]:
    """Return what is wrong with a published table of a base table with these axes."""
    where = f"table {quoted([table.name])}"
    problems: list[Problem] = []
    own = published_axes(axes, table.axes, table.groups, where, problems)
    if own is None:
        return problems
    shape = tuple(map(len, own))
    for counts in (table.counts, table.highs):
        if counts is not None and counts.shape != shape:
            said = f"its counts have the shape {counts.shape}."
            do = f"The axes ask for the shape {shape}."
            problems.append(Problem(Reason.MALFORMED, where, said, do))
    low, high = table.hidden_limits
    if low < 0 or (high is not None and high < low):
        said = "the limits of its hidden cells are no interval of counts."
        problems.append(Problem(Reason.BAD_OPTION, where, said))
    return problems or _impossible(own, table, where)


def _impossible(own: Sequence[Axis], table: PublishedTable, where: str) -> list[Problem]:
    flat = table.counts.reshape(-1)
    shown = np.flatnonzero(flat != schemes.HIDDEN)
    if table.highs is None:
        wrong = shown[~table.scheme.possible(flat[shown])]
    else:
        highs = table.highs.reshape(-1)
        wrong = shown[(flat[shown] < 0) | (highs[shown] < flat[shown])]
    problems = [
        Problem(
            Reason.IMPOSSIBLE_COUNT,
            f"{where}, {cell_words(own, cell)}",
            f"the published count {flat[cell]} cannot come from '{table.scheme.text}'.",
            "Check the count and the scheme.",
        )
        for cell in wrong[:_SHOWN_FAULTS].tolist()
    ]
    if len(wrong) > _SHOWN_FAULTS:
        said = f"{len(wrong) - _SHOWN_FAULTS:,} more counts cannot come from '{table.scheme.text}'."
        problems.append(Problem(Reason.IMPOSSIBLE_COUNT, where, said))
    return problems


@dataclass(frozen=True)
class Perturbed:
    """A cell that is published, but not as it is.

    - `figures`: what is published of it, in one table or in several.
    - `low`, `high`: how small and how large its true figure can be by these alone.
    """

    figures: tuple[Fraction, ...]
    low: Fraction
    high: Fraction | None

    def beside(self, other: Perturbed) -> Perturbed:
        """Return what both say together.

        >>> one, two = (Perturbed((Fraction(n),), Fraction(n - 1), Fraction(n + 1)) for n in (3, 4))
        >>> both = one.beside(two)
        >>> int(both.low), int(both.high)
        (3, 4)
        """
        ends = [own for own in (self.high, other.high) if own is not None]
        high = min(ends) if ends else None
        figures = tuple(dict.fromkeys([*self.figures, *other.figures]))
        return Perturbed(figures, max(self.low, other.low), high)

    def holds(self, figure: Fraction) -> bool:
        """Whether a figure is one of those that it can be."""
        return self.low <= figure and (self.high is None or figure <= self.high)

    @property
    def is_possible(self) -> bool:
        """Whether there is a figure that it can be."""
        return self.holds(self.low)


def behind(scheme: schemes.Scheme, figure: Fraction, *, whole: bool) -> Perturbed | None:
    """Return what a published figure can have come from; None for what is never published.

    >>> from gamekeeper.algorithms.releases.schemes import Conventional
    >>> found = behind(schemes.Conventional(5), Fraction(10), whole=False)
    >>> float(found.low), float(found.high)
    (7.5, 12.5)
    """
    if whole:
        reach = scheme.reach(int(figure)) if figure.denominator == 1 else None
        if reach is None:
            return None
        low, high = reach
        return Perturbed((figure,), Fraction(low), None if high is None else Fraction(high))
    if isinstance(scheme, schemes.Exact):
        return Perturbed((figure,), figure, figure)
    if (
        not isinstance(scheme, schemes.Conventional | schemes.RandomRounding)
        or (figure / scheme.base).denominator != 1
    ):
        return None
    off = Fraction(scheme.base, 2 if isinstance(scheme, schemes.Conventional) else 1)
    return Perturbed((figure,), figure - off, figure + off)
