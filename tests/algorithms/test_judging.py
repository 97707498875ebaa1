from __future__ import annotations

import math
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms import judging
from gamekeeper.algorithms.judging import (
    auc,
    auc_difference,
    brier,
    calibration_line,
    calibration_table,
    logit_rank_plot,
    logit_ranks,
    mid_ranks,
    rank_line,
)
from gamekeeper.algorithms.statistics import fit_logistic_line
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


# Smith's thesis, chapter 8, with ranks and ties as stated in the module.
OUTCOMES = [0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0,
            1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1]  # fmt: skip
TENTHS = [3, 8, 5, 1, 4, 9, 1, 3, 5, 1, 0, 6, 3, 7, 8, 5, 3, 7, 6, 3,
          7, 1, 2, 7, 2, 3, 3, 6, 5, 9, 3, 4, 5, 1, 5, 9, 5, 2, 8, 5]  # fmt: skip
VALUES = [
    -2.7937629352517392, -1.9487665034865997, -1.1415379814830375, -0.5304975149209445,
    -0.08786580729044699, 0.2683845121118524, 0.5572241325662883, 0.8944617846315668,
    1.6322463808302603,
]  # fmt: skip


def plain(y, score, m, h):
    """Return the plot record by record, solving both equations by Newton's method as printed."""
    n = len(score)
    ranks = [
        sum(other < own for other in score) + (sum(other == own for other in score) + 1) / 2
        for own in score
    ]
    t_i = np.log([rank / (n + 1 - rank) for rank in ranks])
    values = []
    for j in range(1, m + 1):
        t = np.log(j / (m + 1 - j))
        psi = np.exp(t) / (1 + np.exp(t)) ** 2
        w = np.exp(-0.5 * (t - t_i) ** 2 / (h / (4 * psi)) ** 2)
        a_b = np.zeros(2)
        design = np.column_stack([np.ones(n), t_i])
        for _ in range(80):
            p = 1 / (1 + np.exp(-design @ a_b))
            gradient = design.T @ (w * (np.asarray(y) - p))
            # Half steps cannot overshoot as whole ones do, and get there too.
            a_b = a_b + 0.5 * np.linalg.solve((design.T * (w * p * (1 - p))) @ design, gradient)
        values.append(a_b[0] + a_b[1] * t)
    return values


def mixed_records():
    """Return outcomes and scores that overlap: each score occurs with both outcomes, and more."""
    return st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=25).map(
        lambda pairs: (
            [0, 1, 0, 1] + [y for _, y in pairs],
            [1, 1, 4, 4] + [score for score, _ in pairs],
        )
    )


def test_the_printed_method_on_forty_records():
    found = logit_rank_plot(OUTCOMES, [tenth / 10 for tenth in TENTHS], m=9, h=1.0)
    assert found.t == pytest.approx(np.log([j / (10 - j) for j in range(1, 10)]))
    assert found.value == pytest.approx(VALUES, rel=1e-9)
    assert not found.guarded.any()


@settings(max_examples=25, deadline=None)
@given(mixed_records(), st.integers(1, 5), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_plot_is_that_of_the_plain_method(records, m, h):
    y, score = records
    assert logit_rank_plot(y, score, m, h).value == pytest.approx(plain(y, score, m, h), abs=1e-6)


@given(mixed_records(), st.randoms(use_true_random=False))
def test_only_the_order_of_scores_matters_and_not_that_of_records(records, random):
    y, score = records
    wanted = logit_rank_plot(y, score, 5).value
    assert logit_rank_plot(y, [np.exp(one) - 7 for one in score], 5).value == pytest.approx(wanted)
    order = random.sample(range(len(y)), len(y))
    mixed = logit_rank_plot([y[i] for i in order], [score[i] for i in order], 5).value
    assert mixed == pytest.approx(wanted, abs=1e-9)


@given(mixed_records())
def test_a_reversed_score_gives_the_mirror_image(records):
    y, score = records
    there, back = logit_rank_plot(y, score, 6), logit_rank_plot(y, [-one for one in score], 6)
    assert back.value[::-1] == pytest.approx(there.value, abs=1e-8)


def test_ranks_of_equal_scores_are_shared():
    assert mid_ranks(np.array([5, 1, 5, 5, 9])).tolist() == [3, 1, 3, 3, 5]
    assert logit_ranks([7, 7, 7]).tolist() == [0, 0, 0]


@pytest.mark.parametrize("sign", [1, -1])
def test_outcomes_that_a_score_separates_give_a_finite_plot_that_says_so(sign):
    y = [0] * 20 + [1] * 20
    found = logit_rank_plot(y, [sign * place for place in range(40)], m=9)
    assert found.guarded.all()
    assert np.isfinite(found.value).all()
    assert (sign * np.diff(found.value) > 0).all()
    assert abs(found.value[4]) < 1e-9


def test_one_kind_of_outcome_is_drawn_half_a_record_inwards():
    line = fit_logistic_line(np.arange(5.0), np.ones(5))
    assert line.guarded
    assert line.slope == pytest.approx(0, abs=1e-12)
    assert line.intercept == pytest.approx(np.log((5 + 0.5) / 0.5))
    assert logit_rank_plot([0, 0, 0], [1, 2, 3], m=2).guarded.all()


def test_one_score_for_all_gives_a_level_plot():
    found = logit_rank_plot([0, 1, 1, 1], [2, 2, 2, 2], m=3)
    assert found.value == pytest.approx([np.log(3)] * 3)
    assert not found.guarded.any()


def test_a_narrow_window_between_records_still_has_a_value():
    found = logit_rank_plot([0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6], m=50, h=1e-4)
    assert np.isfinite(found.value).all()


def test_the_overall_line_is_the_plot_of_a_very_wide_window():
    line = rank_line(OUTCOMES, TENTHS)
    found = logit_rank_plot(OUTCOMES, TENTHS, m=3, h=1e6)
    assert found.value == pytest.approx([line.at(t) for t in found.t], rel=1e-6)


def test_a_better_score_has_a_steeper_line():
    generator = np.random.default_rng(3)
    truth = generator.normal(size=2000)
    y = (generator.random(2000) < 1 / (1 + np.exp(-2 * truth))).astype(int)
    noisy = truth + generator.normal(size=2000)
    assert rank_line(y, truth).slope > 1.5 * rank_line(y, noisy).slope > 0


def test_many_scores_are_put_together_without_moving_the_plot(monkeypatch):
    generator = np.random.default_rng(1)
    score = generator.normal(size=21_000)
    y = (generator.random(21_000) < 1 / (1 + np.exp(-score))).astype(int)
    coarse = logit_rank_plot(y, score, m=5).value
    monkeypatch.setattr(judging, "_MOST_DISTINCT", 10**9)
    exact = logit_rank_plot(y, score, m=5).value
    assert np.abs(coarse - exact).max() < 1e-4
    assert (coarse != exact).any()


def test_everything_wrong_is_told_at_once_without_values():
    with pytest.raises(InputError) as caught:
        logit_rank_plot([0, 1, 77123], [1.0, float("nan")])
    assert caught.value.reason is Reason.BAD_OPTION
    assert [problem.where for problem in caught.value.problems] == ["records", "outcomes", "scores"]
    assert "77123" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        logit_rank_plot([0, 1], [1, 2], m=0, h=0)
    assert [problem.where for problem in caught.value.problems] == ["m", "h"]
    with pytest.raises(InputError):
        logit_rank_plot([], [])
