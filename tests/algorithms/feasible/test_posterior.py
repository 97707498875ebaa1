from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from gamekeeper.algorithms.feasible.posterior import cell_posteriors, independence_means
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, NoTableError
from gamekeeper.errors import InputError, Reason
from tests.algorithms.feasible.twins import posterior_by_hand, releases
from tests.given.cases import cases

HALF = Fraction(1, 2)


def random_rounding(published, base):
    """The probability of a count rounded at random to a multiple, by true count."""
    low = max(published - base + 1, 0)
    weights = [1 - Fraction(abs(published - true), base) for true in range(low, published + base)]
    return low, weights


def agree(found, by_hand):
    for cell, masses in enumerate(by_hand):
        counts, probabilities = found.mass(cell)
        for count, probability in zip(counts.tolist(), probabilities.tolist(), strict=True):
            assert probability == pytest.approx(float(masses.get(count, 0)), rel=1e-10, abs=1e-14)
        assert probabilities.sum() == pytest.approx(1)
    mean = [sum(count * mass for count, mass in masses.items()) for masses in by_hand]
    zero = [masses.get(0, 0) for masses in by_hand]
    assert found.mean.reshape(-1) == pytest.approx(np.array(mean, float))
    assert found.p_zero.reshape(-1) == pytest.approx(np.array(zero, float))


@st.composite
def likely(draw):
    """A release with a likelihood for each sum that has limits."""
    known = draw(releases())
    shares = st.lists(st.integers(1, 9), min_size=20, max_size=20)
    likelihoods = []
    for margin in known.margins:
        entries = []
        for low, high in zip(margin.lower.reshape(-1), margin.upper.reshape(-1), strict=True):
            weights = [Fraction(share, 10) for share in draw(shares)]
            entries.append(
                None if high >= UNBOUNDED else (int(low), weights[: int(high - low) + 1])
            )
        likelihoods.append(draw(st.sampled_from([None, entries])))
    return known, likelihoods


@cases(25)
@given(likely(), st.sampled_from(["uniform", "poisson", "multinomial"]))
def test_exact_distributions_are_sums_over_all_tables(release, prior):
    known, likelihoods = release
    means = None
    if prior == "poisson":
        means = np.arange(1, known.size + 1).reshape(known.shape)
    found = cell_posteriors(known, likelihoods, prior, means=means)
    even = Fraction(float(independence_means(known).mean()))
    by_hand_means = {"uniform": None, "multinomial": np.full(known.shape, even)}.get(prior, means)
    assert found.exact
    agree(found, posterior_by_hand(known, likelihoods, by_hand_means))


def test_a_rounded_table_alone_is_one_cell_at_a_time():
    published = [0, 3, 6]
    entries = [random_rounding(count, 3) for count in published]
    low = [entry[0] for entry in entries]
    high = [entry[0] + len(entry[1]) - 1 for entry in entries]
    known = CountConstraints.of((3,), [((0,), low, high)])
    found = cell_posteriors(known, [entries])
    assert found.exact
    # Published 3: true 1 to 5 with 1/3, 2/3, 1, 2/3, 1/3.
    counts, masses = found.mass(1)
    assert counts.tolist() == [1, 2, 3, 4, 5]
    assert masses == pytest.approx(np.array([1, 2, 3, 2, 1]) / 9)
    assert found.p_zero.tolist() == pytest.approx([0.5, 0, 0])
    assert found.mode.tolist() == [0, 3, 6]
    assert [ends.tolist() for ends in found.interval(0.7)] == [[0, 2, 5], [2, 4, 7]]


def test_a_large_table_with_its_total_is_exact():
    rng = np.random.default_rng(1)
    truth = rng.poisson(2, 300)
    published = (truth + 1) // 3 * 3
    known = CountConstraints.of(
        (300,), [((0,), np.maximum(published - 1, 0), published + 1), ((), truth.sum())]
    )
    found = cell_posteriors(known, prior="poisson", means=np.full(300, 2.0))
    assert found.exact
    assert found.mean.sum() == pytest.approx(truth.sum())
    # The cells with the same published count are exchangeable.
    assert np.ptp(found.mean[published == 3]) < 1e-9


def test_a_wide_table_with_its_total_under_even_odds():
    # All ways to share 400 people among 30 cells: a cell is x in C(428 - x, 28) of them.
    found = cell_posteriors(CountConstraints.of((30,), [((), 400)]))
    assert found.exact
    expected = [comb(428 - x, 28) / comb(429, 29) for x in range(401)]
    assert found.mass(7)[1] == pytest.approx(np.array(expected), abs=1e-14)


def test_a_total_far_from_what_is_expected():
    # 40 yes-or-no cells of mean odds 1/1000 whose sum is 39: one of them is 0.
    known = CountConstraints.of((40,), [((0,), np.zeros(40, int), np.ones(40, int)), ((), 39)])
    found = cell_posteriors(known, prior="poisson", means=np.full(40, 1e-3))
    assert found.exact
    assert found.p_zero == pytest.approx(np.full(40, 1 / 40))


def test_a_poisson_prior_with_a_total_is_multinomial():
    means = np.array([1.0, 2.0, 5.0])
    found = cell_posteriors(CountConstraints.of((3,), [((), 12)]), prior="poisson", means=means)
    for cell, mean in enumerate(means):
        counts, masses = found.mass(cell)
        assert masses == pytest.approx(binom.pmf(counts, 12, mean / 8), abs=1e-13)


