"""One-to-one links of least total cost among candidate pairs, and how sure each link of an optimum is.

Records may stay unlinked. The total is the cost of the links, plus a price for each unlinked record
of the first file and, where given, of the second. Without prices as many records as possible are
linked, and among all such sets of links the total cost is least: staying unlinked then costs more
than all that a further link can change in its connected component.

Solved by shortest augmenting paths in compiled code, all components with one call: a record whose
nearest candidate is free takes one look, and a search never leaves its component. The potentials
that come out prove a lower bound. For whole numbers whose totals stay below 2^53 the links are
optimal and the gap is 0. For other numbers the gap is rounding only, and is stated.

Jonker and Volgenant (1987). Large components in which many of all pairs are candidates are handed
to `dense` as a matrix. Beside pairs and costs some 100 bytes per record, and 8 per cell of the
largest such matrix, at most 40 per pair.

Two margins of a record, from a matrix. The gap between the best and second best of its own costs
says how sure its nearest record is. The rise of the least total cost when its link is forbidden
says how sure its link is among one-to-one links; where that is zero, another assignment is as good.
The rises take one search for a shortest alternating cycle per row, each at worst one reading of the
costs; which links are part of every optimum takes one reading for all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.assignment.dense import (
    Assignment,
    as_costs,
    by_smaller_side,
    linkable_parts,
    not_costs,
    row_minima,
    two_least,
)
from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_ASKED = "Records were to be linked one to one among candidate pairs."
# In large components searches go far; bids spare most of them. Measured on 100,000 records with 15
# random candidates each: 13 s without bids, 11 s with 10 and 4.5 s with 50 per record. In blocks of
# 15 records they only cost: 1.2 s against 0.14 s.
_BIDS_PER_ROW = 50
_LARGE = 1_000
_ROWS_AT_ONCE = 20_000
# Components of so many cells are handed over as a matrix where this share are candidates. Measured
# on random costs and on points: 1,000 x 1,000 take a quarter to a half of the time where all are
# candidates and a half at a share of 0.2; 300 x 300 two thirds, and as long at 0.2. Where prices
# rule out most candidates, 200 x 200 would take four times as long, 1,000 x 1,000 still a third.
_DENSE_CELLS = 40_000
_DENSE_SHARE = 0.2
_MANY_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class SparseAssignment:
    """One-to-one links among candidate pairs.

    - `columns`, `costs`: for each record of the first file the record of the second and the cost of
      the link; -1 and NaN for unlinked.
    - `total`: the cost of the links and the prices of unlinked records.
    - `gap`: how far the total can be above the least possible, proved by the potentials: 0 for
      whole numbers, rounding for others.
    - `row_potentials`, `column_potentials`: feasible: their sum is at most the cost of each pair,
      and neither is above its price.
    """

    columns: Integers = field(repr=False)
    costs: Floats = field(repr=False)
    cost: float
    total: float
    gap: float
    n_links: int
    n_components: int
    row_potentials: Floats = field(repr=False)
    column_potentials: Floats = field(repr=False)

    @property
    def lower_bound(self) -> float:
        """What no set of links can go below."""
        return self.total - self.gap


@dataclass(frozen=True, eq=False)
class NearestCandidates:
    """For each record of the first file its nearest candidate (-1 without any), not one to one.

    The margin is how much farther the second nearest is: 0 for a tie, infinite for a single
    candidate, NaN for none.
    """

    columns: Integers = field(repr=False)
    costs: Floats = field(repr=False)
    margins: Floats = field(repr=False)


def solve_candidates(
    candidates: CandidatePairs,
    costs: ArrayLike,
    *,
    unlinked_row: ArrayLike | None = None,
    unlinked_column: ArrayLike | None = None,
    progress: Progress | None = None,
) -> SparseAssignment:
    """Return the one-to-one links of least total cost; a pair of infinite cost is impossible.

    - `unlinked_row`: the price of an unlinked record of the first file, one number or one per
      record. By default as many records as possible are linked. A link is made where it lowers the
      total; where it makes no difference, the record stays unlinked.
    - `unlinked_column`: the price of an unlinked record of the second file, 0 by default; only with
      `unlinked_row`.

    Examples
    --------
    >>> pairs = CandidatePairs.from_pairs([0, 0, 1, 1], [0, 1, 0, 1], (2, 2))
    >>> solve_candidates(pairs, [1, 2, 2, 100]).columns.tolist()
    [1, 0]
    >>> solve_candidates(pairs, [1, 2, 2, 100], unlinked_row=2).columns.tolist()
    [0, -1]
    """
    from gamekeeper.algorithms.assignment.sparse_kernels import bid, close_gap, link_rows

    values = _checked_costs(candidates, costs)
    n_rows, n_columns = candidates.shape
    row_part, column_part, n_components = candidates.components()
    if unlinked_row is None:
        if unlinked_column is not None:
            raise InputError(
                Reason.BAD_OPTION,
                _ASKED,
                "A price of unlinked records was given for the second file only.",
                "Give both, or the first only.",
            )
        prices = _prohibitive_prices(candidates, values, row_part, n_components)
    else:
        prices = _prices(unlinked_row, n_rows, "first")
    column_prices = _prices(
        0.0 if unlinked_column is None else unlinked_column, n_columns, "second"
    )
    graph = (candidates.starts, candidates.columns, values, prices)
    u, v = np.zeros(n_rows), column_prices.copy()
    column_of = np.full(n_rows, -1, np.int32)
    row_of = np.full(n_columns, -1, np.int32)
    links = (column_of, row_of)
    room = (np.empty(n_columns), *(np.full(n_columns, -1, np.int32) for _ in range(5)))
    # Rows of one component together find their neighbours in the cache.
    order = np.argsort(row_part, kind="stable")
    n_done = 0
    dense = _dense_components(graph, column_prices, row_part, column_part, n_components)
    for records in _records_of(dense, order, row_part, column_part):
        told = partial(_tell_part, progress, n_done, len(records[0]), n_rows) if progress else None
        n_done += len(records[0])
        is_priced = unlinked_row is not None
        _link_dense(graph, column_prices, v, links, records, told, is_priced=is_priced)
    order = order[~np.isin(row_part[order], dense)] if len(dense) else order
    in_large = np.bincount(row_part, minlength=n_components)[row_part[order]] > _LARGE
    bidding = order[in_large]
    left = np.empty_like(bidding)
    n_left = bid(bidding, graph, (u, v), links, _BIDS_PER_ROW * len(bidding), left)
    left = np.concatenate((order[~in_large], left[:n_left]))
    for first in range(0, len(left), _ROWS_AT_ONCE):
        rows = left[first : first + _ROWS_AT_ONCE]
        link_rows(rows, graph, (u, v), links, room)
        if progress is not None:
            progress(n_rows - len(left) + first + len(rows), n_rows)
    costs_of = np.full(n_rows, np.nan)
    gap = float(close_gap(graph, column_prices, (u, v), links, costs_of))
    cost = float(costs_of[column_of >= 0].sum())
    unlinked = prices[column_of < 0].sum() + column_prices[row_of < 0].sum()
    return SparseAssignment(
        columns=column_of.astype(np.int64),
        costs=costs_of,
        cost=cost,
        total=cost + float(unlinked),
        gap=gap,
        n_links=int(np.count_nonzero(column_of >= 0)),
        n_components=n_components,
        row_potentials=u,
        column_potentials=v,
    )


def nearest_candidates(candidates: CandidatePairs, costs: ArrayLike) -> NearestCandidates:
    """Return the nearest candidate of each record of the first file, ties to the lowest number.

    Examples
    --------
    >>> pairs = CandidatePairs.from_pairs([0, 0, 1], [0, 1, 1], (2, 2))
    >>> nearest_candidates(pairs, [3, 1, 2]).margins.tolist()
    [2.0, inf]
    """
    from gamekeeper.algorithms.assignment.sparse_kernels import nearest_two

    values = _checked_costs(candidates, costs)
    n_rows = candidates.shape[0]
    columns, first, second = np.empty(n_rows, np.int64), np.empty(n_rows), np.empty(n_rows)
    nearest_two(candidates.starts, candidates.columns, values, columns, first, second)
    margins = np.full(n_rows, np.nan)
    np.subtract(second, first, out=margins, where=columns >= 0)
    return NearestCandidates(columns, first, margins)


def _dense_components(
    graph: tuple[Integers, NDArray[np.int32], Floats, Floats],
    column_prices: Floats,
    row_part: Integers,
    column_part: Integers,
    n_components: int,
) -> Integers:
    """Return the components that are linked faster as a matrix."""
    from gamekeeper.algorithms.assignment.sparse_kernels import count_useful

    n_cells = np.bincount(row_part, minlength=n_components)
    n_cells = n_cells * np.bincount(column_part, minlength=n_components)
    n_pairs = np.bincount(row_part, np.diff(graph[0]), n_components)
    is_dense = (n_cells >= _DENSE_CELLS) & (n_pairs >= _DENSE_SHARE * n_cells)
    if is_dense.any():
        n_useful = np.zeros(n_components, np.int64)
        count_useful(graph, column_prices, row_part, n_useful)
        is_dense &= (n_useful >= _DENSE_SHARE * n_cells) | (n_cells >= _MANY_CELLS)
    return np.flatnonzero(is_dense)


def _records_of(
    parts: Integers, row_order: Integers, row_part: Integers, column_part: Integers
) -> Iterator[tuple[Integers, Integers]]:
    if not len(parts):
        return
    column_order = np.argsort(column_part, kind="stable")
    sides = ((row_order, row_part[row_order]), (column_order, column_part[column_order]))
    bounds = [
        (np.searchsorted(part, parts), np.searchsorted(part, parts, side="right"))
        for _, part in sides
    ]
    for k in range(len(parts)):
        (first, last), (first_column, last_column) = ((low[k], high[k]) for low, high in bounds)
        yield row_order[first:last], column_order[first_column:last_column]


def _tell_part(
    progress: Progress, before: int, here: int, n_rows: int, done: int, of: int | None
) -> None:
    progress(before + (here * done // of if of else 0), n_rows)


def _link_dense(
    graph: tuple[Integers, NDArray[np.int32], Floats, Floats],
    column_prices: Floats,
    v: Floats,
    links: tuple[NDArray[np.int32], NDArray[np.int32]],
    records: tuple[Integers, Integers],
    progress: Progress | None,
    *,
    is_priced: bool,
) -> None:
    """Link the records of a component by the matrix of its costs, and set column potentials.

    Where some pair is impossible or unlinked records have a price, the matrix holds what each link
    saves against leaving both records unlinked, and 0 for links that save nothing. All of the
    smaller side are assigned, and those at 0 are left unlinked.
    """
    from gamekeeper.algorithms.assignment.dense import solve_assignment
    from gamekeeper.algorithms.assignment.sparse_kernels import fill_dense

    rows, columns = records
    place = np.empty(len(v), np.int64)
    place[columns] = np.arange(len(columns))
    matrix = np.zeros((len(rows), len(columns)))
    n_finite = fill_dense(graph, column_prices, rows, place, is_priced, matrix)
    savings = is_priced or n_finite < matrix.size
    if savings and not is_priced:
        fill_dense(graph, column_prices, rows, place, savings, matrix)
    found = solve_assignment(matrix, progress=progress)
    i = np.flatnonzero(found.columns >= 0)
    j = found.columns[i]
    if savings:
        links_save = matrix[i, j] < 0
        i, j = i[links_save], j[links_save]
    column_of, row_of = links
    column_of[rows[i]] = columns[j]
    row_of[columns[j]] = rows[i]
    # Neither side's potentials may exceed the prices, and unlinked records must reach them.
    potentials = found.column_potentials
    if len(rows) == len(columns):
        potentials = potentials - potentials.max()
    elif len(rows) > len(columns) and not savings:
        potentials = potentials - graph[3][rows[0]]
    v[columns] = column_prices[columns] + np.minimum(potentials, 0.0)


def _checked_costs(candidates: CandidatePairs, costs: ArrayLike) -> Floats:
    values = np.ascontiguousarray(costs, np.float64)
    if values.shape != (candidates.n_pairs,) or np.isnan(values).any() or np.isneginf(values).any():
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED,
            f"{candidates.n_pairs:,} pairs came with costs of shape {values.shape}, or with a cost "
            "that is not a number.",
            "Give one cost per pair, infinite for impossible.",
        )
    return values


def _prices(given: ArrayLike, n_records: int, which: str) -> Floats:
    prices = np.asarray(given, np.float64)
    if prices.shape not in ((), (n_records,)) or not np.isfinite(prices).all():
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED,
            f"The prices of unlinked records of the {which} file have shape {prices.shape}, or one "
            "is not a finite number.",
            f"Give one number, or one for each of {n_records:,} records.",
        )
    return np.array(np.broadcast_to(prices, n_records))


def _prohibitive_prices(
    candidates: CandidatePairs, values: Floats, row_part: Integers, n_components: int
) -> Floats:
    """Return for each row a price above all that one more link can change in its component.

    With r rows one more link changes the total by at most the largest cost and r times the
    range of the costs.
    """
    from gamekeeper.algorithms.assignment.sparse_kernels import cost_ranges

    least, most = np.full(n_components, np.inf), np.full(n_components, -np.inf)
    cost_ranges(candidates.starts, values, row_part, least, most)
    linkable = least <= most
    n_rows = np.bincount(row_part, minlength=n_components)
    price = np.zeros(n_components)
    low, high = least[linkable], most[linkable]
    # Beyond the bound by the largest magnitude: so whole numbers stay whole, and small costs are not
    # lost beside a price that is large compared with them.
    magnitude = np.maximum(abs(low), abs(high))
    beyond = 1 + np.ceil(magnitude)
    is_small = (magnitude > 0) & (magnitude < 1)
    beyond[is_small] = 2 * magnitude[is_small]
    with np.errstate(over="ignore", invalid="ignore"):
        price[linkable] = high + n_rows[linkable] * (high - low) + beyond
    if not np.isfinite(price).all():
        raise InputError(
            Reason.BAD_OPTION,
            _ASKED,
            "The costs are too large for sums of them.",
            "Scale the costs down.",
        )
    return price[row_part]


# Potentials are sums and differences of costs, each rounded: far below this share of the largest.
_TOLERANCE = 1e-11
# Links that are this share of the largest cost from their best are of other costs.
_UNLIKE = 1e-8
_AT_ONCE = 256


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentMargins:
    """How sure the links of an assignment are, row by row.

    - `best`, `second_best`: the two least costs of the row; infinite where there is none.
    - `increases`: by how much the least total cost of as many links rises when the link of the row
      is forbidden: 0 where another optimum links it elsewhere, infinite where so many links need
      it, NaN for rows without link and for rows that were not asked for.
    - `in_every_optimum`: whether every optimal assignment has this link; false for rows without
      link.
    - `tolerance`: sums that differ by no more are taken as equal: 0 for integers, 1e-11 of the
      largest finite cost for others.
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
    """Return how sure each link of an optimum is; `increases` for some rows, or all by default.

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

    def __init__(self, costs: NDArray[Any], rows: Integers, links: Integers, v: Any) -> None:
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
        cls, costs: NDArray[Any], assignment: Assignment, rows: Integers, columns: Integers
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
        from gamekeeper.algorithms.assignment.path_kernels import find_movable_rows

        n_nodes = len(self.costs) + 1
        is_movable = np.zeros(n_nodes, np.bool_)
        find_movable_rows(
            *(self.costs, self.v, self.links, self.row_of, self.free_level, tolerance),
            *(np.empty((6, n_nodes), np.int64), is_movable),
        )
        return is_movable[:-1]

    def increases(self, agents: Integers) -> NDArray[np.float64]:
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


def _parts(costs: NDArray[Any], assignment: Assignment) -> list[tuple[Integers, Integers]]:
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


def _asked_rows(rows: ArrayLike, n_rows: int) -> Integers:
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
