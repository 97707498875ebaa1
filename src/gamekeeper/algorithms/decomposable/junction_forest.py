"""The forest of labelled cliques inside a dynamic junction tree, and how it is turned.

Everything here keeps the graph that the forest stands for, but for the bare `hang` and
`swap_with_parent`, whose callers change the cliques as well. `dynamic_junction_tree` has the
definitions and the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from gamekeeper.algorithms.decomposable.adjacency_masks import members
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
    """Return the set of the children of each label."""
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
