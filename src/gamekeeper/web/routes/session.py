"""Signing in and out: by the start address where there are no accounts, else by name and password."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from gamekeeper.results import package_version
from gamekeeper.web.people.accounts import Account
from gamekeeper.web.people.sessions import LONGEST_SECONDS, Who
from gamekeeper.web.service.access import Reader, TheServer, cookie_name, signed_in
from gamekeeper.web.service.server import Server
from gamekeeper.web.settings import Settings
from gamekeeper.web.wire.errors import Refused
from gamekeeper.workbench.environment.opening import person

router = APIRouter()


class SessionShape(BaseModel):
    """Who is signed in, if anybody, and how one signs in."""

    who: str | None
    role: str | None
    accounts: bool = Field(description="Whether people sign in by name and password.")
    environment: str = Field(description="The name of the environment, for those signed in.")
    version: str


class SignIn(BaseModel):
    """A name and a password."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str = Field(max_length=1_000)
    password: str = Field(max_length=10_000)


@router.get("/start", include_in_schema=False)
def start(request: Request, server: TheServer, token: str = "") -> Response:
    """Exchange the start token for a cookie, and go to the first page without it."""
    cookie = None if server.accounts.are_there else server.exchange(token, person(None))
    going = RedirectResponse("/", 303)
    if cookie is None:
        # A page that was kept open, or an address used before: whoever is signed in goes on.
        if signed_in(request, server) is None:
            return RedirectResponse("/?used", 303)
        return going
    _set(going, cookie, server.settings)
    return going


@router.get("/api/session")
def session(request: Request, server: TheServer) -> SessionShape:
    """Tell who is signed in."""
    return _shape(server, signed_in(request, server))


@router.post("/api/session", status_code=201)
def sign_in(asked: SignIn, request: Request, server: TheServer, response: Response) -> SessionShape:
    """Sign in by name and password."""
    if not server.accounts.are_there:
        raise Refused(
            401, "no-accounts", "Nobody signs in by name here.", "Use the address that it tells."
        )
    # Behind a proxy all come from one address, and one who guesses would lock out the others.
    address = request.client.host if request.client and not server.settings.origin else ""
    account = server.accounts.sign_in(asked.name, asked.password, address)
    _set(response, server.sessions.begin(account.name), server.settings)
    return _shape(server, account)


@router.delete("/api/session", status_code=204)
def sign_out(who: Reader, server: TheServer, response: Response) -> None:
    """End the session."""
    server.sessions.end(who.session)
    response.delete_cookie(cookie_name(server.settings), path="/", secure=server.settings.is_secure)


def _shape(server: Server, who: Who | Account | None) -> SessionShape:
    return SessionShape(
        who=who.name if who else None,
        role=who.role.word if who else None,
        accounts=server.accounts.are_there,
        environment=server.seen().environment.name if who else "",
        version=package_version() if who else "",
    )


def _set(response: Response, value: str, settings: Settings) -> None:
    response.set_cookie(
        cookie_name(settings),
        value,
        max_age=LONGEST_SECONDS,
        path="/",
        secure=settings.is_secure,
        httponly=True,
        samesite="lax",
    )
