"""The categories of one axis of a set of tables: which hold which, and the finest there are.

A table may have a category and its parts on one axis, and several tables of one base may have
different categorizations of it, nested or not. A *node* is a category by what it holds, so that two
names of the same thing are one node. An *atom* is a finest part that the categories in use can tell
apart: the meets of all categorizations. Every node is a set of atoms.

Of what is declared, only what is used matters: finest categories that no category in use tells
apart are one atom, and it is part of a sum like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Parts = Mapping[str, Sequence[Sequence[str]]]
"""For each category the ways in which it is the sum of others; none for a finest one."""


@dataclass(frozen=True, eq=False)
class AxisNodes:
    """The nodes of an axis.

    Attributes
    ----------
    labels
        A name of each node; of a part that no name in use stands for, that of what it is left of.
    atoms
        The atoms of each node, sorted.
    splits
        For each node the ways in which it is the sum of smaller nodes.
    total
        The node that is the whole axis.
    number
        The node of each name.
    unpublished
        Nodes that stand for parts which no table has and nobody names.
    finest
        The atom of each finest category, whether a table has it or not.
    """

    labels: tuple[str, ...]
    atoms: tuple[Integers, ...]
    splits: tuple[tuple[Integers, ...], ...]
    total: int
    number: Mapping[str, int]
    unpublished: frozenset[int] = frozenset()
    finest: Mapping[str, int] = field(default_factory=dict[str, int])

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_atoms(self) -> int:
        """The number of atoms."""
        return len(self.atoms[self.total])

    @cached_property
    def atom_nodes(self) -> Integers:
        """The node of each atom; every atom has one."""
        found = np.full(self.n_atoms, -1, np.int64)
        for node, atoms in enumerate(self.atoms):
            if len(atoms) == 1:
                found[atoms[0]] = node
        return found

    @cached_property
    def over_atoms(self) -> tuple[Integers, ...]:
        """For each atom the nodes that hold it."""
        found: list[list[int]] = [[] for _ in range(self.n_atoms)]
        for node, atoms in enumerate(self.atoms):
            for atom in atoms.tolist():
                found[atom].append(node)
        return tuple(np.array(own, np.int64) for own in found)

    @cached_property
    def is_atom(self) -> NDArray[np.bool_]:
        """Whether each node is a single atom."""
        return np.array([len(atoms) == 1 for atoms in self.atoms], bool)


def axis_nodes(
    parts: Parts,
    used: Collection[str],
    totals: Sequence[str] = (),
    unpublished: Collection[str] = (),
) -> AxisNodes:
    """Return the nodes of an axis.

    Parameters
    ----------
    parts
        The ways in which categories are sums of others. It has no cycles, and the parts of a
        category hold nothing twice.
    used
        The categories that some table has.
    totals
        The names of the whole axis.
    unpublished
        Parts that stand for what is in a category besides those that are named.

    Examples
    --------
    >>> parts = {"A": [["A1", "A2", "A3"]], "A1": [["A11", "A12"]]}
    >>> axis = axis_nodes(parts, ["A", "A1", "A2", "B"], ["Total"])
    >>> [(label, atoms.tolist()) for label, atoms in zip(axis.labels, axis.atoms)]
    [('A', [0, 1, 2]), ('A1', [0]), ('A2', [1]), ('B', [3]), ('Total', [0, 1, 2, 3]), ('rest of A', [2])]
    >>> [[way.tolist() for way in ways] for ways in axis.splits]
    [[[1, 2, 5]], [], [], [], [[0, 3]], []]
    """
    wholes = dict.fromkeys(totals)
    in_use = [label for label in dict.fromkeys(used) if label not in wholes]
    leaves = _Leaves(parts)
    sets = {label: leaves.of(label) for label in in_use}
    everything = frozenset().union(
        *sets.values(), *(leaves.of(part) for whole in wholes for way in parts.get(whole, ()) for part in way)
    )  # fmt: skip
    # Of an axis on which only the whole is published, that is the finest part.
    everything = everything or frozenset(wholes)
    atom_of, n_atoms = _meets(sets.values(), everything)
    nodes = _Nodes()
    number = {
        label: nodes.add(label, {atom_of[leaf] for leaf in own}) for label, own in sets.items()
    }
    total = nodes.add(next(iter(wholes), "total"), range(n_atoms))
    number |= dict.fromkeys(wholes, total)
    found: dict[int, list[Integers]] = {}

    def split(node: int, label: str, way: Sequence[str]) -> None:
        own = dict.fromkeys(
            one for part in way for one in _expanded(part, parts, number, atom_of, leaves)
        )
        made = np.array(
            [one if one >= 0 else nodes.add(f"rest of {label}", [-1 - one]) for one in own],
            np.int64,
        )
        listed = found.setdefault(node, [])
        if node not in made and not any(np.array_equal(made, other) for other in listed):
            listed.append(made)

    for label in in_use:
        for way in parts.get(label, ()):
            split(number[label], label, way)
    declared = [way for whole in wholes for way in parts.get(whole, ())]
    for way in declared or _tops(in_use, sets, everything):
        split(total, next(iter(wholes), "the whole"), way)
    for atom in range(n_atoms):
        nodes.add("rest", [atom])
    atoms = tuple(nodes.atoms)
    splits = tuple(tuple(found.get(node, ())) for node in range(len(atoms)))
    open_atoms = {
        atom_of[leaf] for label in unpublished for leaf in leaves.of(label) if leaf in atom_of
    }
    open_nodes = frozenset(
        node for node, own in enumerate(atoms) if len(own) == 1 and int(own[0]) in open_atoms
    )
    finest = {label: atom_of[leaf] for label, leaf in leaves.number.items() if leaf in atom_of}
    return AxisNodes(tuple(nodes.labels), atoms, splits, total, number, open_nodes, finest)


class _Leaves:
    """The finest categories that each category holds, as declared."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.number: dict[str, int] = {}
        self._found: dict[str, frozenset[int]] = {}

    def of(self, label: str) -> frozenset[int]:
        """Return what a category holds; by several ways it holds the same."""
        waiting = [label]
        while waiting:
            at = waiting[-1]
            below = [part for way in self._parts.get(at, ()) for part in way]
            missing = [part for part in below if part not in self._found]
            if missing and at not in self._found:
                waiting += missing[::-1]
                continue
            waiting.pop()
            if at not in self._found:
                self._found[at] = frozenset().union(*(self._found[part] for part in below)) or (
                    frozenset([self.number.setdefault(at, len(self.number))])
                )
        return self._found[label]


