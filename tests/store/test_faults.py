"""Every way in which a folder can be wrong, found and named; all of them at once."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.folder import read_environment
from tests.store.conftest import Edit, the_only
from tests.store.everything import everything_in

Refused = Callable[[], InputError]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder") as caught:
        read_environment(tmp_path / "none")
    assert caught.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize("name", ["survey.csv", "environment.json"])
def test_a_file_in_place_of_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("id,age\n1,30\n")
    with pytest.raises(InputError, match="It is a file, and an environment is a folder"):
        read_environment(tmp_path / name)


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text("id,age\n1,30\n")
    with pytest.raises(InputError, match=r"has no file environment\.json") as caught:
        read_environment(tmp_path)
    assert caught.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("", Reason.MALFORMED, "is empty"),
        ("{", Reason.MALFORMED, "line 1, column 2"),
        ("[1]", Reason.WRONG_SCHEMA, "does not say that its format is 'gamekeeper environment'"),
        ('{"name": "x"}', Reason.WRONG_SCHEMA, "does not say that its format"),
        (
            '{"format": "gamekeeper environment", "version": 7, "name": "x", "new": 1}',
            Reason.WRONG_SCHEMA,
            "version 7, newer than version 1, the last that is known. Update Gamekeeper.",
        ),
        (
            '{"format": "gamekeeper environment", "version": 0, "name": "x"}',
            Reason.WRONG_SCHEMA,
            "field 'version': is a number, and should be 1.",
        ),
        (
            '{"format": "gamekeeper environment", "version": "1"}',
            Reason.WRONG_SCHEMA,
            "lacks the field 'name'.",
        ),
    ],
)
def test_the_header_comes_first(folder: Path, text: str, reason: Reason, words: str) -> None:
    (folder / "environment.json").write_text(text)
    (folder / "forms/bank.json").write_text("also wrong")
    with pytest.raises(InputError) as caught:
        read_environment(folder)
    assert caught.value.reason is reason
    assert words in str(caught.value)
    assert {problem.where.partition(",")[0] for problem in caught.value.problems} == {
        "environment.json"
    }


def test_every_problem_of_every_file_is_told_at_once(
    folder: Path, edit: Edit, refused: Refused
) -> None:
    (folder / "forms/ecole.json").write_bytes(b"\xff\xfe{")
    (folder / "forms/shop.json").write_text('{\n "name": "Shop",\n "variables": {,}\n}')
    (folder / "groups/nobody.json").unlink()
    (folder / "groups/nobody.json").mkdir()
    edit("variables/health.json", lambda tree: tree["order"].reverse())
    edit("variables/region.json", lambda tree: tree["categories"].update(Wales=["UK"]))
    edit("forms/clinic.json", lambda tree: tree["variables"].update(Agee=[], Region=["Mars"]))
    edit("groups/trade.json", lambda tree: tree.update(forms="Bank"))
    found = {(problem.reason, problem.where.partition(",")[0]) for problem in refused().problems}
    assert found == {
        (Reason.WRONG_ENCODING, "forms/ecole.json"),
        (Reason.MALFORMED, "forms/shop.json"),
        (Reason.NOT_READABLE, "groups/nobody.json"),
        (Reason.NOT_A_PARTITION_GRAPH, "variables/region.json"),
        (Reason.UNKNOWN_NAME, "forms/clinic.json"),
        (Reason.WRONG_SCHEMA, "groups/trade.json"),
    }


def test_not_utf_8(folder: Path, refused: Refused) -> None:
    (folder / "forms/bank.json").write_bytes('{"name": "Bänk"}'.encode("latin-1"))
    problem = the_only(refused())
    assert str(problem) == "forms/bank.json: is not UTF-8: see byte 12. Save it as UTF-8."


def test_a_byte_order_mark_is_passed_over(environment: Environment, folder: Path) -> None:
    for path in folder.rglob("*.json"):
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert everything_in(read_environment(folder)) == everything_in(environment)


def test_malformed_json_is_located(folder: Path, refused: Refused) -> None:
    (folder / "forms/bank.json").write_text('{\n "name": "Bank",\n "variables": {"a" []}\n}')
    problem = the_only(refused())
    assert problem.reason is Reason.MALFORMED
    assert problem.found == "is not JSON: see line 3, column 20."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "is nested too deeply"),
        ('{"name": "Bank", "metadata": {"a": NaN}, "variables": {}}', "a number that is not fin"),
        ('{"name": "Bank", "metadata": {"a": ' + "9" * 5_000 + "}}", "a number that is not fin"),
        (
            '{"name": "Bank", "metadata": {"a": 1e999}, "variables": {}}',
            "field 'metadata', entry 1: is a number, and should be a string, a number",
        ),
        ('{"name": "Bank", "metadata": {"a": "\\ud800"}, "variables": {}}', "half of a character"),
        ('{"name": "Bank \\ud83d\\ude00", "variables": {"\\udcff": []}}', "half of a character"),
    ],
)
def test_json_that_could_not_be_written_again(
    folder: Path, refused: Refused, text: str, words: str
) -> None:
    (folder / "groups/trade.json").unlink()
    (folder / "groups/other-trade.json").unlink()
    (folder / "forms/bank.json").write_text(text)
    assert words in str(the_only(refused()))


def test_keys_that_come_twice(folder: Path, edit: Edit, refused: Refused) -> None:
    path = folder / "forms/bank.json"
    once = path.read_text()
    path.write_text(once.replace('"Age": [', '"Region": [], "Age": ['))
    problem = the_only(refused())
    assert problem.reason is Reason.DUPLICATE
    assert "names 1 entry of an object twice: 'Region'." in str(problem)
    path.write_text(once.replace(' "variables": {\n', ' "variables": {\n  "Region": [],\n'))
    assert the_only(refused()) == problem
    path.write_text(once.replace('"name"', '"name": "Bank", "name"'))
    assert "'name'" in the_only(refused()).found


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("forms/bank.json", {"name": 5}, "field 'name': is a number, and should be a string."),
        ("forms/bank.json", {"name": None}, "field 'name': is null, and should be a string."),
        ("forms/bank.json", {"variables": []}, "'variables': is a list, and should be an object."),
        (
            "forms/bank.json",
            {"variables": {"Region": [], "Age": ["0-17", True]}},
            "field 'variables', entry 2, item 2: is true or false, and should be a string.",
        ),
        (
            "forms/bank.json",
            {"metadata": {"a": 1, "b": {"bool": 2}}},
            "entry 2: is an object, and should be a string, a number, true, false or null.",
        ),
        ("forms/bank.json", {"metadata": None}, "'metadata': is null, and should be an object."),
        ("groups/trade.json", {"forms": ["Bank", {}]}, "'forms', item 2: is an object, and should"),
        ("variables/age.json", {"scale": "ratio"}, "is none of 'nominal', 'ordinal', 'interval'."),
        ("variables/age.json", {"scale": "ordnal"}, "'interval'. Near to it: 'ordinal'."),
        ("variables/age.json", {"scale": ["x"]}, "'scale': is a list, and should be 'nominal', "),
        ("variables/age.json", {"style": "open"}, "'style': is none of 'inclusive', 'half-open'."),
        ("variables/age.json", {"from": "0"}, "'from': is a string, and should be a number or nu"),
        ("variables/age.json", {"to": True}, "'to': is true or false, and should be a number or"),
        ("variables/age.json", {"bands": {}}, "'bands': is an object, and should be a list."),
        ("variables/health.json", {"order": None}, "'order': is null, and should be a list."),
        ("variables/region.json", {"categories": {}}, "is an object, and should be of 1 or more."),
        ("variables/region.json", {"codes": {"K1": []}}, "'codes', entry 1: is a list, and should"),
    ],
)
def test_wrong_types_are_placed(
    edit: Edit, refused: Refused, name: str, change: dict[str, Any], words: str
) -> None:
    edit(name, lambda tree: tree.update(change))
    problem = the_only(refused())
    assert problem.reason is Reason.WRONG_SCHEMA
    assert problem.where.startswith(name)
    assert words in str(problem)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("forms/bank.json", "name"),
        ("forms/bank.json", "variables"),
        ("variables/age.json", "scale"),
        ("variables/age.json", "bands"),
        ("variables/health.json", "order"),
        ("variables/region.json", "categories"),
    ],
)
def test_missing_fields(edit: Edit, refused: Refused, name: str, field: str) -> None:
    edit(name, lambda tree: tree.pop(field))
    assert str(the_only(refused())) == f"{name}: lacks the field '{field}'. Add the field."


def test_unknown_fields_are_named_only_if_near_to_a_known_one(edit: Edit, refused: Refused) -> None:
    edit("forms/bank.json", lambda tree: tree.update(metdata={}, John="Smith", Mary="Jones"))
    near, far = refused().problems
    assert str(near) == (
        "forms/bank.json: has the unknown field 'metdata'. Near to it: 'metadata'."
    )
    assert far.found == "has 2 unknown fields, not named here in case it is content."
    assert all(f"'{name}'" in far.do for name in ("metadata", "name", "questions", "variables"))


def test_a_flood_of_faults_in_one_file_is_cut(edit: Edit, refused: Refused) -> None:
    edit("forms/bank.json", lambda tree: tree.update(variables={"Age": list(range(5_000))}))
    *_, last = problems = refused().problems
    assert len(problems) == 21
    assert last.found == "has 4,980 more faults of its shape."


def test_a_name_used_by_two_files(folder: Path, refused: Refused) -> None:
    for kind, name in [("forms", "bank"), ("variables", "age"), ("groups", "trade")]:
        (folder / f"{kind}/zz.json").write_bytes((folder / f"{kind}/{name}.json").read_bytes())
    error = refused()
    assert {(problem.reason, problem.where) for problem in error.problems} == {
        (Reason.DUPLICATE, f"{kind}/zz.json") for kind in ("forms", "variables", "groups")
    }
    assert "forms/zz.json: is named 'Bank', and so is forms/bank.json." in str(error)


def test_partition_graphs_are_refused_with_witnesses(edit: Edit, refused: Refused) -> None:
    edit(
        "variables/region.json",
        lambda tree: tree["categories"].update(
            {"UK": ["Britain", "Wales"], "Britain": ["England", "Scotland", "Wales"]}
        ),
    )
    assert "the children 'Britain', 'Wales' of 'UK' share 'Wales'" in str(the_only(refused()))
    edit("variables/region.json", lambda tree: tree["categories"].update(Wales=["UK"]))
    assert "the cycle" in str(the_only(refused()))
    edit("variables/region.json", lambda tree: tree["categories"].update(Wales=["Egland"]))
    problem = the_only(refused())
    assert problem.reason is Reason.UNKNOWN_NAME
    assert "has the child 'Egland', which is not a category. Near to it: 'England'" in str(problem)


def test_an_order_must_name_the_sinks(edit: Edit, refused: Refused) -> None:
    edit("variables/health.json", lambda tree: tree.update(order=["good", "well"]))
    assert "Sinks left out: 'fair', 'poor'. Not a sink: 'well'." in str(the_only(refused()))


def test_ordinal_categories_must_be_runs(edit: Edit, refused: Refused) -> None:
    edit("variables/health.json", lambda tree: tree.update(order=["good", "poor", "fair"]))
    problem = the_only(refused())
    assert problem.reason is Reason.NOT_CONTIGUOUS
    assert problem.where == "variables/health.json, category 'well'"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bands": ["0-9", "several", "9-3"]}, "band 'several'"),
        ({"bands": ["0-9"], "from": 5}, "band '0-9': is not within the range 5+"),
        ({"from": 5, "to": 4}, "range 'from' to 'to': is empty."),
        ({"from": 0.5}, "is not between whole numbers"),
        ({"bands": ["0-9"], "style": "half-open", "to": 0}, "is empty."),
    ],
)
def test_bad_bands(edit: Edit, refused: Refused, change: dict[str, Any], words: str) -> None:
    edit("variables/age.json", lambda tree: tree.update(change, codes={}))
    error = refused()
    assert {problem.reason for problem in error.problems} == {Reason.BAD_BAND}
    assert words in str(error)


def test_unknown_names_come_with_near_ones(edit: Edit, refused: Refused) -> None:
    edit("forms/bank.json", lambda tree: tree["variables"].update(regoin=[], Health=["goood"]))
    edit("groups/trade.json", lambda tree: tree["forms"].append("Bnak"))
    text = str(refused())
    assert "form 'Bank': has 'regoin', which is not a variable. Near to it: 'Region'." in text
    assert "category 'goood': is not a category of 'Health'. Near to it: 'good'." in text
    assert "group 'Trade': names 'Bnak', which is not a form. Near to it: 'Bank'." in text


def test_a_group_names_a_form_once(edit: Edit, refused: Refused) -> None:
    edit("groups/trade.json", lambda tree: tree["forms"].append("Bank"))
    problem = the_only(refused())
    assert (problem.reason, problem.found) == (Reason.DUPLICATE, "names more than once 'Bank'.")


@pytest.mark.parametrize("letter", ["\x1b", "\x9b", "\n", "\u2028", "\u202e", "\u2067"])
def test_names_in_files_never_disturb_a_terminal(edit: Edit, refused: Refused, letter: str) -> None:
    bad = f"a{letter}b"
    edit("variables/region.json", lambda tree: tree["categories"].update({bad: []}))
    edit("variables/health.json", lambda tree: tree.update(name=bad))
    edit("variables/age.json", lambda tree: tree["bands"].append(bad))
    edit("forms/bank.json", lambda tree: tree.update(name=bad))
    edit("forms/shop.json", lambda tree: tree["variables"].update({bad: [bad], "Age": [bad]}))
    edit("groups/trade.json", lambda tree: tree.update(name=bad, forms=[bad, bad]))
    edit("environment.json", lambda tree: tree.update(name=bad))
    error = refused()
    assert len(error.problems) > 6
    for problem in error.problems:
        assert str(problem).isprintable()
    assert str(error).replace("\n", "").isprintable()
    assert f"U+{ord(letter):04X}" in str(error)


def test_every_form_with_a_fault_is_named(folder: Path, refused: Refused) -> None:
    """Equal selections are worked out once, but each form has to be corrected."""
    for number in range(120):
        form = {"name": f"Form {number}", "variables": {"Health": ["bad", "poor"]}}
        (folder / f"forms/{number}.json").write_text(json.dumps(form))
    problems = refused().problems
    assert {problem.where for problem in problems} == {
        f"forms/{number}.json, form 'Form {number}', category 'bad'" for number in range(120)
    }
    assert len(problems) == 120


def test_forms_whose_names_are_cut_alike_are_not_given_a_wrong_file(
    folder: Path, refused: Refused
) -> None:
    for number in range(2):
        form = {"name": "x" * 100 + str(number), "variables": {"Health": ["bad", "poor"]}}
        (folder / f"forms/{number}.json").write_text(json.dumps(form))
    assert [problem.where.startswith("form 'xxx") for problem in refused().problems] == [True] * 2


def test_what_a_faulty_file_may_hold_is_not_called_unknown(
    folder: Path, edit: Edit, refused: Refused
) -> None:
    (folder / "variables/age.json").write_text("{")
    (folder / "forms/bank.json").write_text("{")
    error = refused()
    assert [problem.where for problem in error.problems] == [
        "variables/age.json",
        "forms/bank.json",
    ]
    edit("forms/clinic.json", lambda tree: tree["variables"].update(Health=["bad"]))
    assert Reason.UNKNOWN_NAME in {problem.reason for problem in refused().problems}


@pytest.mark.parametrize(
    ("codes", "reason", "words"),
    [
        ({"C3.001": [["good", "fair"], ["poor"]]}, Reason.INCONSISTENT_CODE, "has 2 categories"),
        ({"C2.001": [["well"], ["fair", "poor"]]}, Reason.INCONSISTENT_CODE, "holds 'fair' twice"),
        ({"C1.001": [["well"]]}, Reason.INCONSISTENT_CODE, "leaves out 'poor'"),
        ({"C2.001": [["well", "poor"], []]}, Reason.INCONSISTENT_CODE, "made up of nothing"),
        ({"C0.001": [["well", "poor"]]}, Reason.INCONSISTENT_CODE, "has 1 category,"),
        ({"C2.001": []}, Reason.INCONSISTENT_CODE, "has 0 categories"),
        ({"C1.001": [["well", "bad"]]}, Reason.UNKNOWN_NAME, "names 'bad', which is not a categ"),
        (
            {"C2.001": [["well"], ["poor"]], "C2.002": [["poor"], ["good", "fair"]]},
            Reason.INCONSISTENT_CODE,
            "means the same as 'C2.001'",
        ),
    ],
)
def test_codes_must_be_what_they_say(
    edit: Edit, refused: Refused, codes: dict[str, Any], reason: Reason, words: str
) -> None:
    edit("variables/health.json", lambda tree: tree.update(codes=codes))
    problem = the_only(refused())
    assert problem.reason is reason
    assert problem.where == f"variables/health.json, code '{list(codes)[-1]}'"
    assert words in problem.found


def test_codes_may_be_written_by_hand(folder: Path, edit: Edit) -> None:
    codes = {"C2.007": [["poor"], ["well"]], "H2.001": [["fair", "good"], ["poor"]]}
    edit("variables/health.json", lambda tree: tree.update(codes=codes))
    environment = read_environment(folder)
    assert environment.code_of("Shop", "Health") == "C2.007"
    assert environment.code_of("Clinic", "Health") == "C3.001"


def test_a_file_that_is_read_in_another_layout_is_the_same(
    environment: Environment, folder: Path
) -> None:
    for path in folder.rglob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8"))))
    assert everything_in(read_environment(folder)) == everything_in(environment)


@pytest.mark.parametrize(
    "definition",
    [
        {},
        {"forms": ["Bank"], "where": "sector = bank"},
        {"where": ""},
        {"union": []},
        {"forms": None},
    ],
)
def test_a_group_is_defined_in_one_way(
    edit: Edit, refused: Refused, definition: dict[str, Any]
) -> None:
    def redefine(tree: dict[str, Any]) -> None:
        tree.pop("forms")
        tree.update(definition)

    edit("groups/trade.json", redefine)
    problem = the_only(refused())
    assert problem.reason is Reason.WRONG_SCHEMA
    assert problem.where.startswith("groups/trade.json")
    assert "'where'" in problem.do
