from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage.partners import link_marginals as link_marginals_module
from gamekeeper.algorithms.linkage.partners.link_marginals import link_marginals
from tests.given.cases import cases


def slow_marginals(odds):
    """Every set of one-to-one links, with the product of its odds."""
    n_rows, n_columns = odds.shape
    total, found = 0.0, np.zeros(odds.shape)
    # Columns beyond the last stand for no partner; each set of links is met as often as these can be put.
    seen = set()
    for order in permutations(range(n_columns + n_rows), n_rows):
        links = tuple((i, j) for i, j in enumerate(order) if j < n_columns)
        if links in seen:
            continue
        seen.add(links)
        weight = float(np.prod([odds[pair] for pair in links]))
        total += weight
        for pair in links:
            found[pair] += weight
    return found / total


def marginals(odds):
    rows, columns = np.nonzero(odds > 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link_marginals_module, "_SETTLED", 1e-9)
        patch.setattr(link_marginals_module, "_MOST_ROUNDS", 10_000)
        made = link_marginals(rows, columns, odds[rows, columns], odds.shape)
    found = np.zeros(odds.shape)
    found[rows, columns] = made.probabilities
    return found


some = st.sampled_from([1e-2, 0.5, 1.0, 3.0, 1e3, 1e12])


@cases(40)
@given(st.lists(some, min_size=5, max_size=5))
def test_without_a_cycle_probabilities_are_exact(values):
    chain = np.zeros((3, 3))
    chain[[0, 0, 1, 1, 2], [0, 1, 1, 2, 2]] = values
    assert marginals(chain) == pytest.approx(slow_marginals(chain), rel=1e-3, abs=1e-4)


@cases(40)
@given(st.lists(some, min_size=9, max_size=9))
def test_with_cycles_they_are_near_and_add_up_to_one_at_most(values):
    odds = np.array(values).reshape(3, 3)
    found = marginals(odds)
    assert found.sum(0).max() <= 1 + 1e-6
    assert found.sum(1).max() <= 1 + 1e-6
    assert np.abs(found - slow_marginals(odds)).max() < 0.25


def test_a_candidate_that_belongs_to_another_hardly_competes():
    odds = np.array([[1e4, 1e4], [1.0, 1e12]])
    found = marginals(odds)
    assert found[0, 0] > 0.99
    assert odds[0, 0] / odds[0].sum() == 0.5


def test_links_have_the_probability_of_their_pairs():
    rows = np.zeros(1, np.int64)
    made = link_marginals(rows, rows, np.array([8.0]), (1, 2))
    assert made.probabilities[0] == pytest.approx(8 / 9)
    assert made.of_links(np.array([0]))[0] == made.probabilities[0]
    assert made.of_links(np.array([1]))[0] == 0
    nothing = np.zeros(0, np.int64)
    assert not link_marginals(nothing, nothing, np.zeros(0), (1, 1)).probabilities.size
