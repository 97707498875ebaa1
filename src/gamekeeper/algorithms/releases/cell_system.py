"""The cells of a set of published tables, and which of them add up to which.

A table may have a category and its parts on one axis, and several tables of one base may have
different categorizations of it, nested or not. A *node* is a category by what it holds, so that two
names of the same thing are one node. An *atom* is a finest part that the categories in use can tell
apart: the meets of all categorizations. Every node is a set of atoms. Of what is declared, only
what is used matters: finest categories that no category in use tells apart are one atom, and it is
part of a sum like any other.

Cells are products of nodes, one of each axis; an axis that a table does not have is taken whole.
Cells that hold the same are one cell, wherever they are published, so that the shared margins of
linked tables are one number.

Where a cell and all its parts along an axis are there, the cell is their sum. A cell that is no
such sum and is not of the finest kind is the sum of finest ones, which nobody published. Those are
not made for all axes together: tables restrict each other only where they share axes. The axes that
occur together make a graph; filled in until it has no chordless cycle, its cliques have finest
cells each, and two cliques agree on what they share. By the theorem on decomposable models any such
tables are margins of one base table, of numbers from 0 up and of whole numbers too (Dobra and
Fienberg 2000), so that nothing is lost. Four tables that join four axes in a ring need a few
thousand cells this way, and the product of all axes had 71,712.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.decomposable.graphs import members
from gamekeeper.algorithms.decomposable.junction_tree import junction_tree
from gamekeeper.errors import LimitError, Reason

Integers = NDArray[np.int64]
Parts = Mapping[str, Sequence[Sequence[str]]]
"""For each category the ways in which it is the sum of others; none for a finest one."""


@dataclass(frozen=True, eq=False)
class AxisNodes:
    """The nodes of an axis.

    - `labels`: a name of each; of a part that no name in use stands for, that of what it is left
      of. `number` has the node of each name.
    - `atoms`: the atoms of each node, sorted; `splits`: the ways in which it is the sum of smaller
      ones.
    - `total`: the node that is the whole axis.
    - `unpublished`: nodes that stand for parts which no table has and nobody names.
    - `finest`: the atom of each finest category, whether a table has it or not.
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
    """Return the nodes of an axis from the categories that tables use and the names of the whole.

    `parts` has the ways in which categories are sums of others. It has no cycles, and the parts of
    a category hold nothing twice. `unpublished` parts stand for what is in a category besides those
    that are named.

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
    def __init__(self) -> None:
        self.labels: list[str] = []
        self.atoms: list[Integers] = []
        self._known: dict[bytes, int] = {}

    def add(self, label: str, atoms: Iterable[int]) -> int:
        own = np.array(sorted(atoms), np.int64)
        at = self._known.setdefault(own.tobytes(), len(self.labels))
        if at == len(self.labels):
            self.labels.append(label)
            self.atoms.append(own)
        return at


def _expanded(
    part: str, parts: Parts, number: Mapping[str, int], atom_of: Mapping[int, int], leaves: _Leaves
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


MOST_UNPUBLISHED = 1_000_000
"""The finest cells that nobody published, above which tables are not joined through them."""
MOST_ABSENT = 10_000_000
"""The cells without a row, beside others that have one, above which tables are refused."""
_MOST_KEYS = 2**62


class Kind(IntEnum):
    """Where a cell of a system comes from."""

    LISTED = 0
    """A table has a row for it."""
    ABSENT = 1
    """It has no row, and others beside it have."""
    UNPUBLISHED = 2
    """Nobody published it: it stands between cells that were."""


@dataclass(frozen=True, eq=False)
class CellSystem:
    """Cells and their sums.

    - `nodes`, `kinds`: the node of each cell on each axis, one row per cell, and where it comes
      from.
    - `tables`: for each table, the cell of each of its rows.
    - `starts`, `parts`: equation e says that the first of `parts[starts[e]:starts[e + 1]]` is the
      sum of the others.
    - `is_joined`: whether the equations say all that the tables imply about each other.
    """

    axes: tuple[AxisNodes, ...]
    nodes: Integers
    kinds: Integers
    tables: tuple[Integers, ...]
    starts: Integers
    parts: Integers
    is_joined: bool

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.nodes)

    @property
    def n_equations(self) -> int:
        """The number of equations."""
        return len(self.starts) - 1

    def equation(self, number: int) -> tuple[int, Integers]:
        """Return a cell and those that it is the sum of."""
        own = self.parts[self.starts[number] : self.starts[number + 1]]
        return int(own[0]), own[1:]


def cell_system(
    axes: Sequence[AxisNodes],
    tables: Sequence[Integers],
    *,
    most_unpublished: int = MOST_UNPUBLISHED,
) -> CellSystem:
    """Return the cells of tables with all their sums.

    A table has the node of each of its rows on each axis. At most `most_unpublished` finest cells
    are made where nobody published them.

    Examples
    --------
    >>> axis = axis_nodes({}, ["a", "b"], ["Total"])
    >>> system = cell_system([axis], [np.array([[0], [1], [2]])])
    >>> system.equation(0)
    (2, array([0, 1]))
    """
    made = _Builder(tuple(axes), most_unpublished)
    made.given = [
        np.asarray(table, np.int64).reshape(len(table), len(axes)) @ made.strides
        for table in tables
    ]
    return made.system()


class _Builder:
    """Cells by key, and the equations between them."""

    def __init__(self, axes: tuple[AxisNodes, ...], most_unpublished: int) -> None:
        self.axes = axes
        self.most = most_unpublished
        sizes = [len(axis) for axis in axes]
        if math.prod(sizes) > _MOST_KEYS:
            raise LimitError(
                Reason.TOO_LARGE,
                "Tables were to be put together.",
                f"Their axes have {math.prod(sizes):,} possible cells, above {_MOST_KEYS:,}.",
                "Name fewer columns as axes (--axes), or audit tables apart.",
            )
        self.strides = np.array([math.prod(sizes[a + 1 :]) for a in range(len(sizes))], np.int64)
        self.totals = np.array([axis.total for axis in axes], np.int64)
        self.given: list[Integers] = []
        self.keys = np.zeros(0, np.int64)
        self.kinds = np.zeros(0, np.int64)
        self.equations: list[Integers] = []
        self.lengths: list[Integers] = []
        self.is_joined = True

    def system(self) -> CellSystem:
        self._more(np.concatenate([np.zeros(0, np.int64), *self.given]), Kind.LISTED)
        listed = self.keys.copy()
        while len(absent := self._absent()):
            nobodys = self._has_unpublished(absent)
            self._more(absent[~nobodys], Kind.ABSENT)
            self._more(absent[nobodys], Kind.UNPUBLISHED)
        self._join(listed)
        nodes = self._nodes(self.keys)
        for _, own, parts in self._splits(nodes):
            whole = self._has(parts).all(axis=1)
            self._equate(self.keys[own[whole]], parts[whole])
        lengths = np.concatenate([np.zeros(0, np.int64), *self.lengths])
        keys = np.concatenate([np.zeros(0, np.int64), *self.equations])
        return CellSystem(
            self.axes,
            nodes,
            self.kinds,
            tuple(np.searchsorted(self.keys, own) for own in self.given),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.searchsorted(self.keys, keys),
            self.is_joined,
        )

    def _more(self, keys: Integers, kind: Kind) -> None:
        new = np.setdiff1d(keys, self.keys)
        joined = np.concatenate([self.keys, new])
        order = np.argsort(joined, kind="stable")
        self.kinds = np.concatenate([self.kinds, np.full(len(new), int(kind), np.int64)])[order]
        self.keys = joined[order]

    def _nodes(self, keys: Integers) -> Integers:
        sizes = np.array([len(axis) for axis in self.axes], np.int64)
        return (keys[:, None] // self.strides) % np.maximum(sizes, 1)

    def _has(self, keys: Integers) -> NDArray[np.bool_]:
        if not len(self.keys):
            return np.zeros(keys.shape, bool)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.keys[at] == keys

    def _splits(self, nodes: Integers) -> Iterable[tuple[int, Integers, Integers]]:
        """Return, for each axis and way, the cells that it splits and the keys of their parts."""
        for at, axis in enumerate(self.axes):
            column = nodes[:, at]
            order = np.argsort(column, kind="stable")
            bounds = np.searchsorted(column[order], np.arange(len(axis) + 1))
            for node, ways in enumerate(axis.splits):
                own = order[bounds[node] : bounds[node + 1]]
                for way in ways if len(own) else ():
                    rest = self.keys[own] - node * self.strides[at]
                    yield at, own, rest[:, None] + way * self.strides[at]

    def _has_unpublished(self, keys: Integers) -> NDArray[np.bool_]:
        """Whether cells are of parts that no table has and nobody names."""
        nodes = self._nodes(keys)
        found = np.zeros(len(keys), bool)
        for at, axis in enumerate(self.axes):
            found |= np.isin(nodes[:, at], list(axis.unpublished))
        return found

    def _absent(self) -> Integers:
        """Return the keys of cells without a row, beside siblings that have one."""
        found: list[Integers] = []
        n_found = 0
        for _, _, parts in self._splits(self._nodes(self.keys)):
            there = self._has(parts)
            some = there.any(axis=1) & ~there.all(axis=1)
            found.append(parts[some][~there[some]])
            n_found += len(found[-1])
            if n_found > MOST_ABSENT:
                raise LimitError(
                    Reason.TOO_LARGE,
                    "Tables were to be put together.",
                    f"More than {MOST_ABSENT:,} cells have no row, and others beside them have.",
                    "Name fewer columns as axes (--axes), or leave out levels that are nearly empty.",
                )
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def _equate(self, keys: Integers, parts: Integers) -> None:
        if len(keys):
            self.equations.append(np.column_stack([keys, parts]).reshape(-1))
            self.lengths.append(np.full(len(keys), parts.shape[1] + 1, np.int64))

    def _join(self, listed: Integers) -> None:
        """Make finest cells, and what cliques share, where tables restrict each other by them."""
        tree = junction_tree(self._adjacency(self._patterns(self._nodes(listed))))
        # Cliques without a common axis still have the same total.
        shared = [
            ((clique, tree.cliques[max(parent, 0)]), self._frame(separator))
            for clique, separator, parent in zip(
                tree.cliques[1:], tree.separators[1:], tree.parents[1:], strict=True
            )
        ]
        before = self.keys, self.kinds
        for _, keys in shared:
            self._more(keys, Kind.UNPUBLISHED)
        nodes = self._nodes(self.keys)
        patterns = self._patterns(nodes)
        splits = list(self._whole_splits(nodes))
        is_end = np.ones(len(nodes), bool)
        for _, own, _ in splits:
            is_end[own] = False
        # Ends first: what is the sum of ends needs no equation of its own.
        spread = {clique: np.zeros(len(nodes), bool) for clique in tree.cliques}
        for candidates in (is_end, ~is_end):
            settled = {c: self._settled(c, nodes, splits, spread[c]) for c in tree.cliques}
            left = candidates & ~np.any(list(settled.values()), axis=0)
            for clique in tree.cliques:
                own = left & ((patterns & ~clique) == 0)
                spread[clique] |= own
                left &= ~own
        for sides, keys in shared:
            for side in sides:
                at = np.searchsorted(self.keys, keys)
                own = self._settled(side, nodes, splits, spread[side])[at]
                spread[side][at[~own]] = True
        frames = [clique for clique, own in spread.items() if own.any()]
        if sum(math.prod(self.axes[at].n_atoms for at in members(c)) for c in frames) > self.most:
            self.is_joined = False
            self.keys, self.kinds = before
            return
        chosen = [(clique, self.keys[own]) for clique, own in spread.items() if own.any()]
        for clique, keys in chosen:
            self._more(self._frame(clique), Kind.UNPUBLISHED)
            self._spread(keys, clique)

    def _whole_splits(self, nodes: Integers) -> Iterable[tuple[int, Integers, Integers]]:
        for at, own, parts in self._splits(nodes):
            whole = self._has(parts).all(axis=1)
            if whole.any():
                yield at, own[whole], np.searchsorted(self.keys, parts[whole])

    def _settled(
        self,
        clique: int,
        nodes: Integers,
        splits: Sequence[tuple[int, Integers, Integers]],
        spread: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Whether each cell is known to be a sum of finest cells of a clique."""
        settled = (self._patterns(nodes) & ~clique) == 0
        for at in members(clique):
            settled &= self.axes[at].is_atom[nodes[:, at]]
        settled |= spread
        own_splits = [(own, parts) for at, own, parts in splits if clique >> at & 1]
        while True:
            before = int(np.count_nonzero(settled))
            for own, parts in own_splits:
                settled[own] |= settled[parts].all(axis=1)
            if int(np.count_nonzero(settled)) == before:
                return settled

    def _patterns(self, nodes: Integers) -> Integers:
        kept = (nodes != self.totals).astype(np.int64)
        return kept @ (1 << np.arange(len(self.axes), dtype=np.int64))

    def _adjacency(self, patterns: Integers) -> list[int]:
        """Return the axes that occur together, filled in until there is no chordless cycle."""
        n = len(self.axes)
        masks = [0] * n
        for pattern in np.unique(patterns).tolist():
            for at in members(pattern):
                masks[at] |= pattern & ~(1 << at)
        weights = [math.log(max(axis.n_atoms, 1)) for axis in self.axes]
        filled, left = list(masks), (1 << n) - 1
        while left:
            at = min(
                members(left),
                key=lambda v: (sum(weights[w] for w in members(masks[v] & left)) + weights[v], v),
            )
            around = masks[at] & left
            for v in members(around):
                masks[v] |= around & ~(1 << v)
                filled[v] |= around & ~(1 << v)
            left &= ~(1 << at)
        return filled

    def _frame(self, clique: int) -> Integers:
        """Return the keys of the finest cells of some axes, the others whole."""
        keys = np.zeros(1, np.int64)
        for at, axis in enumerate(self.axes):
            own = axis.atom_nodes if clique >> at & 1 else np.array([axis.total], np.int64)
            keys = (keys[:, None] + own * self.strides[at]).reshape(-1)
        return keys

    def _spread(self, keys: Integers, clique: int) -> None:
        """Say that cells are sums of the finest cells of a clique."""
        for key, nodes in zip(keys.tolist(), self._nodes(keys), strict=True):
            parts = np.zeros(1, np.int64)
            for at, axis in enumerate(self.axes):
                own = nodes[at : at + 1]
                if clique >> at & 1:
                    own = axis.atom_nodes[axis.atoms[nodes[at]]]
                parts = (parts[:, None] + own * self.strides[at]).reshape(-1)
            if len(parts) > 1 or parts[0] != key:
                self._equate(np.array([key]), parts[None, :])
