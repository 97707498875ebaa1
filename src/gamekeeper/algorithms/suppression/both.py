"""(k,1) and (k,k) suppression: released rows fit at least k people, and everybody fits k of them.

**(k,1)** is exact. A record keeps the columns of largest total cost on which at least k people
agree with it; no record's choice touches another's, since people are who they are. Equivalently it
suppresses the cheapest set that meets each of its minimal infrequent sets (for k = 2: its minimal
sample uniques). So the walk goes through sets of columns in the order of their cost, each one
grouping of the rows that still have too few candidates against all people, and the first set that
gives a row k is the optimum of that row. It ends when no row is left: after tens to hundreds of
sets, of 2^m. A cell that was missing is suppressed for nothing and counts as no change: records
that lack k are looked at with their missing cells open.

**(k,k)** starts from the cheapest (k,1) suppression. People who fit fewer than k rows are given
some: other records are opened further, by the cheapest sets of columns first and, among these,
those that help most people at once. Nothing that was suppressed is closed on the way, so that both
counts only grow. Then stars are taken back where everybody keeps k. The cost of the cheapest (k,1)
suppression is a lower bound, since (k,k) implies (k,1). Finding the optimum is NP-hard in general;
what is printed is the gap. Where a missing cell matches anything, it is taken here as one that is
never equal, which gives fewer candidates than there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms import classes
from gamekeeper.algorithms.suppression.compatibility import Room, Sides, n_slots, sums_of_fitting
from gamekeeper.algorithms.suppression.problem import (
    Sets,
    Suppression,
    SuppressionProblem,
    n_sets_below,
    sets_by_cost,
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
    from gamekeeper.algorithms.suppression.kernels import walk_sets

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
    problem: SuppressionProblem, rows: NDArray[np.uint64], blank: Sets, is_open: NDArray[np.int64]
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
    from gamekeeper.algorithms.suppression.kernels import sum_candidates

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
        rows = classes.distinct_rows(problem.fields, problem.keys)
    keys, row_of = rows.keys, rows.row_of
    if problem.opened is not None:
        # Records that are alike may be suppressed in other columns already.
        marked = classes.equal_rows(
            np.column_stack([row_of, classes.dense_numbers(problem.opened)])
        )
        keys, row_of = keys[row_of[marked.firsts]], marked.numbers
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


_CLOSING_WORK = 1 << 32


def suppress_both(problem: SuppressionProblem) -> Suppression:
    """Return a suppression after which everybody and every row have k candidates, and its gap.

    Examples
    --------
    >>> rows = np.array([[1, 1, 3], [1, 2, 3], [1, 2, 3], [1, 1, 3], [1, 3, 3]])
    >>> found = suppress_both(SuppressionProblem(rows, 2))
    >>> found.cost, found.lower_bound
    (Fraction(2, 1), Fraction(1, 1))
    """
    return solved_in_order(problem, _solved)


def _solved(problem: SuppressionProblem, bound: Fraction) -> Suppression:
    if problem.missing == "wildcard":
        problem = replace(problem, missing="ignore")
    sets, _ = cheapest_sets(problem)
    if problem.missing == "ignore":
        sets = sets | problem.blank
    if problem.opened is not None:
        sets = sets | problem.opened
    sets, unmet = _helped(problem, sets)
    own = sets & ~problem.blank
    return problem.answer(own if problem.missing == "ignore" else sets, own, unmet, bound)


class _Options(NamedTuple):
    """People who are short and rows that could help them, option by option."""

    members: NDArray[np.int64]
    helpers: NDArray[np.int64]
    n_members: NDArray[np.int64]
    n_helpers: NDArray[np.int64]
    added: classes.Keys
    sets: Sets


def _helped(problem: SuppressionProblem, sets: Sets) -> tuple[Sets, NDArray[np.int64]]:
    """Open records until everybody has k rows; return the sets and who cannot be helped."""
    first = sets.copy()
    n_tried = 0
    candidates, sides = _rows_of_people(problem, sets)
    for cost, added in sets_by_cost(problem.free, problem.scaled[0], problem.categories):
        if cost == 0:
            continue
        deficits = np.maximum(problem.k - candidates, 0)
        if not deficits.any():
            break
        n_tried += len(added)
        if n_tried * sides.released.n_rows * len(sides.released.open) > problem.max_work:
            n_short = int(np.count_nonzero(deficits))
            raise too_long("Cells were to be suppressed.", n_tried, n_short)
        if _open_further(problem, sides, sets, deficits, added):
            candidates, sides = _rows_of_people(problem, sets)
    sets = _closed_again(problem, first, sets)
    candidates, sides = _rows_of_people(problem, sets)
    return sets, np.flatnonzero(candidates[sides.people.row_of] < problem.k)


def _rows_of_people(problem: SuppressionProblem, sets: Sets) -> tuple[NDArray[np.int64], Sides]:
    """Return how many released rows each different person fits."""
    people = classes.distinct_rows(problem.fields, problem.keys)
    released = classes.distinct_rows(problem.fields, problem.keys, sets)
    sides = Sides(problem.fields, people, released)
    return sums_of_fitting(sides, people.counts, released.counts)[0], sides


def _open_further(
    problem: SuppressionProblem,
    sides: Sides,
    sets: Sets,
    deficits: NDArray[np.int64],
    added: list[int],
) -> bool:
    """Open records by sets of columns that cost the same; tell whether any was."""
    from gamekeeper.algorithms.suppression.kernels import help_people, places_both_ways

    short = np.flatnonzero(deficits)
    # Rows as they were: what is open in them differs from person to person.
    rows, full = sides.released, _full_keys(problem, sides.released)
    person_keys = sides.people.keys[short]
    parts: list[_Options] = []
    room = Room(len(short))
    for group, open_columns in enumerate(rows.open):
        begin, end = int(rows.starts[group]), int(rows.starts[group + 1])
        for more in added:
            if int(open_columns) & more:
                continue
            mask = problem.fields.mask_without(open_columns | np.uint64(more))
            place = np.empty(end - begin, dtype=np.int64)
            places_both_ways(
                *(person_keys, 0, len(short), full, begin, end, mask),
                *(room.slots(len(short)), room.place_of, room.row_at, place),
            )
            if (place >= 0).any():
                people_at = room.place_of[: len(short)]
                parts.append(_options(problem, people_at, place, begin, more))
    if not parts:
        return False
    options = _Options(*map(np.concatenate, zip(*parts, strict=True)))
    member_starts = np.concatenate([[0], np.cumsum(options.n_members)])
    helper_starts = np.concatenate([[0], np.cumsum(options.n_helpers)])
    left = rows.counts.copy()
    # A row helps a person who is short once.
    most = int(deficits.sum())
    chosen_row, chosen_option = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    n_chosen = help_people(
        *(person_keys, deficits[short], full, left, options.members, member_starts),
        *(options.helpers, helper_starts, options.added),
        *(np.empty(len(options.sets), dtype=np.int64), chosen_row, chosen_option),
    )
    _open_records(rows, sets, chosen_row[:n_chosen], options.sets[chosen_option[:n_chosen]])
    return bool(n_chosen > 0)


def _options(
    problem: SuppressionProblem,
    person_place: NDArray[np.int32],
    row_place: NDArray[np.int64],
    begin: int,
    more: int,
) -> _Options:
    """Return people and rows of the same place as options."""
    found = np.flatnonzero(row_place >= 0)
    found = found[np.argsort(row_place[found], kind="stable")]
    places, n_helpers = np.unique(row_place[found], return_counts=True)
    order = np.argsort(person_place, kind="stable")
    ordered = person_place[order]
    begins, ends = (np.searchsorted(ordered, places, side) for side in ("left", "right"))
    chosen = np.zeros(len(order) + 1, dtype=np.int64)
    np.add.at(chosen, begins, 1)
    np.add.at(chosen, ends, -1)
    sets = np.full(len(places), more, dtype=np.uint64)
    return _Options(
        members=order[np.cumsum(chosen[:-1]) > 0].astype(np.int64),
        helpers=found + begin,
        n_members=(ends - begins).astype(np.int64),
        n_helpers=n_helpers.astype(np.int64),
        added=problem.fields.masks(sets),
        sets=sets,
    )


def _full_keys(problem: SuppressionProblem, rows: classes.DistinctRows) -> classes.Keys:
    """Return for each different released row the key of one of its records, nothing suppressed.

    Released rows that look alike may come of records that differ where they are open; opened
    further they look alike again, so that any of them does.
    """
    full = np.empty_like(rows.keys)
    full[rows.row_of] = problem.keys
    return full


def _open_records(
    rows: classes.DistinctRows, sets: Sets, chosen: NDArray[np.int64], added: Sets
) -> None:
    """Open so many records of each chosen row, the first of them in the order of the file."""
    order = np.argsort(rows.row_of, kind="stable")
    starts = np.searchsorted(rows.row_of[order], np.arange(rows.n_rows + 1))
    taken: dict[int, int] = {}
    for row, more in zip(chosen.tolist(), added.tolist(), strict=True):
        at = taken.get(row, 0)
        taken[row] = at + 1
        sets[order[starts[row] + at]] |= np.uint64(more)


def _closed_again(problem: SuppressionProblem, first: Sets, sets: Sets) -> Sets:
    """Take back stars of records that were opened further, where everybody keeps k."""
    from gamekeeper.algorithms.suppression.kernels import close_again

    opened = np.flatnonzero(sets != first)
    if not len(opened):
        return sets
    candidates, sides = _rows_of_people(problem, sets)
    own = sets[opened].copy()
    costs, _ = problem.scaled
    order = sorted(problem.free, key=lambda column: (-costs[column], problem.categories[column]))
    close_again(
        *(sides.people.keys, sides.people.counts, candidates, problem.keys[opened]),
        *(own, problem.column_masks, np.array(order, dtype=np.int64), problem.k),
        *(_CLOSING_WORK, np.empty(problem.fields.n_words, dtype=np.uint64)),
        np.empty(problem.fields.n_words, dtype=np.uint64),
    )
    made = sets.copy()
    made[opened] = own
    return made
