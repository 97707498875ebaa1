from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.graphs import (
    adjacency_of,
    as_adjacency,
    chordless_cycle,
    decomposable_graphs,
    edges_of,
    eliminate,
    fill_in,
    is_complete,
    is_decomposable,
    mask_of,
    maximal_cliques,
    members,
    moral_graph,
    perfect_ordering,
    reached_from,
    separators,
)
from gamekeeper.errors import InputError, LimitError, Reason
from tests.twins import chordal_graphs as twin
from tests.twins.legal_edges import can_add, can_delete, legal_additions, legal_deletions

SQUARE = adjacency_of(4, [(0, 1), (1, 2), (2, 3), (0, 3)])


def masks(n, graph):
    return adjacency_of(n, sorted(graph))


def agrees_with_the_twin(n, graph):
    adjacency = masks(n, graph)
    assert is_decomposable(adjacency)
    assert chordless_cycle(adjacency) == ()
    maximal = twin.cliques(n, graph)
    assert Counter(twin.sets(maximal_cliques(adjacency))) == Counter(maximal)
    assert Counter(twin.sets(separators(adjacency))) == Counter(twin.separators(maximal))
    added, deleted = twin.moves(n, graph)
    assert legal_additions(adjacency) == added
    assert legal_deletions(adjacency) == deleted
    for v, w in twin.all_pairs(n):
        assert can_add(adjacency, v, w) == can_add(adjacency, w, v) == ((v, w) in added)
        assert can_delete(adjacency, v, w) == can_delete(adjacency, w, v) == ((v, w) in deleted)


@pytest.mark.parametrize("n", range(6))
def test_all_graphs_of_up_to_five_variables(n):
    n_decomposable = 0
    for graph in twin.all_graphs(n):
        adjacency = masks(n, graph)
        if twin.has_chordless_cycle(n, graph):
            assert not is_decomposable(adjacency)
            cycle = chordless_cycle(adjacency)
            assert len(cycle) == len(set(cycle)) >= 4
            assert twin.is_cycle(graph, cycle)
            beside = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
            assert all((min(e), max(e)) in graph for e in beside)
        else:
            n_decomposable += 1
            agrees_with_the_twin(n, graph)
    assert n_decomposable == [1, 1, 2, 8, 61, 822][n]


@settings(deadline=None, max_examples=30)
@given(st.integers(6, 10), st.integers(0, 10**6), st.integers(5, 60))
def test_random_decomposable_graphs(n, seed, n_steps):
    agrees_with_the_twin(n, twin.random_chordal(n, seed, n_steps))


@settings(deadline=None)
@given(st.integers(6, 8), st.data())
def test_random_graphs(n, data):
    graph = frozenset(data.draw(st.sets(st.sampled_from(twin.all_pairs(n)))))
    adjacency = masks(n, graph)
    assert is_decomposable(adjacency) == twin.is_chordal(n, graph)
    cycle = chordless_cycle(adjacency)
    assert bool(cycle) != is_decomposable(adjacency)
    assert not cycle or (len(cycle) >= 4 and twin.is_cycle(graph, cycle))


@pytest.mark.parametrize(("n", "count"), list(enumerate([1, 1, 2, 8, 61, 822, 18154])))
def test_the_number_of_decomposable_graphs(n, count):
    graphs = list(decomposable_graphs(n))
    assert len(graphs) == len(set(graphs)) == count
    if n <= 4:
        wanted = {masks(n, g) for g in twin.all_graphs(n) if not twin.has_chordless_cycle(n, g)}
        assert set(graphs) == wanted


def test_single_edges_connect_all_decomposable_graphs():
    reached = fresh = {(0,) * 4}
    while fresh:
        following = set()
        for adjacency in fresh:
            for edge in legal_additions(adjacency) + legal_deletions(adjacency):
                graph = twin.toggled(frozenset(edges_of(adjacency)), edge)
                following.add(masks(4, graph))
        fresh = following - reached
        reached = reached | fresh
    assert len(reached) == 61


def test_a_common_neighbour_is_not_enough_to_add_an_edge():
    fan = adjacency_of(5, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (2, 4)])
    assert legal_additions(fan) == [(1, 4), (2, 3)]
    assert legal_deletions(fan) == [(0, 3), (0, 4), (1, 2), (1, 3), (2, 4)]


def test_empty_separators_tell_components_apart():
    graph = adjacency_of(6, [(0, 1), (1, 2), (3, 4)])
    assert [list(members(clique)) for clique in maximal_cliques(graph)] == [
        [0, 1],
        [1, 2],
        [3, 4],
        [5],
    ]
    assert separators(graph) == [0, 0, 0b10]
    assert maximal_cliques([]) == separators([]) == separators([0]) == []


def test_masks_of_64_variables_and_numpy_arrays():
    path = adjacency_of(64, [(v, v + 1) for v in range(63)])
    array = np.array(path, dtype=np.uint64)
    assert as_adjacency(array) == path
    assert edges_of(array) == [(v, v + 1) for v in range(63)]
    assert len(maximal_cliques(array)) == 63
    assert legal_additions(array) == [(v, v + 2) for v in range(62)]
    assert legal_deletions(array) == edges_of(path)
    assert reached_from(path, 0, within=(1 << 40) - 1) == (1 << 40) - 1
    assert is_complete(path, mask_of([62, 63]))
    assert not is_complete(path, mask_of([61, 62, 63]))


@pytest.mark.parametrize("ask", [maximal_cliques, separators, legal_additions, legal_deletions])
def test_a_graph_that_is_not_decomposable_is_refused_with_a_cycle(ask):
    with pytest.raises(InputError) as refused:
        ask(SQUARE)
    assert refused.value.reason is Reason.MALFORMED
    assert "the cycle 0, 1, 2, 3 has no chord" in str(refused.value)


def test_what_is_no_graph_is_refused_with_every_fault():
    with pytest.raises(InputError) as refused:
        as_adjacency([0b0001, 0b0100, 0, 0b10000])
    assert [problem.where for problem in refused.value.problems] == [
        "variable 0",
        "variable 1",
        "variable 3",
    ]
    with pytest.raises(InputError) as refused:
        adjacency_of(2, [(0, 1), (1, 1), (0, 2), (-1, 0)])
    assert [problem.where for problem in refused.value.problems] == ["edge 2", "edge 3", "edge 4"]


@pytest.mark.parametrize(("v", "w"), [(0, 0), (0, 4), (-1, 2)])
def test_wrong_ends_of_an_edge_are_refused(v, w):
    for ask in (can_add, can_delete):
        with pytest.raises(InputError) as refused:
            ask([0] * 4, v, w)
        assert refused.value.reason is Reason.BAD_OPTION


def test_an_enumeration_beyond_the_limit_is_refused_before_it_starts():
    with pytest.raises(LimitError, match="most_variables"):
        decomposable_graphs(7)
    with pytest.raises(InputError, match="negative"):
        decomposable_graphs(-1)
    assert sum(1 for _ in decomposable_graphs(3, most_variables=3)) == 8


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
