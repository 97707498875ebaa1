"""The environment as a whole, and what happens to it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from gamekeeper.web.service.access import Reader, TheServer, signed_in
from gamekeeper.web.shapes.environment import EnvironmentShape, environment_shape

router = APIRouter(prefix="/api")


@router.get("/environment")
def environment(who: Reader, server: TheServer) -> EnvironmentShape:
    """Tell what the environment holds, what is wrong in it, and what was done last."""
    seen = server.seen()
    return environment_shape(seen.environment, seen.revision, seen.store)


@router.get("/events", response_class=StreamingResponse)
async def events(request: Request, who: Reader, server: TheServer) -> StreamingResponse:
    """Tell of new revisions and of jobs as they happen (server-sent events)."""
    return StreamingResponse(
        server.events.listen(
            ("hello", {"who": who.name}),
            may_go_on=lambda: signed_in(request, server) is not None,
        ),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )
