from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.uniques.strategies import (
    Direction,
    Measure,
    compare_directions,
    custom_strategies,
    evaluate_strategies,
    expected_draws,
    find_dominance,
    first_match_array,
    first_match_probabilities,
    matching_probabilities,
    numbered_strategies,
    proof_of_dominance,
)
from gamekeeper.errors import InputError

MEASURES = ("pr_cm", "cost_without", "cost_with", "eff_without", "eff_with")


@st.composite
def tables(draw, most=30):
    sizes = draw(st.lists(st.integers(0, most), min_size=1, max_size=12))
    counts = [draw(st.integers(0, min(size, 4))) for size in sizes]
    sizes.append(draw(st.integers(1, most)))
    counts.append(1)
    return sizes, counts


def by_name(population, sample, strategies=None, **more):
    values = evaluate_strategies(population, sample, strategies or numbered_strategies(), **more)
    return {value.name: value for value in values}


def by_search(population, sample, used, direction):
    """Follow the intruder through every order of the population."""
    people = [(cell, unit) for cell, size in enumerate(population) for unit in range(size)]
    sampled = {person for person in people if person[1] < sample[person[0]]}
    orders = list(permutations(people))
    pairs = []
    if direction is Direction.P2S:
        starts = [None]
    else:
        starts = [person for person in sampled if used[person[0]]]
    for start in starts:
        for order in orders:
            wanted = [
                position
                for position, (cell, _) in enumerate(order)
                if (used[cell] if start is None else cell == start[0])
            ]
            if not wanted:
                return None
            found = order[wanted[0]]
            if start is None:
                n_here = sample[found[0]]
                chance = Fraction(1, n_here) if found in sampled else Fraction(0)
            else:
                chance = Fraction(found == start)
            pairs.append((chance, wanted[0] + 1))
    if not pairs:
        return None
    return (
        sum((chance for chance, _ in pairs), Fraction(0)) / len(pairs),
        Fraction(sum(cost for _, cost in pairs), len(pairs)),
    )


SMALL = [
    table
    for n_cells in (1, 2, 3)
    for table in combinations_with_replacement(
        [(size, n) for size in range(1, 4) for n in range(size + 1)], n_cells
    )
    if sum(size for size, _ in table) <= 5 and any(n for _, n in table)
]


@pytest.mark.parametrize("table", SMALL, ids=str)
def test_strategies_are_what_an_intruder_meets_in_every_order(table):
    population, sample = (list(side) for side in zip(*table, strict=True))
    for strategy in numbered_strategies((1, 2)):
        (value,) = evaluate_strategies(population, sample, [strategy])
        used = strategy.predicate(np.array(sample), np.array(population))
        found = by_search(population, sample, used, strategy.direction)
        assert value.feasible == (found is not None)
        if found is not None:
            assert (value.pr_cm, value.cost_without) == found


@given(tables())
def test_costs_with_replacement_and_efficiencies_follow_the_formulas(table):
    population, sample = table
    total = sum(population)
    for value in by_name(population, sample).values():
        if not value.feasible:
            assert [getattr(value, name) for name in MEASURES] == [0] * 5
            continue
        cells = value.strategy.predicate(np.array(sample), np.array(population))
        used = [(F, f) for F, f, u in zip(population, sample, cells, strict=True) if u]
        units = sum(f for _, f in used)
        if value.direction is Direction.P2S:
            cost = Fraction(total, sum(F for F, _ in used))
            assert value.pr_cm * cost**-1 * total == sum(f > 0 for _, f in used)
        else:
            cost = sum(f * Fraction(total, F) for F, f in used if f) / units
        assert value.cost_with == cost
        assert value.eff_with == value.pr_cm / cost
        assert value.eff_without == value.pr_cm / value.cost_without


@given(tables(most=10**6))
def test_floats_are_the_fractions(table):
    population, sample = table
    few = {"few": lambda f, size: (size <= 3) | (f == 2)}
    strategies = (*numbered_strategies((1, 4)), *custom_strategies(few))
    exact = evaluate_strategies(population, sample, strategies, exact=True)
    floats = evaluate_strategies(population, sample, strategies, exact=False)
    for one, other in zip(exact, floats, strict=True):
        assert (one.feasible, one.n_cells, one.n_sampled) == (
            other.feasible,
            other.n_cells,
            other.n_sampled,
        )
        for name in MEASURES:
            assert isinstance(getattr(one, name), Fraction)
            assert isinstance(getattr(other, name), float)
            assert getattr(other, name) == pytest.approx(float(getattr(one, name)), rel=1e-12)
    first = matching_probabilities(population, sample, exact=True)
    second = matching_probabilities(population, sample, exact=False)
    for name in ("pr_pu", "pr_pu_given_su", "pr_cm_given_um", "pr_cm_given_su"):
        assert getattr(second, name) == pytest.approx(float(getattr(first, name)), rel=1e-12)


