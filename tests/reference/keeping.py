"""Environments of worked examples, as they are or as they come out of a store."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from gamekeeper import Environment, EnvironmentStore

__all__ = ["kept", "through_a_store"]

_THROUGH_A_STORE: ContextVar[bool] = ContextVar("through a store", default=False)


@contextmanager
def through_a_store() -> Generator[None]:
    """Let every environment be written to a store of its own and read from there."""
    token = _THROUGH_A_STORE.set(True)
    try:
        yield
    finally:
        _THROUGH_A_STORE.reset(token)


def kept(environment: Environment) -> Environment:
    """Return an environment, out of a store where that is wanted."""
    if not _THROUGH_A_STORE.get():
        return environment
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.gk"
        EnvironmentStore.create(path, environment, who="reference").close()
        with EnvironmentStore.open(path, readonly=True) as store:
            return store.environment()
