"""Tables of counts with named axes and categories: dense, or sparse with their non-zero cells.

Cells are numbered by rows, the last axis fastest. A margin of a dense table costs its cells, that
of a sparse one its non-zero cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.releases.constraints import UNBOUNDED
from gamekeeper.algorithms.releases.schemes import Exact
from gamekeeper.data.tables.axes import (
    Axis,
    Groups,
    axes_of,
    axis_problems,
    grouped,
    raise_all,
    unknown_axes,
)
from gamekeeper.data.tables.count_cells import given_counts, sum_problems
from gamekeeper.data.tables.published_table import PublishedTable
from gamekeeper.data.tables.subtotals import (
    Disjoint,
    disjoint_names,
    disjoint_problems,
    question_subtotals,
)
from gamekeeper.errors import LimitError, Problem, Reason
from gamekeeper.wording import count_of, magnitude_text, memory_text, shape_text

__all__ = ["DENSE_CELLS", "MOST_DENSE", "Axis", "CountTable"]

Integers = NDArray[np.int64]

DENSE_CELLS = 1 << 24
"""Tables with more cells are kept by their non-zero cells, where they are counted."""

MOST_DENSE = 1 << 27
"""Tables with more cells are never made dense unless one insists: this many take a gigabyte."""

_ASKED = "A table of counts was given."


@dataclass(frozen=True, eq=False, repr=False)
class CountTable:
    """A table of counts.

    Attributes
    ----------
    axes
        The variables with their categories.
    counts
        An array with an axis for each variable; of a sparse table, the counts of `cells`.
    cells
        The numbers of cells with counts, rising; None for a dense table.

    Examples
    --------
    >>> table = CountTable.typed({"age": ["young", "old"], "work": ["yes", "no"]}, [[3, 0], [1, 2]])
    >>> table
    CountTable(2 x 2 cells, total 6)
    >>> table.margin(["work"]).dense().tolist()
    [4, 2]
    """

    axes: tuple[Axis, ...]
    counts: Integers
    cells: Integers | None = None

    def __post_init__(self) -> None:
        problems = axis_problems(self.axes)
        if not problems:
            _check_size(self.shape)
            problems = self._faults()
        raise_all(_ASKED, problems)

    @classmethod
    def typed(
        cls,
        axes: Mapping[str, Iterable[object]] | Iterable[Axis],
        counts: object,
        *,
        disjoint: Disjoint = (),
    ) -> CountTable:
        """Return a dense table from its axes and nested lists, or an array, of counts.

        `disjoint` are the axes whose categories exclude each other, although labels look like sums
        of others; True for all.
        """
        made = axes_of(axes)
        problems = axis_problems(made)
        found = given_counts(counts, made, "table", problems)
        raise_all(_ASKED, problems, "Give a whole number from 0 up for every cell.")
        assert found is not None
        table = cls(made, found)
        table.question(_ASKED, disjoint)
        return table

    @classmethod
    def of_cells(cls, axes: Iterable[Axis], cells: ArrayLike, counts: ArrayLike) -> CountTable:
        """Return a table from numbers of cells with their counts, which add up; others are 0.

        It is dense up to `DENSE_CELLS` cells.
        """
        made = tuple(axes)
        shape = tuple(map(len, made))
        _check_size(shape)
        numbers, added = _added(np.asarray(cells, np.int64), np.asarray(counts, np.int64))
        if math.prod(shape) > DENSE_CELLS:
            return cls(made, added, numbers)
        table = np.zeros(math.prod(shape), np.int64)
        table[numbers] = added
        return cls(made, table.reshape(shape))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each axis."""
        return tuple(map(len, self.axes))

    @property
    def size(self) -> int:
        """The number of cells, with those that are 0."""
        return math.prod(self.shape)

    @property
    def is_sparse(self) -> bool:
        """Whether only the non-zero cells are kept."""
        return self.cells is not None

    @cached_property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self.counts.sum())

    @cached_property
    def nonzero(self) -> tuple[Integers, Integers]:
        """The numbers of the cells that are not 0, rising, and their counts."""
        if self.cells is not None:
            return self.cells, self.counts
        flat = self.counts.reshape(-1)
        cells = np.flatnonzero(flat)
        return cells.astype(np.int64), flat[cells]

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that stand for the table."""
        told = [(axis.name, axis.categories) for axis in self.axes]
        digest = sha256(repr(told).encode("utf-8", "replace"))
        for numbers in self.nonzero:
            digest.update(np.ascontiguousarray(numbers, dtype="<i8").data)
        return digest.hexdigest()[:16]

    def axis(self, name: str) -> Axis:
        """Return an axis by its name."""
        return self.axes[self._places([name])[0]]

    def dense(self, *, most: int = MOST_DENSE) -> Integers:
        """Return all counts as an array, unless it has more cells than `most`."""
        if self.cells is None:
            return self.counts
        if self.size > most:
            raise LimitError(
                Reason.TOO_LARGE,
                "A table of counts was asked for with all of its cells.",
                f"It has {self.size:,} cells, which take {memory_text(8 * self.size)}.",
                "Take margins of it (--margin of tables release), or raise 'most' in Python.",
            )
        table = np.zeros(self.size, np.int64)
        table[self.cells] = self.counts
        return table.reshape(self.shape)

    def question(self, asked: str, disjoint: Disjoint = ()) -> None:
        """Refuse labels that may be sums of others; counts are looked at in a dense table only."""
        names = disjoint_names(self.axes, disjoint)
        raise_all(asked, disjoint_problems(self.axes, names))
        own = [] if self.is_sparse else [PublishedTable("", self.names, Exact(), self.counts)]
        question_subtotals(asked, self.axes, own, names)

    def margin(
        self, names: Sequence[str], groups: Mapping[str, Groups] | None = None
    ) -> CountTable:
        """Return the table of some axes, in the order of the names, summed over the others.

        Parameters
        ----------
        names
            The axes to keep; none for the total.
        groups
            For axes to be recoded, the categories under each new label.
        """
        places = self._places(names)
        problems: list[Problem] = []
        axes: list[Axis] = []
        numbers: list[Integers | None] = []
        for place in places:
            own = (groups or {}).get(self.axes[place].name)
            made = grouped(self.axes[place], own, "margin", problems) if own else None
            axes.append(made[0] if made else self.axes[place])
            numbers.append(made[1] if made else None)
        raise_all("A margin of a table was asked for.", problems)
        if self.cells is None and not any(group is not None for group in numbers):
            rest = tuple(set(range(len(self.axes))) - set(places))
            summed = np.asarray(self.counts.sum(axis=rest), np.int64)
            order = np.argsort(np.argsort(places)) if places else ()
            return CountTable(tuple(axes), np.array(summed.transpose(order), order="C"))
        _check_size([len(axis) for axis in axes])
        cells, counts = self.nonzero
        to = np.zeros(len(cells), np.int64)
        for place, axis, group in zip(places, axes, numbers, strict=True):
            after = math.prod(self.shape[place + 1 :])
            codes = cells // after % self.shape[place]
            to = to * len(axis) + (codes if group is None else group[codes])
        return CountTable.of_cells(axes, to, counts)

    def __repr__(self) -> str:
        shape = shape_text(self.shape)
        kept = ", sparse" if self.is_sparse else ""
        return f"{type(self).__name__}({shape} cells, total {self.total:,}{kept})"

    def _places(self, names: Sequence[str]) -> list[int]:
        known = {axis.name: place for place, axis in enumerate(self.axes)}
        problems = unknown_axes(names, known, "is not in the table.")
        if len(set(names)) < len(names):
            problems.append(Problem(Reason.DUPLICATE, "margin", "an axis is named twice."))
        raise_all("A margin of a table was asked for.", problems)
        return [known[name] for name in names]

    def _faults(self) -> list[Problem]:
        """Return what is wrong with the arrays; typed-in counts have had a closer look."""
        if self.cells is None and self.counts.shape != self.shape:
            said = f"its counts have the shape {self.counts.shape}, not {self.shape}."
            return [Problem(Reason.MALFORMED, "table", said)]
        problems: list[Problem] = []
        negative = int(np.count_nonzero(self.counts < 0))
        if negative:
            said = f"{count_of(negative, 'count')} below 0."
            problems.append(Problem(Reason.BAD_COUNT, "table", said))
        if self.cells is not None:
            cells = self.cells
            inside = len(cells) == 0 or (int(cells[0]) >= 0 and int(cells[-1]) < self.size)
            if not inside or bool(np.any(cells[1:] <= cells[:-1])):
                said = "the numbers of its cells do not rise within the table."
                problems.append(Problem(Reason.MALFORMED, "table", said))
        return problems or sum_problems(self.counts, "table")


def _added(cells: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Return each cell once, rising, with the sum of its counts, without those that are 0."""
    numbers, places = np.unique(cells, return_inverse=True)
    added = np.zeros(len(numbers), np.int64)
    np.add.at(added, places, counts)
    kept = added != 0
    return numbers[kept].astype(np.int64), added[kept]


def _check_size(shape: Sequence[int]) -> None:
    if math.prod(shape) >= UNBOUNDED:
        raise LimitError(
            Reason.TOO_LARGE,
            _ASKED,
            f"It has {count_of(len(shape), 'axis', 'axes')} and {magnitude_text(math.prod(shape))} cells.",
            "Leave axes out, or group their categories.",
        )
