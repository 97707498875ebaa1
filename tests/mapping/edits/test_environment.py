from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.edits import (
    AddForm,
    AddGroup,
    Edit,
    RemoveForm,
    RemoveGroup,
    RemoveScenario,
    RenameCategory,
    RenameForm,
    RenameGroup,
    RenameScenario,
    RenameVariable,
    ReplaceGroup,
    SaveScenario,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.scenario.document import ScenarioDocument, document_of
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import review_scenario
from gamekeeper.mapping.variables.codes import Variable
from tests.mapping.edits.conftest import refusal


def test_groups_of_every_kind_are_added(environment: Environment) -> None:
    edits = [
        AddGroup(name="Sick", where="sector = health", description="Ill."),
        AddGroup(name="None", forms=[]),
        AddGroup(name="Both", intersection=["Trade", "Banks"]),
        AddGroup(name="Rest", difference=["Trade", "Banks"]),
        AddForm(name="Ward", metadata={"sector": "Health"}),
    ]
    after = apply_edits(environment, edits)
    assert after.group("Sick").forms == ("Clinic", "Ward")
    assert after.group("Sick").description == "Ill."
    assert after.group("None").forms == ()
    assert after.group("Both").forms == ("Bank",)
    assert after.group("Rest").forms == ("Shop",)


def test_a_group_is_defined_anew(environment: Environment) -> None:
    described = apply_edits(
        environment, [ReplaceGroup(group="Trade", where="year > 2000", description="New.")]
    )
    assert described.group("Either").forms == ("Bank",)
    again = apply_edits(described, [ReplaceGroup(group="Trade", forms=["Club"])])
    assert again.group("Trade").description == "New."
    assert set(again.group("Either").forms) == {"Bank", "Club"}


def test_a_group_is_renamed_in_the_groups_made_from_it(environment: Environment) -> None:
    after = apply_edits(environment, [RenameGroup(group="Trade", to="Commerce")])
    assert after.groups["Either"].union == ("Commerce", "Banks")
    assert after.group("Either").forms == environment.group("Either").forms
    assert after.groups["Commerce"].forms == ("Bank", "Shop")
    live = apply_edits(after, [RenameGroup(group="Banks", to="banks")])
    assert live.groups["banks"].where == environment.groups["Banks"].where
    assert live.groups["banks"].forms == ()


def test_a_group_in_use_is_not_removed(environment: Environment) -> None:
    for unrestricted in (False, True):
        error = refusal(environment, RemoveGroup(group="Banks"), unrestricted=unrestricted)
        assert error.reason is Reason.IN_USE
        assert "the group 'Either' is made from it" in str(error)
    after = apply_edits(environment, [RemoveGroup(group="Either"), RemoveGroup(group="Banks")])
    assert list(after.groups) == ["Trade"]


@pytest.mark.parametrize(
    ("edit", "reason", "words"),
    [
        (AddGroup(name="Trade", forms=[]), Reason.DUPLICATE, "already"),
        (AddGroup(name="TRADE", forms=[]), Reason.DUPLICATE, "only in case"),
        (AddGroup(name="x"), Reason.BAD_OPTION, "in no way"),
        (AddGroup(name="x", union=[]), Reason.BAD_OPTION, "exactly one of 'forms', 'where'"),
        (AddGroup(name="x", forms=[], where="a = 1"), Reason.BAD_OPTION, "2 ways"),
        (AddGroup(name="x", where="a ="), Reason.BAD_QUERY, "a value was expected"),
        (AddGroup(name="x", forms=["Bnak"]), Reason.UNKNOWN_NAME, "Near to it: 'Bank'"),
        (AddGroup(name="x", union=["Tarde"]), Reason.UNKNOWN_NAME, "Near to it: 'Trade'"),
        (AddGroup(name="x", union=["x"]), Reason.BAD_OPTION, "made from itself"),
        (ReplaceGroup(group="Trade", union=["Either"]), Reason.BAD_OPTION, "made from itself"),
        (ReplaceGroup(group="Trde", forms=[]), Reason.UNKNOWN_NAME, "Near to it: 'Trade'"),
        (RenameGroup(group="Trade", to="banks"), Reason.DUPLICATE, "differs from 'Banks'"),
        (RenameGroup(group="No", to="Yes"), Reason.UNKNOWN_NAME, "no such group"),
        (RemoveGroup(group="No"), Reason.UNKNOWN_NAME, "no such group"),
    ],
)
def test_refusals(environment: Environment, edit: Edit, reason: Reason, words: str) -> None:
    error = refusal(environment, edit)
    assert error.reason is reason
    assert words in str(error)


COUNTRY = Variable(
    "Country", PartitionGraph({"UK": ["England", "Wales"], "Rest": [], "any": ["UK", "Rest"]})
)
START = Environment(
    [COUNTRY, Variable.of_bands("Age", ["0-15", "16+"])],
    [
        Form("Census", {"Country": ("England", "Wales", "Rest"), "Age": ("0-15", "16+")}),
        Form("Bank", {"Country": ("UK", "Rest"), "Age": ("0-15", "16+")}),
        Form("Shop", {"Country": ("UK", "Rest")}),
    ],
    [Group("Trade", ("Bank", "Shop"))],
)


def document(environment: Environment = START, name: str = "A clerk") -> ScenarioDocument:
    outcome = map_key_variables(environment, "Census", groups="Trade")
    return document_of(propose_scenario(outcome, environment, name=name, groups="Trade", who="ann"))


SAVED = apply_edits(START, [SaveScenario(scenario=document())])


def test_a_scenario_is_saved_renamed_replaced_and_removed():
    assert SAVED.scenario("A clerk").key("Country").blocks == (("UK",), ("Rest",))
    renamed = apply_edits(SAVED, [RenameScenario(scenario="A clerk", to="Clerk")])
    assert list(renamed.scenarios) == ["Clerk"]
    again = apply_edits(SAVED, [SaveScenario(scenario=document(), replace=True)])
    assert list(again.scenarios) == ["A clerk"]
    assert not apply_edits(SAVED, [RemoveScenario(scenario="A clerk")]).scenarios


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (SaveScenario(scenario=document()), Reason.DUPLICATE),
        (SaveScenario(scenario=document(name="a CLERK")), Reason.DUPLICATE),
        (SaveScenario(scenario=document(name="A")), None),
        (RenameScenario(scenario="A clark", to="B"), Reason.UNKNOWN_NAME),
        (RemoveScenario(scenario="A clark"), Reason.UNKNOWN_NAME),
    ],
)
def test_what_is_refused(edit, reason):
    if reason is None:
        apply_edits(SAVED, [edit])
        return
    with pytest.raises(InputError) as caught:
        apply_edits(SAVED, [edit])
    assert caught.value.reason is reason


