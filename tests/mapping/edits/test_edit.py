from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.edits import (
    EDIT,
    AskQuestion,
    AskVariable,
    DeclareMetadata,
    DropQuestion,
    Edit,
    KeepHistory,
    KeptRevision,
    SaveScenario,
    describe_edit,
    touched,
)
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.forms.form import NO_ANSWERS, Answer, Question, Universe
from gamekeeper.mapping.scenario.document import ScenarioDocument, document_of
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.variables.definitions import definition_of
from tests.given.categorizations import band_variables
from tests.mapping.edits.conftest import small_environment

KINDS = get_args(Edit)
SCHEMA = Path(__file__).parents[3] / "docs/reference/schema/edit.json"

words = st.text(st.characters(codec="utf-8"), max_size=8)
lists = st.lists(words, max_size=3)
values = st.dictionaries(
    words,
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
)
definitions = st.one_of(
    band_variables().map(definition_of),
    st.sampled_from([definition_of(v) for v in small_environment().variables.values()]),
)
universes = st.builds(Universe, wording=words, within=st.dictionaries(words, lists, max_size=2))
answers = st.builds(
    Answer,
    text=words,
    means=st.none() | words,
    no_answer=st.none() | st.sampled_from(NO_ANSWERS),
    variable=st.none() | words,
)
questions = st.builds(
    Question,
    name=words,
    text=words,
    variable=st.none() | words,
    answers=st.lists(answers, max_size=3),
    multiple=st.booleans(),
    outside=st.booleans(),
    universe=st.none() | universes,
    metadata=values,
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(["name", "form", "variable", "category", "group", "to", "description"], words),
    **dict.fromkeys(["labels", "children", "order", "remove"], lists),
    "into": st.lists(words, min_size=2, max_size=3),
    "bands": st.lists(words, min_size=1, max_size=3),
    "variables": st.dictionaries(words, lists),
    **dict.fromkeys(["metadata", "values"], values),
    **dict.fromkeys(["forms", "union", "intersection", "difference"], st.none() | lists),
    "where": st.none() | words,
    "definition": definitions,
    "scenario": words,
    "replace": st.booleans(),
    "universe": st.none() | universes,
    "questions": st.lists(questions, max_size=2),
    **dict.fromkeys(["key", "why"], words),
    "required": st.booleans(),
    "of": st.sampled_from(["form", "question"]),
    "kind": st.sampled_from(["any", "text", "number", "yes or no"]),
    "combination": st.dictionaries(words, lists, min_size=2, max_size=3),
    "categories": st.lists(words, min_size=1, max_size=3),
    "question": st.none() | words,
    **dict.fromkeys(["inside", "rest"], st.none() | words),
    "outside": lists,
    "keep": lists,
}
OWN: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    SaveScenario: {"scenario": st.deferred(lambda: st.builds(saved, words))},
    AskQuestion: {"question": questions},
    DropQuestion: {"question": words},
    KeepHistory: {
        "of": words,
        "revisions": st.lists(
            st.builds(
                KeptRevision,
                of=words,
                revision=st.integers(),
                at=words,
                who=words,
                words=lists,
                note=words,
            ),
            max_size=2,
        ),
    },
    DeclareMetadata: {"values": st.lists(words | st.booleans() | st.integers(), max_size=3)},
}


@cache
def a_scenario() -> ScenarioDocument:
    environment = small_environment()
    target = next(form for form in environment.forms.values() if form.instances)
    outcome = map_key_variables(environment, target.name, strict=False)
    return document_of(propose_scenario(outcome, environment, name="A clerk", who="ann"))


def saved(name: str) -> ScenarioDocument:
    """A scenario under any name, sensible or not."""
    return a_scenario().model_copy(update={"name": name})


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """Records of all kinds, sensible or not."""
    kind = draw(st.sampled_from(KINDS))
    required = {name for name, field in kind.model_fields.items() if field.is_required()}
    given = {
        name: draw({**FIELDS, **OWN.get(kind, {})}[name])
        for name in kind.model_fields
        if name in required or (name != "edit" and draw(st.booleans()))
    }
    return kind(**given)


@given(edits())
def test_an_edit_survives_json(edit: Edit) -> None:
    tree = json.loads(json.dumps(EDIT.dump_python(edit, mode="json", by_alias=True)))
    again = EDIT.validate_python(tree)
    assert again == edit
    assert type(again) is type(edit)
    assert EDIT.validate_json(EDIT.dump_json(edit, by_alias=True)) == edit
    validator().validate(tree)


@given(edits())
def test_an_edit_can_be_told(edit: Edit) -> None:
    said = describe_edit(edit)
    assert said.endswith(".")
    assert said[0].isupper()
    assert "\n" not in said
    pairs = touched(edit)
    assert pairs
    assert {kind for kind, _ in pairs} <= {
        "environment", "variable", "form", "group", "scenario",
    }  # fmt: skip


@cache
def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_every_edit_has_a_name_of_its_own() -> None:
    names = [kind.model_fields["edit"].default for kind in KINDS]
    assert len(set(names)) == len(names) == 41
    for kind, name in zip(KINDS, names, strict=True):
        assert kind.__name__ == "".join(part.capitalize() for part in name.split("-"))


@pytest.mark.parametrize(
    "tree",
    [
        {"form": "Bank"},
        {"edit": "remove-bank", "form": "Bank"},
        {"edit": "remove-form"},
        {"edit": "remove-form", "form": 1},
        {"edit": "remove-form", "form": "Bank", "more": 1},
        {"edit": "ask-variable", "form": "Bank", "variable": "Age", "labels": "0-15"},
        {"edit": "ask-variable", "form": "Bank", "variable": "Age", "labels": [1]},
        {"edit": "split-category", "variable": "Age", "category": "x", "into": ["one"]},
        {"edit": "add-bands", "variable": "Age", "bands": []},
        {"edit": "add-form", "name": "Bank", "metadata": {"a": []}},
    ],
)
def test_what_is_not_an_edit_is_refused_by_record_and_schema(tree: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EDIT.validate_python(tree)
    assert not validator().is_valid(tree)


def test_a_record_is_frozen_and_takes_lists(environment: Environment) -> None:
    edit = AskVariable(form="Bank", variable="Age", labels=["0-15"])
    assert edit == AskVariable(form="Bank", variable="Age", labels=("0-15",))
    with pytest.raises(ValidationError):
        edit.form = "Shop"


def test_infinite_numbers_are_refused() -> None:
    with pytest.raises(ValidationError):
        EDIT.validate_python({"edit": "add-form", "name": "x", "metadata": {"a": float("inf")}})
