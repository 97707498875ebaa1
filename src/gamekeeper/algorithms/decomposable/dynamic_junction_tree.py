"""Dynamic junction trees: decomposable graphs whose edges are added and deleted by local moves.

There is one clique per variable, its label: the variable and its neighbours at the time an
elimination ordering removes it. The parent of a clique is labelled by the first of those
neighbours to be eliminated. So each label is in no clique above its own (running intersection),
a parent's label is a member of the clique (dynamic junction tree property), and the tree stands
for all orderings that eliminate children before parents. A graph of several components has a
forest.

A rotation swaps a clique with its parent, as swapping two neighbours in the ordering would. It is
neutral, leaving the graph as it is, if and only if the clique C_v has one member more than its
parent's. Two variables are in one component if their cliques have the same root. Legality of a
move is read off the paths to the root or a subtree below one clique, and a move is made by neutral
rotations, one change of one clique, and at most one new parent: adding is decided on the ways up from
the two ends, deleting in the subtree of the cliques that hold both. Methods of the forest keep the
graph that it stands for, but for the bare `hang` and `swap_with_parent`, whose callers change the
cliques as well.

Smith's thesis, chapter 6, with these corrections: after a rotation the clique C_v holds its label;
its first condition alone makes a rotation neutral in a decomposable graph; a component is attached
below the clique labelled w, not below any that holds w; a clique that leaves its parent goes
to the nearest ancestor among its members; common neighbours must separate what is to be joined.
Costs are operations on masks: a question takes at most the depth of the tree (deletion: and the
children of the cliques passed), a move at most the square of the depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gamekeeper.algorithms.decomposable import graphs
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of


class JunctionForest:
    """Cliques, parents and children by label; a parent of -1 is none.

    Examples
    --------
    >>> forest = JunctionForest([0b001, 0b011, 0b101], [-1, 0, 0])
    >>> forest.turn(1)
    >>> forest.cliques, forest.parents
    ([3, 2, 5], [1, -1, 0])
    """

    __slots__ = ("children", "cliques", "parents")

    def __init__(self, cliques: Sequence[int], parents: Sequence[int]) -> None:
        self.cliques = [int(clique) for clique in cliques]
        self.parents = [int(parent) for parent in parents]
        problems = _problems(self.cliques, self.parents)
        if problems:
            raise InputError(
                Reason.MALFORMED,
                f"A forest of {count_of(len(self.cliques), 'clique')} was asked for.",
                f"Labels that are not as they must be: {len(problems)}.",
                "Build it from a graph and an elimination ordering.",
                problems=problems,
            )
        self.children = _children(self.parents)

    def copy(self) -> JunctionForest:
        """Return a forest of its own that is the same as this one."""
        other = object.__new__(JunctionForest)
        other.cliques = self.cliques.copy()
        other.parents = self.parents.copy()
        other.children = self.children.copy()
        return other

    def problems(self) -> list[Problem]:
        """Return which labels break the forest, running intersection or the tree property."""
        pairs = zip(self.children, _children(self.parents), strict=True)
        return _problems(self.cliques, self.parents) + [
            _problem(v, "its children do not name it as their parent.")
            for v, (children, wanted) in enumerate(pairs)
            if children != wanted
        ]

    def root_of(self, v: int) -> int:
        """Return the label of the root above a clique."""
        while self.parents[v] >= 0:
            v = self.parents[v]
        return v

    def upwards(self, v: int) -> int:
        """Return the set of v and the labels above it."""
        above = 0
        while v >= 0:
            above |= 1 << v
            v = self.parents[v]
        return above

    def hang(self, v: int, parent: int) -> None:
        """Give a clique another parent, or none."""
        if self.parents[v] >= 0:
            self.children[self.parents[v]] &= ~(1 << v)
        self.parents[v] = parent
        if parent >= 0:
            self.children[parent] |= 1 << v

    def swap_with_parent(self, v: int) -> None:
        """Put a clique above its parent w, which takes over those of its children that hold w."""
        w = self.parents[v]
        for child in graphs.members(self.children[v]):
            if self.cliques[child] >> w & 1:
                self.hang(child, w)
        self.hang(v, self.parents[w])
        self.hang(w, v)

    def turn(self, v: int) -> None:
        """Rotate a clique that holds all members of its parent's with the parent."""
        w = self.parents[v]
        self.swap_with_parent(v)
        self.cliques[w] = self.cliques[v]
        self.cliques[v] ^= 1 << w

    def raise_to(self, v: int, top: int) -> None:
        """Make v take the place of itself or an ancestor, `top`, by neutral rotations.

        The members of the clique of `top` other than `top` must be in that of v.

        From the top down, ancestors that are not in the clique of a label are made to leave its
        path, until the path is a chain of cliques that grow by one member each. In such a chain
        every rotation is neutral, so v can rise.
        """
        path = [v]
        while path[-1] != top:
            path.append(self.parents[path[-1]])
        chain: list[int] = []
        for label in reversed(path):
            kept = [u for u in chain if self.cliques[label] >> u & 1]
            # Those that stay rise above those that leave. The last of the chain, the parent of
            # the label, always stays, so that in the end those that leave hang beside the label.
            n_leaving = 0
            for u in chain:
                if self.cliques[label] >> u & 1:
                    for _ in range(n_leaving):
                        self.turn(u)
                else:
                    n_leaving += 1
            chain = [*kept, label]
        for _ in chain[1:]:
            self.turn(v)


