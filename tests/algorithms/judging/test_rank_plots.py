from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.algorithms.judging import rank_plots
from gamekeeper.algorithms.judging.logistic_line import fit_logistic_line
from gamekeeper.algorithms.judging.rank_plots import (
    logit_rank_plot,
    logit_ranks,
    mid_ranks,
    rank_line,
)
from gamekeeper.errors import InputError, Reason

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
    monkeypatch.setattr(rank_plots, "_MOST_DISTINCT", 10**9)
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
