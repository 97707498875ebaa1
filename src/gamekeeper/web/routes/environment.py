"""Routes of the environment: what happens to it; its forms, groups, variables and scenarios.

Forms come as a grid of all, by a query or one by one; of a group it is told how many forms a
definition finds before it is saved; variables have graphs of categories and of codes; of scenarios
it is told what has become of them.
"""

from __future__ import annotations

import gzip
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from gamekeeper.errors import Reason
from gamekeeper.mapping.environment.overview import find_forms
from gamekeeper.mapping.scenario.document import staleness
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.definitions import Interval, Nominal, Ordinal, variable_of
from gamekeeper.web.service import Editor, Reader, TheServer, signed_in
from gamekeeper.web.shapes import analysis
from gamekeeper.web.shapes.environment import (
    EditedShape,
    EnvironmentShape,
    FormShape,
    FoundForms,
    Grid,
    GroupCount,
    GroupDefinition,
    GroupList,
    GroupShape,
    edited_shape,
    environment_shape,
    form_shape,
    grid_shape,
    group_count,
    group_list,
    group_shape,
)
from gamekeeper.web.shapes.questions import ScenarioAsked
from gamekeeper.web.shapes.variables import (
    CodeShape,
    GraphShape,
    HarmonizationsShape,
    VariableList,
    VariableShape,
    code_shape,
    graph_shape,
    harmonizations_shape,
    variable_list,
    variable_shape,
)
from gamekeeper.web.wire import Refused, id_of, sent, written
from gamekeeper.workbench.environment import mapping as workbench
from gamekeeper.workbench.requests.editing import (
    RenewScenarioRequest,
    ReviewRequest,
    SaveScenarioRequest,
)
from gamekeeper.workbench.requests.environment import InStore, Opened, Person, ScenarioRequest

router = APIRouter(prefix="/api")


@router.get("/environment")
def environment(who: Reader, server: TheServer) -> EnvironmentShape:
    """Tell what the environment holds, what is wrong in it, and what was done last."""
    seen = server.seen()
    return environment_shape(seen.environment, seen.revision, seen.store)


@router.get("/events", response_class=StreamingResponse)
async def events(request: Request, who: Reader, server: TheServer) -> StreamingResponse:
    """Tell of new revisions and of jobs as they happen (server-sent events)."""
    return StreamingResponse(
        server.events.listen(
            ("hello", {"who": who.name}),
            may_go_on=lambda: signed_in(request, server) is not None,
        ),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


forms_router = APIRouter(prefix="/api/forms")


@forms_router.get("", response_model=Grid, responses={304: {"description": "As it was."}})
def forms(
    who: Reader,
    server: TheServer,
    if_none_match: Annotated[str | None, Header()] = None,
    accept_encoding: Annotated[str, Header()] = "",
) -> Response:
    """Return all forms by all columns; it stays the same for a revision."""
    seen = server.seen()
    tag = f'"{seen.revision}-{server.held.place}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    body = server.kept(
        ("grid",),
        seen.environment,
        lambda: _packed(to_json(grid_shape(seen.environment, seen.revision))),
    )
    if "gzip" in accept_encoding:
        headers["Content-Encoding"] = "gzip"
    else:
        body = gzip.decompress(body)
    return Response(body, media_type="application/json", headers=headers)


@forms_router.get("/found")
def found(
    who: Reader, server: TheServer, where: Annotated[str, Query(max_length=20_000)] = ""
) -> FoundForms:
    """Return the ids of the forms that a query finds."""
    seen = server.seen()
    environment = seen.environment
    names = [form.name for form in find_forms(environment, where)] if where else environment.forms
    return FoundForms(revision=seen.revision, ids=[id_of(name) for name in names])


@forms_router.get("/{form}")
def form(form: str, who: Reader, server: TheServer) -> FormShape:
    """Return a form with all that it asks."""
    seen = server.seen()
    return form_shape(seen.environment, seen.names.form(form), seen.revision)


def _packed(text: bytes) -> bytes:
    return gzip.compress(text, compresslevel=1, mtime=0)


groups_router = APIRouter(prefix="/api/groups")


@groups_router.get("")
def groups(who: Reader, server: TheServer) -> GroupList:
    """Return all groups."""
    seen = server.seen()
    return server.kept(
        ("groups",), seen.environment, lambda: group_list(seen.environment, seen.revision)
    )


@groups_router.post("/count")
def count(asked: GroupDefinition, who: Reader, server: TheServer) -> GroupCount:
    """Return how many forms a definition finds; nothing is written."""
    return group_count(server.seen().environment, asked)


@groups_router.get("/{group}")
def group(group: str, who: Reader, server: TheServer) -> GroupShape:
    """Return a group with the forms that it has now."""
    seen = server.seen()
    return group_shape(seen.environment, seen.names.group(group), seen.revision)


variables_router = APIRouter(prefix="/api/variables")


@variables_router.get("", response_model=VariableList)
def variables(who: Reader, server: TheServer) -> Response:
    """Return all variables."""
    seen = server.seen()
    made = server.kept(
        ("variables",),
        seen.environment,
        lambda: written(variable_list(seen.environment, seen.revision)),
    )
    return sent(made)


