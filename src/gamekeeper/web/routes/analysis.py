"""Key variable mapping, at every prevalence at once."""

from __future__ import annotations

from fastapi import APIRouter

from gamekeeper.web.access import Reader, TheServer
from gamekeeper.web.shapes.analysis import AnalysisAsked, AnalysisShape, analysis_shape
from gamekeeper.workbench.mapping import map_every_level
from gamekeeper.workbench.requests.environment import Opened
from gamekeeper.workbench.requests.mapping import MapRequest

router = APIRouter(prefix="/api/analysis")


@router.post("")
def analyse(asked: AnalysisAsked, who: Reader, server: TheServer) -> AnalysisShape:
    """Map the key variables of a target."""
    opened = Opened(environment=server.settings.store)
    found, composite, revision = map_every_level(
        MapRequest(opened=opened, question=asked.options())
    )
    return analysis_shape(found, composite, revision)
