"""Forms: all of them as a grid, those that a query finds, one by one."""

from __future__ import annotations

import gzip
import json
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from gamekeeper.mapping.environment.listing import find_forms
from gamekeeper.web.access import Reader, TheServer
from gamekeeper.web.ids import id_of
from gamekeeper.web.shapes.forms import FormShape, FoundForms, Grid, form_shape, grid_shape

router = APIRouter(prefix="/api/forms")


@router.get("", response_model=Grid, responses={304: {"description": "As it was."}})
def forms(
    who: Reader,
    server: TheServer,
    if_none_match: Annotated[str | None, Header()] = None,
    accept_encoding: Annotated[str, Header()] = "",
) -> Response:
    """Return all forms by all columns; it stays the same for a revision."""
    with server.opened() as (place, _):
        environment, store = place.environment, place.store
        assert store is not None
        revision = store.revision
        tag = f'"{revision}-{id_of(str(server.settings.store))}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
        if if_none_match == tag:
            return Response(status_code=304, headers=headers)
        body = server.kept(
            ("grid",),
            environment,
            lambda: _packed(json.dumps(grid_shape(environment, revision), ensure_ascii=False)),
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
    with server.opened() as (place, _):
        environment = place.environment
        names = (
            [form.name for form in find_forms(environment, where)] if where else environment.forms
        )
        assert place.store is not None
        return FoundForms(revision=place.store.revision, ids=[id_of(name) for name in names])


@router.get("/{form}")
def form(form: str, who: Reader, server: TheServer) -> FormShape:
    """Return a form with all that it asks."""
    with server.opened() as (place, names):
        assert place.store is not None
        return form_shape(place.environment, names.form(form), place.store.revision)


def _packed(text: str) -> bytes:
    return gzip.compress(text.encode(errors="replace"), compresslevel=1, mtime=0)
