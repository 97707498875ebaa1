"""Scenarios: the list, one by one, what has become of them; saved from an analysis."""

from __future__ import annotations

from fastapi import APIRouter

from gamekeeper.mapping.scenario.staleness import staleness
from gamekeeper.web.service.access import Editor, Reader, TheServer
from gamekeeper.web.shapes.edits import EditedShape, edited_shape
from gamekeeper.web.shapes.scenarios import (
    ReviewShape,
    ScenarioAsked,
    ScenarioList,
    ScenarioSaved,
    ScenarioShape,
    review_shape,
    scenario_line,
    scenario_shape,
)
from gamekeeper.workbench.environment import scenarios as workbench
from gamekeeper.workbench.requests.environment.browsing import ScenarioRequest
from gamekeeper.workbench.requests.environment.mapping import (
    RenewScenarioRequest,
    ReviewRequest,
    SaveScenarioRequest,
)
from gamekeeper.workbench.requests.environment.shared import InStore, Opened, Person

router = APIRouter(prefix="/api/scenarios")


@router.get("")
def scenarios(who: Reader, server: TheServer) -> ScenarioList:
    """Return all scenarios."""
    with server.opened() as (place, _):
        assert place.store is not None
        return ScenarioList(
            revision=place.store.revision,
            scenarios=[
                scenario_line(each, is_stale=bool(staleness(each, place.environment)))
                for each in place.environment.scenarios.values()
            ],
        )


@router.post("", status_code=201)
def save(asked: ScenarioAsked, who: Editor, server: TheServer) -> ScenarioSaved:
    """Make an analysis and save its outcome under a name."""
    scenario, edited = workbench.save_scenario(
        SaveScenarioRequest(
            place=InStore(store=server.settings.store),
            scenario=asked.name,
            question=asked.question.options(),
            attacker=asked.attacker,
            description=asked.description,
            keys=asked.keys,
            replace=asked.replace,
            person=Person(who=who.name),
            note=asked.note,
        )
    )
    server.events.publish("revision", revision=edited.revision)
    return ScenarioSaved(
        scenario=scenario_line(scenario, is_stale=False), edited=edited_shape(edited)
    )


@router.get("/{scenario}")
def scenario(scenario: str, who: Reader, server: TheServer) -> ScenarioShape:
    """Return a scenario with its key variables."""
    with server.opened() as (place, names):
        assert place.store is not None
        name = names.scenario(scenario)
        asked = ScenarioRequest(opened=Opened(environment=server.settings.store), scenario=name)
        _, lines, _ = workbench.show_scenario(asked)
        found = place.environment.scenario(name)
        return scenario_shape(
            found,
            list(lines),
            place.store.revision,
            is_stale=bool(staleness(found, place.environment)),
        )


@router.get("/{scenario}/review")
def review(scenario: str, who: Reader, server: TheServer) -> ReviewShape:
    """Say what has changed for a scenario, and what its analysis would give now."""
    name = server.seen().names.scenario(scenario)
    return review_shape(
        workbench.review(ReviewRequest(environment=server.settings.store, scenario=name))
    )


@router.post("/{scenario}/renew")
def renew(scenario: str, who: Editor, server: TheServer) -> EditedShape:
    """Accept what the review says, as an edit: the same question, of the forms that there are now."""
    name = server.seen().names.scenario(scenario)
    _, edited = workbench.renew(
        RenewScenarioRequest(
            place=InStore(store=server.settings.store), scenario=name, person=Person(who=who.name)
        )
    )
    server.events.publish("revision", revision=edited.revision)
    return edited_shape(edited)
