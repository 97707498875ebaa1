from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories import two_sided_search as module
from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.algorithms.categories.two_sided_search import NOTHING, search_both_ends
from gamekeeper.errors import Cancelled, LimitError, Reason
from tests.given.cases import cases
from tests.given.categorizations import disjoint_pairs, partitions, ring_and_pairs
from tests.twins import partitions as twins

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
