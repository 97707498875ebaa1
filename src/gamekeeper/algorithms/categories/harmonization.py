"""The harmonizations of a set of categorizations: all as a graph, or the best from both ends.

The nodes of the harmonization graph are the observed categorizations and the harmonizations of all
their non-empty subsets; an edge goes from a coarser node to a finer one where no other node lies
between (the transitive reduction of refinement, which is unique). Smith and Elliot, section 4.1. It
grows by one observed categorization at a time. A table holds, for every node v and observed
categorization c, the node H(v, c). When c joins the graph, H(v, c) is computed at most once for
every old node v. All else is looked up: for a new node u = H(v, c) and any d, H(u, d) = H(H(v, d),
c). So each node costs about one join, instead of one join for every pair of nodes as in the
published insertion algorithm. A node is fixed by the observed categorizations that refine it, those
with H(v, c) = v. With n observed categorizations there can be 2^n - 1 nodes; `max_nodes` bounds
them.

Parts whose merges have nothing to do with each other. A partition links every sink to the smallest
one in its block. Together, the links of some partitions are edges of a graph, and the number of
blocks that a join has lost, its rank, is that of its links in the cycle matroid of that graph. The
components of the matroid follow from any spanning forest: each further link closes one cycle, and
links on a common cycle belong together (Krogdahl, The dependence graph for bases in matroids,
1977), as do the links of one partition, because they come all at once. Over parts that are left
apart, ranks add up, and every choice of one join per part gives another join: k parts make at least
2^k - 1 of them. Near linear in the number of links, times the length of the cycles.

Harmonizations that are too many to list are searched from both ends. Each categorization has a
number of forms, and a harmonization as weight the forms whose categorization refines it. Asked for
is the most weight for every rank. In general that is NP-hard (for bands of a number it contains the
largest set of items that N customers bought together). But the answer is often decided by what can
be found, and what cannot be found can be bounded:

- From the finest: join one more categorization at a time, the least rank first. Where the search
  ends, all harmonizations up to some rank are found.
- From the coarsest: call a pair of blocks a link if some categorization merges it. For every link
  there is the set of categorizations that do not merge it. A harmonization is the join of all
  categorizations that merge none of the links it keeps apart, an intersection of such sets.
  (If e does not refine u, then u keeps some link of e apart.) Intersections come with the most
  weight first. Where the search ends, all harmonizations from some weight on are found.
- In between: rank is a submodular function of sets of categorizations. Adding them in any order
  and noting how much each adds to the rank gives shares that no set exceeds: the shares of its
  members sum to at most its rank (Edmonds, Submodular functions, matroids, and certain polyhedra,
  1970). So does the mean of several such orders. The most weight for which the shares fit in a
  rank is a knapsack, and no harmonization of that rank has more. Orders that put first what had
  the smallest share for its forms make the bound good (Boob and others, Flowless, 2020, do so
  for dense parts of graphs), and the joins on the way are good harmonizations.

Every step is bounded by `max_nodes`; memory by twice as many sets of categorizations.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Arbitrary,
    Partition,
    is_finer,
    join,
    join_partitions,
    unite_by_rounds,
)
from gamekeeper.algorithms.classes import DisjointSets
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.prompt_syntax import MAX_NODES
from gamekeeper.results import Progress
from gamekeeper.wording import power_text


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


_MAX_BYTES = 2 << 30
_CHUNK = 8_192
# Looking for independent parts can take longer than building a graph up to about this size.
_LARGE = 4_096
_WAY_AROUND = "Raise max_nodes (--max-nodes), or analyse: an analysis often needs no full graph."


class HarmonizationGraph:
    """The harmonization graph of observed categorizations, immutable.

    `nodes` are in the order in which they arose; `observed` are those that are observed
    categorizations, in the order in which they were met.

    Examples
    --------
    >>> graph = HarmonizationGraph.of(
    ...     [Partition.from_labels([0, 0, 1, 2]), Partition.from_labels([0, 1, 2, 2])]
    ... )
    >>> [node.n_blocks for node in graph.nodes], graph.edges
    ([3, 2, 3], ((1, 0), (1, 2)))
    """

    nodes: tuple[Partition | Arbitrary, ...]
    observed: tuple[int, ...]

    def __init__(
        self,
        nodes: tuple[Partition | Arbitrary, ...] = (),
        observed: tuple[int, ...] = (),
        table: NDArray[np.int32] | None = None,
    ) -> None:
        self.nodes = nodes
        self.observed = observed
        self._table = np.empty((0, 0), dtype=np.int32) if table is None else table

    @classmethod
    def of(
        cls,
        categorizations: Iterable[Partition | Arbitrary],
        *,
        max_nodes: int = MAX_NODES,
        progress: Progress | None = None,
    ) -> HarmonizationGraph:
        """Build the graph of the given categorizations; repeated ones count once.

        A graph that grows large is looked at as a whole: where independent parts show that there
        must be too many nodes, it is refused without building them.
        """
        graph = cls()
        distinct = list(dict.fromkeys(categorizations))
        is_large = False
        for done, categorization in enumerate(distinct):
            if progress is not None:
                progress(done, len(distinct))
            try:
                graph = graph.with_observed(categorization, max_nodes=max_nodes)
            except LimitError as error:
                raise _too_many(len(distinct), done, len(graph.nodes), max_nodes) from error
            if len(graph.nodes) > _LARGE and not is_large:
                is_large = True
                _require_few_parts(distinct, max_nodes)
        return graph

    def with_observed(
        self, categorization: Partition | Arbitrary, *, max_nodes: int = MAX_NODES
    ) -> HarmonizationGraph:
        """Return the graph with one more observed categorization; nodes keep their positions."""
        if categorization in self._index and self._index[categorization] in self.observed:
            return self
        nodes = list(self.nodes)
        index = dict(self._index)
        column = np.full(len(self.nodes), -1, dtype=np.int32)
        sources: list[int] = []
        for position in self._finest_first:
            if column[position] < 0:
                joined = join(self.nodes[position], categorization)
                target = index.setdefault(joined, len(nodes))
                if target == len(nodes):
                    nodes.append(joined)
                    sources.append(position)
                    self._require_room(joined, len(nodes), max_nodes)
                column[position] = target
                if target < len(self.nodes):
                    # With v = node and u = H(v, c) both old, H(H(v, d), c) = H(u, d) for all d.
                    column[self._table[position]] = self._table[target]
        own = index.setdefault(categorization, len(nodes))
        # H(v, d) of old nodes stays; each new node takes its row from the node it was joined from.
        rows = [self._table, column[self._table[sources]]]
        if own == len(nodes):
            nodes.append(categorization)
            self._require_room(categorization, len(nodes), max_nodes)
            rows.append(column[list(self.observed)].reshape(1, -1))
        added = np.arange(len(self.nodes), len(nodes), dtype=np.int32)
        last = np.concatenate((column, added)).reshape(-1, 1)
        table = np.hstack((np.vstack(rows), last))
        return HarmonizationGraph(tuple(nodes), (*self.observed, own), table)

    @cached_property
    def _index(self) -> dict[Partition | Arbitrary, int]:
        return {node: position for position, node in enumerate(self.nodes)}

    @cached_property
    def _finest_first(self) -> list[int]:
        sizes = [math.inf if isinstance(n, Arbitrary) else n.n_blocks for n in self.nodes]
        return sorted(range(len(sizes)), key=lambda position: -sizes[position])

    @cached_property
    def _is_below(self) -> NDArray[np.bool_]:
        return self._table == np.arange(len(self.nodes), dtype=np.int32).reshape(-1, 1)

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The edges (coarser, finer), sorted."""
        n_below = self._is_below.sum(axis=1)
        found: list[NDArray[np.int64]] = [np.empty((0, 2), dtype=np.int64)]
        for start in range(0, len(self.nodes), _CHUNK):
            rows = np.sort(self._table[start : start + _CHUNK], axis=1)
            ends = np.ones(rows.shape, dtype=bool)
            ends[:, :-1] = rows[:, 1:] != rows[:, :-1]
            local, last = np.nonzero(ends)
            # The runs of a row start after the one before; its last run ends the row.
            run = np.diff(local * rows.shape[1] + last, prepend=-1)
            finer, coarser = local + start, rows[local, last]
            # Every d with H(v, d) = u lies below u and not below v. If these are all such d, no
            # node lies between v and u; a node between would be H(v, d) for one of the others.
            direct = (coarser != finer) & (run == n_below[coarser] - n_below[finer])
            found.append(np.stack((coarser[direct], finer[direct]), axis=1).astype(np.int64))
        pairs = np.concatenate(found)
        return tuple(map(tuple, pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist()))

    def position(self, categorization: Partition | Arbitrary) -> int:
        """Return the node of a categorization that is in the graph."""
        try:
            return self._index[categorization]
        except KeyError:
            raise InputError(
                Reason.UNKNOWN_NAME,
                "The node of a categorization was asked for.",
                f"None of the {len(self.nodes)} nodes is that categorization.",
                "Add it with with_observed().",
            ) from None

    def harmonization(self, observed: Sequence[int]) -> int:
        """Return the node that harmonizes some observed categorizations, given as nodes.

        Examples
        --------
        >>> fine, coarse = Partition.finest(3), Partition.from_labels([0, 0, 1])
        >>> HarmonizationGraph.of([fine, coarse]).harmonization([0, 1])
        1
        """
        columns = {node: column for column, node in enumerate(self.observed)}
        unknown = [node for node in observed if node not in columns]
        if unknown or not observed:
            raise InputError(
                Reason.UNKNOWN_NAME,
                f"The harmonization of {len(observed)} observed categorizations was asked for.",
                f"{len(unknown)} of them are not observed in this graph.",
                "Take at least one of the nodes in observed.",
            )
        node = observed[0]
        for other in observed[1:]:
            node = int(self._table[node, columns[other]])
        return node

    def refiners(self, node: int) -> tuple[int, ...]:
        """Return the observed nodes that refine a node (itself among them if observed)."""
        return tuple(
            self.observed[column] for column in np.flatnonzero(self._is_below[node]).tolist()
        )

    def weights(self, counts: Sequence[int]) -> NDArray[np.int64]:
        """Return for every node the number of forms whose categorization refines it.

        `counts` has the number of forms for each of `observed`, in that order.
        """
        return self._is_below @ np.asarray(counts, dtype=np.int64)

    def candidates(
        self, counts: Sequence[int], threshold: int, *, target: Partition | Arbitrary = ARBITRARY
    ) -> tuple[int, ...]:
        """Return the finest nodes, coarser than the target, that enough forms can be matched at.

        A maximal harmonization is a candidate with the most categories.
        """
        enough = self.weights(counts) >= threshold
        met = [
            bool(enough[position]) and is_finer(target, node)
            for position, node in enumerate(self.nodes)
        ]
        # Whatever is coarser than such a node is one too, so the next finer nodes decide.
        outdone = {coarser for coarser, finer in self.edges if met[finer]}
        return tuple(node for node, ok in enumerate(met) if ok and node not in outdone)

    def _require_room(self, node: Partition | Arbitrary, n_nodes: int, max_nodes: int) -> None:
        n_bytes = 0 if isinstance(node, Arbitrary) else node.labels.nbytes * n_nodes
        if n_nodes > max_nodes or n_bytes > _MAX_BYTES:
            done = len(self.observed)
            raise _too_many(done + 1, done, len(self.nodes), max_nodes)

    def __repr__(self) -> str:
        return f"HarmonizationGraph({len(self.observed)} observed, {len(self.nodes)} nodes)"


