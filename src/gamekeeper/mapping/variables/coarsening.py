"""A categorization made coarser, step by step, along the partition graph of its variable.

One step merges the blocks of a categorization into the smallest categories of the graph that are
made up of two blocks or more. Where such categories overlap, the one that the graph names first
is taken. The steps end when no category of the graph is left that would merge anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from gamekeeper.algorithms.categories.graph_property import bits
from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.mapping.variables.variable import Variable


def coarsenings(variable: Variable, categorization: Partition) -> Iterator[Partition]:
    """Return coarser and coarser categorizations, the finest of them first.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-9", "10-19", "0-19", "20-64", "65+", "20+"])
    >>> single = Partition.from_labels(range(4))
    >>> [len(age.words(coarser)) for coarser in coarsenings(age, single)]
    [2, 1]
    """
    blocks = [sum(1 << sink for sink in block) for block in categorization.blocks()]
    while True:
        merged = _merged(variable, blocks)
        if len(merged) == len(blocks):
            return
        blocks = merged
        yield Partition.from_blocks(map(bits, blocks), len(variable.graph.sinks))


def _merged(variable: Variable, blocks: list[int]) -> list[int]:
    """Return the blocks with those merged that the smallest categories of the graph join."""
    joining: list[tuple[int, list[int]]] = []
    for name in variable.graph.categories:
        category = variable.graph.sink_set(name)
        inside = [block for block in blocks if block & category]
        if len(inside) > 1 and all(block | category == category for block in inside):
            joining.append((category, inside))
    left, made = list(blocks), list[int]()
    for category, inside in sorted(joining, key=lambda pair: pair[0].bit_count()):
        if all(block in left for block in inside):
            left = [block for block in left if block not in inside]
            made.append(category)
    return left + made