def _children(parents: Sequence[int]) -> list[int]:
    children = [0] * len(parents)
    for v, parent in enumerate(parents):
        if parent >= 0:
            children[parent] |= 1 << v
    return children


def _problems(cliques: Sequence[int], parents: Sequence[int]) -> list[Problem]:
    """Return which labels break the forest, running intersection or the tree property."""
    n_labels = len(cliques)
    if len(parents) != n_labels:
        found = f"there are {n_labels} cliques and {len(parents)} parents."
        return [Problem(Reason.MALFORMED, "the tree", found)]
    problems: list[Problem] = []
    for v, (clique, parent) in enumerate(zip(cliques, parents, strict=True)):
        if clique < 0 or clique >> n_labels or not -1 <= parent < n_labels:
            problems.append(_problem(v, "it names a variable that there is not."))
        elif not clique >> v & 1:
            problems.append(_problem(v, "its clique does not hold it."))
        elif parent < 0:
            if clique != 1 << v:
                problems.append(_problem(v, "it is a root, and its clique holds others."))
        elif parent == v or not clique >> parent & 1:
            problems.append(_problem(v, "its clique does not hold the label of its parent."))
        elif clique & ~cliques[parent] & ~(1 << v):
            problems.append(_problem(v, "its clique holds others than its parent's clique does."))
    if not problems:
        problems += [
            _problem(v, "no root is above it.") for v in range(n_labels) if _is_rootless(parents, v)
        ]
    return problems


def _is_rootless(parents: Sequence[int], v: int) -> bool:
    for _ in parents:
        if parents[v] < 0:
            return False
        v = parents[v]
    return True


def _problem(label: int, found: str) -> Problem:
    return Problem(Reason.MALFORMED, f"label {label}", found)


class Joint(NamedTuple):
    """How an edge can be added.

    The clique `lower` rises to the place of `top`, takes in `upper` and gets the parent `parent`;
    `common` is the set of the common neighbours of the two ends.
    """

    lower: int
    upper: int
    top: int
    parent: int
    common: int


def find_joint(forest: JunctionForest, v: int, w: int) -> Joint | None:
    """Return how an edge that is not there can be added, or None if it cannot.

    The common neighbours of v and w are the intersection of the two nearest cliques that hold v
    and w. They separate v and w if, and only if, they are the whole separator of an edge on the
    path between these. The upper label of that edge is a member of the separator, so it must be
    in both cliques: only the last edge of either way up can be it.

    Examples
    --------
    >>> find_joint(JunctionForest([0b001, 0b011, 0b101], [-1, 0, 0]), 1, 2)
    Joint(lower=1, upper=2, top=1, parent=2, common=1)
    """
    above_v = forest.upwards(v)
    if above_v >> w & 1:
        return _joint_with_ancestor(forest, v, w)
    top_w = w
    while (meeting := forest.parents[top_w]) >= 0 and not above_v >> meeting & 1:
        top_w = meeting
    if meeting == v:
        return _joint_with_ancestor(forest, w, v)
    if meeting < 0:
        return Joint(v, w, forest.root_of(v), w, 0)
    top_v = v
    while forest.parents[top_v] != meeting:
        top_v = forest.parents[top_v]
    common = forest.cliques[v] & forest.cliques[w]
    if forest.cliques[top_v] == common | 1 << top_v:
        return Joint(v, w, top_v, w, common)
    if forest.cliques[top_w] == common | 1 << top_w:
        return Joint(w, v, top_w, v, common)
    return None


