"""Suppression where given sets of variables must be broken, or classes of identical rows are made.

A record suppresses the cheapest set of columns that meets every one of its sets (a hitting set), or
that leaves sets unmet whose weights add up to no more than is allowed. The sets may be

- the minimal sets of up to d columns on which fewer than k people agree with the record: then no
  combination of up to d variables is rare, in one key or in several at once, with a threshold for
  each number of variables;
- its minimal sample uniques, each of s variables with the weight (M-s)! of the intruder score IS:
  then the score of what is left is at most what is allowed.

With d the number of columns the first is the (k,1) suppression. Exact, record by record: sets of
columns are tried in the order of their cost. Cost: one grouping of the rows for each set of up to d
columns, and the sets of each record for each set tried.

Where classes are to have at least k identical rows, a suppressed cell being equal to its like only,
sets of columns are walked in the order of their cost too. Records without a class that agree on
what is left become one if they are k, or join one that is suppressed in the same columns. Where
they are fewer, u of k, they recruit records of classes with more than k, which then lose the same
cells; that is done when the walk has come to k/u times the cost, which is what each of them then
costs. The last few, whom no class can spare anybody, join the class that is opened further for
least. The answer is no optimum (finding one is NP-hard); the cost of the cheapest (k,1) suppression
is a lower bound, and the gap is told.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.suppression.both import (
    candidates_of_rows,
    distinct_records,
    solved_in_order,
)
from gamekeeper.algorithms.suppression.compatibility import n_slots
from gamekeeper.algorithms.suppression.problem import (
    Sets,
    Suppression,
    SuppressionProblem,
    sets_by_cost,
    too_long,
    too_long_at_least,
)

_AT_ONCE = 256
# From 21! on a weight is beyond 64 bits; no more is allowed than one less than this, so that two may be
# added and the sum of sets that are left is never taken for less than it is.
_MOST_WEIGHT = 1 << 62


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SetFamilies:
    """For each row sets of columns that must be broken, and the row of each record.

    `starts` says where the sets of each row begin, with their number at last; bit c of a member is
    column c, and its weight is what it counts while it is not broken.
    """

    starts: NDArray[np.int64]
    members: Sets
    weights: NDArray[np.int64]
    row_of: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1

    def of_record(self, record: int) -> list[int]:
        """Return the sets of a record, as numbers whose bits are columns."""
        row = self.row_of[record]
        return sorted(self.members[self.starts[row] : self.starts[row + 1]].tolist())


def rare_sets(
    problem: SuppressionProblem,
    keys: Iterable[Sequence[int]],
    dimension: int,
    *,
    thresholds: Sequence[int] = (),
    within: Sequence[int] = (),
) -> SetFamilies:
    """Return the minimal sets of up to `dimension` columns that fewer than k people share with a row.

    A set counts if it lies within one of the lists of columns in `keys`. `thresholds` has for 1, 2,
    ... columns the least number of people; k for those that are not given. Columns `within`, such
    as strata, are compared with every set and are part of none.

    Examples
    --------
    >>> rows = np.array([[1, 1], [1, 2], [2, 1], [2, 2]])
    >>> rare_sets(SuppressionProblem(rows, 2), [[0, 1]], 2).of_record(0)
    [3]
    """
    rows, row_of, blank = distinct_records(problem)
    allowed = [sum(1 << c for c in key if c not in within) for key in keys]
    always = sum(1 << c for c in within)
    n_sets = sum(
        comb(own.bit_count(), size) for own in set(allowed) for size in range(1, dimension + 1)
    )
    if len(set(allowed)) == 1 and n_sets * len(rows) > problem.max_work:
        raise too_long_at_least("Rare combinations were to be found.", n_sets, problem.max_work)
    found: list[tuple[int, NDArray[np.int64]]] = []
    rare_before: dict[int, NDArray[np.uint8]] = {}
    n_done = 0
    for size in range(1, dimension + 1):
        k = thresholds[size - 1] if size <= len(thresholds) else problem.k
        rare_now: dict[int, NDArray[np.uint8]] = {}
        for columns in _subsets(allowed, size):
            n_done += 1
            if n_done * len(rows) > problem.max_work:
                raise too_long("Rare combinations were to be found.", n_done, len(rows))
            compared = np.full(len(rows), columns | always, dtype=np.uint64)
            if problem.missing != "category":
                compared &= ~blank
            is_rare = candidates_of_rows(problem, rows, compared) < k
            if problem.missing != "category":
                # A cell that is not known is part of no combination.
                is_rare &= (blank & np.uint64(columns)) == 0
            implied = np.zeros(-(-len(rows) // 8), dtype=np.uint8)
            for column in range(problem.n_columns):
                if columns >> column & 1:
                    smaller = rare_before.get(columns ^ (1 << column))
                    if smaller is not None:
                        implied |= smaller
            known = np.unpackbits(implied, count=len(rows)).astype(np.bool_)
            found.append((columns, np.flatnonzero(is_rare & ~known)))
            rare_now[columns] = np.packbits(is_rare | known)
        rare_before = rare_now
    owners = np.concatenate([np.zeros(0, dtype=np.int64), *(rare for _, rare in found)])
    sizes = np.array([len(rare) for _, rare in found], dtype=np.int64)
    members = np.repeat(np.array([columns for columns, _ in found], dtype=np.uint64), sizes)
    return _families(owners, members, np.ones(len(members), dtype=np.int64), blank, row_of)


def scored_sets(
    problem: SuppressionProblem, records: NDArray[np.int64], offsets: NDArray[np.int64], masks: Sets
) -> SetFamilies:
    """Return MSUs, as `find_minimal_uniques` lists them, as sets with the weights of the score IS."""
    sizes_left = range(problem.n_columns, -1, -1)
    by_size = np.array([min(factorial(left), _MOST_WEIGHT) for left in sizes_left])
    members = masks.astype(np.uint64)
    owners = np.repeat(records, np.diff(offsets))
    weights = by_size[np.bitwise_count(members)].astype(np.int64)
    return _families(owners, members, weights, problem.blank, np.arange(problem.n_records))


def suppress_sets(
    problem: SuppressionProblem,
    families: SetFamilies,
    *,
    allowed: int = 0,
    only: NDArray[np.bool_] | None = None,
) -> Suppression:
    """Return the cheapest suppression that breaks the sets of every record.

    Examples
    --------
    >>> rows = np.array([[3, 1], [4, 1], [5, 2], [5, 2]])
    >>> problem = SuppressionProblem(rows, 2)
    >>> suppress_sets(problem, rare_sets(problem, [[0, 1]], 2)).suppressed.tolist()
    [1, 1, 0, 0]
    """
    from gamekeeper.algorithms.suppression.kernels import hit_in_order

    chosen = np.full(families.n_rows, -1, dtype=np.int64)
    rows = np.arange(families.n_rows)
    n_left, n_sets = len(rows), 0
    tried: list[NDArray[np.uint64]] = []
    batch: list[int] = []

    def run() -> None:
        nonlocal n_left, n_sets
        sets = np.array(batch, dtype=np.uint64)
        if (n_sets + len(sets)) * max(n_left, 1) > problem.max_work:
            raise too_long("Cells were to be suppressed.", n_sets, n_left)
        left = hit_in_order(
            *(families.starts, families.members, families.weights, rows, n_left),
            *(sets, n_sets, min(allowed, _MOST_WEIGHT - 1), chosen),
        )
        n_left, n_sets = int(left), n_sets + len(sets)
        tried.append(sets)
        batch.clear()

    for _, sets in sets_by_cost(problem.free, problem.scaled[0], problem.categories):
        batch += sets
        if len(batch) >= _AT_ONCE:
            run()
        if not n_left:
            break
    if n_left and batch:
        run()
    every = np.concatenate([*tried, np.zeros(1, dtype=np.uint64)])
    stars = every[chosen][families.row_of]
    unmet = (chosen < 0)[families.row_of]
    if only is not None:
        stars[~only] = 0
        unmet &= only
    stars &= ~problem.blank
    # To be safe, missing cells are shown as suppressed, unless nothing must be broken.
    shows_missing = problem.missing == "category" and len(families.members) > 0
    return problem.answer(
        stars | problem.blank if shows_missing else stars, stars, np.flatnonzero(unmet)
    )


def _subsets(allowed: Sequence[int], size: int) -> list[int]:
    found: dict[int, None] = {}
    for columns in allowed:
        own = [c for c in range(columns.bit_length()) if columns >> c & 1]
        for chosen in combinations(own, size):
            found[sum(1 << c for c in chosen)] = None
    return list(found)


def _families(
    owners: NDArray[np.int64],
    members: Sets,
    weights: NDArray[np.int64],
    blank: Sets,
    row_of: NDArray[np.int64],
) -> SetFamilies:
    """Return sets by the rows that own them, but for those that hold a missing cell.

    That is suppressed for nothing, and what holds it is broken.
    """
    kept = np.flatnonzero((members & blank[owners]) == 0)
    order = kept[np.argsort(owners[kept], kind="stable")]
    n_sets = np.bincount(owners[kept], minlength=len(blank))
    starts = np.concatenate([[0], np.cumsum(n_sets)]).astype(np.int64)
    return SetFamilies(starts, members[order], weights[order], row_of)


def suppress_own(problem: SuppressionProblem) -> Suppression:
    """Return a suppression after which every record is identical to k-1 others, and its gap.

    Examples
    --------
    >>> rows = np.array([[1, 1, 3], [1, 2, 3], [1, 2, 3], [1, 1, 3], [1, 3, 3]])
    >>> suppress_own(SuppressionProblem(rows, 2)).lower_bound
    Fraction(1, 1)
    """
    return solved_in_order(problem, _solved)


def _solved(problem: SuppressionProblem, bound: Fraction) -> Suppression:
    # Whatever a missing cell means, rows are identical only if it is missing in both.
    problem = replace(problem, missing="category")
    walk = _Walk(problem)
    for columns, least in _events(problem):
        walk.step(columns, least)
        if not walk.n_open:
            break
    walk.join_classes()
    sets, unmet = walk.sets(), np.sort(walk.records[: walk.n_open])
    return problem.answer(sets, sets & ~problem.blank, unmet, bound)


class _Walk:
    """Classes as they are made."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        n = problem.n_records
        self.class_of = np.full(n, -1, dtype=np.int64)
        self.class_size = np.zeros(n + 1, dtype=np.int64)
        self.class_first = np.zeros(n + 1, dtype=np.int64)
        self.class_set: list[int] = []
        self.by_set: dict[int, list[int]] = {}
        self.n_classes = 0
        self.n_open = n
        self.open_keys = problem.keys.copy()
        self.records = np.arange(n, dtype=np.int64)
        self.slots = np.empty(n_slots(n), dtype=np.int32)
        self.room = np.empty((3, max(n, 1)), dtype=np.int32)
        self.sums = np.empty(max(n, 1), dtype=np.int64)
        self.more = np.empty((2, max(n, 1)), dtype=np.int64)
        self.n_steps = 0

    def step(self, columns: int, least: int) -> None:
        from gamekeeper.algorithms.suppression.kernels import close_classes, recruit

        problem = self.problem
        self.n_steps += 1
        if self.n_steps * problem.n_records > problem.max_work:
            raise too_long("Cells were to be suppressed.", self.n_steps, self.n_open)
        kept = problem.fields.mask_without(np.uint64(columns))
        slots = self.slots[: n_slots(self.n_open)]
        slots.fill(-1)
        before = self.n_classes
        if least == 0:
            here = np.array(self.by_set.get(columns, []), dtype=np.int64)
            n_open, n_classes = close_classes(
                *(problem.keys, self.open_keys, self.records, self.n_open, kept, problem.k),
                *(self.class_first, here, self.n_classes, self.class_size, self.class_of),
                *(slots, self.room, self.sums),
            )
        else:
            n_open, n_classes = recruit(
                *(problem.keys, self.open_keys, self.records, self.n_open, kept, problem.k, least),
                *(self.class_first, self.n_classes, self.class_size, self.class_of, slots),
                *(self.room, self.sums, self.more[0], self.more[1]),
            )
        self.n_open, self.n_classes = int(n_open), int(n_classes)
        new = range(before, self.n_classes)
        self.class_set += [columns] * len(new)
        self.by_set.setdefault(columns, []).extend(new)
        if problem.progress is not None:
            problem.progress(problem.n_records - self.n_open, problem.n_records)

    def join_classes(self) -> None:
        """Let records that found no others join the class that is opened further for least."""
        problem = self.problem
        free = np.uint64(sum(1 << column for column in problem.free))
        left: list[int] = []
        for record in self.records[: self.n_open].tolist():
            sizes = self.class_size[: self.n_classes]
            before = np.array(self.class_set, dtype=np.uint64)
            first = self.class_first[: self.n_classes]
            after = before.copy()
            for column in range(problem.n_columns):
                differs = problem.codes[first, column] != problem.codes[record, column]
                after |= differs.astype(np.uint64) << np.uint64(column)
            cost = sizes * (problem.cost_of(after) - problem.cost_of(before))
            cost += problem.cost_of(after)
            # One that gave its records away is none any more.
            can = ((after & ~free) == 0) & (sizes >= problem.k)
            if not can.any():
                left.append(record)
                continue
            own = int(np.flatnonzero(can)[np.argmin(cost[can])])
            self.class_set[own] = int(after[own])
            self.class_of[record] = own
            self.class_size[own] += 1
        self.n_open = len(left)
        self.records[: self.n_open] = left

    def sets(self) -> np.ndarray:
        by_class = np.array([*self.class_set, 0], dtype=np.uint64)
        return by_class[self.class_of]


def _events(problem: SuppressionProblem) -> Iterator[tuple[int, int]]:
    """Yield sets, and from how many on to recruit, 0 to close; cheapest first."""
    k = problem.k
    scale = math.lcm(*range(1, k)) if k > 1 else 1
    levels = sets_by_cost(problem.free, problem.scaled[0], problem.categories)
    waiting: list[tuple[int, int, int, int]] = []
    number = 0
    for cost, sets in levels:
        while waiting and waiting[0][0] < cost * scale:
            yield heapq.heappop(waiting)[2:]
        for columns in sets:
            yield columns, 0
            for least in range(k - 1, 0, -1):
                if cost:
                    number += 1
                    heapq.heappush(waiting, (k * cost * scale // least, number, columns, least))
        # What was recruited at the same price comes after what is closed.
    while waiting:
        yield heapq.heappop(waiting)[2:]
