from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gamekeeper as gk
from gamekeeper.algorithms.intrusion.dominance import Measure
from gamekeeper.algorithms.intrusion.strategies import custom_strategies
from gamekeeper.attack.matching.estimates import EstimatedCells, estimate_strategies
from gamekeeper.attack.matching.population import match_classes
from gamekeeper.attack.matching.strategies import assess_matching
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError, Reason

CANARY = "Zanzibar"
PARTS = ("pr_cm", "cost_without", "cost_with", "eff_without", "eff_with")


def keys_of(rows, names=("a", "b"), **options):
    return count_keys(coded_from_codes(rows, names), list(names), **options)


def tables(people, chosen):
    """Return the key tables of a sample and of its population, in codes of one book."""
    words = [("missing", *"123456789")] * len(people[0])
    names = tuple("abcdef"[: len(people[0])])
    sample = [people[place] for place in chosen]
    return tuple(
        count_keys(coded_from_codes(rows, names, words), list(names)) for rows in (sample, people)
    )


@st.composite
def samples(draw):
    people = draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=14)
    )
    # A variable without any value is refused by the key table.
    people[0] = (1, people[0][1])
    places = st.sets(st.integers(0, len(people) - 1), min_size=1).map(lambda s: sorted({0, *s}))
    return people, draw(places)


def twin(people, chosen, direction, is_used):
    """Return the values of a strategy unit by unit, exactly."""
    big, small = Counter(people), Counter(people[place] for place in chosen)
    n = len(people)
    if direction == "s2p":
        targets = [people[p] for p in chosen if is_used(small[people[p]], big[people[p]])]
        if not targets:
            return None
        share = Fraction(1, len(targets))
        pr_cm = sum(Fraction(1, big[key]) for key in targets) * share
        without = sum(Fraction(n + 1, big[key] + 1) for key in targets) * share
        with_ = sum(Fraction(n, big[key]) for key in targets) * share
    else:
        targets = [key for key in people if is_used(small[key], big[key])]
        if not targets:
            return None
        share = Fraction(1, len(targets))
        pr_cm = sum(Fraction(1, big[key]) for key in targets if small[key]) * share
        without, with_ = Fraction(n + 1, len(targets) + 1), Fraction(n, len(targets))
    return pr_cm, without, with_, pr_cm / without, pr_cm / with_


CONDITIONS = {
    "1": ("s2p", lambda f, n: True),
    "2": ("p2s", lambda f, n: True),
    "3": ("p2s", lambda f, n: f > 0),
    "4": ("s2p", lambda f, n: f == 1),
    "5": ("p2s", lambda f, n: f == 1),
    "6,r=2": ("s2p", lambda f, n: f == 2),
    "7,r=2": ("p2s", lambda f, n: f == 2),
    "small, s2p": ("s2p", lambda f, n: n < 3),
    "small, p2s": ("p2s", lambda f, n: n < 3),
}


@settings(max_examples=12, deadline=None)
@given(samples())
def test_strategies_on_a_known_population_agree_with_counting_people_one_by_one(drawn):
    people, chosen = drawn
    sample, population = tables(people, chosen)
    risk = assess_matching(
        sample, population=population, r=[2], predicates={"small": lambda f, n: n < 3}
    )
    assert {value.name for value in risk.values} == set(CONDITIONS)
    for name, (direction, is_used) in CONDITIONS.items():
        expected = twin(people, chosen, direction, is_used)
        value = risk[name]
        assert value.feasible == (expected is not None)
        assert tuple(getattr(value, part) for part in PARTS) == (expected or (0,) * 5)
    big, small = Counter(people), Counter(people[place] for place in chosen)
    assert risk.file["pr_pu"] == Fraction(sum(n == 1 for n in big.values()), len(people))
    uniques = [key for key, n in small.items() if n == 1]
    if uniques:
        assert risk.file["pr_pu_given_su"] == Fraction(
            sum(big[key] == 1 for key in uniques), len(uniques)
        )
    else:
        assert risk.file["pr_pu_given_su"] is None
        assert "there is no sample unique" in " ".join(risk.file.sentences())


@settings(max_examples=8, deadline=None)
@given(samples())
def test_people_per_sampled_class_give_the_same_strategies(drawn):
    people, chosen = drawn
    sample, population = tables(people, chosen)
    classes = sample.classes()
    keys = zip(classes.column(0).to_pylist(), classes.column(1).to_pylist(), strict=True)
    counts = Counter(people)
    whole = assess_matching(sample, population=population)
    part = assess_matching(
        sample, population=[counts[key] for key in keys], population_size=len(people)
    )
    for one, other in zip(whole.values, part.values, strict=True):
        assert [getattr(one, name) for name in PARTS] == [getattr(other, name) for name in PARTS]
    assert part.file["pr_pu"] is None
    assert part.file["dis"] == whole.file["dis"]
    assert part.n_people == len(people)


