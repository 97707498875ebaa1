"""What proves that nothing cheaper is safe, and the cheapest recoding that no such proof forbids.

Let N be an unsafe recoding, or any partition of the values of each variable. Everything at least
as fine as N is unsafe as well, so that a safe recoding must choose some category that does not lie
inside a block of N. This is the cut that N stands for, and the coarser N is, the more it forbids.
Whoever doubts a result counts the classes under each N once.

Where no record may lie in a class below k, one class is enough: its box, the values that its
records may have, grows by categories that cross its border while fewer than k records are in it,
always by whole blocks of what it started from. N then tells only what is in the box from what is
not. Where some records may, either N grows by merging blocks that a category joins, while it stays
unsafe; or there is a box for each of many small classes, which says of its records that they are in
a small class under everything at least as fine, and too many such records are unsafe.

The cheapest recoding is found among every one that the choices allow, which cuts make fewer. Where
there are few, they are listed once in order of loss, and a cut strikes out a block of the list.
Where there are many, HiGHS solves an integer program: one binary per category (or per way, where
ways are listed), every value in exactly one category, at least as many categories as asked for, and
per cut at least one that is not inside it. A cut that only says that some records are then in a
small class makes them count, and the count has its limit. One thread and a fixed seed: the same
answer every time. HiGHS calculates in floating point, with tolerances far below the difference that
is told: losses are scaled so that the largest is 1,000, and a bound is believed to one part in ten
million.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.partitions import joined_blocks
from gamekeeper.algorithms.linear_programs import Status, run_once, silent_solver
from gamekeeper.algorithms.recoding_search.choices import (
    Choice,
    Chosen,
    ClassCounter,
    ClassTable,
    ClassTarget,
    MonotoneAttack,
    SmallClasses,
    Target,
    categories_inside,
    total_loss,
)


@dataclass(frozen=True, eq=False, slots=True)
class UnsafeRecoding:
    """A partition of the values of each variable under which a target is missed.

    Equal labels are one block; `inside` tells of each variable which of its categories lie in a
    block, and `target` is the number of what is missed. `rows` are the different records that are
    in a small class under it, where that alone does not miss the target; empty where it does.
    """

    labels: tuple[NDArray[np.int32], ...]
    inside: tuple[NDArray[np.bool_], ...]
    target: int
    rows: tuple[int, ...] = ()

    @property
    def key(self) -> bytes:
        """What is the same for cuts that forbid the same."""
        inside = b"".join(np.packbits(own).tobytes() for own in self.inside)
        return inside + repr(self.rows).encode()


class UnsafeGrower:
    """Makes unsafe recodings coarser while they stay unsafe."""

    def __init__(
        self,
        choices: Sequence[Choice],
        counter: ClassCounter,
        targets: Sequence[Target],
        *,
        by_rows: bool = False,
    ) -> None:
        self._by_rows = by_rows
        self._choices = choices
        self._counter = counter
        self._targets = targets
        # Cheap ones first: those that are left are dear, and one of them must be chosen.
        costs = np.concatenate([choice.losses for choice in choices])
        self._variables = np.repeat(
            np.arange(len(choices)), [len(choice.categories) for choice in choices]
        )
        self._order = np.lexsort((np.arange(len(costs)), costs))
        self._steps = merging_steps(choices)

    def grown(
        self,
        labels: Sequence[NDArray[np.int32]],
        table: ClassTable | None,
        missed: Sequence[int],
        most: int,
    ) -> Iterator[UnsafeRecoding]:
        """Yield maximal unsafe recodings that are coarser than one that misses some targets."""
        for number in missed:
            target = self._targets[number]
            if isinstance(target, MonotoneAttack):
                yield self._cut(self._by_attack(labels, target), number)
            else:
                assert table is not None
                if isinstance(target, SmallClasses) and (target.most == 0 or self._by_rows):
                    yield from self._by_boxes(labels, table, target, number, most)
                else:
                    yield self._cut(self._by_classes(labels, table, target), number)

    def _cut(self, labels: Sequence[NDArray[np.int32]], target: int) -> UnsafeRecoding:
        return UnsafeRecoding(tuple(labels), categories_inside(self._choices, labels), target)

    def _by_boxes(
        self,
        labels: Sequence[NDArray[np.int32]],
        table: ClassTable,
        target: SmallClasses,
        number: int,
        most: int,
    ) -> Iterator[UnsafeRecoding]:
        small = np.flatnonzero(table.sizes < target.k)
        small = small[np.argsort(table.sizes[small], kind="stable")]
        # So many small classes that their records are too many.
        needed = int(np.searchsorted(np.cumsum(table.counts[small]), target.most, "right")) + 1
        n_boxes = min(max(most, 2 * needed if target.most else 1), len(small))
        places = np.linspace(0, len(small) - 1, n_boxes).astype(np.int64)
        if target.most and n_boxes < len(small):
            places = np.union1d(places, np.arange(needed))
        n_variables = len(self._choices)
        boxes = _Boxes(self._choices, labels, self._counter, table)
        for turn, place in enumerate(small[places].tolist()):
            # Each time another variable comes last, so that cuts differ.
            later = self._variables[self._order] == turn % n_variables
            order = np.concatenate([self._order[~later], self._order[later]])
            grown = boxes.grown(place, target.k, order)
            cut = self._cut(grown, number)
            yield cut if not target.most else replace(cut, rows=self._in_box(grown))

    def _in_box(self, labels: Sequence[NDArray[np.int32]]) -> tuple[int, ...]:
        rows = self._counter.records.rows
        inside = np.ones(len(rows), dtype=bool)
        for variable, own in enumerate(labels):
            inside &= own[rows[:, variable]] == 1
        return tuple(np.flatnonzero(inside).tolist())

    def _by_classes(
        self, labels: Sequence[NDArray[np.int32]], table: ClassTable, target: ClassTarget
    ) -> list[NDArray[np.int32]]:
        found = [own.copy() for own in labels]
        measure = int(target.shares(table).sum())
        for variable, blocks in self._steps:
            own = found[variable]
            merged = joined_blocks(own, blocks)
            if merged is None:
                continue
            # Only classes in blocks that are merged can change.
            one_of_each = np.unique(own, return_index=True)[1]
            n_before = np.bincount(merged[one_of_each], minlength=len(own))
            is_touched = n_before[merged[self._counter.values(table, variable)]] > 1
            touched = table.part(is_touched)
            apart = measure - int(target.shares(touched).sum())
            trial = [*found[:variable], merged, *found[variable + 1 :]]
            after = self._counter.count(trial, touched)
            would_be = apart + int(target.shares(after).sum())
            if would_be > target.most:
                found, measure = trial, would_be
                table = table.part(~is_touched).joined(after)
        return found

    def _by_attack(
        self, labels: Sequence[NDArray[np.int32]], target: MonotoneAttack
    ) -> list[NDArray[np.int32]]:
        """Merge whole variables first, then the dearest steps: each try is an attack."""
        found = [own.copy() for own in labels]
        whole = [(variable, [range(len(own))]) for variable, own in enumerate(found)]
        for variable, blocks in [*whole, *self._steps[::-1]]:
            merged = joined_blocks(found[variable], blocks)
            if merged is not None:
                trial = [*found[:variable], merged, *found[variable + 1 :]]
                if target.measure(trial) > target.most:
                    found = trial
        return found


Blocks = Sequence[Sequence[int]]


def merging_steps(choices: Sequence[Choice]) -> list[tuple[int, Blocks]]:
    """Return what can be merged, of all variables, cheapest first: categories, or listed ways."""
    steps: list[tuple[float, int, int, Blocks]] = []
    for variable, choice in enumerate(choices):
        for number, way in enumerate(choice.columns):
            blocks = [choice.categories[own] for own in way if len(choice.categories[own]) > 1]
            steps.append((choice.loss(way), variable, number, blocks))
    return [(variable, blocks) for _, variable, _, blocks in sorted(steps, key=lambda s: s[:3])]


class _Boxes:
    """Boxes of blocks of a recoding, over all variables: block b of variable v is offsets[v] + b."""

    def __init__(
        self,
        choices: Sequence[Choice],
        labels: Sequence[NDArray[np.int32]],
        counter: ClassCounter,
        table: ClassTable,
    ) -> None:
        self._labels = labels
        self._sizes = table.sizes
        n_blocks = [int(own.max(initial=0)) + 1 for own in labels]
        self._offsets = np.concatenate([[0], np.cumsum(n_blocks)]).astype(np.int64)
        self._rows = np.column_stack(
            [own[counter.values(table, variable)] for variable, own in enumerate(labels)]
        ).astype(np.int32)
        n_rows, n_variables = self._rows.shape
        flat = (self._rows + self._offsets[:-1]).ravel()
        self._of_block = np.argsort(flat, kind="stable") // n_variables
        counts = np.bincount(flat, minlength=int(self._offsets[-1]))
        self._starts_of_block = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._members, self._starts = self._touched(choices)
        self._misses = np.empty(n_rows, np.int32)
        self._near = np.empty(int(self._offsets[-1]), np.int64)

    def _touched(self, choices: Sequence[Choice]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the blocks that each category touches."""
        blocks: list[NDArray[np.int64]] = []
        sizes: list[NDArray[np.int64]] = []
        for choice, own, first in zip(choices, self._labels, self._offsets.tolist(), strict=False):
            n_categories = len(choice.categories)
            category = np.repeat(np.arange(n_categories), np.diff(choice.starts))
            n_blocks = int(own.max(initial=0)) + 1
            pairs = np.unique(category * n_blocks + own[choice.members])
            blocks.append(first + pairs % n_blocks)
            sizes.append(np.bincount(pairs // n_blocks, minlength=n_categories))
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        return np.concatenate(blocks), starts

    def grown(self, place: int, k: int, order: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        """Let the box of a class grow; return for each variable which values are in it, as 1 and 0."""
        from gamekeeper.algorithms.recoding_search.class_kernels import grow_box

        box = np.zeros(len(self._near), np.uint8)
        box[self._offsets[:-1] + self._rows[place]] = 1
        grow_box(
            self._rows,
            self._sizes,
            self._offsets,
            self._of_block,
            self._starts_of_block,
            order,
            self._members,
            self._starts,
            k,
            box,
            self._misses,
            self._near,
        )
        return [
            box[first + own].astype(np.int32)
            for own, first in zip(self._labels, self._offsets.tolist(), strict=False)
        ]


BELIEVED = 1e-7
"""Two losses are the same where they differ by at most this share."""

_LARGEST = 1000.0
_SEED = 20311
_FEASIBLE = 2


@dataclass(frozen=True, slots=True)
class MasterAnswer:
    """The cheapest recoding that is left; None where there is none or time ran out before one.

    `bound` is proven: nothing that is left loses less. It is infinite where nothing is left.
    """

    chosen: Chosen | None
    bound: float
    is_cheapest: bool


def sums_of_one_each(parts: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Return the sums of one number of each list, an axis per list.

    Examples
    --------
    >>> sums_of_one_each([[1, 2], [10, 20, 30]]).tolist()
    [[11.0, 21.0, 31.0], [12.0, 22.0, 32.0]]
    """
    total = np.zeros(1)
    for own in parts:
        total = (total[:, None] + np.array(own)[None, :]).ravel()
    return total.reshape([len(own) for own in parts])


def listed_losses(choices: Sequence[Choice]) -> NDArray[np.float64]:
    """Return what each recoding loses, an axis per variable, where all ways are listed."""
    return sums_of_one_each([[choice.loss(way) for way in choice.ways or ()] for choice in choices])


class ListedMaster:
    """All recodings in order of loss, where every choice has its ways listed."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._ways = [choice.ways or () for choice in choices]
        losses = listed_losses(choices)
        self._losses = losses.ravel()
        self._order = np.argsort(self._losses, kind="stable")
        self._is_left = np.ones(losses.shape, dtype=bool)
        self._at = 0

    def cheapest(self, seconds: float | None = None, slack: float = 0.0) -> MasterAnswer:
        """Return the cheapest recoding that is left."""
        left = self._is_left.reshape(-1)
        while self._at < len(self._order) and not left[self._order[self._at]]:
            # By blocks: most of the list is struck out by few cuts.
            ahead = left[self._order[self._at : self._at + 1024]]
            self._at += int(ahead.argmax()) if ahead.any() else len(ahead)
        if self._at >= len(self._order):
            return MasterAnswer(None, inf, is_cheapest=True)
        number = int(self._order[self._at])
        places = np.unravel_index(number, self._is_left.shape)
        chosen = tuple(ways[place] for ways, place in zip(self._ways, places, strict=True))
        return MasterAnswer(chosen, float(self._losses[number]), is_cheapest=True)

    def forbid(self, cut: UnsafeRecoding) -> None:
        """Strike out everything at least as fine as an unsafe recoding."""
        finer = [
            np.flatnonzero([bool(inside[list(way)].all()) for way in ways])
            for ways, inside in zip(self._ways, cut.inside, strict=True)
        ]
        self._is_left[np.ix_(*finer)] = False

    def leave_out(self, chosen: Chosen) -> None:
        """Strike out one recoding."""
        places = tuple(ways.index(own) for ways, own in zip(self._ways, chosen, strict=True))
        self._is_left[places] = False


class CoverMaster:
    """The integer program.

    `counts` says how many records each of the different ones stands for, and `most` how many may be
    in small classes.
    """

    def __init__(
        self, choices: Sequence[Choice], counts: NDArray[np.int64] | None = None, most: int = 0
    ) -> None:
        self._counts = counts
        self._small: dict[int, int] = {}
        self._choices = choices
        self._columns = [choice.columns for choice in choices]
        costs = np.array(
            [
                choice.loss(own)
                for choice, columns in zip(choices, self._columns, strict=True)
                for own in columns
            ]
        )
        self._first = np.concatenate([[0], np.cumsum([len(own) for own in self._columns])])
        dearest = float(costs.max(initial=0.0))
        self._scale = _LARGEST / dearest if dearest > 0 else 1.0
        self._highs = silent_solver(
            random_seed=_SEED, mip_rel_gap=0.0, mip_abs_gap=1e-7, mip_feasibility_tolerance=1e-9
        )
        self._highs.addVars(len(costs), np.zeros(len(costs)), np.ones(len(costs)))
        numbers = np.arange(len(costs), dtype=np.int32)
        self._highs.changeColsCost(len(costs), numbers, costs * self._scale)
        self._highs.changeColsIntegrality(len(costs), numbers, np.ones(len(costs), dtype=np.uint8))
        self._row(-inf, float(most), np.zeros(0, dtype=np.int64))
        for choice, first in zip(choices, self._first.tolist(), strict=False):
            self._cover(choice, first)

    def cheapest(self, seconds: float | None = None, slack: float = 0.0) -> MasterAnswer:
        """Return the cheapest recoding that is left, or one within a share of the cheapest."""
        # The clock of HiGHS runs on from one call to the next.
        ends = inf if seconds is None else self._highs.getRunTime() + max(seconds, 0.01)
        self._highs.setOptionValue("time_limit", ends)
        self._highs.setOptionValue("mip_rel_gap", slack)
        status = run_once(self._highs)
        if status in (Status.EMPTY, Status.EMPTY_OR_ENDLESS):
            return MasterAnswer(None, inf, is_cheapest=True)
        info, solution = self._highs.getInfo(), self._highs.getSolution()
        bound = float(info.mip_dual_bound) / self._scale
        chosen = None
        if solution.value_valid and info.primal_solution_status == _FEASIBLE:
            chosen = self._read(np.array(solution.col_value))
        is_cheapest = False
        if chosen is not None:
            loss = total_loss(self._choices, chosen)
            is_cheapest = status is Status.OPTIMAL and (
                slack == 0 or bound >= loss * (1 - BELIEVED)
            )
            bound = loss if is_cheapest else min(bound, loss)
        return MasterAnswer(chosen, max(bound, 0.0), is_cheapest)

    def forbid(self, cut: UnsafeRecoding) -> None:
        """Strike out everything at least as fine as an unsafe recoding."""
        columns = self.crossing(cut.inside)
        if not cut.rows:
            self._row(1.0, inf, columns)
        for row in cut.rows:
            self._row(1.0, inf, np.append(columns, self._of_row(row)))

    def crossing(self, given: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
        """Return the columns that do not lie inside blocks, given which categories do."""
        others = np.concatenate(
            [
                ~inside
                if choice.ways is None
                else np.array([not inside[list(w)].all() for w in columns])
                for choice, columns, inside in zip(self._choices, self._columns, given, strict=True)
            ]
        )
        return np.flatnonzero(others)

    def _of_row(self, row: int) -> int:
        """Return the column that tells whether a record is in a small class."""
        assert self._counts is not None
        if row not in self._small:
            self._small[row] = self._highs.getNumCol()
            limit = np.zeros(1, dtype=np.int32)
            self._highs.addCol(0.0, 0.0, 1.0, 1, limit, np.array([float(self._counts[row])]))
        return self._small[row]

    def leave_out(self, chosen: Chosen) -> None:
        """Strike out one recoding."""
        taken = [
            first + columns.index(way)
            for choice, columns, first, own in zip(
                self._choices, self._columns, self._first.tolist(), chosen, strict=False
            )
            for way in ([own] if choice.ways is not None else [(number,) for number in own])
        ]
        self._row(-inf, len(taken) - 1.0, np.array(taken))

    def _cover(self, choice: Choice, first: int) -> None:
        if choice.ways is not None:
            self._row(1.0, 1.0, first + np.arange(len(choice.ways)))
            return
        by_value: list[list[int]] = [[] for _ in range(choice.n_values)]
        for number, category in enumerate(choice.categories):
            for value in category:
                by_value[value].append(first + number)
        # Values that the same categories hold need one row.
        for columns in dict.fromkeys(map(tuple, by_value)):
            self._row(1.0, 1.0, np.array(columns, dtype=np.int64))
        if choice.least > 1:
            self._row(float(choice.least), inf, first + np.arange(len(choice.categories)))

    def _row(self, low: float, high: float, columns: NDArray[np.integer]) -> None:
        self._highs.addRow(low, high, len(columns), columns.astype(np.int32), np.ones(len(columns)))

    def _read(self, values: NDArray[np.float64]) -> Chosen:
        chosen: list[tuple[int, ...]] = []
        for number, choice in enumerate(self._choices):
            first, end = self._first[number], self._first[number + 1]
            taken = np.flatnonzero(values[first:end] > 0.5).tolist()
            chosen.append(tuple(taken) if choice.ways is None else self._columns[number][taken[0]])
        return tuple(chosen)


def most_categories(choice: Choice) -> int | None:
    """Return how many categories a categorization can have at most; None where there is none.

    Examples
    --------
    >>> most_categories(Choice(3, ((0,), (1, 2), (0, 1, 2)), np.zeros(3)))
    2
    """
    found = _extreme(choice, -1.0)
    return None if found is None else len(found)


def fewest_categories(choice: Choice) -> tuple[int, ...] | None:
    """Return a categorization of fewest categories; None where there is none.

    Examples
    --------
    >>> fewest_categories(Choice(3, ((0,), (1, 2), (0, 1, 2)), np.zeros(3)))
    (2,)
    """
    return _extreme(choice, 1.0)


def nearest_recoding(
    choices: Sequence[Choice], shares: Sequence[NDArray[np.float64]]
) -> Chosen | None:
    """Return the recoding that is nearest to what is chosen in parts; None where there is none.

    Examples
    --------
    >>> bands = Choice(2, ((0,), (1,), (0, 1)), np.zeros(3))
    >>> nearest_recoding([bands], [np.array([0.4, 0.4, 0.6])])
    ((2,),)
    """
    near = [
        replace(choice, losses=(1 - own) * np.diff(choice.starts))
        for choice, own in zip(choices, shares, strict=True)
    ]
    return CoverMaster(near).cheapest().chosen


def _extreme(choice: Choice, sign: float) -> tuple[int, ...] | None:
    if choice.ways is not None:
        fitting = [way for way in choice.ways if len(way) >= choice.least]
        return min(fitting, key=lambda way: (sign * len(way), way), default=None)
    # Every categorization has the same sum of sizes, which keeps the costs from falling below 0.
    size = np.array([len(category) for category in choice.categories], dtype=np.float64)
    costs = size - 1.0 if sign < 0 else np.ones(len(size))
    answer = CoverMaster([replace(choice, losses=costs)]).cheapest()
    return None if answer.chosen is None else answer.chosen[0]
