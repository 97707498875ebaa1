"""One-to-one links from a dense matrix of costs: optimal, greedy, nearest, and a lower bound.

An assignment links every record of the smaller file to a record of its own of the other, at the
least sum of costs (Lenz, problem AP). Potentials u of rows and v of columns with u + v <= cost for
every pair prove it: the sum of potentials is a lower bound of every assignment's cost, and reaches
that of the optimum. With more columns than rows the potentials of columns are at most zero, and
zero for columns that are not linked; with more rows likewise the other way round.

Shortest augmenting paths after Jonker and Volgenant (1987), over short lists of the rows. Where
these go far, there are as many rows as columns, and few exchanges of columns cost nothing, they
start again from the potentials of an auction (Bertsekas 1988). The worst case grows with the third
power of the number of records; usual matrices are far below. Memory is that of the costs, a few
percent more, and a copy where there are more rows than columns or columns lie one after the other.

Without search for the optimum: column minima and a few rounds of bids give potentials, hence a
lower bound, at the cost of a few readings of the matrix. It was within one percent of the optimum
for random costs, counts of differing variables and their weights, and a quarter below it for
distances of random points in the plane (2,000 records).

Two greedy heuristics in the sense of Lenz, made definite: the cheapest pair of all that are left,
ties by row and then by column; and row by row the cheapest free column, the first of equal ones.
Both can be arbitrarily worse than the optimum. Pairs of infinite cost are never linked. The first
costs a few readings of the matrix for usual costs, the second one; memory is linear beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.errors import InputError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import be, count_of

_ASKED = "An assignment of rows to columns by their costs was asked for."
# Beyond, integers lose their last digits in floating point.
_MOST_INTEGER = 2**53
# Few enough to stay in the cache of the processor.
_CELLS_AT_ONCE = 1 << 16
# Kernels are compiled for these two; a further type would take seconds. Integers of up to 16 bits
# are exact in 32 bits of floating point.
_SINGLE = frozenset(("bool", "int8", "uint8", "int16", "uint16", "float16", "float32"))
_DOUBLE = frozenset(("int32", "uint32", "int64", "uint64", "float64", "longdouble"))


def as_costs(costs: ArrayLike) -> NDArray[Any]:
    """Return costs as an array of two dimensions, of float32 or float64, which are not copied.

    Integers become numbers of floating point, exactly: beyond 2 to the power of 53 they are refused.
    """
    given = np.asarray(costs)
    if given.ndim != 2:
        raise not_costs(
            f"The costs have {count_of(given.ndim, 'dimension')}.",
            "Give one row of costs for each record to be linked.",
        )
    kind = "longdouble" if given.dtype == np.longdouble else given.dtype.name
    if given.dtype != np.float64 and kind not in _SINGLE | _DOUBLE:
        raise not_costs(f"The costs are of type '{kind}'.", "Give numbers.")
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        n_large = sum(
            int(np.count_nonzero((row > _MOST_INTEGER) | (row < -_MOST_INTEGER))) for row in given
        )
        if n_large:
            raise not_costs(
                f"{count_of(n_large, 'integer cost')} {be(n_large)} beyond 2 to the power of 53.",
                "Scale the costs down.",
            )
    return given.astype(np.float32 if kind in _SINGLE else np.float64, copy=False)


def by_smaller_side(costs: NDArray[Any]) -> NDArray[Any]:
    """Return the costs, or their transpose, with at most as many rows as columns, as kernels read it."""
    n_rows, n_columns = costs.shape
    return row_by_row(costs if n_rows <= n_columns else costs.T)


def row_by_row(costs: NDArray[Any]) -> NDArray[Any]:
    """Return costs whose rows lie one after the other; they cannot be changed.

    Costs that can be changed are another type for kernels, which would be compiled for both.
    """
    costs = np.ascontiguousarray(costs).view()
    costs.flags.writeable = False
    return costs


def row_minima(costs: NDArray[Any], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each row the least cost less the potential of the column."""
    n_rows, n_columns = costs.shape
    minima = np.empty(n_rows)
    at_once = max(1, _CELLS_AT_ONCE // max(1, n_columns))
    keys = np.empty((min(at_once, n_rows), n_columns))
    for first in range(0, n_rows, at_once):
        some = costs[first : first + at_once]
        keys = keys[: len(some)]
        # Sums beyond the range of numbers are infinite, and refused later.
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(some, v, out=keys)
        keys.min(axis=1, out=minima[first : first + at_once])
    return minima


def refuse_faults(n_nan: int, n_low: int) -> None:
    """Refuse costs of which some are no numbers, or infinitely low."""
    parts = [(n_nan, "not a number (NaN)"), (n_low, "minus infinity")]
    found = " and ".join(f"{n:,} of the costs {be(n)} {what}" for n, what in parts if n)
    if found:
        raise not_costs(f"{found}.", "Replace them; a forbidden pair has the cost infinity.")


def not_costs(found: str, do: str) -> InputError:
    """Return the error for costs, or links of them, that cannot be used."""
    return InputError(Reason.MALFORMED, _ASKED, found, do)


def cost_of(costs: NDArray[Any], columns: NDArray[np.int64]) -> float:
    """Return the sum of the costs of links; -1 stands for none."""
    rows = np.flatnonzero(columns >= 0)
    linked = costs[rows, columns[rows]]
    # A sum beyond the range of numbers is infinite.
    with np.errstate(over="ignore"):
        return float(linked.sum(dtype=np.float64))


def sum_of_potentials(u: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """Return the sum of the potentials of rows and columns, a lower bound of assignments."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(u.sum() + v.sum())


def two_least(costs: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and second least cost of each row, infinite where there is none."""
    from gamekeeper.algorithms.assignment.path_kernels import find_two_least

    least = np.full((len(costs), 2), np.inf)
    find_two_least(costs, least)
    return least[:, 0], least[:, 1]


_PASSES, _MOST_BIDS = 2, 8
# More of them give a better bound.
_BOUND_PASSES = 100
_AT_ONCE = 32
# Searches whose work is more than to read every cost so many times are begun again from the
# potentials of an auction, which takes some 30 to 90 readings itself. Measured for 2,000 records:
# products of row and column number take 0.4 s instead of 5.6 s. Random costs, counts of differing
# variables and averages over groups of three stay below.
_MOST_WORK = 16
# Where more than this share of random exchanges of two columns cost nothing, there is no auction:
# its prices leave rows many columns that are as good, and the searches must do most of the work.
# So it is for differences of one number (share 0.32; for 5,000 records 8 s instead of 16 s) and of
# whole numbers such as ages, less so for sums of two differences (0.11; 0.38 s instead of 0.62 s
# for 2,000). For squares of differences and for distances in the plane it is 0.
_MOST_EQUAL = 0.05
_EXCHANGES = 2_000
_EQUAL = 1e-12
_SAMPLED = 256
_RAISES_PER_ROW = 16
_MOST_AUCTION_BIDS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """One-to-one links of least cost.

    - `columns`: for each row the column that it is linked to, or -1; `cost`: the sum of their
      costs.
    - `row_potentials`, `column_potentials`: potentials that prove the optimum: their sum is at most
      the cost for each pair, and equal to it for linked pairs.
    - `gap`: by how much the cost can exceed the optimum through rounding; 0 for integers.
    """

    columns: NDArray[np.int64]
    cost: float
    row_potentials: NDArray[np.float64]
    column_potentials: NDArray[np.float64]
    gap: float
    solver: str = "shortest augmenting paths"

    @property
    def n_linked(self) -> int:
        """The number of links."""
        return int(np.count_nonzero(self.columns >= 0))

    @property
    def lower_bound(self) -> float:
        """What no assignment with as many links can cost less than."""
        return self.cost - self.gap

    def __repr__(self) -> str:
        shape = f"{len(self.columns)} x {len(self.column_potentials)}"
        return f"Assignment({shape}, n_linked={self.n_linked}, cost={self.cost:g})"


def solve_assignment(
    costs: ArrayLike, *, partial: bool = False, progress: Progress | None = None
) -> Assignment:
    """Link every record of the smaller side at the least total cost.

    Infinity forbids a pair; NaN is refused. Arrays of float64 and float32 are read in place;
    integers are copied to one of these, exactly, and must not exceed 2 to the power of 53. Where
    forbidden pairs leave no complete assignment, it is refused, or with `partial` as many records
    as possible are linked, at the least cost of so many links.

    Which of several optimal assignments is found is not defined, but the same costs always give the
    same one.

    Examples
    --------
    >>> found = solve_assignment([[5, 5, 0], [7, 5, 7], [7, 2, 5]])
    >>> found.columns.tolist(), found.cost
    ([2, 0, 1], 9.0)
    >>> solve_assignment([[1, float("inf")], [2, float("inf")]], partial=True)
    Assignment(2 x 2, n_linked=1, cost=1)
    """
    given = as_costs(costs)
    worked = by_smaller_side(given)
    columns, v, unlinked = _augmented(worked, progress)
    if len(unlinked) and not partial:
        side = "rows" if given.shape[0] <= given.shape[1] else "columns"
        raise InputError(
            Reason.BAD_OPTION,
            f"A complete assignment of {count_of(len(worked), 'record')} was asked for.",
            f"{len(unlinked):,} of the {len(worked):,} {side} cannot be linked: "
            "their finite costs are with too few of the other side.",
            "Allow more pairs, or link as many as possible with partial=True.",
        )
    if len(unlinked):
        found = _in_parts(worked, columns)
    else:
        found = _complete(worked, columns, v)
    return found if given.shape[0] <= given.shape[1] else _turned(found)


def linkable_parts(
    costs: NDArray[Any], columns: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the rows that compete for too few columns, and these columns, as masks.

    Given are links as many as possible. The rows are those that alternating paths reach from
    rows that are not linked (Dulmage and Mendelsohn); most links are reached by linking all of
    these columns with these rows, and all other rows with other columns.
    """
    in_rows = columns < 0
    in_columns = np.zeros(costs.shape[1], np.bool_)
    row_of = np.full(costs.shape[1], -1, np.int64)
    linked = np.flatnonzero(columns >= 0)
    row_of[columns[linked]] = linked
    waiting = np.flatnonzero(in_rows).tolist()
    while waiting:
        new = np.flatnonzero((costs[waiting.pop()] < np.inf) & ~in_columns)
        in_columns[new] = True
        rows = row_of[new]
        in_rows[rows] = True
        waiting += rows.tolist()
    return in_rows, in_columns


def _augmented(
    costs: NDArray[Any], progress: Progress | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Return columns of rows, potentials of columns, and rows that cannot be linked."""
    from gamekeeper.algorithms.assignment.path_kernels import (
        LINK,
        LINK_HARD,
        empty_search,
        search_from,
    )
    from gamekeeper.algorithms.assignment.start_kernels import restarted, started

    n_rows, n_columns = costs.shape
    if not n_rows:
        return np.empty(0, np.int64), np.zeros(n_columns), np.empty(0, np.int64)
    v, column_of, row_of, lists, free, *faults = started(costs, _PASSES, _MOST_BIDS)
    refuse_faults(*faults)
    search = empty_search(n_rows, n_columns)
    unlinked: list[int] = []
    is_hard = is_auctioned = False
    work, first, n_told = 0, 0, 0
    while first < len(free):
        if progress:
            n_told = max(n_told, n_rows - len(free) + first)
            progress(n_told, n_rows)
        some = free[first : first + _AT_ONCE]
        first += len(some)
        lengths = np.empty(len(some))
        work += search_from(
            *(costs, v, column_of, row_of, some, lists, search),
            *(LINK_HARD if is_hard else LINK, 0.0, lengths),
        )
        unlinked += some[lengths == np.inf].tolist()
        if is_hard or is_auctioned or work <= _MOST_WORK * costs.size or first == len(free):
            continue
        is_square = n_rows == n_columns and not unlinked
        potentials = _auctioned(costs) if is_square and not _has_equals(costs) else None
        if potentials is None:
            is_hard = True
        else:
            v, first, is_auctioned = potentials, 0, True
            column_of, row_of, lists, free = restarted(costs, v, _PASSES, _MOST_BIDS)
    if progress:
        progress(n_rows, n_rows)
    return column_of, v, np.array(unlinked, np.int64)


def _has_equals(costs: NDArray[Any]) -> bool:
    """Tell whether exchanging the columns of two rows often costs nothing, by random exchanges."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, costs.shape[0], (2, _EXCHANGES))
    columns = rng.integers(0, costs.shape[1], (2, _EXCHANGES))
    differ = (rows[0] != rows[1]) & (columns[0] != columns[1])
    (i, k), (j, m) = rows[:, differ], columns[:, differ]
    now = np.array([costs[i, j], costs[k, m]], np.float64)
    then = np.array([costs[i, m], costs[k, j]], np.float64)
    # Sums may overflow, and forbidden pairs differ by NaN: neither is equal.
    with np.errstate(over="ignore", invalid="ignore"):
        change = np.abs(now.sum(axis=0) - then.sum(axis=0))
        scale = np.abs(now).sum(axis=0) + np.abs(then).sum(axis=0)
        n_equal = np.count_nonzero((change <= _EQUAL * scale) & np.isfinite(scale))
    return bool(n_equal > _MOST_EQUAL * _EXCHANGES)


def _auctioned(costs: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return potentials of the columns of a square matrix near the optimum, None if in vain.

    The least raises fall from the spread of the costs to a small part of it by record. They are
    powers of 2 that the costs can be added to without rounding, so that integers stay exact.
    """
    from gamekeeper.algorithms.assignment.start_kernels import column_minima, hold_auctions

    n = len(costs)
    step = -(-n // _SAMPLED)
    sample = costs[::step, ::step].astype(np.float64)
    sample = sample[np.isfinite(sample)]
    v, *_ = column_minima(costs)
    # Few very large costs must not set the scale.
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = np.quantile(sample, (0.05, 0.95)) if len(sample) else (0.0, 0.0)
        spread = float(high - low)
    if not 0.0 < spread < math.inf:
        return None
    largest = max(float(np.abs(sample).max()), float(np.abs(v).max()))
    last = math.floor(math.log2(spread) - math.log2(_RAISES_PER_ROW * n))
    last = max(last, math.ceil(math.log2(largest) + math.log2(n)) - 52)
    start = max(last, math.floor(math.log2(spread)))
    raises = 2.0 ** np.arange(start, last - 1, -2)
    return v if hold_auctions(costs, v, raises, _MOST_AUCTION_BIDS * n) else None


def _complete(
    costs: NDArray[Any], columns: NDArray[np.int64], v: NDArray[np.float64]
) -> Assignment:
    u = row_minima(costs, v)
    cost = cost_of(costs, columns)
    bound = sum_of_potentials(u, v)
    if not math.isfinite(cost - bound):
        raise not_costs("The costs are too large for sums of them.", "Scale the costs down.")
    return Assignment(columns, cost, u, v, max(0.0, cost - bound))


def _in_parts(costs: NDArray[Any], columns: NDArray[np.int64]) -> Assignment:
    """Solve both parts of a matrix without complete assignment; each of them has one."""
    in_rows, in_columns = linkable_parts(costs, columns)
    rows, places = np.flatnonzero(in_rows), np.flatnonzero(in_columns)
    crowded = solve_assignment(costs[np.ix_(rows, places)])
    other_rows, other_places = np.flatnonzero(~in_rows), np.flatnonzero(~in_columns)
    others = solve_assignment(costs[np.ix_(other_rows, other_places)])
    found = np.full(costs.shape[0], -1, np.int64)
    linked = crowded.columns >= 0
    found[rows[linked]] = places[crowded.columns[linked]]
    found[other_rows] = other_places[others.columns]
    u, v = np.empty(costs.shape[0]), np.empty(costs.shape[1])
    u[other_rows], v[other_places] = others.row_potentials, others.column_potentials
    # Columns that are fought over are made dear enough that no other row would want them, and
    # that rows and columns without link have the greatest potentials.
    v[places] = crowded.column_potentials
    excess = float(max(v[places].max(initial=0.0), u[other_rows].max(initial=0.0)))
    for row in other_rows:
        excess = max(excess, float(np.max(u[row] + v[places] - costs[row, places], initial=0.0)))
    v[places] -= excess
    u[rows] = crowded.row_potentials + excess
    return Assignment(found, crowded.cost + others.cost, u, v, crowded.gap + others.gap)


def _turned(found: Assignment) -> Assignment:
    columns = np.full(len(found.column_potentials), -1, np.int64)
    linked = np.flatnonzero(found.columns >= 0)
    columns[found.columns[linked]] = linked
    return Assignment(columns, found.cost, found.column_potentials, found.row_potentials, found.gap)


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
    from gamekeeper.algorithms.assignment.start_kernels import empty_lists, link_cheapest

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
    from gamekeeper.algorithms.assignment.start_kernels import link_rows

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


def assignment_lower_bound(costs: ArrayLike) -> float:
    """Return what no complete assignment costs less than, without looking for the optimum.

    Examples
    --------
    >>> assignment_lower_bound([[1, 2], [2, 100]])
    4.0
    """
    from gamekeeper.algorithms.assignment.start_kernels import started

    worked = by_smaller_side(as_costs(costs))
    if not worked.size:
        return 0.0
    v, _, _, _, _, *faults = started(worked, _BOUND_PASSES, _MOST_BIDS)
    refuse_faults(*faults)
    u = row_minima(worked, v)
    n_without = int(np.count_nonzero(np.isinf(u)))
    if n_without:
        raise not_costs(
            f"{n_without:,} records of the smaller side have no pair of finite cost, so that "
            "there is no complete assignment.",
            "Leave them out, or allow more pairs.",
        )
    return sum_of_potentials(u, v)
