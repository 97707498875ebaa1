"""What pages show, to be kept: lists as CSV or JSON, analyses and graphs as the command line has them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from gamekeeper.mapping.analysis.map_sentences import composite_rows, describe_map, map_notes
from gamekeeper.results import Listing, Result
from gamekeeper.results.plain import document_of, lines_of, plain_row
from gamekeeper.web.service.access import Reader, TheServer
from gamekeeper.web.shapes.analysis import AnalysisAsked
from gamekeeper.wording import shown_cell
from gamekeeper.workbench.environment import browsing, history, scenarios
from gamekeeper.workbench.environment.mapping import map_target, show_graph
from gamekeeper.workbench.requests.environment.browsing import (
    FormsRequest,
    GridRequest,
    NamesRequest,
)
from gamekeeper.workbench.requests.environment.mapping import GraphRequest, Kind, MapRequest
from gamekeeper.workbench.requests.environment.shared import InStore, Opened
from gamekeeper.workbench.requests.environment.store import HistoryRequest

router = APIRouter(prefix="/api")


class TableFormat(StrEnum):
    """How a list is kept."""

    CSV = "csv"
    JSON = "json"


class PictureFormat(StrEnum):
    """How a drawing is kept."""

    SVG = "svg"
    PNG = "png"


class AnalysisFormat(StrEnum):
    """How an analysis is kept."""

    CSV = "csv"
    JSON = "json"
    SVG = "svg"
    PNG = "png"
    HTML = "html"


class What(StrEnum):
    """Which list."""

    FORMS = "forms"
    GRID = "grid"
    VARIABLES = "variables"
    GROUPS = "groups"
    SCENARIOS = "scenarios"
    HISTORY = "history"


_MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
}


@router.get("/export/{what}", response_class=Response)
def export(
    what: What,
    who: Reader,
    server: TheServer,
    how: Annotated[TableFormat, Query(alias="format")] = TableFormat.CSV,
    where: Annotated[str, Query(max_length=20_000)] = "",
) -> Response:
    """Return a list as the command line prints it."""
    opened = Opened(environment=server.settings.store)
    lists: dict[What, Callable[[], Listing]] = {
        What.FORMS: lambda: browsing.forms(FormsRequest(opened=opened, where=where)),
        What.GRID: lambda: browsing.grid(GridRequest(opened=opened, where=where)),
        What.VARIABLES: lambda: browsing.variables(NamesRequest(opened=opened)),
        What.GROUPS: lambda: browsing.groups(NamesRequest(opened=opened)),
        What.SCENARIOS: lambda: scenarios.list_scenarios(NamesRequest(opened=opened)),
        What.HISTORY: lambda: history.list_history(
            HistoryRequest(place=InStore(store=server.settings.store))
        ),
    }
    found = lists[what]()
    body = _csv(found) if how is TableFormat.CSV else _json(found)
    return _kept(body, f"{what.value}.{how.value}")


@router.post("/analysis/export", response_class=Response)
def export_analysis(
    asked: AnalysisAsked,
    who: Reader,
    server: TheServer,
    how: Annotated[AnalysisFormat, Query(alias="format")] = AnalysisFormat.CSV,
) -> Response:
    """Return an analysis as the command line prints, draws or reports it."""
    written: dict[str, Any] = {}
    with server.scratch() as folder:
        path = folder / f"analysis.{how.value}"
        if how in (AnalysisFormat.SVG, AnalysisFormat.PNG):
            written["plot"] = path
        elif how is AnalysisFormat.HTML:
            written["report"] = path
        outcome, composite = map_target(
            MapRequest(
                opened=Opened(environment=server.settings.store),
                question=asked.options(),
                **written,
            )
        )
        if written:
            return _kept(path.read_bytes(), path.name)
    if how is AnalysisFormat.CSV:
        return _kept(_csv(outcome), "analysis.csv")
    body = _json(
        outcome,
        sentences=[describe_map(outcome), *composite.sentences],
        notices=map_notes(outcome),
        parts={
            "evidence": {"rows": outcome.evidence().to_arrow().to_pylist()},
            "composite_keys": {"rows": composite_rows(composite)},
        },
    )
    return _kept(body, "analysis.json")


@router.get("/variables/{variable}/picture", response_class=Response)
def picture(
    variable: str,
    who: Reader,
    server: TheServer,
    kind: Kind = Kind.PARTITION,
    how: Annotated[PictureFormat, Query(alias="format")] = PictureFormat.SVG,
    form: str = "",
) -> Response:
    """Return the graph of a variable as the command line draws it."""
    names = server.seen().names
    name = names.variable(variable)
    marked = names.form(form) if form else None
    with server.scratch() as folder:
        path = folder / f"graph.{how.value}"
        show_graph(
            GraphRequest(
                path=server.settings.store, variable=name, kind=kind, form=marked, output=path
            )
        )
        return _kept(path.read_bytes(), path.name)


def _json(result: Result, **told: Any) -> bytes:
    document = document_of(result, **told)
    document["rows"] = list(document["rows"])
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False).encode()


def _csv(result: Result) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    names, lines = lines_of(result)
    writer.writerow([shown_cell(name) for name in names])
    for line in lines:
        row = plain_row(dict(zip(names, line, strict=True)))
        writer.writerow([shown_cell(cell) for cell in row.values()])
    return text.getvalue().encode(errors="replace")


def _kept(body: bytes, name: str) -> Response:
    ending = name.rpartition(".")[2]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=_MEDIA[ending], headers=headers)
