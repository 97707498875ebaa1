"""Edits of scenarios: what was concluded from an analysis is kept, renamed and removed."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from gamekeeper.mapping.edits.kinds.record import NewName, OfScenario, Record, require_new
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.mapping.scenario.document import ScenarioDocument, scenario_of


class SaveScenario(Record):
    """Save a scenario under its name."""

    edit: Literal["save-scenario"] = "save-scenario"
    scenario: ScenarioDocument
    replace: bool = Field(default=False, description="Whether one of that name is replaced.")


class RenameScenario(Record):
    """Rename a scenario."""

    edit: Literal["rename-scenario"] = "rename-scenario"
    scenario: OfScenario
    to: NewName


class RemoveScenario(Record):
    """Remove a scenario."""

    edit: Literal["remove-scenario"] = "remove-scenario"
    scenario: OfScenario


ScenarioEdit = SaveScenario | RenameScenario | RemoveScenario


def apply_scenario_edit(environment: Environment, edit: ScenarioEdit) -> Environment:
    """Return the environment after an edit of a scenario."""
    match edit:
        case SaveScenario():
            scenario = scenario_of(edit.scenario)
            if not edit.replace:
                require_new("scenario", scenario.name, environment.scenarios)
            return environment.changed(scenarios={scenario.name: scenario})
        case RenameScenario():
            scenario = environment.scenario(edit.scenario)
            require_new("scenario", edit.to, environment.scenarios)
            renamed = replace(scenario, name=edit.to)
            return environment.changed(scenarios={edit.scenario: None, edit.to: renamed})
        case RemoveScenario():
            environment.scenario(edit.scenario)
            return environment.changed(scenarios={edit.scenario: None})
