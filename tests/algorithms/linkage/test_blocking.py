from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage.blocking import (
    CandidatePairs,
    block_nearest,
    block_on_sinks,
    block_on_values,
    block_sorted,
    compatible,
    equal_records,
    record_order,
    unite,
)
from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.cases import cases


def listed(candidates):
    return list(zip(candidates.rows().tolist(), candidates.columns.tolist(), strict=True))


def columns_of(n_variables, highest, draw, length):
    return [
        draw(st.lists(st.integers(0, highest), min_size=length, max_size=length))
        for _ in range(n_variables)
    ]


@given(st.integers(1, 3), st.integers(0, 8), st.integers(0, 8), st.data())
def test_equal_values(n_variables, n_rows, n_columns, data):
    a = columns_of(n_variables, 3, data.draw, n_rows)
    b = columns_of(n_variables, 3, data.draw, n_columns)
    found = block_on_values(a, b)
    expected = [
        (i, j)
        for i in range(n_rows)
        for j in range(n_columns)
        if all(x[i] == y[j] != 0 for x, y in zip(a, b, strict=True))
    ]
    assert listed(found) == expected
    assert found.shape == (n_rows, n_columns)
    missing = [
        sum(any(x[i] == 0 for x in side) for i in range(n))
        for side, n in ((a, n_rows), (b, n_columns))
    ]
    assert bool(found.notes) == any(missing)
    if found.notes:
        assert f"{missing[0]} records of the first file and {missing[1]} of" in found.notes[0]


@given(st.integers(1, 3), st.integers(0, 2), st.integers(0, 7), st.integers(0, 7), st.data())
def test_compatible_categories(n_tables, n_equal, n_rows, n_columns, data):
    masks = st.lists(st.integers(1, 15), min_size=3, max_size=3)
    sinks = [(data.draw(masks), data.draw(masks)) for _ in range(n_tables)]
    tables = [
        compatible(*([[m >> k & 1 for k in range(4)] for m in side] for side in both))
        for both in sinks
    ]
    a, b = (columns_of(n_tables, 3, data.draw, n) for n in (n_rows, n_columns))
    equal_a, equal_b = (columns_of(n_equal, 2, data.draw, n) for n in (n_rows, n_columns))

    def fits(i, j):
        for (left, right), x, y in zip(sinks, a, b, strict=True):
            if x[i] and y[j] and not left[x[i] - 1] & right[y[j] - 1]:
                return False
        return all(x[i] == y[j] != 0 for x, y in zip(equal_a, equal_b, strict=True))

    found = block_on_sinks(a, b, tables, equal_a=equal_a, equal_b=equal_b)
    expected = [(i, j) for i in range(n_rows) for j in range(n_columns) if fits(i, j)]
    assert listed(found) == expected


def test_more_pairs_than_asked_for_are_refused_before_they_are_made():
    ones = [np.ones(1_000_000, int)]
    with pytest.raises(LimitError, match="1,000,000,000,000 candidate pairs, more than") as caught:
        block_on_values(ones, ones)
    assert caught.value.reason is Reason.TOO_LARGE
    assert block_on_values([[1, 1]], [[1]], max_pairs=2).n_pairs == 2
    with pytest.raises(LimitError):
        block_on_values([[1, 1]], [[1]], max_pairs=1)
    with pytest.raises(LimitError):
        block_nearest([[1.0]], [[1.0]], 1, max_pairs=1)
    with pytest.raises(LimitError):
        block_sorted([1.0], [1.0], 1, max_pairs=1)


