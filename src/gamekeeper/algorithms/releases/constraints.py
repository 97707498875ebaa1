"""What is known of a table of counts: limits of sums of its cells, and what they leave open.

A base table has one axis per variable. A margin adds its cells up: every category of every axis
belongs to one group, and the sums over products of groups are known within limits. An axis that is
summed out has one group, an axis that is kept has a group for each category, and anything between
is a recoded axis. Suppressed sums have the limits 0 and `UNBOUNDED`, exact ones twice the same
number, perturbed ones what the scheme implies. All cells are whole numbers from 0 up.

The rows of all margins together are the linear constraints that every method of bounds, of counting
and of sampling works on (Dobra and Fienberg 2001; Smith's thesis, chapters 2 and 3). As facts of
whole numbers (`algorithms.linear`) all coefficients are 1 and no number is negative: a cell is without
upper limit if and only if no row with an upper limit holds it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linear.facts import NO_LIMIT, LinearFacts, row_sums
from gamekeeper.errors import InputError, Problem, Reason

Integers = NDArray[np.int64]

UNBOUNDED = 2**53
"""The upper limit of a sum without one: above all counts, and still a whole number as a float."""


@dataclass(frozen=True, eq=False)
class CountMargin:
    """Limits of the sums over one margin, recoded or not.

    Each axis of the base table has the groups of its categories, numbered from 0. The limits have
    one axis for each axis of the base table (length 1 where it is summed out).
    """

    groups: tuple[Integers, ...]
    lower: Integers
    upper: Integers

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of groups of each axis."""
        return self.lower.shape

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The axes that are not summed out."""
        return tuple(a for a, size in enumerate(self.shape) if size > 1 or len(self.groups[a]) == 1)

    @cached_property
    def plain(self) -> bool:
        """Whether each axis is kept as it is or summed out."""
        return all(
            size == 1 or np.array_equal(groups, np.arange(len(groups)))
            for groups, size in zip(self.groups, self.shape, strict=True)
        )

    @cached_property
    def exact(self) -> bool:
        """Whether every sum is known."""
        return bool(np.array_equal(self.lower, self.upper))

    @cached_property
    def cells(self) -> Integers:
        """The number of the margin's cell for each cell of the base table, flat."""
        numbers = np.zeros((1,) * len(self.groups), np.int64)
        for axis, (groups, size) in enumerate(zip(self.groups, self.shape, strict=True)):
            along = [1] * len(self.groups)
            along[axis] = len(groups)
            numbers = numbers * size + groups.reshape(along)
        return np.array(
            np.broadcast_to(numbers, tuple(len(g) for g in self.groups)), order="C"
        ).reshape(-1)

    def sums(self, table: ArrayLike) -> Integers:
        """Return the sums of a base table over this margin."""
        counts = np.asarray(table, np.int64)
        for axis, (groups, size) in enumerate(zip(self.groups, self.shape, strict=True)):
            if size == 1:
                counts = counts.sum(axis=axis, keepdims=True)
            elif size < len(groups) or not np.array_equal(groups, np.arange(size)):
                order = np.argsort(groups, kind="stable")
                starts = np.searchsorted(groups[order], np.arange(size))
                counts = np.add.reduceat(np.take(counts, order, axis), starts, axis)
        return counts


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """The constraints as rows over the flat cells of the base table.

    The cells of row r are `cells[starts[r]:starts[r + 1]]`; it is from a margin, and has a number
    there.
    """

    starts: Integers
    cells: Integers
    lower: Integers
    upper: Integers
    margin: Integers
    cell: Integers

    def __len__(self) -> int:
        return len(self.lower)

    def sums(self, values: Integers) -> Integers:
        """Return the sum of each row over the flat cells of a table."""
        return row_sums(self.starts, values[self.cells])


