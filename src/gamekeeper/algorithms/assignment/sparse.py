"""One-to-one links of least total cost among candidate pairs, with records that stay unlinked.

The total is the cost of the links, plus a price for each unlinked record of the first file and,
where given, of the second. Without prices as many records as possible are linked, and among all
such sets of links the total cost is least: staying unlinked then costs more than all that a further
link can change in its connected component.

Solved by shortest augmenting paths in compiled code, all components with one call: a record whose
nearest candidate is free takes one look, and a search never leaves its component. The potentials
that come out prove a lower bound. For whole numbers whose totals stay below 2^53 the links are
optimal and the gap is 0. For other numbers the gap is rounding only, and is stated.

Jonker and Volgenant (1987). Large components in which many of all pairs are candidates are handed
to `assignment` as a matrix. Beside pairs and costs some 100 bytes per record, and 8 per cell of the
largest such matrix, at most 40 per pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.linkage.candidate_pairs import CandidatePairs
from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress

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

    Attributes
    ----------
    columns
        For each record of the first file the record of the second, -1 for unlinked.
    costs
        The cost of each link, NaN for unlinked.
    cost
        The total cost of the links.
    total
        The cost of the links and the prices of unlinked records.
    gap
        How far the total can be above the least possible, proved by the potentials: 0 for whole
        numbers, rounding for others.
    row_potentials, column_potentials
        Feasible: their sum is at most the cost of each pair, and neither is above its price.
    """

    columns: NDArray[np.int64] = field(repr=False)
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
    """For each record of the first file its nearest candidate, not one to one.

    `columns` is -1 and `costs` infinite without a candidate. The margin is how much farther the
    second nearest is: 0 for a tie, infinite for a single candidate, NaN for none.
    """

    columns: NDArray[np.int64] = field(repr=False)
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
    """Return the one-to-one links of least total cost.

    Parameters
    ----------
    candidates
        The pairs that may be linked.
    costs
        The cost of each pair, in their order; infinite for impossible.
    unlinked_row
        The price of an unlinked record of the first file, one number or one per record. By default
        as many records as possible are linked. A link is made where it lowers the total; where it
        makes no difference, the record stays unlinked.
    unlinked_column
        The price of an unlinked record of the second file, 0 by default; only with `unlinked_row`.
    progress
        Told how many records of the first file are done.

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
    graph: tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats],
    column_prices: Floats,
    row_part: NDArray[np.int64],
    column_part: NDArray[np.int64],
    n_components: int,
) -> NDArray[np.int64]:
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
    parts: NDArray[np.int64],
    row_order: NDArray[np.int64],
    row_part: NDArray[np.int64],
    column_part: NDArray[np.int64],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows and columns of some components."""
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
    """Tell how many rows are done from the share done of one component."""
    progress(before + (here * done // of if of else 0), n_rows)


def _link_dense(
    graph: tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats],
    column_prices: Floats,
    v: Floats,
    links: tuple[NDArray[np.int32], NDArray[np.int32]],
    records: tuple[NDArray[np.int64], NDArray[np.int64]],
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
    candidates: CandidatePairs, values: Floats, row_part: NDArray[np.int64], n_components: int
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
