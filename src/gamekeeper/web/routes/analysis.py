"""Key variable mapping, at every prevalence at once."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from gamekeeper.web.service.access import Reader, TheServer
from gamekeeper.web.service.server import Server
from gamekeeper.web.shapes.analysis import (
    AnalysisAsked,
    AnalysisShape,
    CompositeShape,
    analysis_shape,
    composite_shape,
)
from gamekeeper.web.wire.sending import sent
from gamekeeper.workbench.environment.mapping import map_every_level, map_target
from gamekeeper.workbench.requests.environment.mapping import MapRequest
from gamekeeper.workbench.requests.environment.shared import Opened

router = APIRouter(prefix="/api/analysis")


@router.post("", response_model=AnalysisShape)
def analyse(asked: AnalysisAsked, who: Reader, server: TheServer) -> Response:
    """Map the key variables of a target."""
    return sent(analysis_shape(*map_every_level(_request(server, asked))))


@router.post("/together")
def together(asked: AnalysisAsked, who: Reader, server: TheServer) -> CompositeShape:
    """Look for keys of several variables, which takes longer; forms are as in the analysis."""
    return composite_shape(*map_target(_request(server, asked)))


def _request(server: Server, asked: AnalysisAsked) -> MapRequest:
    return MapRequest(opened=Opened(environment=server.settings.store), question=asked.options())
