from __future__ import annotations

import hashlib
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.data.people import Chances, Draws, anchored, band_of, crossed, listed
from gamekeeper.data.population import (
    CATEGORIES,
    HOUSEHOLD,
    WEIGHT,
    make_population,
    sample_population,
)
from gamekeeper.errors import InputError, Reason
from tests.given.cases import cases

OF_A_HOUSEHOLD = (
    "Place of residence",
    "Tenure",
    "Dwelling type",
    "Household size",
    "Number of cars",
)
AT_WORK = range(5)


def codes(table, name):
    return table[name].combine_chunks().indices.to_numpy().astype(np.int64)


def code_of(name, label):
    return CATEGORIES[name].index(label)


def homes(table):
    """Return for each person the position of the household, from 0."""
    return table[HOUSEHOLD].to_numpy() - 1


@pytest.fixture(scope="module")
def norland():
    return make_population(200_000)


@pytest.mark.slow
def test_one_seed_gives_one_population(norland):
    assert make_population(200_000).equals(norland)
    assert make_population(3_000, seed=1).equals(make_population(3_000, seed=1))
    assert not make_population(3_000, seed=1).equals(make_population(3_000, seed=2))


def test_the_population_is_the_same_everywhere():
    people = make_population(30_000, seed=7, missing=0.1)
    seen = hashlib.sha256(people[HOUSEHOLD].to_numpy().astype("<i8").tobytes())
    for name in CATEGORIES:
        column = people[name].combine_chunks().indices.fill_null(-1)
        seen.update(column.to_numpy().astype("<i1").tobytes())
    # Written down once; it changes only where the tables or the order of the draws change.
    assert seen.hexdigest()[:16] == "c03337fe25940422"


@pytest.mark.parametrize("n_people", [1, 2, 17, 5_000])
def test_any_size(n_people):
    people = make_population(n_people)
    assert people.num_rows == n_people
    assert people.column_names == [HOUSEHOLD, *CATEGORIES]
    assert people[HOUSEHOLD].type == pa.int64()
    for name, labels in CATEGORIES.items():
        assert people[name].type == pa.dictionary(pa.int8(), pa.string())
        assert people[name].null_count == 0
        assert codes(people, name).min() >= 0
        assert codes(people, name).max() < len(labels)


def test_a_person_takes_few_bytes(norland):
    assert norland.nbytes < 30 * norland.num_rows


def check_households(people):
    number = homes(people)
    assert number[0] == 0
    assert set(np.diff(number)) <= {0, 1}
    size = np.bincount(number)[number]
    assert (codes(people, "Household size") == np.minimum(size, 8) - 1).all()
    age = codes(people, "Age")
    grown_up = np.zeros(number[-1] + 1, dtype=bool)
    grown_up[number[age >= 16]] = True
    assert grown_up.all()


@pytest.mark.parametrize("seed", [0, 1, 2026])
def test_households_are_whole_at_every_size(seed):
    for n_people in range(1, 90):
        people = make_population(n_people, seed=seed)
        assert people.num_rows == n_people
        check_households(people)
        check_parents(people)


def test_all_households_but_the_last_are_the_same_at_every_size(norland):
    for n_people in (1, 2, 3, 9, 100, 7_777, 19_000, 21_000, 60_000):
        people = make_population(n_people)
        whole = int((homes(people) < homes(people)[-1]).sum())
        assert people.slice(0, whole).equals(norland.slice(0, whole))


def test_households_are_whole(norland):
    check_households(norland)


def test_who_lives_together_shares_a_home(norland):
    number = homes(norland)
    first = np.searchsorted(number, number)
    for name in OF_A_HOUSEHOLD:
        column = codes(norland, name)
        assert (column == column[first]).all(), name


