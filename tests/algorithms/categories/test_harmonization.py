from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories import harmonization as module
from gamekeeper.algorithms.categories.harmonization import HarmonizationGraph
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition, is_finer
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.categorizations import categorizations, disjoint_pairs, lists_of_categorizations
from tests.twins import partitions as twins


def closure(observed):
    """Return the harmonizations of all non-empty subsets."""
    given_ones = [twins.blocks_of(c) for c in dict.fromkeys(observed)]
    return {
        twins.joined(subset)
        for n in range(1, len(given_ones) + 1)
        for subset in combinations(given_ones, n)
    }


def reduction(nodes):
    """Return the pairs (coarser, finer) with no node between, by looking at all triples."""

    def strictly(a, b):
        return a != b and twins.refines(a, b)

    return {
        (coarse, fine)
        for coarse in nodes
        for fine in nodes
        if strictly(fine, coarse)
        and not any(strictly(fine, mid) and strictly(mid, coarse) for mid in nodes)
    }


def blocks_in(graph):
    return [twins.blocks_of(node) for node in graph.nodes]


def shape(graph):
    """Return what a graph is, apart from the order of its nodes."""
    blocks = blocks_in(graph)
    return (
        frozenset(blocks),
        frozenset((blocks[a], blocks[b]) for a, b in graph.edges),
        frozenset(blocks[node] for node in graph.observed),
    )


@given(lists_of_categorizations(most=6))
def test_nodes_are_the_harmonizations_of_all_subsets(observed):
    graph = HarmonizationGraph.of(observed)
    blocks = blocks_in(graph)
    assert len(set(blocks)) == len(blocks)
    assert set(blocks) == closure(observed)
    distinct = list(dict.fromkeys(observed))
    assert [graph.nodes[node] for node in graph.observed] == distinct


@given(lists_of_categorizations(most=6))
def test_edges_are_the_transitive_reduction(observed):
    graph = HarmonizationGraph.of(observed)
    blocks = blocks_in(graph)
    assert {(blocks[a], blocks[b]) for a, b in graph.edges} == reduction(closure(observed))
    assert list(graph.edges) == sorted(set(graph.edges))


@given(lists_of_categorizations(most=6))
def test_small_chunks_give_the_same_edges(observed):
    expected = HarmonizationGraph.of(observed).edges
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", 2)
        assert HarmonizationGraph.of(observed).edges == expected


@given(lists_of_categorizations(least=2, most=6), st.randoms(use_true_random=False))
def test_any_order_one_by_one_or_at_once_gives_the_same_graph(observed, random):
    batch = HarmonizationGraph.of(observed)
    shuffled = list(observed)
    random.shuffle(shuffled)
    grown = HarmonizationGraph()
    for categorization in shuffled:
        before, grown = grown, grown.with_observed(categorization)
        assert grown.nodes[: len(before.nodes)] == before.nodes
    assert shape(grown) == shape(batch)


@given(lists_of_categorizations(least=2, most=6))
def test_adding_what_is_observed_changes_nothing(observed):
    graph = HarmonizationGraph.of(observed)
    assert graph.with_observed(observed[0]) is graph
    assert HarmonizationGraph.of([*observed, *observed]).nodes == graph.nodes


@given(lists_of_categorizations(least=2, most=5))
def test_a_harmonization_that_is_observed_later_is_no_new_node(observed):
    graph = HarmonizationGraph.of(observed)
    generated = [n for n in range(len(graph.nodes)) if n not in graph.observed]
    for node in generated:
        again = graph.with_observed(graph.nodes[node])
        assert again.nodes == graph.nodes
        assert again.observed == (*graph.observed, node)
        assert again.edges == graph.edges


@given(lists_of_categorizations(least=1, most=5), st.data())
def test_the_harmonization_of_any_codes_is_looked_up(observed, data):
    graph = HarmonizationGraph.of(observed)
    chosen = data.draw(st.lists(st.sampled_from(graph.observed), min_size=1))
    expected = twins.joined(twins.blocks_of(graph.nodes[node]) for node in chosen)
    assert twins.blocks_of(graph.nodes[graph.harmonization(chosen)]) == expected
    for position, node in enumerate(graph.nodes):
        assert graph.position(node) == position


@given(lists_of_categorizations(most=6), st.data())
def test_weights_count_the_forms_of_all_refiners(observed, data):
    graph = HarmonizationGraph.of(observed)
    counts = [data.draw(st.integers(0, 5)) for _ in graph.observed]
    weights = graph.weights(counts).tolist()
    for node, partition in enumerate(graph.nodes):
        finer = [o for o in graph.observed if is_finer(graph.nodes[o], partition)]
        assert list(graph.refiners(node)) == finer
        assert weights[node] == sum(counts[graph.observed.index(o)] for o in finer)


@st.composite
def questions(draw):
    observed = draw(lists_of_categorizations(most=5, most_sinks=5))
    sizes = [c.n_sinks for c in observed if isinstance(c, Partition)]
    target = draw(categorizations(sizes[0] if sizes else 3))
    graph = HarmonizationGraph.of([*observed, target])
    counts = [draw(st.integers(0, 3)) for _ in graph.observed]
    return graph, counts, target


