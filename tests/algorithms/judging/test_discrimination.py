from __future__ import annotations

import math
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.judging.discrimination import (
    auc,
    auc_difference,
    brier,
    calibration_line,
    calibration_table,
)
from gamekeeper.errors import InputError, Reason

Z = NormalDist().inv_cdf(0.975)


def records():
    return st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20
    ).map(
        lambda lines: tuple(
            list(column) for column in zip((0, 2, 3), (1, 3, 3), *lines, strict=True)
        )
    )


def wins(y, score):
    """Return who beats whom: one line per record with outcome 1, one column per other."""
    ones = [s for s, kind in zip(score, y, strict=True) if kind]
    zeros = [s for s, kind in zip(score, y, strict=True) if not kind]
    return np.array([[(a > b) + 0.5 * (a == b) for b in zeros] for a in ones])


def plain_variance(won):
    """Return the variance of the mean of a table from the spread of its lines and columns."""
    rows, columns = won.mean(axis=1), won.mean(axis=0)
    value = won.mean()
    return sum(
        part.var(ddof=1) / len(part) if len(part) > 1 else value * (1 - value)
        for part in (rows, columns)
    )


@given(records())
def test_the_area_and_its_interval_are_those_of_all_pairs(given_records):
    y, score, _ = given_records
    won = wins(y, score)
    found = auc(y, score)
    assert found is not None
    assert found.value == pytest.approx(won.mean())
    assert 0 <= found.low <= found.value <= found.high <= 1
    if 0 < won.mean() < 1:
        value = won.mean()
        half = Z * math.sqrt(plain_variance(won)) / (value * (1 - value))
        logit = math.log(value / (1 - value))
        assert found.low == pytest.approx(1 / (1 + math.exp(half - logit)))
        assert found.high == pytest.approx(1 / (1 + math.exp(-half - logit)))


@given(records())
def test_a_difference_is_that_of_both_areas(given_records):
    y, first, second = given_records
    found, back = auc_difference(y, first, second), auc_difference(y, second, first)
    assert found is not None
    assert back is not None
    gap = wins(y, first) - wins(y, second)
    assert found.value == pytest.approx(gap.mean())
    assert (back.low, back.value) == pytest.approx((-found.high, -found.value))
    if min(gap.shape) > 1:
        half = Z * math.sqrt(plain_variance(gap))
        assert found.high == pytest.approx(min(1.0, gap.mean() + half))
    same = auc_difference(y, first, first)
    assert same is not None
    assert (same.low, same.value, same.high) == (0, 0, 0)


def test_a_worked_example_by_hand():
    # Ones at 3, 5, 6 and zeros at 1, 2, 4: eight of nine pairs are won.
    found = auc([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6])
    assert found is not None
    assert found.value == pytest.approx(8 / 9)
    # Lines won 2/3, 1, 1 and columns 1, 1, 2/3: both have variance 1/27.
    half = Z * math.sqrt(2 / 81) / (8 / 81)
    assert found.low == pytest.approx(1 / (1 + math.exp(half - math.log(8))))


def test_without_both_kinds_there_is_no_area():
    assert auc([1, 1], [1, 2]) is None
    assert auc([], []) is None
    assert auc_difference([0, 0], [1, 2], [2, 1]) is None


@pytest.mark.parametrize(("sign", "value"), [(1, 1.0), (-1, 0.0)])
def test_a_perfect_score_keeps_some_doubt(sign, value):
    found = auc([0] * 9 + [1] * 4, [sign * place for place in range(13)])
    assert found is not None
    assert found.value == value
    doubt = 1 - 0.05**0.25
    low, high = (1 - doubt, 1.0) if value else (0.0, doubt)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_a_perfect_score_of_records_in_groups_is_as_sure_as_its_groups():
    # Records of a group may be one and the same: five groups are five trials, not fifty.
    y, score = np.tile([0, 1], 50), np.tile([0.0, 1.0], 50)
    found = auc(y, score, groups=np.repeat(np.arange(5), 20))
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(0.05 ** (1 / 5)), 1.0)
    # Ones of two groups alone.
    few = auc([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6], groups=[1, 2, 3, 1, 1, 2])
    assert few is not None
    assert few.low == pytest.approx(0.05 ** (1 / 2))
    with pytest.raises(InputError, match="records have a group"):
        auc([0, 1, 1], [1, 2, 2], groups=[1, 2])