def test_an_unsampled_class_adds_nothing_to_the_numerator():
    # Erratum T2: printed 1/2, enumeration 1/6.
    people = [(1,), (1,), (2,), (2,), (2,), (3,)]
    sample, population = tables(people, [0])
    risk = assess_matching(sample, population=population)
    assert risk["2"].pr_cm == Fraction(1, 6)
    assert risk["3"].pr_cm == Fraction(1, 2)


def test_two_classes_of_one_are_twice_as_efficient_as_one_class_of_two():
    # The thesis, summary of chapter 5: the same cost, the same people.
    one_class = [(1,), (1,), (2,), (2,), (2,)]
    two_classes = [(1,), (2,), (3,), (3,), (3,)]
    single, double = (
        assess_matching(*tables(people, chosen)[:1], population=tables(people, chosen)[1])["5"]
        for people, chosen in ((one_class, [0]), (two_classes, [0, 1]))
    )
    assert (single.pr_cm, double.pr_cm) == (Fraction(1, 2), 1)
    assert single.cost_with == double.cost_with == Fraction(5, 2)
    assert (single.eff_with, double.eff_with) == (Fraction(1, 5), Fraction(2, 5))


def test_classes_are_matched_by_words_not_by_codes():
    words = ("missing", "north", "south", "west")
    people = coded_from_codes([[1], [1], [2], [3]], ["area"], [words])
    sample = coded_from_codes([[1], [2]], ["area"], [("missing", "south", "west")])
    matched = match_classes(count_keys(sample, ["area"]), count_keys(people, ["area"]))
    pairs = list(zip(matched.sample.tolist(), matched.population.tolist(), strict=True))
    assert sorted(pairs) == [(0, 2), (1, 1), (1, 1)]
    assert matched.population[matched.of_record].tolist() == [1, 1]
    risk = assess_matching(count_keys(sample, ["area"]), population=count_keys(people, ["area"]))
    assert risk["4"].pr_cm == 1


def test_the_order_of_key_variables_does_not_matter():
    rows = [[1, 1], [1, 2], [2, 2], [2, 2]]
    population = count_keys(coded_from_codes(rows, ["a", "b"]), ["b", "a"])
    risk = assess_matching(keys_of(rows[:3]), population=population)
    assert risk["4"].pr_cm == Fraction(5, 6)


def test_excluded_records_are_excluded_from_both():
    rows = [[1, 1], [0, 1], [1, 2], [1, 2]]
    sample, population = (keys_of(part, missing="exclude") for part in (rows[:3], rows))
    risk = assess_matching(sample, population=population)
    assert (risk.n_records, risk.n_people) == (2, 3)
    assert risk["4"].pr_cm == Fraction(3, 4)


def test_a_sample_that_is_not_in_the_population_is_refused_with_counts():
    words = [("missing", CANARY, "Malta")]
    sample = coded_from_codes([[1], [1], [1], [2]], ["country"], words)
    people = coded_from_codes([[1], [2]] * 2, ["country"], words)
    with pytest.raises(InputError) as caught:
        assess_matching(count_keys(sample, ["country"]), population=count_keys(people, ["country"]))
    assert "1 class of the sample has more records" in str(caught.value)
    assert "1 record too many in all; 0 of these classes" in str(caught.value)
    assert CANARY not in str(caught.value)


def test_unlike_tables_are_refused_with_every_difference():
    sample = keys_of([[1, 1], [2, 2]])
    population = keys_of([[1, 1], [2, 2]], names=("a", "c"), missing="exclude")
    with pytest.raises(InputError) as caught:
        assess_matching(sample, population=population)
    assert len(caught.value.problems) == 3
    for policy in ("ignore", "wildcard"):
        with pytest.raises(InputError, match="do not fall into classes"):
            assess_matching(keys_of([[1, 1], [2, 0]], missing=policy, fraction="1/2"))


