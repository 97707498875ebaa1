"""Variables: the list, one by one, their graphs of categories and of codes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.errors import Reason
from gamekeeper.mapping.variables.categorization import categorize
from gamekeeper.mapping.variables.definitions import Interval, Nominal, Ordinal, variable_of
from gamekeeper.web.access import Reader, TheServer
from gamekeeper.web.errors import Refused
from gamekeeper.web.sending import sent, written
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

router = APIRouter(prefix="/api/variables")


@router.get("", response_model=VariableList)
def variables(who: Reader, server: TheServer) -> Response:
    """Return all variables."""
    with server.opened() as (place, _):
        environment, store = place.environment, place.store
        assert store is not None
        made = server.kept(
            ("variables",), environment, lambda: written(variable_list(environment, store.revision))
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
    with server.opened() as (place, names):
        assert place.store is not None
        return variable_shape(place.environment, names.variable(variable), place.store.revision)


@router.get("/{variable}/graph", response_model=GraphShape)
def graph(variable: str, who: Reader, server: TheServer) -> Response:
    """Return the partition graph of a variable, laid out."""
    with server.opened() as (place, names):
        name = names.variable(variable)
        found = place.environment.variable(name).graph
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
