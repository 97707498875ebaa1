"""Samples for models of several variables: any tiny one, invented people, and two pairs that tell
each other beside one variable that is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from hypothesis import strategies as st

from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.data.keys.key_table import KeyTable


@st.composite
def samples(draw, n_variables=4):
    levels = draw(st.lists(st.integers(1, 3), min_size=n_variables, max_size=n_variables))
    cells = list(product(*(range(level) for level in levels)))
    rows = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=8, unique=True))
    counts = draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    return np.array(rows), np.array(counts), levels


CHAIN = [0b000010, 0b000101, 0b001010, 0b010100, 0b101000, 0b010000]


def people(n, seed):
    """Invent people on six variables, each depending on the one before by skewed chances.

    Every cell has luck of its own besides, which no chain can tell.
    """
    rng = np.random.default_rng(seed)
    levels = (8, 6, 9, 5, 7, 6)
    columns = [rng.choice(levels[0], 3 * n, p=_skewed(levels[0]))]
    for level in levels[1:]:
        shift = rng.choice(level, 3 * n, p=_skewed(level))
        columns.append((columns[-1] + shift) % level)
    luck = np.exp(0.9 * rng.standard_normal(math.prod(levels)))
    weights = luck[np.ravel_multi_index(columns, levels)]
    chosen = rng.choice(3 * n, n, p=weights / weights.sum())
    return np.stack(columns, axis=1)[chosen], levels


def _skewed(level):
    weights = 2.2 ** -np.arange(level)
    return weights / weights.sum()


def sampled(population, fraction, seed):
    """Return the distinct rows of a sample, their counts in it and in the population."""
    rng = np.random.default_rng(seed)
    _, classes = np.unique(population, axis=0, return_inverse=True)
    classes = classes.ravel()
    chosen = rng.choice(len(population), round(fraction * len(population)), replace=False)
    found, first, counts = np.unique(classes[chosen], return_index=True, return_counts=True)
    return population[chosen[first]], counts, np.bincount(classes)[found]


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
