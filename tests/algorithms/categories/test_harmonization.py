from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories import harmonization as module
from gamekeeper.algorithms.categories.harmonization import (
    NOTHING,
    HarmonizationGraph,
    independent_parts,
    search_both_ends,
)
from gamekeeper.algorithms.categories.partitions import ARBITRARY, Partition, harmonize, is_finer
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.cases import cases
from tests.given.categorizations import (
    categorizations,
    disjoint_pairs,
    lists_of_categorizations,
    lists_of_partitions,
    partitions,
    ring_and_pairs,
)
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


def lost(partitions: list[Partition]) -> int:
    """The number of blocks that the join of some partitions has lost."""
    return partitions[0].n_sinks - harmonize(partitions).n_blocks if partitions else 0


@given(lists_of_partitions(most=6, most_sinks=6))
def test_losses_add_up_over_the_parts(partitions):
    parts = independent_parts(partitions)
    assert sorted(number for part in parts for number in part) == [
        number for number, partition in enumerate(partitions) if lost([partition])
    ]
    for chosen in range(1 << len(partitions)):
        some = [p for number, p in enumerate(partitions) if chosen >> number & 1]
        apart = [[partitions[number] for number in part if chosen >> number & 1] for part in parts]
        assert lost(some) == sum(map(lost, apart))


def test_a_chain_of_pairs_is_independent_and_a_ring_is_not():
    def pair(u: int, v: int) -> Partition:
        return Partition.from_labels([min(u, v) if sink in (u, v) else sink for sink in range(5)])

    chain = [pair(sink, sink + 1) for sink in range(4)]
    assert independent_parts(chain) == [[0], [1], [2], [3]]
    assert independent_parts([*chain, pair(0, 4)]) == [[0, 1, 2, 3, 4]]
    assert independent_parts([*chain, pair(0, 2)]) == [[0, 1, 4], [2], [3]]
    assert independent_parts([Partition.finest(5)]) == []


LIMITS = {
    "_WORK_PER_NODE": (0, 60, 2_000),
    "_INTERSECTIONS_PER_NODE": (0, 2, 100),
    "_ORDERS_PER_CATEGORIZATION": (0, 1, 4),
    "_ELEMENTS_AT_ONCE": (1, 400_000),
}


@st.composite
def merges(draw):
    """Categorizations with numbers of forms, none of them the finest."""
    n_sinks = draw(st.sampled_from([8, 7, 6, 5, 4, 3, 2]))
    real = partitions(n_sinks).filter(lambda partition: partition.n_blocks < n_sinks)
    bands = (
        st.lists(st.booleans(), min_size=n_sinks - 1, max_size=n_sinks - 1)
        .map(lambda cuts: Partition.from_labels(np.cumsum([0, *cuts])))
        .filter(lambda partition: partition.n_blocks < n_sinks)
    )
    few = st.one_of(real, bands) if draw(st.booleans()) else bands
    return draw(
        st.dictionaries(
            few, st.integers(1, 4), min_size=draw(st.sampled_from([5, 3, 1])), max_size=7
        )
    )


def every_node(merges):
    """Return all harmonizations with rank and weight: the joins of all sets of categorizations."""
    n_sinks = next(iter(merges)).n_sinks
    blocks = {twins.blocks_of(partition): forms for partition, forms in merges.items()}
    finest = frozenset(frozenset({sink}) for sink in range(n_sinks))
    joins = {
        twins.joined([finest, *chosen])
        for size in range(len(blocks) + 1)
        for chosen in combinations(blocks, size)
    }
    return {
        node: (
            n_sinks - len(node),
            sum(forms for own, forms in blocks.items() if twins.refines(own, node)),
        )
        for node in joins
    }


def check(merges, max_nodes):
    """Compare with all joins: what is found is right, what is not lies within the bounds."""
    found = search_both_ends(merges, max_nodes=max_nodes)
    expected = every_node(merges)
    nodes = [twins.blocks_of(found.partition(node)) for node in range(len(found.ranks))]
    assert len(set(nodes)) == len(nodes)
    for node, rank, weight in zip(nodes, found.ranks, found.weights, strict=True):
        assert expected[node] == (rank, weight)
    left = {node: expected[node] for node in expected.keys() - set(nodes)}
    for rank, weight in left.values():
        assert found.unknown[rank] >= weight
    assert list(found.unknown) == sorted(found.unknown)
    singles = {twins.blocks_of(partition) for partition in merges}
    best = min(expected[node][0] for node in singles)
    assert {node for node in singles if expected[node][0] == best} <= set(nodes)
    assert twins.joined(singles) in nodes
    return found, left


@given(merges(), st.integers(1, 12), st.data())
@cases(40)
def test_what_is_found_is_right_and_what_is_not_is_bounded(task, max_nodes, data):
    with pytest.MonkeyPatch.context() as patch:
        for name, values in LIMITS.items():
            patch.setattr(module, name, data.draw(st.sampled_from(values), label=name))
        found, left = check(task, max_nodes)
    event("some are left" if left else "all are found")
    event("not sure of all" if found.unknown[-1] > NOTHING else "sure of all")


