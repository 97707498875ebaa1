"""How sure each link of an optimal assignment is: gaps of rows, and what other links would cost.

Two margins of a record. The gap between the best and second best of its own costs says how sure
its nearest record is. The rise of the least total cost when its link is forbidden says how sure
its link is among one-to-one links; where that is zero, another assignment is as good. The rises
take one search for a shortest alternating cycle per row, each at worst one reading of the costs;
which links are part of every optimum takes one reading for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.assignment.costs import (
    as_costs,
    by_smaller_side,
    not_costs,
    row_minima,
    two_least,
)
from gamekeeper.algorithms.assignment.dense import Assignment, linkable_parts
from gamekeeper.results import Progress

# Potentials are sums and differences of costs, each rounded: far below this share of the largest.
_TOLERANCE = 1e-11
# Links that are this share of the largest cost from their best are of other costs.
_UNLIKE = 1e-8
_AT_ONCE = 256


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentMargins:
    """How sure the links of an assignment are, row by row.

    Attributes
    ----------
    best, second_best
        The two least costs of the row; infinite where there is none.
    increases
        By how much the least total cost of as many links rises when the link of the row is
        forbidden: 0 where another optimum links it elsewhere, infinite where so many links need
        it, NaN for rows without link and for rows that were not asked for.
    in_every_optimum
        Whether every optimal assignment has this link; false for rows without link.
    tolerance
        Sums that differ by no more are taken as equal: 0 for integers, 1e-11 of the largest finite cost
        for others.
    """

    best: NDArray[np.float64]
    second_best: NDArray[np.float64]
    increases: NDArray[np.float64]
    in_every_optimum: NDArray[np.bool_]
    is_linked: NDArray[np.bool_]
    tolerance: float

    @property
    def is_unique(self) -> bool:
        """Whether there is no other optimal assignment."""
        return bool((self.in_every_optimum | ~self.is_linked).all())

    def __repr__(self) -> str:
        n_sure = int(np.count_nonzero(self.in_every_optimum))
        n_linked = int(np.count_nonzero(self.is_linked))
        return f"AssignmentMargins({n_sure} of {n_linked} links in every optimum)"


def assignment_margins(
    costs: ArrayLike,
    assignment: Assignment,
    *,
    rows: ArrayLike | None = None,
    progress: Progress | None = None,
) -> AssignmentMargins:
    """Return how sure each link of an optimal assignment is.

    Parameters
    ----------
    costs
        The costs that were solved.
    assignment
        The optimum that `solve_assignment` found for them.
    rows
        The rows whose `increases` are wanted, all by default; an empty list for none.
    progress
        Called with the number of rows done and their number.

    Examples
    --------
    >>> costs = [[6, 1, 8, 1], [0, 6, 6, 3], [0, 4, 5, 3], [5, 3, 3, 7]]
    >>> from gamekeeper.algorithms.assignment.dense import solve_assignment
    >>> margins = assignment_margins(costs, solve_assignment(costs))
    >>> margins.increases.tolist(), margins.in_every_optimum.tolist()
    ([1.0, 0.0, 0.0, 2.0], [True, False, False, True])
    """
    given = as_costs(costs)
    n_rows, n_columns = given.shape
    if (n_rows, n_columns) != (len(assignment.columns), len(assignment.column_potentials)):
        raise not_costs(
            f"The costs are {n_rows} x {n_columns}, the assignment is of "
            f"{len(assignment.columns)} x {len(assignment.column_potentials)}.",
            "Give the costs that were solved.",
        )
    is_linked = assignment.columns >= 0
    is_wanted = np.full(n_rows, rows is None)
    if rows is not None:
        is_wanted[_asked_rows(rows, n_rows)] = True
    is_wanted &= is_linked
    scale = _largest(given)
    tolerance = 0.0 if np.asarray(costs).dtype.kind in "biu" else _TOLERANCE * scale
    increases = np.full(n_rows, np.nan)
    is_movable = np.zeros(n_rows, np.bool_)
    for part_rows, part_columns in _parts(given, assignment):
        part = _Part.of(given, assignment, part_rows, part_columns)
        part.refuse_others(max(tolerance, _UNLIKE * scale))
        is_movable[part.rows] = part.movable(tolerance)
        done = int(np.count_nonzero(~np.isnan(increases)))
        wanted = np.flatnonzero(is_wanted[part.rows])
        for first in range(0, len(wanted), _AT_ONCE):
            agents = wanted[first : first + _AT_ONCE]
            if progress:
                progress(done, int(is_wanted.sum()))
            increases[part.rows[agents]] = part.increases(agents)
            done += len(agents)
    if progress:
        progress(int(is_wanted.sum()), int(is_wanted.sum()))
    increases[is_wanted & is_movable] = 0.0
    best, second_best = two_least(given)
    return AssignmentMargins(
        best, second_best, increases, is_linked & ~is_movable, is_linked, tolerance
    )


class _Part:
    """A part with a complete assignment, its smaller side in rows; `rows` are those linked."""

    def __init__(
        self, costs: NDArray[Any], rows: NDArray[np.int64], links: NDArray[np.int64], v: Any
    ) -> None:
        from gamekeeper.algorithms.assignment.path_kernels import empty_search

        self.costs, self.rows, self.links, self.v = costs, rows, links, v
        self.row_of = np.full(costs.shape[1], -1, np.int64)
        self.row_of[links] = np.arange(len(links))
        is_free = self.row_of < 0
        self.is_wide = bool(is_free.any())
        self.free_level = float(v[is_free].max()) if self.is_wide else 0.0
        self.lists: Any = None
        self.search = empty_search(*costs.shape)

    @classmethod
    def of(
        cls,
        costs: NDArray[Any],
        assignment: Assignment,
        rows: NDArray[np.int64],
        columns: NDArray[np.int64],
    ) -> _Part:
        whole = (len(rows), len(columns)) == costs.shape
        inside = costs if whole else costs[np.ix_(rows, columns)]
        place = np.full(costs.shape[1], -1, np.int64)
        place[columns] = np.arange(len(columns))
        links = assignment.columns[rows]
        linked = np.flatnonzero(links >= 0)
        links = place[links[linked]]
        worked = by_smaller_side(inside)
        if len(rows) <= len(columns):
            return cls(worked, rows, links, assignment.column_potentials[columns])
        order = np.argsort(links)
        return cls(worked, rows[linked[order]], linked[order], assignment.row_potentials[rows])

    def refuse_others(self, tolerance: float) -> None:
        """Refuse links that are no optimum, of other costs for example."""
        own = self.costs[np.arange(len(self.links)), self.links] - self.v[self.links]
        n_bad = int(np.count_nonzero(~(own - row_minima(self.costs, self.v) <= tolerance)))
        if self.is_wide:
            n_bad += int(np.count_nonzero(self.v > self.free_level + tolerance))
        if n_bad:
            raise not_costs(
                f"The assignment is not an optimum of these costs: {n_bad:,} potentials are "
                "against it.",
                "Give the costs that were solved.",
            )

    def movable(self, tolerance: float) -> NDArray[np.bool_]:
        """Tell of each row whether another optimum links it elsewhere."""
        from gamekeeper.algorithms.assignment.margin_kernels import find_movable_rows

        n_nodes = len(self.costs) + 1
        is_movable = np.zeros(n_nodes, np.bool_)
        find_movable_rows(
            *(self.costs, self.v, self.links, self.row_of, self.free_level, tolerance),
            *(np.empty((6, n_nodes), np.int64), is_movable),
        )
        return is_movable[:-1]

    def increases(self, agents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return by how much the cost rises when links of some rows are forbidden."""
        from gamekeeper.algorithms.assignment.path_kernels import FORBID, search_from
        from gamekeeper.algorithms.assignment.start_kernels import restarted

        if self.lists is None:
            _, _, self.lists, _ = restarted(self.costs, self.v, 0, 0)
        increases = np.empty(len(agents))
        search_from(
            *(self.costs, self.v, self.links, self.row_of, agents, self.lists, self.search),
            *(FORBID, self.free_level, increases),
        )
        return increases


