"""Groups: the list, one by one, and how many forms a definition finds before it is saved."""

from __future__ import annotations

from fastapi import APIRouter

from gamekeeper.web.access import Reader, TheServer
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
    with server.opened() as (place, _):
        environment, store = place.environment, place.store
        assert store is not None
        return server.kept(
            ("groups",), environment, lambda: group_list(environment, store.revision)
        )


@router.post("/count")
def count(asked: GroupDefinition, who: Reader, server: TheServer) -> GroupCount:
    """Return how many forms a definition finds; nothing is written."""
    with server.opened() as (place, _):
        return group_count(place.environment, asked)


@router.get("/{group}")
def group(group: str, who: Reader, server: TheServer) -> GroupShape:
    """Return a group with the forms that it has now."""
    with server.opened() as (place, names):
        assert place.store is not None
        return group_shape(place.environment, names.group(group), place.store.revision)
