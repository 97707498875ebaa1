from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories import partitions as module
from gamekeeper.algorithms.categories.partitions import (
    ARBITRARY,
    Partition,
    effective_categories,
    harmonize,
    is_finer,
    join,
    meet,
)
from gamekeeper.errors import InputError, Reason
from tests.given.categorizations import (
    categorizations,
    lists_of_categorizations,
    lists_of_partitions,
)
from tests.twins import partitions as twins

pairs = lists_of_categorizations(least=2, most=2)
triples = lists_of_categorizations(least=3, most=3)


@given(lists_of_categorizations())
def test_harmonization_is_repeated_merging_of_blocks(given_ones):
    expected = twins.joined(map(twins.blocks_of, given_ones))
    assert twins.blocks_of(harmonize(given_ones)) == expected


@given(pairs)
def test_refinement_is_containment_of_blocks(pair):
    a, b = pair
    assert is_finer(a, b) == twins.refines(twins.blocks_of(a), twins.blocks_of(b))


@given(lists_of_partitions(least=2, most=2))
def test_meet_is_all_overlaps_of_blocks(pair):
    a, b = map(twins.blocks_of, pair)
    overlaps = frozenset(x & y for x in a for y in b if x & y)
    assert twins.blocks_of(meet(*pair)) == overlaps


@given(lists_of_partitions(least=2, most=2, most_sinks=5))
def test_join_is_the_least_upper_bound_and_meet_the_greatest_lower(pair):
    a, b = map(twins.blocks_of, pair)
    every = twins.all_partitions(pair[0].n_sinks)
    above = [p for p in every if twins.refines(a, p) and twins.refines(b, p)]
    below = [p for p in every if twins.refines(p, a) and twins.refines(p, b)]
    upper, lower = twins.blocks_of(join(*pair)), twins.blocks_of(meet(*pair))
    assert upper in above
    assert all(twins.refines(upper, p) for p in above)
    assert lower in below
    assert all(twins.refines(p, lower) for p in below)


@given(triples)
def test_lattice_laws(triple):
    a, b, c = triple
    assert join(a, a) == a == meet(a, a)
    assert join(a, b) == join(b, a)
    assert meet(a, b) == meet(b, a)
    assert join(join(a, b), c) == join(a, join(b, c))
    assert meet(meet(a, b), c) == meet(a, meet(b, c))
    assert join(a, meet(a, b)) == a == meet(a, join(a, b))
    assert is_finer(a, b) == (join(a, b) == b) == (meet(a, b) == a)


@given(triples)
def test_refinement_is_a_partial_order(triple):
    a, b, c = triple
    assert is_finer(a, a)
    assert not (is_finer(a, b) and is_finer(b, a)) or a == b
    assert not (is_finer(a, b) and is_finer(b, c)) or is_finer(a, c)


@given(categorizations(5))
def test_arbitrary_precision_is_finer_than_all(c):
    assert is_finer(ARBITRARY, c)
    assert join(ARBITRARY, c) == join(c, ARBITRARY) == c
    assert meet(ARBITRARY, c) == meet(c, ARBITRARY) == ARBITRARY
    assert is_finer(c, ARBITRARY) == (c is ARBITRARY)


@given(lists_of_partitions(least=2, most=4), st.randoms(use_true_random=False))
def test_relabelling_the_sinks_relabels_the_result(given_ones, random):
    places = list(range(given_ones[0].n_sinks))
    random.shuffle(places)

    def moved(partition):
        return Partition.from_labels(partition.labels[places])

    assert moved(harmonize(given_ones)) == harmonize(map(moved, given_ones))
    assert moved(meet(*given_ones[:2])) == meet(*map(moved, given_ones[:2]))


@given(lists_of_categorizations(least=2), st.randoms(use_true_random=False))
def test_harmonization_does_not_depend_on_order_or_repetition(given_ones, random):
    shuffled = [*given_ones, random.choice(given_ones)]
    random.shuffle(shuffled)
    assert harmonize(shuffled) == harmonize(given_ones)


@given(pairs)
def test_effective_categories_are_counted_over_overlapping_pairs(pair):
    a, b = pair
    found = effective_categories(a, b)
    assert found == effective_categories(b, a)
    if a is ARBITRARY or b is ARBITRARY:
        other = b if a is ARBITRARY else a
        assert found == (ARBITRARY if other is ARBITRARY else other.n_blocks)
    else:
        x, y = twins.blocks_of(a), twins.blocks_of(b)
        overlapping = sum(bool(block & other) for block in x for other in y)
        assert found == Fraction(len(x) * len(y), overlapping)


@given(lists_of_partitions(least=2, most=2))
def test_effective_categories_are_the_harmonization_size_under_refinement(pair):
    a, coarser = pair[0], join(*pair)
    assert effective_categories(a, coarser) == coarser.n_blocks == join(a, coarser).n_blocks


