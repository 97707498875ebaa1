"""Whether a changed partition graph still admits every categorization that it admitted before.

Let reach(v) be the sinks of a category v before the change and reach'(v) those after it. Every
earlier categorization is still admitted if and only if

1. no category is lost, and the sets reach'(s) of the old sinks s are disjoint and together are
   all new sinks;
2. for every old category v, reach'(v) is the union of reach'(s) over the s in reach(v).

Both are needed: the old sinks are a categorization, and so is any v with the old sinks outside
it. Both suffice: then a new sink is reached from exactly those selected categories from which its
one old sink was reached. To delete nothing is not enough: a new root with a new sink makes the
sample space larger, and every earlier categorization leaves the new sink out.

Linear in nodes and edges of both graphs, times the words of a sink set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gamekeeper.algorithms.categories.graph_property import bits, topological_order
from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.wording import quoted


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
    for name in reversed(topological_order(children) or ()):
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
            names = [tuple(after.sinks[number] for number in bits(part)) for part in (more, less)]
            found.append(Unsafe(UnsafeKind.CATEGORY_CHANGES, (name,), *names))
    return sorted(found, key=lambda unsafe: unsafe.categories)
