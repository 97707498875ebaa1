from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage import overlap
from gamekeeper.algorithms.linkage.distances import compare_categories
from gamekeeper.algorithms.linkage.fellegi_sunter import falling, fit_one_partner
from gamekeeper.algorithms.linkage.objective import cost_matrix, fellegi_sunter_cost
from gamekeeper.algorithms.linkage.overlap import (
    OverlapEstimate,
    alone_by_small,
    estimate_overlap,
    found_share,
    least_partners,
    link_marginals,
    margin_evidence,
    margins_of,
    number_by_weights,
)
from tests.given.cases import cases
from tests.given.linked_files import copies


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
        patch.setattr(overlap, "_SETTLED", 1e-9)
        patch.setattr(overlap, "_MOST_ROUNDS", 10_000)
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


shares = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def slow_falling(these, others):
    """Between places i and j the ratio of sums; at each place the least of the largest (min-max)."""
    n = len(these)
    return np.array(
        [
            min(
                max(sum(these[i:j]) / sum(others[i:j]) for j in range(k + 1, n + 1))
                for i in range(k + 1)
            )
            for k in range(n)
        ]
    )


@cases(60)
@given(shares, st.data())
def test_falling_ratios_are_those_of_the_formula(these, data):
    others = data.draw(st.lists(st.integers(1, 9), min_size=len(these), max_size=len(these)))
    found = falling(np.array(these, float), np.array(others, float))
    assert found.sum() == pytest.approx(sum(these))
    assert found / np.array(others) == pytest.approx(slow_falling(these, others))


def margins(seed, n_with, n_alone, ahead=8.0):
    """Margins of some with a partner, far ahead, and others; and those within two files."""
    rng = np.random.default_rng(seed)
    between = np.concatenate((rng.gamma(4.0, ahead / 4, n_with), rng.exponential(1.0, n_alone)))
    return between, (rng.exponential(1.0, 300), rng.exponential(1.0, 200))


@pytest.mark.parametrize("n_with", [0, 30, 150, 300])
def test_no_more_partners_are_certain_than_there_are(n_with):
    for seed in range(20):
        between, within = margins(seed, n_with, 300 - n_with)
        number = least_partners(between, list(within))
        assert number <= n_with
        assert number >= 0.5 * n_with - 15


def test_margins_of_those_alone_are_told_from_others():
    between, within = margins(1, 150, 150)
    found = margin_evidence(between, within, n_records=300)
    wrong = found.wrong(between)
    taken = wrong <= 0.5
    assert taken[:150].mean() > 0.8
    assert taken[150:].mean() < 0.1
    # What is farther ahead is never more likely to be alone.
    assert (np.diff(found.wrong(np.linspace(-1, 30, 500))) <= 0).all()
    assert found.wrong(np.array([-1.0]))[0] == 1.0


def test_one_record_that_is_far_ahead_proves_nothing():
    within = np.linspace(0, 1, 100)
    found = margin_evidence(np.append(within, 50.0), (within, within), n_records=101)
    assert found.least == 0
    assert found.wrong(np.array([50.0]))[0] == pytest.approx(1.0)


def test_records_of_a_part_stand_for_all_and_few_tell_nothing():
    between, within = margins(3, 150, 150)
    whole = margin_evidence(between, within, n_records=300)
    twice = margin_evidence(between, within, n_records=600)
    assert twice.least == pytest.approx(2 * whole.least)
    assert margin_evidence(between, within, n_records=300, counts=False).least == 0
    assert margin_evidence(between[:10], within, n_records=10) is None
    none = margins_of(np.full(30, 1.0), np.full(30, np.inf))
    assert margin_evidence(none, within, n_records=30) is None


@pytest.mark.parametrize("n_with", [0, 100, 300])
def test_small_margins_tell_how_many_are_alone_at_the_most(n_with):
    between, sides = margins(4, n_with, 300)
    within = np.concatenate(sides)
    alone = alone_by_small(between, within)
    assert 270 < alone < 420
    assert alone_by_small(between, within, alike=4.0) > alone


def test_records_that_go_together_prove_less():
    between, sides = margins(1, 150, 150)
    apart, alike = (least_partners(between, list(sides), number) for number in (1.0, 3.0))
    assert 0 < alike < apart <= 150
