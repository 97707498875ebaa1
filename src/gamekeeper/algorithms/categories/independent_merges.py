"""Independent parts of categorizations: parts whose merges have nothing to do with each other.

A partition links every sink to the smallest one in its block. Taken together, the links of some
partitions are edges of a graph, and the number of blocks that a join has lost is the rank of its
links in the cycle matroid of that graph. The components of the matroid follow from any spanning
forest: each further link closes one cycle, and links on a common cycle belong together
(Krogdahl, The dependence graph for bases in matroids, 1977). The links of one partition belong
together as well, because they come all at once. Over parts that are left apart, ranks add up, and
every choice of one join per part gives another join: k parts make at least 2^k - 1 of them.

Near linear in the number of links, times the length of the cycles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.algorithms.disjoint_sets import DisjointSets


def independent_parts(partitions: Sequence[Partition]) -> list[list[int]]:
    """Split partitions of the same sinks into independent parts, given by their positions.

    Partitions without any link, that is with every sink alone, are in no part.

    Examples
    --------
    >>> pairs = [Partition.from_labels(labels) for labels in ([0, 0, 1, 2], [0, 1, 2, 2])]
    >>> independent_parts(pairs), independent_parts([*pairs, Partition.from_labels([0, 1, 0, 1])])
    ([[0], [1]], [[0, 1, 2]])
    """
    groups = DisjointSets()
    forest = DisjointSets()
    neighbours: dict[int, list[int]] = {}
    closing: list[tuple[int, int]] = []
    for number, partition in enumerate(partitions):
        for sink, smallest in enumerate(partition.labels.tolist()):
            if sink != smallest:
                groups.unite(number, (smallest, sink))
                if forest.unite(smallest, sink):
                    neighbours.setdefault(smallest, []).append(sink)
                    neighbours.setdefault(sink, []).append(smallest)
                else:
                    closing.append((smallest, sink))
    above, depth = _rooted(neighbours)
    for link in closing:
        u, v = link
        while u != v:
            if depth[u] < depth[v]:
                u, v = v, u
            groups.unite(link, (min(u, above[u]), max(u, above[u])))
            u = above[u]
    parts: dict[Hashable, list[int]] = {}
    for number, partition in enumerate(partitions):
        if partition.n_blocks < partition.n_sinks:
            parts.setdefault(groups.find(number), []).append(number)
    return list(parts.values())


def _rooted(neighbours: Mapping[int, list[int]]) -> tuple[dict[int, int], dict[int, int]]:
    """Hang each tree of a forest from one of its nodes: parents and depths."""
    above: dict[int, int] = {}
    depth: dict[int, int] = {}
    for root in neighbours:
        if root not in depth:
            depth[root] = 0
            waiting = deque([root])
            while waiting:
                here = waiting.popleft()
                for other in neighbours[here]:
                    if other not in depth:
                        above[other], depth[other] = here, depth[here] + 1
                        waiting.append(other)
    return above, depth
