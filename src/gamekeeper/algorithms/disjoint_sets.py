"""Disjoint sets that can be united: union-find with path compression.

Tarjan, Efficiency of a good but not linear set union algorithm, 1975. Near-constant time a call.
"""

from __future__ import annotations

from collections.abc import Hashable


class DisjointSets:
    """Sets of hashable items, each item at first alone in a set of its own.

    Examples
    --------
    >>> sets = DisjointSets()
    >>> sets.unite("a", "b"), sets.unite("b", "a")
    (True, False)
    >>> sets.find("a") == sets.find("b")
    True
    """

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def find(self, item: Hashable) -> Hashable:
        """Return the item that stands for the set of this one."""
        root = item
        while (above := self._parent.get(root, root)) != root:
            root = above
        while item != root:
            above = self._parent[item]
            self._parent[item] = root
            item = above
        return root

    def unite(self, a: Hashable, b: Hashable) -> bool:
        """Unite the sets of two items; tell whether they were apart."""
        root_a, root_b = self.find(a), self.find(b)
        if root_a == root_b:
            return False
        self._parent[root_b] = root_a
        return True
