"""Whether a scenario is stale, held against a whole review."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.analysis.key_mapping import map_key_variables
from gamekeeper.mapping.edits import (
    AskVariable,
    RenameCategory,
    RenameForm,
    RenameGroup,
    RenameVariable,
    SaveScenario,
    apply_edits,
)
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.scenario.document import document_of, staleness
from gamekeeper.mapping.scenario.proposal import propose_scenario
from gamekeeper.mapping.scenario.review import review_scenario
from gamekeeper.mapping.variables.codes import Variable
from tests.given.categorizations import environments
from tests.given.scenario_of_ages import AGE, BANK, CENSUS, HERE, SHOP, made
from tests.mapping.scenario.test_review import changed

REVIEW = " `gamekeeper scenario review` says what that means for it, and `gamekeeper scenario renew` accepts it."
POST = Form("Post", {"Age": ("0-15", "16+")}, {"sector": "trade"})


@pytest.mark.parametrize(
    ("asked", "later", "why"),
    [
        ({}, {}, ""),
        ({"groups": "hand"}, {"forms": {"Post": POST, "Club": None}}, ""),
        ({}, {"name": "There", "groups": {"hand": None}}, ""),
        ({}, {"forms": {"Census": None}}, "is stale: its target 'Census' is gone."),
        (
            {"groups": "trade"},
            {"groups": {"trade": None}},
            "is stale: 1 group that it was matched against is gone.",
        ),
        (
            {"groups": "trade"},
            {"groups": {"trade": Group("trade", where="sector = none")}},
            "is stale: no form is left to match against.",
        ),
        (
            {"forms": "Club"},
            {"forms": {"Club": None}},
            "is stale: no form is left to match against.",
        ),
        (
            {"groups": "trade"},
            {"forms": {"Post": POST, "Bank": None}, "groups": {"hand": None}},
            "is stale: 1 form is new and 1 form is gone among those to match against.",
        ),
        (
            {},
            {"forms": {"Shop": Form("Shop", BANK.instances)}},
            "may be stale: forms or variables that it rests on have changed since it was made.",
        ),
        (
            {},
            {"variables": {"Age": Variable.of_bands("Age", [*AGE.bands, "0-4", "5-15"])}},
            "may be stale: forms or variables that it rests on have changed since it was made.",
        ),
    ],
)
def test_what_makes_a_scenario_stale(asked, later, why):
    told = staleness(made(**asked), HERE.changed(**later))
    assert told == (f"The scenario 's' {why}{REVIEW}" if why else "")


def test_a_scenario_stays_fresh_under_renames_and_stale_if_it_was():
    graph = PartitionGraph({"any": ["female", "male"]})
    post = Form("Post", {"Sex": ("female", "male")}, {"sector": "trade"})
    start = Environment(
        [AGE, Variable("Sex", graph)], [CENSUS, BANK, SHOP, post], HERE.groups.values()
    )
    outcome = map_key_variables(start, "Census", groups="trade")
    scenario = propose_scenario(outcome, start, name="s", groups="trade")
    saved = apply_edits(start, [SaveScenario(scenario=document_of(scenario))])
    renames = [
        RenameForm(form="Census", to="Release"),
        RenameForm(form="Shop", to="Market"),
        RenameGroup(group="trade", to="commerce"),
        RenameVariable(variable="Sex", to="Gender"),
        RenameCategory(variable="Gender", category="male", to="a man"),
    ]
    after = apply_edits(saved, renames)
    assert staleness(after.scenario("s"), after) == ""
    assert not review_scenario(after.scenario("s"), after, revision=0).has_environment_changed
    change = AskVariable(form="Bank", variable="Age", labels=["0-15", "16+"])
    for edits in ([change, *renames], [*renames, change]):
        after = apply_edits(saved, edits)
        assert "may be stale" in staleness(after.scenario("s"), after)


@given(environments(), st.data())
def test_a_fresh_scenario_has_a_review_without_changes(environment, data):
    outcome = map_key_variables(environment, "target")
    assume(any(item.maximal for item in outcome.variables))
    scenario = propose_scenario(outcome, environment, name="s")
    assert not staleness(scenario, environment)
    later = data.draw(changed(environment))
    review = review_scenario(scenario, later, revision=0)
    assert bool(staleness(scenario, later)) == review.has_environment_changed
    assert review.is_current or staleness(scenario, later)
