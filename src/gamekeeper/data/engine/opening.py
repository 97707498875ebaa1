"""An engine by the text that names it: DuckDB of this process, or a cluster of Spark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from gamekeeper.data.engine.duckdb_engine import DuckDBEngine
from gamekeeper.data.engine.gate import Engine
from gamekeeper.data.engine.spark.address import KINDS, parse_address
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

DUCKDB: Final = "duckdb"
"""The engine of this process, which is used where none is named."""

SCRATCH: Final = "GAMEKEEPER_SCRATCH"
"""The environment variable that names the folder which this machine and all workers see."""


def open_engine(text: str, *, scratch: Path | str | None = None) -> Engine:
    """Open the engine that a text names. Whoever opens it closes it.

    Parameters
    ----------
    text
        `duckdb`; `spark://host:port` for a cluster of Spark; `sc://host:port` for a server of Spark
        Connect; `local-cluster`, also with its workers, cores and megabytes, `local-cluster[2,1,1024]`,
        for a cluster that is started on this machine; `local[2]` for threads of one process.
    scratch
        A folder that this machine and all workers see under the same path, for what lies between two
        steps; when None, the one that the environment variable GAMEKEEPER_SCRATCH names, or else the
        system's place for temporary files. DuckDB needs none, and takes this alone.

    Examples
    --------
    >>> with open_engine("duckdb") as engine:
    ...     engine.is_local
    True
    """
    named = text.strip()
    if named.casefold() == DUCKDB:
        return DuckDBEngine(folder=scratch)
    address = parse_address(named)
    if address is None:
        raise InputError(
            Reason.BAD_OPTION,
            # Such a text may hold a password.
            "An engine was asked for.",
            "There is none of this name.",
            f"There are: {quoted([DUCKDB, *KINDS])}.",
        )
    from gamekeeper.data.engine.spark.spark_engine import SparkEngine

    return SparkEngine(address, scratch or os.environ.get(SCRATCH) or None)