def test_children_are_children(norland):
    child = codes(norland, "Age") < 16
    only = {
        "Marital status": "never married",
        "Economic activity": "under 16",
        "Occupation": "not in work",
        "Highest qualification": "still at school",
        "Travel to work": "not in work",
        "Income": "0-4999",
        "Dependent children": "0",
    }
    for name, label in only.items():
        assert (codes(norland, name)[child] == code_of(name, label)).all(), name
    under_16 = codes(norland, "Economic activity") == code_of("Economic activity", "under 16")
    assert (under_16 == child).all()
    schooling = codes(norland, "Highest qualification") == 0
    assert codes(norland, "Age")[schooling].max() < 21


def test_who_does_not_work_has_no_occupation_and_no_way_to_work(norland):
    works = np.isin(codes(norland, "Economic activity"), AT_WORK)
    for name in ("Occupation", "Travel to work"):
        assert ((codes(norland, name) != code_of(name, "not in work")) == works).all()
    drives = codes(norland, "Travel to work") == code_of("Travel to work", "car as driver")
    assert codes(norland, "Age")[drives].min() == 17


def check_parents(people):
    """Check what parents say against who is at home; return the ages of parents and children."""
    number, age = homes(people), codes(people, "Age")
    stated = codes(people, "Dependent children")
    parents, minors = stated > 0, age < 18
    n_homes = number[-1] + 1
    n_parents = np.bincount(number[parents], minlength=n_homes)
    n_minors = np.bincount(number[minors], minlength=n_homes)
    assert n_parents.max(initial=0) <= 2
    # Where nobody has dependants, a minor has a home of their own or shares one.
    assert (age[minors & (n_parents[number] == 0)] >= 16).all()
    assert (stated[parents] == np.minimum(n_minors[number[parents]], 5)).all()
    youngest, oldest = np.full(n_homes, 200), np.full(n_homes, -1)
    np.minimum.at(youngest, number[minors], age[minors])
    np.maximum.at(oldest, number[minors], age[minors])
    at = number[parents]
    assert (age[parents] - oldest[at] >= 18).all()
    assert (age[parents] - youngest[at] <= 45).all()


def test_parents_are_18_to_45_years_older_than_their_children(norland):
    check_parents(norland)


def couples_with_children(people):
    """Return the positions of both parents where a child has two at home."""
    number = homes(people)
    parents = np.flatnonzero(codes(people, "Dependent children") > 0)
    together = np.flatnonzero(np.diff(number[parents]) == 0)
    return parents[together], parents[together + 1]


def test_a_couple_is_married_together_or_not_at_all(norland):
    one, other = couples_with_children(norland)
    status = codes(norland, "Marital status")
    legal = (1, 2)
    assert len(one) > 10_000
    apart = np.isin(status[one], legal) != np.isin(status[other], legal)
    assert not apart.any()
    both = np.isin(status[one], legal)
    assert (status[one] == status[other])[both].all()
    assert 0.5 < both.mean() < 0.95


def test_couples_are_alike(norland):
    one, other = couples_with_children(norland)
    age = codes(norland, "Age")
    assert np.corrcoef(age[one], age[other])[0, 1] > 0.85
    for name, least in (("Ethnic group", 0.85), ("Religion", 0.7)):
        column = codes(norland, name)
        alike = (column[one] == column[other]).mean()
        by_chance = ((np.bincount(column) / len(column)) ** 2).sum()
        assert least < alike < 0.99
        assert alike > by_chance + 0.2
    education = codes(norland, "Highest qualification")
    assert np.corrcoef(education[one], education[other])[0, 1] > 0.1
    same_sex = (codes(norland, "Sex")[one] == codes(norland, "Sex")[other]).mean()
    assert 0 < same_sex < 0.03


def test_there_are_rare_people(norland):
    age, status = codes(norland, "Age"), codes(norland, "Marital status")
    young = (age == 16) | (age == 17)
    widowed = young & (status == code_of("Marital status", "widowed"))
    assert 1 <= widowed.sum() <= 0.01 * young.sum()
    for name, labels in CATEGORIES.items():
        assert (np.bincount(codes(norland, name), minlength=len(labels)) > 0).all(), name


