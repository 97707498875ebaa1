"""Links found without search for the best total: greedy heuristics, and the nearest record.

Two greedy heuristics in the sense of Lenz, made definite: the cheapest pair of all that are left,
ties by row and then by column; and row by row the cheapest free column, the first of equal ones.
Both can be arbitrarily worse than the optimum. Pairs of infinite cost are never linked. The first
costs a few readings of the matrix for usual costs, the second one; memory is linear beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.assignment.costs import as_costs, cost_of, refuse_faults, row_by_row


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """For each row the column that it is linked to, or -1, and the sum of their costs."""

    columns: NDArray[np.int64]
    cost: float

    @property
    def n_linked(self) -> int:
        """The number of links."""
        return int(np.count_nonzero(self.columns >= 0))

    def __repr__(self) -> str:
        return f"Links({len(self.columns)} rows, n_linked={self.n_linked}, cost={self.cost:g})"


def greedy_global(costs: ArrayLike) -> Links:
    """Link the cheapest pair of all, then the cheapest of what is left, and so on.

    Examples
    --------
    >>> greedy_global([[1, 2], [2, 100]]).columns.tolist()
    [0, 1]
    """
    from gamekeeper.algorithms.assignment.greedy_kernels import link_cheapest
    from gamekeeper.algorithms.assignment.start_kernels import empty_lists

    given = _checked(costs)
    if not given.size:
        return Links(np.full(len(given), -1, np.int64), 0.0)
    n_rows, n_columns = given.shape
    columns = np.full(n_rows, -1, np.int64)
    link_cheapest(
        *(given, empty_lists(n_rows, n_columns, can_grow=False)),
        *(np.zeros(n_columns), np.zeros(n_rows, np.int64), np.full(n_rows, -1, np.int64)),
        *(np.empty(n_rows), np.arange(n_rows, dtype=np.int64), columns),
    )
    return Links(columns, cost_of(given, columns))


def greedy_rows(costs: ArrayLike) -> Links:
    """Link rows in their order, each to the cheapest column that is still free.

    Examples
    --------
    >>> greedy_rows([[5, 5, 0], [7, 5, 7], [7, 2, 5]])
    Links(3 rows, n_linked=3, cost=12)
    """
    from gamekeeper.algorithms.assignment.greedy_kernels import link_rows

    given = _checked(costs)
    columns = np.full(len(given), -1, np.int64)
    link_rows(given, np.ones(given.shape[1], np.bool_), columns)
    return Links(columns, cost_of(given, columns))


def nearest(costs: ArrayLike) -> Links:
    """Link each row to its cheapest column, the first of equal ones; not one-to-one.

    Examples
    --------
    >>> nearest([[1, 2], [1, 0], [0, 0]]).columns.tolist()
    [0, 1, 0]
    """
    given = _checked(costs)
    if not given.size:
        return Links(np.full(len(given), -1, np.int64), 0.0)
    columns = given.argmin(axis=1).astype(np.int64)
    columns[~(given[np.arange(len(given)), columns] < np.inf)] = -1
    return Links(columns, cost_of(given, columns))


def _checked(costs: ArrayLike) -> NDArray[Any]:
    given = row_by_row(as_costs(costs))
    n_nan = sum(int(np.count_nonzero(np.isnan(row))) for row in given)
    n_low = sum(int(np.count_nonzero(np.isneginf(row))) for row in given)
    refuse_faults(n_nan, n_low)
    return given
