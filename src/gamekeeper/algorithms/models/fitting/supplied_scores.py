"""Scores of margins whose cells are counted by somebody else, such as a cluster that has the records.

A score needs no more than how many cells of a margin have how many records (see `clique_scores`).
Where not even the distinct rows fit into memory, these numbers are asked for by sets of variables,
many at a time, and scores are kept. They are the same to the last bit. What walks from model to model
one margin at a time would ask too often: this is for searches that list what they want, as a climb
does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.models.fitting.clique_scores import MarginScores

Sizes = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The numbers of records that cells of a margin have, rising, and how many cells have each."""

Supplier = Callable[[Sequence[int]], Sequence[Sizes]]
"""Tells the sizes of cells for sets of variables, given by their bits."""


class SuppliedScores(MarginScores):
    """Log marginal likelihoods from supplied sizes of cells.

    Parameters
    ----------
    supplier
        Who counts.
    n_rows
        How many distinct rows there are.
    levels
        Per variable the number of categories that are declared.
    precision
        The total prior precision, above 0.

    Examples
    --------
    >>> table = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> def count(masks):
    ...     return [(np.array([2]), np.array([2])) for _ in masks]
    >>> supplied = SuppliedScores(count, 2, [2, 2])
    >>> supplied.score(0b11) == MarginScores(table, [2, 2]).score(0b11)
    True
    """

    def __init__(
        self, supplier: Supplier, n_rows: int, levels: Sequence[int], *, precision: float = 1.0
    ) -> None:
        # The one row of each variable says what there is besides counts: its categories.
        super().__init__(np.zeros((1, len(levels)), np.int64), levels, precision=precision)
        self.n_rows = n_rows
        self._supplier = supplier
        self._known: dict[int, NDArray[np.float64]] = {}

    @classmethod
    def at_each_precision(
        cls, supplier: Supplier, n_rows: int, levels: Sequence[int], precisions: Sequence[float]
    ) -> list[MarginScores]:
        """Return scores for several precisions; what is counted for one is counted for all."""
        return cls(supplier, n_rows, levels, precision=precisions[0]).with_precisions(precisions)

    def _scored(self, masks: NDArray[np.uint64], room: Any = None) -> NDArray[np.float64]:
        from gamekeeper.algorithms.models.fitting.score_kernels import scores_of_sizes

        del room
        wanted = [int(mask) for mask in masks]
        new = [mask for mask in dict.fromkeys(wanted) if mask and mask not in self._known]
        for mask, (sizes, cells) in zip(new, self._supplier(new) if new else (), strict=True):
            self._known[mask] = scores_of_sizes(mask, sizes, cells, self._margins)
        chosen = self._margins.chosen
        return np.array([self._known[mask][chosen] if mask else 0.0 for mask in wanted])

    def __repr__(self) -> str:
        return f"SuppliedScores({self.n_variables} variables, precision={self.precision:g})"


def supplied_levels(lowest: Sequence[int], n_codes: Sequence[int]) -> tuple[int, ...]:
    """Return the number of categories per variable, given its lowest code, 0 being a missing cell.

    Examples
    --------
    >>> supplied_levels([1, 0], [5, 3])
    (4, 3)
    """
    return tuple(max(n - int(low > 0), 1) for low, n in zip(lowest, n_codes, strict=True))
