"""Categorizations written as blocks of category names, which outlast a new order of the sinks."""

from __future__ import annotations

from collections.abc import Iterable

from gamekeeper.algorithms.categories.graph_property import bits
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Arbitrary, Partition
from gamekeeper.errors import InputError
from gamekeeper.mapping.variables.variable import Variable


def blocks_of(
    variable: Variable, categorization: Partition | Arbitrary
) -> tuple[tuple[str, ...], ...]:
    """Return, for each block of a categorization, few categories that make it up.

    Arbitrary precision has no blocks.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-17", "18-24", "25-64", "65+"])
    >>> blocks_of(age, Partition.from_labels([0, 0, 1, 0]))
    (('0-17', '18-24', '65+'), ('25-64',))
    """
    if isinstance(categorization, Arbitrary):
        return ()
    return tuple(
        variable.graph.cover(sum(1 << number for number in block))
        for block in categorization.blocks()
    )


def categorization_of(
    variable: Variable, blocks: Iterable[Iterable[str]]
) -> Partition | Arbitrary | None:
    """Return the categorization that blocks of categories make, None where they make none.

    Examples
    --------
    >>> age = Variable.of_bands("Age", ["0-17", "18-24", "25-64", "65+"])
    >>> categorization_of(age, [["0-17", "65+"], ["18-24"], ["25-64"]])
    Partition(3 blocks of 4 sinks)
    >>> categorization_of(age, [["0-17"]]) is None
    True
    """
    given = [list(block) for block in blocks]
    if not given:
        return ARBITRARY
    graph = variable.graph
    if not all(given) or not all(name in graph for block in given for name in block):
        return None
    numbers = [[sink for name in block for sink in bits(graph.sink_set(name))] for block in given]
    try:
        return Partition.from_blocks(numbers, len(graph.sinks))
    except InputError:
        return None
