"""Set partitions of the sinks of a partition graph, and what makes a graph of categories one.

A categorization of a variable groups the sinks 0 .. n-1 of its partition graph into blocks. The
harmonization of categorizations is the finest partition that is coarser than each of them, their
join; the coarsest partition that is finer than each of them is their meet. `ARBITRARY` stands for a
form that takes any level of detail (code C0.001): it is finer than every partition. Smith and
Elliot, A graph-based approach to key variable mapping, sections 3 and 4. A join costs O(n); a
partition takes 4n bytes.

With |E| forms to match against, |S| of which have a variable, a prevalence p asks for the finest
categorization at which N = max(1, floor(|E| p)) of them can be matched; there is none when |S| <
|E| p or |S| = 0. Sections 2.1 and 5 with footnote 8. All in rationals: in floating point floor(100
* 0.29) is 28.

A directed graph over categories is a partition graph when it is acyclic and the children of each
node are disjoint subcategories that together make up the node. Without further knowledge a category
means the sinks that it reaches, so the property holds if and only if there is no cycle and the
children of each node reach disjoint sinks. Where the extension of each category (a set of elements)
is known too, the children must also make up their parent, no category may be empty, and the sinks
must partition the sample space. Section 3.1. Every way in which a graph lacks the property has a
witness. Linear in nodes and edges, times the words of a sink set.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from fractions import Fraction
from functools import reduce
from itertools import combinations, groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gamekeeper.errors import InputError, Reason
from gamekeeper.prompt_syntax import FractionLike, read_share
from gamekeeper.wording import count_of, quoted

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


def joined_blocks(
    labels: NDArray[np.int32], blocks: Iterable[Sequence[int]]
) -> NDArray[np.int32] | None:
    """Return the finest partition, by any labels, in which every block is together; None if it is the same.

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


def parse_prevalence(value: FractionLike) -> Fraction:
    """Read a prevalence between 0 and 1 exactly: '0.25', '1/3', '25%', 0.29, Fraction(1, 3).

    A float is taken at its shortest decimal form, so that 0.29 means 29/100.

    Examples
    --------
    >>> parse_prevalence("25%"), parse_prevalence(0.29)
    (Fraction(1, 4), Fraction(29, 100))
    """
    text, exact = read_share(value)
    if exact is None or not 0 <= exact <= 1:
        raise InputError(
            Reason.BAD_PREVALENCE,
            f"The prevalence '{text[:40]}' was asked for.",
            "A prevalence is a share of the forms, from 0 to 1.",
            "Write it as 0.25, 1/4 or 25%.",
        )
    return exact


def threshold(n_forms: int, prevalence: Fraction) -> int:
    """Return N, the number of forms that must be matched: max(1, floor(|E| p))."""
    return max(1, math.floor(n_forms * prevalence))


def is_null(n_forms: int, n_having: int, prevalence: Fraction) -> bool:
    """Tell whether too few forms have the variable: |S| < |E| p, or none at all."""
    return n_having < 1 or n_having < n_forms * prevalence


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """Code size against prevalence, exactly.

    `sizes[k - 1]` is the number of categories of the maximal harmonization for a threshold of k
    forms, k = 1 .. |S|; `math.inf` stands for arbitrary precision.

    Examples
    --------
    >>> curve = SizeCurve(4, (6, 3))
    >>> curve.at(Fraction(1, 2)), curve.at(Fraction(3, 4)), curve.area
    (3, 0, Fraction(3, 1))
    >>> curve.steps
    ((Fraction(0, 1), Fraction(1, 2), 6),)
    """

    n_forms: int
    sizes: Sequence[float]

    def at(self, prevalence: FractionLike) -> float:
        """Return the code size at a prevalence, 0 where there is none."""
        share = prevalence if isinstance(prevalence, Fraction) else parse_prevalence(prevalence)
        if is_null(self.n_forms, len(self.sizes), share):
            return 0
        return self.sizes[threshold(self.n_forms, share) - 1]

    @property
    def steps(self) -> tuple[tuple[Fraction, Fraction, float], ...]:
        """The pieces (from, to, size), each holding its lower end and not its upper.

        The very last point, p = |S| / |E|, has the threshold |S| to itself: see `last_point`.
        """
        # From k/|E| up to (k + 1)/|E| the threshold is max(k, 1), for k = 0 .. |S| - 1.
        pieces: list[tuple[Fraction, Fraction, float]] = []
        start = 0
        for size, run in groupby((*self.sizes[:1], *self.sizes[:-1])):
            stop = start + sum(1 for _ in run)
            pieces.append((Fraction(start, self.n_forms), Fraction(stop, self.n_forms), size))
            start = stop
        return tuple(pieces)

    @property
    def end(self) -> float:
        """The size at the very last point, p = |S| / |E|."""
        return self.sizes[-1] if self.sizes else 0

    @property
    def last_point(self) -> tuple[tuple[Fraction, Fraction, float], ...]:
        """The last point as a piece without width, where its size is not that of the last step."""
        if not self.sizes or self.steps[-1][2] == self.end:
            return ()
        last = Fraction(len(self.sizes), self.n_forms)
        return ((last, last, self.end),)

    @property
    def area(self) -> Fraction | float:
        """The area under the curve, `math.inf` where it is unbounded."""
        if not self.sizes:
            return Fraction(0)
        if math.inf in self.sizes:
            return math.inf
        total = self.sizes[0] + sum(self.sizes[: len(self.sizes) - 1])
        return Fraction(int(total), self.n_forms)

    @property
    def unbounded_up_to(self) -> Fraction:
        """The prevalence up to which the size is unbounded (0 where it never is)."""
        return max((stop for _, stop, size in self.steps if size == math.inf), default=Fraction(0))


