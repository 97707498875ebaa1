"""Equal keys have equal numbers, and only they."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.classes import (
    DisjointSets,
    KeyFields,
    class_numbers,
    equal_rows,
    sorted_rows,
    word_numbers,
)


def test_keys_are_numbered_alike_in_several_files():
    generator = np.random.default_rng(1)
    first = generator.integers(0, 3, size=(50, 4)).astype(np.uint8)
    second = generator.integers(0, 3, size=(30, 4)).astype(np.uint16)
    numbers = class_numbers(first, second)
    assert [len(part) for part in numbers] == [50, 30]
    rows = [tuple(row) for row in (*first.tolist(), *second.tolist())]
    pairs = set(zip(rows, np.concatenate(numbers).tolist(), strict=True))
    assert len(pairs) == len(set(rows)) == len({number for _, number in pairs})
    # More combinations than there are integers.
    (wide,) = class_numbers(generator.integers(0, 2, size=(200, 3)).repeat(30, axis=1) * 200)
    assert len(set(wide.tolist())) == 8
    (alone,) = class_numbers(np.zeros((4, 0), dtype=int))
    assert alone.tolist() == [0, 0, 0, 0]


matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from((0, 1, 2, 7, 2**40)), min_size=n, max_size=n))
)


@given(matrices, st.randoms(use_true_random=False))
def test_equal_rows_are_those_of_a_dictionary(rows, random):
    n_columns = len(rows[0]) if rows else 2
    matrix = np.array(rows, dtype=np.int64).reshape(len(rows), n_columns)
    distinct = sorted({tuple(row) for row in rows})
    expected = [distinct.index(tuple(row)) for row in rows]
    found = equal_rows(matrix)
    assert found.numbers.tolist() == expected
    assert found.firsts.tolist() == [expected.index(n) for n in range(len(distinct))]
    assert found.sizes.tolist() == [expected.count(n) for n in range(len(distinct))]
    weights = [random.randint(0, 9) for _ in rows]
    assert found.sums(np.array(weights, dtype=np.int64)).tolist() == [
        sum(w for w, n in zip(weights, expected, strict=True) if n == number)
        for number in range(len(distinct))
    ]
    # Packed, the last field counts first: the same order, of columns turned round.
    turned = matrix[:, ::-1]
    keys = KeyFields.for_codes(turned).pack(turned)
    cut = random.randint(0, len(rows))
    assert np.concatenate(word_numbers(keys[:cut], keys[cut:])).tolist() == expected
    order, is_first = sorted_rows(keys)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert (np.cumsum(is_first) - 1).tolist() == [expected[place] for place in order]


items = st.one_of(st.integers(0, 8), st.tuples(st.integers(0, 2), st.integers(0, 2)))


@given(st.lists(st.tuples(items, items), max_size=20))
def test_sets_are_those_of_repeated_merging(pairs):
    sets = DisjointSets()
    merged = [{item} for item in {item for pair in pairs for item in pair}]
    for a, b in pairs:
        of_a = next(group for group in merged if a in group)
        of_b = next(group for group in merged if b in group)
        assert sets.unite(a, b) == (of_a is not of_b)
        if of_a is not of_b:
            merged.remove(of_b)
            of_a |= of_b
    for group in merged:
        assert len({sets.find(item) for item in group}) == 1
        assert sets.find(next(iter(group))) in group
    assert len({sets.find(next(iter(group))) for group in merged}) == len(merged)


def test_an_item_never_seen_stands_for_itself():
    assert DisjointSets().find("alone") == "alone"


def test_a_long_chain_needs_no_deep_recursion():
    sets = DisjointSets()
    for number in range(50_000):
        sets.unite(number + 1, number)
    assert sets.find(0) == sets.find(50_000)
    assert not sets.unite(0, 50_000)
