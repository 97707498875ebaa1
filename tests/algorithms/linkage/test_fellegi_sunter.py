from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from gamekeeper.algorithms.linkage import fellegi_sunter
from gamekeeper.algorithms.linkage.blocking import CandidatePairs
from gamekeeper.algorithms.linkage.distances import (
    compare_categories,
    compare_numbers,
    compare_sinks,
    compare_texts,
)
from gamekeeper.algorithms.linkage.fellegi_sunter import (
    fine_limits,
    fit_one_partner,
    require_limits,
    shares_of_pairs,
)
from gamekeeper.algorithms.linkage.kernels import (
    expect_partners,
    likeliest_odds,
    sum_odds,
    weigh_records,
)
from gamekeeper.errors import InputError
from tests.given.linked_files import copies


def test_levels_are_fine_where_distances_are_many():
    rng = np.random.default_rng(1)
    numbers = compare_numbers(rng.normal(size=300), rng.normal(size=300))
    assert len(fine_limits(numbers)) == 24
    assert fine_limits(compare_categories([1, 2], [1, 2])) == (0.0,)
    assert fine_limits(compare_texts([1], [1], ["a"], ["b"])) == (0.0, 0.12, 0.3)
    # What cannot be the same person is a level of its own, beyond every overlap.
    assert fine_limits(compare_sinks([1], [1], [[1, 0]], [[0, 1]]))[-1] == 1.0
    assert fine_limits(compare_numbers([], [])) == (0.0,)


def test_shares_of_levels_leave_out_what_is_missing():
    number = compare_numbers([1.0, 2.0, math.nan], [1.0, 4.0], name="N")
    text = compare_texts([1, 0, 2], [1, 1], ["anna", "bert"], ["anne"], name="T")
    rows, columns = np.divmod(np.arange(6), 2)
    # Levels 0, 2, 1, 2 of the numbers, and 0, 0, 1, 1 of the texts; half a pair more of each.
    numbers, texts = shares_of_pairs([number, text], [(0.0, 1.0), (0.25,)], rows, columns)
    assert numbers == pytest.approx(np.array([1.5, 1.5, 2.5]) / 5.5)
    assert texts == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    "limits", [[(0.0,)], [(0.0,), ()], [(0.0,), (1.0, 0.5)], [(0.0,), (-1.0,)]]
)
def test_limits_that_do_not_fit_are_refused(limits):
    comparisons = [compare_categories([1, 2], [2, 1])] * 2
    with pytest.raises(InputError):
        require_limits(comparisons, limits)
    with pytest.raises(InputError):
        require_limits([], [])


def plain_step(levels, starts, ratios, odds):
    """One expectation, record by record and pair by pair, in words."""
    expected, likelihood, sums = 0.0, 0.0, {}
    for first, last in pairwise(starts):
        weights = [
            math.exp(sum(ratios[k][level] for k, level in enumerate(levels[p])))
            for p in range(first, last)
        ]
        total = 1 + odds * sum(weights)
        expected += odds * sum(weights) / total
        likelihood += math.log(total) - math.log(1 + odds * len(weights))
        for p, weight in zip(range(first, last), weights, strict=True):
            for k, level in enumerate(levels[p]):
                key = k, level
                sums[key] = sums.get(key, 0.0) + odds * weight / total
    return expected, likelihood, sums


@pytest.mark.parametrize("seed", range(5))
def test_a_round_of_em_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, 8)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    levels = rng.integers(0, 4, (starts[-1], 3)).astype(np.uint8)
    ratios = rng.normal(size=(3, 4))
    ratios[:, 0] = 0.0
    sums = np.zeros((3, 4))
    weights, evidence = np.zeros(len(levels)), np.zeros(len(sizes))
    pairs = levels, np.arange(len(levels), dtype=np.int32), starts
    weigh_records(*pairs, ratios, weights, evidence)
    expected, likelihood = expect_partners(*pairs, weights, evidence, 0.3, sums)
    plain = plain_step(levels.tolist(), starts.tolist(), ratios.tolist(), 0.3)
    assert expected == pytest.approx(plain[0])
    assert likelihood == pytest.approx(plain[1])
    for (k, level), value in plain[2].items():
        assert sums[k, level] == pytest.approx(value)


