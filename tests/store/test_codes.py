from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import Reason, StoreError
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.mapping.variables.codes import CodeRegister
from gamekeeper.mapping.variables.variable import Variable
from gamekeeper.store.codes import write_codes
from gamekeeper.store.folder import read_environment, write_environment
from tests.store.conftest import Edit
from tests.store.everything import everything_in

BY_HAND = {
    "environment.json": '{"name": "mine", "version": 1, "format": "gamekeeper environment"}',
    "variables/my age.json": '{"scale": "interval", "to": 1e2, "name": "Age",'
    ' "bands": ["under 16", "16 to 24"]}',
    "variables/sex.JSON": '{"codes": {"C2.007": [["male"], ["female"]]}, "scale": "nominal",'
    ' "categories": {"any": ["male", "female"], "male": [], "female": []},\n\n "name": "Sex"}',
    "variables/unused.json": '{"name": "Unused", "scale": "nominal", "categories": {"é": []}}',
    "forms/z.json": '{"variables": {"Sex": ["male", "female"], "Age": ["<16", "16+"]},'
    ' "name": "Bank"}',
    "forms/a.json": '{"name": "Shop", "variables": {"Sex": ["any"], "Age": ["0-24", "25+"]}}',
    "groups/g.json": '{"forms": ["Shop", "Bank"], "name": "all"}',
}


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    for name, text in BY_HAND.items():
        path = tmp_path / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    bands = {"bands": ["under 16", "16 to 24", "0-24", "25+", "16+"]}
    age = tmp_path / "mine/variables/my age.json"
    age.write_text(json.dumps(json.loads(age.read_text()) | bands))
    return tmp_path / "mine"


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_only_codes_of_variables_are_touched(by_hand: Path) -> None:
    before = snapshot(by_hand)
    environment = read_environment(by_hand)
    written = write_codes(environment, by_hand)
    after = snapshot(by_hand)
    changed = tuple(sorted(name for name in before if after[name] != before[name]))
    assert written == changed == ("variables/my age.json", "variables/sex.JSON")
    assert after.keys() == before.keys()
    for name in changed:
        old, new = json.loads(before[name][0]), json.loads(after[name][0])
        assert list(new) == (list(old) if "codes" in old else [*old, "codes"])
        assert {**new, "codes": 0} == {**old, "codes": 0}
        text = after[name][0].decode()
        assert text == json.dumps(new, indent=1, ensure_ascii=False) + "\n"
    again = read_environment(by_hand)
    assert everything_in(again) == everything_in(environment)


def test_codes_that_are_there_stay_in_the_words_of_a_person(by_hand: Path) -> None:
    write_codes(read_environment(by_hand), by_hand)
    codes = json.loads((by_hand / "variables/sex.JSON").read_text())["codes"]
    assert codes == {"C1.001": [["any"]], "C2.007": [["male"], ["female"]]}
    assert list(codes) == ["C1.001", "C2.007"]


def test_nothing_is_written_twice(by_hand: Path) -> None:
    write_codes(read_environment(by_hand), by_hand)
    before = snapshot(by_hand)
    assert write_codes(read_environment(by_hand), by_hand) == ()
    assert snapshot(by_hand) == before


def test_a_folder_as_we_write_it_is_left_alone(environment: Environment, folder: Path) -> None:
    before = snapshot(folder)
    assert write_codes(environment, folder) == ()
    assert snapshot(folder) == before


def test_codes_of_one_more_form_are_added(folder: Path) -> None:
    grown = read_environment(folder).with_form(Form("New", {"Health": ("good", "fair", "poor")}))
    assert write_codes(grown, folder) == ()
    grown = grown.with_form(Form("Newer", {"Region": ("UK",)}))
    assert write_codes(grown, folder) == ("variables/region.json",)
    assert read_environment(folder).register("Region") == grown.register("Region")


def test_retired_codes_are_written_and_kept(folder: Path, edit: Edit) -> None:
    edit("variables/health.json", lambda tree: tree.update(retired=["C3.007"]))
    environment = read_environment(folder)
    assert environment.register("Health").retired == {"C3.007"}
    before = snapshot(folder)
    assert write_codes(environment, folder) == ()
    assert snapshot(folder) == before
    register = environment.register("Health")
    more = CodeRegister(
        ((code, register.meaning(code)) for code in register), retired=["C3.007", "H1.009"]
    )
    grown = environment.changed(
        variables={"Health": environment.variable("Health")}, registers={"Health": more}
    )
    write_environment(grown, folder)
    assert read_environment(folder).register("Health") == more
    edit("variables/health.json", lambda tree: tree.update(retired=["C3.007"]))
    assert write_codes(grown, folder) == ("variables/health.json",)
    assert read_environment(folder).register("Health") == more


Change = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        (lambda tree: tree.update(name="Wealth"), Reason.WRONG_SCHEMA, "is of 'Wealth', which"),
        (lambda tree: tree.update(description="new"), Reason.WRONG_SCHEMA, "or has otherwise"),
        (lambda tree: tree.update(scale="x"), Reason.WRONG_SCHEMA, "is none of"),
        (lambda tree: tree.update(order=["x"]), Reason.NOT_A_PARTITION_GRAPH, "Not a sink: 'x'"),
        (
            lambda tree: tree.update(codes={"C2.001": [["good"], ["fair", "poor"]]}),
            Reason.INCONSISTENT_CODE,
            "has codes that mean something else in the environment: 'C2.001'.",
        ),
        (
            lambda tree: tree.update(codes={"C2.009": [["good"], ["fair", "poor"]]}),
            Reason.INCONSISTENT_CODE,
            "'C2.009'",
        ),
        (lambda tree: tree.update(retired=["H9.001"]), Reason.INCONSISTENT_CODE, "'H9.001'"),
    ],
)
def test_a_file_that_changed_since_is_refused(
    folder: Path, edit: Edit, change: Change, reason: Reason, words: str
) -> None:
    environment = read_environment(folder).with_form(Form("New", {"Region": ("UK",)}))
    edit("variables/health.json", change)
    before = snapshot(folder)
    with pytest.raises(StoreError, match="Nothing was changed") as caught:
        write_codes(environment, folder)
    assert caught.value.reason is reason
    assert words in str(caught.value)
    assert snapshot(folder) == before


def test_a_variable_without_a_file_is_refused(environment: Environment, folder: Path) -> None:
    (folder / "variables/age.json").unlink()
    with pytest.raises(StoreError, match=r"variable 'Age': has no file\."):
        write_codes(environment, folder)


def test_files_that_cannot_be_read_are_named(environment: Environment, folder: Path) -> None:
    (folder / "variables/age.json").unlink()
    (folder / "variables/age.json").mkdir()
    with pytest.raises(StoreError) as caught:
        write_codes(environment, folder)
    assert [problem.reason for problem in caught.value.problems] == [
        Reason.NOT_READABLE,
        Reason.NOT_FOUND,
    ]


def test_another_folder_is_refused(tmp_path: Path) -> None:
    sex = Variable("Sex", PartitionGraph({"any": ["female", "male"]}))
    with pytest.raises(StoreError, match="Nothing was changed"):
        write_codes(Environment([sex]), tmp_path)
    assert list(tmp_path.iterdir()) == []
