"""Forms: all of them as a grid, those that a query finds, one by one."""

from __future__ import annotations

import gzip
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response
from pydantic_core import to_json

from gamekeeper.mapping.environment.listing import find_forms
from gamekeeper.web.service.access import Reader, TheServer
from gamekeeper.web.shapes.forms import FormShape, FoundForms, Grid, form_shape, grid_shape
from gamekeeper.web.wire.ids import id_of

router = APIRouter(prefix="/api/forms")


@router.get("", response_model=Grid, responses={304: {"description": "As it was."}})
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


@router.get("/found")
def found(
    who: Reader, server: TheServer, where: Annotated[str, Query(max_length=20_000)] = ""
) -> FoundForms:
    """Return the ids of the forms that a query finds."""
    seen = server.seen()
    environment = seen.environment
    names = [form.name for form in find_forms(environment, where)] if where else environment.forms
    return FoundForms(revision=seen.revision, ids=[id_of(name) for name in names])


@router.get("/{form}")
def form(form: str, who: Reader, server: TheServer) -> FormShape:
    """Return a form with all that it asks."""
    seen = server.seen()
    return form_shape(seen.environment, seen.names.form(form), seen.revision)


def _packed(text: bytes) -> bytes:
    return gzip.compress(text, compresslevel=1, mtime=0)
