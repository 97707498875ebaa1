from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gamekeeper.algorithms.layout.layers import assign_layers, components, downward_order


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
