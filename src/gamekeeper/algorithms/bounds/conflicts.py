"""Published counts that contradict each other, as few as possible.

If no table satisfies the constraints, some rows among them conflict. A set of rows is irreducible
if no table satisfies it and removing any one row of it leaves a table. One such set is found by
halving (Junker 2004, QuickXplain): a set of k among n rows takes about 2k log2(n / k) + 2k
questions whether there is a table. Where two margins do not agree on what they share, that is told
at once, with fewer rows than any search is likely to find (`margin_agreement`). Where real numbers
conflict, a certificate of the relaxation first cuts the rows down to a few (Farkas' lemma). Cells
are never below 0, and both limits of a row stand or fall together.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.bounds.integer_bounds import has_table
from gamekeeper.algorithms.linear_programs import DUAL, program_by_rows, silent_solver
from gamekeeper.algorithms.releases.constraints import (
    UNBOUNDED,
    ConstraintRows,
    CountConstraints,
    NoTableError,
)
from gamekeeper.algorithms.releases.margin_agreement import require_agreement
from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import digits_text

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Conflict:
    """Rows that no table satisfies together; none where there is a table.

    Attributes
    ----------
    is_irreducible
        Whether the others could hold without any one of them. False where time was up before that
        was known of each.
    """

    rows: tuple[int, ...]
    is_irreducible: bool = True


def find_conflict(constraints: CountConstraints, *, max_seconds: float | None = None) -> Conflict:
    """Return an irreducible set of rows that conflict, empty if there is a table.

    With a limit of time the set still conflicts, but a row that could not be shown to be needless
    in time is kept.

    Raises
    ------
    LimitError
        It could not be settled whether there is a table.

    Examples
    --------
    >>> known = CountConstraints.of(
    ...     (2, 2), [((0,), [3, 1]), ((1,), [2, 2]), ((0, 1), [[0, 2], [1, 0]])]
    ... )
    >>> find_conflict(known)
    Conflict(rows=(0, 4, 5), is_irreducible=True)
    """
    try:
        require_agreement(constraints)
    except NoTableError as error:
        return Conflict(tuple(error.rows))
    rows, n_cells = constraints.rows, constraints.size
    deadline = None if max_seconds is None else time.monotonic() + max_seconds
    unsettled = 0

    def conflict(chosen: Integers) -> bool | None:
        nonlocal unsettled
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            unsettled += 1
            return None
        exists = has_table(_only(rows, chosen), n_cells, max_seconds=left)
        unsettled += exists is None
        return None if exists is None else not exists

    limited = np.flatnonzero((rows.lower > 0) | (rows.upper < UNBOUNDED))
    certified = _certificate(_only(rows, limited), n_cells, max_seconds)
    if len(certified) and conflict(limited[certified]):
        limited = limited[certified]
    else:
        verdict = conflict(limited)
        if verdict is None:
            raise LimitError(
                Reason.TOO_LARGE,
                "Published counts that contradict each other were asked for.",
                "It could not be settled whether they do"
                + ("." if max_seconds is None else f" within {digits_text(max_seconds)} seconds."),
                "Allow more time (max_seconds), or publish less.",
            )
        if not verdict:
            return Conflict(())
    unsettled = 0
    found = tuple(sorted(_explain(conflict, [], False, limited.tolist())))
    return Conflict(found, is_irreducible=not unsettled)


def _explain(
    conflict: Callable[[Integers], bool | None], given: list[int], is_new: bool, rows: list[int]
) -> list[int]:
    """Return rows that, with those given, are an irreducible conflict."""
    if is_new and conflict(np.array(given, np.int64)):
        return []
    if len(rows) == 1:
        return rows
    half = len(rows) // 2
    first, second = rows[:half], rows[half:]
    of_second = _explain(conflict, given + first, True, second)
    of_first = _explain(conflict, given + of_second, bool(of_second), first)
    return of_first + of_second


def _only(rows: ConstraintRows, chosen: Integers) -> ConstraintRows:
    chosen = np.sort(chosen)
    lengths = np.diff(rows.starts)[chosen]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    # Place by place: the first cell of a row, and how far along it.
    at = np.repeat(rows.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
    return ConstraintRows(
        starts, rows.cells[at], rows.lower[chosen], rows.upper[chosen],
        rows.margin[chosen], rows.cell[chosen],
    )  # fmt: skip


def _certificate(rows: ConstraintRows, n_cells: int, max_seconds: float | None) -> Integers:
    """Return the rows of a certificate that no real numbers will do, none without one.

    What floating point says here is only a proposal: the caller asks again in whole numbers.
    """
    import highspy

    limit = {} if max_seconds is None else {"time_limit": float(max_seconds)}
    highs = silent_solver(presolve="off", simplex_strategy=DUAL, **limit)
    upper = np.where(rows.upper >= UNBOUNDED, highspy.kHighsInf, rows.upper.astype(np.float64))
    model = program_by_rows(
        (np.zeros(n_cells), np.full(n_cells, highspy.kHighsInf)),
        (rows.lower.astype(np.float64), upper),
        rows.starts,
        rows.cells,
    )
    highs.passModel(model)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
        return np.zeros(0, np.int64)
    _, exists, ray = highs.getDualRay()  # pyright: ignore[reportAttributeAccessIssue]
    size = np.abs(ray)
    return np.flatnonzero(size > 1e-9 * size.max()) if exists else np.zeros(0, np.int64)
