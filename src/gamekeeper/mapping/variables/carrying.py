"""Codes carried over a changed partition graph, so that each keeps its meaning or is retired.

A code stands for a partition of the sinks. Where sinks were split, the parts stay together; where
sinks were merged, the code stays if it never told them apart. Old and new sinks are related when
one is known to be part of the other: by their names, or on the interval scale by their numbers.
Sinks that are related, directly or by way of others, hang together. A code is kept when each of
its blocks is made up of such clusters; as every cluster has old and new sinks, the number of
categories stays too. When a sink on either side is related to none, the sample space is another
one and no partition means what it meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from gamekeeper.algorithms.categories.partitions import Arbitrary, Partition
from gamekeeper.algorithms.disjoint_sets import DisjointSets
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable


def carry_codes(
    register: CodeRegister, before: Variable, after: Variable, renamed: Mapping[str, str]
) -> CodeRegister:
    """Return the codes of a variable over its changed partition graph.

    `renamed` has the categories that have other names now, old names to new ones.

    Examples
    --------
    >>> from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
    >>> before = Variable("Country", PartitionGraph({"England": [], "Other": []}))
    >>> parts = {"England": [], "Abroad": ["Wales", "Elsewhere"]}
    >>> after = Variable("Country", PartitionGraph(parts))
    >>> register = CodeRegister([("C2.001", Partition.finest(2))])
    >>> carried = carry_codes(register, before, after, {"Other": "Abroad"})
    >>> after.words(carried.meaning("C2.001"))
    ('Abroad', 'England')
    """
    if before.graph.sinks == after.graph.sinks and before.space == after.space and not renamed:
        return register
    clusters = _clusters(before, after, renamed)
    kept: list[tuple[str, Partition | Arbitrary]] = []
    lost = set(register.retired)
    for code in register:
        meaning = register.meaning(code)
        carried = meaning if isinstance(meaning, Arbitrary) else _carried(meaning, clusters)
        if carried is None:
            lost.add(code)
        else:
            kept.append((code, carried))
    return CodeRegister(kept, retired=lost)


_Clusters = tuple[NDArray[np.int32], NDArray[np.int32]]
"""For every old sink, and for every new one, an old sink that stands for its cluster."""


def _clusters(before: Variable, after: Variable, renamed: Mapping[str, str]) -> _Clusters | None:
    """Return which sinks hang together, or None where some sink is related to none."""
    if before.bands and after.bands:
        related = None if before.space != after.space else list(_by_numbers(before, after))
    else:
        related = list(_by_names(before, after, renamed))
    n_old, n_new = len(before.graph.sinks), len(after.graph.sinks)
    if (
        related is None
        or len({old for old, _ in related}) < n_old
        or len({new for _, new in related}) < n_new
    ):
        return None
    sets = DisjointSets()
    for old, new in related:
        sets.unite(old, ~new)  # new sinks are the negative numbers
    first: dict[object, int] = {}
    olds = [first.setdefault(sets.find(old), old) for old in range(n_old)]
    news = [first[sets.find(~new)] for new in range(n_new)]
    return np.array(olds, dtype=np.int32), np.array(news, dtype=np.int32)


def _carried(meaning: Partition, clusters: _Clusters | None) -> Partition | None:
    if clusters is None:
        return None
    olds, news = clusters
    if (meaning.labels[olds] != meaning.labels).any():
        return None
    return Partition.from_labels(meaning.labels[news])


def _by_names(
    before: Variable, after: Variable, renamed: Mapping[str, str]
) -> Iterator[tuple[int, int]]:
    """Relate an old sink to what it is made up of now, a new sink to what it was made up of."""
    taken = set(renamed.values())
    now = {
        old: new
        for old in before.graph.categories
        if (new := renamed.get(old, "" if old in taken else old)) in after.graph
    }
    old_sinks = {sink: number for number, sink in enumerate(before.graph.sinks)}
    new_sinks = {sink: number for number, sink in enumerate(after.graph.sinks)}
    for old, new in now.items():
        if old in old_sinks:
            for sink in after.graph.sinks_of(new):
                yield old_sinks[old], new_sinks[sink]
        elif new in new_sinks:
            for sink in before.graph.sinks_of(old):
                yield old_sinks[sink], new_sinks[new]


def _by_numbers(before: Variable, after: Variable) -> Iterator[tuple[int, int]]:
    """Relate the sinks of bands that share numbers; both are in ascending order."""
    old = [before.bands[sink] for sink in before.graph.sinks]
    new = [after.bands[sink] for sink in after.graph.sinks]
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i].overlap(new[j]) is not None:
            yield i, j
        if old[i].high <= new[j].high:
            i += 1
        else:
            j += 1
