from __future__ import annotations

from itertools import pairwise
from math import inf, isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.recoding_search.choices import Choice, distinct_records
from gamekeeper.algorithms.recoding_search.price_masters import RecordBounds
from gamekeeper.algorithms.recoding_search.price_search import search_together
from gamekeeper.errors import Cancelled
from tests.given.recoding_choices import as_blocks, as_choices, files
from tests.twins import recodings as twin

BEYOND = 50.0


def priced(rows, k, costs):
    """The prices of different records under partitions, by trying all cells of all of them."""
    records = distinct_records(np.array(rows))
    places = [rows.index(row) for row in records.rows.tolist()]

    def prices(labels, only=None):
        blocks = [twin.blocks_of_labels(own.tolist()) for own in labels]
        found = twin.cell_prices(blocks, rows, k, costs, BEYOND)
        return np.array([found[place] for place in places], dtype=np.float64)

    return records, prices


def costs_for(rows):
    return st.lists(
        st.sampled_from([0.3, 1.0, 2.5, inf]), min_size=len(rows[0]), max_size=len(rows[0])
    )


@pytest.mark.parametrize("most_listed", [100_000, 0], ids=["listed", "HiGHS"])
@given(files(), st.integers(2, 4), st.data())
def test_the_least_cost_is_that_of_trying_everything(most_listed, file, k, data):
    rows, given_choices = file
    costs = data.draw(costs_for(rows))
    choices = as_choices(rows, given_choices)
    records, prices = priced(rows, k, costs)
    found = search_together(choices, records, prices, costs, most_listed=most_listed)

    def price(blocks):
        return sum(twin.cell_prices(blocks, rows, k, costs, BEYOND))

    every = twin.recodings(given_choices)
    least = min(twin.bits(each, rows) + price(each) for each in every)
    assert found.is_optimal
    assert isclose(found.total, least, abs_tol=1e-6)
    assert isclose(found.lower_bound, least, rel_tol=1e-6, abs_tol=1e-6)
    blocks = as_blocks(choices, found.chosen)
    assert isclose(found.loss, twin.bits(blocks, rows), abs_tol=1e-9)
    assert isclose(found.price, price(blocks), abs_tol=1e-6)


@given(files(), st.integers(2, 4), st.data())
def test_no_recoding_costs_less_than_a_bound_says(file, k, data):
    rows, given_choices = file
    costs = data.draw(costs_for(rows))
    choices = as_choices(rows, given_choices)
    records, prices = priced(rows, k, costs)
    groups = np.arange(len(records.rows)) % 2
    bounds = RecordBounds(choices, records.rows, records.counts, np.array(costs), groups)

    def partition():
        return [
            np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int32)
            for n, _ in given_choices
        ]

    labels = [partition() for _ in range(3)]
    for own in labels:
        bounds.add(own, prices(own))
    variable = data.draw(st.integers(0, len(choices) - 1))
    fan = []
    for other in (
        np.arange(choices[variable].n_values, dtype=np.int32),
        labels[1][variable],
        np.zeros(choices[variable].n_values, np.int32),
    ):
        own = [*labels[0][:variable], other, *labels[0][variable + 1 :]]
        fan.append(bounds.add(own, prices(own)))
    bounds.add_fan(variable, fan)
    every = twin.recodings(given_choices)
    at = data.draw(st.sampled_from(every))
    weight = data.draw(st.sampled_from([0.0, 0.25, 0.5]))
    between = data.draw(st.sampled_from(every))
    shares = [
        (1 - weight) * a + weight * b
        for a, b in zip(shares_of(choices, at), shares_of(choices, between), strict=True)
    ]
    made = bounds.tightest(shares)
    assert len(made) == groups.max() + 1
    for blocks in every:
        of_rows = dict(
            zip(map(tuple, rows), twin.cell_prices(blocks, rows, k, costs, BEYOND), strict=True)
        )
        of_rows = np.array([of_rows[tuple(row)] for row in records.rows.tolist()])
        for group, bound in enumerate(made):
            mine = groups == group
            price = float(of_rows[mine] @ records.counts[mine])
            assert bound_at(bound, shares_of(choices, blocks)) <= price + 1e-6


