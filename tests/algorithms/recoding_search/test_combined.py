from __future__ import annotations

from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.recoding_search.combined import search_together
from gamekeeper.algorithms.suppression.problem import SuppressionProblem
from gamekeeper.algorithms.suppression.released_to_people import suppress_released_to_people
from tests.algorithms.recoding_search.test_search import as_blocks, as_choices, files
from tests.twins import recodings as twin


@pytest.mark.parametrize("most_listed", [100_000, 0], ids=["listed", "HiGHS"])
@given(files(), st.integers(2, 4), st.sampled_from([0.3, 1.0, 2.5]))
def test_the_least_cost_is_that_of_trying_everything(most_listed, file, k, of_record):
    rows, given_choices = file
    choices = as_choices(rows, given_choices)

    def price(labels):
        blocks = [twin.blocks_of_labels(own.tolist()) for own in labels]
        return of_record * twin.in_small_classes(blocks, rows, k)

    found = search_together(choices, price, most_listed=most_listed)
    least = min(
        twin.bits(each, rows) + of_record * twin.in_small_classes(each, rows, k)
        for each in twin.recodings(given_choices)
    )
    assert found.is_optimal
    assert isclose(found.total, least, abs_tol=1e-6)
    assert isclose(found.lower_bound, least, rel_tol=1e-6, abs_tol=1e-6)
    blocks = as_blocks(choices, found.chosen)
    assert isclose(found.loss, twin.bits(blocks, rows), abs_tol=1e-9)
    assert isclose(found.price, of_record * twin.in_small_classes(blocks, rows, k), abs_tol=1e-6)


@given(files())
def test_the_price_of_suppressed_cells_never_grows_where_categories_are_merged(file):
    k = 2
    rows, given_choices = file
    rows = [*rows, *rows[:1]]
    choices = as_choices(rows, given_choices)
    codes = np.array(rows)

    def price(chosen):
        labels = [choice.labels(own) for choice, own in zip(choices, chosen, strict=True)]
        recoded = np.column_stack([own[codes[:, v]] + 1 for v, own in enumerate(labels)])
        return suppress_released_to_people(SuppressionProblem(recoded, k)).cost

    found = search_together(choices, lambda labels: 0.0)
    finest = found.chosen
    assert found.total == 0.0
    for place, choice in enumerate(choices):
        whole = tuple(range(choice.n_values))
        if whole in choice.categories:
            number = (choice.categories.index(whole),)
            coarser = (*finest[:place], number, *finest[place + 1 :])
            assert price(coarser) <= price(finest)


def test_time_that_is_over_gives_the_best_so_far():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 9, (80, 4))
    categories = [(v,) for v in range(9)]
    categories += [tuple(range(a, b)) for a in range(9) for b in range(a + 2, 10)]
    choices = as_choices(codes.tolist(), [(9, categories)] * 4)

    def price(labels):
        blocks = [twin.blocks_of_labels(own.tolist()) for own in labels]
        return 3.0 * twin.in_small_classes(blocks, codes.tolist(), 3)

    found = search_together(choices, price, seconds=0.3)
    assert 0 <= found.lower_bound <= found.total
    assert not found.is_optimal or found.gap == 0
