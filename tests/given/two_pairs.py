"""Two pairs of variables that tell each other, and one that is free: files for models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable

METHODS = ("mc3", "annealing", "occam")
NAMES = ("age", "work", "area", "home", "sex")


def counted(codes, names: Sequence[str], words=None, **options) -> KeyTable:
    """Return the counted keys of codes that are already there."""
    return count_keys(coded_from_codes(codes, list(names), words), list(names), **options)


def two_pairs(n: int, seed: int = 1):
    """Return people whose age tells their work, whose area tells their home, and whose sex is free."""
    generator = np.random.default_rng(seed)

    def follower(column, n_codes):
        other = generator.integers(1, n_codes + 1, n)
        return np.where(generator.random(n) < 0.75, (column - 1) % n_codes + 1, other)

    age, area = generator.integers(1, 6, n), generator.integers(1, 5, n)
    return np.column_stack(
        [age, follower(age, 4), area, follower(area, 3), generator.integers(1, 3, n)]
    )