def _joint_with_ancestor(forest: JunctionForest, lower: int, upper: int) -> Joint | None:
    top = lower
    while not forest.cliques[parent := forest.parents[top]] >> upper & 1:
        top = parent
    common = forest.cliques[lower] & forest.cliques[parent]
    if forest.cliques[top] == common | 1 << top:
        return Joint(lower, upper, top, parent, common)
    return None


def find_chain(forest: JunctionForest, v: int, w: int) -> list[int] | None:
    """Return the labels of the cliques that hold both ends of an edge, from the top down.

    The first is v or w. None if the edge cannot be deleted. If it is in one maximal clique only,
    the cliques form a chain in which each holds all of the one above it and its own label; if it
    is in several, they branch, or a clique loses a member on the way down.

    Examples
    --------
    >>> find_chain(JunctionForest([0b001, 0b011, 0b111], [-1, 0, 1]), 0, 1)
    [1, 2]
    """
    label = v if forest.cliques[v] >> w & 1 else w
    chain = [label]
    ends = 1 << v | 1 << w
    while True:
        below = [u for u in graphs.members(forest.children[label]) if not ends & ~forest.cliques[u]]
        if not below:
            return chain
        if len(below) > 1 or forest.cliques[label] & ~forest.cliques[below[0]]:
            return None
        label = below[0]
        chain.append(label)


@dataclass(frozen=True, slots=True)
class MoveTerms:
    """The two margins gained and lost by which a model differs after one edge was added or deleted.

    The Bayes factor of the model after the move against the model before it is the product of the
    marginal likelihoods of the margins gained over those of the margins lost (Dawid and Lauritzen,
    1993). Margins are sets of variables as masks; the empty one has likelihood 1.

    Examples
    --------
    >>> MoveTerms.of_addition(0, 1, common=0b100).gained
    (7, 4)
    """

    gained: tuple[int, int]
    lost: tuple[int, int]

    @classmethod
    def of_addition(cls, v: int, w: int, *, common: int) -> MoveTerms:
        """Return the terms of adding (v, w) when `common` are the neighbours of both."""
        one, other = common | 1 << v, common | 1 << w
        return cls((one | other, common), (one, other))

    @classmethod
    def of_deletion(cls, v: int, w: int, *, common: int) -> MoveTerms:
        """Return the terms of deleting (v, w) when `common` are the neighbours of both."""
        added = cls.of_addition(v, w, common=common)
        return cls(added.lost, added.gained)


@dataclass(frozen=True, slots=True)
class Rotation:
    """A clique that was rotated with its parent: the parent is its child now.

    `beside_label`, `beside_parent` and `beside_both` are the variables that were joined to the
    label alone, to the former parent's alone and to both when only the other variables below the
    two were eliminated (U_v, U_w and U_vw), as masks.

    Examples
    --------
    >>> Rotation(0, 1, beside_label=0, beside_parent=0b1000, beside_both=0b100).edges_added
    [(0, 3)]
    """

    label: int
    parent: int
    beside_label: int
    beside_parent: int
    beside_both: int

    @property
    def edges_added(self) -> list[tuple[int, int]]:
        """The edges between the label and variables that were joined to the parent alone."""
        return _edges_from(self.label, self.beside_parent)

    @property
    def edges_removed(self) -> list[tuple[int, int]]:
        """The edges between the parent and variables that were joined to the label alone."""
        return _edges_from(self.parent, self.beside_label)

    @property
    def is_neutral(self) -> bool:
        """Whether the graph is as it was."""
        return not self.beside_label and not self.beside_parent


def _edges_from(v: int, others: int) -> list[tuple[int, int]]:
    return sorted((min(v, w), max(v, w)) for w in graphs.members(others))


