"""The cells of merged classes, and the numbers of records that the margins of a model have there.

Where categories of a variable are merged, a class holds a cell for each of them. There are as many
cells as classes times categories, so that they are made for a stretch of classes at a time. A margin
that holds the variable is counted once, as a table with a line for its other variables and a place
for each category.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.decomposable.junction_tree import ClassTable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A table of a margin may have so many places.
_PLACES_PER_CLASS = 4
_LEAST_PLACES = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The cells of some merged classes, one after the other.

    `members` is a class of the table that agrees with the cell on all other variables, `places` the
    place of the cell's code among those observed, `starts` where the cells of a class begin.
    `taken` are the cells with records of the merged class beyond the one that it counts as, and
    `surplus` how many these are.
    """

    members: Integers
    places: Integers
    starts: Integers
    taken: Integers
    surplus: Floats


class CellGrid:
    """The cells of merged classes: a row with each code that is merged with its own."""

    def __init__(
        self,
        table: ClassTable,
        variable: int,
        mapping: Integers,
        merged: Integers,
        small: Integers,
    ) -> None:
        column = table.rows[:, variable]
        self.codes = np.unique(column).astype(np.int64)
        self.place_of = np.zeros(table.levels[variable], dtype=np.int64)
        self.place_of[self.codes] = np.arange(len(self.codes))
        new = mapping[self.codes]
        self._order = np.argsort(new, kind="stable")
        groups, self._group_starts, self._group_sizes = np.unique(
            new[self._order], return_index=True, return_counts=True
        )
        self.most_cells = int(self._group_sizes.max())
        self._group_of = np.searchsorted(groups, new)
        rank = np.empty(len(new), dtype=np.int64)
        rank[self._order] = np.arange(len(new))
        self._rank = rank - self._group_starts[self._group_of]
        self._own_place = self.place_of[column]
        # Rows of merged classes of two or three records, in the order of these classes.
        number = np.full(int(merged.max()) + 1, -1, dtype=np.int64)
        number[small] = np.arange(len(small))
        class_of = number[merged]
        held = np.flatnonzero(class_of >= 0)
        self._held = held[np.argsort(class_of[held], kind="stable")]
        self._class_of_held = class_of[self._held]
        self._records = table.counts

    def cells(self, own: slice, chosen: Integers, counts: Integers) -> Cells:
        """Return the cells of a stretch of the merged classes."""
        group = self._group_of[self._own_place[chosen]]
        sizes = self._group_sizes[group]
        starts = np.cumsum(sizes) - sizes
        owner = np.repeat(np.arange(len(chosen)), sizes)
        within = np.arange(len(owner)) - starts[owner]
        places = self._order[self._group_starts[group][owner] + within]
        begin, end = np.searchsorted(self._class_of_held, (own.start, own.start + len(chosen)))
        held = self._held[begin:end]
        number = self._class_of_held[begin:end] - own.start
        surplus = self._records[held] * (1 - 1 / counts[number])
        taken = starts[number] + self._rank[self._own_place[held]]
        some = surplus > 0
        return Cells(chosen[owner], places, starts, taken[some], surplus[some])


class LogMargins:
    """Logs of the numbers of records with given codes on a set of variables, one of them free.

    A table, with a line for the others and a place for each code of the free one; where it would be
    large, a sorted list of the places that have records.
    """

    def __init__(self, table: ClassTable, mask: int, variable: int, place_of: Integers) -> None:
        n_places = int(place_of.max()) + 1
        room = _PLACES_PER_CLASS * len(table) + _LEAST_PLACES
        numbers = table.numbers(mask ^ 1 << variable)
        if (int(numbers.max()) + 1) * n_places > room:
            _, numbers = np.unique(numbers, return_inverse=True)
        self._lines = numbers.astype(np.int64) * n_places
        joint = self._lines + place_of[table.rows[:, variable]]
        self._keys: Integers | None = None
        if int(self._lines.max()) + n_places > room:
            self._keys, joint = np.unique(joint, return_inverse=True)
            n_counts = len(self._keys) + 1
        else:
            n_counts = int(self._lines.max()) + n_places
        counts = table.totals(joint, n_counts)
        self._counts = counts.astype(np.min_scalar_type(table.n_records))
        with np.errstate(divide="ignore"):
            self._logs = np.log(counts)

    def of(self, cells: Cells) -> Floats:
        """Return the logs for some cells; -inf where there is no record."""
        at = self._lines[cells.members] + cells.places
        if self._keys is not None:
            # What is not in the list is found at its end, where there is no record.
            found = np.searchsorted(self._keys, at)
            inside = np.minimum(found, len(self._keys) - 1)
            at = np.where(self._keys[inside] == at, inside, len(self._keys))
        logs = self._logs[at]
        with np.errstate(divide="ignore"):
            left = self._counts[at[cells.taken]] - cells.surplus
            logs[cells.taken] = np.log(np.maximum(left, 0.0))
        return logs
