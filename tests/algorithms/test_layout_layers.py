from __future__ import annotations

import math
import random
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.layout_layers import (
    Extent,
    Placement,
    assign_layers,
    components,
    count_crossings,
    downward_order,
    order_layers,
    place,
)
from gamekeeper.errors import InputError, Reason

# Coordinates are rounded to a tenth of a point.
ROUNDING = 0.11


@st.composite
def drawings(draw):
    n_nodes = draw(st.integers(0, 12))
    names = draw(st.permutations(range(n_nodes)))
    pairs = [(names[a], names[b]) for a in range(n_nodes) for b in range(a + 1, n_nodes)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=24)) if pairs else []
    sinks = sorted(set(range(n_nodes)) - {upper for upper, _ in edges})
    size = st.integers(4, 120)
    extents = [Extent(draw(size), draw(size) / 2, draw(st.booleans())) for _ in range(n_nodes)]
    bottom = draw(st.lists(st.sampled_from(sinks), unique=True)) if sinks else []
    options = {
        "bottom": bottom,
        "keep_order": draw(st.booleans()),
        "rank_gap": draw(st.integers(5, 60)),
        "node_gap": draw(st.integers(2, 30)),
    }
    return extents, edges, options


def boxes(extents, placed):
    return [
        (x - e.width / 2, y - e.height / 2, x + e.width / 2, y + e.height / 2)
        for (x, y), e in zip(placed.centres, extents, strict=True)
    ]


def points_along(course, steps=24):
    """Points on the Bézier curves of a course and on its arrow head."""
    *controls, tip = course
    for start in range(0, len(controls) - 1, 3):
        a, b, c, d = controls[start : start + 4]
        for step in range(steps + 1):
            t = step / steps
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            yield tuple(
                sum(w * point[axis] for w, point in zip(weights, (a, b, c, d), strict=True))
                for axis in (0, 1)
            )
    yield tip


def distance_from_border(point, centre, extent):
    """About how far a point is from the border of a node."""
    dx, dy = abs(point[0] - centre[0]), abs(point[1] - centre[1])
    if extent.is_round:
        return abs(math.hypot(dx * 2 / extent.width, dy * 2 / extent.height) - 1) * min(
            extent.width, extent.height
        )
    return abs(max(dx - extent.width / 2, dy - extent.height / 2))


@given(drawings())
def test_nodes_keep_the_gaps(drawing):
    extents, edges, options = drawing
    placed = place(extents, edges, **options)
    for (left, top, right, low), (left_2, top_2, right_2, low_2) in combinations(
        boxes(extents, placed), 2
    ):
        aside = max(left, left_2) - min(right, right_2)
        apart = max(top, top_2) - min(low, low_2)
        assert (
            aside >= options["node_gap"] - 2 * ROUNDING
            or apart >= options["rank_gap"] - 2 * ROUNDING
        )


@given(drawings())
def test_edges_go_down_from_border_to_border(drawing):
    extents, edges, options = drawing
    placed = place(extents, edges, **options)
    assert len(placed.courses) == len(edges)
    for (upper, lower), course in zip(edges, placed.courses, strict=True):
        assert len(course) % 3 == 2
        heights = [y for _, y in course]
        assert heights == sorted(heights)
        assert heights[0] < heights[-1]
        assert distance_from_border(course[0], placed.centres[upper], extents[upper]) < 0.5
        assert distance_from_border(course[-1], placed.centres[lower], extents[lower]) < 0.5
        assert 0 < math.dist(course[-2], course[-1]) < 7 + 2 * ROUNDING


@given(drawings())
def test_edges_keep_clear_of_other_nodes(drawing):
    extents, edges, options = drawing
    placed = place(extents, edges, **options)
    for edge, course in zip(edges, placed.courses, strict=True):
        for x, y in points_along(course):
            for node, (left, top, right, low) in enumerate(boxes(extents, placed)):
                if node not in edge:
                    inside = min(x - left, right - x, y - top, low - y)
                    assert inside < 2 * ROUNDING


@given(drawings())
def test_all_is_inside_the_picture_and_touches_its_sides(drawing):
    extents, edges, options = drawing
    placed = place(extents, edges, **options)
    points = [point for course in placed.courses for point in course]
    for left, top, right, low in boxes(extents, placed):
        points += [(left, top), (right, low)]
    if points:
        xs, ys = zip(*points, strict=True)
        assert (min(xs), min(ys)) == pytest.approx((0, 0), abs=ROUNDING)
        assert (max(xs), max(ys)) == pytest.approx((placed.width, placed.height), abs=ROUNDING)