def association(one, other):
    """Return Cramér's V of two columns of codes, corrected for chance."""
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    rows, columns = table.shape
    chi = max(((table - expected) ** 2 / expected).sum() / n - (rows - 1) * (columns - 1) / n, 0)
    return math.sqrt(chi / (min(rows, columns) - 1))


ASSOCIATED = [
    ("Age", "Marital status", 0.35),
    ("Age", "Economic activity", 0.35),
    ("Age", "General health", 0.2),
    ("Age", "Household size", 0.15),
    ("Age", "Tenure", 0.15),
    ("Sex", "Economic activity", 0.2),
    ("Sex", "Occupation", 0.25),
    ("Sex", "Marital status", 0.08),
    ("Highest qualification", "Occupation", 0.2),
    ("Economic activity", "Occupation", 0.25),
    ("Occupation", "Income", 0.15),
    ("Economic activity", "Income", 0.2),
    ("General health", "Economic activity", 0.15),
    ("Country of birth", "Ethnic group", 0.5),
    ("Ethnic group", "Religion", 0.25),
    ("Place of residence", "Ethnic group", 0.25),
    ("Place of residence", "Country of birth", 0.25),
    ("Place of residence", "Dwelling type", 0.15),
    ("Place of residence", "Travel to work", 0.1),
    ("Place of residence", "Highest qualification", 0.035),
    ("Tenure", "Dwelling type", 0.15),
    ("Household size", "Dwelling type", 0.09),
    ("Household size", "Number of cars", 0.15),
    ("Number of cars", "Travel to work", 0.1),
]


@pytest.mark.parametrize(("one", "other", "least"), ASSOCIATED)
def test_variables_hang_together(norland, one, other, least):
    first, second = codes(norland, one), codes(norland, other)
    shuffled = second[np.random.PCG64(1).random_raw(len(second)).argsort()]
    found = association(first, second)
    assert least < found < 0.98
    assert association(first, shuffled) < 0.02


def test_values_are_missing_at_the_share_asked_for():
    whole, gappy = make_population(40_000), make_population(40_000, missing=0.05)
    assert gappy[HOUSEHOLD].equals(whole[HOUSEHOLD])
    for name in CATEGORIES:
        share = gappy[name].null_count / 40_000
        assert abs(share - 0.05) < 5 * math.sqrt(0.05 * 0.95 / 40_000), name
        kept = gappy[name].is_valid()
        assert gappy[name].filter(kept).equals(whole[name].filter(kept)), name


def test_bad_options_are_told_at_once():
    with pytest.raises(InputError) as caught:
        make_population(0, seed=-1, missing=1.0)
    assert caught.value.reason == Reason.BAD_OPTION
    assert [problem.where for problem in caught.value.problems] == ["n_people", "seed", "missing"]
    for bad in (1.5, "12", None):
        with pytest.raises(InputError):
            make_population(bad)
    for bad in (-0.1, float("nan"), "a"):
        with pytest.raises(InputError):
            make_population(10, missing=bad)


