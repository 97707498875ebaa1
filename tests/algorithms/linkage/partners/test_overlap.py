from __future__ import annotations

import numpy as np
import pytest

from gamekeeper.algorithms.linkage.distances import compare_categories
from gamekeeper.algorithms.linkage.objective import cost_matrix, fellegi_sunter_cost
from gamekeeper.algorithms.linkage.partners.one_partner import fit_one_partner
from gamekeeper.algorithms.linkage.partners.overlap import (
    OverlapEstimate,
    estimate_overlap,
    found_share,
    number_by_weights,
)
from tests.algorithms.linkage.partners.test_one_partner import copies


def estimated(comparisons, *, within=True, **options):
    model = fit_one_partner(comparisons)
    cost = fellegi_sunter_cost(comparisons, model)
    costs = cost_matrix(cost)
    own = []
    for side in (0, 1):
        its = cost_matrix(fellegi_sunter_cost([one.own(side) for one in comparisons], model))
        own.append(its[~np.eye(len(its), dtype=bool)])
    apart = np.concatenate(own)
    sums = np.exp(model.largest_weight - costs).sum(1)
    return estimate_overlap(
        costs.shape,
        (sums, np.full(len(costs), float(costs.shape[1]))),
        np.sort(costs.ravel())[:300],
        apart if within else None,
        costs.size,
        len(apart),
        model,
        np.ones(len(comparisons)),
        **options,
    )


@pytest.mark.parametrize("n_both", [10, 60, 100])
def test_the_interval_takes_in_the_number_of_people_in_both(n_both):
    found = estimated(copies(4, n_both=n_both, n_values=30))
    assert found.low <= n_both <= found.high
    assert found.estimate == pytest.approx(n_both, abs=6)
    assert found.high - found.low < 40


def test_variables_that_agree_together_do_not_make_people():
    """One variable five times: pairs that agree seem to be the same person, and are not."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(1, 60, 100), rng.integers(1, 60, 100)
    found = estimated([compare_categories(a, b, name=str(k)) for k in range(5)])
    assert found.by_weights > 50
    assert found.low == 0
    assert found.estimate < 25


def test_blurred_numbers_that_files_do_not_bear_out_leave_the_number_open():
    rng = np.random.default_rng(1)
    a, b = rng.integers(1, 60, 100), rng.integers(1, 60, 100)
    together = [compare_categories(a, b, name=str(k)) for k in range(5)]
    assert estimated(together).high < 100
    assert estimated(together, blurred=True).high == 100
    # Where they do, weights count.
    told = copies(4, n_both=60, n_values=30)
    assert estimated(told, blurred=True).high == estimated(told).high < 100


def test_without_pairs_of_one_file_nothing_is_known():
    found = estimated(copies(5), within=False)
    assert (found.low, found.high) == (0, 100)


def test_odds_rise_with_the_number_of_people_in_both():
    few, half, every = (OverlapEstimate(n, 0, 100, n).odds(100, 100) for n in (1, 50, 100))
    assert few < half < every
    assert half == pytest.approx(50 / 51**2)


def test_odds_after_blocking_are_among_the_pairs_that_it_left():
    half = OverlapEstimate(50, 0, 100, 50)
    assert half.odds(100, 100, 10_000) == pytest.approx(half.odds(100, 100))
    assert half.odds(100, 100, 1_000) == pytest.approx(50 / (1 + 0.1 * (51**2 - 1)))


def test_the_number_by_weights_is_that_of_plain_em():
    rng = np.random.default_rng(2)
    sums, n_candidates = np.exp(rng.normal(0, 6, 50)), rng.integers(0, 9, 50).astype(float)
    number, error = number_by_weights(sums, n_candidates)
    odds = 0.1
    used = n_candidates > 0
    for _ in range(20_000):
        having = [odds * s / (1 + odds * s) for s in sums[used]]
        odds = sum(having) / sum(n / (1 + odds * n) for n in n_candidates[used])
    assert number == pytest.approx(sum(having), rel=1e-4)
    assert 0 < error < 50
    assert number_by_weights(np.zeros(0), np.zeros(0)) == (0.0, 0.0)


def test_the_share_of_matches_that_are_seen_falls_with_the_limit():
    model = fit_one_partner(copies(6))
    shares = [found_share(model, np.ones(5), cost) for cost in (0.0, 5.0, 100.0)]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
