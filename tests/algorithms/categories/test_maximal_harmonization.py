from __future__ import annotations

from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.maximal_harmonization import (
    Row,
    largest_keys,
    possible_combinations,
)
from gamekeeper.algorithms.categories.partitions import Partition, harmonize

SINKS = 3
partitions = st.lists(st.integers(0, 2), min_size=SINKS, max_size=SINKS).map(Partition.from_labels)
rows = st.tuples(st.none() | partitions, st.none() | partitions)


def size(row: Row) -> tuple[int, int]:
    number = 1
    for cell in row:
        number *= cell.n_blocks if isinstance(cell, Partition) else 1
    return 0, number


def slow_sizes(target: Row, forms: list[Row]) -> list[int]:
    """For every number of forms, the largest key over all sets of so many forms."""
    best: list[int] = []
    for number in range(1, len(forms) + 1):
        sizes = [0]
        for some in combinations(forms, number):
            together = 1
            shared = 0
            for place, own in enumerate(target):
                cells = [row[place] for row in some]
                if own is not None and all(cell is not None for cell in cells):
                    node = harmonize([own, *(cell for cell in cells if cell is not None)])
                    assert isinstance(node, Partition)
                    together *= node.n_blocks
                    shared += 1
            sizes.append(together if shared else 0)
        best.append(max(sizes))
    return best


@given(st.tuples(partitions, partitions), st.lists(rows, min_size=1, max_size=5))
def test_largest_keys_are_what_the_definition_says(target: Row, forms: list[Row]) -> None:
    named = {f"form {number}": row for number, row in enumerate(forms)}
    keys, known = largest_keys(target, named, size=size, most=10_000)
    assert known == sum(any(cell is not None for cell in row) for row in forms)
    expected = slow_sizes(target, forms)
    for number, wanted in enumerate(expected, start=1):
        holding = [key for key in keys if len(key.forms) >= number]
        assert (holding[0].size[1] if holding else 0) == wanted
    assert [len(key.forms) for key in keys] == sorted({len(key.forms) for key in keys})


@given(st.lists(rows, min_size=1, max_size=5))
def test_a_limit_leaves_the_rest_unknown_and_the_first_right(forms: list[Row]) -> None:
    target = (Partition.finest(SINKS), Partition.finest(SINKS))
    named = {f"form {number}": row for number, row in enumerate(forms)}
    whole, _ = largest_keys(target, named, size=size, most=10_000)
    cut, known = largest_keys(target, named, size=size, most=1)
    assert cut == whole[: len(cut)]
    assert known >= max((len(key.forms) for key in cut), default=0)


sides = st.frozensets(st.integers(0, 2), max_size=3)


@given(st.lists(st.tuples(st.none() | sides, st.none() | sides), max_size=4))
def test_possible_combinations_are_counted_one_by_one(
    boxes: list[tuple[frozenset[int] | None, frozenset[int] | None]],
) -> None:
    def is_in(cell: tuple[int, ...], box: tuple[frozenset[int] | None, ...]) -> bool:
        return all(side is None or n in side for n, side in zip(cell, box, strict=True))

    cells = product(range(3), range(3))
    left = sum(not any(is_in(cell, box) for box in boxes) for cell in cells)
    assert possible_combinations([3, 3], boxes) == left
