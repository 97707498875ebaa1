from __future__ import annotations

import json

import jsonschema
import pytest

from gamekeeper.data.coding.coded_table import coded_from_codes
from gamekeeper.errors import InputError, Reason
from gamekeeper.protection.recipe import (
    Recipe,
    RecipeStep,
    read_recipe,
    read_step,
    recipe_schema,
    replayed,
    run_steps,
)
from gamekeeper.protection.step import Setting
from gamekeeper.protection.suppression import Suppress
from gamekeeper.workbench.protection.opening import parse_steps

CONTENT = {
    "recipe": 1,
    "keys": ["age", "sex"],
    "seed": 7,
    "input": {"fingerprint": "ab", "records": 4, "file": "people.csv"},
    "steps": [{"do": "suppress", "criterion": "both", "k": 2, "found": {"cells": 2}}],
    "targets": [{"target": "both>=2", "reached": 2, "standing": "met", "why": ""}],
}


def test_a_recipe_is_written_and_read_again():
    recipe = (
        read_recipe(CONTENT)
        .noted("2030-01-01", "somebody", "first")
        .noted("2030-01-02", "she", "second")
    )
    again = read_recipe(json.loads(recipe.text()))
    assert again.to_json() == recipe.to_json()
    assert again.target_texts == ("both>=2",)
    assert again.steps[0].found == {"cells": 2}
    jsonschema.validate(recipe.to_json(), recipe_schema())
    jsonschema.validate(recipe.external(), recipe_schema())


def test_people_outside_get_neither_seed_nor_journal_nor_risk():
    recipe = read_recipe(CONTENT).noted("2030-01-01", "somebody", "first")
    text = json.dumps(recipe.external())
    for hidden in ("seed", "journal", "somebody", "targets", "found", '"k"', "reached"):
        assert hidden not in text


def test_people_outside_cannot_check_a_guess_of_the_original():
    """A fingerprint of the original would tell whoever fills in the suppressed cells that it is right."""
    frozen = [{"do": "suppress", "k": 2}]
    content = {
        **CONTENT,
        "steps": [{"do": "recode and suppress", "k": 2, "frozen": frozen}],
        "candidates": [{"candidate": 1, "what": "x", "meets_targets": True}],
        "output": {"fingerprint": "cd", "sha256": "ef"},
        "reading": {"missing_values": ["9"]},
        "response_knowledge": False,
    }
    made = read_recipe(content)
    jsonschema.validate(made.to_json(), recipe_schema())
    assert read_recipe(made.to_json()).to_json() == made.to_json()
    outside = made.external()
    assert outside["input"] == {"records": 4}
    assert outside["output"] == {"sha256": "ef"}
    for hidden in ("fingerprint", "people.csv", '"k"', "candidates", "reading", "response"):
        assert hidden not in json.dumps(outside)


def test_a_journal_that_was_changed_is_told():
    made = (
        read_recipe(CONTENT)
        .noted("2030-01-01", "a", "first")
        .noted("2030-01-02", "b", "second")
        .to_json()
    )
    made["journal"][0]["why"] = "another"
    with pytest.raises(InputError) as error:
        read_recipe(made)
    assert error.value.reason is Reason.DAMAGED


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recipe": 2}, Reason.NEWER_VERSION),
        ({"recipe": "1"}, Reason.WRONG_SCHEMA),
        ({"steps": "suppress"}, Reason.WRONG_SCHEMA),
        ({"steps": [{"do": "nothing"}]}, Reason.UNKNOWN_NAME),
        ({"steps": [{"do": "suppress", "k": 0}]}, Reason.BAD_OPTION),
        ({"steps": [7]}, Reason.WRONG_SCHEMA),
        ({"steps": [{"do": "suppress", "found": 3}]}, Reason.WRONG_SCHEMA),
        ({"keys": ["a", "a"]}, Reason.DUPLICATE),
        ({"keys": "a"}, Reason.WRONG_SCHEMA),
        ({"seed": -1}, Reason.WRONG_SCHEMA),
        ({"missing": "what"}, Reason.WRONG_SCHEMA),
        ({"missing": []}, Reason.WRONG_SCHEMA),
        ({"input": 3}, Reason.WRONG_SCHEMA),
        ({"targets": [{}]}, Reason.WRONG_SCHEMA),
        ({"colour": "red"}, Reason.UNKNOWN_NAME),
    ],
)
def test_what_is_no_recipe_is_refused(change, reason):
    with pytest.raises(InputError) as error:
        read_recipe({**CONTENT, **change})
    assert error.value.reason is reason


