"""Edits: made, previewed, taken back; and what was done, the newest first."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.web.service.access import Editor, Reader, TheServer
from gamekeeper.web.service.server import Server
from gamekeeper.web.shapes.common import RevisionShape, revision_shape
from gamekeeper.web.shapes.edits import (
    EditedShape,
    EditsAsked,
    PreviewShape,
    edited_shape,
    preview_shape,
)
from gamekeeper.web.wire.errors import Change, Refused, refusal_of
from gamekeeper.web.wire.sending import sent
from gamekeeper.workbench.environment import editing
from gamekeeper.workbench.environment.opening import moment
from gamekeeper.workbench.requests.environment.editing import Signature
from gamekeeper.workbench.requests.environment.shared import InStore, Person
from gamekeeper.workbench.requests.environment.store import TakeBackRequest

router = APIRouter(prefix="/api")

_MOST_CHANGES = 20
_PAGE = 50


@router.post("/edits")
def make_edits(asked: EditsAsked, who: Editor, server: TheServer) -> EditedShape:
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


@router.post("/edits/preview", response_model=PreviewShape)
def preview(asked: EditsAsked, who: Reader, server: TheServer) -> Response:
    """Say what edits would do; nothing is written."""
    found = editing.preview(server.settings.store, asked.edits, unrestricted=asked.unrestricted)
    return sent(preview_shape(found))


class TakeBack(BaseModel):
    """An undo or a redo."""

    model_config = ConfigDict(extra="forbid")

    anyone: bool = Field(default=False, description="Also if somebody else made that edit.")


@router.post("/undo")
def undo(asked: TakeBack, who: Editor, server: TheServer) -> EditedShape:
    """Take back the newest edit that stands."""
    return _told(server, editing.undo(_take_back(server, asked, who.name)))


@router.post("/redo")
def redo(asked: TakeBack, who: Editor, server: TheServer) -> EditedShape:
    """Make the edit again that was taken back last."""
    return _told(server, editing.redo(_take_back(server, asked, who.name)))


class History(BaseModel):
    """A page of the history, the newest first."""

    total: int
    page: int
    revisions: list[RevisionShape]


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
    return History(total=total, page=page, revisions=[revision_shape(each) for each in shown])


def _take_back(server: Server, asked: TakeBack, who: str) -> TakeBackRequest:
    return TakeBackRequest(
        place=InStore(store=server.settings.store), anyone=asked.anyone, person=Person(who=who)
    )


def _told(server: Server, edited: editing.Edited) -> EditedShape:
    server.events.publish("revision", revision=edited.revision)
    return edited_shape(edited)


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
            for each in seen.store.history(since=base + 1, most=_MOST_CHANGES)
        ]
    return refused
