from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.subtraction.probability import (
    all_known,
    binomials,
    cell_groups,
    cell_recovery,
    recovery_rule,
    samples_without_full_cells,
    some_cell_known,
    subtraction_risk,
)
from gamekeeper.errors import InputError, LimitError, Reason
from tests.given.cases import cases
from tests.given.limited_counts import releases, rule_of
from tests.twins.subtraction import (
    by_definition,
    by_inclusion_and_exclusion,
    recovered_cells,
    samples,
)


def group_risks(rule, groups, *, own_people=False, **asked):
    """The risk within each group of cells, where people of all cells or of the group are known."""
    for group in range(int(groups.max()) + 1):
        cells = groups == group
        if own_people:
            yield subtraction_risk(rule.subset(cells), **asked)
        else:
            yield subtraction_risk(rule, within=cells, **asked)


@given(releases())
@cases(60)
def test_risk_is_the_definition(release):
    curve, _ = by_definition(*release)
    risk = subtraction_risk(rule_of(release))
    assert list(risk.fractions) == curve
    assert risk.possible_from == next((n for n, p in enumerate(curve) if p > 0), None)
    assert risk.certain_from == next((n for n, p in enumerate(curve) if p == 1), None)
    assert all(before <= after for before, after in pairwise(risk.fractions))
    floats = subtraction_risk(rule_of(release), exact_up_to=-1)
    assert not floats.is_exact
    np.testing.assert_allclose(floats.values, [float(p) for p in curve], rtol=0, atol=1e-14)


@given(releases(with_total=False, most=4))
@cases(40)
def test_single_tables_are_inclusion_and_exclusion(release):
    counts, _, upper, _ = release
    assert list(subtraction_risk(recovery_rule(counts, upper)).fractions) == (
        by_inclusion_and_exclusion(counts, upper)
    )


@given(releases(), st.data())
@cases(50)
def test_groups_and_cells_are_the_definition(release, data):
    counts = release[0]
    groups = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(counts), max_size=len(counts)))
    )
    rule = rule_of(release)
    exactly = group_risks(rule, groups)
    in_floats = group_risks(rule, groups, exact_up_to=-1)
    for group, (risk, floats) in enumerate(zip(exactly, in_floats, strict=True)):
        curve, _ = by_definition(*release, cells=np.flatnonzero(groups == group))
        assert list(risk.fractions) == curve
        assert risk.possible_from == next((n for n, p in enumerate(curve) if p > 0), None)
        assert risk.certain_from == next((n for n, p in enumerate(curve) if p == 1), None)
        np.testing.assert_allclose(floats.values, [float(p) for p in curve], rtol=0, atol=1e-14)
    each = cell_recovery(rule)
    for cell in range(len(counts)):
        curve, _ = by_definition(*release, cells=[cell])
        np.testing.assert_allclose(each[:, cell], [float(p) for p in curve], rtol=0, atol=1e-14)


@given(releases(), st.data())
@cases(40)
def test_people_of_a_group_alone_are_samples_of_the_group(release, data):
    counts, lower, upper, total = release
    groups = np.array(
        data.draw(st.lists(st.integers(0, 1), min_size=len(counts), max_size=len(counts)))
    )
    for group, risk in enumerate(group_risks(rule_of(release), groups, own_people=True)):
        inside = np.flatnonzero(groups == group)
        # Nobody outside is known: their counts count for the limits, and are not sampled.
        people = int(np.asarray(counts)[inside].sum())
        known = _known_inside(counts, lower, upper, total, inside)
        ways = [Fraction(known[n], math.comb(people, n)) for n in range(people + 1)]
        assert list(risk.fractions) == ways


def _known_inside(counts, lower, upper, total, inside):
    numbers = [0] * (sum(counts) + 1)
    for sample, ways in samples([c if k in inside else 0 for k, c in enumerate(counts)]):
        cells = recovered_cells(counts, sample, lower, upper, total)
        # A cell without people outside the group may be a zero as well, but not one of the group.
        if set(cells) & set(inside.tolist()):
            numbers[sum(sample)] += ways
    return numbers