def test_effective_categories_show_what_harmonization_hides():
    years = np.arange(100)
    by_five, shifted = Partition.from_labels(years // 5), Partition.from_labels((years + 2) // 5)
    assert join(by_five, shifted).n_blocks == 1
    assert effective_categories(by_five, shifted) == Fraction(20 * 21, 40)


@given(lists_of_partitions(most=1))
def test_all_ways_to_build_a_partition_agree(given_ones):
    (partition,) = given_ones
    n = partition.n_sinks
    assert Partition.from_blocks(partition.blocks(), n) == partition
    assert Partition.from_blocks(reversed([b[::-1] for b in partition.blocks()]), n) == partition
    assert Partition.from_labels(partition.dense() * -7) == partition
    assert hash(Partition.from_labels(partition.labels)) == hash(partition)
    assert partition.n_blocks == len(partition.blocks()) == partition.dense().max() + 1
    assert [min(block) for block in partition.blocks()] == sorted(set(partition.labels.tolist()))
    assert partition.labels.tolist() == [
        next(min(block) for block in partition.blocks() if sink in block) for sink in range(n)
    ]


def test_a_partition_is_a_value():
    partition = Partition.from_labels([0, 0, 1])
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 1
    assert partition != "something else"
    assert partition != Partition.from_labels([0, 0, 1, 1])
    assert repr(partition) == "Partition(2 blocks of 3 sinks)"
    assert repr(ARBITRARY) == "ARBITRARY"
    assert Partition.finest(3).n_blocks == 3
    assert Partition.finest(0).blocks() == []


@pytest.mark.parametrize("loop_below", [0, 1_000_000], ids=["rounds", "loop"])
@given(lists_of_partitions(least=2, most=2, most_sinks=12))
@example([Partition.from_labels([0, 1, 1, 2, 2, 3]), Partition.from_labels([0, 0, 1, 1, 2, 2])])
def test_both_ways_to_unite_give_the_join(loop_below, pair):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LOOP_BELOW", loop_below)
        result = join(*pair)
    assert twins.blocks_of(result) == twins.joined(map(twins.blocks_of, pair))
    assert result.n_blocks == len(twins.blocks_of(result))


@pytest.mark.parametrize("n_links", [127, 128, 129])
def test_the_change_from_one_way_to_the_other_is_seamless(n_links):
    # n links: the pairs (0 1) (2 3) .. against (1 2) (3 4) .. make one long chain.
    sinks = np.arange(2 * n_links + 1)
    even, odd = Partition.from_labels(sinks // 2), Partition.from_labels((sinks + 1) // 2)
    assert join(even, odd).n_blocks == 1
    assert join(odd, even) == join(even, odd)


@pytest.mark.parametrize("n_blocks", [200, 20_000, 45_000])
def test_fifty_thousand_sinks_join_as_in_a_loop(n_blocks):
    rng = np.random.default_rng(1)
    a, b = (Partition.from_labels(rng.integers(0, n_blocks, 50_000)) for _ in range(2))
    result = join(a, b)
    parent = list(range(50_000))

    def root_of(sink):
        while parent[sink] != sink:
            parent[sink] = parent[parent[sink]]
            sink = parent[sink]
        return sink

    for labels in (a.labels.tolist(), b.labels.tolist()):
        for sink, label in enumerate(labels):
            low, high = sorted((root_of(sink), root_of(label)))
            parent[high] = low
    roots = [root_of(sink) for sink in range(50_000)]
    assert result.labels.tolist() == roots
    assert result.n_blocks == len(set(roots))


def test_residence_in_figures_7_to_9():
    # England, Northern Ireland, Scotland, Wales, non UK
    britain = Partition.from_blocks([[0, 2, 3], [1], [4]], 5)
    uk = Partition.from_blocks([[0, 1, 2, 3], [4]], 5)
    assert is_finer(britain, uk)
    assert join(britain, uk) == uk
    assert meet(britain, uk) == britain


def test_incomparable_residences_of_the_definition():
    # England, non UK, Northern Ireland, Scotland, Wales
    one = Partition.from_blocks([[0], [1, 2], [3], [4]], 5)
    other = Partition.from_blocks([[0, 4], [1], [2], [3]], 5)
    assert not is_finer(one, other)
    assert not is_finer(other, one)
    assert join(one, other) == Partition.from_blocks([[0, 4], [1, 2], [3]], 5)


def test_nothing_to_harmonize_is_refused():
    with pytest.raises(InputError) as caught:
        harmonize([])
    assert caught.value.reason is Reason.NOTHING_GIVEN


@pytest.mark.parametrize("operation", [join, meet, is_finer, effective_categories])
def test_different_sinks_are_refused(operation):
    with pytest.raises(InputError) as caught:
        operation(Partition.finest(3), Partition.finest(4))
    assert caught.value.reason is Reason.DIFFERENT_SINKS
    assert "3 sinks, the other 4" in str(caught.value)


@pytest.mark.parametrize(
    "blocks",
    [[[0, 1]], [[0, 1], [1, 2]], [[0, 1, 2], [2]], [[0], [1], [7]], [[0, 1], [-1]], [[0, 0, 1]]],
    ids=["missing", "twice", "too many", "unknown", "negative", "repeated"],
)
def test_blocks_that_are_no_partition_are_refused(blocks):
    with pytest.raises(InputError) as caught:
        Partition.from_blocks(blocks, 3)
    assert caught.value.reason is Reason.NOT_A_CATEGORIZATION
