"""Maximal unsafe recodings: what proves that nothing cheaper is safe.

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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.recoding_search.choices import Choice, categories_inside
from gamekeeper.algorithms.recoding_search.class_tables import ClassCounter, ClassTable
from gamekeeper.algorithms.recoding_search.targets import (
    ClassTarget,
    MonotoneAttack,
    SmallClasses,
    Target,
)


@dataclass(frozen=True, eq=False, slots=True)
class UnsafeRecoding:
    """A partition of the values of each variable under which a target is missed.

    Attributes
    ----------
    labels
        The partitions: equal labels are one block.
    inside
        Of each variable, which of its categories lie in a block.
    target
        The number of the target that is missed.
    rows
        Which of the different records are in a small class under it, where that alone does not
        miss the target; empty where it does.
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


def joined_blocks(labels: NDArray[np.int32], blocks: Blocks) -> NDArray[np.int32] | None:
    """Return the finest partition in which every block is together; None where it is the same.

    Labels stay below the number of values.

    Examples
    --------
    >>> joined_blocks(np.array([0, 0, 1, 2], np.int32), [[1, 2]]).tolist()
    [0, 0, 0, 2]
    """
    found = labels
    for block in blocks:
        together = np.unique(found[list(block)])
        if len(together) > 1:
            found = np.where(np.isin(found, together), together[0], found).astype(np.int32)
    return None if found is labels else found


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
