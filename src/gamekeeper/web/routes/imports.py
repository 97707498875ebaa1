"""From a pile of forms to variables: questionnaires read, proposals reviewed, edits in words.

Nothing enters here. What was decided becomes edits, which are made like any others.
"""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel, ConfigDict

from gamekeeper.files.writing import write_file
from gamekeeper.importing.decisions import DecisionsFile
from gamekeeper.mapping.edits import describe_edit
from gamekeeper.web.service.access import Editor, TheServer
from gamekeeper.web.shapes.edits import OneEdit
from gamekeeper.workbench.environment.importing import decided_edits, import_forms
from gamekeeper.workbench.requests.environment.importing import ImportFormsRequest
from gamekeeper.workbench.requests.environment.shared import InStore

router = APIRouter(prefix="/api/imports")

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

    edits: list[OneEdit]
    words: list[str]


@router.post("")
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


@router.post("/edits")
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
