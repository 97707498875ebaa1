"""The partition graph property, and witnesses of every way in which a graph can lack it.

A directed graph over categories is a partition graph when it is acyclic and the children of each
node are disjoint subcategories that together make up the node. Without further knowledge a
category means the sinks that it reaches, so the property holds if and only if there is no cycle
and the children of each node reach disjoint sinks. Where the extension of each category (a set of
elements) is known too, the children must also make up their parent, no category may be empty, and
the sinks must partition the sample space.

Smith and Elliot, section 3.1. Linear in nodes and edges, times the words of a sink set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from gamekeeper.wording import count_of, quoted

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
