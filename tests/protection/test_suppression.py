"""Suppression as a step: what it does to a file, and what it refuses."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gamekeeper.attack.measures import measure_risk
from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.data.keys.counting import count_keys
from gamekeeper.errors import InputError
from gamekeeper.prompt_syntax import Missing
from gamekeeper.protection.attacking.attacks import sides_of
from gamekeeper.protection.recipe import read_step
from gamekeeper.protection.step import NotReachableError, Setting
from gamekeeper.protection.suppression import Suppress

KEYS = ("age", "sex", "job")
SETTING = Setting(keys=KEYS)


def people(n: int = 60, seed: int = 0, **numbers):
    random = np.random.default_rng(seed)
    codes = np.column_stack(
        [
            random.integers(0, 6, n),
            random.integers(1, 3, n),
            random.integers(1, 4, n),
            random.integers(1, 3, n),
        ]
    )
    return coded_from_codes(codes, (*KEYS, "born"), numbers=numbers or None)


def attacked(table, made, setting=SETTING):
    return sides_of(table, made.table, made.log, setting).count()


@pytest.mark.parametrize("missing", [Missing.CATEGORY, Missing.IGNORE, Missing.WILDCARD])
@pytest.mark.parametrize("criterion", ["both", "released_to_people", "own"])
def test_what_was_asked_is_counted_anew_from_the_protected_codes(criterion, missing):
    table = people()
    setting = Setting(keys=KEYS, missing=missing)
    made = Suppress(k=3, criterion=criterion).apply(table, setting)
    found = attacked(table, made, setting)
    assert found.released_to_people.min() >= 3
    if criterion != "released_to_people":
        assert found.people_to_released.min() >= 3
    if criterion == "own" and missing is Missing.CATEGORY:
        assert found.own.min() >= 3
    assert made.found["lower_bound"] <= made.found["cost"]
    before, after = table.matrix(), made.table.matrix()
    changed = before != after
    assert (after[changed] == 0).all()
    assert changed.sum() == made.log.n_suppressed == made.found["cells"]
    assert (after[:, 3] == before[:, 3]).all()


def test_pinned_and_dear_variables():
    table = people()
    made = Suppress(k=3, pinned=("sex",), costs={"job": 50}).apply(table, SETTING)
    assert (made.table.codes("sex") == table.codes("sex")).all()
    plain = Suppress(k=3).apply(table, SETTING)
    assert made.log.suppressed("job").sum() <= plain.log.suppressed("job").sum()
    with pytest.raises(NotReachableError, match="cannot be helped"):
        Suppress(k=3, pinned=KEYS).apply(table, SETTING)


def test_costs_where_no_cell_may_be_suppressed_that_helps():
    made = Suppress(k=3, pinned=("age", "sex"), costs={"job": 3}, criterion="own", partial=True)
    found = made.apply(coded_from_codes([[1, 1, 1], [2, 2, 2], [3, 1, 3]], KEYS), SETTING)
    assert found.log.n_suppressed == 0
    assert "3 records cannot be helped" in " ".join(found.told)


def test_related_columns_follow():
    table = people()
    made = Suppress(k=3, related={"born": "age"}).apply(table, SETTING)
    stars = made.log.suppressed("age")
    assert stars.any()
    assert (made.table.codes("born")[stars] == 0).all()
    assert (made.table.codes("born")[~stars] == table.codes("born")[~stars]).all()
    assert made.log.suppressed("born").tolist() == stars.tolist()


def test_a_household_has_one_cell_for_all_its_members():
    random = np.random.default_rng(3)
    home = np.repeat(np.arange(1, 41), 2)
    region = random.integers(1, 12, 40)[home - 1]
    codes = np.column_stack([random.integers(1, 4, 80), region, home])
    table = coded_from_codes(codes, ("age", "region", "home"))
    setting = Setting(keys=("age", "region"), household="home")
    made = Suppress(k=3).apply(table, setting)
    after = made.table.matrix(("region", "home"))
    for number in range(1, 41):
        assert len(set(after[after[:, 1] == number, 0].tolist())) == 1
    found = attacked(table, made, setting)
    assert found.both >= 3
    homes = np.unique(after, axis=0)
    kept = homes[homes[:, 0] > 0, 0]
    assert all((region[::1][np.unique(home, return_index=True)[1]] == r).sum() >= 3 for r in kept)
    assert any("in common" in text for text in made.told)


@pytest.mark.parametrize("criterion", ["both", "own", "released_to_people"])
@pytest.mark.parametrize("seed", range(6))
def test_persons_of_households_can_always_be_helped(criterion, seed):
    random = np.random.default_rng(seed)
    home = np.repeat(np.arange(1, 61), 2)
    of_home = random.integers(1, 5, (60, 3))[home - 1]
    codes = np.column_stack([random.integers(1, 9, 120), of_home, home])
    table = coded_from_codes(codes, ("age", "a", "b", "c", "home"))
    setting = Setting(keys=("age", "a", "b", "c"), household="home")
    made = Suppress(k=3, criterion=criterion).apply(table, setting)
    found = attacked(table, made, setting)
    assert found.released_to_people.min() >= 3
    if criterion != "released_to_people":
        assert found.both >= 3
    if criterion == "own":
        assert found.own.min() >= 3
    for name in ("a", "b", "c"):
        stars = made.log.suppressed(name)
        assert all(len(set(stars[home == number])) == 1 for number in range(1, 61))


@pytest.mark.parametrize("asked", [{"dimension": 1}, {"max_is": 1_000_000}])
def test_what_is_proven_with_households_is_of_what_is_asked(asked):
    # Every combination is there once, and every value twice: nothing needs to be suppressed.
    table = coded_from_codes([[1, 1, 1], [2, 2, 1], [1, 2, 2], [2, 1, 2]], ["age", "sex", "home"])
    setting = Setting(keys=("age", "sex"), household="home")
    made = Suppress(criterion="released_to_people", k=2, **asked).apply(table, setting)
    assert made.found["cells"] == made.found["lower_bound"] == made.found["gap"] == 0
    assert made.found["optimal"]
    assert "not protected as such" in made.told[1]


def test_households_whose_members_differ_are_refused():
    table = coded_from_codes(
        [[1, 1, 1], [1, 2, 1], [1, 1, 2], [1, 1, 2]], ("age", "region", "home")
    )
    setting = Setting(keys=("age", "region"), household="home")
    with pytest.raises(InputError, match="conflicting values") as error:
        Suppress(k=2, household_variables=("region",)).apply(table, setting)
    assert "1 household" in error.value.problems[0].found


def test_strata_are_compared_and_never_suppressed():
    random = np.random.default_rng(5)
    codes = np.column_stack(
        [random.integers(1, 9, 90), random.integers(1, 4, 90), random.integers(1, 4, 90)]
    )
    table = coded_from_codes(codes, ("age", "sex", "area"))
    setting = Setting(keys=("age", "sex"), strata="area")
    made = Suppress(k=3, criterion="released_to_people").apply(table, setting)
    within = Setting(keys=("age", "sex", "area"))
    assert attacked(table, made, within).released_to_people.min() >= 3
    assert (made.table.codes("area") == table.codes("area")).all()


def test_weights_count_people_or_cost():
    weights = np.random.default_rng(1).uniform(1, 20, 60)
    table = people(w=weights)
    setting = Setting(keys=KEYS, weight="w")
    made = Suppress(k=60, criterion="released_to_people", population=True).apply(table, setting)
    sides = sides_of(table, made.table, made.log, setting)
    stars = sides.suppressed
    for row in range(60):
        fits = [
            all(
                stars[row] >> c & 1 or sides.people[i, c] == sides.released[row, c]
                for c in range(3)
            )
            for i in range(60)
        ]
        assert weights[fits].sum() >= 60
    dear = Suppress(k=3, criterion="released_to_people", weighted=True).apply(table, setting)
    cells = sum(dear.log.suppressed(name) & (table.codes(name) > 0) for name in KEYS)
    assert dear.found["cost"] == pytest.approx(float((cells * weights).sum()))


def n_fitting(table, made, record, names):
    """How many people agree with a released record where it is not suppressed."""
    people, row = table.matrix(list(names)), made.table.matrix(list(names))[record]
    return int(((people == row) | (row == 0)).all(axis=1).sum())


def test_records_above_a_threshold_only():
    table = people(200, seed=2)
    step = Suppress(k=2, criterion="released_to_people", above="is>0")
    whole = Suppress(k=2, criterion="released_to_people").apply(table, SETTING)
    assert step.apply(table, SETTING).log.n_suppressed == whole.log.n_suppressed
    with pytest.raises(InputError, match="no such measure"):
        Suppress(k=2, criterion="released_to_people", above="luck>1").apply(table, SETTING)


def test_a_threshold_of_any_measure_per_record():
    # People of rare keys weigh little, so that their risk is high whatever the size of their class.
    table = people(200, seed=2)
    weights = np.where(table.codes("age") == 1, 1.5, 60.0)
    table = people(200, seed=2, w=weights)
    setting = Setting(keys=KEYS, weight="w")
    measured = measure_risk(count_keys(table, KEYS, weight="w")).records.to_arrow()
    risk = measured["individual_risk"].to_numpy()
    made = Suppress(k=9, criterion="released_to_people", above="individual_risk>5%").apply(
        table, setting
    )
    stars = (made.table.matrix(list(KEYS)) != table.matrix(list(KEYS))).any(axis=1)
    assert 0 < (risk > 0.05).sum() < 200
    assert stars.any()
    assert not stars[risk <= 0.05].any()
    for record in np.flatnonzero(risk > 0.05):
        assert n_fitting(table, made, record, KEYS) >= 9


def test_combinations_up_to_a_dimension_with_thresholds():
    table = people(80, seed=4)
    step = Suppress(k=4, criterion="released_to_people", dimension=2, thresholds=(15,))
    made = step.apply(table, SETTING)
    before, after = table.matrix(list(KEYS)), made.table.matrix(list(KEYS))
    assert made.log.n_suppressed
    for row, true in zip(after, before, strict=True):
        for size, least in ((1, 15), (2, 4)):
            for columns in map(list, combinations(range(3), size)):
                if (row[columns] == true[columns]).all() and (true[columns] > 0).all():
                    assert (before[:, columns] == row[columns]).all(axis=1).sum() >= least
    assert "15 people for 1 variable and 4 for more" in made.told[0]


def test_several_keys_are_protected_at_once():
    table = people(60, seed=4)
    keys = (("age", "sex"), ("sex", "job"))
    step = Suppress(k=9, criterion="released_to_people", several=tuple(map(",".join, keys)))
    made = step.apply(table, SETTING)
    assert made.log.n_suppressed
    for key in keys:
        assert min(n_fitting(table, made, record, key) for record in range(60)) >= 9
    whole = Suppress(k=9, criterion="released_to_people").apply(table, SETTING)
    assert made.log.n_suppressed < whole.log.n_suppressed


def test_scores_above_nothing_are_uniques():
    table = people(120, seed=4)
    score = Suppress(criterion="released_to_people", max_is=0).apply(table, SETTING)
    two = Suppress(k=2, criterion="released_to_people").apply(table, SETTING)
    assert score.log.n_suppressed == two.log.n_suppressed > 0


@pytest.mark.parametrize(
    "options",
    [
        {"pinned": ("nobody",)},
        {"costs": {"age": 0.0}},
        {"costs": {"age": 2.0}, "pinned": ("age",)},
        {"related": {"sex": "age"}},
        {"related": {"nothing": "age"}},
        {"k": 61},
        {"criterion": "wildcard"},
        {"criterion": "people_to_released"},
        {"dimension": 2},
        {"population": True, "criterion": "released_to_people"},
        {"weighted": True},
        {"household_variables": ("age",)},
        {"above": "is", "criterion": "released_to_people"},
        {"max_is": 3, "dimension": 2, "criterion": "released_to_people"},
        {"several": ("age,nobody",), "criterion": "released_to_people"},
    ],
)
def test_contradictions_are_one_error_and_nothing_is_changed(options):
    table = people()
    with pytest.raises(InputError) as error:
        Suppress(**options).apply(table, SETTING)
    assert error.value.problems
    assert (table.matrix() == people().matrix()).all()


def test_records_that_are_left_out_are_not_released_unprotected():
    with pytest.raises(InputError, match="cannot be asked"):
        Suppress(k=2).apply(people(), Setting(keys=KEYS, missing=Missing.EXCLUDE))


def test_a_step_is_kept_and_read_again():
    step = Suppress(
        k=4, criterion="own", costs={"age": 2.0}, pinned=("sex",), related={"born": "age"}
    )
    kept = step.to_json()
    assert kept["do"] == "suppress"
    assert read_step(kept) == step
    assert Suppress().to_json() == {"do": "suppress", "criterion": "both", "k": 3}
    for wrong in ({"k": 1}, {"kk": 3}, {"criterion": "nothing"}):
        with pytest.raises(InputError):
            read_step({"do": "suppress", **wrong})


def test_with_identifiers_the_order_of_records_does_not_matter():
    random = np.random.default_rng(8)
    names = np.arange(1, 101)
    codes = np.column_stack(
        [random.integers(1, 7, 100), random.integers(1, 3, 100), random.integers(1, 4, 100), names]
    )
    order = random.permutation(100)
    setting = Setting(keys=KEYS, identifier="id")
    for criterion in ("both", "own", "released_to_people"):
        step = Suppress(k=3, criterion=criterion)
        one = step.apply(coded_from_codes(codes, (*KEYS, "id")), setting).table.matrix()
        other = step.apply(coded_from_codes(codes[order], (*KEYS, "id")), setting).table.matrix()
        assert (one[order] == other).all()


@pytest.mark.parametrize("criterion", ["both", "released_to_people"])
def test_what_costs_prove_is_told_as_a_share_and_not_in_units(criterion):
    made = Suppress(k=4, costs={"age": 7}, criterion=criterion).apply(people(40), SETTING)
    found = made.found
    said = made.told[0]
    if found["optimal"]:
        assert said.endswith("By what cells cost, nothing cheaper does it: proven.")
    else:
        share = 100 * found["lower_bound"] / found["cost"]
        assert f"costs at least {share:.1f}% of that." in said
    assert f"{found['cost']:g};" not in said


def test_what_was_changed_is_told_by_kind():
    made = Suppress(k=2).apply(people(40), SETTING)
    stars = made.log.n_suppressed
    assert made.sentences()[0] == f"{stars} cells are suppressed; no other value was changed."
    coarser = read_step({"do": "recode", "rules": ["sex=together"]}).apply(people(40), SETTING)
    assert (
        coarser.sentences()[0] == "1 variable has coarser categories; no other value was changed."
    )
