"""The engine that a request, or the environment of the process, names."""

from __future__ import annotations

import os
import threading

from gamekeeper.data.engine.duckdb_engine import default_engine
from gamekeeper.data.engine.gate import Engine
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted
from gamekeeper.workbench.requests.counting import (
    SCRATCH_VARIABLE,
    THIS_MACHINE,
    EngineRequest,
)

_opened: dict[tuple[str, str], Engine] = {}
_opening = threading.Lock()


def engine_for(asked: EngineRequest) -> Engine:
    """Return the engine that is asked for; one for all requests of this process that name it."""
    if not isinstance(asked.engine, str):
        return asked.engine
    name = asked.named
    if name == THIS_MACHINE:
        if asked.scratch.strip():
            raise InputError(
                Reason.BAD_OPTION,
                f"The folder {quoted([asked.scratch], letters=400)} was named for what a cluster keeps.",
                "No cluster is named: it is counted on this machine.",
                "Name one (--engine), or leave out --scratch.",
            )
        return default_engine()
    scratch = asked.scratch.strip() or os.environ.get(SCRATCH_VARIABLE, "").strip()
    # To start a session takes many seconds, so that it is kept until the process ends.
    with _opening:
        engine = _opened.get((name, scratch))
        if engine is None or engine.is_closed:
            from gamekeeper.data.engine.opening import open_engine

            engine = _opened[name, scratch] = open_engine(name, scratch=scratch or None)
        return engine