@pytest.mark.parametrize("seed", range(5))
def test_the_likeliest_odds_are_those_of_a_grid(seed):
    rng = np.random.default_rng(seed)
    evidence, sizes = np.exp(rng.normal(0, 4, 30)), rng.integers(1, 9, 30)
    grid = np.exp(np.linspace(-20, 15, 20_001))
    told = (np.log1p(grid[:, None] * evidence) - np.log1p(grid[:, None] * sizes)).sum(1)
    found = likeliest_odds(evidence, sizes, 0.1, 1e-15, 1e9)
    assert math.log(found) == pytest.approx(math.log(grid[told.argmax()]), abs=0.002)


def test_where_all_have_a_partner_or_none_has_odds_are_at_their_ends():
    sizes = np.full(9, 3)
    assert likeliest_odds(np.full(9, 50.0), sizes, 0.1, 1e-15, 1e9) == pytest.approx(1e9, rel=1e-5)
    assert likeliest_odds(np.full(9, 0.1), sizes, 0.1, 1e-15, 1e9) == pytest.approx(1e-15, rel=1e-5)


def test_the_share_of_people_in_both_files_is_found():
    for n_both in (20, 60, 95):
        model = fit_one_partner(copies(1, n_both=n_both))
        assert model.expected == pytest.approx(n_both, abs=8)
        assert not model.notes
    assert all(m[0] > 0.8 for m in model.m)
    assert all(abs(u[0] - 1 / 12) < 0.03 for u in model.u)


def test_with_everybody_each_record_has_a_partner():
    found = fit_one_partner(copies(2, n_both=20), everybody=True).expected
    # The first file has 120 records, the second 100.
    assert found == pytest.approx(100)


def test_candidates_and_a_sample_of_records_teach_nearly_the_same(monkeypatch):
    comparisons = copies(3)
    pairs = CandidatePairs.from_pairs(
        np.repeat(np.arange(120), 100), np.tile(np.arange(100), 120), (120, 100)
    )
    whole, listed = fit_one_partner(comparisons), fit_one_partner(comparisons, candidates=pairs)
    monkeypatch.setattr(fellegi_sunter, "_MOST_LEARNED", 6_000)
    some = fit_one_partner(comparisons)
    assert some.n_learned == 60
    assert some.notes == ("Weights were learned from 60 of 120 records.",)
    for other in (listed, some):
        assert [m[0] for m in other.m] == pytest.approx([m[0] for m in whole.m], abs=0.1)
        assert other.expected == pytest.approx(whole.expected, rel=0.25)
    again = fit_one_partner(comparisons)
    assert [m.tolist() for m in again.m] == [m.tolist() for m in some.m]


def test_missing_values_say_nothing():
    rng = np.random.default_rng(1)
    a = rng.integers(1, 9, (4, 80))
    known = [compare_categories(row, row, name=str(k)) for k, row in enumerate(a)]
    gone = compare_categories(np.zeros(80, int), a[0], name="gone")
    model = fit_one_partner([*known, gone])
    assert np.abs(model.weights[-1]).max() < 1e-9
    assert model.expected == pytest.approx(80, abs=1)


def test_nothing_to_learn_from_is_refused():
    nobody = CandidatePairs.from_pairs([], [], (3, 3))
    same = [compare_categories([1, 1, 1], [1, 1, 1])]
    with pytest.raises(InputError, match="There is no pair"):
        fit_one_partner(same, candidates=nobody)
    with pytest.raises(InputError, match="No variable has a distance above 0"):
        fit_one_partner(same)


def test_odds_are_summed_by_row():
    costs = np.array([[1.0, 2.0], [np.inf, 0.0], [3.0, 3.0]])
    rows = np.zeros(3)
    sum_odds(costs, 2.0, rows)
    assert rows == pytest.approx(np.exp(2.0 - costs).sum(1))