def _require_few_parts(categorizations: Sequence[Partition | Arbitrary], max_nodes: int) -> None:
    parts = independent_parts([c for c in categorizations if isinstance(c, Partition)])
    if 1 << len(parts) > max_nodes + 1:
        raise LimitError(
            Reason.TOO_LARGE,
            f"The harmonization graph of {len(categorizations)} categorizations was asked for.",
            f"They fall into {len(parts)} independent parts, so that it would have at least"
            f" 2^{len(parts)} - 1 nodes; the limit is {max_nodes:,}.",
            _WAY_AROUND,
        )


def _too_many(n_observed: int, done: int, n_nodes: int, max_nodes: int) -> LimitError:
    # In powers of ten: 2^n is no float from n = 1,024 on.
    nodes = math.log10(max(n_nodes, 1))
    growth = nodes / done if done > 1 else math.log10(2)
    power = min(n_observed * math.log10(2), nodes + growth * (n_observed - done))
    return LimitError(
        Reason.TOO_LARGE,
        f"The harmonization graph of {n_observed} categorizations was asked for.",
        f"With {done} of them it has {n_nodes:,} nodes; at that rate all would make"
        f" {power_text(power)} (at most 2^{n_observed} - 1), and the limit is {max_nodes:,}"
        f" nodes or {_MAX_BYTES >> 30} GiB.",
        _WAY_AROUND,
    )


