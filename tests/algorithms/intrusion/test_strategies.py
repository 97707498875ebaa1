from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.algorithms.intrusion.strategies import (
    Direction,
    custom_strategies,
    evaluate_strategies,
    matching_probabilities,
    numbered_strategies,
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
