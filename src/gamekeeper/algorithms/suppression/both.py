"""(k,k) suppression: every released row fits k people, and everybody fits k released rows.

From the cheapest (k,1) suppression, people who fit fewer than k rows are given some: other records
are opened further, by the cheapest sets of columns first and, among these, those that help most
people at once. Nothing that was suppressed is closed on the way, so that both counts only grow.
Then stars are taken back where everybody keeps k.

The cost of the cheapest (k,1) suppression is a lower bound, since (k,k) implies (k,1). Finding the
optimum is NP-hard in general; what is printed is the gap. Where a missing cell matches anything, it
is taken here as one that is never equal, which gives fewer candidates than there are.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.compatibility.candidates import Room, Sides, sums_of_fitting
from gamekeeper.algorithms.compatibility.packed_keys import DistinctRows, Keys, distinct_rows
from gamekeeper.algorithms.suppression.column_sets import sets_by_cost
from gamekeeper.algorithms.suppression.problem import (
    Sets,
    Suppression,
    SuppressionProblem,
    too_long,
)
from gamekeeper.algorithms.suppression.released_to_people import (
    cheapest_sets,
    solved_in_order,
)

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
    added: Keys
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
    people = distinct_rows(problem.fields, problem.keys)
    released = distinct_rows(problem.fields, problem.keys, sets)
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
    from gamekeeper.algorithms.compatibility.key_kernels import places_both_ways
    from gamekeeper.algorithms.suppression.repair_kernels import help_people

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


def _full_keys(problem: SuppressionProblem, rows: DistinctRows) -> Keys:
    """Return for each different released row the key of one of its records, nothing suppressed.

    Released rows that look alike may come of records that differ where they are open; opened further
    they look alike again, so that any of them does.
    """
    full = np.empty_like(rows.keys)
    full[rows.row_of] = problem.keys
    return full


def _open_records(rows: DistinctRows, sets: Sets, chosen: NDArray[np.int64], added: Sets) -> None:
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
    from gamekeeper.algorithms.suppression.repair_kernels import close_again

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
