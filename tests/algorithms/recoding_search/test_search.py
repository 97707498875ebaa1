from __future__ import annotations

from math import inf, isclose, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.recoding_search.choices import (
    Choice,
    ClassCounter,
    ClassNumber,
    MonotoneAttack,
    SmallClasses,
    bits_lost,
    count_ways,
    distinct_records,
    list_ways,
    recoding_labels,
    total_loss,
)
from gamekeeper.algorithms.recoding_search.search import (
    Splitter,
    coarsest_way,
    levels_of,
    search_recoding,
)
from gamekeeper.errors import Cancelled
from tests.given.recoding_choices import as_blocks, as_choices, files
from tests.twins import recodings as twin


@pytest.mark.parametrize("most_listed", [100_000, 0], ids=["listed", "HiGHS"])
@given(files(with_singles=False), st.integers(2, 4), st.integers(0, 4))
def test_the_least_loss_is_that_of_trying_everything(most_listed, file, k, most):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)
    found = search_recoding(
        choices, distinct_records(np.array(rows)), [SmallClasses(k, most)], most_listed=most_listed
    )
    everything = twin.recodings(given_choices)
    safe = [each for each in everything if twin.in_small_classes(each, rows, k) <= most]
    assert found.n_recodings == len(everything)
    assert found.is_over
    if not safe:
        assert found.chosen is None
        assert found.lower_bound == inf
        assert not found.is_optimal
    else:
        least = min(twin.bits(each, rows) for each in safe)
        assert found.is_optimal
        assert found.gap == 0.0
        assert isclose(found.loss, least, abs_tol=1e-9)
        assert as_blocks(choices, found.chosen) in safe
    different = distinct_records(np.array(rows)).rows.tolist()
    cuts = [
        ([own.tolist() for own in cut.labels], [different[row] for row in cut.rows])
        for cut in found.cuts
    ]
    assert twin.proves(cuts, found.lower_bound, given_choices, rows, k, most)


@given(files(), st.integers(1, 6))
def test_the_number_of_classes_is_searched_in_the_same_way(file, most):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)
    found = search_recoding(
        choices, distinct_records(np.array(rows)), [ClassNumber(most)], most_listed=0
    )
    losses = [
        twin.bits(each, rows)
        for each in twin.recodings(given_choices)
        if len(twin.class_sizes(each, rows)) <= most
    ]
    assert isclose(found.loss, min(losses, default=inf), abs_tol=1e-9)


@given(files(), st.integers(2, 3))
def test_any_monotone_attack_gives_the_same_answer(file, k):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)
    records = distinct_records(np.array(rows))
    attacks = []

    def small(labels):
        attacks.append(1)
        blocks = [twin.blocks_of_labels(own.tolist()) for own in labels]
        return twin.in_small_classes(blocks, rows, k)

    by_attack = search_recoding(choices, records, [MonotoneAttack(small, 1)], most_listed=0)
    by_classes = search_recoding(choices, records, [SmallClasses(k, 1)], most_listed=0)
    assert isclose(by_attack.loss, by_classes.loss, abs_tol=1e-9) or by_classes.chosen is None
    assert by_attack.n_checks >= 1
    assert len(attacks) >= by_attack.n_rounds - 1


@given(files(), st.integers(2, 3), st.integers(2, 4))
def test_several_targets_are_all_met(file, k, most):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)
    targets = [SmallClasses(k), ClassNumber(most)]
    found = search_recoding(choices, distinct_records(np.array(rows)), targets)
    losses = [
        twin.bits(each, rows)
        for each in twin.recodings(given_choices)
        if len(twin.class_sizes(each, rows)) <= most and not twin.in_small_classes(each, rows, k)
    ]
    assert isclose(found.loss, min(losses, default=inf), abs_tol=1e-9)


@pytest.mark.parametrize("most_listed", [100_000, 0], ids=["listed", "HiGHS"])
@given(files(), st.integers(2, 3))
def test_at_least_so_many_categories(most_listed, file, least):
    rows, given_choices = file
    choices = as_choices(rows, given_choices, least=least)
    found = search_recoding(
        choices, distinct_records(np.array(rows)), [SmallClasses(2)], most_listed=most_listed
    )
    losses = [
        twin.bits(each, rows)
        for each in twin.recodings(given_choices)
        if all(len(own) >= least for own in each) and not twin.in_small_classes(each, rows, 2)
    ]
    assert isclose(found.loss, min(losses, default=inf), abs_tol=1e-9)
    assert found.n_recodings == sum(
        all(len(own) >= least for own in each) for each in twin.recodings(given_choices)
    )


