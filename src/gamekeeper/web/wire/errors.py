"""Errors on the wire: one shape, whatever went wrong, and never a value of a data file in it."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason, fault_place
from gamekeeper.results import package_version
from gamekeeper.wording import count_of, quoted

LOG = logging.getLogger("gamekeeper.web")
"""Says where something failed, never with what."""

_STATUS = {
    Reason.STALE: 409,
    Reason.NOTHING_TO_UNDO: 409,
    Reason.CANCELLED: 409,
    Reason.BUSY: 503,
    Reason.IN_USE: 503,
    Reason.DISK_FULL: 507,
    Reason.UNCERTAIN: 503,
    Reason.UNREACHABLE: 503,
    Reason.READ_ONLY: 403,
    Reason.NOT_FOUND: 404,
}
_TOLD = {
    400: ("malformed", "What was sent cannot be read.", "Reload the page and do it again."),
    401: ("not-signed-in", "You are not signed in.", "Sign in."),
    403: ("not-allowed", "Your role does not allow this.", "Ask an administrator."),
    404: ("not-found", "There is no such page.", "Go back, or begin at the overview."),
    405: ("not-allowed", "This cannot be done here.", "Reload the page and do it again."),
    413: ("too-large", "What was sent is too large.", "Send less at once."),
    415: ("malformed", "What was sent is not JSON.", "Send application/json."),
    421: ("wrong-host", "The server is not known by this name.", "Use the address that it tells."),
    429: ("too-often", "That was tried too often.", "Wait a little, and try again."),
}
_SHOWN_PROBLEMS = 100
# What pydantic says of these holds nothing of what was sent.
_PLAIN = frozenset(
    {
        "bool_type", "dict_type", "enum", "float_type", "greater_than", "greater_than_equal",
        "int_parsing", "int_type", "less_than", "less_than_equal", "list_type", "literal_error",
        "model_type", "string_too_long", "string_type", "too_long", "too_short", "tuple_type",
    }
)  # fmt: skip


class Fault(BaseModel):
    """One thing that is wrong: where, what was found, what to do about it."""

    reason: str
    where: str
    found: str
    do: str = ""


class Change(BaseModel):
    """Who changed something meanwhile, when, and how."""

    revision: int
    at: str
    who: str
    words: list[str]


class Refusal(BaseModel):
    """Why something was not done."""

    code: str = Field(description="A stable code; pages and tests match this, never the prose.")
    message: str = Field(description="What was asked and what was found.")
    problems: list[Fault] = []
    hint: str = Field(default="", description="What to do.")
    changes: list[Change] = Field(default=[], description="What others did, where that is why.")


class Refused(Exception):  # noqa: N818 - a refusal, told as it is
    """What was asked is refused with a status, in words of the server itself.

    `wait` is after how many seconds it may be asked again, where that is known.
    """

    def __init__(
        self, status: int, code: str = "", message: str = "", hint: str = "", *, wait: int = 0
    ) -> None:
        told = _TOLD.get(status, ("refused", "This was refused.", ""))
        self.status = status
        self.wait = wait
        self.refusal = Refusal(
            code=code or told[0], message=message or told[1], hint=hint or told[2]
        )
        super().__init__(status)


def missing(kind: str) -> Refused:
    """Return the refusal of something that is not there, or no longer."""
    return Refused(
        404,
        Reason.NOT_FOUND.value,
        f"This {kind} was asked for. There is none; it may have been renamed or removed.",
        f"Choose another from the list of {kind}s.",
    )


def refusal_of(error: GamekeeperError) -> Refusal:
    """Return an error of ours as it goes over the wire."""
    return Refusal(
        code=error.reason.value,
        message=" ".join(part for part in (error.asked, error.found) if part),
        problems=[
            Fault.model_validate(problem, from_attributes=True)
            for problem in error.problems[:_SHOWN_PROBLEMS]
        ],
        hint=error.do,
    )


def without_folders(request: Request, refusal: Refusal) -> Refusal:
    """Return a refusal that names the store, and does not say in which folder it lies."""
    server = getattr(request.app.state, "server", None)
    if server is None:
        return refusal
    store = server.settings.store
    # Of a store on a server, its schema: nobody who edits forms is told which machine it is.
    told, name = (f"{store.parent}/", "") if isinstance(store, Path) else (str(store), store.name)
    return Refusal.model_validate_json(refusal.model_dump_json().replace(told, name))


def status_of(error: GamekeeperError) -> int:
    """Return the status of HTTP for an error of ours."""
    if error.reason in _STATUS:
        return _STATUS[error.reason]
    return 422 if isinstance(error, InputError | LimitError) else 503


def answer(status: int, refusal: Refusal, *, wait: int = 0) -> JSONResponse:
    """Return a refusal as a response, with the seconds to wait where these are known."""
    headers = {"Cache-Control": "no-store", **({"Retry-After": str(wait)} if wait else {})}
    return JSONResponse(refusal.model_dump(), status, headers=headers)


def fault_of_ours(error: BaseException) -> JSONResponse:
    """Say where we failed, never with what: the text of an exception can hold values of a file."""
    told = f"{type(error).__name__} in {fault_place(error)}, version {package_version()}"
    LOG.error("a fault of ours: %s", told)
    return answer(
        500,
        Refusal(
            code="our-fault",
            message=f"This is a fault of ours ({told}).",
            hint="Please report this line; it holds none of your data.",
        ),
    )


def install(app: FastAPI) -> None:
    """Let every error leave in the one shape."""

    @app.exception_handler(GamekeeperError)
    def _ours(request: Request, error: GamekeeperError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return answer(status_of(error), without_folders(request, refusal_of(error)))

    @app.exception_handler(sqlite3.OperationalError)
    def _own_database(request: Request, error: sqlite3.OperationalError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return answer(
            507,
            Refusal(
                code=Reason.NOT_WRITABLE.value,
                message="The server's own folder cannot be written: its disk may be full.",
                hint="Make space in the folder of the server, and do it again.",
            ),
        )

    @app.exception_handler(Refused)
    def _refused(request: Request, error: Refused) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return answer(error.status, without_folders(request, error.refusal), wait=error.wait)

    @app.exception_handler(RequestValidationError)
    def _misshapen(request: Request, error: RequestValidationError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return answer(422, _of_shape(error.errors()))

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return answer(error.status_code, Refused(error.status_code).refusal)


def _of_shape(faults: Sequence[Any]) -> Refusal:
    problems = [
        Fault(
            reason=Reason.MALFORMED.value,
            where=_where(fault["loc"]),
            found=_found(fault["type"], fault["msg"]),
        )
        for fault in faults[:_SHOWN_PROBLEMS]
    ]
    return Refusal(
        code=Reason.MALFORMED.value,
        message=f"What was sent has {count_of(len(faults), 'fault')}.",
        problems=problems,
        hint="Correct it, and send it again.",
    )


def _where(loc: Sequence[str | int]) -> str:
    # Names of fields that are not known were sent; they are cut and quoted as any name.
    parts = [part if isinstance(part, int) else quoted([part])[1:-1] for part in loc]
    return ".".join(map(str, parts)) or "body"


def _found(kind: str, said: str) -> str:
    own = {
        "missing": "is missing.",
        "extra_forbidden": "is not known.",
        "union_tag_invalid": "is not one of the kinds that there are.",
        "union_tag_not_found": "does not say of which kind it is.",
        "json_invalid": "is no JSON.",
    }
    return own.get(kind) or (f"{said}." if kind in _PLAIN else "does not fit.")
