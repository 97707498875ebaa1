"""What goes over the wire beside shapes: errors, events, ids, and large answers that are written once.

An error has one shape, whatever went wrong, and never a value of a data file in it. Anybody may
publish an event to open pages (server-sent), from any thread. A page that does not read fast enough
misses what is old: it learns from the next event at which revision the environment is, and reads
that.

Names hold slashes and thousands of characters, so that addresses have an id: the first digits of
the digest by which a store looks names up. It is the same for names that fold to the same, and an
environment has no two of these. An answer that is written here is not taken apart again, as FastAPI
would a record.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from gamekeeper.errors import GamekeeperError, InputError, LimitError, Reason, fault_place
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.results import package_version
from gamekeeper.store.database.engines import digest
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


Shape = TypeVar("Shape", bound=BaseModel)


def filled(shape: type[Shape], source: object, **others: Any) -> Shape:
    """Return a shape with what something has under the names of its fields, and with others."""
    own = {name: getattr(source, name) for name in shape.model_fields if name not in others}
    return shape.model_validate({**own, **others})


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
    found = f"This {kind} was asked for. There is none; it may have been renamed or removed."
    return Refused(404, Reason.NOT_FOUND.value, found, f"Choose another from the list of {kind}s.")


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


_HEARTBEAT = 15.0


class Events:
    """Those who listen, and what they are told."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[asyncio.Queue[str | None], asyncio.AbstractEventLoop] = {}
        self._is_closed = False

    def publish(self, kind: str, **told: Any) -> None:
        """Tell everybody who listens."""
        self._send(f"event: {kind}\ndata: {json.dumps(told)}\n\n")

    def close(self) -> None:
        """Let all listeners go."""
        self._is_closed = True
        self._send(None)

    @property
    def n_listeners(self) -> int:
        """How many pages listen."""
        return len(self._listeners)

    async def listen(
        self, *first: tuple[str, dict[str, Any]], may_go_on: Callable[[], bool] = lambda: True
    ) -> AsyncGenerator[str]:
        """Yield what is told from now on, after some events for this listener alone.

        Now and then it is asked whether the listener may go on, as sessions end.
        """
        queue: asyncio.Queue[str | None] = asyncio.Queue(100)
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield "retry: 2000\n\n"
            for kind, told in first:
                yield f"event: {kind}\ndata: {json.dumps(told)}\n\n"
            asked = time.monotonic()
            while not self._is_closed:
                if time.monotonic() - asked > _HEARTBEAT:
                    asked = time.monotonic()
                    if not may_go_on():
                        return
                try:
                    text = await asyncio.wait_for(queue.get(), _HEARTBEAT)
                except TimeoutError:
                    text = ": still here\n\n"
                if text is None:
                    return
                yield text
        finally:
            with self._lock:
                del self._listeners[queue]

    def _send(self, text: str | None) -> None:
        with self._lock:
            for queue, loop in self._listeners.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_put, queue, text)


def _put(queue: asyncio.Queue[str | None], text: str | None) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(text)


@lru_cache(maxsize=200_000)
def id_of(name: str) -> str:
    """Return the id of a name.

    Examples
    --------
    >>> id_of("Bank/account") == id_of("BANK/account"), len(id_of("e" * 10_000))
    (True, 16)
    """
    return digest(name)[:16]


class Names:
    """The names of an environment by their ids."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._forms: Mapping[str, str] | None = None

    def form(self, asked: str) -> str:
        """Return the name of a form."""
        if self._forms is None:
            self._forms = _by_id(self.environment.forms)
        return _name_of("form", asked, self._forms)

    def variable(self, asked: str) -> str:
        """Return the name of a variable."""
        return _name_of("variable", asked, _by_id(self.environment.variables))

    def group(self, asked: str) -> str:
        """Return the name of a group."""
        return _name_of("group", asked, _by_id(self.environment.groups))

    def scenario(self, asked: str) -> str:
        """Return the name of a scenario."""
        return _name_of("scenario", asked, _by_id(self.environment.scenarios))


def _by_id(names: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        # Whoever makes two names meet in 64 bits gets the first of them.
        found.setdefault(id_of(name), name)
    return found


def _name_of(kind: str, asked: str, known: Mapping[str, str]) -> str:
    if asked not in known:
        raise missing(kind)
    return known[asked]


def written(record: BaseModel) -> bytes:
    """Return a record as JSON, to be kept and sent more than once."""
    return record.model_dump_json(by_alias=True).encode()


def sent(record: BaseModel | bytes) -> Response:
    """Return a record as the response that it is documented to be; a new one every time."""
    body = record if isinstance(record, bytes) else written(record)
    return Response(body, media_type="application/json")
