"""Sample and population counts of all cells side by side (Smith's thesis, tables 2 and 3).

A cell is a combination of categories of the key variables; most cells of a large key hold nobody.
Counts are put in the bands 0, 1, 2, 3, 4, 5, 6 to 10, 11 to 20, and 21 or more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.results import EVERYTHING, Cell, Listing, make_listing

BANDS = ("0", "1", "2", "3", "4", "5", "6-10", "11-20", "21+")
"""The bands of counts, in words."""

_LEAST = np.array([0, 1, 2, 3, 4, 5, 6, 11, 21])
_MOST = (0, 1, 2, 3, 4, 5, 10, 20, None)


@dataclass(frozen=True, repr=False, eq=False)
class JointTable:
    """How many cells have which counts in sample and population.

    Attributes
    ----------
    counts
        By band of sample count and of population count, summed over samples; cells that hold
        nobody are left out.
    samples
        Over how many samples.
    n_cells
        All cells of the key, those that hold nobody included.
    """

    counts: NDArray[np.int64]
    samples: int
    n_cells: int

    @classmethod
    def of(cls, tables: Iterable[NDArray[np.int64]], n_cells: int) -> JointTable:
        """Add up the tables of several samples of one population, at least one."""
        each = np.array(list(tables), dtype=np.int64)
        return cls(each.sum(axis=0), len(each), n_cells)

    def cells(self) -> list[list[int]]:
        """Return numbers of cells by sample band and population band, summed over samples."""
        table = self.counts.tolist()
        table[0][0] = self.n_cells * self.samples - int(self.counts.sum())
        return table

    def listing(self) -> Listing:
        """Return the table with totals, as a mean per sample; impossible pairs are empty."""
        table = self.cells()
        rows: list[tuple[Cell, ...]] = []
        for row, (name, least) in enumerate(zip(BANDS, _LEAST.tolist(), strict=True)):
            numbers = [
                None if most is not None and most < least else self._mean(table[row][column])
                for column, most in enumerate(_MOST)
            ]
            rows.append((name, *numbers, self._mean(sum(table[row]))))
        sums = [sum(column) for column in zip(*table, strict=True)]
        rows.append(("total", *map(self._mean, sums), self._mean(sum(sums))))
        columns = ("sample count", *BANDS, "total")
        return make_listing("cells by sample and population count", columns, rows, EVERYTHING)

    def _mean(self, total: int) -> int | float:
        return total if self.samples == 1 else total / self.samples

    def __repr__(self) -> str:
        return f"JointTable({self.n_cells:,} cells, {self.samples:,} samples)"


def joint_counts(
    sample_counts: NDArray[np.integer[Any]], population_counts: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return numbers of classes by band of sample count and band of population count.

    Examples
    --------
    >>> table = joint_counts(np.array([0, 1, 1, 3]), np.array([1, 1, 2, 30]))
    >>> table[:2, :3].tolist(), int(table[3, 8])
    ([[0, 1, 0], [0, 1, 1]], 1)
    """
    rows = np.searchsorted(_LEAST, sample_counts, side="right") - 1
    columns = np.searchsorted(_LEAST, population_counts, side="right") - 1
    n_bands = len(BANDS)
    flat = np.bincount(rows * n_bands + columns, minlength=n_bands * n_bands)
    return flat.reshape(n_bands, n_bands).astype(np.int64)
