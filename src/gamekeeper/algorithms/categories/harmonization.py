"""The harmonization graph of a set of categorizations.

Its nodes are the observed categorizations and the harmonizations of all their non-empty subsets;
an edge goes from a coarser node to a finer one where no other node lies between (the transitive
reduction of refinement, which is unique). Smith and Elliot, section 4.1.

The graph grows by one observed categorization at a time. A table holds, for every node v and
observed categorization c, the node H(v, c). When c joins the graph, H(v, c) is computed at most
once for every old node v. All else is looked up: for a new node u = H(v, c) and any d,
H(u, d) = H(H(v, d), c). So each node costs about one join, instead of one join for every pair of
nodes as in the published insertion algorithm. A node is fixed by the observed categorizations
that refine it, those with H(v, c) = v.

With n observed categorizations there can be 2^n - 1 nodes; `max_nodes` bounds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.independent_merges import independent_parts
from gamekeeper.algorithms.categories.limits import MAX_NODES
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Arbitrary,
    Partition,
    is_finer,
    join,
)
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.results import Progress
from gamekeeper.wording import power_text

_MAX_BYTES = 2 << 30
_CHUNK = 8_192
# Looking for independent parts can take longer than building a graph up to about this size.
_LARGE = 4_096
_WAY_AROUND = "Raise max_nodes (--max-nodes), or analyse: an analysis often needs no full graph."


class HarmonizationGraph:
    """The harmonization graph of observed categorizations, immutable.

    Attributes
    ----------
    nodes
        The categorizations and their harmonizations, in the order in which they arose.
    observed
        The nodes that are observed categorizations, in the order in which they were met.

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
        """Make the empty graph; use `of` or `with_observed` to fill one."""
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
        """Return the graph with one more observed categorization.

        Existing nodes keep their positions.
        """
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
        """Per node and observed categorization: does the categorization refine the node?"""
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
