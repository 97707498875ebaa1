"""One published table of a release: some axes of the base table, grouped or not, under a scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.perturbation import HIDDEN, Scheme
from gamekeeper.algorithms.releases.schemes import Interval
from gamekeeper.data.tables.axes import Axis, Groups, cell_words, grouped
from gamekeeper.errors import Problem, Reason
from gamekeeper.wording import did_you_mean, quoted, shape_text

Integers = NDArray[np.int64]

_SHOWN_CELLS = 20


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTable:
    """What is published of some axes of the base table.

    Attributes
    ----------
    name
        What the table is called in messages.
    axes
        The names of its axes in the order of its counts; none for the total.
    scheme
        How true counts were published.
    counts
        The published counts, `HIDDEN` where none is shown; the lower limits of intervals.
    highs
        The upper limits of intervals that are given one by one, `UNBOUNDED` where there is none.
    groups
        For axes that are recoded, the categories of the base table under each label.
    hidden
        The least and the largest count that a hidden cell may have, where the release says so;
        else it is what the scheme hides, or anything.
    """

    name: str
    axes: tuple[str, ...]
    scheme: Scheme
    counts: Integers
    highs: Integers | None = None
    groups: Mapping[str, Groups] = field(default_factory=dict[str, Groups])
    hidden: tuple[int, int | None] | None = None

    @property
    def hidden_limits(self) -> tuple[int, int | None]:
        """The least and the largest count that a hidden cell may have."""
        return self.hidden or self.scheme.reach(HIDDEN) or (0, None)

    @property
    def n_hidden(self) -> int:
        """The number of hidden cells."""
        return int(np.count_nonzero(self.counts == HIDDEN))

    @cached_property
    def limits(self) -> tuple[Integers, Integers]:
        """Lower and upper limits of the true counts; `UNBOUNDED` where there is none."""
        shown = self.counts != HIDDEN
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
        if published != HIDDEN and self.highs is None:
            return self.scheme.likelihood(published)
        lower, upper = (int(limits.reshape(-1)[cell]) for limits in self.limits)
        return lower, None if upper >= UNBOUNDED else [Fraction(1)] * (upper - lower + 1)

    def words(self, cell: int) -> str:
        """Return what is published for a cell."""
        published = int(self.counts.reshape(-1)[cell])
        if published == HIDDEN:
            return "hidden"
        if isinstance(self.scheme, Interval):
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

    Attributes
    ----------
    axes
        The labels of each axis of the base table, in the order of the first category they hold;
        None for an axis that is summed out.
    orders
        For these labels, their places in the published table.
    groups
        The label of each category, for each axis of the base table.
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
    """Return the cells with a count that the scheme never publishes."""
    flat = table.counts.reshape(-1)
    shown = np.flatnonzero(flat != HIDDEN)
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
        for cell in wrong[:_SHOWN_CELLS].tolist()
    ]
    if len(wrong) > _SHOWN_CELLS:
        said = f"{len(wrong) - _SHOWN_CELLS:,} more counts cannot come from '{table.scheme.text}'."
        problems.append(Problem(Reason.IMPOSSIBLE_COUNT, where, said))
    return problems