@pytest.mark.parametrize(
    "change",
    [
        {"reading": {"missing_values": [9]}},
        {"reading": 3},
        {"response_knowledge": "no"},
        {"candidates": [1]},
        {"candidates": [{"candidate": "first", "what": "x"}]},
        {"candidates": [{"candidate": 1, "what": "x", "lost_share": "much"}]},
    ],
)
def test_fields_of_a_recipe_that_are_not_what_they_should_be(change):
    with pytest.raises(InputError):
        read_recipe({**CONTENT, **change})


@pytest.mark.parametrize(
    ("option", "do"),
    [
        ({"partial": "no"}, "Write true or false."),
        ({"weighted": 1}, "Write true or false."),
        ({"criterion": ["own"]}, "Give a text."),
        ({"above": 5}, "Give a text."),
        ({"pinned": "age"}, "Give a list of texts or numbers."),
        ({"pinned": [5]}, "Give a list of texts or numbers."),
        ({"thresholds": 3}, "Give a list of texts or numbers."),
        ({"costs": 5}, "Give a value for each name."),
        ({"costs": {"age": "dear"}}, "Give a value for each name."),
        ({"related": {"born": 1}}, "Give a value for each name."),
    ],
)
def test_an_option_of_another_kind_is_not_taken_for_something_else(option, do):
    with pytest.raises(InputError) as error:
        read_step({"do": "suppress", **option})
    assert [problem.do for problem in error.value.problems] == [do]


def test_a_typed_no_is_not_taken_for_a_yes():
    assert parse_steps(["noise variables=age correlated=false"])[0].correlated is False
    with pytest.raises(InputError, match="Write true or false"):
        parse_steps(["noise variables=age correlated=no"])


def test_files_that_are_no_recipe(tmp_path):
    for name, text in (("no.json", None), ("bad.json", "{"), ("list.json", "[]")):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(InputError):
            read_recipe(tmp_path / name)


def test_steps_are_done_one_after_the_other():
    table = coded_from_codes([[1, 1], [2, 1], [3, 2], [3, 2]], ["age", "sex"])
    recode = read_step({"do": "recode", "rules": ["age=together"]})
    made, done = run_steps([recode, Suppress(k=2)], table, Setting(keys=("age", "sex")))
    assert made.before is table
    assert made.log.n_suppressed == 0
    assert made.log.variables["age"].recode is not None
    assert [own.step.do for own in done] == ["recode", "suppress"]
    assert made.table.codebook["age"].n_codes == 2


def test_a_search_is_replayed_as_it_was_found_or_anew():
    search, found = Suppress(k=5), Suppress(k=2)
    recipe = Recipe((RecipeStep(search, {}, (found,)), RecipeStep(found)), ("age",))
    assert replayed(recipe, anew=False) == (found, found)
    assert replayed(recipe, anew=True) == (search, found)


def test_a_recipe_that_was_changed_is_refused_unless_its_checksum_is_taken_out():
    content = json.loads(Recipe((), ("Age",), seed=7).text())
    assert read_recipe(content).seed == 7
    assert read_recipe(dict(reversed(content.items()))).seed == 7
    for name, value in (("seed", 8), ("keys", ["Sex"]), ("missing", "ignore")):
        with pytest.raises(InputError, match="its checksum is another"):
            read_recipe({**content, name: value})
        edited = {k: v for k, v in {**content, name: value}.items() if k != "checksum"}
        assert read_recipe(edited)
