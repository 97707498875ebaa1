from __future__ import annotations

import random
from itertools import combinations, pairwise, permutations, product

from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.layout.order import count_crossings, order_layers


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
