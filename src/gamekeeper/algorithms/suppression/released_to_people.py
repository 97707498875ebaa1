"""(k,1) suppression, exact: every released row fits at least k people, at the least cost.

A record keeps the columns of largest total cost on which at least k people agree with it; no
record's choice touches another's, since people are who they are. Equivalently it suppresses the
cheapest set that meets each of its minimal infrequent sets (for k = 2: its minimal sample uniques).
So the walk goes through sets of columns in the order of their cost, each one grouping of the rows
that still have too few candidates against all people, and the first set that gives a row k is the
optimum of that row. It ends when no row is left: after tens to hundreds of sets, of 2^m.

A cell that was missing is suppressed for nothing and counts as no change: records that lack k are
looked at with their missing cells open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compatibility.candidates import n_slots
from gamekeeper.algorithms.compatibility.packed_keys import distinct_rows
from gamekeeper.algorithms.suppression.column_sets import n_sets_below, sets_by_cost
from gamekeeper.algorithms.suppression.problem import (
    Sets,
    Suppression,
    SuppressionProblem,
    too_long,
    too_long_at_least,
)

_AT_ONCE = 64
# With so many columns every set can be tried.
_FEW_COLUMNS = 16
_PROBED = 50


def suppress_released_to_people(
    problem: SuppressionProblem, *, only: NDArray[np.bool_] | None = None
) -> Suppression:
    """Return the cheapest suppression after which every released row fits k people.

    Where `only` is given, these records alone are protected.

    Examples
    --------
    >>> rows = np.array([[3, 1], [4, 1], [5, 2], [5, 2]])
    >>> found = suppress_released_to_people(SuppressionProblem(rows, 2))
    >>> found.suppressed.tolist(), found.cost, found.is_optimal
    ([1, 1, 0, 0], Fraction(2, 1), True)
    """
    chosen, unmet = cheapest_sets(problem, only)
    own = chosen & ~problem.blank
    return problem.answer(chosen if problem.missing == "category" else own, own, unmet)


def solved_in_order(
    problem: SuppressionProblem, solve: Callable[[SuppressionProblem, Fraction], Suppression]
) -> Suppression:
    """Return what is solved of records in the order of their codes, given the least cost of (k,1).

    Where even the cheapest (k,1) suppression leaves somebody unmet, that is the answer.
    """
    assert problem.counts is None, "k of sums of weights is asked of rows only"
    cheapest = suppress_released_to_people(problem)
    if len(cheapest.unmet):
        return cheapest
    ordered, places = problem.in_order()
    return solve(ordered, cheapest.cost).put_back(places)


def cheapest_sets(
    problem: SuppressionProblem, only: NDArray[np.bool_] | None = None
) -> tuple[Sets, NDArray[np.int64]]:
    """Return for each record the set to suppress, missing cells among it, and who cannot be helped."""
    from gamekeeper.algorithms.suppression.walk_kernels import walk_sets

    people = problem.people
    known = problem.group_masks()
    # Different records, by what they are and by what they lack.
    rows, row_of, blank = distinct_records(problem)
    wanted = np.ones(len(rows), dtype=np.bool_)
    if only is not None:
        wanted[:] = False
        wanted[row_of[only]] = True
    chosen = np.zeros(len(rows), dtype=np.uint64)
    opened = np.zeros(len(rows), dtype=np.uint64)
    if problem.opened is not None:
        opened[row_of] = problem.opened
    # What is compared before anything is suppressed.
    unknown = opened if problem.missing == "category" else blank | opened
    is_open = candidates_of_rows(problem, rows, problem.every & ~unknown) < problem.k
    is_open &= wanted
    unmet = np.zeros(len(rows), dtype=np.bool_)
    _require_possible(problem, rows, blank, np.flatnonzero(is_open))
    for lacking in np.unique(blank[is_open]):
        at = np.flatnonzero(is_open & (blank == lacking))
        asked, numbers = rows[at].copy(), np.arange(len(at))
        n_left, n_sets = len(at), 0
        room = WalkRoom(len(at), problem.fields.n_words)
        best = np.full(len(at), -1, dtype=np.int64)
        tried: list[NDArray[np.uint64]] = []
        for sets in _batches(problem, int(lacking)):
            if (n_sets + len(sets)) * people.n_rows > problem.max_work:
                raise too_long("Cells were to be suppressed.", n_sets, n_left)
            tried.append(sets)
            kept = problem.fields.masks(problem.every & ~(sets | lacking))
            left = walk_sets(
                *(people.keys, people.counts, people.starts, known, asked, numbers, n_left),
                *(kept, n_sets, problem.k, room.mask, room.slots, room.places, room.sums),
                *(room.found, best),
            )
            n_left, n_sets = int(left), n_sets + len(sets)
            if problem.progress is not None:
                problem.progress(len(at) - n_left, len(at))
            if not n_left:
                break
        found = np.concatenate(tried)
        unmet[at[best < 0]] = True
        done = at[best >= 0]
        chosen[done] = found[best[best >= 0]] | lacking
    of_records = chosen[row_of]
    stuck = unmet[row_of]
    if only is not None:
        of_records[~only] = 0
        stuck &= only
    return of_records, np.flatnonzero(stuck)


def _require_possible(
    problem: SuppressionProblem,
    rows: NDArray[np.uint64],
    blank: Sets,
    is_open: NDArray[np.int64],
) -> None:
    """Refuse a walk that is too long, before it begins.

    Of some rows it is counted on which columns everybody agrees with them. Whoever keeps more than
    the k-th of these, by its cost, keeps too few people: so that all sets that cost less than the
    rest are tried in vain.
    """
    if len(problem.free) <= _FEW_COLUMNS or problem.missing == "wildcard" or not len(is_open):
        return
    people, costs = problem.people, problem.scaled[0]
    free = np.array([costs[c] if c in problem.free else 0 for c in range(problem.n_columns)])
    fixed = [c for c in range(problem.n_columns) if c not in problem.free]
    hardest = 0
    for row in is_open[:: max(1, len(is_open) // _PROBED)].tolist():
        agree = np.column_stack(
            [(((people.keys ^ rows[row]) & mask) == 0).all(axis=1) for mask in problem.column_masks]
        )
        known = np.array([int(blank[row]) >> c & 1 == 0 for c in range(problem.n_columns)])
        is_near = agree[:, fixed].all(axis=1)
        agree, counts = agree[is_near], people.counts[is_near]
        kept = agree @ (free * known)
        order = np.argsort(-kept, kind="stable")
        enough = int(np.searchsorted(np.cumsum(counts[order]), problem.k))
        if enough < len(order):
            hardest = max(hardest, int((free * known).sum() - kept[order[enough]]))
    n_sets = n_sets_below([costs[c] for c in problem.free], hardest)
    if n_sets * people.n_rows > problem.max_work:
        raise too_long_at_least("Cells were to be suppressed.", n_sets, problem.max_work)


def candidates_of_rows(
    problem: SuppressionProblem, rows: NDArray[np.uint64], kept: Sets
) -> NDArray[np.int64]:
    """Return how many people fit each of some rows on the columns that it keeps."""
    from gamekeeper.algorithms.suppression.walk_kernels import sum_candidates

    people, known = problem.people, problem.group_masks()
    made = np.zeros(len(rows), dtype=np.int64)
    for columns in np.unique(kept):
        at = np.flatnonzero(kept == columns)
        room = WalkRoom(len(at), problem.fields.n_words)
        sum_candidates(
            *(people.keys, people.counts, people.starts, known, rows[at], len(at)),
            *(problem.fields.masks(np.array([columns]))[0], room.mask, room.slots, room.places),
            *(room.sums, room.found),
        )
        made[at] = room.found[: len(at)]
    return made


class WalkRoom:
    """Room in which sets are tried for so many rows."""

    def __init__(self, n_rows: int, n_words: int) -> None:
        n_rows = max(n_rows, 1)
        self.mask = np.empty(n_words, dtype=np.uint64)
        self.slots = np.empty(n_slots(n_rows), dtype=np.int32)
        self.places = np.empty((2, n_rows), dtype=np.int32)
        self.sums = np.empty(n_rows, dtype=np.int64)
        self.found = np.empty(n_rows, dtype=np.int64)


def distinct_records(
    problem: SuppressionProblem,
) -> tuple[NDArray[np.uint64], NDArray[np.int64], Sets]:
    """Return the different rows of the file, the row of each record, and the missing columns of each."""
    rows = problem.people
    if problem.missing == "wildcard":
        rows = distinct_rows(problem.fields, problem.keys)
    keys, row_of = rows.keys, rows.row_of
    if problem.opened is not None:
        # Records that are alike may be suppressed in other columns already.
        marked = np.column_stack([row_of.astype(np.uint64), problem.opened])
        kinds, row_of = np.unique(marked, axis=0, return_inverse=True)
        keys, row_of = keys[kinds[:, 0].astype(np.int64)], row_of.reshape(-1)
    blank = np.zeros(len(keys), dtype=np.uint64)
    blank[row_of] = problem.blank
    return keys, row_of, blank


def _batches(problem: SuppressionProblem, lacking: int) -> Iterator[NDArray[np.uint64]]:
    """Yield sets of columns to suppress besides those that are missing, the cheapest first."""
    free = [column for column in problem.free if not lacking >> column & 1]
    batch: list[int] = []
    for cost, sets in sets_by_cost(free, problem.scaled[0], problem.categories):
        if cost == 0 and not lacking:
            continue
        batch += sets
        while len(batch) >= _AT_ONCE:
            yield np.array(batch[:_AT_ONCE], dtype=np.uint64)
            del batch[:_AT_ONCE]
    # Even nothing at all, so that what cannot be helped is told.
    yield np.array(batch, dtype=np.uint64)
