from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.layout_positions import (
    Extent,
    _in_order,
    draw_courses,
    horizontal_positions,
)

BOX = Extent(40, 20)


def on_curve(controls, height):
    """Where a course is at a height; it goes down, so that is one place."""
    for start in range(0, len(controls) - 1, 3):
        piece = controls[start : start + 4]
        if piece[0][1] <= height <= piece[3][1]:
            low, high = 0.0, 1.0
            for _ in range(50):
                middle = (low + high) / 2
                x, y = bezier(piece, middle)
                low, high = (middle, high) if y < height else (low, middle)
            return x
    raise AssertionError("the course does not reach that height")


def bezier(piece, t):
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    return tuple(sum(w * p[axis] for w, p in zip(weights, piece, strict=True)) for axis in (0, 1))


def test_a_slanted_edge_becomes_steep_beside_a_node():
    # A long edge goes far to the right and passes a dummy, 5, with a node 8 points to its right.
    rows = [[0], [5, 1], [2]]
    centres = {0: (0, 10), 5: (300, 70), 1: (328, 70), 2: (600, 130)}
    (*controls, _), *_ = draw_courses([[0, 5, 2]], rows, centres, [BOX] * 3)
    for height in (60, 65, 70, 75, 80):
        assert 300 - 5 - 1e-6 <= on_curve(controls, height) <= 308 - 3 + 1e-6


def test_a_slanted_edge_without_neighbours_is_a_straight_line():
    rows = [[0], [5], [2, 1]]
    centres = {0: (0, 10), 5: (300, 70), 1: (900, 130), 2: (600, 130)}
    (*controls, tip), *_ = draw_courses([[0, 5, 2]], rows, centres, [BOX] * 3)
    for x, y in [*controls, tip]:
        assert x == pytest.approx(5 * (y - 10), abs=1)


def test_neighbouring_dummies_do_not_cross_on_their_layer():
    # Both edges go to the right, that of 5 all the way and that of 6 only below its dummy.
    rows = [[0, 1], [5, 6, 4], [2, 3]]
    centres = {
        0: (0, 10),
        1: (307, 10),
        5: (300, 70),
        6: (307, 70),
        4: (900, 70),
        2: (600, 130),
        3: (700, 130),
    }
    left, right = draw_courses([[0, 5, 2], [1, 6, 3]], rows, centres, [BOX] * 5)
    for height in (60, 65, 70, 75, 80):
        assert on_curve(left[:-1], height) < on_curve(right[:-1], height) + 1e-6


def test_edges_may_end_at_the_sides_of_a_node_that_stands_alone():
    centres = {0: (0, 10), 1: (600, 70)}
    course, *_ = draw_courses([[0, 1]], [[0], [1]], centres, [BOX] * 2)
    assert course[0] == pytest.approx((20, 12))
    assert course[-1] == pytest.approx((580, 68))


def test_edges_end_near_the_corners_of_a_node_with_near_neighbours():
    rows = [[2, 0, 3], [4, 1, 5]]
    centres = {2: (-44, 10), 0: (0, 10), 3: (44, 10), 4: (556, 70), 1: (600, 70), 5: (644, 70)}
    course, *_ = draw_courses([[0, 1]], rows, centres, [BOX] * 6)
    start, tip = course[0], course[-1]
    assert start[1] >= 19
    assert tip[1] <= 61
    assert on_curve(course[:-1], 20) < 24


@pytest.mark.parametrize("extent", [Extent(0, 0), Extent(0, 20), Extent(40, 0, is_round=True)])
def test_nodes_without_area_are_points(extent):
    course, *_ = draw_courses([[0, 1]], [[0], [1]], {0: (0, 10), 1: (30, 70)}, [extent] * 2)
    assert course[0] == (0, 10)
    assert course[-1] == (30, 70)


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
