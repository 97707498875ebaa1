from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.adjacency_masks import adjacency_of, edges_of
from gamekeeper.algorithms.decomposable.elimination import (
    eliminate,
    fill_in,
    moral_graph,
    perfect_ordering,
)
from gamekeeper.errors import InputError, Reason
from tests.algorithms.decomposable import twins as twin

NAMES = "ABDELSTX"
ARROWS = "AT SL SB TE LE EX ED BD"


def numbers(letters):
    return [NAMES.index(letter) for letter in letters]


def pairs(words):
    return sorted(tuple(numbers(word)) for word in words.split())


ASIA = moral_graph(8, pairs(ARROWS))


@st.composite
def graphs_and_orderings(draw, most=8):
    n = draw(st.integers(0, most))
    pairs = twin.all_pairs(n)
    graph = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    return n, frozenset(graph), draw(st.permutations(range(n)))


def played(graph, ordering):
    """Play the elimination game with sets: return the fill-in, the cliques and what is left."""
    edges, added, cliques = set(graph), set(), {}
    for v in ordering:
        beside = sorted(twin.neighbours(frozenset(edges), v))
        cliques[v] = frozenset([v, *beside])
        new = set(combinations(beside, 2)) - edges
        added |= new
        edges = {edge for edge in edges | new if v not in edge}
    return added, cliques, edges


def test_the_moral_graph_of_the_asia_network():
    joined = {tuple(sorted(pair)) for pair in pairs(ARROWS)}
    assert set(edges_of(ASIA)) - joined == set(pairs("BE LT"))
    assert perfect_ordering(ASIA) is None


@pytest.mark.parametrize(
    ("ordering", "added"),
    [
        ("SXDBELTA", "BL"),
        ("DBSXELTA", "ES"),
        # The poor start: all neighbours of E are joined.
        ("EABDLSTX", "BL BT BX DL DS DT DX LX ST SX TX"),
    ],
)
def test_fill_ins_of_the_asia_network(ordering, added):
    assert fill_in(ASIA, numbers(ordering)) == pairs(added)


@given(graphs_and_orderings())
def test_elimination_is_the_elimination_game(drawn):
    n, graph, ordering = drawn
    adjacency = adjacency_of(n, graph)
    added, cliques, left = played(graph, ordering)
    assert fill_in(adjacency, ordering) == sorted(added)
    assert twin.sets(eliminate(adjacency, ordering)) == [cliques[v] for v in range(n)]
    assert not left
    assert twin.is_chordal(n, graph | added)
    assert fill_in(adjacency_of(n, graph | added), ordering) == []


@settings(deadline=None)
@given(graphs_and_orderings(6), st.data())
def test_what_is_left_does_not_depend_on_the_order_of_elimination(drawn, data):
    n, graph, ordering = drawn
    cut = data.draw(st.integers(0, n))
    adjacency = adjacency_of(n, graph)
    wanted = eliminate(adjacency, ordering)
    for start in permutations(ordering[:cut]):
        found = eliminate(adjacency, [*start, *ordering[cut:]])
        assert all(found[v] == wanted[v] for v in ordering[cut:])


@given(graphs_and_orderings())
def test_a_perfect_ordering_is_found_if_there_is_one(drawn):
    n, graph, _ = drawn
    adjacency = adjacency_of(n, graph)
    found = perfect_ordering(adjacency)
    assert (found is not None) == twin.is_chordal(n, graph)
    if found is not None:
        assert sorted(found) == list(range(n))
        assert fill_in(adjacency, found) == []


@pytest.mark.parametrize("n", range(5))
def test_a_graph_is_decomposable_if_some_ordering_is_perfect(n):
    for graph in twin.all_graphs(n):
        adjacency = adjacency_of(n, graph)
        perfect = any(not fill_in(adjacency, order) for order in permutations(range(n)))
        assert perfect == (perfect_ordering(adjacency) is not None)


@st.composite
def networks(draw):
    n = draw(st.integers(1, 7))
    order = draw(st.permutations(range(n)))
    chosen = draw(st.sets(st.sampled_from(twin.all_pairs(n)))) if n > 1 else set()
    return n, [(order[a], order[b]) for a, b in chosen]


@given(networks())
def test_a_moral_graph_joins_parents_and_children_and_parents_of_one_child(network):
    n, arrows = network
    wanted = {(min(arrow), max(arrow)) for arrow in arrows}
    for (a, child), (b, other) in combinations(arrows, 2):
        if child == other:
            wanted.add((min(a, b), max(a, b)))
    assert edges_of(moral_graph(n, arrows)) == sorted(wanted)


@pytest.mark.parametrize("arrows", [[(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 0), (0, 3)]])
def test_a_directed_cycle_is_refused(arrows):
    with pytest.raises(InputError, match="directed cycle") as refused:
        moral_graph(4, arrows)
    assert refused.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("ordering", [[0, 1], [0, 1, 1], [0, 1, 2, 3], [0, 1, 3]])
def test_an_ordering_must_hold_every_variable_once(ordering):
    for ask in (eliminate, fill_in):
        with pytest.raises(InputError, match="exactly once"):
            ask([0, 0, 0], ordering)


def test_no_variables():
    assert moral_graph(0, []) == eliminate([], []) == perfect_ordering([]) == ()
