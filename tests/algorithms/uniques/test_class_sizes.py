from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.uniques.class_sizes import class_sizes
from gamekeeper.errors import Cancelled


def matches(r, q, missing):
    if missing == "ignore":
        return all(a in (0, b) for a, b in zip(r, q, strict=True))
    if missing == "wildcard":
        return all(a == b or 0 in (a, b) for a, b in zip(r, q, strict=True))
    return r == q


def slow_sizes(keys, counts, missing):
    """Compare all pairs."""
    return [
        sum(n for q, n in zip(keys, counts, strict=True) if matches(r, q, missing)) for r in keys
    ]


@st.composite
def counted_keys(draw):
    n_variables = draw(st.integers(1, 5))
    key = st.tuples(*[st.integers(0, draw(st.integers(1, 3)))] * n_variables)
    keys = draw(st.lists(key, min_size=1, max_size=25, unique=True))
    counts = draw(st.lists(st.integers(1, 9), min_size=len(keys), max_size=len(keys)))
    return keys, counts


RULES = ["category", "exclude", "ignore", "wildcard"]


@given(counted_keys(), st.sampled_from(RULES))
def test_sizes_are_those_of_all_pairs(drawn, missing):
    keys, counts = drawn
    sizes = class_sizes(np.array(keys, dtype=np.uint8), np.array(counts), missing=missing)
    assert sizes.dtype == np.int64
    assert sizes.tolist() == slow_sizes(keys, counts, missing)


@given(counted_keys(), st.sampled_from(RULES), st.randoms())
def test_orders_do_not_matter(drawn, missing, random):
    keys, counts = (np.array(part) for part in drawn)
    rows = list(range(len(keys)))
    columns = list(range(keys.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    before = class_sizes(keys, counts, missing=missing)
    after = class_sizes(keys[rows][:, columns], counts[rows], missing=missing)
    assert after.tolist() == before[rows].tolist()


@pytest.mark.parametrize("missing", ["ignore", "wildcard"])
def test_keys_too_wide_for_one_integer(missing):
    rng = np.random.default_rng(5)
    wide = rng.integers(1, 4_000_000_000, (6, 40), dtype=np.uint32)
    keys = np.repeat(wide, 4, axis=0)
    keys[rng.random(keys.shape) < 0.05] = 0
    keys = np.unique(keys, axis=0)
    counts = rng.integers(1, 5, len(keys))
    expected = slow_sizes([tuple(key) for key in keys.tolist()], counts.tolist(), missing)
    assert class_sizes(keys, counts, missing=missing).tolist() == expected


def test_the_64th_variable_is_told_apart():
    keys = np.ones((3, 64), dtype=np.uint8)
    keys[1, 63] = 0
    keys[2, 0] = 0
    ones = np.ones(3, dtype=np.int64)
    assert class_sizes(keys, ones, missing="ignore").tolist() == [1, 2, 2]
    assert class_sizes(keys, ones, missing="wildcard").tolist() == [3, 3, 3]


def test_a_key_without_any_value_is_like_all():
    keys = np.array([[0, 0], [1, 1], [2, 0]])
    counts = np.array([1, 10, 100])
    assert class_sizes(keys, counts, missing="ignore").tolist() == [111, 10, 100]
    assert class_sizes(keys, counts, missing="wildcard").tolist() == [111, 11, 101]


def test_weights_are_summed_as_counts_are():
    keys = np.array([[1, 1], [1, 0], [2, 1]])
    weights = np.array([0.5, 2.0, 8.0])
    assert class_sizes(keys, weights, missing="wildcard").tolist() == [2.5, 2.5, 8.0]


@pytest.mark.parametrize("missing", RULES)
def test_no_keys_and_one_key(missing):
    none = class_sizes(np.zeros((0, 3), dtype=np.uint8), np.zeros(0, np.int64), missing=missing)
    assert none.tolist() == []
    assert class_sizes(np.array([[0]]), np.array([7]), missing=missing).tolist() == [7]


WORKED = [[3, 2, 2, 2], [2, 0, 1, 2], [3, 2, 1, 1], [1, 2, 1, 1], [0, 2, 3, 2], [2, 1, 1, 0]]


def test_a_worked_file():
    counts = np.ones(len(WORKED), dtype=np.int64)
    keys = np.array(WORKED)
    # Rows 2 and 6 agree wherever both have a value; each has a value where the other has none.
    assert class_sizes(keys, counts, missing="wildcard").tolist() == [1, 2, 1, 1, 1, 2]
    assert class_sizes(keys, counts, missing="ignore").tolist() == [1, 1, 1, 1, 1, 1]


def test_it_tells_how_far_it_is_and_can_be_stopped():
    keys = np.array([[1, 1], [1, 0], [0, 1]])
    told = []
    class_sizes(keys, np.ones(3, int), missing="wildcard", progress=lambda *part: told.append(part))
    assert told == [(1, 3), (2, 3), (3, 3)]

    def stop(done, whole):
        raise Cancelled("Counting.")

    with pytest.raises(Cancelled):
        class_sizes(keys, np.ones(3, int), missing="ignore", progress=stop)


def test_exact_rationals_agree_with_floating_point_weights():
    rng = np.random.default_rng(2)
    keys = np.unique(rng.integers(0, 3, (60, 3)), axis=0)
    weights = rng.integers(1, 1000, len(keys)) / 8
    exact = slow_sizes(
        [tuple(key) for key in keys.tolist()], [Fraction(w) for w in weights.tolist()], "wildcard"
    )
    found = class_sizes(keys, weights, missing="wildcard").tolist()
    assert found == [float(total) for total in exact]