@given(drawings())
def test_the_bottom_is_the_lowest_layer_and_in_order_if_asked(drawing):
    extents, edges, options = drawing
    placed = place(extents, edges, **options)
    bottom = options["bottom"]
    if bottom:
        level = max(y for _, y in placed.centres)
        lowest = {node for node, (_, y) in enumerate(placed.centres) if y == level}
        assert lowest == set(bottom)
    if options["keep_order"]:
        places = [placed.centres[node][0] for node in bottom]
        assert places == sorted(places)


@given(drawings())
@settings(max_examples=30)
def test_only_what_is_given_matters(drawing):
    extents, edges, options = drawing
    placed = place(extents, edges, **options)
    state = random.getstate()
    random.seed(4)
    assert place(extents, edges, **options) == placed
    random.setstate(state)
    turned = place(extents, edges[::-1], **options)
    assert turned.centres == placed.centres
    assert turned.courses == placed.courses[::-1]


def test_edges_given_twice_have_the_same_course():
    placed = place([Extent(30, 20)] * 3, [(0, 1), (0, 2), (0, 1)])
    assert placed.courses[0] == placed.courses[2] != placed.courses[1]


def test_a_drawing_of_nothing():
    assert place([], []) == Placement(0.0, 0.0, (), ())


def test_joints_of_a_course_have_no_kinks():
    # The edge from 0 to 7 has to go round the others, which are much wider.
    extents = [Extent(30, 20), *[Extent(200, 40)] * 6, Extent(30, 20)]
    edges = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 7), (0, 7)]
    *controls, _ = place(extents, edges).courses[-1]
    assert len(controls) > 10
    for joint in range(3, len(controls) - 1, 3):
        (ax, ay), (bx, by), (cx, cy) = controls[joint - 1 : joint + 2]
        before, after = math.atan2(bx - ax, by - ay), math.atan2(cx - bx, cy - by)
        assert before == pytest.approx(after, abs=0.05)


def test_a_straight_way_is_drawn_as_a_straight_line():
    placed = place([Extent(60, 20)] * 3, [(0, 1), (0, 2)])
    for course in placed.courses:
        (x, y), (end_x, end_y) = course[0], course[-1]
        for px, py in course:
            on_line = x + (end_x - x) * (py - y) / (end_y - y)
            assert px == pytest.approx(on_line, abs=0.4)


def test_the_top_of_a_lattice_stands_in_the_middle():
    numbers = {subset: number for number, subset in enumerate(range(15, 0, -1))}
    edges = [
        (numbers[subset], numbers[subset & ~bit])
        for subset in numbers
        for bit in (1, 2, 4, 8)
        if subset & bit and subset != bit
    ]
    placed = place([Extent(50, 24)] * 15, edges)
    assert placed.centres[0] == (pytest.approx(placed.width / 2, abs=1), 12.0)
    assert len(edges) == 28
    assert len({y for _, y in placed.centres}) == 4


def test_parts_stand_side_by_side():
    # Two trees and a pair, numbered so that their nodes alternate.
    edges = [(0, 3), (0, 6), (1, 4), (1, 7), (2, 5)]
    placed = place([Extent(30, 20)] * 8, edges)
    parts = [(0, 3, 6), (1, 4, 7), (2, 5)]
    ranges = [[placed.centres[node][0] for node in part] for part in parts]
    for left, right in pairwise(ranges):
        assert max(left) < min(right)


def test_nodes_without_edges_fill_the_shortest_layers():
    placed = place([Extent(30, 20)] * 6, [(0, 1), (1, 2)])
    assert sorted(placed.centres[3:], key=lambda centre: centre[1]) == [
        (59.0, 10.0),
        (59.0, 66.0),
        (59.0, 122.0),
    ]


def test_the_given_order_of_the_bottom_may_interleave_parts():
    edges = [(0, 2), (0, 4), (1, 3), (1, 5)]
    placed = place([Extent(30, 20)] * 6, edges, bottom=[2, 3, 4, 5], keep_order=True)
    assert [x for x, _ in placed.centres[2:]] == [15.0, 59.0, 103.0, 147.0]


def test_a_wide_layer_below_many_categories():
    chance = random.Random(7)
    n_sinks, n_categories = 60, 43
    sinks = range(n_categories, n_categories + n_sinks)
    edges = []
    for category in range(n_categories):
        first = chance.randrange(n_sinks - 5)
        edges += [(category, sinks[n]) for n in range(first, min(first + 9, n_sinks))]
    assert len(edges) > 350
    extents = [Extent(50, 24)] * n_categories + [Extent(60, 24, is_round=True)] * n_sinks
    placed = place(extents, edges, bottom=sinks, keep_order=True)
    assert placed.height == 84
    # Every category stands over its own sinks, as far as its neighbours let it.
    assert placed.width < 60 * 60 + 59 * 14 + 500
    for category in range(n_categories):
        own = [placed.centres[lower][0] for upper, lower in edges if upper == category]
        assert abs(placed.centres[category][0] - sum(own) / len(own)) < 600