@given(tables())
def test_measures_of_the_file(table):
    population, sample = table
    cells = list(zip(population, sample, strict=True))
    uniques = [F for F, f in cells if f == 1]
    found = matching_probabilities(population, sample)
    assert found.pr_pu == Fraction(population.count(1), sum(population))
    assert found.pr_pu_given_su == Fraction(uniques.count(1), len(uniques))
    assert found.pr_cm_given_um == Fraction(len(uniques), sum(uniques))
    assert found.pr_cm_given_su == sum(Fraction(1, F) for F in uniques) / len(uniques)
    values = by_name(population, sample)
    assert found.pr_cm_given_um == values["5"].pr_cm == values["7,r=1"].pr_cm
    assert found.pr_cm_given_su == values["4"].pr_cm == values["6,r=1"].pr_cm


def test_without_sample_uniques():
    found = matching_probabilities([3, 4], [2, 2])
    assert (found.pr_pu_given_su, found.pr_cm_given_um, found.pr_cm_given_su) == (0, 0, 0)
    values = by_name([3, 4], [2, 2])
    assert not values["4"].feasible
    assert not values["5"].feasible
    assert values["6,r=2"].feasible


def test_the_examples_of_the_thesis():
    # One sampled class of two people; two sampled classes of one: same cost, twice as efficient.
    one = by_name([2, 3], [1, 0])["3"]
    two = by_name([1, 1, 3], [1, 1, 0])["3"]
    assert (one.pr_cm, one.cost_with, one.eff_with) == (
        Fraction(1, 2),
        Fraction(5, 2),
        Fraction(1, 5),
    )
    assert (two.pr_cm, two.cost_with, two.eff_with) == (1, Fraction(5, 2), Fraction(2, 5))


def test_cells_without_sample_units_are_targets_that_cannot_be_matched():
    # Erratum T2: as printed, the general formula would give 1/2 for F = (2, 3, 1), f = (1, 0, 0).
    everybody = custom_strategies({"all": lambda f, size: size > 0})
    value = by_name([2, 3, 1], [1, 0, 0], everybody)["all, p2s"]
    assert (value.pr_cm, value.n_cells, value.n_sampled) == (Fraction(1, 6), 3, 1)
    # Nobody is in an empty cell, whatever the condition says.
    empty = custom_strategies({"all": lambda f, size: size >= 0, "none": lambda f, size: size < 0})
    values = by_name([2, 3, 1, 0], [1, 0, 0, 0], empty)
    assert values["all, p2s"].n_cells == 3
    assert not values["none, p2s"].feasible
    unsampled = custom_strategies({"rest": lambda f, size: f == 0})
    values = by_name([2, 3], [1, 0], unsampled)
    assert (values["rest, p2s"].feasible, values["rest, p2s"].pr_cm) == (True, 0)
    assert not values["rest, s2p"].feasible


def test_estimated_counts_need_not_be_whole():
    values = by_name([2.5, 4.0], [1, 2])
    assert values["3"].pr_cm == pytest.approx(2 / 6.5)
    assert values["1"].pr_cm == pytest.approx((1 / 2.5 + 2 / 4) / 3)
    with pytest.raises(InputError, match="Exact fractions need whole"):
        by_name([2.5, 4.0], [1, 2], exact=True)


def test_large_tables_are_computed_in_floats():
    generator = np.random.default_rng(0)
    sizes = generator.integers(1, 50, size=5_000)
    counts = generator.binomial(sizes, 0.05)
    value = by_name(sizes, counts)["4"]
    assert isinstance(value.pr_cm, float)
    exact = by_name(sizes, counts, exact=True)["4"]
    assert value.pr_cm == pytest.approx(float(exact.pr_cm), rel=1e-12)
    assert value.cost_without == pytest.approx(float(exact.cost_without), rel=1e-12)


def test_an_empty_cell_cannot_be_matched():
    for r in (0, -1):
        with pytest.raises(InputError, match="1 or more"):
            numbered_strategies([2, r])
    assert len(numbered_strategies([2, 2])) == 7


@pytest.mark.parametrize(
    ("population", "sample", "words"),
    [
        ([1, 2], [1], "2 population and 1 sample counts"),
        ([1, 2], [2, 1], "1 cells have a negative"),
        ([1, 2], [-1, 1], "1 cells have a negative"),
        ([1, math.nan], [0, 1], "1 cells have a negative"),
        ([1, math.inf], [0, 1], "finite"),
        ([1, 2], [0, 0], "nobody in the sample"),
        ([], [], "nobody in the sample"),
        ([1, 2], [0.5, 1.0], "type float64"),
        (["1", "2"], [0, 1], "population counts"),
    ],
)
def test_tables_that_cannot_be_are_refused(population, sample, words):
    with pytest.raises(InputError, match=words):
        by_name(population, sample)
    with pytest.raises(InputError, match=words):
        matching_probabilities(population, sample)