@pytest.mark.parametrize("most_listed", [100_000, 0], ids=["listed", "HiGHS"])
@given(files(), st.data())
def test_only_listed_ways_are_chosen(most_listed, file, data):
    rows, given_choices = file
    choices = [
        Choice(
            c.n_values,
            c.categories,
            c.losses,
            tuple(data.draw(st.lists(st.sampled_from(ways), min_size=1, max_size=3, unique=True))),
        )
        for c in as_choices(rows, given_choices)
        if (ways := list(list_ways(c)))
    ]
    found = search_recoding(
        choices, distinct_records(np.array(rows)), [SmallClasses(2)], most_listed=most_listed
    )
    allowed = [{as_blocks([choice], [way])[0] for way in choice.ways or ()} for choice in choices]
    losses = [
        twin.bits(each, rows)
        for each in twin.recodings(given_choices)
        if all(own in ways for own, ways in zip(each, allowed, strict=True))
        and not twin.in_small_classes(each, rows, 2)
    ]
    assert isclose(found.loss, min(losses, default=inf), abs_tol=1e-9)
    assert found.n_recodings == prod(len(choice.ways or ()) for choice in choices)


@pytest.mark.parametrize("most_listed", [100_000, 0], ids=["listed", "HiGHS"])
@given(files(), st.integers(0, 3))
def test_a_stand_in_is_verified_and_the_cheapest_that_passes_is_taken(most_listed, file, n_wrong):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)
    tried = []

    def passes(chosen):
        tried.append(chosen)
        return len(tried) > n_wrong

    found = search_recoding(
        choices,
        distinct_records(np.array(rows)),
        [SmallClasses(2)],
        most_listed=most_listed,
        verify=passes,
    )
    losses = sorted(
        twin.bits(each, rows)
        for each in twin.recodings(given_choices)
        if not twin.in_small_classes(each, rows, 2)
    )
    assert len(set(tried)) == len(tried)
    if len(losses) > n_wrong:
        assert isclose(found.loss, losses[n_wrong], abs_tol=1e-9)
        assert not found.is_optimal
        assert found.gap is None
        assert found.lower_bound == 0.0
    else:
        assert found.chosen is None
    assert found.n_failed == min(n_wrong, len(losses))


def test_verifying_ends_after_so_many_failures():
    choices = as_choices([[0], [1], [2], [3]], [(4, [(0,), (1,), (2,), (3,), (0, 1), (2, 3)])])
    records = distinct_records(np.array([[0], [1], [2], [3]]))
    found = search_recoding(
        choices, records, [SmallClasses(1)], verify=lambda _: False, most_verified=2
    )
    assert (found.chosen, found.n_failed, found.is_over) == (None, 2, False)


def test_weights_are_sizes_of_classes():
    rows = np.array([[0], [1], [2]])
    categories = ((0,), (1,), (2,), (0, 1), (1, 2))
    age = Choice(3, categories, bits_lost(categories, np.array([1, 1, 1])))
    records = distinct_records(rows, np.array([50, 20, 30]))
    assert search_recoding([age], records, [SmallClasses(50)]).chosen == ((0, 4),)
    assert search_recoding([age], records, [SmallClasses(20)]).loss == 0.0


def test_time_that_is_over_gives_the_best_so_far_and_what_is_proven():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 12, (400, 4))
    categories = [(v,) for v in range(12)]
    categories += [tuple(range(a, b)) for a in range(12) for b in range(a + 2, 13)]
    choices = [
        Choice(12, tuple(categories), bits_lost(categories, np.bincount(codes[:, place])))
        for place in range(4)
    ]
    records = distinct_records(codes)
    found = search_recoding(choices, records, [SmallClasses(3, 40)], seconds=0.0)
    assert not found.is_over
    assert not found.is_optimal
    assert found.chosen is not None
    table = ClassCounter(records, [12] * 4).count(recoding_labels(choices, found.chosen))
    assert int(table.counts[table.sizes < 3].sum()) <= 40
    assert 0.0 <= found.lower_bound <= found.loss
    assert found.gap is not None
    assert found.gap > 0