class DynamicJunctionTree:
    """A forest of labelled cliques that stands for a decomposable graph.

    For each label there are the variables of its clique, as a mask, and the parent, None for a
    root.

    Examples
    --------
    >>> from gamekeeper.algorithms.decomposable.graphs import adjacency_of, edges_of
    >>> tree = DynamicJunctionTree.of_graph(adjacency_of(4, [(0, 1), (1, 2)]))
    >>> tree.can_add(0, 2), tree.can_delete(0, 1), tree.same_component(0, 3)
    (True, True, False)
    >>> tree.add_edge(0, 2)
    MoveTerms(gained=(7, 2), lost=(3, 6))
    >>> edges_of(tree.graph())
    [(0, 1), (0, 2), (1, 2)]
    """

    __slots__ = ("_base", "_forest")

    def __init__(self, cliques: Sequence[int], parents: Sequence[int | None]) -> None:
        self._forest = JunctionForest(cliques, [-1 if p is None else p for p in parents])
        # The graph without fill-ins that rotations go back to; None: there are no fill-ins.
        self._base: graphs.Adjacency | None = None

    @classmethod
    def of_ordering(
        cls, adjacency: graphs.AdjacencyLike, ordering: Iterable[int]
    ) -> DynamicJunctionTree:
        """Return the tree of a graph and an elimination ordering; the graph may be any.

        Fill-ins are remembered as such: `rotate` drops those that the new ordering does not
        need. The first move of an edge makes all of them edges of the model.

        Examples
        --------
        >>> square = [0b1010, 0b0101, 0b1010, 0b0101]
        >>> tree = DynamicJunctionTree.of_ordering(square, [0, 1, 2, 3])
        >>> tree.parents, tree.has_edge(1, 3)
        ((1, 2, 3, None), True)
        """
        masks = graphs.as_adjacency(adjacency)
        ordering = graphs.as_ordering(len(masks), ordering)
        cliques = graphs.eliminate(masks, ordering)
        place = {v: number for number, v in enumerate(ordering)}
        parents = [
            min(graphs.members(clique ^ 1 << v), key=place.__getitem__, default=None)
            for v, clique in enumerate(cliques)
        ]
        tree = cls(cliques, parents)
        if tree.graph() != masks:
            tree._base = masks
        return tree

    @classmethod
    def of_graph(cls, adjacency: graphs.AdjacencyLike) -> DynamicJunctionTree:
        """Return a tree of a decomposable graph."""
        asked = "The dynamic junction tree of a graph was asked for."
        return cls.of_ordering(*graphs.require_decomposable(adjacency, asked))

    @property
    def n_variables(self) -> int:
        """The number of variables, and of cliques."""
        return len(self._forest.cliques)

    @property
    def cliques(self) -> tuple[int, ...]:
        """The clique of each label, as a mask that includes the label."""
        return tuple(self._forest.cliques)

    @property
    def parents(self) -> tuple[int | None, ...]:
        """The label of the parent of each clique, or None for a root."""
        return tuple(None if parent < 0 else parent for parent in self._forest.parents)

    def graph(self) -> graphs.Adjacency:
        """Return the decomposable graph, fill-ins included."""
        masks = [clique ^ 1 << v for v, clique in enumerate(self._forest.cliques)]
        for v, clique in enumerate(self._forest.cliques):
            for w in graphs.members(clique ^ 1 << v):
                masks[w] |= 1 << v
        return tuple(masks)

    def margins(self) -> Counter[int]:
        """Return how often the margin of each set of variables is a factor of the distribution.

        Maximal cliques count 1 and separators minus their number; what cancels and the empty set
        are left out.

        Examples
        --------
        >>> DynamicJunctionTree.of_graph([0b010, 0b101, 0b010]).margins() == {3: 1, 6: 1, 2: -1}
        True
        """
        counts: Counter[int] = Counter(self._forest.cliques)
        counts.subtract(clique ^ 1 << v for v, clique in enumerate(self._forest.cliques))
        return Counter({margin: n for margin, n in counts.items() if n and margin})

    def ordering(self) -> tuple[int, ...]:
        """Return an elimination ordering that the tree stands for: children before parents."""
        found: list[int] = []
        waiting = [v for v, parent in enumerate(self._forest.parents) if parent < 0]
        while waiting:
            v = waiting.pop()
            found.append(v)
            waiting.extend(graphs.members(self._forest.children[v]))
        return tuple(reversed(found))

    def check(self) -> list[Problem]:
        """Return what is wrong with the tree: nothing, unless there is a fault in the moves."""
        return self._forest.problems()

    def copy(self) -> DynamicJunctionTree:
        """Return a tree of its own that is the same as this one."""
        other = object.__new__(DynamicJunctionTree)
        other._forest = self._forest.copy()
        other._base = self._base
        return other

    def __repr__(self) -> str:
        n_trees = sum(parent < 0 for parent in self._forest.parents)
        n_edges = sum(clique.bit_count() - 1 for clique in self._forest.cliques)
        return (
            f"DynamicJunctionTree({count_of(self.n_variables, 'variable')},"
            f" {count_of(n_edges, 'edge')}, {count_of(n_trees, 'component')})"
        )

    def root_of(self, v: int) -> int:
        """Return the label of the root above a clique."""
        (v,) = graphs.as_variables(self.n_variables, v)
        return self._forest.root_of(v)

    def same_component(self, v: int, w: int) -> bool:
        """Tell whether a path of the graph connects two variables."""
        v, w = graphs.as_variables(self.n_variables, v, w)
        above = self._forest.upwards(v)
        while w >= 0 and not above >> w & 1:
            w = self._forest.parents[w]
        return w >= 0

    def has_edge(self, v: int, w: int) -> bool:
        """Tell whether the graph joins two variables."""
        v, w = graphs.as_variables(self.n_variables, v, w)
        return self._joins(v, w)

    def rotate(self, v: int) -> Rotation:
        """Rotate a clique with its parent: swap the two variables in the elimination ordering.

        Fill-ins that the new ordering needs are added, those that it does not need are dropped.

        Examples
        --------
        >>> tree = DynamicJunctionTree.of_ordering([0b1010, 0b0101, 0b1010, 0b0101], range(4))
        >>> rotation = tree.rotate(0)
        >>> rotation.edges_removed, rotation.edges_added
        ([(1, 3)], [(0, 2)])
        """
        v, w = self._with_parent(v)
        clique, parent_clique = self._forest.cliques[v], self._forest.cliques[w]
        both_labels = 1 << v | 1 << w
        beside_both = others = clique & ~both_labels
        beside_parent = parent_clique & ~clique
        if self._base is None and beside_parent:
            self._base = self.graph()
        if self._base is not None:
            # A clique below that holds w was left joined to w by an earlier elimination.
            joined = self._base[w]
            for child in graphs.members(
                (self._forest.children[v] | self._forest.children[w]) & ~(1 << v)
            ):
                if self._forest.cliques[child] >> w & 1:
                    joined |= self._forest.cliques[child]
            beside_both = others & joined
        beside_label = others & ~beside_both
        self._forest.swap_with_parent(v)
        self._forest.cliques[w] = beside_parent | beside_both | both_labels
        self._forest.cliques[v] = others | beside_parent | 1 << v
        return Rotation(v, w, beside_label, beside_parent, beside_both)

    def can_rotate_neutrally(self, v: int) -> bool:
        """Tell whether a clique can be rotated with its parent without a new edge.

        Then `rotate_neutrally` leaves the graph as it is; `rotate` may still drop fill-ins.
        """
        (v,) = graphs.as_variables(self.n_variables, v)
        return self._forest.parents[v] >= 0 and self._grows_by(v) == 1

    def rotate_neutrally(self, v: int) -> None:
        """Rotate a clique with its parent, leaving the graph as it is, or refuse.

        Fill-ins of an elimination ordering become edges like others.
        """
        v, _ = self._with_parent(v)
        if self._grows_by(v) != 1:
            raise InputError(
                Reason.UNSAFE_EDIT,
                f"A neutral rotation of the clique labelled {v} was asked for.",
                f"It has {count_of(1 - self._grows_by(v), 'member')} too few to hold all of its"
                " parent's clique.",
                "Rotate a clique with one member more than its parent's.",
            )
        self._base = None
        self._forest.turn(v)

    def make_root(self, v: int) -> None:
        """Make a clique the root of its tree by neutral rotations; the graph stays as it is.

        Examples
        --------
        >>> tree = DynamicJunctionTree.of_graph([0b010, 0b101, 0b010])
        >>> tree.make_root(2)
        >>> tree.root_of(0), tree.graph()
        (2, (2, 5, 2))
        """
        (v,) = graphs.as_variables(self.n_variables, v)
        self._base = None
        self._forest.raise_to(v, self._forest.root_of(v))

    def addition(self, v: int, w: int) -> MoveTerms | None:
        """Return the terms of adding an edge, or None if it is there or cannot be added."""
        v, w = graphs.as_variables(self.n_variables, v, w)
        joint = self._joint(v, w)
        return None if joint is None else MoveTerms.of_addition(v, w, common=joint.common)

    def deletion(self, v: int, w: int) -> MoveTerms | None:
        """Return the terms of deleting an edge, or None if there is none or it must stay."""
        v, w = graphs.as_variables(self.n_variables, v, w)
        chain = self._chain(v, w)
        if chain is None:
            return None
        common = self._forest.cliques[chain[-1]] & ~(1 << v | 1 << w)
        return MoveTerms.of_deletion(v, w, common=common)

    def can_add(self, v: int, w: int) -> bool:
        """Tell whether the graph lacks an edge and stays decomposable with it."""
        return self._joint(*graphs.as_variables(self.n_variables, v, w)) is not None

    def can_delete(self, v: int, w: int) -> bool:
        """Tell whether the graph has an edge and stays decomposable without it."""
        return self._chain(*graphs.as_variables(self.n_variables, v, w)) is not None

    def add_edge(self, v: int, w: int) -> MoveTerms:
        """Add an edge and return the margins that this changes, or refuse and change nothing.

        Examples
        --------
        >>> DynamicJunctionTree.of_graph([0, 0]).add_edge(0, 1)
        MoveTerms(gained=(3, 0), lost=(1, 2))
        """
        v, w = graphs.as_variables(self.n_variables, v, w)
        joint = self._joint(v, w)
        if joint is None:
            there = self._joins(v, w)
            found = "It is there already." if there else "With it a cycle has no chord."
            raise _illegal("added", v, w, found, "can_add")
        self._base = None
        self._forest.raise_to(joint.lower, joint.top)
        self._forest.cliques[joint.lower] |= 1 << joint.upper
        self._forest.hang(joint.lower, joint.parent)
        return MoveTerms.of_addition(v, w, common=joint.common)

    def delete_edge(self, v: int, w: int) -> MoveTerms:
        """Delete an edge and return the margins that this changes, or refuse and change nothing.

        Examples
        --------
        >>> DynamicJunctionTree.of_graph([0b10, 0b01]).delete_edge(0, 1)
        MoveTerms(gained=(1, 2), lost=(3, 0))
        """
        v, w = graphs.as_variables(self.n_variables, v, w)
        chain = self._chain(v, w)
        if chain is None:
            there = self._joins(v, w)
            found = "Without it a cycle has no chord." if there else "There is no such edge."
            raise _illegal("deleted", v, w, found, "can_delete")
        self._base = None
        lower = chain[0]
        upper = w if lower == v else v
        for below in chain[1:]:
            self._forest.turn(below)
        self._forest.cliques[lower] ^= 1 << upper
        if self._forest.parents[lower] == upper:
            parent = self._forest.parents[upper]
            while parent >= 0 and not self._forest.cliques[lower] >> parent & 1:
                parent = self._forest.parents[parent]
            self._forest.hang(lower, parent)
        common = self._forest.cliques[lower] ^ 1 << lower
        return MoveTerms.of_deletion(v, w, common=common)

    def _joins(self, v: int, w: int) -> bool:
        return bool((self._forest.cliques[v] >> w | self._forest.cliques[w] >> v) & 1)

    def _joint(self, v: int, w: int) -> Joint | None:
        return None if self._joins(v, w) else find_joint(self._forest, v, w)

    def _chain(self, v: int, w: int) -> list[int] | None:
        return find_chain(self._forest, v, w) if self._joins(v, w) else None

    def _grows_by(self, v: int) -> int:
        cliques = self._forest.cliques
        return cliques[v].bit_count() - cliques[self._forest.parents[v]].bit_count()

    def _with_parent(self, v: int) -> tuple[int, int]:
        (v,) = graphs.as_variables(self.n_variables, v)
        if self._forest.parents[v] < 0:
            raise InputError(
                Reason.BAD_OPTION,
                f"A rotation of the clique labelled {v} with its parent was asked for.",
                "It is a root and has none.",
                "Rotate a clique that has a parent.",
            )
        return v, self._forest.parents[v]


def _illegal(done: str, v: int, w: int, found: str, ask: str) -> InputError:
    return InputError(
        Reason.UNSAFE_EDIT, f"The edge ({v}, {w}) was to be {done}.", found, f"Ask {ask} first."
    )
