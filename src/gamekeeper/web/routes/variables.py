"""Variables: the list, one by one, their graphs of categories and of codes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.errors import Reason
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.definitions import Interval, Nominal, Ordinal, variable_of
from gamekeeper.web.service.access import Reader, TheServer
from gamekeeper.web.shapes.graphs import (
    GraphShape,
    HarmonizationsShape,
    graph_shape,
    harmonizations_shape,
)
from gamekeeper.web.shapes.variables import (
    CodeShape,
    VariableList,
    VariableShape,
    code_shape,
    variable_list,
    variable_shape,
)
from gamekeeper.web.wire.errors import Refused
from gamekeeper.web.wire.sending import sent, written

router = APIRouter(prefix="/api/variables")


@router.get("", response_model=VariableList)
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


@router.post("/draft")
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


@router.get("/{variable}")
def variable(variable: str, who: Reader, server: TheServer) -> VariableShape:
    """Return a variable with its definition and its codes."""
    seen = server.seen()
    return variable_shape(seen.environment, seen.names.variable(variable), seen.revision)


@router.get("/{variable}/graph", response_model=GraphShape)
def graph(variable: str, who: Reader, server: TheServer) -> Response:
    """Return the partition graph of a variable, laid out."""
    seen = server.seen()
    name = seen.names.variable(variable)
    found = seen.environment.variable(name).graph
    return sent(server.kept(("graph", name), found, lambda: written(graph_shape(found))))


@router.get("/{variable}/harmonizations", response_model=HarmonizationsShape)
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


@router.get("/{variable}/codes")
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