def _parts(
    costs: NDArray[Any], assignment: Assignment
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows and columns of parts that have a complete assignment each."""
    n_rows, n_columns = costs.shape
    if assignment.n_linked == min(n_rows, n_columns):
        return [(np.arange(n_rows), np.arange(n_columns))] if min(n_rows, n_columns) else []
    # From the same side as the solution, whose potentials fit these parts.
    if n_rows <= n_columns:
        in_rows, in_columns = linkable_parts(costs, assignment.columns)
    else:
        row_of = np.full(n_columns, -1, np.int64)
        linked = np.flatnonzero(assignment.columns >= 0)
        row_of[assignment.columns[linked]] = linked
        in_columns, in_rows = linkable_parts(costs.T, row_of)
    parts = [
        (np.flatnonzero(in_rows), np.flatnonzero(in_columns)),
        (np.flatnonzero(~in_rows), np.flatnonzero(~in_columns)),
    ]
    return [(rows, columns) for rows, columns in parts if len(rows) and len(columns)]


def _asked_rows(rows: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    asked = np.asarray(rows)
    asked = asked.astype(np.int64) if asked.size == 0 else asked
    if asked.dtype.kind not in "iu" or asked.ndim != 1:
        raise not_costs("The rows asked for are not a list of numbers of rows.", "Give integers.")
    n_outside = int(np.count_nonzero((asked < 0) | (asked >= n_rows)))
    if n_outside:
        raise not_costs(
            f"{n_outside:,} of the rows asked for are not among the {n_rows:,} rows of the costs.",
            "Rows are numbered from 0.",
        )
    return asked


def _largest(costs: NDArray[Any]) -> float:
    """Return the greatest finite cost, by magnitude."""
    largest = 0.0
    for row in costs:
        finite = row[row < np.inf]
        if len(finite):
            largest = max(largest, abs(float(finite.min())), abs(float(finite.max())))
    return largest
