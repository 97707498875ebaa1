"""Routes of edits, proposals from forms, key variable mapping, and what pages show, to be kept.

Edits are made, previewed, taken back, and listed, the newest first. Questionnaires are read into
proposals that are reviewed: nothing enters here, but what was decided becomes edits, which are made
like any others. Mapping is at every prevalence at once. Lists are kept as CSV or JSON, analyses and
graphs as the command line has them.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.files import write_file
from gamekeeper.importing.proposing import DecisionsFile
from gamekeeper.mapping.analysis.composite_keys import composite_rows, describe_map, map_notes
from gamekeeper.mapping.edits import describe_edit
from gamekeeper.results import Listing, Result, document_of, lines_of, plain_row
from gamekeeper.web.service import Editor, Reader, Server, TheServer
from gamekeeper.web.shapes import analysis, environment
from gamekeeper.web.shapes.questions import AnalysisAsked
from gamekeeper.web.wire import Change, Refused, refusal_of, sent
from gamekeeper.wording import shown_cell
from gamekeeper.workbench.environment import browsing, editing
from gamekeeper.workbench.environment import mapping as scenarios
from gamekeeper.workbench.environment.importing import decided_edits, import_forms
from gamekeeper.workbench.environment.mapping import map_every_level, map_target, show_graph
from gamekeeper.workbench.environment.opening import moment
from gamekeeper.workbench.requests.editing import (
    GraphRequest,
    ImportFormsRequest,
    Kind,
    MapRequest,
    Signature,
)
from gamekeeper.workbench.requests.environment import (
    FormsRequest,
    GridRequest,
    HistoryRequest,
    InStore,
    NamesRequest,
    Opened,
    Person,
    TakeBackRequest,
)

router = APIRouter(prefix="/api")
_PAGE = 50


@router.post("/edits")
def make_edits(
    asked: environment.EditsAsked, who: Editor, server: TheServer
) -> environment.EditedShape:
    """Make edits together: all of them or, with one clear error, none."""
    signature = Signature(
        person=Person(who=who.name), note=asked.note, base=asked.base, key=asked.key
    )
    try:
        edited = editing.edit_store(
            server.settings.store, asked.edits, signature, unrestricted=asked.unrestricted
        )
    except GamekeeperError as error:
        if error.reason is Reason.STALE and asked.base is not None:
            raise _stale(server, error, asked.base) from error
        raise
    return _told(server, edited)


@router.post("/edits/preview", response_model=environment.PreviewShape)
def preview(asked: environment.EditsAsked, who: Reader, server: TheServer) -> Response:
    """Say what edits would do; nothing is written."""
    found = editing.preview(server.settings.store, asked.edits, unrestricted=asked.unrestricted)
    return sent(environment.preview_shape(found))


class TakeBack(BaseModel):
    """An undo or a redo."""

    model_config = ConfigDict(extra="forbid")
    anyone: bool = Field(default=False, description="Also if somebody else made that edit.")


@router.post("/undo")
def undo(asked: TakeBack, who: Editor, server: TheServer) -> environment.EditedShape:
    """Take back the newest edit that stands."""
    return _told(server, editing.undo(_take_back(server, asked, who.name)))


@router.post("/redo")
def redo(asked: TakeBack, who: Editor, server: TheServer) -> environment.EditedShape:
    """Make the edit again that was taken back last."""
    return _told(server, editing.redo(_take_back(server, asked, who.name)))


class History(BaseModel):
    """A page of the history, the newest first."""

    total: int
    page: int
    revisions: list[environment.RevisionShape]


@router.get("/history")
def history(
    who: Reader,
    server: TheServer,
    form: str = "",
    variable: str = "",
    group: str = "",
    by: str = "",
    since: str = "",
    until: str = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> History:
    """Return what was done, by whom and when; names as they are."""
    touching = next(
        ((kind, name) for kind, name in (("form", form), ("variable", variable), ("group", group)) if name),
        None,
    )  # fmt: skip
    first = (page - 1) * _PAGE
    seen = server.seen()
    if touching or by or since or until:
        found = seen.store.history(
            since=moment(since) if since else None,
            until=moment(until) if until else None,
            who=by or None,
            touching=touching,
        )
        total, shown = len(found), found[first : first + _PAGE]
    else:
        # Numbers have no gaps, so that the page can be asked for by them.
        total = seen.revision
        last = total - first
        shown = seen.store.history(since=max(1, last - _PAGE + 1), until=last) if last > 0 else ()
    return History(
        total=total, page=page, revisions=[environment.revision_shape(each) for each in shown]
    )


def _take_back(server: Server, asked: TakeBack, who: str) -> TakeBackRequest:
    return TakeBackRequest(
        place=InStore(store=server.settings.store), anyone=asked.anyone, person=Person(who=who)
    )


def _told(server: Server, edited: editing.Edited) -> environment.EditedShape:
    server.events.publish("revision", revision=edited.revision)
    return environment.edited_shape(edited)


def _stale(server: Server, error: GamekeeperError, base: int) -> Refused:
    """Return what others did since, with who and when."""
    refused = Refused(409)
    refused.refusal = refusal_of(error)
    seen = server.seen()
    if base < seen.revision:
        refused.refusal.changes = [
            Change(
                revision=each.number,
                at=each.at.isoformat(),
                who=each.who,
                words=list(each.words[:5]),
            )
            for each in seen.store.history(since=base + 1, most=20)
        ]
    return refused


imports_router = APIRouter(prefix="/api/imports")
_UNFIT = re.compile(r"[^\w .()+-]+")
_LONGEST = 120


class Proposed(BaseModel):
    """What questions of a questionnaire may be about, how sure that is, and why."""

    decisions: DecisionsFile
    sentences: list[str]


class DecidedAsked(BaseModel):
    """What was decided on proposed questions."""

    model_config = ConfigDict(extra="forbid")
    decisions: DecisionsFile


class DecidedEdits(BaseModel):
    """The edits that enter what was decided, and each in words."""

    edits: list[environment.OneEdit]
    words: list[str]


@imports_router.post("")
def propose(
    who: Editor,
    server: TheServer,
    content: Annotated[bytes, Body(media_type="application/octet-stream")],
    name: Annotated[str, Query(max_length=1_000, description="The name of the file.")],
    file_format: Annotated[str, Query(max_length=100, description="If it is not told.")] = "",
    form: Annotated[str, Query(max_length=20_000, description="A name for the form.")] = "",
) -> Proposed:
    """Read a questionnaire, and propose what its questions are about; nothing is entered."""
    with server.scratch() as folder:
        path = write_file(folder / _file_name(name), content, private=True)
        found = import_forms(
            ImportFormsRequest(
                place=InStore(store=server.settings.store),
                files=(path,),
                name=form or None,
                file_format=file_format or None,
            )
        )
    return Proposed(decisions=found.decisions, sentences=found.sentences())


@imports_router.post("/edits")
def edits(asked: DecidedAsked, who: Editor, server: TheServer) -> DecidedEdits:
    """Return the edits that enter what was decided; nothing is entered."""
    made = decided_edits(server.settings.store, asked.decisions)
    return DecidedEdits(edits=made, words=[describe_edit(edit) for edit in made])


def _file_name(name: str) -> str:
    """Return a name for a file that was sent: its own, without what is no part of a name."""
    last = re.split(r"[/\\]", name)[-1]
    plain = _UNFIT.sub("_", last).strip(" .") or "questionnaire"
    stem, dot, ending = plain.rpartition(".")
    return f"{stem[:_LONGEST]}{dot}{ending[:12]}" if stem else plain[:_LONGEST]


analysis_router = APIRouter(prefix="/api/analysis")


@analysis_router.post("", response_model=analysis.AnalysisShape)
def analyse(asked: AnalysisAsked, who: Reader, server: TheServer) -> Response:
    """Map the key variables of a target."""
    return sent(analysis.analysis_shape(*map_every_level(_request(server, asked))))


@analysis_router.post("/together")
def together(asked: AnalysisAsked, who: Reader, server: TheServer) -> analysis.CompositeShape:
    """Look for keys of several variables, which takes longer; forms are as in the analysis."""
    return analysis.composite_shape(*map_target(_request(server, asked)))


def _request(server: Server, asked: AnalysisAsked) -> MapRequest:
    return MapRequest(opened=Opened(environment=server.settings.store), question=asked.options())


exports_router = APIRouter(prefix="/api")


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


@exports_router.get("/export/{what}", response_class=Response)
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
        What.HISTORY: lambda: browsing.list_history(
            HistoryRequest(place=InStore(store=server.settings.store))
        ),
    }
    found = lists[what]()
    body = _csv(found) if how is TableFormat.CSV else _json(found)
    return _kept(body, f"{what.value}.{how.value}")


@exports_router.post("/analysis/export", response_class=Response)
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


@exports_router.get("/variables/{variable}/picture", response_class=Response)
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
