"""Matching against counting person by person, with the population known and as models expect it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gamekeeper as gk
from gamekeeper.algorithms.uniques.strategies import Direction, Measure
from gamekeeper.attack.matching import assess_matching, match_classes, rank_attacks
from gamekeeper.attack.models.fitting import fit_models
from gamekeeper.attack.models.inference import infer_risk
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import three_digits
from tests.given.samples import NAMES, counted, two_pairs


def drawn(n=900, share=10, seed=3):
    people = two_pairs(n, seed=seed)
    return people, people[np.random.default_rng(seed).permutation(n)[: n // share]]


def inferred(sample, names=NAMES, **options):
    table = counted(sample, names, fraction="1/10", **options)
    return table, infer_risk(table, fit_models(table, method="annealing"))


def keys_taken(risk, sample, people, top):
    """Return the keys of each attack, chosen one after another."""
    rows = risk.to_arrow().to_pylist()
    of_key = {tuple(key): row for key, row in zip(sample.tolist(), rows, strict=True)}
    f, sizes = (Counter(map(tuple, table.tolist())) for table in (sample, people))
    uniques = [key for key in f if f[key] == 1]
    ranked = sorted(sorted(of_key), key=lambda key: -of_key[key]["p_match"])
    by_size = sorted(sorted(of_key), key=lambda key: of_key[key]["expected_size"])

    def until(cost, most):
        taken, spent = [], 0
        for key in by_size:
            spent += cost(key)
            if spent > most * (1 + 1e-9):
                break
            taken.append(key)
        return taken

    return (
        ranked[:top],
        until(lambda key: sizes[key], sum(sizes[key] for key in uniques)),
        until(
            lambda key: of_key[key]["expected_size"],
            sum(of_key[key]["expected_size"] for key in uniques),
        ),
    )


def reckoned(keys, sample, people, direction):
    """Return the chance of a right match and the mean search, going through persons and records."""
    f, sizes = (Counter(map(tuple, table.tolist())) for table in (sample, people))
    chosen = set(keys)
    if direction is Direction.P2S:
        # Anybody with a chosen key is found, and matched to one of the records of that key.
        targets = [key for key in map(tuple, people.tolist()) if key in chosen]
        return sum(f[key] / sizes[key] / f[key] for key in targets) / len(targets), len(
            people
        ) / len(targets)
    records = [key for key in map(tuple, sample.tolist()) if key in chosen]
    return sum(1 / sizes[key] for key in records) / len(records), sum(
        len(people) / sizes[key] for key in records
    ) / len(records)


@pytest.mark.parametrize("top", [1, 10])
def test_attacks_agree_with_a_plain_reckoning(top):
    people, sample = drawn()
    table, risk = inferred(sample)
    found = rank_attacks(risk, table, counted(people, NAMES), top=top)
    assert len(found.values) == 6
    assert found.n_people == 900
    taken = keys_taken(risk, sample, people, top)
    assert len(taken[0]) == top
    assert all(len(keys) > 1 for keys in taken[1:])
    for value, keys in zip(found.values, [keys for keys in taken for _ in range(2)], strict=True):
        assert value.n_cells == len(keys)
        pr_cm, cost = reckoned(keys, sample, people, value.direction)
        assert float(value.pr_cm) == pytest.approx(pr_cm)
        assert float(value.cost_with) == pytest.approx(cost)
        assert value.feasible
    assert [value.direction for value in found.values] == [Direction.P2S, Direction.S2P] * 3
    rows = found.to_arrow().to_pylist()
    assert [row["pr_cm"] for row in rows] == [float(value.pr_cm) for value in found.values]
    assert found.summary()["pr_cm"] == max(row["pr_cm"] for row in rows)
    assert f"The {top} keys" in found.sentences()[0]
    assert "MCMCMC1" in found.sentences()[2]
    assert "MCMCMC2" in found.sentences()[4]
    assert str(top) == found.provenance.parameters["top"]


def test_attacks_at_matched_cost_find_no_more_people_than_a_search_for_any_unique():
    people, sample = drawn(seed=5)
    table, risk = inferred(sample)
    sizes = Counter(map(tuple, people.tolist()))
    f = Counter(map(tuple, sample.tolist()))
    any_unique = sum(sizes[key] for key in f if f[key] == 1)
    found = rank_attacks(risk, table, counted(people, NAMES)).values[2]
    # From population to sample the search ends, on average, after N / (people with the keys).
    n_found = round(900 / float(found.cost_with))
    assert 0 < n_found <= any_unique
    assert n_found > any_unique / 2


@pytest.mark.slow
def test_uniques_that_are_expected_to_be_the_smallest_are_taken_all_whatever_the_rounding():
    for seed in range(6):
        people = np.unique(two_pairs(300, seed=seed), axis=0)
        common = people[(people[:, 0] == people[:, 1]) & (people[:, 2] == people[:, 3])]
        people = np.concatenate([people, np.repeat(common, np.arange(1, len(common) + 1), axis=0)])
        table, risk = inferred(people)
        rows = risk.to_arrow().to_pylist()
        sizes = [row["expected_size"] for row in rows if row["class_size"] == 1]
        assert max(sizes) < min(row["expected_size"] for row in rows if row["class_size"] > 1)
        assert len(set(sizes)) > 50
        found = rank_attacks(risk, table, counted(people, NAMES))
        assert [value.n_cells for value in found.values[2:]] == [len(sizes)] * 4
        assert all(value.pr_cm == 1 for value in found.values)


def test_words_match_where_codes_differ_and_left_out_records_are_no_targets():
    words = ("missing", "a", "b", "c")
    turned = ("missing", "c", "a", "b")
    sample = np.array([[1, 1], [2, 1], [0, 2], [3, 2], [3, 2]])
    table = counted(sample, "AB", [words, words], missing="exclude", fraction="1/2")
    risk = infer_risk(table, fit_models(table, method="annealing"))
    turn = {0: 0, 1: 2, 2: 3, 3: 1}
    people = [[turn[a], b] for a, b in sample.tolist()] + [[2, 1], [1, 3]]
    population = counted(people, "AB", [turned, words], missing="exclude")
    found = rank_attacks(risk, table, population, top=2)
    # The two uniques rank first: one of two people, and one alone.
    first, second = found.values[:2]
    assert first.n_cells == second.n_cells == 2
    assert float(first.pr_cm) == pytest.approx(2 / 3)
    assert float(second.pr_cm) == pytest.approx(3 / 4)
    assert found.n_people == 6


def test_an_attack_without_a_key_says_so():
    codes = [[1, 1], [1, 1], [2, 1], [2, 1]]
    table, risk = inferred(codes, "AB")
    found = rank_attacks(risk, table, counted(codes, "AB"))
    assert [value.feasible for value in found.values] == [True, True] + [False] * 4
    assert found.values[0].n_cells == 2
    told = found.sentences()
    assert "right with probability 0.5" in told[0]
    assert all("no key can be attacked" in sentence for sentence in told[2:])


def test_one_record_is_found():
    table, risk = inferred([[1, 2]], "AB")
    found = rank_attacks(risk, table, counted([[1, 2], [1, 1]], "AB"))
    assert float(found.values[0].pr_cm) == 1
    assert float(found.values[0].cost_with) == 2


def test_wrong_questions_are_refused():
    people, sample = drawn()
    table, risk = inferred(sample)
    population = counted(people, NAMES)
    with pytest.raises(InputError) as caught:
        rank_attacks(risk, table, population, top=0)
    assert caught.value.reason is Reason.BAD_OPTION
    with pytest.raises(InputError, match="Fit models to these keys"):
        rank_attacks(risk, counted(sample[::-1], NAMES), population)
    with pytest.raises(InputError, match="more records than people"):
        rank_attacks(risk, table, counted(people[:20], NAMES))


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


def values_unit_by_unit(people, chosen, direction, is_used):
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
        expected = values_unit_by_unit(people, chosen, direction, is_used)
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


def test_a_sample_of_no_known_fraction_says_what_to_give():
    with pytest.raises(InputError, match="no weights and no fraction"):
        assess_matching(keys_of([[1, 1], [2, 2]]))


def test_bad_options_are_told_together():
    sample = keys_of([[1, 1], [2, 2]])
    with pytest.raises(InputError) as caught:
        assess_matching(sample, population_size=1)
    assert {problem.where for problem in caught.value.problems} == {"population_size", "population"}
    with pytest.raises(InputError) as caught:
        assess_matching(sample, population=[1, 1])
    assert {problem.where for problem in caught.value.problems} == {"population_size"}
    with pytest.raises(InputError, match="without the people of the sampled classes"):
        assess_matching(keys_of([[1, 1]], fraction="1/2"), population_size=9)
    models = infer_risk(given_pairs(), fit_models(given_pairs(), method="annealing"))
    with pytest.raises(InputError, match="Fit models to these keys"):
        assess_matching(given_pairs(seed=2), models=models)
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
        assess_matching(given_pairs(), models=models, predicates={"odd": lambda f, n: n.sum()})
    with pytest.raises(InputError, match="not among those assessed"):
        assess_matching(sample, population=sample)["9"]


def given_pairs(seed=1, n=1200, fraction="1/10"):
    """Return the keys of a sample of which two variables hang together."""
    rng = np.random.default_rng(seed)
    age = rng.integers(1, 9, n)
    job = np.where(rng.random(n) < 0.7, age, rng.integers(1, 9, n))
    codes = np.column_stack([age, job, rng.integers(1, 9, n), rng.integers(1, 5, n)])
    return count_keys(
        coded_from_codes(codes.tolist(), tuple("abcd")), list("abcd"), fraction=fraction
    )


@pytest.fixture(scope="module")
def paired_risk():
    table = given_pairs()
    return table, infer_risk(table, fit_models(table, method="annealing"))


def test_strategies_are_what_models_expect_of_their_classes(paired_risk):
    """The twin adds up records one by one, from the results per record of `infer_risk`."""
    table, models = paired_risk
    risk = assess_matching(table, models=models, r=[2])
    records = models.records.table.to_pylist()
    n_people, n = 12_000, len(records)
    assert risk.n_people == n_people
    uniques = [row for row in records if row["class_size"] == 1]
    pairs = [row for row in records if row["class_size"] == 2]

    def people(rows):
        return sum(row["expected_size"] / row["class_size"] for row in rows)

    for name, rows in (("1", records), ("4", uniques), ("6,r=2", pairs)):
        right = sum(row["p_match"] for row in rows) / len(rows)
        assert risk[name].pr_cm == pytest.approx(right)
        assert risk[name].cost_with == pytest.approx(n_people * right)
        # E[1/(1+F)] is at least 1/(1+E[F]), by Jensen, and below E[1/F].
        least = sum(1 / (1 + row["expected_size"]) for row in rows) / len(rows)
        assert (n_people + 1) * least <= risk[name].cost_without < (n_people + 1) * right
    for name, rows in (("3", records), ("5", uniques), ("7,r=2", pairs)):
        n_classes = sum(1 / row["class_size"] for row in rows)
        assert risk[name].pr_cm == pytest.approx(n_classes / people(rows))
        assert risk[name].cost_without == pytest.approx((n_people + 1) / (1 + people(rows)))
    assert risk["2"].pr_cm == pytest.approx(table.n_classes / n_people)
    assert risk["2"].cost_with == 1
    file = models.estimate.file
    assert risk.file["pr_cm_given_su"] == file.pr_cm_given_su.value
    assert risk["4"].pr_cm == pytest.approx(file.pr_cm_given_su.value)
    assert risk.file["pr_cm_given_um"] == file.pr_cm_given_um.value
    assert risk["5"].pr_cm == pytest.approx(file.pr_cm_given_um.value)
    assert risk.file["pr_pu_given_su"] == pytest.approx(file.tau1.value / len(uniques))
    assert risk.file["pr_pu"] == pytest.approx(file.tau1.value / n)


def test_models_are_fitted_where_none_are_given_and_their_reservations_are_told(
    paired_risk,
):
    table, models = paired_risk
    for found in (assess_matching(table), assess_matching(table, models=models)):
        assert found.estimated
        assert [float(value.pr_cm) for value in found.values] == [
            float(value.pr_cm) for value in assess_matching(table, models=models).values
        ]
        assert set(models.reservations) <= set(found.sentences())
        assert found.provenance.seed == 0
    unsettled = replace(models, reservations=("The search has not settled.",))
    told = assess_matching(table, models=unsettled).sentences()
    assert "The search has not settled." in told
    file = models.estimate.file.pr_cm_given_su
    ends = f"{three_digits(file.value)} ({three_digits(file.lower)} to {three_digits(file.upper)})"
    assert f"is matched correctly with probability {ends}" in " ".join(told)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_estimates_come_near_the_truth_where_counts_grossed_up_do_not(seed):
    """A population with a few large classes and many small ones, as people are."""
    rng = np.random.default_rng(seed)
    columns = []
    for size, share in ((40, 0.0), (12, 0.6), (9, 0.5), (8, 0.4), (7, 0.0), (3, 0.0)):
        law = 1 / np.arange(1, size + 1)
        own = rng.choice(size, 40_000, p=law / law.sum()) + 1
        before = columns[-1] * 7 % size + 1 if columns else own
        columns.append(np.where(rng.random(40_000) < share, before, own))
    people = np.column_stack(columns)
    sample = people[rng.choice(40_000, 2_000, replace=False)]
    words = [("missing", *map(str, range(1, 41)))] * 6
    tables = [
        count_keys(
            coded_from_codes(rows.tolist(), tuple("abcdef"), words), list("abcdef"), fraction=part
        )
        for rows, part in ((sample, "1/20"), (people, None))
    ]
    found, true = assess_matching(tables[0]), assess_matching(tables[0], population=tables[1])
    for name in ("1", "3", "4", "5"):
        for part in ("pr_cm", "cost_without", "cost_with"):
            value, wanted = (float(getattr(risk[name], part)) for risk in (found, true))
            assert value == pytest.approx(wanted, rel=0.25), (name, part)
    # By the sampling fraction a sample unique stands for 20 people: E[1/F] is 0.16.
    assert float(true["4"].pr_cm) > 2 * 0.16


def test_where_models_have_too_little_to_learn_from_nothing_is_known():
    rows = [[1, 1], [1, 2], [2, 1], [2, 1]]
    coded = coded_from_codes(rows, ["a", "b"], numbers={"weight": [4.0] * 4})
    for table in (
        count_keys(coded, ["a", "b"], weight="weight"),
        count_keys(coded, ["a", "b"], fraction="1/4"),
    ):
        risk = assess_matching(table)
        rows = risk.to_arrow().to_pylist()
        assert [row["strategy"] for row in rows[:2]] == ["1", "2"]
        named = ("strategy", "direction", "target", "in_words")
        assert {row[name] for row in rows for name in row if name not in named} == {None}
        assert all(": not known, because models need 1,000" in row["in_words"] for row in rows)
        assert not risk.dominance_sentences()
        with pytest.raises(InputError, match="nothing to draw"):
            risk.plot()
        assert risk.summary()["pr_cm"] == risk.summary()["cost_without"] == "not known"
        assert risk.sentences()[0] == (
            "What matching would achieve is not known, because models need 1,000 records to learn from,"
            " and the file has 4."
        )
        assert [line.name for line in risk.file.lines] == ["dis"]


def test_a_file_with_everybody_is_its_own_population():
    rows = [[1, 1], [1, 2], [2, 1], [2, 1]]
    complete = keys_of(rows, fraction=1)
    known, alone = assess_matching(complete, population=complete), assess_matching(complete)
    assert alone.to_arrow() == known.to_arrow()
    assert alone.file.lines == known.file.lines
    assert not alone.estimated
    assert alone.file["pr_pu"] == Fraction(1, 2)


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


def test_a_condition_that_no_class_meets_is_infeasible_when_estimated(paired_risk):
    table, models = paired_risk
    risk = assess_matching(table, models=models, predicates={"none": lambda f, n: f > 10**9})
    assert [risk[f"none, {way}"].feasible for way in ("s2p", "p2s")] == [False, False]


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
    rows = [[place % 7 + 1] for place in range(1_400)]
    table = count_keys(coded_from_codes(rows, ["a"]), ["a"], fraction="1/10")
    risk = assess_matching(table)
    assert risk.file.sentences()[0] == "Pr(PU|SU) is not known: there is no sample unique."
    assert not risk["4"].feasible
    assert risk["1"].feasible
