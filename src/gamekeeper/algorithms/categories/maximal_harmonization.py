"""How finely a target can be matched against N forms, for every N, on one variable or several.

For a target categorization x0 and forms with categorizations x1 .. xS, the maximal harmonization
for a threshold N is H(x0, y1, .., yN) with the most categories over all choices of N forms (Smith
and Elliot, section 5). A harmonization v qualifies when it is coarser than the target and at least
N forms have categorizations that refine it.

Only harmonizations coarser than the target can qualify, so everything happens on the blocks of the
target: each form merges some of them, and the size of a harmonization is the number of blocks less
the rank of the merges. Where the merges fall into parts that share no cycle and no categorization
(`independent_parts`), rank and number of forms add up over the parts. Each part has its own small
harmonization graph, and the parts are combined by the best sum for each rank. So the answer is
exact even where the harmonization graph of the whole would have 2^n - 1 nodes, as long as that
comes from independent parts.

A single part can still be too large for its graph. It is then searched from both ends, and what the
search has not seen is bounded. For a threshold the answer is exact if nothing unseen could be
finer; the list of maximal harmonizations is complete if nothing unseen could be as fine. One form
and all forms can always be answered; in between it can happen that a threshold cannot, and that is
said, never guessed.

On several variables, every form is a row of categorizations, one for each variable that the target
has: a partition of the sinks that count, or None where the form does not ask for the variable. A
set of forms can be matched together on the variables that all of them have, each at the
harmonization of the target's categorization and theirs. The size of such a composite key is the
number of combinations of categories that are possible; arbitrary precision counts as beyond any
number. This is the multivariate harmonization that Smith and Elliot name in their discussion,
restricted to variables that the same forms hold.

`largest_keys` is exact: keys are looked at from the largest down, each made coarser by one further
form at a time. A coarser key never has more combinations, so the first that N forms hold is a
largest one. The number of keys looked at can be exponential in the number of different rows, so the
search ends at a limit, and what it has not reached is not known.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories import harmonization
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Arbitrary,
    Partition,
    join,
    join_partitions,
)
from gamekeeper.errors import LimitError, Reason
from gamekeeper.prompt_syntax import MAX_NODES
from gamekeeper.results import Progress

# Splitting costs more than it saves on graphs up to about this size, and so does searching.
_WHOLE_BELOW = 2_048
_SEARCHED_ABOVE = 2_048

_Front = Sequence[int]
"""The most forms that can be matched at the price of 0, 1, 2 .. ranks (merged blocks)."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One independent part: for each of its nodes the rank, the forms below it, the merges.

    `unknown` is the front of the nodes that were not found, empty where all were.
    """

    ranks: NDArray[np.int64]
    weights: NDArray[np.int64]
    partition: Callable[[int], Partition]
    unknown: _Front

    def front(self) -> _Front:
        best = np.zeros(int(self.ranks.max()) + 1, dtype=np.int64)
        np.maximum.at(best, self.ranks, self.weights)
        return np.maximum.accumulate(best).tolist()


class MaximalHarmonizations:
    """Answers for one variable: the maximal harmonizations for any threshold.

    `counts` has the number of forms with each observed categorization (those of the target
    excluded). `max_nodes` bounds the harmonizations that are searched for an independent part;
    `progress` is told now and then how many categorizations of one are done.

    Examples
    --------
    >>> target = Partition.from_labels([0, 0, 1, 1])
    >>> forms = {Partition.from_labels([0, 1, 1, 2]): 1, target: 1}
    >>> answers = MaximalHarmonizations(target, forms)
    >>> [answers.size(n) for n in (1, 2)]
    [2, 1]
    """

    def __init__(
        self,
        target: Partition | Arbitrary,
        counts: Mapping[Partition | Arbitrary, int],
        *,
        max_nodes: int = MAX_NODES,
        progress: Progress | None = None,
    ) -> None:
        self.target = target
        self.n_forms = sum(counts.values())
        self._arbitrary = counts.get(ARBITRARY, 0)
        partitions = {
            categorization: count
            for categorization, count in counts.items()
            if isinstance(categorization, Partition) and count > 0
        }
        if isinstance(target, Partition):
            self._base = target
        else:
            # A target of arbitrary precision stands below all partitions: start at the finest.
            self._base = Partition.finest(max((p.n_sinks for p in partitions), default=0))
        smallest = np.unique(self._base.labels)
        merges: dict[Partition, int] = {}
        for categorization, times in partitions.items():
            joined = join_partitions(self._base, categorization)
            projected = Partition.from_labels(joined.labels[smallest])
            merges[projected] = merges.get(projected, 0) + times
        self._free = merges.pop(Partition.finest(self._base.n_blocks), 0) + self._arbitrary
        self._parts = _split(merges, max_nodes, progress)
        # The fronts of all parts but the first 0, 1, 2 .. taken together.
        self._after: list[_Front] = [[0]]
        self._unknown: _Front = []
        for part in reversed(self._parts):
            front, rest = part.front(), self._after[0]
            self._unknown = _better(
                _combined(part.unknown, rest),
                _better(_combined(front, self._unknown), _combined(part.unknown, self._unknown)),
            )
            self._after.insert(0, _combined(front, rest))

    def is_known(self, threshold: int) -> bool:
        """Tell whether the search went far enough to know the size for a threshold."""
        if threshold > self.n_forms or self._is_unbounded(threshold):
            return True
        return not self._is_possible_unseen(self._rank(threshold) - 1, threshold)

    def is_complete(self, threshold: int) -> bool:
        """Tell whether `maximal` returns all there are for a threshold whose size is known."""
        if threshold > self.n_forms or self._is_unbounded(threshold):
            return True
        return not self._is_possible_unseen(self._rank(threshold), threshold)

    def unknown(self) -> tuple[int, ...]:
        """Return the thresholds up to the number of forms whose sizes are not known.

        One form and all forms are never among them.
        """
        if not self._unknown:
            return ()
        return tuple(n for n in range(1, self.n_forms + 1) if not self.is_known(n))

    def size(self, threshold: int) -> float:
        """Return the number of categories for a threshold of 1 or more forms.

        It is 0 where there are fewer forms, and `math.inf` for arbitrary precision. A threshold
        whose size is not known is refused.
        """
        if threshold > self.n_forms:
            return 0
        if self._is_unbounded(threshold):
            return math.inf
        if not self.is_known(threshold):
            raise _not_known([threshold])
        return self._base.n_blocks - self._rank(threshold)

    def sizes(self) -> tuple[float, ...]:
        """Return the sizes for the thresholds 1, 2, .. up to the number of forms."""
        if unknown := self.unknown():
            raise _not_known(unknown)
        unbounded = self._arbitrary if isinstance(self.target, Arbitrary) else 0
        needed = np.arange(unbounded + 1, self.n_forms + 1) - self._free
        bounded = self._base.n_blocks - np.searchsorted(self._after[0], needed)
        return (math.inf,) * unbounded + tuple(bounded.tolist())

    def maximal(
        self, threshold: int, *, most: int | None = None
    ) -> tuple[Partition | Arbitrary, ...]:
        """Return the harmonizations of that size that were found, or the first `most` of them.

        These are all there are where `is_complete` says so.
        """
        if threshold > self.n_forms:
            return ()
        if self.size(threshold) == math.inf:
            return (ARBITRARY,)
        choices = self._choices(self._rank(threshold), threshold - self._free)
        found = [self._lift(choice) for choice in islice(choices, most)]
        found.sort(key=lambda partition: partition.labels.tolist())
        return tuple(found)

    def _is_unbounded(self, threshold: int) -> bool:
        return isinstance(self.target, Arbitrary) and threshold <= self._arbitrary

    def _is_possible_unseen(self, rank: int, threshold: int) -> bool:
        if rank < 0 or not self._unknown:
            return False
        return self._unknown[min(rank, len(self._unknown) - 1)] >= threshold - self._free

    def _rank(self, threshold: int) -> int:
        return bisect_left(self._after[0], threshold - self._free)

    def _choices(self, rank: int, needed: int) -> Iterator[tuple[int, ...]]:
        """Pick a node of each part so that ranks add up to `rank` and forms to `needed`.

        `rank` must be the least at which enough forms can be matched.
        """
        if not self._parts:
            yield ()
            return
        # Not by recursion: there can be more parts than Python nests calls.
        chosen: list[int] = []
        open_parts = [self._fitting(0, rank, needed)]
        while open_parts:
            step = next(open_parts[-1], None)
            if step is None:
                open_parts.pop()
                continue
            node, left, missing = step
            chosen[len(open_parts) - 1 :] = [node]
            if len(open_parts) == len(self._parts):
                yield tuple(chosen)
            else:
                open_parts.append(self._fitting(len(open_parts), left, missing))

    def _fitting(self, part: int, rank: int, needed: int) -> Iterator[tuple[int, int, int]]:
        """Yield the nodes of a part that later parts can complete, with what is left for those."""
        rest = np.asarray(self._after[part + 1])
        left = rank - self._parts[part].ranks
        missing = needed - self._parts[part].weights
        fits = (left >= 0) & (rest[np.clip(left, 0, len(rest) - 1)] >= missing)
        for node in np.flatnonzero(fits).tolist():
            yield node, int(left[node]), int(missing[node])

    def _lift(self, choice: tuple[int, ...]) -> Partition:
        merged = Partition.finest(self._base.n_blocks)
        for part, node in zip(self._parts, choice, strict=True):
            merged = join_partitions(merged, part.partition(node))
        return Partition.from_labels(merged.labels[self._base.dense()])


def _by_graph(merges: Mapping[Partition, int], max_nodes: int, progress: Progress | None) -> _Part:
    graph = harmonization.HarmonizationGraph.of(merges, max_nodes=max_nodes, progress=progress)
    partitions = [node for node in graph.nodes if isinstance(node, Partition)]
    n_blocks = partitions[0].n_sinks
    return _Part(
        ranks=np.array([0, *(n_blocks - node.n_blocks for node in partitions)], dtype=np.int64),
        weights=np.concatenate(([0], graph.weights(list(merges.values())))),
        partition=(Partition.finest(n_blocks), *partitions).__getitem__,
        unknown=(),
    )


def _combined(a: _Front, b: _Front) -> _Front:
    """Return the best sums for every rank; fronts never fall."""
    if not a or not b:
        return ()
    best = [a[0] + b[0]] * (len(a) + len(b) - 1)
    for rank_a, weight_a in enumerate(a):
        for rank_b, weight_b in enumerate(b):
            best[rank_a + rank_b] = max(best[rank_a + rank_b], weight_a + weight_b)
    return best


def _better(a: _Front, b: _Front) -> _Front:
    longer = max(len(a), len(b))
    if not a or not b:
        return a or b
    return [max(a[min(rank, len(a) - 1)], b[min(rank, len(b) - 1)]) for rank in range(longer)]


def _split(
    merges: Mapping[Partition, int], max_nodes: int, progress: Progress | None
) -> list[_Part]:
    """Solve as one part where that is small, else by independent parts."""
    if not merges:
        return []
    try:
        return [_by_graph(merges, min(max_nodes, _WHOLE_BELOW), progress)]
    except LimitError:
        partitions = list(merges)
        parts = harmonization.independent_parts(partitions)
    return [
        _solve({partitions[n]: merges[partitions[n]] for n in part}, max_nodes, progress)
        for part in parts
    ]


def _solve(merges: Mapping[Partition, int], max_nodes: int, progress: Progress | None) -> _Part:
    try:
        return _by_graph(merges, min(max_nodes, _SEARCHED_ABOVE), progress)
    except LimitError:
        found = harmonization.search_both_ends(merges, max_nodes=max_nodes, progress=progress)
    is_all = found.unknown[-1] == harmonization.NOTHING
    return _Part(found.ranks, found.weights, found.partition, () if is_all else found.unknown)


def _not_known(thresholds: Sequence[int]) -> LimitError:
    first, last = thresholds[0], thresholds[-1]
    between = f"{first}" if first == last else f"{first} to {last}"
    return LimitError(
        Reason.TOO_LARGE,
        f"The finest categorization for {between} forms was asked for.",
        "There are more harmonizations than were searched, and those not seen could be finer.",
        "Raise max_nodes (--max-nodes), or take fewer forms (--against, --group).",
    )


Cell = Partition | Arbitrary | None
Row = tuple[Cell, ...]
Size = tuple[int, int]
"""How many variables have arbitrary precision, and the combinations of all others."""


@dataclass(frozen=True, slots=True)
class JointKey:
    """A composite key: a categorization per variable (None where it has no part), its forms."""

    row: Row
    size: Size
    forms: tuple[str, ...]


def largest_keys(
    target: Row, forms: Mapping[str, Row], *, size: Callable[[Row], Size], most: int
) -> tuple[list[JointKey], int]:
    """Return largest composite keys, and up to which number of forms they are known.

    The keys come with fewer and fewer forms at first and more later: each is a largest one for
    all numbers of forms above that of the key before it, up to its own.

    `size` gives the size of a key from its row, and must not grow when a row gets coarser. The
    search ends when `most` keys were made.

    Examples
    --------
    >>> fine, coarse = Partition.finest(4), Partition.from_labels([0, 0, 1, 1])
    >>> rows = {"a": (fine, fine), "b": (fine, None), "c": (coarse, coarse)}
    >>> def combinations(row):
    ...     sizes = [cell.n_blocks for cell in row if cell is not None]
    ...     return 0, sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
    >>> keys, known = largest_keys((fine, fine), rows, size=combinations, most=100)
    >>> [(key.size[1], key.forms) for key in keys], known
    ([(16, ('a',)), (4, ('a', 'b')), (2, ('a', 'b', 'c'))], 3)
    """
    columns = [_Column() for _ in target]
    groups: dict[_Numbers, list[str]] = {}
    own = tuple(column.number(cell) for column, cell in zip(columns, target, strict=True))
    for name, row in forms.items():
        numbers = tuple(c.number(cell) for c, cell in zip(columns, row, strict=True))
        met = tuple(c.joined(a, b) for c, a, b in zip(columns, own, numbers, strict=True))
        if any(met):
            groups.setdefault(met, []).append(name)
    if not groups:
        return [], 0
    rows = np.array(list(groups), dtype=np.int64)
    members = list(groups.values())
    total = sum(map(len, members))

    def cells_of(numbers: _Numbers) -> Row:
        return tuple(c.cells[number] for c, number in zip(columns, numbers, strict=True))

    def sized(numbers: _Numbers) -> tuple[int, int]:
        unbounded, finite = size(cells_of(numbers))
        return -unbounded, -finite

    order = count()
    waiting = [(sized(row), next(order), row) for row in groups]
    heapq.heapify(waiting)
    seen = set(groups)
    found: list[JointKey] = []
    reached = 0
    while waiting and reached < total:
        rank, _, numbers = heapq.heappop(waiting)
        holds = np.ones(len(rows), dtype=bool)
        for place, column in enumerate(columns):
            holds &= column.refine(numbers[place])[rows[:, place]]
        n_holding = sum(len(members[place]) for place in np.flatnonzero(holds))
        if n_holding > reached:
            reached = n_holding
            names = tuple(n for place in np.flatnonzero(holds) for n in members[place])
            found.append(JointKey(cells_of(numbers), (-rank[0], -rank[1]), names))
        others = rows[~holds]
        joins = [column.joins(numbers[place]) for place, column in enumerate(columns)]
        made = {
            tuple(joined[number] for joined, number in zip(joins, other, strict=True))
            for other in others.tolist()
        }
        for new in made:
            if new in seen or not any(new):
                continue
            if len(seen) >= most:
                return found, reached
            seen.add(new)
            heapq.heappush(waiting, (sized(new), next(order), new))
    # What is left has no variable in common.
    return found, total


def possible_combinations(
    sizes: Sequence[int], boxes: Sequence[Sequence[frozenset[int] | None]]
) -> int:
    """Return how many combinations of categories are possible.

    `boxes` are combinations that are impossible: per variable some of its categories, by their
    numbers, or None for all of them.

    Examples
    --------
    >>> possible_combinations([3, 2], [[frozenset([0]), frozenset([1])]])
    5
    """
    whole = [
        [frozenset(range(n)) if cats is None else cats for n, cats in zip(sizes, box, strict=True)]
        for box in boxes
    ]
    return prod(sizes) - _volume([box for box in whole if all(box)])


def _volume(boxes: Sequence[Sequence[frozenset[int]]]) -> int:
    """Return the number of cells that lie in any of some boxes."""
    volume = 0
    for number, box in enumerate(boxes):
        shared = [[a & b for a, b in zip(box, earlier, strict=True)] for earlier in boxes[:number]]
        volume += prod(map(len, box)) - _volume([part for part in shared if all(part)])
    return volume


_Numbers = tuple[int, ...]
"""A row by the numbers of its cells; 0 where a variable has no part."""


class _Column:
    """The categorizations of one variable that are met, by numbers; 0 is none at all."""

    def __init__(self) -> None:
        self.cells: list[Cell] = [None]
        self._numbers: dict[Cell, int] = {None: 0}
        self._joined: dict[tuple[int, int], int] = {}

    def number(self, cell: Cell) -> int:
        if cell not in self._numbers:
            self._numbers[cell] = len(self.cells)
            self.cells.append(cell)
        return self._numbers[cell]

    def joined(self, a: int, b: int) -> int:
        if not a or not b:
            return 0
        pair = (a, b) if a < b else (b, a)
        if pair not in self._joined:
            one, other = self.cells[a], self.cells[b]
            assert one is not None
            assert other is not None
            self._joined[pair] = self.number(join(one, other))
        return self._joined[pair]

    def joins(self, number: int) -> list[int]:
        return [self.joined(number, other) for other in range(len(self.cells))]

    def refine(self, number: int) -> NDArray[np.bool_]:
        """Tell for all that are known which refine one: their join with it is that one."""
        if not number:
            return np.ones(len(self.cells), dtype=bool)
        return np.array([joined == number for joined in self.joins(number)])
