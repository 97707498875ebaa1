"""Equal keys have equal numbers, and only they."""

from __future__ import annotations

import numpy as np

from gamekeeper.algorithms.class_numbers import class_numbers


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
