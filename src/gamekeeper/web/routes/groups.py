"""Groups: the list, one by one, and how many forms a definition finds before it is saved."""

from __future__ import annotations

from fastapi import APIRouter

from gamekeeper.web.service.access import Reader, TheServer
from gamekeeper.web.shapes.groups import (
    GroupCount,
    GroupDefinition,
    GroupList,
    GroupShape,
    group_count,
    group_list,
    group_shape,
)

router = APIRouter(prefix="/api/groups")


@router.get("")
def groups(who: Reader, server: TheServer) -> GroupList:
    """Return all groups."""
    seen = server.seen()
    return server.kept(
        ("groups",), seen.environment, lambda: group_list(seen.environment, seen.revision)
    )


@router.post("/count")
def count(asked: GroupDefinition, who: Reader, server: TheServer) -> GroupCount:
    """Return how many forms a definition finds; nothing is written."""
    return group_count(server.seen().environment, asked)


@router.get("/{group}")
def group(group: str, who: Reader, server: TheServer) -> GroupShape:
    """Return a group with the forms that it has now."""
    seen = server.seen()
    return group_shape(seen.environment, seen.names.group(group), seen.revision)
