"""Partition graphs: how the categories of a variable relate, and which changes are safe.

A node is a category; its children are disjoint subcategories that make it up; the nodes without
children, the sinks, are the finest categories, and every category stands for the sinks it reaches.
Graphs with other edges but the same sink sets admit the same categorizations.

Smith and Elliot, section 3.1; the published code's flatten, deepen and prune. Sink sets are bit
sets: a subcategory test is one operation on integers. Sinks are numbered in their sorted order, or
in the order that is given.

Let reach(v) be the sinks of a category v before a change and reach'(v) those after it. Every
earlier categorization is still admitted if and only if

1. no category is lost, and the sets reach'(s) of the old sinks s are disjoint and together are
   all new sinks;
2. for every old category v, reach'(v) is the union of reach'(s) over the s in reach(v).

Both are needed: the old sinks are a categorization, and so is any v with the old sinks outside it.
Both suffice: then a new sink is reached from exactly those selected categories from which its one
old sink was reached. To delete nothing is not enough: a new root with a new sink makes the sample
space larger, and every earlier categorization leaves the new sink out. Linear in nodes and edges of
both graphs, times the words of a sink set.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice

import numpy as np

from gamekeeper.algorithms.categories import partitions
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of, did_you_mean, quoted


def children_of_sets(sets: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Return the children of categories given as sets: the atoms that they are made of.

    Examples
    --------
    >>> children_of_sets({"young": "ab", "middle": "bc"})
    {'young': ['a', 'b'], 'middle': ['b', 'c']}
    """
    empty = [name for name, members in sets.items() if not members]
    if empty:
        raise InputError(
            Reason.NOT_A_PARTITION_GRAPH,
            f"A partition graph of {count_of(len(sets), 'set')} was asked for.",
            f"Empty: {quoted(empty)}.",
            "Leave out empty categories.",
        )
    holders: dict[str, list[str]] = {}
    for name in sorted(sets):
        for element in sets[name]:
            holders.setdefault(element, []).append(name)
    atoms: dict[tuple[str, ...], list[str]] = {}
    for element in sorted(holders):
        atoms.setdefault(tuple(sorted(set(holders[element]))), []).append(element)
    children: dict[str, list[str]] = {name: [] for name in sets}
    taken: set[str] = set()
    for names, elements in atoms.items():
        exact = [name for name in names if len(set(sets[name])) == len(elements)]
        sink = exact[0] if exact else " or ".join(elements)
        if not exact and (sink in sets or sink in taken):
            raise InputError(
                Reason.DUPLICATE,
                "A partition graph of sets was asked for.",
                f"{quoted([sink])} would be the name of two different categories.",
                "Give the category or the element another name.",
            )
        taken.add(sink)
        for name in names:
            if name != sink:
                children[name].append(sink)
    return children


