"""What is asked of a suppression, what one is, and sets of columns in the order of their cost.

Every record has its own set of suppressed columns, a whole number: bit c is column c. A cell costs
what its variable costs, times the weight of the record if that is asked; a cell that was missing
before costs nothing. Costs are exact: whole numbers, after all were multiplied by a common
denominator. Of sets that cost the same, the one with the variable of most categories comes first,
then the one whose second has most, and so on. That rule matters: on a public test file of 4,580
records, ties broken by the order of columns suppress the same 1,723 cells and leave 595 people with
one candidate, this rule 106.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms import classes
from gamekeeper.errors import LimitError, Problem, Reason, refuse
from gamekeeper.results import Progress
from gamekeeper.wording import count_of, percent_text

Sets = NDArray[np.uint64]


def whole_costs(costs: Sequence[float | int | Fraction | str]) -> tuple[list[int], int]:
    """Return costs as whole numbers, and by what they were multiplied.

    Examples
    --------
    >>> whole_costs([1, 0.5, "1/4"])
    ([4, 2, 1], 4)
    """
    exact = [Fraction(str(cost)) if isinstance(cost, float) else Fraction(cost) for cost in costs]
    scale = math.lcm(*(cost.denominator for cost in exact)) if exact else 1
    return [int(cost * scale) for cost in exact], scale


def sets_by_cost(
    columns: Sequence[int], costs: Sequence[int], n_categories: Sequence[int]
) -> Iterator[tuple[int, list[int]]]:
    """Yield, cost by cost from 0 on, the sets of columns of that cost, as numbers whose bits they are.

    Costs are whole numbers above 0. Sets of the same cost are ordered by the numbers of categories.

    Examples
    --------
    >>> list(sets_by_cost([0, 1], [1, 1], [2, 9]))
    [(0, [0]), (1, [2, 1]), (2, [3])]
    """
    ordered = sorted(columns, key=lambda column: (costs[column], column))

    def rule(members: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        own = sorted((ordered[i] for i in members), key=lambda c: (-n_categories[c], c))
        return tuple(-n_categories[c] for c in own), tuple(own)

    yield 0, [0]
    if not ordered:
        return
    # Each set comes once: from the one without its last member, or with the one before it.
    heap: list[tuple[int, tuple[int, ...]]] = [(costs[ordered[0]], (0,))]
    while heap:
        cost = heap[0][0]
        same: list[tuple[int, ...]] = []
        while heap and heap[0][0] == cost:
            _, members = heapq.heappop(heap)
            same.append(members)
            last = members[-1]
            if last + 1 < len(ordered):
                more = costs[ordered[last + 1]]
                heapq.heappush(heap, (cost + more, (*members, last + 1)))
                swapped = cost - costs[ordered[last]] + more
                heapq.heappush(heap, (swapped, (*members[:-1], last + 1)))
        same.sort(key=rule)
        yield cost, [sum(1 << ordered[i] for i in members) for members in same]


def n_sets_below(costs: Sequence[int], limit: int) -> int:
    """Return how many sets of columns cost less than a limit, without going through them.

    Examples
    --------
    >>> n_sets_below([1, 1, 2], 3)
    5
    """
    by_cost = {0: 1}
    for cost in costs:
        more = dict(by_cost)
        for known, number in by_cost.items():
            if known + cost < limit:
                more[known + cost] = more.get(known + cost, 0) + number
        by_cost = more
    return sum(number for known, number in by_cost.items() if known < limit)


MAX_WORK = 1 << 36
_PER_RECORD, _PER_CELL = 300, 16


@dataclass(frozen=True, repr=False, eq=False)
class SuppressionProblem:
    """A file whose cells may be suppressed.

    - `codes`: a row per record and a column per variable; 0 is a missing cell.
    - `k`: how many candidates there are to be.
    - `costs`: what a cell of each column costs, above 0; 1 each when empty.
    - `pinned`: columns that are never suppressed.
    - `missing`: what a missing cell is: "category" (a value as any other), "ignore" (never equal,
      never known) or "wildcard" (not known of the people, so that they fit anything there).
    - `counts`: what each record counts for k, such as a weight, as a whole number; 1 each when
      None.
    - `n_categories`: by which sets of the same cost are ordered; those that occur when empty.
    - `opened`: for each record columns that are suppressed already, at no further cost; none when
      None. People are known by their codes all the same.
    - `max_work`: rows times sets of columns, above which the work is given up.
    """

    codes: classes.Codes
    k: int
    costs: Sequence[Any] = ()
    pinned: Sequence[int] = ()
    missing: str = "category"
    counts: NDArray[np.int64] | None = None
    n_categories: Sequence[int] = ()
    max_work: int = MAX_WORK
    progress: Progress | None = field(default=None)
    opened: Sets | None = None

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return self.codes.shape[1]

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return len(self.codes)

    @cached_property
    def scaled(self) -> tuple[list[int], int]:
        """The costs of columns as whole numbers, and by what they were multiplied."""
        return whole_costs(self.costs or [1] * self.n_columns)

    @cached_property
    def categories(self) -> list[int]:
        """How many categories of each column occur."""
        if self.n_categories:
            return list(self.n_categories)
        return [len(np.unique(self.codes[:, c])) for c in range(self.n_columns)]

    @cached_property
    def free(self) -> list[int]:
        """The columns that may be suppressed."""
        return [column for column in range(self.n_columns) if column not in self.pinned]

    @cached_property
    def fields(self) -> classes.KeyFields:
        """Where the columns are in a packed row."""
        return classes.KeyFields.for_codes(self.codes)

    @cached_property
    def keys(self) -> classes.Keys:
        """The records as packed rows."""
        return self.fields.pack(self.codes)

    @cached_property
    def blank(self) -> Sets:
        """For each record the columns that are missing, or suppressed already."""
        return self.missing_cells if self.opened is None else self.missing_cells | self.opened

    @cached_property
    def missing_cells(self) -> Sets:
        """For each record the columns that are missing."""
        found = np.zeros(self.n_records, dtype=np.uint64)
        for column in range(self.n_columns):
            found |= (self.codes[:, column] == 0).astype(np.uint64) << np.uint64(column)
        return found

    @property
    def every(self) -> np.uint64:
        """The set of all columns."""
        return self.fields.every

    @cached_property
    def column_masks(self) -> classes.Keys:
        """The bits of the field of each column."""
        return self.fields.masks(np.uint64(1) << np.arange(self.n_columns, dtype=np.uint64))

    @cached_property
    def people(self) -> classes.DistinctRows:
        """The different keys of people, with what is not known of them left open."""
        unknown = self.missing_cells if self.missing == "wildcard" else None
        return classes.distinct_rows(self.fields, self.keys, unknown, self.counts)

    def in_order(self) -> tuple[SuppressionProblem, NDArray[np.int64]]:
        """Return the same problem with records in the order of their codes, and the places of these.

        What is solved in that order does not depend on the order of the records.
        """
        (numbers,) = classes.class_numbers(self.codes)
        first = [] if self.opened is None else [self.opened]
        order = np.lexsort([*first, numbers])
        counts = None if self.counts is None else self.counts[order]
        own = replace(
            self,
            codes=self.codes[order],
            counts=counts,
            n_categories=tuple(self.categories),
            opened=None if self.opened is None else self.opened[order],
        )
        return own, order

    def group_masks(self) -> classes.Keys:
        """Return the fields that are known of each group of people."""
        return self.fields.masks(self.every & ~self.people.open)

    def cost_of(self, sets: Sets) -> NDArray[np.int64]:
        """Return what sets of columns cost, multiplied as `scaled` says."""
        total = np.zeros(len(sets), dtype=np.int64)
        for column, cost in enumerate(self.scaled[0]):
            total += ((sets >> np.uint64(column)) & np.uint64(1)).astype(np.int64) * cost
        return total

    def answer(
        self,
        stars: Sets,
        suppressed: Sets,
        unmet: NDArray[np.int64],
        lower_bound: Fraction | None = None,
    ) -> Suppression:
        """Return a suppression with what it costs; nothing costs less where no bound is given."""
        cost = Fraction(int(self.cost_of(suppressed).sum()), self.scaled[1])
        bound = cost if lower_bound is None else lower_bound
        is_optimal = cost == bound and not len(unmet)
        return Suppression(stars, suppressed, cost, bound, is_optimal, unmet)

    def __post_init__(self) -> None:
        problems: list[Problem] = []
        if self.codes.ndim != 2 or not 1 <= self.codes.shape[1] <= classes.MOST_COLUMNS:
            told = f"they are not 1 to {classes.MOST_COLUMNS} columns."
            problems.append(Problem(Reason.WRONG_SCHEMA, "codes", told))
        else:
            whole = self.n_records if self.counts is None else int(self.counts.sum())
            if self.k < 2:
                told = f"it is {self.k}."
                problems.append(Problem(Reason.BAD_OPTION, "k", told, "Ask for 2 or more."))
            elif self.k > whole:
                told = f"it is more than {'there are records' if self.counts is None else 'the weights sum to'}."
                problems.append(Problem(Reason.BAD_OPTION, "k", told, "Ask for a smaller k."))
            if self.costs and len(self.costs) != self.n_columns:
                told = "there is not one per column."
                problems.append(Problem(Reason.WRONG_SCHEMA, "costs", told))
            elif any(Fraction(str(cost)) <= 0 for cost in self.costs):
                problems.append(Problem(Reason.BAD_OPTION, "costs", "not all are above 0."))
        refuse(
            problems,
            "Cells were to be suppressed.",
            f"{count_of(len(problems), 'option')} cannot be used.",
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Suppression:
    """Which cells to suppress.

    `stars` has for each record the set of columns that are to be shown as suppressed. Cells that
    were missing are among them where that helps, since it costs nothing; `suppressed` is the same
    without these: what is lost. Every suppression that reaches the same costs at least
    `lower_bound`. `unmet` are records that no suppression of free columns could help.
    """

    stars: Sets
    suppressed: Sets
    cost: Fraction
    lower_bound: Fraction
    is_optimal: bool
    unmet: NDArray[np.int64]

    def put_back(self, order: NDArray[np.int64]) -> Suppression:
        """Return it for records that were in another order, at these places."""
        stars, suppressed = np.empty_like(self.stars), np.empty_like(self.suppressed)
        stars[order], suppressed[order] = self.stars, self.suppressed
        return replace(self, stars=stars, suppressed=suppressed, unmet=np.sort(order[self.unmet]))

    @property
    def n_cells(self) -> int:
        """How many cells are suppressed."""
        return int(np.bitwise_count(self.suppressed).sum())

    @property
    def n_records(self) -> int:
        """How many records have a suppressed cell."""
        return int(np.count_nonzero(self.suppressed))

    @property
    def gap(self) -> float:
        """By what share it may be dearer than the cheapest."""
        if self.is_optimal or self.cost == self.lower_bound:
            return 0.0
        return float((self.cost - self.lower_bound) / self.lower_bound) if self.lower_bound else 1.0

    def __repr__(self) -> str:
        return (
            f"Suppression({count_of(self.n_cells, 'cell')} of {count_of(self.n_records, 'record')},"
            f" gap {percent_text(self.gap)})"
        )


def suppression_bytes(n_records: int, n_columns: int) -> int:
    """Return about how many bytes a suppression takes at its peak; measured with 20,000 and 80,000 records."""
    return n_records * (_PER_RECORD + _PER_CELL * n_columns)


def too_long_at_least(asked: str, n_sets: int, max_work: int) -> LimitError:
    """Return the error that the work would be too much, told before it begins."""
    return LimitError(
        Reason.TOO_LARGE,
        asked,
        f"At least {n_sets:,} sets of variables would have to be tried, and the limit of the work"
        f" ({max_work:,} rows times sets) does not allow for them.",
        "Take fewer key variables, make some coarser first (a recode), look at combinations of few"
        " variables (--step 'suppress criterion=released_to_people dimension=3'), or raise max_work"
        " (--max-work).",
    )


def too_long(asked: str, done: int, left: int) -> LimitError:
    """Return the error that the work was given up."""
    return LimitError(
        Reason.TOO_LARGE,
        asked,
        f"After {done:,} sets of variables, {count_of(left, 'different row')} had no answer, and the"
        " limit of the work is reached.",
        "Take fewer key variables, make some coarser first (a recode), or raise max_work (--max-work).",
    )
