"""Distances of margins against their definition, table by table."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.utility.margin_distances import (
    entropy,
    hellinger,
    margin_distances,
    mean_distances,
    n_margins,
    worst,
)

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=12)


def slow_distance(before, after, chosen):
    first, second = (Counter() for _ in range(2))
    for counter, (rows, weights) in ((first, before), (second, after)):
        for row, weight in zip(rows, weights, strict=True):
            counter[tuple(row[place] for place in chosen)] += weight
    n, m = sum(first.values()), sum(second.values())
    squares = (
        (math.sqrt(first[cell] / n) - math.sqrt(second[cell] / m)) ** 2
        for cell in first.keys() | second.keys()
    )
    return math.sqrt(sum(squares) / 2)


@given(ROWS, ROWS, st.booleans())
def test_every_margin_by_its_definition(before, after, weighted):
    weights = [[1 + sum(row) % 3 if weighted else 1 for row in rows] for rows in (before, after)]
    found = margin_distances(
        np.array(before), np.array(after), weights=tuple(weights) if weighted else None
    )
    assert [m.variables for m in found] == [
        chosen for size in (1, 2, 3) for chosen in combinations(range(4), size)
    ]
    assert len(found) == n_margins(4)
    for margin in found:
        wanted = slow_distance((before, weights[0]), (after, weights[1]), margin.variables)
        assert margin.distance == pytest.approx(wanted, abs=1e-7)
    means = mean_distances(found)
    assert means[2] == pytest.approx(np.mean([m.distance for m in found if len(m.variables) == 2]))


@given(ROWS)
def test_a_copy_is_as_near_as_can_be(rows):
    table = np.array(rows)
    assert not worst(margin_distances(table, table), 10)
    shuffled = np.random.default_rng(1).permutation(table)
    assert max(m.distance for m in margin_distances(table, shuffled)) == pytest.approx(0, abs=1e-7)


def test_many_categories_are_counted_as_few_are():
    rng = np.random.default_rng(2)
    before, after = (rng.integers(0, 400, size=(300, 3)) for _ in range(2))
    few = np.unique(np.concatenate((before, after)), return_inverse=True)[1].reshape(600, 3)
    wide = margin_distances(before * 1000, after * 1000)
    near = margin_distances(few[:300], few[300:])
    assert [m.distance for m in wide] == pytest.approx([m.distance for m in near])


def test_the_worst_come_first():
    before, after = np.array([[0, 0], [1, 0]]), np.array([[0, 1], [1, 0]])
    assert [m.variables for m in worst(margin_distances(before, after), 10)] == [(0, 1), (1,)]


def test_nothing_at_all():
    assert hellinger([0, 0], [0, 0]) == 0
    assert hellinger([0, 0], [1, 0]) == 1
    assert entropy([]) == 0
    assert entropy([1, 1, 1, 1]) == 2