Children = Mapping[str, Sequence[str]]

_SHOWN_CYCLE = 12


class ViolationKind(StrEnum):
    """The ways in which a graph can lack the partition graph property."""

    CYCLE = "cycle"
    CHILDREN_OVERLAP = "children_overlap"
    CHILDREN_DO_NOT_MAKE_PARENT = "children_do_not_make_parent"
    EMPTY_NODE = "empty_node"
    SINKS_OVERLAP = "sinks_overlap"
    SINKS_NOT_EXHAUSTIVE = "sinks_not_exhaustive"


@dataclass(frozen=True, slots=True)
class Violation:
    """One witness: the categories involved and what they share or lack.

    `categories` is the cycle, the two overlapping children or sinks, or the empty category;
    `shared` what two of them share; `lacking` what is missing from, or too much in, the children.
    """

    kind: ViolationKind
    parent: str = ""
    categories: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case ViolationKind.CYCLE:
                shown, left_out = self.categories[:_SHOWN_CYCLE], self.categories[_SHOWN_CYCLE:]
                more = (f"({len(left_out):,} more)",) if left_out else ()
                around = " → ".join((*shown, *more, self.categories[0]))
                return f"the cycle {around}: a category cannot be part of itself"
            case ViolationKind.CHILDREN_OVERLAP:
                return (
                    f"the children {quoted(self.categories)} of '{self.parent}'"
                    f" share {quoted(self.shared)}"
                )
            case ViolationKind.CHILDREN_DO_NOT_MAKE_PARENT:
                return (
                    f"the children of '{self.parent}' do not make it up:"
                    f" they differ from it in {quoted(self.lacking)}"
                )
            case ViolationKind.EMPTY_NODE:
                return f"the category {quoted(self.categories)} is empty"
            case ViolationKind.SINKS_OVERLAP:
                return (
                    f"the finest categories {quoted(self.categories)} share {quoted(self.shared)}"
                )
            case ViolationKind.SINKS_NOT_EXHAUSTIVE:
                return (
                    f"the finest categories leave out {quoted(self.lacking)}"
                    f" ({count_of(len(self.lacking), 'element')})"
                )


def find_violations(
    children: Children,
    *,
    extensions: Mapping[str, Collection[str]] | None = None,
    sample_space: Iterable[str] | None = None,
) -> tuple[Violation, ...]:
    """Return a witness for every violation; none means that the property holds.

    `children` has every category as a key. Where there are cycles, one witness is given for each
    of a set of disjoint cycles, and the other checks, which need an order, are left.

    Examples
    --------
    >>> print(find_violations({"UK": ["GB", "Wales"], "GB": ["Wales"], "Wales": []})[0])
    the children 'GB', 'Wales' of 'UK' share 'Wales'
    """
    order = topological_order(children)
    if order is None:
        return tuple(cycle_violations(children))
    sinks = [node for node in sorted(children) if not children[node]]
    if extensions is not None:
        return tuple(_extension_violations(children, extensions, sample_space))
    return tuple(overlapping_children(children, SinkSets(children, order, sinks)))


def overlapping_children(children: Children, sets: SinkSets) -> list[Violation]:
    """Return a witness for every two children of a category that share sinks."""
    found: list[Violation] = []
    for parent in sorted(children):
        below = children[parent]
        if sum(map(sets.size, below)) > sets.size(parent):
            seen = twice = 0
            for child in below:
                twice |= seen & sets[child]
                seen |= sets[child]
            for a, b in combinations((c for c in sorted(below) if sets[c] & twice), 2):
                if common := sets[a] & sets[b]:
                    shared = tuple(sets.sinks[number] for number in bits(common))
                    found.append(Violation(ViolationKind.CHILDREN_OVERLAP, parent, (a, b), shared))
    return found