def completed(children: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Sort the children and give every sink an entry of its own."""
    full = {name: tuple(sorted(below)) for name, below in children.items()}
    for below in list(full.values()):
        for child in below:
            full.setdefault(child, ())
    return dict(sorted(full.items()))


def duplicate_children(children: Mapping[str, Sequence[str]]) -> list[Problem]:
    """Return a problem for every category that names a child twice."""
    return [
        Problem(
            Reason.DUPLICATE,
            f"category {quoted([name])}",
            f"names the same child twice: {quoted(_repeated(below))}.",
        )
        for name, below in children.items()
        if len(set(below)) < len(below)
    ]


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def ordered(sinks: Sequence[str], order: Sequence[str] | None) -> tuple[str, ...]:
    """Return the sinks in the order that is given; it must name each of them once."""
    if order is None:
        return tuple(sinks)
    if sorted(order) != list(sinks):
        missing, extra = sorted(set(sinks) - set(order)), sorted(set(order) - set(sinks))
        repeated = _repeated(order)
        found = [
            f"{text}: {quoted(names)}."
            for text, names in (
                ("Sinks left out", missing),
                ("Not a sink", extra),
                ("Named twice", repeated),
            )
            if names
        ]
        raise InputError(
            Reason.NOT_A_PARTITION_GRAPH,
            f"An order of {count_of(len(sinks), 'sink')} was asked for.",
            " ".join(found),
            "Name every sink, that is every category without children, once.",
        )
    return tuple(order)


class PartitionGraph:
    """An immutable partition graph.

    It has every category with its children; a child that is no key is a sink. Sinks are in the
    natural order that is given; otherwise they are sorted.

    Examples
    --------
    >>> graph = PartitionGraph({"Britain": ["England", "Scotland", "Wales"], "Rest": []})
    >>> graph.sinks
    ('England', 'Rest', 'Scotland', 'Wales')
    >>> graph.is_subcategory("Wales", "Britain")
    True
    """

    sinks: tuple[str, ...]

    def __init__(
        self, children: Mapping[str, Iterable[str]], *, order: Sequence[str] | None = None
    ) -> None:
        self._children = completed(children)
        problems = duplicate_children(self._children)
        topological = partitions.topological_order(self._children)
        if topological is None:
            problems += _as_problems(partitions.cycle_violations(self._children))
        elif not problems:
            sinks = sorted(node for node, below in self._children.items() if not below)
            self.sinks = ordered(sinks, order)
            self._reach = partitions.SinkSets(self._children, topological, self.sinks)
            problems += _as_problems(partitions.overlapping_children(self._children, self._reach))
        if problems or not self._children:
            raise InputError(
                Reason.NOT_A_PARTITION_GRAPH,
                f"A partition graph of {count_of(len(self._children), 'category', 'categories')}"
                " was asked for.",
                f"It has {count_of(len(problems), 'fault')}."
                if problems
                else "It has no categories.",
                "Let the children of each category be disjoint and make it up.",
                problems=problems,
            )

    @classmethod
    def from_edges(
        cls,
        nodes: Iterable[str],
        edges: Iterable[tuple[str, str]],
        *,
        order: Sequence[str] | None = None,
    ) -> PartitionGraph:
        """Build from categories and (category, subcategory) pairs."""
        children: dict[str, list[str]] = {node: [] for node in nodes}
        for parent, child in edges:
            children.setdefault(parent, []).append(child)
        return cls(children, order=order)

    @classmethod
    def from_sets(
        cls, sets: Mapping[str, Collection[str]], *, order: Sequence[str] | None = None
    ) -> PartitionGraph:
        """Build from categories given as sets of elements.

        The sinks are the atoms: elements that no given category tells apart. An atom that is
        itself a given category has its name, any other the names of its elements, joined by
        "or". Categories that are equal sets share their sinks.

        Examples
        --------
        >>> PartitionGraph.from_sets({"young": "ab", "old": "c", "middle": "bc"}).sinks
        ('a', 'b', 'old')
        """
        return cls(children_of_sets(sets), order=order)

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """All categories, sorted."""
        return tuple(sorted(self._children))

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All (category, child) pairs, sorted."""
        return tuple(
            (parent, child) for parent in self.categories for child in self.children(parent)
        )

    def __contains__(self, category: object) -> bool:
        return category in self._children

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionGraph):
            return NotImplemented
        return self.sinks == other.sinks and self._children == other._children

    def __hash__(self) -> int:
        return hash((self.sinks, self.edges))

    def __repr__(self) -> str:
        return (
            f"PartitionGraph({len(self._children)} categories,"
            f" {len(self.edges)} edges, {len(self.sinks)} sinks)"
        )

    def children(self, category: str) -> tuple[str, ...]:
        """Return the children of a category, sorted."""
        self._require([category])
        return self._children[category]

    def sink_set(self, category: str) -> int:
        """Return the sinks of a category as a bit set of positions in `sinks`."""
        self._require([category])
        return self._reach[category]

    def sinks_of(self, category: str) -> tuple[str, ...]:
        """Return the names of the sinks that a category reaches, in the order of `sinks`."""
        return tuple(self.sinks[number] for number in partitions.bits(self.sink_set(category)))

    def is_subcategory(self, category: str, other: str) -> bool:
        """Tell whether every sink of a category is one of another's (equality counts)."""
        return not self.sink_set(category) & ~self.sink_set(other)

    def equal_categories(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of categories that are the same under different names."""
        groups: dict[int, list[str]] = {}
        for category in self.categories:
            groups.setdefault(self._reach[category], []).append(category)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def reached(self, selected: Iterable[str]) -> list[list[str]]:
        """Return for every sink the selected categories that reach it.

        A selection is a valid categorization when each of these lists has one entry.
        """
        selected = list(dict.fromkeys(selected))
        self._require(selected)
        holders: list[list[str]] = [[] for _ in self.sinks]
        for category in selected:
            waiting = [category]
            while waiting:
                node = waiting.pop()
                if node in self._reach.numbers:
                    holders[self._reach.numbers[node]].append(category)
                else:
                    waiting += self._children[node]
        return holders

    def partition(self, selected: Iterable[str]) -> partitions.Partition:
        """Return the set partition of a valid categorization."""
        holders = self.reached(selected)
        wrong = sum(len(names) != 1 for names in holders)
        if wrong:
            raise InputError(
                Reason.NOT_A_CATEGORIZATION,
                "The partition of a categorization was asked for.",
                f"Of {len(self.sinks)} sinks, {wrong} are not reached from exactly one category.",
                "Select categories that exclude each other and leave nothing out.",
            )
        numbers: dict[str, int] = {}
        labels = [numbers.setdefault(names[0], len(numbers)) for names in holders]
        return partitions.Partition.from_labels(np.array(labels))

    def cover(self, sinks: int) -> tuple[str, ...]:
        """Return few categories that together are exactly the given sinks (a bit set).

        The largest that fits is taken first, a name that comes first among equals.
        """
        chosen: list[str] = []
        while sinks:
            lowest = (sinks & -sinks).bit_length() - 1
            category = next(
                name for name in self._holders[lowest] if not self._reach[name] & ~sinks
            )
            chosen.append(category)
            sinks &= ~self._reach[category]
        return tuple(chosen)

    @cached_property
    def _holders(self) -> list[list[str]]:
        """For every sink the categories of which it is the first, largest first.

        A category within some sinks that holds the first of them has it as its own first.
        """
        holders: list[list[str]] = [[] for _ in self.sinks]
        for category in sorted(self.categories, key=self._rank):
            reach = self._reach[category]
            holders[(reach & -reach).bit_length() - 1].append(category)
        return holders

    def _rank(self, category: str) -> tuple[int, int, str]:
        """Sort key: larger first; among equals parents before their only children; then names."""
        return (-self._reach.size(category), -bool(self._children[category]), category)

    def categorizations(self, *, limit: int = 100_000) -> tuple[tuple[str, ...], ...]:
        """Return every valid selection of categories, each sorted, smallest first.

        Refused beyond `limit` selections, of which there can be exponentially many.
        """
        found: list[tuple[str, ...]] = []
        for selection in self._selections((1 << len(self.sinks)) - 1):
            found.append(tuple(sorted(selection)))
            if len(found) > limit:
                raise LimitError(
                    Reason.TOO_LARGE,
                    "All valid categorizations of a partition graph were asked for.",
                    f"There are more than {limit:,}.",
                    "Raise limit.",
                )
        return tuple(sorted(found, key=lambda selection: (len(selection), selection)))

    def _selections(self, left: int) -> Iterator[list[str]]:
        stack: list[tuple[int, list[str]]] = [(left, [])]
        while stack:
            left, chosen = stack.pop()
            if not left:
                yield chosen
                continue
            lowest = (left & -left).bit_length() - 1
            stack += [
                (left & ~self._reach[name], [*chosen, name])
                for name in self._holders[lowest]
                if not self._reach[name] & ~left
            ]

    def is_contiguous(self, sinks: Iterable[str]) -> bool:
        """Tell whether some sinks are neighbours in the order of `sinks`."""
        named = sorted(set(sinks))
        self._require(named, kind="sink")
        numbers = sorted(self._reach.numbers[sink] for sink in named)
        return not numbers or numbers[-1] - numbers[0] + 1 == len(numbers)

    def flatten(self) -> PartitionGraph:
        """Return the graph in which every category points straight to its sinks."""
        return self._rebuilt({name: self.sinks_of(name) for name in self.categories})

    def deepen(self) -> PartitionGraph:
        """Return the graph in which every category points to few large subcategories.

        Sink sets are kept. There are mostly fewer edges, never more than in the flat graph, and
        more levels, which reads better. Graphs with equal sink sets give the same outcome.
        """
        children: dict[str, list[str]] = {}
        places = {name: n for n, name in enumerate(sorted(self.categories, key=self._rank))}
        for name in self.categories:
            below = children[name] = list[str]()
            left = 0 if name in self._reach.numbers else self._reach[name]
            while left:
                holders = self._holders[(left & -left).bit_length() - 1]
                start = bisect_right(holders, places[name], key=places.__getitem__)
                child = next(
                    other
                    for other in islice(holders, start, None)
                    if not self._reach[other] & ~left
                )
                below.append(child)
                left &= ~self._reach[child]
        return self._rebuilt(children)

    def remove(self, names: Iterable[str]) -> PartitionGraph:
        """Return the graph without some categories; the sink sets of the others stay as they are.

        A category that is not a sink goes and its parents take over its children. Sinks go only
        together with all that tells them apart, so that one category becomes their new sink.
        """
        removed = set(names)
        self._require(sorted(removed))
        children: dict[str, list[str]] = {}
        torn: list[Problem] = []
        for name in self.categories:
            if name not in removed:
                below = children[name] = list[str]()
                lost: list[str] = []
                waiting = list(self._children[name])
                while waiting:
                    node = waiting.pop()
                    if node not in removed:
                        below.append(node)
                    elif node in self._reach.numbers:
                        lost.append(node)
                    else:
                        waiting += self._children[node]
                if lost and below:
                    torn.append(_torn(name, f"would lose {quoted(sorted(lost))}"))
        kept = 0
        for name in children:
            kept |= self._reach[name]
        if gone := ((1 << len(self.sinks)) - 1) & ~kept:
            lost_sinks = quoted(self.sinks[number] for number in partitions.bits(gone))
            torn.append(_torn("sample space", f"would lose {lost_sinks}"))
        new_sinks = [name for name in children if not children[name]]
        seen = 0
        for name in sorted(new_sinks):
            if seen & self._reach[name]:
                torn.append(_torn(name, "would overlap another sink"))
            seen |= self._reach[name]
        if torn:
            raise InputError(
                Reason.NOT_REMOVABLE,
                f"The removal of {quoted(sorted(removed))} was asked for.",
                "Other categories would change their meaning.",
                "Remove sinks together with their siblings, or remove these as well.",
                problems=torn,
            )
        return self._rebuilt(children)

    def prune(self, keep: Iterable[str], *, coarsen: bool = False) -> PartitionGraph:
        """Return the smallest part of the graph that still holds some categories.

        All sinks stay, so that every categorization made of kept categories stays valid. With
        `coarsen`, sinks that no kept category tells apart give way to the largest categories
        that are made of them.
        """
        kept = set(keep)
        self._require(sorted(kept))
        if not coarsen:
            return self.remove(set(self.categories) - kept - set(self.sinks))
        signatures: dict[tuple[str, ...], int] = {}
        for number, sink in enumerate(self.sinks):
            holding = tuple(name for name in sorted(kept) if self._reach[name] >> number & 1)
            signatures[holding] = signatures.get(holding, 0) | self._reach[sink]
        new_sinks: list[str] = []
        for atom in signatures.values():
            same = [name for name in sorted(kept, key=self._rank) if self._reach[name] == atom]
            new_sinks += [same[-1]] if same else self.cover(atom)
        children: dict[str, list[str]] = {name: [] for name in kept | set(new_sinks)}
        for name in sorted(kept - set(new_sinks)):
            children[name] = [sink for sink in new_sinks if self.is_subcategory(sink, name)]
        return self._rebuilt(children)

    def _rebuilt(self, children: Mapping[str, Iterable[str]]) -> PartitionGraph:
        cleaned = {
            name: [child for child in below if child != name] for name, below in children.items()
        }
        sinks = [name for name, below in cleaned.items() if not below]
        first = {name: (self._reach[name] & -self._reach[name]).bit_length() for name in sinks}
        return PartitionGraph(cleaned, order=sorted(sinks, key=first.__getitem__))

    def _require(self, names: Sequence[str], *, kind: str = "category") -> None:
        known = self._reach.numbers if kind == "sink" else self._children
        unknown = [name for name in names if name not in known]
        if unknown:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"The {kind} {quoted(unknown)} was asked for.",
                f"The partition graph has no such {kind}.",
                did_you_mean(unknown[0], known),
            )


def _as_problems(violations: Iterable[partitions.Violation]) -> list[Problem]:
    return [
        Problem(Reason.NOT_A_PARTITION_GRAPH, "partition graph", f"{violation}.")
        for violation in violations
    ]


def _torn(where: str, found: str) -> Problem:
    return Problem(Reason.NOT_REMOVABLE, f"'{where}'", found)


class UnsafeKind(StrEnum):
    """The ways in which earlier categorizations can cease to be admitted."""

    CATEGORY_LOST = "category_lost"
    SINKS_OVERLAP = "sinks_overlap"
    SPACE_GROWS = "space_grows"
    CATEGORY_CHANGES = "category_changes"


@dataclass(frozen=True, slots=True)
class Unsafe:
    """One witness.

    `categories` are the old categories concerned, under their old names; `sinks` the new sinks
    that they would share, that nothing would reach, or that a category would reach in addition;
    `without` the new sinks that it would no longer reach.
    """

    kind: UnsafeKind
    categories: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case UnsafeKind.CATEGORY_LOST:
                return f"the category {quoted(self.categories)} would be lost"
            case UnsafeKind.SINKS_OVERLAP:
                return f"the sinks {quoted(self.categories)} would share {quoted(self.sinks)}"
            case UnsafeKind.SPACE_GROWS:
                return (
                    f"no earlier sink would reach {quoted(self.sinks)}:"
                    " the sample space would grow, and every earlier categorization would miss it"
                )
            case UnsafeKind.CATEGORY_CHANGES:
                parts = [f"in addition reach {quoted(self.sinks)}"] if self.sinks else []
                if self.without:
                    parts.append(f"no longer reach {quoted(self.without)}")
                return f"the category {quoted(self.categories)} would {' and '.join(parts)}"


def find_unsafe(
    before: PartitionGraph, after: PartitionGraph, renamed: Mapping[str, str] | None = None
) -> tuple[Unsafe, ...]:
    """Return a witness for everything that makes a change unsafe; none means that it is safe.

    `renamed` has the categories that have another name now, old names to new ones; no two to the
    same.

    Examples
    --------
    >>> before = PartitionGraph({"England": [], "Other": []})
    >>> split = PartitionGraph({"England": [], "Other": ["Wales", "Elsewhere"]})
    >>> find_unsafe(before, split)
    ()
    >>> wider = PartitionGraph({"England": [], "Other": [], "World": ["Other", "Sea"]})
    >>> print(*find_unsafe(before, wider))
    no earlier sink would reach 'Sea': the sample space would grow, and every earlier
    categorization would miss it
    """
    now = {name: (renamed or {}).get(name, name) for name in before.categories}
    lost = [name for name in before.categories if now[name] not in after]
    found = [Unsafe(UnsafeKind.CATEGORY_LOST, (name,)) for name in lost]
    was = {now[sink]: sink for sink in before.sinks if now[sink] in after}
    shared: dict[tuple[str, ...], list[str]] = {}
    for sink, holders in zip(after.sinks, after.reached(was), strict=True):
        if len(holders) != 1:
            shared.setdefault(tuple(was[name] for name in holders), []).append(sink)
    for holders, sinks in shared.items():
        kind = UnsafeKind.SINKS_OVERLAP if holders else UnsafeKind.SPACE_GROWS
        found.append(Unsafe(kind, holders, tuple(sinks)))
    return (*found, *_changed(before, after, now))


def _changed(before: PartitionGraph, after: PartitionGraph, now: Mapping[str, str]) -> list[Unsafe]:
    """Return a witness for every old category that is not the union of its old sinks."""
    children = {name: before.children(name) for name in before.categories}
    due: dict[str, int] = {}
    torn: set[str] = set()
    found: list[Unsafe] = []
    for name in reversed(partitions.topological_order(children) or ()):
        kept = now[name] in after
        own = after.sink_set(now[name]) if kept else 0
        if not children[name]:
            due[name] = own
            if not kept:
                torn.add(name)
            continue
        due[name] = 0
        for child in children[name]:
            due[name] |= due[child]
        if not torn.isdisjoint(children[name]):
            torn.add(name)
        # What replaces a lost sink is no addition: that the sink is lost is said already.
        more = own & ~due[name] if name not in torn else 0
        less = due[name] & ~own
        if kept and (more or less):
            names = [
                tuple(after.sinks[number] for number in partitions.bits(part))
                for part in (more, less)
            ]
            found.append(Unsafe(UnsafeKind.CATEGORY_CHANGES, (name,), *names))
    return sorted(found, key=lambda unsafe: unsafe.categories)