@pytest.mark.parametrize(
    "condition", [lambda f, size: True, lambda f, size: f, lambda f, size: f[:1] > 0]
)
def test_a_condition_must_judge_every_cell(condition):
    with pytest.raises(InputError, match="true or false for each cell"):
        by_name([1, 2], [1, 1], custom_strategies({"odd": condition}))


CELLS = [(size, n) for size in range(1, 5) for n in range(min(size, 3) + 1)]
TABLES = [
    table
    for n_cells in (1, 2, 3)
    for table in combinations_with_replacement(CELLS, n_cells)
    if any(n for _, n in table)
]
STRATEGIES = numbered_strategies((1, 2))


def split(table):
    return [size for size, _ in table], [n for _, n in table]


@pytest.fixture(scope="module")
def values_of_tables():
    return [evaluate_strategies(*split(table), STRATEGIES) for table in TABLES]


def test_exactly_the_proved_pairs_hold_on_every_small_table(values_of_tables):
    fails = set()
    for values in values_of_tables:
        feasible = [value for value in values if value.feasible]
        for higher, lower in permutations(feasible, 2):
            fails |= {
                (measure, higher.name, lower.name)
                for measure in Measure
                if measure.of(higher) < measure.of(lower)
            }
    for higher, lower in permutations(STRATEGIES, 2):
        for measure in Measure:
            proved = bool(proof_of_dominance(higher, lower, measure))
            assert proved == ((measure, higher.name, lower.name) not in fails), (
                measure,
                higher.name,
                lower.name,
            )


def test_the_thesis_lists_the_same_pairs_for_the_probability():
    pairs = {
        (a.name, b.name)
        for a, b in permutations(STRATEGIES, 2)
        if proof_of_dominance(a, b, "pr_cm") not in {"", "they are the same strategy"}
    }
    once = {("3", "2"), ("4", "5"), ("6,r=1", "7,r=1"), ("6,r=2", "7,r=2")}
    # Strategy 4 is 6 with r = 1, and 5 is 7 with r = 1.
    assert pairs == once | {("4", "7,r=1"), ("6,r=1", "5")}


def test_what_is_proved_for_the_same_cells_holds_on_every_small_table():
    equal = dict.fromkeys(Measure, 0)
    for table in TABLES:
        population, sample = split(table)
        for chosen in product((True, False), repeat=len(table)):
            used = np.array(chosen)
            found = compare_directions(population, sample, lambda f, size, used=used: used)
            n_sampled = sum(u and n > 0 for u, n in zip(chosen, sample, strict=True))
            assert len(found) == (5 if n_sampled else 0)
            for comparison in found:
                is_cost_or_chance = not comparison.measure.startswith("eff")
                usual = Direction.S2P if is_cost_or_chance else Direction.P2S
                equal[comparison.measure] += comparison.higher is None
                if comparison.proved:
                    assert comparison.higher in {None, usual}
                else:
                    assert "only sure" in comparison.why
            if found:
                *_, without, with_ = found
                assert with_.p2s == n_sampled * with_.s2p
                if without.proved:
                    # Erratum T5: the ratio is k for one class and below k for more.
                    ratio = without.p2s / without.s2p
                    assert ratio == 1 if n_sampled == 1 else 1 < ratio < n_sampled
    assert all(equal.values())


@pytest.mark.parametrize(
    ("population", "sample", "measure", "s2p", "p2s", "higher", "proved"),
    [
        # Errata T4, T5 and T8, and Jensen's case.
        ([1, 1], [0, 1], "eff_without", "2/3", "1/2", "s2p", False),
        ([2, 3], [1, 2], "pr_cm", "7/18", "2/5", "p2s", False),
        ([1, 3], [1, 1], "pr_cm", "2/3", "1/2", "s2p", True),
        ([1, 1], [1, 1], "eff_without", "2/3", "1", "p2s", True),
        ([2, 2], [1, 1], "pr_cm", "1/2", "1/2", None, True),
    ],
)
def test_known_comparisons(population, sample, measure, s2p, p2s, higher, proved):
    found = compare_directions(population, sample, lambda f, size: size > 0)
    (one,) = [comparison for comparison in found if comparison.measure == measure]
    assert (one.s2p, one.p2s) == (Fraction(s2p), Fraction(p2s))
    assert (one.higher, one.proved) == (higher, proved)
    floats = compare_directions(population, sample, lambda f, size: size > 0, exact=False)
    (other,) = [comparison for comparison in floats if comparison.measure == measure]
    assert (other.higher, other.proved) == (higher, proved)


