"""Set partitions of the sinks of a partition graph: join, meet and refinement.

A categorization of a variable groups the sinks 0 .. n-1 of its partition graph into blocks. The
harmonization of categorizations is the finest partition that is coarser than each of them, their
join; the coarsest partition that is finer than each of them is their meet. `ARBITRARY` stands for
a form that takes any level of detail (code C0.001): it is finer than every partition.

Smith and Elliot, A graph-based approach to key variable mapping, sections 3 and 4. A join costs
O(n); a partition takes 4n bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from fractions import Fraction
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Reason

# Below this many links, a loop over Python integers beats the fixed cost of array operations
# (measured: 20 links take 5 µs against 40 µs; the two meet near 150).
_LOOP_BELOW = 128


class Arbitrary(Enum):
    """The type of `ARBITRARY`."""

    ARBITRARY = "arbitrary"

    def __repr__(self) -> str:
        return "ARBITRARY"


ARBITRARY: Final = Arbitrary.ARBITRARY
"""The categorization of a form that takes any level of detail; finer than every partition."""


class Partition:
    """An immutable set partition of the sinks 0 .. n-1.

    `labels[i]` is the smallest sink in the block of sink i, so equal partitions have equal labels.

    Examples
    --------
    >>> Partition.from_blocks([[0, 1], [2]], 3)
    Partition(2 blocks of 3 sinks)
    """

    __slots__ = ("_hash", "labels", "n_blocks")

    labels: NDArray[np.int32]
    n_blocks: int

    def __init__(self, labels: NDArray[np.int32], n_blocks: int) -> None:
        """Take canonical labels as they are; use `from_labels` or `from_blocks` for others."""
        labels.flags.writeable = False
        self.labels = labels
        self.n_blocks = n_blocks
        self._hash: int | None = None

    @classmethod
    def from_labels(cls, labels: Sequence[int] | NDArray[np.integer]) -> Partition:
        """Build from any labelling in which equal labels mean the same block."""
        _, first, inverse = np.unique(
            np.asarray(labels, dtype=np.int64), return_index=True, return_inverse=True
        )
        return cls(first.astype(np.int32)[inverse], len(first))

    @classmethod
    def from_blocks(cls, blocks: Iterable[Iterable[int]], n_sinks: int) -> Partition:
        """Build from blocks that hold every sink exactly once."""
        labels = np.full(n_sinks, -1, dtype=np.int32)
        n_blocks = n_placed = 0
        for block in blocks:
            members = list(block)
            if members:
                n_blocks += 1
                n_placed += len(members)
                known = [sink for sink in members if 0 <= sink < n_sinks]
                labels[known] = min(members)
        if n_placed != n_sinks or (labels < 0).any():
            raise InputError(
                Reason.NOT_A_CATEGORIZATION,
                f"A partition of {n_sinks} sinks was asked for.",
                f"Its blocks hold {n_placed} sinks, and {int((labels < 0).sum())} are in no block.",
                "Put every sink in exactly one block.",
            )
        return cls(labels, n_blocks)

    @classmethod
    def finest(cls, n_sinks: int) -> Partition:
        """Return the partition with every sink in a block of its own."""
        return cls(np.arange(n_sinks, dtype=np.int32), n_sinks)

    @property
    def n_sinks(self) -> int:
        """The number of sinks that are partitioned."""
        return len(self.labels)

    def blocks(self) -> list[list[int]]:
        """Return the blocks, each sorted, in the order of their smallest sinks."""
        order = np.argsort(self.labels, kind="stable")
        starts = np.flatnonzero(np.diff(self.labels[order])) + 1
        return [block.tolist() for block in np.split(order, starts)] if len(order) else []

    def dense(self) -> NDArray[np.int32]:
        """Return for each sink the position of its block among the blocks."""
        return np.searchsorted(np.unique(self.labels), self.labels).astype(np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self.n_blocks == other.n_blocks and np.array_equal(self.labels, other.labels)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.labels.tobytes())
        return self._hash

    def __repr__(self) -> str:
        return f"Partition({self.n_blocks} blocks of {self.n_sinks} sinks)"


def join(a: Partition | Arbitrary, b: Partition | Arbitrary) -> Partition | Arbitrary:
    """Return the finest partition coarser than both, the harmonization of two categorizations.

    Examples
    --------
    >>> join(
    ...     Partition.from_blocks([[0, 1], [2], [3]], 4), Partition.from_labels([0, 1, 1, 2])
    ... ).labels
    array([0, 0, 0, 3], dtype=int32)
    """
    if isinstance(a, Arbitrary):
        return b
    if isinstance(b, Arbitrary):
        return a
    return join_partitions(a, b)


def join_partitions(a: Partition, b: Partition) -> Partition:
    """Return the join of two partitions, as `join` does."""
    _require_same_sinks(a, b)
    # Only the links of b that a does not already have can change a: sink to smallest in its block.
    left = a.labels
    right = a.labels[b.labels]
    open_links = left != right
    if not open_links.any():
        return a
    if (b.labels[a.labels] == b.labels).all():
        return b
    left, right = left[open_links], right[open_links]
    root = np.arange(a.n_sinks, dtype=np.int32)
    if len(left) < _LOOP_BELOW:
        _unite_by_loop(root, left, right)
    else:
        root = unite_by_rounds(root, left, right)
    merged = int(np.count_nonzero(root != np.arange(a.n_sinks)))
    return Partition(root[a.labels], a.n_blocks - merged)


def harmonize(categorizations: Iterable[Partition | Arbitrary]) -> Partition | Arbitrary:
    """Return the harmonization of one or more categorizations.

    `ARBITRARY` is the result only when every one of them is arbitrary.

    Examples
    --------
    >>> harmonize([ARBITRARY, Partition.from_labels([0, 0, 1])])
    Partition(2 blocks of 3 sinks)
    """
    given = list(categorizations)
    if not given:
        raise InputError(
            Reason.NOTHING_GIVEN,
            "A harmonization was asked for.",
            "No categorization was given.",
            "Give at least one.",
        )
    return reduce(join, given)


def meet(a: Partition | Arbitrary, b: Partition | Arbitrary) -> Partition | Arbitrary:
    """Return the coarsest partition finer than both: the overlaps of their blocks."""
    if isinstance(a, Arbitrary) or isinstance(b, Arbitrary):
        return ARBITRARY
    return _overlaps(a, b)


def is_finer(a: Partition | Arbitrary, b: Partition | Arbitrary) -> bool:
    """Tell whether a refines b: every block of a lies in a block of b (equality counts)."""
    if isinstance(a, Arbitrary):
        return True
    if isinstance(b, Arbitrary):
        return False
    _require_same_sinks(a, b)
    return bool((b.labels[a.labels] == b.labels).all())


def effective_categories(
    a: Partition | Arbitrary, b: Partition | Arbitrary
) -> Fraction | Arbitrary:
    """Return |A||B| divided by the number of overlapping pairs of blocks.

    Harmonization hides what bands that overlap still tell: two sets of five-year bands, one
    shifted by two years, harmonize to a single category. This number counts what a match of
    overlapping blocks is worth, and equals the size of the harmonization when one refines the
    other. It can be smaller than that size where neither does.

    Examples
    --------
    >>> effective_categories(
    ...     Partition.from_labels([0, 0, 1, 1]), Partition.from_labels([0, 1, 1, 2])
    ... )
    Fraction(3, 2)
    """
    if isinstance(a, Arbitrary):
        return b if isinstance(b, Arbitrary) else Fraction(b.n_blocks)
    if isinstance(b, Arbitrary):
        return Fraction(a.n_blocks)
    return Fraction(a.n_blocks * b.n_blocks, max(_overlaps(a, b).n_blocks, 1))


def _overlaps(a: Partition, b: Partition) -> Partition:
    _require_same_sinks(a, b)
    return Partition.from_labels(a.labels.astype(np.int64) * a.n_sinks + b.labels)


def _unite_by_loop(
    root: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]
) -> None:
    parent: dict[int, int] = {}
    for u, v in zip(left.tolist(), right.tolist(), strict=True):
        while u in parent:
            u = parent[u]
        while v in parent:
            v = parent[v]
        if u != v:
            parent[max(u, v)] = min(u, v)
    # In ascending order the parent of a node, being smaller, already has its final root.
    for node in sorted(parent):
        root[node] = root[parent[node]]


def unite_by_rounds(
    root: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Hook larger roots under smaller neighbours and flatten, until no link is open.

    `root` has for each node a smaller one of its set, or itself; links are between roots.

    Examples
    --------
    >>> nodes = [np.array(part, np.int32) for part in ([0, 1, 2, 3], [3, 1], [2, 2])]
    >>> unite_by_rounds(*nodes).tolist()
    [0, 1, 1, 1]
    """
    while len(left):
        np.minimum.at(root, np.maximum(left, right), np.minimum(left, right))
        flat = root[root]
        while not np.array_equal(flat, root):
            root, flat = flat, flat[flat]
        left, right = root[left], root[right]
        still_open = left != right
        left, right = left[still_open], right[still_open]
    return root


def _require_same_sinks(a: Partition, b: Partition) -> None:
    if a.n_sinks != b.n_sinks:
        raise InputError(
            Reason.DIFFERENT_SINKS,
            "Two categorizations of one variable were to be compared.",
            f"One partitions {a.n_sinks} sinks, the other {b.n_sinks}.",
            "Take both from the same partition graph.",
        )