@given(questions(), st.integers(1, 6))
def test_candidates_are_the_finest_nodes_that_qualify(question, needed):
    graph, counts, target = question
    weights = graph.weights(counts).tolist()
    fit = {
        node
        for node, partition in enumerate(graph.nodes)
        if weights[node] >= needed and is_finer(target, partition)
    }
    finest = {
        node
        for node in fit
        if not any(o != node and is_finer(graph.nodes[o], graph.nodes[node]) for o in fit)
    }
    assert set(graph.candidates(counts, needed, target=target)) == finest


@pytest.mark.parametrize("n", range(1, 9))
def test_the_worst_case_doubles_with_every_categorization(n):
    graph = HarmonizationGraph.of(disjoint_pairs(n))
    assert len(graph.nodes) == 2**n - 1
    assert len(graph.edges) == n * 2 ** (n - 1) - n


def test_three_codes_whose_harmonizations_coincide():
    codes = [Partition.from_labels(labels) for labels in ([0, 0, 1], [0, 1, 1], [0, 1, 0])]
    graph = HarmonizationGraph.of(codes)
    top = graph.position(Partition.from_labels([0, 0, 0]))
    assert graph.edges == tuple((top, node) for node in sorted(map(graph.position, codes)))
    assert repr(graph) == "HarmonizationGraph(3 observed, 4 nodes)"


def ring(n: int) -> list[Partition]:
    """Pairs of neighbours on a ring: one cycle ties all of them together."""
    pairs = [(sink, sink + 1) for sink in range(n - 1)] + [(0, n - 1)]
    return [
        Partition.from_labels([u if sink == v else sink for sink in range(n)]) for u, v in pairs
    ]


def test_a_graph_that_would_explode_is_refused_with_an_estimate():
    with pytest.raises(LimitError) as caught:
        HarmonizationGraph.of(ring(40), max_nodes=1_000)
    said = str(caught.value)
    assert caught.value.reason is Reason.TOO_LARGE
    assert caught.value.exit_code == 3
    assert "40 categorizations" in said
    assert "With 9 of them it has 511 nodes" in said
    assert "all would make more than a billion (a number of 13 digits) (at most" in said
    assert "2^40 - 1" in said
    assert "--max-nodes" in said


def test_independent_categorizations_are_refused_without_building_the_graph():
    with pytest.raises(LimitError, match=r"at least 2\^40 - 1 nodes; the limit is 100,000"):
        HarmonizationGraph.of(disjoint_pairs(40))
    assert len(HarmonizationGraph.of(disjoint_pairs(13), max_nodes=8_191).nodes) == 8_191
    with pytest.raises(LimitError, match="at that rate"):
        HarmonizationGraph.of(disjoint_pairs(13), max_nodes=8_190)


def test_thousands_of_categorizations_are_refused_not_crashed_on():
    # 2^n is no floating point number from n = 1,024 on.
    with pytest.raises(LimitError, match=r"a number of 330 digits"):
        HarmonizationGraph.of(ring(1_100), max_nodes=100)


def test_one_more_categorization_may_be_one_too_many():
    graph = HarmonizationGraph.of(disjoint_pairs(5))
    with pytest.raises(LimitError, match=r"6 categorizations.*With 5 of them it has 31 nodes"):
        graph.with_observed(Partition.finest(10), max_nodes=31)
    assert len(graph.with_observed(Partition.finest(10), max_nodes=32).nodes) == 32
    assert len(HarmonizationGraph.of(disjoint_pairs(5), max_nodes=31).nodes) == 31
    with pytest.raises(LimitError):
        HarmonizationGraph.of(disjoint_pairs(5), max_nodes=30)
    with pytest.raises(LimitError):
        HarmonizationGraph.of(disjoint_pairs(1), max_nodes=0)


def test_progress_is_told_and_may_cancel():
    seen = []
    HarmonizationGraph.of(disjoint_pairs(3), progress=lambda done, of: seen.append((done, of)))
    assert seen == [(0, 3), (1, 3), (2, 3)]

    def stop(done, of):
        if done == 2:
            raise Cancelled("A graph was asked for.")

    with pytest.raises(Cancelled):
        HarmonizationGraph.of(disjoint_pairs(3), progress=stop)


def test_the_empty_graph_is_a_start():
    empty = HarmonizationGraph.of([])
    assert (empty.nodes, empty.edges, empty.observed) == ((), (), ())
    assert HarmonizationGraph().with_observed(ARBITRARY).nodes == (ARBITRARY,)


def test_unknown_nodes_are_refused():
    graph = HarmonizationGraph.of(disjoint_pairs(2))
    (generated,) = set(range(3)) - set(graph.observed)
    for ask in (
        lambda: graph.position(Partition.finest(4)),
        lambda: graph.harmonization([generated]),
        lambda: graph.harmonization([0, 99]),
        lambda: graph.harmonization([]),
    ):
        with pytest.raises(InputError) as caught:
            ask()
        assert caught.value.reason is Reason.UNKNOWN_NAME


def test_different_sinks_are_refused():
    with pytest.raises(InputError) as caught:
        HarmonizationGraph.of([Partition.finest(3), Partition.finest(4)])
    assert caught.value.reason is Reason.DIFFERENT_SINKS
