"""The exact bounds of every cell of a table of counts, given all that is published about it.

The bounds of a cell are the smallest and the largest count it has in any table of whole numbers
that satisfies the constraints; those of a sum of cells likewise. Linear programming bounds may be
wider. Two integer programs per cell would do, and do not scale: see `component_search` for what is done
instead, and `programs` for what of it is proven in whole numbers.

Buzzigoli and Giusti 1999; Dobra and Fienberg 2001; Smith's thesis, chapter 2. Deciding whether any
table exists is NP-hard from three axes on, so a limit of the effort can be set; what is not settled
by then has outer bounds and is marked as not tight.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gamekeeper.algorithms.bounds.component_search import BoundSearch, Effort
from gamekeeper.algorithms.releases.components import Limits, components, tightened
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    ConstraintRows,
    CountConstraints,
    CountMargin,
    NoTableError,
)
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress

Integers = NDArray[np.int64]

MOST_PROGRAMS = 20_000
"""The programs, and nodes of their branching, after which a search that nobody limits is given up.

Every release of the benchmarks takes some thousand at most; on hard ones it is a minute.
"""


@dataclass(frozen=True, eq=False)
class IntegerBounds:
    """Bounds of the cells of a table, and how they were found.

    Attributes
    ----------
    lower, upper
        The bounds; `UNBOUNDED` where there is no upper one.
    tight_lower, tight_upper
        Whether a table is known in which the cell is at the bound.
    table
        A table that satisfies the constraints; None if none was found within the limits.
    relaxations, programs, tables
        How many linear programs, those of branching among them, and integer programs were solved,
        and how many tables met.
    """

    lower: Integers
    upper: Integers
    tight_lower: NDArray[np.bool_]
    tight_upper: NDArray[np.bool_]
    table: Integers | None
    relaxations: int
    programs: int
    tables: int

    @property
    def tight(self) -> NDArray[np.bool_]:
        """Whether both bounds of a cell are proven to be reached."""
        return self.tight_lower & self.tight_upper


def integer_bounds(
    constraints: CountConstraints,
    *,
    cells: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    max_programs: int | None = None,
    progress: Progress | None = None,
) -> IntegerBounds:
    """Return the exact bounds of each cell.

    Parameters
    ----------
    cells
        The flat numbers of the cells that are asked for; all unless told. Others get the bounds of
        propagation, and are tight only where these are equal.
    lower, upper
        Limits of the cells that are known already, in the shape of the table.
    max_programs
        The limit of the effort. What is not settled by then has outer bounds and is not tight.
    progress
        Told how many bounds are settled, of how many.

    Raises
    ------
    NoTableError
        No table satisfies the constraints.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> found = integer_bounds(known)
    >>> found.lower.tolist(), found.upper.tolist(), bool(found.tight.all())
    ([[1, 1], [0, 0]], [[2, 2], [1, 1]], True)
    """
    asked = np.full(constraints.size, -1, np.int64)
    wanted = np.arange(constraints.size) if cells is None else np.asarray(cells, np.int64)
    outside = int(np.count_nonzero((wanted < 0) | (wanted >= constraints.size)))
    if outside:
        raise InputError(
            Reason.BAD_OPTION,
            f"The bounds of {wanted.size} cells were asked for.",
            f"{outside} of them are not among the cells 0 to {constraints.size - 1}.",
            "Ask for cells of the base table.",
        )
    asked[wanted.reshape(-1)] = wanted.reshape(-1)
    rows = constraints.rows
    known = _known(constraints, lower, upper)
    limits = tightened(rows, *known)
    found = _bounds(rows, limits, asked, constraints.size, Effort(max_programs), progress)
    # Cells that were not asked for keep their outer bounds, and sums of nothing would be 0.
    rest = asked < 0
    found.lower[rest] = limits.lower[rest]
    found.upper[rest] = np.where(limits.unbounded, UNBOUNDED, limits.upper)[rest]
    fixed = (found.lower == found.upper) & (found.table is not None)
    found.tight_lower[rest] = fixed[rest]
    found.tight_upper[rest] = fixed[rest]
    return _shaped(found, constraints.shape, constraints.shape)


def sum_bounds(
    constraints: CountConstraints,
    margin: CountMargin,
    *,
    max_programs: int | None = None,
    progress: Progress | None = None,
) -> IntegerBounds:
    """Return the exact bounds of each cell of a recoded or marginal table.

    Only the groups of the margin matter; its limits are not used. Parameters and errors are those
    of `integer_bounds`.

    Examples
    --------
    >>> from gamekeeper.algorithms.releases.constraints import kept_axes
    >>> known = CountConstraints.of(
    ...     (2, 3), [((0, 1), [[0, 0, 2], [1, 0, 0]], [[3, 3, 4], [3, 9, 0]])]
    ... )
    >>> found = sum_bounds(known, kept_axes((2, 3), (0,), [0, 0]))
    >>> found.lower.tolist(), found.upper.tolist()
    ([[2], [1]], [[10], [12]])
    """
    rows = constraints.rows
    limits = tightened(rows, *_known(constraints, None, None))
    effort = Effort(max_programs)
    found = _bounds(rows, limits, margin.cells, margin.lower.size, effort, progress)
    return _shaped(found, margin.shape, constraints.shape)


def feasible_table(constraints: CountConstraints) -> Integers | None:
    """Return some table that satisfies the constraints, or None if there is none.

    Raises
    ------
    LimitError
        Neither was found, since the counts are too large for a proof.

    Examples
    --------
    >>> known = CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 2])])
    >>> known.admits(feasible_table(known))
    True
    >>> feasible_table(CountConstraints.of((2, 2), [((0,), [3, 1]), ((1,), [2, 1])])) is None
    True
    """
    exists, table = _search_table(constraints.rows, constraints.size, None)
    if exists is None:
        raise LimitError(
            Reason.TOO_LARGE,
            "A table was asked for that satisfies all published counts.",
            "Neither a table nor a proof that there is none was found.",
            "Publish less, or join categories.",
        )
    return None if table is None else table.reshape(constraints.shape)


def has_table(
    rows: ConstraintRows, n_cells: int, *, max_seconds: float | None = None
) -> bool | None:
    """Return whether some table satisfies the rows, or None if that could not be settled."""
    return _search_table(rows, n_cells, max_seconds)[0]


def _bounds(
    rows: ConstraintRows,
    limits: Limits,
    sums: Integers,
    n_sums: int,
    effort: Effort,
    progress: Progress | None,
) -> IntegerBounds:
    """Return bounds of sums, flat; a sum over several components is bounded by each on its own."""
    parts = components(rows, limits, sums)
    searches = [BoundSearch(part, effort) for part in parts]
    n_open = 2 * sum(len(part.sums) for part in parts)
    table: Integers | None = limits.lower.copy()
    for search in searches:
        if search.start() and table is not None and search.table is not None:
            table[search.component.cells] += search.table
        else:
            table = None
    lower, tight_lower = np.zeros(n_sums, np.int64), np.full(n_sums, table is not None)
    asked = sums >= 0
    np.add.at(lower, sums[asked], limits.lower[asked])
    upper, tight_upper = lower.copy(), tight_lower.copy()
    settled = 0
    for search in searches:
        if table is not None:
            search.run(_told(progress, settled, n_open))
            settled += search.n_settled
        own = search.component.sums
        lower[own] += search.least
        upper[own] += search.most
        tight_lower[own] &= search.tight_lower
        tight_upper[own] &= search.tight_upper
    if progress is not None:
        progress(settled, n_open)
    unbounded = np.unique(sums[asked & limits.unbounded])
    upper[unbounded] = UNBOUNDED
    tight_upper[unbounded] = table is not None
    return IntegerBounds(
        lower, upper, tight_lower, tight_upper, table,
        effort.relaxations, effort.programs, effort.tables,
    )  # fmt: skip


def _search_table(
    rows: ConstraintRows, n_cells: int, max_seconds: float | None
) -> tuple[bool | None, Integers | None]:
    """Return whether there is a table, if that could be settled, and one."""
    deadline = None if max_seconds is None else time.monotonic() + max_seconds
    effort = Effort(deadline=deadline)
    try:
        limits = tightened(rows, *_no_limits(n_cells))
        parts = components(rows, limits, np.full(n_cells, -1, np.int64))
        searches = [BoundSearch(part, effort) for part in parts]
        # All are started: a later one may prove what an earlier one leaves open.
        started = [search.start() for search in searches]
    except NoTableError:
        return False, None
    if not all(started):
        return None, None
    table = limits.lower.copy()
    for search in searches:
        if search.table is not None:
            table[search.component.cells] += search.table
    return True, table


def _told(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    if progress is None:
        return lambda settled: None
    return lambda settled: progress(before + settled, total)


def _known(
    constraints: CountConstraints, lower: ArrayLike | None, upper: ArrayLike | None
) -> tuple[Integers, Integers]:
    low, high = _no_limits(constraints.size)
    if lower is not None:
        low = np.array(lower, np.int64).reshape(-1)
    if upper is not None:
        high = np.minimum(np.asarray(upper, np.int64).reshape(-1), UNBOUNDED)
    for name, limits in (("lower", low), ("upper", high)):
        if limits.size != constraints.size:
            raise InputError(
                Reason.MALFORMED,
                f"Known {name} limits of the cells were given.",
                f"There are {limits.size} of them, and {constraints.size} cells.",
                "Give limits in the shape of the base table.",
            )
    return low, high


def _no_limits(n_cells: int) -> tuple[Integers, Integers]:
    return np.zeros(n_cells, np.int64), np.full(n_cells, UNBOUNDED, np.int64)


def _shaped(found: IntegerBounds, shape: tuple[int, ...], base: tuple[int, ...]) -> IntegerBounds:
    return replace(
        found,
        lower=found.lower.reshape(shape),
        upper=found.upper.reshape(shape),
        tight_lower=found.tight_lower.reshape(shape),
        tight_upper=found.tight_upper.reshape(shape),
        table=None if found.table is None else found.table.reshape(base),
    )