@given(files(), st.integers(2, 3))
def test_a_bound_is_as_high_as_the_price_where_it_was_made(file, k):
    rows, given_choices = file
    costs = [1.0] * len(rows[0])
    choices = as_choices(rows, given_choices)
    records, prices = priced(rows, k, costs)
    groups = np.zeros(len(records.rows), dtype=np.int64)
    for blocks in twin.recodings(given_choices)[:5]:
        bounds = RecordBounds(choices, records.rows, records.counts, np.array(costs), groups)
        labels = [labels_of(own, choice) for own, choice in zip(blocks, choices, strict=True)]
        bounds.add(labels, prices(labels))
        (bound,) = bounds.tightest(shares_of(choices, blocks))
        assert isclose(
            bound_at(bound, shares_of(choices, blocks)),
            sum(twin.cell_prices(blocks, rows, k, costs, BEYOND)),
            abs_tol=1e-6,
        )


def bound_at(bound, shares):
    """Return what a bound says of what is chosen."""
    return bound.base - sum(own @ share for own, share in zip(bound.slopes, shares, strict=True))


def shares_of(choices, blocks):
    return [
        np.array([float(frozenset(category) in own) for category in choice.categories])
        for choice, own in zip(choices, blocks, strict=True)
    ]


def labels_of(blocks, choice):
    labels = np.zeros(choice.n_values, np.int32)
    for number, block in enumerate(blocks):
        labels[list(block)] = number
    return labels


@given(files(), st.integers(2, 4), st.data())
def test_the_price_of_suppressed_cells_never_grows_where_categories_are_merged(file, k, data):
    rows, given_choices = file
    costs = data.draw(costs_for(rows))
    _, prices = priced(rows, k, costs)
    labels = [np.arange(n, dtype=np.int32) for n, _ in given_choices]
    steps = [prices(labels)]
    for place, (n, _) in enumerate(given_choices):
        labels = [*labels[:place], np.arange(n, dtype=np.int32) // 2, *labels[place + 1 :]]
        steps.append(prices(labels))
    assert all((after <= before).all() for before, after in pairwise(steps))


def many():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 9, (80, 4))
    categories = [(v,) for v in range(9)]
    categories += [tuple(range(a, b)) for a in range(9) for b in range(a + 2, 10)]
    choices = as_choices(codes.tolist(), [(9, categories)] * 4)
    records = distinct_records(codes)

    def prices(labels, only=None):
        recoded = np.column_stack([own[records.rows[:, v]] for v, own in enumerate(labels)])
        _, number, counts = np.unique(recoded, axis=0, return_inverse=True, return_counts=True)
        return 3.0 * (counts[number.reshape(-1)] < 3)

    return choices, records, prices


def test_time_that_is_over_gives_the_best_so_far():
    choices, records, prices = many()
    found = search_together(choices, records, prices, [inf] * 4, seconds=0.3)
    assert 0 < found.lower_bound <= found.total
    assert not found.is_optimal or found.gap == 0
    labels = [choice.labels(own) for choice, own in zip(choices, found.chosen, strict=True)]
    assert isclose(found.price, float(prices(labels) @ records.counts), abs_tol=1e-6)


def test_a_search_can_be_cancelled():
    choices, records, prices = many()

    def cancel(done, of):
        raise Cancelled("A search was asked for.")

    with pytest.raises(Cancelled):
        search_together(choices, records, prices, [inf] * 4, progress=cancel)


def test_only_listed_ways_are_chosen_by_the_program_too():
    # Two ways for each variable: as it is, or in halves.
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, (30, 2))
    categories = ((0,), (1,), (2,), (3,), (0, 1), (2, 3))
    plain = as_choices(codes.tolist(), [(4, categories)] * 2)
    choices = [Choice(4, categories, c.losses, ((0, 1, 2, 3), (4, 5))) for c in plain]
    records, prices = priced(codes.tolist(), 3, [1.0, 1.0])
    listed = search_together(choices, records, prices, [1.0, 1.0])
    program = search_together(choices, records, prices, [1.0, 1.0], most_listed=0)
    assert listed.n_recodings == 4
    assert isclose(listed.total, program.total, rel_tol=1e-9)
    assert listed.is_optimal
    assert program.is_optimal
