from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.linkage.partners.margin_evidence import (
    alone_by_small,
    least_partners,
    margin_evidence,
    margins_of,
)
from gamekeeper.algorithms.linkage.partners.one_partner import falling
from tests.given.cases import cases

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
