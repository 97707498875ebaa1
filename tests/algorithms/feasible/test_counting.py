from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from gamekeeper.algorithms.feasible import independent_parts
from gamekeeper.algorithms.feasible.counting import (
    cell_posteriors,
    count_tables,
    independence_means,
    list_tables,
)
from gamekeeper.algorithms.feasible.independent_parts import split_tables
from gamekeeper.algorithms.linear.facts import NoNumbersError
from gamekeeper.algorithms.releases.constraints import UNBOUNDED, CountConstraints, CountMargin
from gamekeeper.errors import Cancelled, InputError, LimitError, Reason
from tests.given.cases import cases
from tests.twins.tables_by_hand import posterior_by_hand, releases, tables_by_hand


def square(n, line_sum):
    return CountConstraints.of((n, n), [((0,), [line_sum] * n), ((1,), [line_sum] * n)])


def rounded(table, base, *, margins=True):
    """Every count of a two-way table rounded to the nearest multiple of an odd base."""
    half = base // 2

    def limits(counts):
        near = (np.asarray(counts) + half) // base * base
        return np.maximum(near - half, 0), near + half

    table = np.array(table)
    known = [((0, 1), *limits(table))]
    if margins:
        known += [((0,), *limits(table.sum(1))), ((1,), *limits(table.sum(0)))]
        known += [((), *limits(table.sum()))]
    return CountConstraints.of(table.shape, known)


@cases(30)
@given(releases())
def test_tables_are_those_found_by_trying_all(known):
    by_hand = tables_by_hand(known)
    assert count_tables(known) == len(by_hand)
    assert list_tables(known).tolist() == by_hand


@cases(20)
@given(releases())
def test_the_search_alone_finds_the_same(known):
    by_hand = tables_by_hand(known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(independent_parts, "count_part", _too_many)
        assert count_tables(known) == len(by_hand)
        assert list_tables(known).tolist() == by_hand


def _too_many(*_):
    raise independent_parts.TooManySteps


@pytest.mark.parametrize("line_sum", range(8))
def test_squares_of_three(line_sum):
    r = line_sum
    assert count_tables(square(3, r)) == comb(r + 2, 4) + comb(r + 3, 4) + comb(r + 4, 4)


def test_squares_of_four():
    # OEIS A001496.
    numbers = [1, 24, 282, 2008, 10147, 40176, 132724, 381424, 981541, 2309384, 5045326]
    assert [count_tables(square(4, line_sum)) for line_sum in range(11)] == numbers


@pytest.mark.parametrize(("n", "line_sum"), [(4, 4), (5, 2), (5, 3)])
def test_states_and_search_count_the_same_squares(n, line_sum, monkeypatch):
    by_states = count_tables(square(n, line_sum))
    monkeypatch.setattr(independent_parts, "count_part", _too_many)
    assert count_tables(square(n, line_sum)) == by_states


def test_huge_numbers_are_exact():
    people, cells = 100_000, 30
    known = CountConstraints.of((cells,), [((), people)])
    assert count_tables(known) == comb(people + cells - 1, cells - 1)
    free = CountConstraints.of((200,), [((0,), np.zeros(200, int), np.full(200, 9))])
    assert count_tables(free) == 10**200


def test_parts_multiply():
    # Two independent pairs of rows of the same square.
    limits = np.zeros((6, 6), int)
    limits[:3, :3] = limits[3:, 3:] = 2
    known = CountConstraints.of(
        (6, 6), [((0, 1), np.zeros((6, 6), int), limits), ((0,), [2] * 6), ((1,), [2] * 6)]
    )
    assert len(split_tables(known).parts) == 2
    assert count_tables(known) == 21**2
    assert len(list_tables(known)) == 21**2


def test_the_rounded_table_of_the_thesis():
    # Smith's thesis, Figures 18 to 22, and margins alone.
    table = [[1, 3, 0], [4, 0, 0], [3, 2, 0]]
    assert count_tables(rounded(table, 3, margins=False)) == 2592
    everything = rounded(table, 3)
    assert count_tables(everything) == len(list_tables(everything)) == 7
    margins = CountConstraints(everything.shape, everything.margins[1:])
    assert count_tables(margins) == 96


def test_a_suppressed_pair_of_pairs_has_two_tables():
    # Smith's thesis, Figure 6.
    low = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]])
    high = low.copy()
    high[0, [1, 3]] = high[1, [1, 3]] = UNBOUNDED
    margins = [((0, 1), low, high), ((0,), [4, 1, 7, 9]), ((1,), [5, 5, 7, 4])]
    found = list_tables(CountConstraints.of((4, 4), margins))
    assert found[:, :2, [1, 3]].tolist() == [[[3, 1], [1, 0]], [[4, 0], [0, 1]]]