class _Nodes:
    """Nodes by what they hold, each once."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.atoms: list[Integers] = []
        self._known: dict[bytes, int] = {}

    def add(self, label: str, atoms: Iterable[int]) -> int:
        """Return the node that holds some atoms."""
        own = np.array(sorted(atoms), np.int64)
        at = self._known.setdefault(own.tobytes(), len(self.labels))
        if at == len(self.labels):
            self.labels.append(label)
            self.atoms.append(own)
        return at


def _expanded(
    part: str,
    parts: Parts,
    number: Mapping[str, int],
    atom_of: Mapping[int, int],
    leaves: _Leaves,
) -> list[int]:
    """Return the nodes in use that a part is the sum of, and -1 - atom for what has no name."""
    if part in number:
        return [number[part]]
    ways = parts.get(part, ())
    if not ways:
        return [-1 - atom_of[leaf] for leaf in leaves.of(part)]
    return [one for own in ways[0] for one in _expanded(own, parts, number, atom_of, leaves)]


def _tops(
    in_use: Sequence[str], sets: Mapping[str, frozenset[int]], everything: frozenset[int]
) -> list[list[str]]:
    """Return the largest categories, if together they hold everything once."""
    by_size = sorted(in_use, key=lambda label: -len(sets[label]))
    held: set[int] = set()
    tops: list[str] = []
    for label in by_size:
        own = sets[label]
        if own <= held:
            continue
        if own & held:
            return []
        held |= own
        tops.append(label)
    tops.sort(key=in_use.index)
    return [tops] if held == set(everything) and tops else []


def _meets(
    sets: Iterable[frozenset[int]], everything: frozenset[int]
) -> tuple[dict[int, int], int]:
    """Return for each leaf its atom: leaves that every set holds together are one."""
    signatures: dict[int, list[int]] = {leaf: [] for leaf in sorted(everything)}
    for number, own in enumerate(sets):
        for leaf in own:
            signatures[leaf].append(number)
    numbers: dict[tuple[int, ...], int] = {}
    return (
        {leaf: numbers.setdefault(tuple(own), len(numbers)) for leaf, own in signatures.items()},
        len(numbers),
    )
