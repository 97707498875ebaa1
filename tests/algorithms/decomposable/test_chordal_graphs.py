from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.decomposable.adjacency_masks import (
    adjacency_of,
    as_adjacency,
    edges_of,
    is_complete,
    mask_of,
    members,
    reached_from,
)
from gamekeeper.algorithms.decomposable.chordal_graphs import (
    chordless_cycle,
    decomposable_graphs,
    is_decomposable,
    maximal_cliques,
    separators,
)
from gamekeeper.errors import InputError, LimitError, Reason
from tests.algorithms.decomposable import twins as twin
from tests.algorithms.decomposable.legal_edges import (
    can_add,
    can_delete,
    legal_additions,
    legal_deletions,
)

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
