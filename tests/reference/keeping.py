"""Environments of worked examples, as they are or as they come out of a store.

The store is a file of SQLite, or a schema of a PostgreSQL server that runs for as long.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path

from gamekeeper import Environment, EnvironmentStore
from tests.postgres import running_server

__all__ = ["STORES", "kept", "through_a_store"]

STORES = ("sqlite", "postgresql")
"""The kinds of stores."""

_THROUGH_A_STORE: ContextVar[Callable[[Path], Path | str] | None] = ContextVar(
    "through a store", default=None
)


@contextmanager
def through_a_store(kind: str = "sqlite") -> Generator[None]:
    """Let every environment be written to a store of its own and read from there."""
    with ExitStack() as stack:
        where: Callable[[Path], Path | str] = lambda folder: folder / "case.gk"  # noqa: E731
        if kind == "postgresql":
            server = stack.enter_context(running_server())
            where = lambda _: server.address()  # noqa: E731
        token = _THROUGH_A_STORE.set(where)
        try:
            yield
        finally:
            _THROUGH_A_STORE.reset(token)


def kept(environment: Environment) -> Environment:
    """Return an environment, out of a store where that is wanted."""
    where = _THROUGH_A_STORE.get()
    if where is None:
        return environment
    with tempfile.TemporaryDirectory() as folder:
        path = where(Path(folder))
        EnvironmentStore.create(path, environment, who="reference").close()
        with EnvironmentStore.open(path, readonly=True) as store:
            return store.environment()