class DraftAsked(BaseModel):
    """A variable that is being drawn, and what a form would select of it."""

    model_config = ConfigDict(extra="forbid")
    definition: Annotated[Nominal | Ordinal | Interval, Field(discriminator="scale")]
    selected: list[str] = []


class DraftShape(BaseModel):
    """The graph of a variable that is being drawn, and how a selection stands to it."""

    graph: GraphShape
    fault: str
    missed: list[str]
    overlaps: dict[str, list[str]]


@variables_router.post("/draft")
def draft(asked: DraftAsked, who: Reader, server: TheServer) -> DraftShape:
    """Lay out a variable that is being drawn, or typed as bands; nothing is written."""
    variable = variable_of(asked.definition)
    item = categorize(variable, asked.selected)
    return DraftShape(
        graph=graph_shape(variable.graph),
        fault=item.fault if asked.selected else "",
        missed=list(item.missed),
        overlaps={sink: list(holders) for sink, holders in (item.overlaps or {}).items()},
    )


@variables_router.get("/{variable}")
def variable(variable: str, who: Reader, server: TheServer) -> VariableShape:
    """Return a variable with its definition and its codes."""
    seen = server.seen()
    return variable_shape(seen.environment, seen.names.variable(variable), seen.revision)


@variables_router.get("/{variable}/graph", response_model=GraphShape)
def graph(variable: str, who: Reader, server: TheServer) -> Response:
    """Return the partition graph of a variable, laid out."""
    seen = server.seen()
    name = seen.names.variable(variable)
    found = seen.environment.variable(name).graph
    return sent(server.kept(("graph", name), found, lambda: written(graph_shape(found))))


@variables_router.get("/{variable}/harmonizations", response_model=HarmonizationsShape)
def harmonizations(variable: str, who: Reader, server: TheServer) -> Response:
    """Return the codes of a variable and their harmonizations, laid out."""
    with server.opened() as (place, names):
        name, environment = names.variable(variable), place.environment
        made = server.kept(
            ("harmonizations", name),
            environment,
            lambda: written(harmonizations_shape(environment, name)),
        )
        place.keep_codes()
    return sent(made)


@variables_router.get("/{variable}/codes")
def harmonized(
    variable: str,
    who: Reader,
    server: TheServer,
    code: Annotated[list[str], Query(max_length=500)],
) -> CodeShape:
    """Return what a code means, or the harmonization of several, and the forms that have it."""
    if not code:
        raise Refused(422, Reason.NOTHING_GIVEN.value, "No code was given.", "Choose a code.")
    with server.opened() as (place, names):
        name = names.variable(variable)
        one = code[0] if len(code) == 1 else place.environment.harmonize_codes(name, code)
        found = code_shape(place.environment, name, one)
        place.keep_codes()
        return found


scenarios_router = APIRouter(prefix="/api/scenarios")


@scenarios_router.get("")
def scenarios(who: Reader, server: TheServer) -> analysis.ScenarioList:
    """Return all scenarios."""
    with server.opened() as (place, _):
        assert place.store is not None
        return analysis.ScenarioList(
            revision=place.store.revision,
            scenarios=[
                analysis.scenario_line(each, is_stale=bool(staleness(each, place.environment)))
                for each in place.environment.scenarios.values()
            ],
        )


@scenarios_router.post("", status_code=201)
def save(asked: ScenarioAsked, who: Editor, server: TheServer) -> analysis.ScenarioSaved:
    """Make an analysis and save its outcome under a name."""
    scenario, edited = workbench.save_scenario(
        SaveScenarioRequest(
            place=InStore(store=server.settings.store),
            scenario=asked.name,
            question=asked.question.options(),
            person=Person(who=who.name),
            **asked.model_dump(exclude={"name", "question"}),
        )
    )
    server.events.publish("revision", revision=edited.revision)
    return analysis.ScenarioSaved(
        scenario=analysis.scenario_line(scenario, is_stale=False), edited=edited_shape(edited)
    )


@scenarios_router.get("/{scenario}")
def scenario(scenario: str, who: Reader, server: TheServer) -> analysis.ScenarioShape:
    """Return a scenario with its key variables."""
    with server.opened() as (place, names):
        assert place.store is not None
        name = names.scenario(scenario)
        asked = ScenarioRequest(opened=Opened(environment=server.settings.store), scenario=name)
        _, lines, _ = workbench.show_scenario(asked)
        found = place.environment.scenario(name)
        return analysis.scenario_shape(
            found,
            list(lines),
            place.store.revision,
            is_stale=bool(staleness(found, place.environment)),
        )


@scenarios_router.get("/{scenario}/review")
def review(scenario: str, who: Reader, server: TheServer) -> analysis.ReviewShape:
    """Say what has changed for a scenario, and what its analysis would give now."""
    name = server.seen().names.scenario(scenario)
    return analysis.review_shape(
        workbench.review(ReviewRequest(environment=server.settings.store, scenario=name))
    )


@scenarios_router.post("/{scenario}/renew")
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
