"""The worked example: Country of Residence grows from a question about parts of Britain."""

from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import (
    AddCategory,
    AddForm,
    RenameCategory,
    ReplaceVariable,
    SetChildren,
    SplitCategory,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.mapping.variables.definitions import definition_of
from tests.mapping.edits.conftest import refusal

COUNTRY = "Country of Residence"


@pytest.fixture
def environment() -> Environment:
    names = ("England", "Scotland", "Wales", "Other")
    country = Variable(COUNTRY, PartitionGraph({name: [] for name in names}))
    survey = Form("Survey V", {COUNTRY: names}, {"sector": "survey"})
    return Environment([country], [survey], [Group("Asking", where=f"has {COUNTRY}")])


RENAME = RenameCategory(variable=COUNTRY, category="Other", to="Not Britain")
SPLIT = SplitCategory(variable=COUNTRY, category="Not Britain", into=["Northern Ireland", "Non UK"])
BRITAIN = AddCategory(
    variable=COUNTRY, category="Britain", children=["England", "Scotland", "Wales"]
)
UK = AddCategory(variable=COUNTRY, category="UK", children=["Britain", "Northern Ireland"])


def test_step_by_step(environment: Environment) -> None:
    renamed = apply_edits(environment, [RENAME])
    labels = ("England", "Scotland", "Wales", "Not Britain")
    assert renamed.form("Survey V").instances[COUNTRY] == labels
    assert environment.form("Survey V").instances[COUNTRY][-1] == "Other"
    split = apply_edits(renamed, [SPLIT])
    assert set(split.variable(COUNTRY).graph.sinks) == {
        "England",
        "Scotland",
        "Wales",
        "Northern Ireland",
        "Non UK",
    }
    grown = apply_edits(split, [BRITAIN, UK])
    graph = grown.variable(COUNTRY).graph
    assert set(graph.sinks_of("UK")) == {"England", "Scotland", "Wales", "Northern Ireland"}
    for step in (renamed, split, grown):
        assert step.categorization("Survey V", COUNTRY).is_valid
        assert step.code_of("Survey V", COUNTRY) == "C4.001"
        assert set(step.variable(COUNTRY).words(step.register(COUNTRY).meaning("C4.001"))) == set(
            labels
        )
        assert step.group("Asking").forms == ("Survey V",)
    more = [
        AddForm(name="Survey W", variables={COUNTRY: ["UK", "Non UK"]}),
        AddForm(name="Survey X", variables={COUNTRY: ["Britain", "Not Britain"]}),
    ]
    surveys = apply_edits(grown, more)
    assert surveys.code_of("Survey W", COUNTRY) == "C2.001"
    assert surveys.code_of("Survey X", COUNTRY) == "C2.002"
    assert surveys.code_of("Survey V", COUNTRY) == "C4.001"
    assert surveys.harmonize_codes(COUNTRY, ["C4.001", "C2.001"]) == "H1.001"


def test_all_at_once_is_the_same(environment: Environment) -> None:
    by_steps = environment
    for edit in (RENAME, SPLIT, BRITAIN, UK):
        by_steps = apply_edits(by_steps, [edit])
    at_once = apply_edits(environment, [RENAME, SPLIT, BRITAIN, UK])
    assert at_once.variables == by_steps.variables
    assert at_once.forms == by_steps.forms
    assert at_once.register(COUNTRY) == by_steps.register(COUNTRY)


def test_the_trap_nothing_is_deleted_and_still_it_is_refused(environment: Environment) -> None:
    """A new root with a new sink makes the sample space larger."""
    children = {name: [] for name in environment.variable(COUNTRY).graph.categories}
    world = PartitionGraph({**children, "World": ["England", "Moon"], "Moon": []})
    replaced = ReplaceVariable(variable=COUNTRY, definition=definition_of(Variable(COUNTRY, world)))
    for edit in (replaced, AddCategory(variable=COUNTRY, category="Moon", children=[])):
        error = refusal(environment, edit)
        assert error.reason is Reason.UNSAFE_EDIT
        (problem,) = error.problems
        assert problem.found.startswith(
            "no earlier sink would reach 'Moon': the sample space would grow"
        )
        assert problem.do == "Split the sink that it is part of."
        assert "unrestricted editor" in error.do


def test_the_refusal_says_everything_at_once(environment: Environment) -> None:
    grown = apply_edits(environment, [RENAME, SPLIT, BRITAIN, UK])
    mixed = PartitionGraph(
        {
            "England": ["North", "South"],
            "Scotland": ["North", "Isles"],
            "Wales": [],
            "Britain": ["England", "Wales"],
            "Not Britain": ["Northern Ireland"],
            "Northern Ireland": [],
            "Elsewhere": [],
            "UK": ["Britain", "Elsewhere"],
        }
    )
    definition = definition_of(Variable(COUNTRY, mixed))
    error = refusal(grown, ReplaceVariable(variable=COUNTRY, definition=definition))
    found = " ".join(problem.found for problem in error.problems)
    for words in (
        "the category 'Non UK' would be lost.",
        "the sinks 'England', 'Scotland' would share 'North'.",
        "no earlier sink would reach 'Elsewhere'",
        "the category 'Britain' would no longer reach 'Isles'.",
        "the category 'UK' would in addition reach 'Elsewhere' and no longer reach 'Isles', ",
    ):
        assert words in found
    assert all(problem.do for problem in error.problems)


def test_the_same_sink_sets_by_other_edges_are_fine(environment: Environment) -> None:
    grown = apply_edits(environment, [RENAME, SPLIT, BRITAIN, UK])
    flat = ("England", "Scotland", "Wales", "Northern Ireland")
    edit = SetChildren(variable=COUNTRY, category="UK", children=flat)
    assert set(apply_edits(grown, [edit]).variable(COUNTRY).graph.children("UK")) == set(flat)
    error = refusal(grown, SetChildren(variable=COUNTRY, category="UK", children=flat[:-1]))
    assert "the category 'UK' would no longer reach 'Northern Ireland'." in str(error)
