"""Slow and obvious versions of the basic operations, on sets of sets, for tests to compare with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition

Blocks = frozenset[frozenset[int]]


def blocks_of(partition: Partition | Arbitrary) -> Blocks | Arbitrary:
    """Return a partition as a set of sets."""
    if isinstance(partition, Arbitrary):
        return partition
    by_label: dict[int, set[int]] = {}
    for sink, label in enumerate(partition.labels.tolist()):
        by_label.setdefault(label, set()).add(sink)
    return frozenset(map(frozenset, by_label.values()))


def size_of(blocks: Blocks | Arbitrary) -> float:
    """Return the number of blocks; arbitrary precision has more than any."""
    return float("inf") if isinstance(blocks, Arbitrary) else len(blocks)


def joined(many: Iterable[Blocks | Arbitrary]) -> Blocks | Arbitrary:
    """Return the harmonization: put all blocks in a bag and merge any two that meet."""
    given = list(many)
    bag = [set(block) for blocks in given if not isinstance(blocks, Arbitrary) for block in blocks]
    if not bag:
        return ARBITRARY
    while pair := next(((a, b) for a, b in combinations(bag, 2) if a & b), None):
        bag.remove(pair[0])
        bag.remove(pair[1])
        bag.append(pair[0] | pair[1])
    return frozenset(map(frozenset, bag))


def refines(a: Blocks | Arbitrary, b: Blocks | Arbitrary) -> bool:
    """Tell whether every block of a lies in a block of b."""
    if isinstance(a, Arbitrary):
        return True
    if isinstance(b, Arbitrary):
        return False
    return all(any(block <= larger for larger in b) for block in a)


def all_partitions(n_sinks: int) -> list[Blocks]:
    """Return every partition of 0 .. n-1."""
    if n_sinks == 0:
        return [frozenset()]
    found: list[Blocks] = []
    last = n_sinks - 1
    for smaller in all_partitions(last):
        found.append(smaller | {frozenset({last})})
        found += [smaller - {block} | {block | {last}} for block in smaller]
    return found


def reach_of(children: dict[str, Sequence[str]], node: str) -> frozenset[str]:
    """Return the sinks of a node by recursion."""
    if not children[node]:
        return frozenset({node})
    return frozenset().union(*(reach_of(children, child) for child in children[node]))