def test_every_fault_is_reported_at_once():
    with pytest.raises(InputError) as caught:
        place([Extent(-1, 5), Extent(4, math.nan)], [(0, 1), (1, 0)], rank_gap=0, node_gap=-1)
    assert caught.value.reason == Reason.MALFORMED
    assert [problem.where for problem in caught.value.problems] == [
        "node 0",
        "node 1",
        "edges",
        "rank_gap",
        "node_gap",
    ]


@pytest.mark.parametrize(
    ("edges", "bottom", "where"),
    [
        ([(0, 2)], [], "edge (0, 2)"),
        ([(-1, 0)], [], "edge (-1, 0)"),
        ([(1, 1)], [], "edges"),
        ([], [5], "bottom 5"),
        ([(0, 1)], [0, 1], "bottom 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(edges, bottom, where):
    with pytest.raises(InputError) as caught:
        place([Extent(4, 4)] * 2, edges, bottom=bottom)
    assert [problem.where for problem in caught.value.problems] == [where]


@st.composite
def acyclic_graphs(draw, *, most=6):
    n_nodes = draw(st.integers(1, most))
    names = draw(st.permutations(range(n_nodes)))
    pairs = [(names[a], names[b]) for a in range(n_nodes) for b in range(a + 1, n_nodes)]
    return n_nodes, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


def length(layers, edges):
    return sum(layers[lower] - layers[upper] for upper, lower in edges)


def all_assignments(n_nodes, edges):
    """Every assignment with edges that go down, as columns of layers."""
    layers = np.indices((n_nodes,) * n_nodes).reshape(n_nodes, -1)
    for upper, lower in edges:
        layers = layers[:, layers[upper] < layers[lower]]
    return layers


# In the first example edges of length one span the graph before its edges are shortest.
@example((6, [(4, 3), (5, 1), (2, 3), (0, 4), (2, 4), (5, 0), (2, 1)]))
@given(acyclic_graphs())
def test_no_assignment_has_shorter_edges(graph):
    n_nodes, edges = graph
    layers = assign_layers(n_nodes, edges)
    assert all(layers[upper] < layers[lower] for upper, lower in edges)
    others = all_assignments(n_nodes, edges)
    assert length(layers, edges) == np.min(length(others, edges))


@given(acyclic_graphs(), st.data())
def test_with_a_bottom_no_assignment_has_shorter_edges(graph, data):
    n_nodes, edges = graph
    sinks = sorted(set(range(n_nodes)) - {upper for upper, _ in edges})
    bottom = data.draw(st.lists(st.sampled_from(sinks), unique=True, min_size=1))
    layers = assign_layers(n_nodes, edges, bottom=bottom)
    assert all(layers[upper] < layers[lower] for upper, lower in edges)
    assert {node for node in range(n_nodes) if layers[node] == max(layers)} == set(bottom)
    others = all_assignments(n_nodes, edges)
    is_lowest = others == others.max(axis=0)
    on_floor = np.isin(np.arange(n_nodes), bottom)
    others = others[:, (is_lowest == on_floor[:, None]).all(axis=0)]
    assert length(layers, edges) == np.min(length(others, edges))


@given(acyclic_graphs(most=12))
def test_layers_are_counted_from_the_top_of_each_part(graph):
    n_nodes, edges = graph
    layers = assign_layers(n_nodes, edges)
    for part in components(range(n_nodes), edges):
        used = {layers[node] for node in part}
        assert used == set(range(len(used)))


def test_a_node_that_may_stand_on_several_layers_goes_where_there_is_room():
    # 3 may stand on the second or the third layer; 1 and 2 are on the second, 4 is on the third.
    edges = [(0, 1), (0, 3), (1, 4), (2, 4), (3, 5), (4, 5)]
    assert assign_layers(6, edges) == [0, 1, 1, 2, 2, 3]


def test_a_long_path_needs_no_deep_recursion():
    n_nodes = 1_500
    assert assign_layers(n_nodes, [(n, n + 1) for n in range(n_nodes - 1)]) == list(range(n_nodes))


@pytest.mark.parametrize(
    ("edges", "order"),
    [([(0, 1), (1, 2), (2, 1)], [0]), ([(2, 2)], [0, 1]), ([(1, 0), (2, 1)], [2, 1, 0])],
)
def test_nodes_on_and_below_cycles_are_left_out_of_the_downward_order(edges, order):
    assert downward_order(3, edges) == order


def test_components_keep_the_given_order():
    assert components([3, 0, 2, 1], [(0, 3), (1, 2)]) == [[3, 0], [2, 1]]


@st.composite
def layered_graphs(draw, *, most=5):
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=4))
    starts = [sum(sizes[:number]) for number in range(len(sizes) + 1)]
    layers = [list(range(start, stop)) for start, stop in pairwise(starts)]
    gaps = [
        draw(st.lists(st.sampled_from(list(product(upper, lower))), unique=True))
        for upper, lower in pairwise(layers)
    ]
    return layers, gaps


def random_graph(seed, sizes, n_edges):
    chance = random.Random(seed)
    starts = [sum(sizes[:number]) for number in range(len(sizes) + 1)]
    layers = [list(range(start, stop)) for start, stop in pairwise(starts)]
    gaps = [
        chance.sample(list(product(upper, lower)), n_edges) for upper, lower in pairwise(layers)
    ]
    return layers, gaps


@given(layered_graphs())
def test_crossings_are_pairs_of_edges_in_opposite_orders(graph):
    layers, gaps = graph
    place = {node: at for layer in layers for at, node in enumerate(layer)}
    assert count_crossings(layers, gaps) == sum(
        (place[a] - place[c]) * (place[b] - place[d]) < 0
        for gap in gaps
        for (a, b), (c, d) in combinations(gap, 2)
    )


@given(layered_graphs(), st.booleans())
def test_layers_keep_their_nodes_and_never_get_more_crossings(graph, keep_lowest):
    layers, gaps = graph
    order = order_layers(layers, gaps, keep_lowest=keep_lowest)
    assert [sorted(layer) for layer in order] == layers
    assert count_crossings(order, gaps) <= count_crossings(layers, gaps)
    if keep_lowest:
        assert order[-1] == layers[-1]


def test_small_graphs_get_the_fewest_crossings_possible():
    for seed in range(12):
        layers, gaps = random_graph(seed, [3, 4, 3], 6)
        fewest = min(
            count_crossings(order, gaps) for order in product(*(map(permutations, layers)))
        )
        assert count_crossings(order_layers(layers, gaps), gaps) == fewest


def test_large_graphs_get_far_fewer_crossings_than_at_random():
    layers, gaps = random_graph(1, [30, 40, 30], 60)
    assert count_crossings(order_layers(layers, gaps), gaps) < 0.6 * count_crossings(layers, gaps)


def test_a_tree_gets_no_crossings():
    layers = [[0], [2, 1, 3], [9, 4, 7, 5, 8, 6]]
    gaps = [[(0, 1), (0, 2), (0, 3)], [(1, 4), (1, 5), (2, 6), (2, 7), (3, 8), (3, 9)]]
    assert count_crossings(order_layers(layers, gaps), gaps) == 0


def test_no_move_of_a_single_node_saves_crossings():
    for seed in range(6):
        layers, gaps = random_graph(seed, [8, 9, 10, 9], 22)
        order = order_layers(layers, gaps)
        fewest = count_crossings(order, gaps)
        for number, layer in enumerate(order):
            for node, slot in product(layer, range(len(layer))):
                others = [other for other in layer if other != node]
                moved = [*order]
                moved[number] = [*others[:slot], node, *others[slot:]]
                assert count_crossings(moved, gaps) >= fewest


def test_nodes_with_the_same_neighbours_stay_in_the_given_order():
    gap = [(0, 3), (0, 6), (1, 3), (1, 6)]
    upper, lower = order_layers([[0, 1, 2], [3, 4, 5, 6, 7]], [gap])
    assert upper == [0, 1, 2]
    assert lower.index(3) < lower.index(6)


def test_of_an_order_and_its_mirror_image_the_nearer_to_the_given_one_is_taken():
    assert order_layers([[0, 1, 2], [3, 4]], [[(0, 4), (2, 3)]]) == [[0, 1, 2], [4, 3]]


def test_the_outcome_does_not_depend_on_chance():
    layers, gaps = random_graph(2, [8, 9, 10, 8], 20)
    state = random.getstate()
    first = order_layers(layers, gaps)
    random.seed(5)
    assert order_layers(layers, gaps) == first
    random.setstate(state)


def test_gaps_without_edges_are_no_obstacle():
    layers, gaps = [[0, 1], [2, 3], [4, 5]], [[(0, 3), (1, 2)], []]
    assert count_crossings(order_layers(layers, gaps, keep_lowest=True), gaps) == 0
