"""The server as one application: routes, errors, guard and pages put together; its interface.

The guard is what every request passes before anything is done (host, origin, size), and what every
answer gets. It is written for ASGI itself, so that nothing between it and a route can leave it out.
Whatever goes wrong behind it is told in one line without a value, and no traceback is printed.

The built pages are one document for every address of the workbench, and the files that it loads,
which have a digest in their names and never change. A server without the build says how to get it,
and answers all the same to whoever asks for data. The document of the interface (OpenAPI), from
which the client of the pages is generated::

    python -m gamekeeper.web.app FILE          writes it
    python -m gamekeeper.web.app --check FILE  fails where the file is not what it would be
"""

from __future__ import annotations

import json
import mimetypes
import re
import sys
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gamekeeper.files import write_file
from gamekeeper.results import package_version
from gamekeeper.web.routes import accounts, edits, environment
from gamekeeper.web.service import Server
from gamekeeper.web.settings import Settings
from gamekeeper.web.wire import Refusal, Refused, answer, fault_of_ours, install

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
            found = "This came from a page of another server."
            raise Refused(403, "wrong-origin", found, "Do it in a page of this one.")
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
        if length.isdecimal() and (len(length) > 12 or int(length) > self._limit):
            raise Refused(413)

    async def read(self) -> Message:
        """Return the next part, or refuse to read on."""
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            self.is_too_large = True
            raise Refused(413)
        return message


_YEAR = 365 * 24 * 3600
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Gamekeeper</title>
<h1>The pages are not built</h1>
<p>In a checkout, run <code>make pages</code>. An installed wheel has them.</p>
</html>
"""


def add_pages(app: FastAPI, static: Path) -> None:
    """Serve the built pages, and nothing that is outside their folder."""
    # Looked up once: what is asked for is compared with these names, and never joined to a path.
    files = {
        path.relative_to(static).as_posix(): path
        for path in sorted(static.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }

    @app.get("/{page:path}", include_in_schema=False)
    async def page(page: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        if page.startswith("api/"):
            raise Refused(404)
        found = files.get(page)
        if found is None and "." in page.rpartition("/")[2]:
            raise Refused(404)
        if found is not None and page != "index.html":
            kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
            lasting = page.startswith("assets/")
            kept = f"public, max-age={_YEAR}, immutable" if lasting else "no-cache"
            return FileResponse(found, media_type=kind, headers={"Cache-Control": kept})
        if "index.html" not in files:
            return HTMLResponse(_NOT_BUILT, 503)
        return FileResponse(files["index.html"], headers={"Cache-Control": "no-cache"})


ROUTERS = (
    accounts.session_router,
    environment.router,
    environment.forms_router,
    environment.variables_router,
    environment.groups_router,
    environment.scenarios_router,
    edits.router,
    edits.analysis_router,
    edits.imports_router,
    accounts.jobs_router,
    edits.exports_router,
    accounts.router,
)
"""The routes, in the order in which they are documented."""
_SMALLEST_PACKED = 1_000
_THREADS = 120


def make_app(server: Server) -> FastAPI:
    """Return the application of a server; it holds the store while it runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        # Most threads wait for their turn at the store; there must be some left for the rest.
        current_default_thread_limiter().total_tokens = _THREADS
        with server.running():
            yield

    app = bare_app(lifespan)
    app.state.server = server
    add_pages(app, STATIC)
    app.add_middleware(GZipMiddleware, minimum_size=_SMALLEST_PACKED, compresslevel=1)
    app.add_middleware(Guard, settings=server.settings)
    return app


STATIC = Path(__file__).with_name("static")
"""Where the built pages are."""


def bare_app(lifespan: object = None) -> FastAPI:
    """Return the application without a server behind it, for its document."""
    app = FastAPI(
        title="Gamekeeper",
        summary="The workbench in the browser.",
        version=package_version(),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        lifespan=lifespan,  # pyright: ignore[reportArgumentType]
        responses={
            status: {"model": Refusal, "description": words}
            for status, words in (
                (401, "Not signed in."),
                (403, "Not allowed for the role, or from another page."),
                (422, "What was sent cannot be used."),
                (503, "The store is at work or cannot be written."),
            )
        },
    )
    install(app)
    for router in ROUTERS:
        app.include_router(router)
    return app


def document() -> dict[str, Any]:
    """Return the document; it depends on the code alone, not on the version of the package."""
    app = bare_app()
    found = app.openapi()
    found["info"]["version"] = "1"
    return found


def text() -> str:
    """Return the document as it is kept in a file."""
    return json.dumps(document(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    """Write the document, or say whether a file has it."""
    *flags, name = arguments
    path = Path(name)
    if flags == ["--check"]:
        if path.is_file() and path.read_text(encoding="utf-8") == text():
            return 0
        sys.stderr.write(f"{path} is stale; run: make client\n")
        return 1
    write_file(path, text().encode(), private=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