def test_the_same_search_gives_the_same_answer():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 6, (200, 3))
    categories = [(v,) for v in range(6)] + [(0, 1), (1, 2), (3, 4, 5), (0, 1, 2), tuple(range(6))]
    choices = [
        Choice(6, tuple(categories), bits_lost(categories, np.bincount(codes[:, place])))
        for place in range(3)
    ]
    found = [
        search_recoding(choices, distinct_records(codes[order]), [SmallClasses(4)], most_listed=0)
        for order in (np.arange(200), rng.permutation(200))
    ]
    assert found[0].chosen == found[1].chosen
    assert [cut.key for cut in found[0].cuts] == [cut.key for cut in found[1].cuts]


def test_a_search_can_be_cancelled():
    choices = as_choices([[0], [1]], [(2, [(0,), (1,), (0, 1)])])

    def stop(_done, _whole):
        raise Cancelled("A search was asked for.")

    with pytest.raises(Cancelled):
        search_recoding(
            choices, distinct_records(np.array([[0], [1]])), [SmallClasses(2)], progress=stop
        )


def test_a_file_without_records_loses_nothing():
    choices = as_choices([[0], [1]], [(2, [(0,), (1,), (0, 1)])])
    found = search_recoding(
        choices, distinct_records(np.zeros((0, 1), np.int64)), [SmallClasses(5)]
    )
    assert found.chosen == ((0, 1),)


def test_many_variables_are_packed_into_several_numbers():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 40, (300, 16))
    codes[150:] = codes[:150]
    counter = ClassCounter(distinct_records(codes), [40] * 16)
    same = [np.arange(40, dtype=np.int32)] * 16
    assert len(counter.count(same).firsts) == len(np.unique(codes, axis=0))
    first_alone = [same[0], *[np.zeros(40, np.int32)] * 15]
    assert len(counter.count(first_alone).firsts) == len(np.unique(codes[:, 0]))


@given(files())
def test_classes_are_counted_alike_from_any_finer_table(file):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)
    counter = ClassCounter(distinct_records(np.array(rows)), [c.n_values for c in choices])
    for recoding in twin.recodings(given_choices)[:12]:
        labels = []
        for choice, blocks in zip(choices, recoding, strict=True):
            numbers = [choice.categories.index(tuple(sorted(block))) for block in blocks]
            labels.append(choice.labels(sorted(numbers)))
        table = counter.count(labels)
        assert sorted(table.counts.tolist()) == sorted(twin.class_sizes(recoding, rows).values())


@given(files(with_singles=False))
def test_categorizations_are_counted_and_listed(file):
    _, given_choices = file
    for n, categories in given_choices:
        choice = Choice(n, tuple(categories), np.zeros(len(categories)))
        slow = twin.categorizations(n, categories)
        listed = list(list_ways(choice))
        assert count_ways(choice) == len(slow) == len(set(listed))
        assert {as_blocks([choice], [way])[0] for way in listed} == set(slow)


def test_too_many_categorizations_are_not_counted():
    n = 30
    pairs = tuple((a, b) for a in range(n) for b in range(a + 1, n))
    choice = Choice(n, pairs, np.zeros(len(pairs)))
    assert count_ways(choice, most_sets=1000) is None


@given(files(), st.integers(2, 3))
def test_splitting_keeps_a_recoding_safe_and_never_loses_more(file, k):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)
    start = tuple(coarsest_way(choice) for choice in choices)

    def is_safe(chosen):
        return not twin.in_small_classes(as_blocks(choices, chosen), rows, k)

    if None in start or not is_safe(start):
        return
    finer = Splitter(choices, is_safe).finer(start, lambda: False)
    assert is_safe(finer)
    assert as_blocks(choices, finer) in twin.recodings(given_choices)
    assert total_loss(choices, finer) <= total_loss(choices, start) + 1e-9


@given(files())
def test_levels_are_categorizations(file):
    _, given_choices = file
    for n, categories in given_choices:
        choice = Choice(n, tuple(categories), np.zeros(len(categories)))
        for way in levels_of(choice):
            assert as_blocks([choice], [way])[0] in twin.categorizations(n, categories)


def test_loss_in_bits_is_that_of_its_definition():
    rows = [[0], [0], [1], [2], [2], [2]]
    (choice,) = as_choices(rows, [(3, [(0,), (1,), (2,), (0, 1), (0, 1, 2)])])
    for way in list_ways(choice):
        assert isclose(choice.loss(way), twin.bits(as_blocks([choice], [way]), rows))
