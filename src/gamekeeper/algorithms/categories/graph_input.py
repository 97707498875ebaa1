"""What a partition graph is made from, brought into one form: children, sets, an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted


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