def test_bad_options_are_told_together():
    sample = keys_of([[1, 1], [2, 2]])
    with pytest.raises(InputError) as caught:
        assess_matching(sample, population_size=1)
    assert {problem.where for problem in caught.value.problems} == {
        "population_size",
        "population",
    }
    with pytest.raises(InputError) as caught:
        assess_matching(sample, population=[1, 1], estimate="weights")
    assert {problem.where for problem in caught.value.problems} == {"estimate", "population_size"}
    with pytest.raises(InputError, match="'guess' is not known"):
        assess_matching(sample, estimate="guess")
    with pytest.raises(InputError, match="no weights"):
        assess_matching(keys_of([[1, 1]], fraction="1/2"), estimate="weights")
    for people, size, told in (
        ([1], 5, "1 values"),
        ([1.5, 2.0], 5, "float64"),
        ([0, 3], 5, "1 class"),
        ([3, 3], 5, "alone have 6"),
    ):
        with pytest.raises(InputError, match=told):
            assess_matching(sample, population=people, population_size=size)
    with pytest.raises(InputError, match="has 2 people"):
        assess_matching(sample, population=sample, population_size=3)
    for chosen, reason in (([8], Reason.UNKNOWN_NAME), ([], Reason.NOTHING_GIVEN)):
        with pytest.raises(InputError) as caught:
            assess_matching(sample, population=sample, strategies=chosen)
        assert caught.value.reason is reason
    with pytest.raises(InputError, match="one true or false"):
        assess_matching(keys_of([[1, 1]], fraction="1/2"), predicates={"odd": lambda f, n: n.sum()})
    with pytest.raises(InputError, match="not among those assessed"):
        assess_matching(sample, population=sample)["9"]


def negative_binomial(f, p, of):
    """Return the mean of a function of F by adding up the distribution."""
    if p == 1:
        return of(f)
    total, chance, size = 0.0, p**f, f
    while size < f + 20_000 / p and (chance > 1e-18 or size < f / p):
        total += chance * of(size)
        chance *= (1 - p) * size / (size - f + 1)
        size += 1
    return total


@pytest.mark.parametrize("p", [1.0, 0.97, 0.5, 1 / 3, 0.3, 0.05])
def test_estimates_are_means_over_the_negative_binomial(p):
    sizes = np.array([1, 2, 3, 7, 25])
    cells = EstimatedCells.of(sizes, np.full(5, p), 1000.0)
    for place, f in enumerate(sizes.tolist()):
        for found, of in (
            (cells.expected, lambda size: size),
            (cells.reciprocal, lambda size: 1 / size),
            (cells.reciprocal_of_next, lambda size: 1 / (size + 1)),
            (cells.pr_unique, lambda size: float(size == 1)),
        ):
            assert found[place] == pytest.approx(negative_binomial(f, p, of), rel=1e-9, abs=1e-12)


def test_a_strategy_is_estimated_from_its_classes():
    rows = [[1, 1], [1, 2], [2, 1], [2, 1], [3, 1], [3, 1], [3, 1]]
    risk = assess_matching(keys_of(rows, fraction="1/4"), r=[3])
    reciprocal = {f: negative_binomial(f, 0.25, lambda size: 1 / size) for f in (1, 2, 3)}
    following = {f: negative_binomial(f, 0.25, lambda size: 1 / (size + 1)) for f in (1, 2, 3)}
    assert risk.n_people == 28
    assert risk["4"].pr_cm == pytest.approx(reciprocal[1])
    assert risk["4"].cost_without == pytest.approx(29 * following[1])
    assert risk["4"].cost_with == pytest.approx(28 * reciprocal[1])
    assert risk["1"].pr_cm == pytest.approx(sum(f * reciprocal[f] for f in (1, 1, 2, 3)) / 7)
    assert risk["5"].pr_cm == pytest.approx(2 / 8)
    assert risk["5"].cost_without == pytest.approx(29 / 9)
    assert risk["7,r=3"].pr_cm == pytest.approx(1 / 12)
    assert risk["2"].pr_cm == risk["3"].pr_cm == pytest.approx(4 / 28)
    assert risk["6,r=3"].eff_with == pytest.approx(1 / 28)
    assert risk.file["pr_pu_given_su"] == pytest.approx(0.25)
    assert risk.file["pr_cm_given_su"] == risk["4"].pr_cm
    assert risk.file["pr_cm_given_um"] == risk["5"].pr_cm
    assert risk.file["dis"] == Fraction(2, 2 + 2 * 3)
    assert risk.estimated
    assert "(estimated by a model)" in risk.sentences()[1]


def test_a_larger_population_is_in_the_way_of_strategy_2_only():
    risk = assess_matching(keys_of([[1, 1], [2, 2]], fraction="1/2"), population_size=40)
    assert risk["2"].pr_cm == pytest.approx(2 / 40)
    assert risk["3"].pr_cm == pytest.approx(2 / 4)
    assert risk["3"].cost_with == pytest.approx(10)


