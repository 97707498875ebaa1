"""The page on edits has every record with all its fields, and examples that can be made."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

import gamekeeper as gk
from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import EDIT, Edit
from gamekeeper.mapping.scenario.proposal import propose_scenario

PAGE = Path(__file__).parents[2] / "docs/reference/edits.md"
MODELS: dict[str, type[BaseModel]] = {
    str(model.model_fields["edit"].default): model for model in get_args(Edit)
}
SECTIONS = dict(
    re.findall(
        r"^### `([a-z-]+)`\n(.*?)(?=^##|\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
)
UNRESTRICTED = "Needs the unrestricted editor."


def environment() -> gk.Environment:
    """Return what the examples of the page are made in."""
    parts = {"UK": ["England", "Wales"], "World": ["UK", "Other"]}
    country = gk.Variable("Country", gk.mapping.PartitionGraph(parts))
    age = gk.Variable.of_bands("Age", ["0-15", "16-64", "65+"])
    sex = gk.Variable("Sex", gk.mapping.PartitionGraph({"female": [], "male": []}))
    forms = [
        gk.Form(
            "Bank",
            {"Age": ("0-15", "16-64", "65+"), "Country": ("UK", "Other")},
            {"sector": "bank", "draft": True},
        ),
        gk.Form("Shop", {"Country": ("UK", "Other")}, {"sector": "retail"}),
        gk.Form("Census", {"Country": ("England", "Wales", "Other")}),
    ]
    groups = [gk.Group("Banks", where="sector = bank"), gk.Group("Some", ["Bank", "Shop"])]
    answers = [gk.mapping.Answer(text="UK"), gk.mapping.Answer(text="No", means="Other")]
    question = gk.mapping.Question(name="Q2", variable="Country", answers=answers)
    forms.append(gk.Form("Club", questions=[question]))
    rules = gk.mapping.Rules(
        metadata=[gk.mapping.MetadataKey(key="year", required=True)],
        impossible=[gk.mapping.Impossible(combination={"Age": ["65+"], "Sex": ["male"]})],
    )
    marked = replace(sex, sensitive=frozenset(["female"]))
    flat = {"Town": ["Leeds", "York"], "North": ["Leeds", "York", "Moors"], "Moors": []}
    place = gk.Variable("Place", gk.mapping.PartitionGraph(flat))
    made = gk.Environment([age, country, marked, place], forms, groups, rules=rules)
    outcome = gk.map_key_variables(made, "Census")
    return made.changed(
        scenarios={"A clerk": propose_scenario(outcome, made, name="A clerk", who="ann")}
    )


def test_every_edit_is_there_once():
    assert sorted(SECTIONS) == sorted(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_words_and_fields(name: str):
    words, fields = described(MODELS[name])
    assert words in SECTIONS[name]
    assert fields in SECTIONS[name]


@pytest.mark.parametrize("name", MODELS)
def test_example(name: str):
    (example,) = re.findall(r"```json\n(.*?)```", SECTIONS[name], re.DOTALL)
    edit = EDIT.validate_json(example)
    assert isinstance(edit, MODELS[name])
    before = environment()
    after = gk.edits.apply_edits(before, [edit], unrestricted=True)
    assert (after == before) is (name == "keep-history")
    if UNRESTRICTED not in SECTIONS[name]:
        gk.edits.apply_edits(before, [edit])
        return
    with pytest.raises(gk.InputError) as refused:
        gk.edits.apply_edits(before, [edit])
    assert refused.value.reason is Reason.UNSAFE_EDIT


def described(model: type[BaseModel]) -> tuple[str, str]:
    """Return what a record is, and a table of its fields."""
    schema = model.model_json_schema()
    required = schema.get("required", [])
    lines = ["| field | value | |", "|---|---|---|"]
    for name, field in schema["properties"].items():
        if name == "edit":
            continue
        said = field.get("description", "")
        if name not in required:
            said = f"{said} May be left out.".strip()
        lines.append(f"| `{name}` | {_kind(field)} | {said} |".replace("|  |", "| |"))
    return inspect.cleandoc(model.__doc__ or "").replace("\n\n", "\n"), "\n".join(lines)


def _kind(schema: dict[str, Any]) -> str:
    """Return what a field takes, in words."""
    if "$ref" in schema or "discriminator" in schema:
        reference = schema.get("$ref", "").rpartition("/")[2]
        named = {"ScenarioDocument": "scenario", "Question": "question", "Universe": "universe"}
        return f"a {named.get(reference, 'definition')}"
    if "anyOf" in schema:
        *kinds, last = dict.fromkeys(_kind(item) for item in schema["anyOf"])
        return f"{', '.join(kinds)} or {last}"
    if schema["type"] == "object":
        return f"keys with {_kind(schema['additionalProperties'])}"
    if schema["type"] == "array" and "$ref" in schema["items"]:
        kept = schema["items"]["$ref"].endswith("KeptRevision")
        return "a list of records" if kept else "a list of questions"
    return {
        "array": "a list of values" if "anyOf" in schema.get("items", {}) else "a list of texts",
        "string": "a text",
        "integer": "a number",
        "number": "a number",
        "boolean": "true or false",
        "null": "null",
    }[schema["type"]]