@given(
    st.lists(st.one_of(st.just(math.nan), st.integers(0, 6).map(float)), max_size=7),
    st.lists(st.one_of(st.just(math.nan), st.integers(0, 6).map(float)), max_size=7),
    st.integers(1, 3),
)
def test_sorted_neighbourhood(a, b, window):
    order = sorted(
        [(x, 0, i) for i, x in enumerate(a) if x == x]
        + [(y, 1, j) for j, y in enumerate(b) if y == y]
    )
    expected = set()
    for place, (_, file, record) in enumerate(order):
        before = [other for other in order[:place] if other[1] != file][-window:]
        behind = [other for other in order[place + 1 :] if other[1] != file][:window]
        for _, _, other in before + behind:
            expected.add((record, other) if file == 0 else (other, record))
    assert listed(block_sorted(a, b, window)) == sorted(expected)


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 9), st.booleans(), st.integers(0, 99))
def test_nearest(n_rows, n_columns, k, both, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n_rows, 2)), rng.normal(size=(n_columns, 2))
    a[rng.random(n_rows) < 0.2, 0] = math.nan
    rows = [i for i in range(n_rows) if not np.isnan(a[i, 0])]
    distance = {(i, j): np.linalg.norm(a[i] - b[j]) for i in rows for j in range(n_columns)}
    expected = {
        (i, j) for i in rows for j in sorted(range(n_columns), key=lambda j: distance[i, j])[:k]
    }
    if both:
        expected |= {
            (i, j) for j in range(n_columns) for i in sorted(rows, key=lambda i: distance[i, j])[:k]
        }
    found = block_nearest(a, b, k, both=both)
    assert listed(found) == sorted(expected)
    assert bool(found.notes) == (len(rows) < n_rows)


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3))), min_size=1, max_size=4))
def test_unions(passes):
    candidates = [
        CandidatePairs.from_pairs([p[0] for p in one], [p[1] for p in one], (5, 4))
        for one in passes
    ]
    assert listed(unite(candidates)) == sorted({pair for one in passes for pair in one})


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=12))
def test_components(pairs):
    candidates = CandidatePairs.from_pairs([p[0] for p in pairs], [p[1] for p in pairs], (6, 5))
    rows, columns, n_components = candidates.components()
    sets = [{("row", i)} for i in range(6)] + [{("column", j)} for j in range(5)]
    for i, j in pairs:
        touched = [s for s in sets if ("row", i) in s or ("column", j) in s]
        sets = [s for s in sets if s not in touched] + [set().union(*touched)]
    assert n_components == len(sets)
    labels = {("row", i): c for i, c in enumerate(rows.tolist())}
    labels |= {("column", j): c for j, c in enumerate(columns.tolist())}
    assert all(len({labels[node] for node in one}) == 1 for one in sets)
    assert set(labels.values()) == set(range(n_components))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: block_on_values([], []),
        lambda: block_on_values([[1]], [[1], [1]]),
        lambda: block_on_values([[1], [1, 2]], [[1], [1]]),
        lambda: block_on_values([[1.5]], [[1]]),
        lambda: block_on_values([[-1]], [[1]]),
        lambda: block_on_sinks([[2]], [[1]], [[[True]]]),
        lambda: block_on_sinks([[1]], [[1]], [[[True]], [[True]]]),
        lambda: block_sorted([1.0], [1.0], 0),
        lambda: block_nearest([[1.0]], [[1.0]], 0),
        lambda: block_nearest([[1.0]], [[1.0, 2.0]], 1),
        lambda: CandidatePairs.from_pairs([0], [2], (1, 2)),
        lambda: CandidatePairs.from_pairs([0], [0, 1], (1, 2)),
        lambda: unite([]),
        lambda: unite(
            [CandidatePairs.from_pairs([], [], (1, 1)), CandidatePairs.from_pairs([], [], (1, 2))]
        ),
    ],
)
def test_what_cannot_be_blocked_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()


CELL = st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan])


@cases(60)
@given(st.lists(st.tuples(CELL, st.integers(0, 2)), min_size=1, max_size=12), st.booleans())
def test_groups_are_of_equal_records(rows, side):
    numbers = np.array([one for one, _ in rows])
    codes = np.array([other for _, other in rows], np.int32)
    none, no_code = np.zeros(1), np.zeros(1, np.int32)
    comparisons = [
        Comparison("x", "absolute", *((none, numbers) if side else (numbers, none))),
        Comparison("c", "different", *((no_code, codes) if side else (codes, no_code))),
    ]
    found = equal_records(comparisons, int(side))
    keys = [("missing" if np.isnan(one) else one, other) for one, other in rows]
    for i, key in enumerate(keys):
        same = [j for j, other in enumerate(keys) if other == key]
        assert found.sizes[found.numbers[i]] == len(same)
        assert all((found.numbers[i] == found.numbers[j]) == (j in same) for j in range(len(keys)))
        assert keys[found.firsts[found.numbers[i]]] == key
    n_twins = sum(keys.count(key) > 1 for key in keys)
    assert found.are_many == (n_twins > 0.1 * len(keys))
    assert found.are_whole == (found.are_many and len(keys) - n_twins <= 0.01 * len(keys))


numbers = st.sampled_from([0.0, -0.0, 1.0, 2.5, -7.0, float("nan")])


def compared(rows, order=(0, 1)):
    values = np.array(rows, np.float64).reshape(-1, 2)
    codes = np.nan_to_num(values[:, 1], nan=8.0).astype(np.int32) + 7
    made = [
        Comparison("x", "absolute", values[:, 0], np.zeros(1)),
        Comparison("y", "different", codes, np.zeros(1, np.int32)),
    ]
    return [made[k] for k in order]


@given(st.lists(st.tuples(numbers, numbers), max_size=12), st.randoms(use_true_random=False))
def test_the_order_hangs_on_values_alone(rows, random):
    shuffled = random.sample(rows, len(rows))
    one = [rows[k] for k in record_order(compared(rows), 0, 3)]
    other = [shuffled[k] for k in record_order(compared(shuffled, (1, 0)), 0, 3)]
    # Two zeros are one number, and NaN is equal to nothing.
    assert str([(x + 0.0, y + 0.0) for x, y in one]) == str([(x + 0.0, y + 0.0) for x, y in other])


def test_equal_records_and_different_ones_are_mixed_by_the_seed():
    equal = compared([(1.0, 2.0)] * 30)
    orders = {tuple(record_order(equal, 0, seed)) for seed in range(4)}
    assert len(orders) == 4
    assert tuple(range(30)) not in orders
    rising = compared([(k, 2.0) for k in range(30)])
    assert len({tuple(record_order(rising, 0, seed)) for seed in range(4)} - orders) == 4