def test_weights_and_fraction_agree_where_weights_are_equal():
    rows = [[1, 1], [1, 2], [2, 1], [2, 1]]
    coded = coded_from_codes(rows, ["a", "b"], numbers={"weight": [4.0] * 4})
    weighted = assess_matching(count_keys(coded, ["a", "b"], weight="weight"))
    by_fraction = assess_matching(count_keys(coded, ["a", "b"], fraction="1/4"))
    assert weighted.provenance.variant == "negative binomial from weights"
    for one, other in zip(weighted.values, by_fraction.values, strict=True):
        for part in PARTS:
            assert getattr(one, part) == pytest.approx(getattr(other, part))


def test_a_complete_sample_is_estimated_as_itself():
    rows = [[1, 1], [1, 2], [2, 1], [2, 1]]
    complete = keys_of(rows, fraction=1)
    known = assess_matching(complete, population=complete)
    estimated = assess_matching(complete)
    for one, other in zip(known.values, estimated.values, strict=True):
        for part in PARTS:
            assert float(getattr(one, part)) == pytest.approx(getattr(other, part))
    assert estimated.file["pr_pu"] == pytest.approx(0.5)


@settings(max_examples=8, deadline=None)
@given(samples())
def test_what_is_proved_holds_and_is_told(drawn):
    people, chosen = drawn
    sample, population = tables(people, chosen)
    risk = assess_matching(sample, population=population)
    proved = {
        (line.higher, line.lower)
        for line in risk.dominance
        if line.proved and line.measure is Measure.PR_CM
    }
    feasible = {value.name for value in risk.values if value.feasible}
    for pair in (("3", "2"), ("4", "5"), ("6,r=2", "7,r=2")):
        assert (pair in proved) == (set(pair) <= feasible)
    assert "3 over 2" in " ".join(risk.sentences())
    assert "6,r=1 over 4" not in " ".join(risk.sentences())
    table = risk.dominance_table().to_arrow()
    assert table.num_rows == len(risk.dominance)


def test_the_table_and_the_words():
    rows = [[1, 1], [1, 2], [1, 2]]
    risk = assess_matching(keys_of(rows), population=keys_of([*rows, [2, 2]]), r=[5])
    table = risk.to_arrow()
    lines = {line["strategy"]: line for line in table.to_pylist()}
    assert lines["6,r=5"]["feasible"] is False
    assert lines["6,r=5"]["pr_cm"] is None
    assert lines["6,r=5"]["in_words"].endswith("there is no target.")
    assert lines["4"]["in_words"] == (
        "Strategy 4, pick a sample unique at random and search the population for its match: "
        "correct with probability 1, after a search of 2.5 people on average (4 people if anybody may "
        "be met again)."
    )
    assert lines["2"]["cost_without"] == 1
    assert risk.summary()["most_probable"] == "4"
    assert risk.summary()["feasible"] == 5
    assert math.isclose(risk.summary()["cost_without"], 2.5)


def test_the_plot_has_a_point_per_feasible_strategy_and_cost():
    rows = [[1, 1], [1, 2], [1, 2]]
    risk = assess_matching(keys_of(rows), population=keys_of([*rows, [2, 2]]), r=[5])
    panels = risk.plot().axes
    assert len(panels) == 2
    for panel, cost in zip(panels, ("cost_without", "cost_with"), strict=True):
        assert panel.get_xscale() == "log"
        points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in panel.lines]
        assert sorted(points) == sorted(
            (float(getattr(value, cost)), float(value.pr_cm))
            for value in risk.values
            if value.feasible
        )


def test_a_condition_that_no_class_meets_is_infeasible_when_estimated():
    cells = EstimatedCells.of(np.array([1, 2]), np.array([0.5, 0.5]), 6.0)
    found = estimate_strategies(cells, custom_strategies({"none": lambda f, n: f > 9}))
    assert [value.feasible for value in found] == [False, False]


def test_a_population_that_is_not_counted_says_what_to_call():
    people = pd.DataFrame({"age": [1, 1, 2, 2, 2, 3]})
    sample = gk.count_keys(gk.code_frame(people[:4]), ["age"])
    for whoever in (people, pl.from_pandas(people), "people.csv", gk.code_frame(people)):
        with pytest.raises(
            InputError, match=r"gk\.count_keys\(gk\.code_frame\(frame\), keys\)"
        ) as told:
            assess_matching(sample, population=whoever)
        assert not told.value.problems
    whole = gk.count_keys(gk.code_frame(people), ["age"])
    assert assess_matching(sample, population=whole).n_people == 6


def test_an_estimate_without_sample_uniques_says_that_these_are_lacking():
    table = count_keys(coded_from_codes([[1], [1], [2], [2]], ["a"]), ["a"], fraction="1/10")
    told = assess_matching(table).file.sentences()
    assert told[0] == "Pr(PU) is not known: there is no sample unique."
