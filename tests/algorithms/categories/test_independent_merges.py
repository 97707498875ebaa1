from __future__ import annotations

from hypothesis import given

from gamekeeper.algorithms.categories.independent_merges import independent_parts
from gamekeeper.algorithms.categories.partitions import Partition, harmonize
from tests.given.categorizations import lists_of_partitions


def lost(partitions: list[Partition]) -> int:
    """The number of blocks that the join of some partitions has lost."""
    return partitions[0].n_sinks - harmonize(partitions).n_blocks if partitions else 0


@given(lists_of_partitions(most=6, most_sinks=6))
def test_losses_add_up_over_the_parts(partitions):
    parts = independent_parts(partitions)
    assert sorted(number for part in parts for number in part) == [
        number for number, partition in enumerate(partitions) if lost([partition])
    ]
    for chosen in range(1 << len(partitions)):
        some = [p for number, p in enumerate(partitions) if chosen >> number & 1]
        apart = [[partitions[number] for number in part if chosen >> number & 1] for part in parts]
        assert lost(some) == sum(map(lost, apart))


def test_a_chain_of_pairs_is_independent_and_a_ring_is_not():
    def pair(u: int, v: int) -> Partition:
        return Partition.from_labels([min(u, v) if sink in (u, v) else sink for sink in range(5)])

    chain = [pair(sink, sink + 1) for sink in range(4)]
    assert independent_parts(chain) == [[0], [1], [2], [3]]
    assert independent_parts([*chain, pair(0, 4)]) == [[0, 1, 2, 3, 4]]
    assert independent_parts([*chain, pair(0, 2)]) == [[0, 1, 4], [2], [3]]
    assert independent_parts([Partition.finest(5)]) == []