@pytest.mark.parametrize(
    ("counts", "lower", "upper", "total", "expected"),
    [
        # Figure 23: three women and one man, published as 5 and 5 with a total of 0 (base 5).
        ([3, 1], [1, 1], [9, 9], 4, "0 0 0 1/4 1"),
        ([3, 1], [1, 1], [9, 9], None, "0 0 0 0 0"),
        # All cells at their lower limit and the total at its upper: the table is known.
        ([1, 1, 1, 1], [1] * 4, [9] * 4, 4, "0 1 1 1 1"),
        ([3, 3, 3, 3], [3] * 4, [7] * 4, 12, "0 0 0 1/55 4/55 2/11 5/14 13/22 46/55 1 1 1 1"),
        ([3, 3, 3, 3, 0], [3, 3, 3, 3, 0], [7, 7, 7, 7, 2], 12, "1 " * 13),
        # More than one cell above its lower limit.
        ([3, 4, 5], [3] * 3, [7] * 3, 12, "0 0 0 0 0 0 0 0 0 1/220 1/22 1/4 1"),
        # One cell is exact, so that the total adds risk to a table that has some.
        ([1, 3], [1, 1], [1, 9], 4, "0 1/4 1/2 1 1"),
        ([1, 2, 3], [1, 2, 3], [1, 2, 3], None, "0 1/6 2/5 7/10 1 1 1"),
    ],
)
def test_worked_examples(counts, lower, upper, total, expected):
    risk = subtraction_risk(recovery_rule(counts, upper, lower=lower, total_upper=total))
    assert [str(p) for p in risk.fractions] == expected.split()


def test_more_people_than_there_are_means_everybody():
    rule = recovery_rule([1, 2], [1, 3])
    risk = subtraction_risk(rule, n=[2, 3, 4, 1000])
    assert [str(p) for p in risk.fractions] == ["2/3", "1", "1", "1"]
    assert subtraction_risk(rule, n=[4, 2], exact_up_to=0).values.tolist() == pytest.approx(
        [1, 2 / 3]
    )


def test_an_empty_table_and_a_table_without_people():
    assert subtraction_risk(recovery_rule([], [])).fractions == (0,)
    assert subtraction_risk(recovery_rule([0, 0], [0, 2])).fractions == (1,)
    assert subtraction_risk(recovery_rule([0, 0], [0, 2]), exact_up_to=-1).values.tolist() == [1.0]
    assert subtraction_risk(recovery_rule([0], [1])).fractions == (0,)


@pytest.mark.parametrize(
    ("n_cells", "mean", "share"), [(60, 20, 1.0), (500, 2, 0.3), (12, 90, 0.5)]
)
def test_floats_are_within_their_error_of_the_rationals(n_cells, mean, share):
    rng = np.random.default_rng(n_cells)
    counts = 1 + rng.poisson(mean - 1, n_cells)
    relevant = rng.random(n_cells) < share
    rule = recovery_rule(counts, counts + ~relevant)
    exact, floats = subtraction_risk(rule), subtraction_risk(rule, exact_up_to=0)
    assert exact.is_exact
    assert np.abs(exact.values - floats.values).max() < 1e-13
    assert np.all(floats.lower <= exact.values)
    assert np.all(exact.values <= floats.upper)
    assert np.all(np.diff(floats.values) >= -1e-13)


def test_floats_with_a_total_are_within_their_error_of_the_rationals():
    rng = np.random.default_rng(3)
    counts = 1 + rng.poisson(20, 30)
    # Relevant cells are exact, a few others unsure, and the total is at its upper limit.
    lower, upper = counts.copy(), counts + 1
    lower[:2] -= 1
    upper[10:20] -= 1
    rule = recovery_rule(counts, upper, lower=lower, total_upper=int(counts.sum()))
    exact, floats = subtraction_risk(rule), subtraction_risk(rule, exact_up_to=0)
    assert np.abs(exact.values - floats.values).max() < 1e-13
    alone = subtraction_risk(recovery_rule(counts, upper))
    assert np.any(exact.values > alone.values)


@pytest.mark.slow
def test_floats_of_a_large_population_are_within_their_error_of_rationals():
    rng = np.random.default_rng(5)
    counts = rng.geometric(1 / 80, 250)
    population = int(counts.sum())
    n = np.linspace(1, population - 1, 12).astype(int)
    floats = some_cell_known(counts, population, n)
    # Signed numbers of sets of cells by their people, then one sum for each n.
    signed = np.zeros(population + 1, object)
    signed[0] = 1
    for count in counts:
        signed[count:] = signed[count:] - signed[:-count]
    for known, value in zip(n, floats, strict=True):
        ways, without = math.comb(population, int(known)), 0
        term = ways
        for people in range(int(known) + 1):
            without += signed[people] * term
            term = term * (int(known) - people) // (population - people)
        assert abs(float(1 - Fraction(without, ways)) - value) < 1e-12