NOTHING = -(1 << 62)
"""The weight of what cannot be: less than any sum of weights makes up for."""

# Joining costs time by sinks and links. With so many per node that may be kept, the default
# limit takes some seconds, on 100 sinks as on 10,000.
_WORK_PER_NODE = 2_000
_INTERSECTIONS_PER_NODE = 100
_ORDERS_PER_CATEGORIZATION = 4
# Products of matrices of up to this size are made by one thread.
_ELEMENTS_AT_ONCE = 250_000
_MAX_CELLS = 1 << 27

_Sets = NDArray[np.bool_]
"""Sets of categorizations: one row for each, with a column for every categorization."""


@dataclass(frozen=True, slots=True, eq=False)
class BothEnds:
    """What a bounded search found.

    `ranks` and `weights` are of the harmonizations found; the first is the finest partition, which
    has no forms. `unknown` has for the ranks 0, 1, 2 .. the most weight that a harmonization of at
    most that rank could have without being among those found; `NOTHING` where all are found.
    """

    ranks: NDArray[np.int64]
    weights: NDArray[np.int64]
    unknown: tuple[int, ...]
    _merges: tuple[Partition, ...]
    _members: NDArray[np.uint8]

    def partition(self, node: int) -> Partition:
        """Return one of the harmonizations."""
        members = np.flatnonzero(_unpacked(self._members[node : node + 1], len(self._merges))[0])
        finest = Partition.finest(self._merges[0].n_sinks)
        return reduce(join_partitions, (self._merges[number] for number in members), finest)


