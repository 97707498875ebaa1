"""The server as one application: routes, errors, guard and pages put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from gamekeeper.results import package_version
from gamekeeper.web.entrance.guard import Guard
from gamekeeper.web.entrance.pages import add_pages
from gamekeeper.web.routes import (
    accounts,
    analysis,
    edits,
    environment,
    exports,
    forms,
    groups,
    imports,
    jobs,
    scenarios,
    session,
    variables,
)
from gamekeeper.web.service.server import Server
from gamekeeper.web.wire import errors

ROUTERS = (
    session,
    environment,
    forms,
    variables,
    groups,
    scenarios,
    edits,
    analysis,
    imports,
    jobs,
    exports,
    accounts,
)
"""The modules of routes, in the order in which they are documented."""

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
            status: {"model": errors.Refusal, "description": words}
            for status, words in (
                (401, "Not signed in."),
                (403, "Not allowed for the role, or from another page."),
                (422, "What was sent cannot be used."),
                (503, "The store is at work or cannot be written."),
            )
        },
    )
    errors.install(app)
    for module in ROUTERS:
        app.include_router(module.router)
    return app
