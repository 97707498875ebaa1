"""Who counts the records of a file: this machine, or a cluster that has them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from gamekeeper.options import Option

ENGINE_VARIABLE = "GAMEKEEPER_ENGINE"
SCRATCH_VARIABLE = "GAMEKEEPER_SCRATCH"
THIS_MACHINE = "duckdb"

_counting = partial(Option, panel="Where it is counted")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRequest:
    """Which engine keeps the records of a file and counts them."""

    # From Python also an engine that is open.
    engine: Annotated[
        str | Any,
        _counting(
            "duckdb (this machine), spark://HOST:PORT, sc://HOST:PORT (Spark Connect) or"
            f" local-cluster. By default ${ENGINE_VARIABLE}, or else duckdb. A cluster must see the"
            " file under the same path; Parquet is read in place.",
            read=str,
            default_text="",
        ),
    ] = ""
    scratch: Annotated[
        str,
        _counting(
            "With a cluster: a folder that all its machines and this one see, for what is kept while"
            f" it counts. By default ${SCRATCH_VARIABLE}."
        ),
    ] = ""

    @property
    def named(self) -> str:
        """The engine as it was typed, here or in the environment.

        Examples
        --------
        >>> EngineRequest(engine=" spark://host:7077 ").named
        'spark://host:7077'
        """
        given = self.engine if isinstance(self.engine, str) else self.engine.name
        typed = given.strip() or os.environ.get(ENGINE_VARIABLE, "").strip()
        return THIS_MACHINE if typed.casefold() in ("", THIS_MACHINE) else typed

    @property
    def is_elsewhere(self) -> bool:
        """Whether that is no engine of this machine; none is started to tell."""
        if not isinstance(self.engine, str):
            return not self.engine.is_local
        return self.named != THIS_MACHINE


ON_THIS_MACHINE = EngineRequest(engine=THIS_MACHINE)
"""Whatever the environment names: for work that one machine does."""
