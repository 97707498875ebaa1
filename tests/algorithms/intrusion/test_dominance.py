from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from gamekeeper.algorithms.intrusion.dominance import (
    Measure,
    compare_directions,
    find_dominance,
    proof_of_dominance,
)
from gamekeeper.algorithms.intrusion.strategies import (
    Direction,
    custom_strategies,
    evaluate_strategies,
    matching_probabilities,
    numbered_strategies,
)

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