@pytest.mark.parametrize("start", [0, 50_000, 4_998_000, 9_990_000])
def test_floats_of_millions_of_people_do_not_underflow(start):
    n = np.arange(start, start + 1_000, 7)
    # A thousand people in cells of their own: known unless all n are among the others.
    others = np.ones(len(n))
    for k in range(1_000):
        others *= (10_000_000 - n - k) / (10_000_000 - k)
    found = some_cell_known([1] * 1_000, 10_000_000, n)
    np.testing.assert_allclose(found, 1 - others, rtol=0, atol=1e-12)


@given(st.lists(st.integers(1, 5), max_size=4), st.integers(0, 6))
def test_numbers_of_samples_add_up(sizes, rest):
    population = sum(sizes) + rest
    without = samples_without_full_cells(sizes, population)
    assert binomials(population) == [math.comb(population, n) for n in range(population + 1)]
    assert all(0 <= a <= b for a, b in zip(without, binomials(population), strict=True))
    assert sum(without) == 2**rest * math.prod(2**size - 1 for size in sizes)


@pytest.mark.parametrize("size", [1, 5, 40, 300])
def test_known_people_in_floats(size):
    n = np.arange(401)
    exact = [
        Fraction(math.comb(400 - size, k - size), math.comb(400, k)) if k >= size else 0
        for k in range(401)
    ]
    np.testing.assert_allclose(
        all_known(size, 400, n), [float(p) for p in exact], rtol=0, atol=1e-14
    )


def test_conditional_tables_are_those_of_each_key():
    counts = np.array([[[1, 2], [0, 3]], [[2, 2], [4, 1]]])
    rule = recovery_rule(counts, counts)
    groups = cell_groups(counts.shape, (0, 1))
    assert groups.reshape(4, 2).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    risks = list(group_risks(rule, groups, n=[0, 2]))
    assert [float(r.fractions[0]) for r in risks] == [0, 1, 0, 0]
    # Two of 15 people: one of the single person, the two, or both pairs.
    assert risks[0].fractions[1] == Fraction(14 + 1, math.comb(15, 2))
    own = group_risks(rule, groups, n=[1], own_people=True)
    assert [str(r.fractions[0]) for r in own] == ["1/3", "1", "0", "1/5"]


def test_all_problems_of_limits_are_named_at_once_and_no_count():
    with pytest.raises(InputError) as caught:
        recovery_rule([7, 31], [6, 30], lower=[8, 0], total_upper=5)
    assert len(caught.value.problems) == 3
    assert not any(number in str(caught.value) for number in ("7", "31", "38"))
    with pytest.raises(InputError) as caught:
        recovery_rule([1.5, 2], [2, 2])
    assert caught.value.reason is Reason.BAD_COUNT
    with pytest.raises(InputError) as caught:
        recovery_rule([1, 2], [2, 2, 2])
    assert caught.value.reason is Reason.MALFORMED


@pytest.mark.parametrize("n", [[-1], [0.5], [[1, 2]]])
def test_numbers_of_people_are_whole(n):
    with pytest.raises(InputError) as caught:
        subtraction_risk(recovery_rule([1], [1]), n=n)
    assert caught.value.reason is Reason.BAD_OPTION


def test_a_rule_shows_no_counts():
    assert "41" not in repr(recovery_rule([41, 1], [41, 3]))


@pytest.mark.parametrize("size", [3, 4_000, 9_999_999])
def test_cells_of_a_large_population(size):
    population = 10**7
    unknown = np.array([0, 1, 5, 300])
    # One after the other: no person of the cell is among the unknown.
    exact = [
        math.prod(Fraction(population - size - k, population - k) for k in range(u))
        for u in unknown
    ]
    found = all_known(size, population, population - unknown)
    assert found == pytest.approx([float(max(p, 0)) for p in exact], abs=1e-13)
    assert all_known(size, population, np.array([size - 1, 0])).tolist() == [0.0, 0.0]


def test_more_people_than_can_be_multiplied():
    population = 2**52
    assert all_known(1, population, np.array([1])) == pytest.approx([2.0**-52])
    with pytest.raises(LimitError) as caught:
        all_known(2**27, population, np.array([population - 1]))
    assert caught.value.reason is Reason.TOO_LARGE
