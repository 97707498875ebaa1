from __future__ import annotations

import pytest

from gamekeeper.algorithms.layout.courses import Extent, draw_courses

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