@cases(25)
@given(
    table=st.integers(1, 6).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 1 << 20), min_size=width, max_size=width).filter(any),
            min_size=1,
            max_size=5,
        )
    ),
    seed=st.integers(0, 99),
)
def test_a_draw_is_what_its_definition_says(table, seed):
    rows = np.arange(200, dtype=np.int64) % len(table)
    drawn = Chances(np.array(table, dtype=np.int64)).draw(Draws(seed, 3), rows)
    numbers = Draws(seed, 3).raw(200)
    for row, number, outcome in zip(rows, numbers, drawn, strict=True):
        reached = np.cumsum(table[row])
        limits = [int(sum_) * 2**32 // int(reached[-1]) for sum_ in reached]
        assert outcome == next(k for k, limit in enumerate(limits) if number < limit)
        assert table[row][outcome] > 0


def test_draws_follow_the_weights():
    drawn = Chances(np.array([[1, 0, 3], [5, 5, 0]])).draw(
        Draws(5, 0), np.repeat(np.arange(2), 40_000)
    )
    first, second = Counter(drawn[:40_000].tolist()), Counter(drawn[40_000:].tolist())
    assert set(first) == {0, 2}
    assert set(second) == {0, 1}
    assert abs(first[0] - 10_000) < 450
    assert abs(second[0] - 20_000) < 500


def test_streams_differ_and_do_not_depend_on_their_lengths():
    draws = Draws(1, 0)
    first, second = draws.raw(50), draws.raw(50)
    assert not (first == second).any()
    assert (Draws(1, 0).raw(10) == first[:10]).all()
    assert not (Draws(1, 1).raw(50) == first).any()
    assert not (Draws(2, 0).raw(50) == first).any()
    below = draws.below(np.full(3_000, 7))
    assert sorted(set(below.tolist())) == list(range(7))
    assert not draws.happens(np.zeros(500, dtype=np.int64)).any()
    assert draws.happens(np.full(500, 1000)).all()


@pytest.mark.parametrize(
    ("file", "table", "variable"),
    [
        ("districts", "districts", "Place of residence"),
        ("origins", "broad groups", "Ethnic group"),
        ("origins", "births", "Ethnic group"),
        ("origins", "religions", "Ethnic group"),
        ("work", "levels", "Highest qualification"),
        ("work", "pension", "Highest qualification"),
        ("work", "pay", "Occupation"),
        ("work", "part of pay", "Economic activity"),
        ("work", "without pay", "Economic activity"),
    ],
)
def test_tables_name_categories_in_the_order_of_their_codes(file, table, variable):
    assert tuple(listed(file)[table]["rows"]) == CATEGORIES[variable]


def test_weights_that_cannot_be_drawn_from_are_refused():
    for bad in ([[0, 0]], [[1, -1, 3]], [[1 << 31]]):
        with pytest.raises(AssertionError):
            Chances(np.array(bad, dtype=np.int64))


def test_lines_bands_and_products():
    assert anchored({0: 0, 2: 10, 3: 4}, 6).tolist() == [0, 5, 10, 4, 0, 0]
    assert band_of(np.array([0, 17, 18, 64, 65, 99]), 18, 65).tolist() == [0, 0, 1, 1, 2, 2]
    one, other = np.array([[2, 3]]), np.array([[1, 1], [5, 7]])
    assert crossed(one, other).tolist() == [[2, 3], [10, 21]]


def counts(table, name):
    return Counter(table[name].to_pylist())


@pytest.mark.parametrize("fraction", [0.02, "5%", Fraction(1, 3), 1, 1.0])
def test_a_simple_sample(norland, fraction):
    people = norland.slice(0, 10_001)
    sample = sample_population(people, fraction, seed=3)
    exact = Fraction(str(fraction)) if fraction != "5%" else Fraction(1, 20)
    assert sample.num_rows == math.floor(10_001 * exact + Fraction(1, 2))
    assert sample.column_names == [*people.column_names, WEIGHT]
    assert sum(sample[WEIGHT].to_pylist()) == pytest.approx(10_001, rel=1e-12)
    assert len(set(sample[WEIGHT].to_pylist())) == 1


@pytest.mark.parametrize("variable", ["Place of residence", "Sex", HOUSEHOLD, "Age"])
def test_a_stratified_sample(norland, variable):
    people = norland.slice(0, 20_000)
    sample = sample_population(people, 0.02, seed=3, stratify_by=variable)
    whole, taken = counts(people, variable), counts(sample, variable)
    assert set(whole) == set(taken)
    sums = Counter()
    for stratum, weight in zip(
        sample[variable].to_pylist(), sample[WEIGHT].to_pylist(), strict=True
    ):
        sums[stratum] += weight
    for stratum, size in whole.items():
        exact = size * Fraction(1, 50)
        assert taken[stratum] in {1, math.floor(exact), math.ceil(exact)}
        assert taken[stratum] > 1 or exact < 2
        assert sums[stratum] == pytest.approx(size, rel=1e-12)
    if all(size >= 50 for size in whole.values()):
        assert sample.num_rows == 400


def test_a_sample_is_in_file_order_without_repeats():
    people = pa.table({"person": range(5_000), "half": [n % 2 for n in range(5_000)]})
    for stratify_by in ("", "half"):
        chosen = sample_population(people, 0.3, seed=0, stratify_by=stratify_by)["person"]
        assert (np.diff(chosen.to_numpy()) > 0).all()
        assert len(chosen) == 1_500
    # Written down once, like the digest of the population.
    assert sum(chosen.to_pylist()) == 3_797_192
    again = sample_population(people, 0.3, seed=0, stratify_by="half")["person"]
    assert again.equals(chosen)
    assert not sample_population(people, 0.3, seed=1, stratify_by="half")["person"].equals(chosen)


def test_everyone_is_sampled_as_often():
    people = pa.table({"person": range(20), "stratum": [0] * 12 + [1] * 8})
    for stratify_by in ("", "stratum"):
        often = Counter(
            person
            for seed in range(600)
            for person in sample_population(people, 0.25, seed=seed, stratify_by=stratify_by)[
                "person"
            ].to_pylist()
        )
        assert sum(often.values()) == 3_000
        assert all(abs(often[person] - 150) < 5 * math.sqrt(150 * 0.75) for person in range(20))


def test_a_table_in_parts_gives_the_same_sample():
    whole = make_population(2_000, missing=0.05)
    parts = pa.concat_tables([whole.slice(0, 700), whole.slice(700, 3), whole.slice(703)])
    one, other = (
        sample_population(table, 0.1, seed=4, stratify_by="Tenure") for table in (whole, parts)
    )
    assert one.to_pylist() == other.to_pylist()


def test_missing_values_are_a_stratum():
    people = make_population(6_000, missing=0.1)
    sample = sample_population(people, 0.1, seed=1, stratify_by="Sex")
    whole, taken = counts(people, "Sex"), counts(sample, "Sex")
    assert whole[None] > 400
    assert all(abs(taken[sex] - size / 10) < 1 for sex, size in whole.items())


@cases(25)
@given(
    strata=st.lists(st.integers(0, 5), min_size=1, max_size=60),
    fraction=st.fractions(Fraction(1, 50), 1, max_denominator=50),
    seed=st.integers(0, 9),
)
def test_strata_give_their_share(strata, fraction, seed):
    people = pa.table({"stratum": strata})
    sample = sample_population(people, fraction, seed=seed, stratify_by="stratum")
    taken = counts(sample, "stratum")
    exact = {stratum: size * fraction for stratum, size in Counter(strata).items()}
    for stratum, share in exact.items():
        assert max(1, math.floor(share)) <= taken[stratum] <= max(1, math.ceil(share))
    if all(share >= 1 for share in exact.values()):
        assert sample.num_rows == math.floor(len(strata) * fraction + Fraction(1, 2))


def test_a_sample_that_cannot_be_drawn():
    people = pa.table({"Sex": ["canary"] * 5, WEIGHT: [1.0] * 5})
    with pytest.raises(InputError) as caught:
        sample_population(people, 0, seed=-1, stratify_by="sxe")
    reasons = [problem.reason for problem in caught.value.problems]
    assert reasons == [
        Reason.BAD_OPTION,
        Reason.BAD_OPTION,
        Reason.UNKNOWN_NAME,
        Reason.DUPLICATE,
    ]
    assert "'Sex'" in str(caught.value)
    assert "canary" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        sample_population(people.select(["Sex"]).slice(0, 0), 0.5, seed=1)
    assert caught.value.reason == Reason.NOTHING_GIVEN


@pytest.mark.parametrize(
    "fraction", [0, -0.5, 1.01, "x", "1/0", float("nan"), float("inf"), "1e-99999", None, "%"]
)
def test_a_fraction_outside_0_to_1(fraction):
    with pytest.raises(InputError) as caught:
        sample_population(make_population(10), fraction, seed=1)
    assert caught.value.reason == Reason.BAD_OPTION