@dataclass(frozen=True, eq=False)
class CountConstraints:
    """A base table by its shape, and the margins that are known of it.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> known.size, len(known.rows), known.admits([[2, 1], [0, 1]])
    (4, 4, True)
    >>> known.cell_limits()[1].tolist()
    [[2, 2], [1, 1]]
    """

    shape: tuple[int, ...]
    margins: tuple[CountMargin, ...]

    @classmethod
    def of(
        cls,
        shape: Sequence[int],
        margins: Iterable[
            tuple[Sequence[int], ArrayLike] | tuple[Sequence[int], ArrayLike, ArrayLike]
        ],
    ) -> CountConstraints:
        """Return constraints from axes with exact sums, or with lower and upper limits."""
        made = tuple(kept_axes(shape, margin[0], *margin[1:]) for margin in margins)
        return cls(tuple(int(length) for length in shape), made)

    @property
    def size(self) -> int:
        """The number of cells of the base table."""
        return math.prod(self.shape)

    @cached_property
    def rows(self) -> ConstraintRows:
        """All margins as rows; memory is one number per base cell and margin."""
        starts, cells, numbers, of_cell = [np.zeros(1, np.int64)], [], [], []
        lower, upper = [], []
        for number, margin in enumerate(self.margins):
            count = margin.lower.size
            member = np.argsort(margin.cells, kind="stable")
            lengths = np.bincount(margin.cells, minlength=count)
            starts.append(starts[-1][-1] + np.cumsum(lengths))
            cells.append(member)
            numbers.append(np.full(count, number, np.int64))
            of_cell.append(np.arange(count, dtype=np.int64))
            lower.append(margin.lower.reshape(-1))
            upper.append(margin.upper.reshape(-1))
        return ConstraintRows(
            np.concatenate(starts), _joined(cells), _joined(lower), _joined(upper),
            _joined(numbers), _joined(of_cell),
        )  # fmt: skip

    @cached_property
    def facts(self) -> LinearFacts:
        """The rows as facts of whole numbers from 0 up."""
        rows = self.rows
        return LinearFacts(
            np.zeros(self.size, np.int64),
            np.full(self.size, NO_LIMIT),
            rows.starts,
            rows.cells,
            np.ones(len(rows.cells), np.int8),
            rows.lower,
            np.where(rows.upper >= UNBOUNDED, NO_LIMIT, rows.upper),
        )

    def admits(self, table: ArrayLike) -> bool:
        """Return whether a table of counts satisfies every constraint."""
        counts = np.asarray(table, np.int64).reshape(self.shape)
        if counts.size and counts.min() < 0:
            return False
        for margin in self.margins:
            sums = margin.sums(counts)
            if np.any(sums < margin.lower) or np.any(sums > margin.upper):
                return False
        return True

    def cell_limits(self) -> tuple[Integers, Integers]:
        """Return limits of each cell by single rows: no cell exceeds a sum that it is part of."""
        lower = np.zeros(self.size, np.int64)
        upper = np.full(self.size, UNBOUNDED, np.int64)
        for margin in self.margins:
            np.minimum(upper, margin.upper.reshape(-1)[margin.cells], out=upper)
            if margin.lower.size == self.size:
                np.maximum(lower, margin.lower.reshape(-1)[margin.cells], out=lower)
        return lower.reshape(self.shape), upper.reshape(self.shape)

    def at_least(self, table: ArrayLike) -> CountConstraints:
        """Return the constraints of somebody who also knows people: no cell is below their count."""
        known = np.asarray(table, np.int64).reshape(self.shape)
        unbounded = np.full(self.shape, UNBOUNDED, np.int64)
        return CountConstraints(
            self.shape,
            (*self.margins, kept_axes(self.shape, range(len(self.shape)), known, unbounded)),
        )


def kept_axes(
    shape: Sequence[int], axes: Iterable[int], lower: ArrayLike, upper: ArrayLike | None = None
) -> CountMargin:
    """Return the margin that keeps some axes as they are, with limits in the order of the axes.

    Examples
    --------
    >>> kept_axes((2, 3), (1,), [4, 0, 2]).lower.shape
    (1, 3)
    """
    kept = tuple(axes)
    shape = tuple(int(length) for length in shape)
    wrong = [axis for axis in kept if not 0 <= axis < len(shape)]
    if wrong or len(set(kept)) != len(kept):
        raise InputError(
            Reason.BAD_OPTION,
            f"A margin over the axes {kept} was given.",
            f"The base table has the axes 0 to {len(shape) - 1}, each at most once.",
            "Name axes of the base table.",
        )
    low = _limits(shape, kept, lower)
    high = low if upper is None else _limits(shape, kept, upper)
    groups = tuple(
        np.arange(length, dtype=np.int64) if axis in kept else np.zeros(length, np.int64)
        for axis, length in enumerate(shape)
    )
    return CountMargin(groups, low, high)


def _limits(shape: tuple[int, ...], kept: tuple[int, ...], limits: ArrayLike) -> Integers:
    """Return limits in the order of the base table's axes, of length 1 where summed out."""
    given = np.asarray(limits, np.int64)
    expected = tuple(shape[axis] for axis in kept)
    if given.shape != expected:
        raise InputError(
            Reason.MALFORMED,
            f"A margin over the axes {kept} was given.",
            f"Its counts have the shape {given.shape}.",
            f"Give counts of the shape {expected}.",
            problems=[
                Problem(Reason.MALFORMED, f"margin {kept}", f"shape {given.shape}, not {expected}.")
            ],
        )
    ordered = given.transpose(np.argsort(kept)) if kept else given
    lengths = [length if axis in kept else 1 for axis, length in enumerate(shape)]
    return np.array(ordered, order="C").reshape(lengths)


def _joined(parts: list[Integers]) -> Integers:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
