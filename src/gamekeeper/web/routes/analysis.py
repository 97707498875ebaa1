"""Key variable mapping, at every prevalence at once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from gamekeeper.web.service.access import Reader, TheServer
from gamekeeper.web.shapes.analysis import AnalysisAsked, AnalysisShape, analysis_shape
from gamekeeper.web.wire.sending import sent
from gamekeeper.workbench.environment.mapping import map_every_level
from gamekeeper.workbench.requests.environment.mapping import MapRequest
from gamekeeper.workbench.requests.environment.shared import Opened

router = APIRouter(prefix="/api/analysis")


@router.post("", response_model=AnalysisShape)
def analyse(
    asked: AnalysisAsked,
    who: Reader,
    server: TheServer,
    composite: Annotated[
        bool, Query(description="Whether to look for keys of several variables too.")
    ] = True,
) -> Response:
    """Map the key variables of a target."""
    opened = Opened(environment=server.settings.store)
    found, keys, revision = map_every_level(
        MapRequest(opened=opened, question=asked.options()), composite=composite
    )
    return sent(analysis_shape(found, keys, revision))
