from __future__ import annotations

import pytest

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.errors import InputError, Reason
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.edits import (
    RemoveForm,
    RemoveScenario,
    RenameCategory,
    RenameForm,
    RenameGroup,
    RenameScenario,
    RenameVariable,
    SaveScenario,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.scenario.document import ScenarioDocument, document_of
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import review_scenario
from gamekeeper.mapping.variables.variable import Variable

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