def test_intervals_hold_the_truth_as_often_as_they_say():
    # Normal scores a distance of 1 apart: the area is Phi(1 / sqrt 2).
    truth = NormalDist().cdf(1 / math.sqrt(2))
    generator = np.random.default_rng(8)
    y = np.repeat([0, 1], [60, 30])
    held = 0
    for _ in range(400):
        found = auc(y, generator.normal(size=90) + y)
        assert found is not None
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_records_of_one_group_that_go_together_widen_the_interval():
    # Ones and zeros of 30 groups, whose ones share a mood that zeros do not have.
    generator = np.random.default_rng(5)
    groups = np.repeat(np.arange(30), 20)
    y = np.tile(np.repeat([0, 1], 10), 30)
    truth = NormalDist().cdf(1 / math.sqrt(3))
    held = {"alone": 0, "grouped": 0}
    for _ in range(300):
        mood = generator.normal(size=30)[groups] * y
        score = generator.normal(size=600) + mood + y
        for name, given_groups in (("alone", None), ("grouped", groups)):
            found = auc(y, score, groups=given_groups)
            assert found is not None
            held[name] += found.low <= truth <= found.high
    assert held["alone"] / 300 < 0.8
    assert 0.91 <= held["grouped"] / 300 <= 0.985


def test_groups_of_one_record_give_nearly_the_same_interval():
    generator = np.random.default_rng(2)
    y = np.repeat([0, 1], 200)
    score = generator.normal(size=400) + y
    alone, grouped = auc(y, score), auc(y, score, groups=generator.permutation(400))
    assert alone is not None
    assert grouped is not None
    assert grouped.low == pytest.approx(alone.low, abs=1e-4)


def test_the_brier_score_by_hand():
    assert brier([0, 1, 0.5], [0.5, 1, 0]) == pytest.approx(0.5 / 3)


def test_right_probabilities_lie_on_the_diagonal_and_extreme_ones_below():
    generator = np.random.default_rng(4)
    logits = generator.normal(size=20_000) * 1.5
    chance = 1 / (1 + np.exp(-logits))
    y = (generator.random(20_000) < chance).astype(int)
    right = calibration_line(y, chance)
    assert right.slope == pytest.approx(1, abs=0.05)
    assert right.intercept == pytest.approx(0, abs=0.05)
    extreme = calibration_line(y, 1 / (1 + np.exp(-2 * logits - 1)))
    assert extreme.slope == pytest.approx(right.slope / 2, rel=1e-4)
    assert extreme.intercept == pytest.approx(right.intercept - extreme.slope, abs=1e-3)


def test_probabilities_of_0_and_1_can_be_judged():
    line = calibration_line([0, 1, 0, 1], [0, 1, 0.5, 0.5])
    assert math.isfinite(line.slope)
    assert line.slope > 0


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 0.2, 0.21, 0.9, 1])), min_size=1),
    st.integers(1, 12),
)
def test_a_calibration_table_leaves_nobody_out_and_rises(pairs, n_groups):
    y, said = zip(*pairs, strict=True)
    table = calibration_table(y, said, n_groups=n_groups)
    assert sum(group.records for group in table) == len(pairs)
    assert sum(group.records * group.mean_outcome for group in table) == pytest.approx(sum(y))
    means = [group.mean_probability for group in table]
    assert sum(g.records * m for g, m in zip(table, means, strict=True)) == pytest.approx(sum(said))
    # Ties stay together, so means of different groups differ.
    assert all(low < high for low, high in pairwise(means))
    assert len(table) <= min(n_groups, len(set(said)))


def test_what_cannot_be_used_is_told_without_values():
    with pytest.raises(InputError) as caught:
        auc([0, 1, 77123], [1.0, float("nan"), 2.0])
    assert [problem.where for problem in caught.value.problems] == ["outcomes", "scores"]
    assert "77123" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        brier([0, 1], [0.5, 77123])
    assert "77123" not in str(caught.value)
    for call in (
        lambda: auc([0, 1], [1, 2, 3]),
        lambda: auc([0, 1, 1], [1, 2, 1], groups=[1, 1, 1]),
        lambda: calibration_table([0, 1], [0.1, 0.2], n_groups=0),
        lambda: calibration_line([], []),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.reason in (Reason.BAD_OPTION, Reason.NOTHING_GIVEN)
