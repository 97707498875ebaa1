"""The forest of labelled cliques inside a dynamic junction tree, how it is turned, and its moves.

Everything here keeps the graph that the forest stands for, but for the bare `hang` and
`swap_with_parent`, whose callers change the cliques as well. Which edges may come and go is found
on the paths next to their ends: adding is decided on the ways up from the two ends, deleting in the
subtree of the cliques that hold both. `dynamic_junction_tree` has the definitions and the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gamekeeper.algorithms.decomposable.graphs import members
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
        for child in members(self.children[v]):
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
        below = [u for u in members(forest.children[label]) if not ends & ~forest.cliques[u]]
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
    return sorted((min(v, w), max(v, w)) for w in members(others))
