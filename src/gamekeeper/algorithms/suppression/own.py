"""Suppression into classes of at least k identical rows, a suppressed cell being equal to its like only.

Sets of columns are walked in the order of their cost. Records without a class that agree on what is
left become one if they are k, or join one that is suppressed in the same columns. Where they are
fewer, u of k, they recruit records of classes with more than k, which then lose the same cells; that
is done when the walk has come to k/u times the cost, which is what each of them then costs. The last
few, whom no class can spare anybody, join the class that is opened further for least.

The answer is no optimum (finding one is NP-hard); the cost of the cheapest (k,1) suppression is a
lower bound, and the gap is told.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gamekeeper.algorithms.compatibility.candidates import n_slots
from gamekeeper.algorithms.suppression.column_sets import sets_by_cost
from gamekeeper.algorithms.suppression.problem import (
    Suppression,
    SuppressionProblem,
    too_long,
)
from gamekeeper.algorithms.suppression.released_to_people import solved_in_order


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
        from gamekeeper.algorithms.suppression.own_kernels import close_classes, recruit

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
        """Return the suppressed columns of each record."""
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
