"""Orders of records by their values."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage.comparison import Comparison
from gamekeeper.algorithms.linkage.record_order import record_order

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