@given(merges())
def test_with_room_for_all_everything_is_found(task):
    found, left = check(task, 1_000)
    assert not left
    assert set(found.unknown) == {NOTHING}


def ends(n, max_nodes, **without):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in without.items():
            patch.setattr(module, name, value)
        return search_both_ends(dict.fromkeys(ring_and_pairs(n), 1), max_nodes=max_nodes)


def seen(found):
    """Return how many harmonizations there are for each weight."""
    return np.bincount(found.weights).tolist()


def test_the_finest_end_finds_all_up_to_a_rank():
    found = ends(10, 60, _ORDERS_PER_CATEGORIZATION=0, _INTERSECTIONS_PER_NODE=0)
    # Each of the ten merges two pairs: 1, 10 and 45 joins have the ranks 0, 2 and 4.
    assert seen(found)[:3] == [1, 10, 45]
    assert found.unknown == (NOTHING,) * 5 + (8,) * 15


def test_the_coarsest_end_finds_all_from_a_weight_on():
    found = ends(10, 60, _ORDERS_PER_CATEGORIZATION=0, _WORK_PER_NODE=30)
    # Ten harmonizations leave one categorization out; with little work only these are sure.
    assert seen(found)[9:] == [10, 1]
    assert found.unknown == (NOTHING,) * 3 + (8,) * 17
    found = ends(10, 60, _ORDERS_PER_CATEGORIZATION=0)
    # And 45 leave two out.
    assert seen(found)[8:] == [45, 10, 1]
    assert found.unknown == (NOTHING,) * 5 + (7,) * 15


def test_however_little_work_is_allowed_the_ends_themselves_are_known():
    found = ends(10, 1, _ORDERS_PER_CATEGORIZATION=0, _WORK_PER_NODE=0, _INTERSECTIONS_PER_NODE=0)
    assert seen(found) == [1, 10, 0, 0, 0, 0, 0, 0, 0, 10, 1]
    assert found.unknown == (NOTHING,) * 3 + (9,) * 17


def test_shares_of_the_rank_bound_what_is_in_between():
    found = ends(30, 2_000)
    # Two ranks for each categorization but the last, which closes the ring.
    assert found.unknown == (NOTHING,) * 5 + tuple(min(rank // 2, 27) for rank in range(5, 60))
    # And what was met on the way reaches the bounds.
    assert all(seen(found))
    without = ends(30, 2_000, _ORDERS_PER_CATEGORIZATION=0)
    assert without.unknown == (NOTHING,) * 5 + (27,) * 55


def test_shares_that_just_fit_count():
    found = search_both_ends(dict.fromkeys(disjoint_pairs(10), 1), max_nodes=20)
    # Each has a rank of its own: so many can fit in a rank, and no more.
    assert found.unknown == (NOTHING, NOTHING, *range(2, 9), 8, 8)


def test_shares_count_by_forms():
    merges = {p: 1 + number % 3 for number, p in enumerate(ring_and_pairs(12))}
    found = search_both_ends(merges, max_nodes=200)
    heaviest = sorted(merges.values(), reverse=True)
    expected = [min(sum(heaviest[: rank // 2]), 18) for rank in range(7, 24)]
    assert found.unknown == (NOTHING,) * 7 + tuple(expected)


def test_bands_need_no_cycles():
    # A join of bands keeps the cuts that all of them have.
    cuts = list(combinations(range(1, 9), 4))[:30]
    bands = [
        Partition.from_labels([sum(cut <= year for cut in own) for year in range(9)])
        for own in cuts
    ]
    found = search_both_ends(dict.fromkeys(bands, 1), max_nodes=1_000)
    expected = {frozenset(range(1, 9))}
    for own in cuts:
        expected |= {kept & frozenset(own) for kept in expected}
    joins = [found.partition(node).labels for node in range(len(found.ranks))]
    assert {frozenset(np.flatnonzero(np.diff(labels)) + 1) for labels in joins} == expected
    assert len(joins) == len(expected)
    assert found.unknown[-1] == NOTHING


def test_too_many_links_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_MAX_CELLS", 100)
    with pytest.raises(LimitError, match="20 different pairs of categories") as caught:
        search_both_ends(dict.fromkeys(ring_and_pairs(10), 1), max_nodes=10)
    assert caught.value.reason is Reason.TOO_LARGE


def test_progress_may_cancel():
    calls = []
    search_both_ends(
        dict.fromkeys(ring_and_pairs(12), 1),
        max_nodes=100,
        progress=lambda done, of: calls.append((done, of)),
    )
    assert len(calls) > 10
    for stop_at in (1, len(calls) // 2, len(calls)):
        told = []

        def stop(done, of, told=told, stop_at=stop_at):
            told.append(done)
            if len(told) == stop_at:
                raise Cancelled("The harmonizations were to be searched.")

        with pytest.raises(Cancelled):
            search_both_ends(dict.fromkeys(ring_and_pairs(12), 1), max_nodes=100, progress=stop)
