"""Attacks on a release against the definition, and targets held against them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gamekeeper.attack.assessment.policy import Standing
from gamekeeper.data.coding.coded_table import coded_from_codes, replace_cells
from gamekeeper.protection.attacking.attacks import AttackName, attack_file, attacks_for
from gamekeeper.protection.attacking.result import (
    LinkedShare,
    judge_targets,
    link_release,
    targets_sentence,
)
from gamekeeper.protection.recipe import read_step
from gamekeeper.protection.step import ChangeLog, Setting, VariableChange
from gamekeeper.protection.targets import parse_targets
from gamekeeper.wording import percent_text
from tests.twins.who_is_who import counts, matchings

KEYS = ("age", "sex")
SETTING = Setting(keys=KEYS, fraction="1/10")
ROWS = [[3, 1], [4, 1], [5, 2], [5, 2], [6, 2], [6, 1]]


def file():
    return coded_from_codes(ROWS, KEYS)


def protected(**step):
    return read_step({"do": "suppress", "k": 2, **step}).apply(file(), SETTING)


def test_what_is_attacked_is_what_was_protected():
    made = protected()
    found = attack_file(file(), made.table, made.log, SETTING, tuple(AttackName), wildcard=True)
    stars = [
        frozenset(c for c, key in enumerate(KEYS) if made.log.suppressed(key)[row])
        for row in range(len(ROWS))
    ]
    expected = counts(ROWS, stars)
    assert found.candidates.own.tolist() == expected["own"]
    assert found.smallest("both") == min(
        *expected["released_to_people"], *expected["people_to_released"]
    )
    assert found.smallest("wildcard") == min(expected["wildcard"])
    assert found.expected == pytest.approx(float(sum(matchings(ROWS, stars)[1], Fraction(0))))
    assert found.n_approximate == 0
    names = [row["measure"] for row in found.rows()]
    assert {"own", "both", "expected_matches", "linkage", "k_anonymity", "global_risk"} <= set(
        names
    )


def test_before_anything_is_done_a_unique_person_is_found():
    nothing = ChangeLog(len(ROWS))
    found = attack_file(file(), file(), nothing, SETTING, [AttackName.LINKAGE])
    assert found.summary()["one_candidate"] == 4
    assert found.expected == 5
    assert found.linked is not None
    assert found.linked.n_right >= 4
    assert found.sentences()[0] == "4 people fit exactly one released record, of 6."


def test_people_of_a_recoded_file_are_recoded_as_it_was():
    made = read_step({"do": "recode", "rules": ["age=together"]}).apply(file(), SETTING)
    shares = []
    for seed in range(12):
        setting = replace(SETTING, seed=seed)
        found = attack_file(file(), made.table, made.log, setting, [AttackName.LINKAGE])
        assert found.candidates.people_to_released.tolist() == [3, 3, 3, 3, 3, 3]
        assert found.linked is not None
        shares.append(found.linked.share)
    # One of three equal ones is drawn.
    assert 0.15 <= np.mean(shares) <= 0.5


@pytest.mark.parametrize("response_knowledge", [True, False])
def test_of_a_sample_those_who_are_in_it_are_looked_for(response_knowledge):
    setting = Setting(keys=KEYS, response_knowledge=response_knowledge, seed=1)
    made = read_step({"do": "sample", "fraction": 0.5}).apply(file(), setting)
    found = attack_file(file(), made.table, made.log, setting, [AttackName.LINKAGE])
    left = [ROWS[place] for place in made.log.records]
    assert found.n_people == found.n_rows == len(left) == 3
    assert found.candidates.people_to_released.tolist() == [left.count(row) for row in left]
    people = left if response_knowledge else ROWS
    assert found.candidates.released_to_people.tolist() == [people.count(row) for row in left]
    assert found.expected == pytest.approx(sum(1 / people.count(row) for row in left))
    assert found.n_approximate == 0
    (judged,) = judge_targets(parse_targets(["assignments>=2"]), found)
    assert judged.standing is (Standing.NOT_MET if response_knowledge else Standing.NOT_PROVEN)


def test_a_sample_of_which_everybody_has_candidates_meets_what_was_asked():
    random = np.random.default_rng(3)
    table = coded_from_codes(random.integers(1, 5, (60, 2)), KEYS)
    first = read_step({"do": "sample", "fraction": 0.5}).apply(table, SETTING)
    made = first.then(read_step({"do": "suppress", "k": 3}).apply(first.table, SETTING, 2))
    found = attack_file(table, made.table, made.log, SETTING)
    assert judge_targets(parse_targets(["both>=3"]), found)[0].is_met


def test_where_values_were_changed_links_are_tried_and_judge():
    # Everybody is one year off: equal values find nobody, links find all.
    rows = [[10 * n, n % 2 + 1] for n in range(1, 21)]
    words = ["", *map(str, range(1, 203))]
    table = coded_from_codes(rows, KEYS, [words, words])
    ages = table.codes("age").astype(np.int64) + 1
    every = VariableChange.of_cells(np.ones(20, dtype=np.bool_))
    log = ChangeLog(20, {"age": every})
    found = attack_file(table, replace_cells(table, {"age": ages}), log, Setting(keys=KEYS))
    assert found.n_misfits == 20
    assert found.expected == 0
    assert found.linked is not None
    assert found.right_share == found.linked.share > 0.5
    assert "see what links find" in found.sentences()[1]
    (judged,) = judge_targets(parse_targets(["expected matches<=10%"]), found)
    assert judged.standing is Standing.NOT_MET
    assert judged.reached == found.linked.share


def test_links_are_held_against_what_an_assignment_of_everybody_finds():
    made = protected()
    found = attack_file(file(), made.table, made.log, SETTING, [AttackName.LINKAGE])
    assert found.linked is not None
    share = found.expected / found.n_people
    weak = replace(found, linked=replace(found.linked, n_right=0, lower=0.0, upper=0.0))
    (judged,) = judge_targets(parse_targets(["linkage<=1%"]), weak)
    assert judged.standing is Standing.NOT_MET
    assert judged.reached == pytest.approx(share)


def test_a_large_file_is_linked_by_a_sample_with_an_interval():
    random = np.random.default_rng(0)
    table = coded_from_codes(random.integers(1, 40, (900, 3)), ("a", "b", "c"))
    setting = Setting(keys=("a", "b", "c"), seed=4)
    nothing = ChangeLog(900)
    found = link_release(table, table, nothing, setting, most_pairs=200_000)
    assert found.is_sample
    assert found.n_linked == 222
    assert found.lower < found.share <= found.upper
    assert found == link_release(table, table, nothing, setting, most_pairs=200_000)
    assert "by a sample of 222 records" in found.words


def test_targets_are_met_not_met_or_not_proven():
    made = protected()
    typed = [
        "both>=2",
        "own>=5",
        "expected matches<=90%",
        "linkage<=1%",
        "policy=k2",
        "global_risk<=50%",
    ]
    targets = parse_targets(typed)
    found = attack_file(file(), made.table, made.log, SETTING, attacks_for(targets))
    judged = dict(zip(typed, judge_targets(targets, found), strict=True))
    assert judged["both>=2"].is_met
    assert judged["own>=5"].standing is Standing.NOT_MET
    assert judged["own>=5"].why
    assert judged["expected matches<=90%"].is_met
    assert judged["linkage<=1%"].standing is Standing.NOT_MET
    assert judged["global_risk<=50%"].standing is Standing.MET
    assert targets_sentence(list(judged.values())).startswith("3 targets of 6 not met")
    assert targets_sentence([judged["both>=2"]]) == (
        "The target is met ('both>=2': whoever knows the keys of all and suppresses again matches up to"
        f" {percent_text(found.n_repeated / found.n_people)} rightly)."
    )
    bare = attack_file(file(), made.table, made.log, SETTING)
    assert judge_targets(targets[3:], bare)[0].standing is Standing.NOT_PROVEN
    assert judge_targets(targets[4:], bare)[0].standing is Standing.NOT_PROVEN


def test_what_is_met_by_an_approximation_is_said_to_be():
    # A ring of twenty: one part that is too large to be counted through.
    n = 20
    rows = [[i // 2 + 1, (i + 1) // 2 % (n // 2) + 1] for i in range(n)]
    table = coded_from_codes(rows, KEYS)
    odd = np.arange(n) % 2 == 1
    stars = {
        "age": VariableChange.of_cells(suppressed=~odd),
        "sex": VariableChange.of_cells(suppressed=odd),
    }
    codes = {
        "age": np.where(odd, table.codes("age"), 0),
        "sex": np.where(odd, 0, table.codes("sex")),
    }
    found = attack_file(table, replace_cells(table, codes), ChangeLog(n, stars), Setting(keys=KEYS))
    assert found.n_approximate == n
    near, far = judge_targets(
        parse_targets([f"expected matches<={found.expected + 1}", "expected matches<=100%"]), found
    )
    assert far.is_met
    assert "approximate for 20 people" in targets_sentence([far])
    assert near.standing is Standing.NOT_PROVEN
    assert "too near to the limit" in near.why


@pytest.mark.parametrize("criterion", ["released_to_people", "both", "own"])
def test_whoever_knows_all_suppresses_again_and_looks_rows_up(criterion):
    """The intruder has the people in another order and another seed, and shares the method alone."""
    random = np.random.default_rng(3)
    n, keys = 300, ("a", "b", "c")
    codes = np.column_stack([np.minimum(random.geometric(0.25, n), most) for most in (6, 8, 12)])
    step = read_step({"do": "suppress", "k": 3, "criterion": criterion})

    def released(order, seed):
        made = step.apply(coded_from_codes(codes[order], keys), Setting(keys=keys, seed=seed))
        stars = np.column_stack([made.log.suppressed(name) for name in keys])
        rows = [tuple(row) for row in np.where(stars, 0, codes[order]).tolist()]
        return made, dict(zip(order.tolist(), rows, strict=True))

    made, rows = released(np.arange(n), 1)
    found = attack_file(made.before, made.table, made.log, Setting(keys=keys))
    there = Counter(rows.values())
    assert found.n_repeated == len(there)
    guessed = released(random.permutation(n), 2)[1]
    right = sum(1 / there[row] for person, row in guessed.items() if rows[person] == row)
    sure = sum(there[row] == 1 and rows[person] == row for person, row in guessed.items())
    assert 0.95 * found.n_repeated <= right <= found.n_repeated + 1e-6
    n_alone = int((found.candidates.own == 1).sum())
    assert sure <= n_alone
    said = " ".join(found.sentences())
    assert f"({found.n_repeated:,})" + (f", and {n_alone:,} " if n_alone else ". ") in said
    assert {row["measure"]: row["value"] for row in found.rows()}["right_if_repeated"] == len(there)

    typed = ["(k,1)>=3", "expected matches<=99%"]
    fits, far = judge_targets(parse_targets(typed), found)
    assert fits.is_met
    # Who has three rows that are the same is hidden from this one too.
    assert ("suppresses again" in fits.why) is (criterion != "own")
    assert ("suppresses again" in targets_sentence([fits])) is (criterion != "own")
    assert far.is_met
    if criterion == "both":
        # More than is expected: what was met by expectation is not proven.
        assert len(there) > found.expected + 1
        limit = f"expected matches<={(found.expected + len(there)) / 2:.6f}"
        (between,) = judge_targets(parse_targets([limit]), found)
        assert between.standing is Standing.NOT_PROVEN
        assert "suppresses again" in between.why
        # Links of single records do not count it either.
        linked = replace(found, linked=LinkedShare(0, n, n, 0.0, 0.0, "optimal"))
        share = 50 * (found.expected + len(there)) / n
        (judged,) = judge_targets(parse_targets([f"linkage<={share:.6f}%"]), linked)
        assert judged.is_met
        assert "suppresses again" in judged.why


def test_what_nobody_can_do_again_is_not_said_to_be():
    """By lot, or not knowing who is in the file; and where nothing was suppressed."""
    made = protected()
    nothing = ChangeLog(len(ROWS))
    assert attack_file(file(), file(), nothing, SETTING).n_repeated is None
    unknowing = replace(SETTING, response_knowledge=False)
    assert attack_file(file(), made.table, made.log, unknowing).n_repeated is None
    assert attack_file(file(), made.table, made.log, SETTING).n_repeated is not None


def test_only_what_targets_need_is_done():
    assert attacks_for(parse_targets(["both>=2"])) == frozenset()
    assert attacks_for(parse_targets(["linkage<=2%"])) == {AttackName.LINKAGE}
    assert attacks_for(parse_targets(["policy=k3"])) == {AttackName.ASSESSMENT}
