"""Who asks: found by the cookie, held against the role that a route needs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from gamekeeper.web.people.roles import Role
from gamekeeper.web.people.sessions import Who
from gamekeeper.web.service.server import Server
from gamekeeper.web.settings import Settings
from gamekeeper.web.wire.errors import Refused

_NAME = "gamekeeper"


def cookie_name(settings: Settings) -> str:
    """Return the name of the cookie; over https one that no neighbour can set."""
    return f"__Host-{_NAME}" if settings.is_secure else f"{_NAME}-{settings.port}"


def server_of(request: Request) -> Server:
    """Return the server that a request came to."""
    return request.app.state.server


TheServer = Annotated[Server, Depends(server_of)]


class Needs:
    """A route needs a role."""

    def __init__(self, role: Role) -> None:
        self.role = role

    def __call__(self, request: Request, server: TheServer) -> Who:
        """Return who asks, or refuse."""
        who = signed_in(request, server)
        if who is None:
            raise Refused(401)
        if who.role < self.role:
            raise Refused(
                403,
                "not-allowed",
                f"This is for the role {self.role.word}; yours is {who.role.word}.",
                "Ask an administrator.",
            )
        return who


def signed_in(request: Request, server: Server) -> Who | None:
    """Return who has the cookie of a request."""
    value = request.cookies.get(cookie_name(server.settings))
    if value is None:
        return None
    return server.sessions.who(value, accounts=server.accounts.are_there)


Reader = Annotated[Who, Depends(Needs(Role.READER))]
Editor = Annotated[Who, Depends(Needs(Role.EDITOR))]
Administrator = Annotated[Who, Depends(Needs(Role.ADMINISTRATOR))]