def test_a_cell_without_limit_means_infinitely_many():
    known = CountConstraints.of((2, 2), [((0,), [3, 1], [UNBOUNDED, 1])])
    assert count_tables(known) is None
    with pytest.raises(InputError) as caught:
        list_tables(known)
    assert caught.value.reason == Reason.BAD_OPTION


def test_infinitely_many_only_if_there_is_one():
    # The second row cannot be: 2x2 with sums that differ in parity of the whole.
    margins = [
        ((0,), [0, 3, 2], [UNBOUNDED, 3, 2]),
        ((0, 1), np.zeros((3, 2), int), [[9, 9], [1, 1], [1, 1]]),
    ]
    with pytest.raises(NoNumbersError):
        count_tables(CountConstraints.of((3, 2), margins))


def pairs_of_three(low, high):
    """Three cells of which each two have a sum within limits, published as recoded tables."""
    margins = []
    for alone in range(3):
        groups = np.ones(3, np.int64)
        groups[alone] = 0
        limits = np.array([0, low]), np.array([UNBOUNDED, high])
        margins.append(CountMargin((groups,), *limits))
    return CountConstraints((3,), tuple(margins))


def test_contradictions_that_no_single_row_shows():
    # Each two of three cells sum to 1: only halves would do.
    known = pairs_of_three(1, 1)
    assert tables_by_hand(known) == []
    with pytest.raises(NoNumbersError):
        count_tables(known)
    with pytest.raises(NoNumbersError):
        list_tables(known)


def test_recoded_sums_that_overlap():
    known = pairs_of_three(3, 4)
    assert list_tables(known).tolist() == tables_by_hand(known)
    assert count_tables(known) == len(tables_by_hand(known)) > 3


@pytest.mark.slow
def test_a_search_that_would_not_end_is_refused():
    table = np.arange(4 * 4 * 4).reshape(4, 4, 4) % 7 + 5
    known = CountConstraints.of(
        table.shape,
        [((0, 1), table.sum(2)), ((0, 2), table.sum(1)), ((1, 2), table.sum(0))],
    )
    with pytest.raises(LimitError) as caught:
        count_tables(known, most=1000)
    assert caught.value.reason == Reason.TOO_LARGE
    assert "(--most)" in str(caught.value)
    assert "digits)" in str(caught.value)


def test_a_list_that_is_too_long_is_refused():
    with pytest.raises(LimitError, match="10,147"):
        list_tables(square(4, 4), most=10_146)
    assert list_tables(square(4, 4), most=10_147).shape == (10_147, 4, 4)


def test_work_can_be_stopped(monkeypatch):
    def stop(*_):
        raise Cancelled("Counting was asked for.")

    monkeypatch.setattr(independent_parts, "count_part", _too_many)
    with pytest.raises(Cancelled):
        count_tables(square(4, 4), progress=stop)


def test_a_table_without_open_cells():
    known = CountConstraints.of((2, 2), [((0, 1), [[1, 2], [3, 4]])])
    assert count_tables(known) == 1
    assert list_tables(known).tolist() == [[[1, 2], [3, 4]]]


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
    def too_many(*_):
        raise independent_parts.TooManySteps

    known = CountConstraints.of(
        (2, 3),
        [((0,), [3, 2], [4, 3]), ((1,), [2, 2, 2]), ((0, 1), np.zeros((2, 3)), np.full((2, 3), 2))],
    )
    entries = [(3, [HALF, Fraction(1, 3)]), (2, [Fraction(1, 5), HALF])]
    by_hand = posterior_by_hand(known, [entries], np.full((2, 3), 2))
    monkeypatch.setattr(independent_parts, "marginals_of_part", too_many)
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
    with pytest.raises(NoNumbersError):
        cell_posteriors(known, [None, [(5, [1])]])
    with pytest.raises(NoNumbersError):
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