def search_both_ends(
    merges: Mapping[Partition, int], *, max_nodes: int, progress: Progress | None = None
) -> BothEnds:
    """Search the harmonizations of categorizations that each merge some blocks.

    However small the limit, the finest of the categorizations and the join of all are found.

    `merges` has the number of forms, at least one, with each categorization; none of them is the
    finest. Each end keeps at most `max_nodes` harmonizations, once it has twice as many; `progress`
    is told now and then how many one end has found.

    Examples
    --------
    >>> square = [[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2], [0, 1, 2, 0]]
    >>> found = search_both_ends({Partition.from_labels(p): 1 for p in square}, max_nodes=100)
    >>> sorted(zip(found.ranks.tolist(), found.weights.tolist()))[-3:]
    [(2, 2), (2, 2), (3, 4)]
    """
    joins = _Joins(list(merges), list(merges.values()))
    most_joins = max(1, _WORK_PER_NODE * max_nodes // joins.size)
    kept = max(1, min(max_nodes, most_joins // 4))
    sets, least_weight = _from_the_coarsest(joins, kept, max_nodes, progress)
    found = {bytes(len(sets[0])): 0}
    found.update(_closed(joins, _unpacked(_stacked(sets), joins.n)))
    unknown = [NOTHING] * (joins.top + 1)
    if least_weight > 1:
        from_finest, known_rank = _from_the_finest(joins, max_nodes, most_joins, progress)
        found.update(from_finest)
        if known_rank < joins.top:
            rounds = min(
                _ORDERS_PER_CATEGORIZATION * joins.n, max_nodes // joins.n, most_joins // joins.n
            )
            by_order, bound = _by_orders(joins, rounds, progress)
            found.update(by_order)
            for rank in range(known_rank + 1, joins.top):
                unknown[rank] = min(least_weight - 1, int(bound[rank]))
            # Only the join of all has the highest rank, and it is known.
            unknown[-1] = unknown[-2]
    members = _stacked(found)
    return BothEnds(
        np.fromiter(found.values(), dtype=np.int64, count=len(found)),
        _unpacked(members, joins.n) @ joins.counts,
        tuple(unknown),
        tuple(merges),
        members,
    )


class _Joins:
    """Many joins of sets of categorizations at once."""

    def __init__(self, partitions: Sequence[Partition], counts: Sequence[int]) -> None:
        numbers: dict[tuple[int, int], int] = {}
        own = [
            [
                numbers.setdefault(link, len(numbers))
                for block in partition.blocks()
                for link in pairwise(block)
            ]
            for partition in partitions
        ]
        self.n = len(partitions)
        if self.n * len(numbers) > _MAX_CELLS:
            raise LimitError(
                Reason.TOO_LARGE,
                f"The harmonizations of {self.n} categorizations were to be searched.",
                f"They merge {len(numbers):,} different pairs of categories; for so many"
                f" categorizations the limit is {_MAX_CELLS // self.n:,}.",
                "Take fewer forms (--against, --group).",
            )
        sinks, ends = np.unique(np.array(list(numbers), dtype=np.int32), return_inverse=True)
        self.counts = np.array(counts, dtype=np.int64)
        self.n_sinks = len(sinks)
        self._left, self._right = ends.reshape(-1, 2).astype(np.int32).T.copy()
        self._links = np.zeros((self.n, len(numbers)), dtype=bool)
        for number, links in enumerate(own):
            self._links[number, links] = True
        self._words = _words(self._links)
        self._is_forest = False
        self.size = max(self.n_sinks + len(numbers), self._words.size)
        everything = np.ones((1, self.n), dtype=bool)
        self.top = int(self.closed(everything)[0][0])
        # Without cycles every link counts by itself, as between bands of a number.
        self._is_forest = self.top == len(numbers)
        if self._is_forest:
            self.size = max(len(numbers), self._words.size)

    def closed(self, sets: _Sets) -> tuple[NDArray[np.int64], _Sets]:
        """Return the ranks of the joins of some sets, and all categorizations that refine them."""
        ranks = np.empty(len(sets), dtype=np.int64)
        refiners = np.empty(sets.shape, dtype=bool)
        step = max(1, _ELEMENTS_AT_ONCE // self.size)
        for start in range(0, len(sets), step):
            rows = slice(start, start + step)
            # By words of bits, since products of matrices would wait for each other's threads.
            merged = self._merged(sets[rows])
            if self._is_forest:
                ranks[rows] = np.bitwise_count(merged).sum(axis=1)
            else:
                roots = self._roots(_unpacked(merged.view(np.uint8), self._links.shape[1]))
                alone = np.arange(roots.size, dtype=np.int32).reshape(roots.shape)
                ranks[rows] = np.count_nonzero(roots != alone, axis=1)
                merged = _words(roots[:, self._left] == roots[:, self._right])
            refiners[rows] = True
            for own, joined in zip(self._words.T, merged.T, strict=True):
                refiners[rows] &= (own & ~joined[:, None]) == 0
        return ranks, refiners

    def _merged(self, sets: _Sets) -> NDArray[np.uint64]:
        """Return the links that are merged by at least one member of each set."""
        words = [
            np.bitwise_or.reduce(np.where(sets, own, np.uint64(0)), axis=1) for own in self._words.T
        ]
        return np.stack(words, axis=1)

    def _roots(self, merged: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return for each row the sinks with the smallest of their block, numbered through."""
        row, link = np.nonzero(merged)
        before = (row * self.n_sinks).astype(np.int32)
        left, right = before + self._left[link], before + self._right[link]
        root = np.arange(len(merged) * self.n_sinks, dtype=np.int32)
        return unite_by_rounds(root, left, right).reshape(len(merged), self.n_sinks)

    def apart(self) -> list[bytes]:
        """Return for every link the set of categorizations that do not merge it, each set once."""
        return list(dict.fromkeys(_packed(~self._links.T)))


def _from_the_coarsest(
    joins: _Joins, most_kept: int, max_nodes: int, progress: Progress | None
) -> tuple[list[bytes], int]:
    """Return the sets found and the weight (1: any) from which on these are all there are."""
    apart = joins.apart()
    width = (joins.n + 7) // 8
    as_bits = [int.from_bytes(row, "little") for row in apart]
    columns = _unpacked(_stacked(apart), joins.n).T.astype(np.float64)
    full, total = (1 << joins.n) - 1, int(joins.counts.sum())
    found = {full: total}
    waiting = {total: [full]}
    floor = 1
    n_left = _INTERSECTIONS_PER_NODE * max_nodes
    at_once = max(1, _ELEMENTS_AT_ONCE // (joins.n * len(apart)))
    while waiting and (forms := max(waiting)) >= floor:
        sets = waiting.pop(forms)
        for start in range(0, len(sets), at_once):
            some = sets[start : start + at_once]
            n_left -= len(some) * len(apart)
            if n_left < 0 and forms < total:
                return _as_bytes(found, width), forms
            if progress is not None:
                progress(len(found), None)
            members = _unpacked(_stacked(_as_bytes(some, width)), joins.n)
            weights = (members * joins.counts) @ columns
            row, link = np.nonzero((weights >= floor) & (weights < forms))
            lighter = weights[row, link].astype(np.int64)
            for of, by, own in zip(row.tolist(), link.tolist(), lighter.tolist(), strict=True):
                smaller = some[of] & as_bits[by]
                if smaller not in found:
                    found[smaller] = own
                    waiting.setdefault(own, []).append(smaller)
            if len(found) > 2 * most_kept:
                # A part of a set weighs less than the set: what is dropped leads to nothing else.
                floor = -_last_kept(Counter(-own for own in found.values()), most_kept)
                if floor >= forms:
                    return _as_bytes(found, width), forms
                found = {members: own for members, own in found.items() if own >= floor}
                waiting = {own: sets for own, sets in waiting.items() if own >= floor}
    return _as_bytes(found, width), floor


def _from_the_finest(
    joins: _Joins, most_kept: int, most_joins: int, progress: Progress | None
) -> tuple[dict[bytes, int], int]:
    """Return harmonizations with their ranks, and the rank up to which these are all there are."""
    finest = bytes((joins.n + 7) // 8)
    found = {finest: 0}
    waiting: dict[int, list[bytes]] = {0: [finest]}
    ceiling = joins.top
    n_joins = 0
    at_once = max(1, _ELEMENTS_AT_ONCE // (joins.size * joins.n))
    while waiting and (rank := min(waiting)) < ceiling:
        nodes = waiting.pop(rank)
        for start in range(0, len(nodes), at_once):
            if progress is not None:
                progress(len(found), None)
            members = _unpacked(_stacked(nodes[start : start + at_once]), joins.n)
            node, added = np.nonzero(~members)
            n_joins += len(added)
            if rank and n_joins > most_joins:
                return found, rank
            sets = members[node]
            sets[np.arange(len(added)), added] = True
            for joined, higher in _closed(joins, sets).items():
                if higher <= ceiling and joined not in found:
                    found[joined] = higher
                    waiting.setdefault(higher, []).append(joined)
            # The finest and the categorizations themselves always have room.
            if len(found) > 2 * max(most_kept, joins.n + 1):
                ceiling = _last_kept(Counter(found.values()), max(most_kept, joins.n + 1))
                if ceiling <= rank:
                    return found, rank
                found = {node: own for node, own in found.items() if own <= ceiling}
                waiting = {own: nodes for own, nodes in waiting.items() if own <= ceiling}
    return found, ceiling


def _by_orders(
    joins: _Joins, rounds: int, progress: Progress | None
) -> tuple[dict[bytes, int], NDArray[np.int64]]:
    """Return harmonizations with their ranks, and for each rank a bound on the weight."""
    found: dict[bytes, int] = {}
    shares = np.zeros(joins.n, dtype=np.int64)
    bound = np.full(joins.top + 1, joins.counts.sum(), dtype=np.int64)
    for made in range(1, rounds + 1):
        if progress is not None:
            progress(made, rounds)
        order = np.argsort(shares / joins.counts, kind="stable")
        first_ones = np.zeros((joins.n, joins.n), dtype=bool)
        first_ones[:, order] = np.tri(joins.n, dtype=bool)
        ranks, refiners = joins.closed(first_ones)
        shares[order] += np.diff(ranks, prepend=0)
        found.update(zip(_packed(refiners), ranks.tolist(), strict=True))
        if made % joins.n == 0 or made == rounds:
            most = _most_weight(shares, joins.counts, made * np.arange(joins.top + 1))
            bound = np.minimum(bound, most)
    return found, bound


def _most_weight(
    shares: NDArray[np.int64], counts: NDArray[np.int64], rooms: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the most forms whose categorizations have shares that fit, for each of some rooms."""
    least = np.full(int(counts.sum()) + 1, np.iinfo(np.int64).max // 2)
    least[0] = 0
    for share, count in zip(shares.tolist(), counts.tolist(), strict=True):
        least[count:] = np.minimum(least[count:], least[:-count] + share)
    at_least = np.minimum.accumulate(least[::-1])[::-1]
    return np.searchsorted(at_least, rooms, side="right") - 1


def _last_kept(numbers: Counter[int], most: int) -> int:
    keys = sorted(numbers)
    so_far = accumulate(numbers[key] for key in keys)
    return max(key for key, total in zip(keys, so_far, strict=True) if total <= most)


def _closed(joins: _Joins, sets: _Sets) -> dict[bytes, int]:
    ranks, refiners = joins.closed(sets)
    return dict(zip(_packed(refiners), ranks.tolist(), strict=True))


def _packed(sets: _Sets) -> list[bytes]:
    packed = np.packbits(sets, axis=1, bitorder="little")
    blob, width = packed.tobytes(), packed.shape[1]
    return [blob[start : start + width] for start in range(0, len(blob), width)]


def _words(sets: _Sets) -> NDArray[np.uint64]:
    packed = np.packbits(sets, axis=1, bitorder="little")
    words = np.zeros((len(packed), -(-packed.shape[1] // 8)), dtype=np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words


def _as_bytes(sets: Iterable[int], width: int) -> list[bytes]:
    return [members.to_bytes(width, "little") for members in sets]


def _stacked(packed: Collection[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), -1)


def _unpacked(packed: NDArray[np.uint8], n: int) -> _Sets:
    return np.unpackbits(packed, axis=1, count=n, bitorder="little").astype(bool)
