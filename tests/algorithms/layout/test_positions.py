from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.layout.positions import _in_order, horizontal_positions


def positions(order, gaps, *, width=20.0, n_nodes=100, node_gap=10.0):
    widths = {node: width if node < n_nodes else 0.0 for row in order for node in row}
    return horizontal_positions(order, gaps, widths, n_nodes=n_nodes, node_gap=node_gap)


@given(
    st.lists(
        st.tuples(st.integers(-50, 50), st.integers(1, 9), st.integers(0, 9)),
        min_size=1,
        max_size=8,
    )
)
def test_a_layer_is_the_isotonic_regression_of_what_is_wanted(given_nodes):
    wanted, weights, rooms = (
        np.array(column, dtype=float) for column in zip(*given_nodes, strict=True)
    )
    offsets = np.cumsum(rooms)
    free = wanted - offsets

    def mean(first, last):
        return np.average(free[first : last + 1], weights=weights[first : last + 1])

    # The textbook formula: the largest over starts of the least over ends of the means between.
    n = len(free)
    expected = [
        max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) + offsets[i]
        for i in range(n)
    ]
    assert _in_order(wanted, weights, offsets) == pytest.approx(expected)


def test_parents_are_centred_over_children():
    order = [[0], [1, 2], [3, 4, 5, 6, 7]]
    gaps = [[(0, 1), (0, 2)], [(1, 3), (1, 4), (2, 5), (2, 6), (2, 7)]]
    x = positions(order, gaps)
    assert x[1] == pytest.approx((x[3] + x[4]) / 2, abs=4)
    assert x[2] == pytest.approx(x[6], abs=4)
    assert [x[node + 1] - x[node] for node in (3, 5, 6)] == pytest.approx([30, 30, 30], abs=0.1)


def test_children_are_centred_under_parents_where_the_widest_layer_is_above():
    order = [[3, 4, 5, 6], [1, 2], [0]]
    gaps = [[(3, 1), (4, 1), (5, 2), (6, 2)], [(1, 0), (2, 0)]]
    x = positions(order, gaps)
    assert x[0] == pytest.approx((x[1] + x[2]) / 2, abs=0.1)
    assert x[1] == pytest.approx((x[3] + x[4]) / 2, abs=4)


def test_paths_without_branches_are_straight():
    order = [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9]]
    gaps = [[(0, 1), (0, 2)], [(1, 3), (1, 4), (2, 5)], [(3, 6), (3, 7), (4, 8), (5, 9)]]
    x = positions(order, gaps)
    assert [x[5], x[9]] == pytest.approx([x[2], x[2]], abs=0.01)
    assert x[4] == pytest.approx(x[8], abs=0.01)


def test_a_long_edge_with_nothing_in_its_way_is_a_straight_line():
    # From 0 a path of nodes goes down to 4, and a long edge to 5, which stands far to the right.
    order = [[0], [1, 100], [2, 101], [3, 102], [4, 6, 7, 8, 5]]
    gaps = [
        [(0, 1), (0, 100)],
        [(1, 2), (100, 101)],
        [(2, 3), (101, 102)],
        [(3, 4), (3, 6), (3, 7), (3, 8), (102, 5)],
    ]
    x = positions(order, gaps)
    assert [x[2], x[3]] == pytest.approx([x[1], x[1]], abs=0.01)
    along = [x[node] for node in (0, 100, 101, 102, 5)]
    assert np.diff(along) == pytest.approx(np.full(4, (x[5] - x[0]) / 4), abs=0.5)


def test_dummies_need_half_the_room():
    x = positions([[0, 1, 100, 101]], [], width=20.0, node_gap=10.0)
    assert np.diff([x[node] for node in (0, 1, 100, 101)]) == pytest.approx([30, 15, 5])