def test_the_chance_given_a_sample_unique_is_at_least_the_share_of_population_uniques():
    below = 0
    for table in TABLES:
        found = matching_probabilities(*split(table))
        assert found.pr_cm_given_su >= found.pr_pu_given_su
        assert found.pr_cm_given_su >= found.pr_cm_given_um
        below += found.pr_cm_given_um < found.pr_pu_given_su
    assert below
    found = matching_probabilities([1, 1, 3], [1, 1, 1])
    assert (found.pr_cm_given_um, found.pr_pu_given_su) == (Fraction(3, 5), Fraction(2, 3))


def test_pairs_on_one_table_are_proved_or_observed(values_of_tables):
    for values in values_of_tables[::50]:
        found = find_dominance(values)
        by_name = {value.name: value for value in values}
        expected = {
            (measure, a.name, b.name)
            for a, b in permutations([v for v in values if v.feasible], 2)
            for measure in Measure
            if measure.of(a) >= measure.of(b)
        }
        assert {(d.measure, d.higher, d.lower) for d in found} == expected
        for dominance in found:
            pair = (by_name[dominance.higher].strategy, by_name[dominance.lower].strategy)
            proof = proof_of_dominance(*pair, dominance.measure)
            assert dominance.proved == bool(proof)
            assert dominance.why == (proof or "observed on this table only")


def test_nothing_is_claimed_of_other_conditions():
    few = custom_strategies({"few": lambda f, size: size < 3})
    assert proof_of_dominance(few[0], few[1], "cost_with") == ""
    values = evaluate_strategies([1, 2, 9], [1, 1, 1], few)
    assert not any(dominance.proved for dominance in find_dominance(values))


def test_rounding_is_no_difference():
    generator = np.random.default_rng(0)
    sizes = generator.integers(1, 40, size=500)
    counts = generator.binomial(sizes, 0.2)
    values = evaluate_strategies(sizes, counts, numbered_strategies([]), exact=False)
    pairs = {(d.higher, d.lower) for d in find_dominance(values, [Measure.EFF_WITH])}
    assert {("1", "4"), ("4", "1"), ("2", "3"), ("3", "2")} <= pairs


URNS = [(n, m) for n in range(1, 8) for m in range(1, n + 1)]


@pytest.mark.parametrize(("n", "m"), URNS)
def test_without_replacement_every_order_is_as_likely(n, m):
    # Which of the n places hold the m matches.
    places = list(combinations(range(1, n + 1), m))
    firsts = [min(place) for place in places]
    expected = [Fraction(firsts.count(t), len(places)) for t in range(1, n - m + 2)]
    assert first_match_probabilities(n, m, replacement=False) == expected
    assert sum(expected) == 1
    mean = sum(t * chance for t, chance in enumerate(expected, start=1))
    assert expected_draws(n, m, replacement=False) == mean
    longer = first_match_probabilities(n, m, n + 3, replacement=False)
    assert longer == expected + [0] * (m + 2)
    assert first_match_array(n, m, n + 3, replacement=False) == pytest.approx(longer)


@pytest.mark.parametrize(("n", "m"), [(n, m) for n, m in URNS if n <= 4])
def test_with_replacement_every_sequence_is_as_likely(n, m):
    last = 4
    draws = list(product(range(n), repeat=last))
    for t in range(1, last + 1):
        n_first = sum(d[t - 1] < m and all(ball >= m for ball in d[: t - 1]) for d in draws)
        expected = Fraction(n_first, len(draws))
        assert first_match_probabilities(n, m, last, replacement=True)[t - 1] == expected
        found = first_match_array(n, m, last, replacement=True)[t - 1]
        assert found == pytest.approx(float(expected))


def test_the_mean_with_replacement_is_that_of_the_corrected_distribution():
    # Erratum T1: as printed, N = 10 and M = 2 would give 1.25.
    chances = first_match_array(10, 2, 400, replacement=True)
    mean = sum(t * chance for t, chance in enumerate(chances, start=1))
    assert mean == pytest.approx(5)
    assert expected_draws(10, 2, replacement=True) == 5


def test_large_urns():
    found = first_match_array(10_000_000, 7, 1000, replacement=False)
    exact = first_match_probabilities(10_000_000, 7, 1000, replacement=False)
    assert found[[0, 500, 999]] == pytest.approx([float(exact[i]) for i in (0, 500, 999)])


@pytest.mark.parametrize(("n", "m"), [(5, 0), (5, 6), (0, 0), (3, -1)])
def test_an_urn_without_a_match_is_refused(n, m):
    with pytest.raises(InputError, match="at least one match"):
        expected_draws(n, m, replacement=True)
    with pytest.raises(InputError):
        first_match_probabilities(n, m, replacement=False)
    with pytest.raises(InputError):
        first_match_array(n, m, 3, replacement=False)