def test_margins_of_a_two_way_table_are_hypergeometric():
    known = CountConstraints.of((2, 2), [((0,), [6, 9]), ((1,), [7, 8])])
    found = cell_posteriors(known, prior="multinomial")
    counts, masses = found.mass((0, 0))
    expected = [comb(7, x) * comb(8, 6 - x) / comb(15, 6) for x in counts.tolist()]
    assert masses == pytest.approx(np.array(expected))


def test_an_even_prior_does_not_pull_the_number_of_people():
    # Ten cells of 36 to 44, nothing else: all counts are nearly as likely as before.
    known = CountConstraints.of((10,), [((0,), np.full(10, 36), np.full(10, 44))])
    found = cell_posteriors(known, prior="multinomial")
    assert found.mean == pytest.approx(np.full(10, 40), abs=0.1)


def test_a_cell_without_limit_needs_a_proper_prior():
    known = CountConstraints.of((2,), [((0,), [0, 4], [UNBOUNDED, 4])])
    with pytest.raises(InputError) as caught:
        cell_posteriors(known)
    assert caught.value.reason == Reason.BAD_OPTION
    assert "'poisson'" in str(caught.value)
    found = cell_posteriors(known, prior="poisson", means=[3.0, 4.0])
    counts, masses = found.mass(0)
    assert masses == pytest.approx(poisson.pmf(counts, 3.0), abs=1e-14)
    assert found.mean[0] == pytest.approx(3)


def test_a_hidden_pair_with_a_sum_from_below():
    known = CountConstraints.of((2,), [((), 5, UNBOUNDED)])
    found = cell_posteriors(known, prior="poisson", means=[1.0, 2.0])
    joint = np.outer(poisson.pmf(range(60), 1), poisson.pmf(range(60), 2))
    joint[np.add.outer(np.arange(60), np.arange(60)) < 5] = 0
    assert found.mean[0] == pytest.approx((joint.sum(1) @ np.arange(60)) / joint.sum())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["importance", "chain"])
def test_sampled_figures_agree_with_exact_ones(method):
    rng = np.random.default_rng(4)
    truth = rng.poisson(1.5, (3, 4))
    low = np.maximum((truth + 1) // 3 * 3 - 2, 0)
    entries = [random_rounding(count, 3) for count in ((truth + 1) // 3 * 3).reshape(-1).tolist()]
    known = CountConstraints.of(
        (3, 4),
        [
            ((0, 1), low, (truth + 1) // 3 * 3 + 2),
            ((0,), truth.sum(1)),
            ((1,), truth.sum(0) - truth.sum(0) % 2, truth.sum(0) - truth.sum(0) % 2 + 1),
        ],
    )
    exact = cell_posteriors(known, [entries])
    found = cell_posteriors(
        known, [entries], exact_limit=0, draws=4000, seed=3, method=method, workers=1
    )
    assert exact.exact
    assert not found.exact
    assert 100 < found.effective_size <= 4000
    is_sampled = ~found.cell_exact
    for name in ("mean", "p_zero"):
        away = np.abs(getattr(found, name) - getattr(exact, name))[is_sampled]
        error = getattr(found, f"{name}_error")[is_sampled]
        assert (away <= 4.5 * error + 1e-3).all()
        assert error.max() < 0.2


def test_listed_tables_serve_where_there_are_few(monkeypatch):
    from gamekeeper.algorithms.feasible import posterior

    def too_many(*_):
        raise posterior.TooManySteps

    known = CountConstraints.of(
        (2, 3),
        [((0,), [3, 2], [4, 3]), ((1,), [2, 2, 2]), ((0, 1), np.zeros((2, 3)), np.full((2, 3), 2))],
    )
    entries = [(3, [HALF, Fraction(1, 3)]), (2, [Fraction(1, 5), HALF])]
    by_hand = posterior_by_hand(known, [entries], np.full((2, 3), 2))
    monkeypatch.setattr(posterior, "marginals_of_part", too_many)
    found = cell_posteriors(known, [entries], "poisson", means=np.full((2, 3), 2.0))
    assert found.exact
    agree(found, by_hand)


def test_independence():
    known = CountConstraints.of((2, 3), [((0,), [6, 4]), ((1,), [5, 3, 2])])
    assert independence_means(known) == pytest.approx(np.outer([6, 4], [5, 3, 2]) / 10)
    hidden = CountConstraints.of((2,), [((0,), [0, 4], [UNBOUNDED, 6])])
    assert independence_means(hidden) == pytest.approx([1, 5])


def test_no_table_is_possible():
    known = CountConstraints.of((2,), [((0,), [0, 0], [3, 3]), ((), 2)])
    with pytest.raises(NoTableError):
        cell_posteriors(known, [None, [(5, [1])]])
    with pytest.raises(NoTableError):
        # Each cell is odd, or 2 is odd.
        cell_posteriors(
            CountConstraints.of((2,), [((0,), [0, 0], [3, 3]), ((), 3)]),
            [[(0, [0, 1, 0, 1]), (0, [0, 1, 0, 1])], None],
        )


def test_a_level_is_between_0_and_1():
    known = CountConstraints.of((2,), [((0,), [0, 0], [3, 3])])
    with pytest.raises(InputError):
        cell_posteriors(known).interval(1.0)


def test_factorials_are_right():
    known = CountConstraints.of((2,), [((0,), [0, 0], [4, 4]), ((), 4)])
    counts, masses = cell_posteriors(known, prior="multinomial").mass(0)
    weights = [1 / factorial(x) / factorial(4 - x) for x in counts.tolist()]
    assert masses == pytest.approx(np.array(weights) / sum(weights))
