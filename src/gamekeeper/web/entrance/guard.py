"""What every request passes before anything is done: host, origin, size; and what every answer gets.

Written for ASGI itself, so that nothing between it and a route can leave it out. Whatever goes wrong
behind it is told in one line without a value, and no traceback is printed.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gamekeeper.web.settings import Settings
from gamekeeper.web.wire.errors import Refused, answer, fault_of_ours

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may load and do: what this server sends, and nothing else."""

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_BODIES = re.compile(r"application/(json|octet-stream)\s*(;.*)?", re.IGNORECASE)
_MOST_DIGITS = 12
MOST_BYTES = 8 << 20
MOST_UPLOADED = 50 << 20
UPLOADS = "/api/imports"
"""Where a questionnaire may be sent, which may be larger than what a page says."""


class Guard:
    """The first to see a request and the last to see its answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, MOST_UPLOADED if scope["path"].startswith(UPLOADS) else MOST_BYTES)
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                _add_headers(message)
            await send(message)

        async def sending_inner(message: Message) -> None:
            # Whoever was reading what is too large may have made another error of it.
            if not body.is_too_large:
                await sending(message)

        try:
            self._require_fit(scope)
            body.require_fit(scope)
            await self._app(scope, body.read, sending_inner)
            if body.is_too_large and not has_begun:
                raise Refused(413)
        except Refused as refused:
            if not has_begun:
                await answer(refused.status, refused.refusal)(scope, receive, sending)
        except Exception as error:  # noqa: BLE001 - the last door: nothing of the data may pass it
            told = fault_of_ours(error)
            if not has_begun:
                await told(scope, receive, sending)

    def _require_fit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        # Another name for this machine may be somebody's who has his pages ask for ours.
        if headers.get("host", "").lower() not in self._settings.hosts:
            raise Refused(421)
        if scope["method"] in _SAFE:
            return
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if (origin is not None and origin not in self._settings.origins) or (
            site is not None and site not in ("same-origin", "none")
        ):
            raise Refused(
                403,
                "wrong-origin",
                "This came from a page of another server.",
                "Do it in a page of this one.",
            )
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if has_body and not _BODIES.fullmatch(headers.get("content-type", "")):
            raise Refused(415)


def _add_headers(message: MutableMapping[str, Any]) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers[name] = value
    if "cache-control" not in headers:
        headers["Cache-Control"] = "no-store"


class _Body:
    """What a request says, read up to a limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0
        self.is_too_large = False

    def require_fit(self, scope: Scope) -> None:
        """Refuse what says of itself that it is too large."""
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and (len(length) > _MOST_DIGITS or int(length) > self._limit):
            raise Refused(413)

    async def read(self) -> Message:
        """Return the next part, or refuse to read on."""
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            self.is_too_large = True
            raise Refused(413)
        return message