def test_scenarios_follow_renames():
    edits = [
        RenameForm(form="Census", to="Release"),
        RenameForm(form="Shop", to="Store"),
        RenameGroup(group="Trade", to="Commerce"),
        RenameVariable(variable="Country", to="Country of residence"),
        RenameCategory(variable="Country of residence", category="Rest", to="Elsewhere"),
        RenameCategory(variable="Country of residence", category="UK", to="United Kingdom"),
    ]
    after = apply_edits(SAVED, edits)
    scenario = after.scenario("A clerk")
    assert scenario.target == "Release"
    assert set(scenario.match_forms) == {"Bank", "Store"}
    assert scenario.groups == ("Commerce",)
    key = scenario.key("Country of residence")
    assert key.blocks == (("United Kingdom",), ("Elsewhere",))
    assert key.categories == ("United Kingdom", "Elsewhere")
    assert key.why.startswith("Country of residence at C2.001, because")
    review = review_scenario(scenario, after, revision=0)
    assert not any(item.changes for item in review.keys)
    assert not review.changes


def test_a_scenario_outlives_what_it_names():
    after = apply_edits(SAVED, [RemoveForm(form="Census")])
    assert after.scenario("A clerk") == SAVED.scenario("A clerk")
    assert not review_scenario(after.scenario("A clerk"), after, revision=0).is_current