def cycle_violations(children: Children) -> list[Violation]:
    """Return a witness for each of a set of disjoint cycles, until no cycle is left."""
    left = {node: set(below) for node, below in children.items()}
    parents: dict[str, list[str]] = {node: [] for node in children}
    for node, below in left.items():
        for child in below:
            parents[child].append(node)
    found: list[Violation] = []
    ends = [node for node, below in left.items() if not below]
    while True:
        while ends:
            end = ends.pop()
            if left.pop(end, None) is not None:
                for parent in parents[end]:
                    if parent in left:
                        left[parent].discard(end)
                        if not left[parent]:
                            ends.append(parent)
        if not left:
            return found
        following = min(left)
        path: dict[str, None] = {}
        while following not in path:
            path[following] = None
            following = min(left[following])
        walked = list(path)
        ends = walked[walked.index(following) :]
        found.append(Violation(ViolationKind.CYCLE, categories=tuple(ends)))


def topological_order(children: Children) -> list[str] | None:
    """Return the categories with every parent before its children, or None if there is a cycle."""
    waiting_for = dict.fromkeys(children, 0)
    for below in children.values():
        for child in below:
            waiting_for[child] += 1
    order = [node for node, parents in waiting_for.items() if not parents]
    for node in order:
        for child in children[node]:
            waiting_for[child] -= 1
            if not waiting_for[child]:
                order.append(child)
    return order if len(order) == len(children) else None


class SinkSets:
    """The sinks that each category reaches, as bit sets of positions in `sinks`.

    Only categories that are not sinks take memory: the bit of a sink is made when asked for.
    """

    def __init__(self, children: Children, order: Sequence[str], sinks: Sequence[str]) -> None:
        self.sinks = sinks
        self.numbers = {sink: number for number, sink in enumerate(sinks)}
        self._sets: dict[str, int] = {}
        for node in reversed(order):
            if node not in self.numbers:
                own = _bit_set([self.numbers[c] for c in children[node] if c in self.numbers])
                for child in children[node]:
                    if child not in self.numbers:
                        own |= self._sets[child]
                self._sets[node] = own

    def __getitem__(self, category: str) -> int:
        number = self.numbers.get(category)
        return self._sets[category] if number is None else 1 << number

    def size(self, category: str) -> int:
        """Return the number of sinks that a category reaches."""
        return 1 if category in self.numbers else self._sets[category].bit_count()


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set.

    Examples
    --------
    >>> bits(0b1010)
    [1, 3]
    """
    positions: list[int] = []
    for byte_number, byte in enumerate(mask.to_bytes((mask.bit_length() + 7) // 8, "little")):
        while byte:
            low = byte & -byte
            positions.append(8 * byte_number + low.bit_length() - 1)
            byte ^= low
    return positions


def _bit_set(positions: Sequence[int]) -> int:
    # One buffer for all: setting bits one by one in a long integer would copy it every time.
    buffer = bytearray((max(positions, default=-1) + 8) // 8)
    for position in positions:
        buffer[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(buffer, "little")


def _extension_violations(
    children: Children,
    extensions: Mapping[str, Collection[str]],
    sample_space: Iterable[str] | None,
) -> list[Violation]:
    sets = {node: frozenset(extensions.get(node, ())) for node in children}
    space = (
        frozenset(sample_space) if sample_space is not None else frozenset().union(*sets.values())
    )
    found = [
        Violation(ViolationKind.EMPTY_NODE, categories=(node,))
        for node in sorted(children)
        if not sets[node]
    ]
    for parent in sorted(children):
        below = sorted(children[parent])
        for a, b in combinations(below, 2):
            if shared := sets[a] & sets[b]:
                found.append(
                    Violation(ViolationKind.CHILDREN_OVERLAP, parent, (a, b), tuple(sorted(shared)))
                )
        if below and (lacking := sets[parent] ^ frozenset().union(*(sets[node] for node in below))):
            found.append(
                Violation(
                    ViolationKind.CHILDREN_DO_NOT_MAKE_PARENT,
                    parent,
                    tuple(below),
                    lacking=tuple(sorted(lacking)),
                )
            )
    sinks = [node for node in sorted(children) if not children[node]]
    holders: dict[str, list[str]] = {}
    overlapping: dict[tuple[str, str], list[str]] = {}
    for sink in sinks:
        for element in sorted(sets[sink]):
            for other in holders.setdefault(element, []):
                overlapping.setdefault((other, sink), []).append(element)
            holders[element].append(sink)
    found += [
        Violation(ViolationKind.SINKS_OVERLAP, categories=pair, shared=tuple(shared))
        for pair, shared in overlapping.items()
    ]
    if missing := space - holders.keys():
        found.append(Violation(ViolationKind.SINKS_NOT_EXHAUSTIVE, lacking=tuple(sorted(missing))))
    return found
