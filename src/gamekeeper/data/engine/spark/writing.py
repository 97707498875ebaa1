"""Frames of Spark written as Parquet, counted by those who write and by this machine, which reads.

A worker that does not see a folder makes one of its own under the same path and writes there, and
Spark says that all went well. Only the counts tell.
"""

# Spark is an extra, and types are checked where it is not installed too.
# pyright: reportMissingImports=false

from __future__ import annotations

from concurrent.futures import wait
from pathlib import Path
from typing import Any, Final

from gamekeeper.data.engine.spark.address import Address
from gamekeeper.data.engine.spark.faults import run_discreetly
from gamekeeper.data.engine.spark.running import Call
from gamekeeper.data.engine.spark.scratch import count_rows, location, remove_folder
from gamekeeper.data.engine.spark.session import is_classic, unreachable
from gamekeeper.data.engine.spark.threads import in_thread
from gamekeeper.data.engine.spark.waiting import seconds_to_wait
from gamekeeper.errors import GamekeeperError, Reason, StoreError
from gamekeeper.wording import digits_text

_MARKS: Final = 16
_MARK_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 2.0


def write_frame(frame: Any, folder: Path) -> int:
    """Write a frame to a folder, and return how many rows those who wrote them say there are."""
    if is_classic(frame.sparkSession):
        from pyspark.sql import Observation, functions
    else:
        from pyspark.sql.connect import functions
        from pyspark.sql.connect.observation import Observation
    observed = Observation()
    counted = frame.observe(observed, functions.count(functions.lit(1)).alias("n"))
    counted.write.mode("append").parquet(location(folder))
    return int(observed.get["n"])


def require_seen(folder: Path, rows: int, asked: str) -> None:
    """Refuse where this machine does not see every row that was written."""
    if run_discreetly(lambda: count_rows(folder), asked) != rows:
        raise StoreError(
            Reason.NOT_WRITABLE,
            asked,
            "Workers wrote records that this machine does not see.",
            "Name a folder that this machine and all workers see under the same path (GAMEKEEPER_SCRATCH for what lies"
            " between two steps).",
        )


def check_scratch(session: Any, address: Address, folder: Path) -> None:
    """Refuse a scratch folder into which workers do not write what this machine sees and removes.

    Waits no longer than some time for the first worker (`seconds_to_wait`).
    """
    asked = f"An engine was to be opened: {address.shown}."
    marks = folder / "marks"
    call = Call(session, lambda: write_frame(session.range(0, _MARKS, 1, _MARKS), marks))
    try:
        seconds = seconds_to_wait(address)
        if not call.wait(seconds) and not (_has_worker(session) and call.wait(_MARK_SECONDS)):
            raise unreachable(
                address,
                f"It gave us no worker within {digits_text(seconds)} seconds: there is none, all are busy, or none"
                " has the memory that is asked for (spark.executor.memory).",
                slow=True,
            )
    except BaseException:
        call.stop()
        raise
    try:
        rows = run_discreetly(call.result, asked)
        require_seen(marks, rows, asked)
    except GamekeeperError as error:
        if error.reason not in (Reason.NOT_WRITABLE, Reason.NOT_READABLE):
            raise
        found = (
            "Workers do not see the scratch folder, or may not write there: they run under another account, for"
            " example."
        )
    else:
        remove_folder(marks)
        if not marks.exists():
            return
        found = "What workers write to the scratch folder may not be removed from here."
    raise StoreError(
        Reason.NOT_WRITABLE,
        asked,
        found,
        "Name a folder (GAMEKEEPER_SCRATCH) that this machine and all workers see under the same path, and let workers"
        " run under your account; or let the folder be of a group that both accounts have, writable for it and handed"
        " on (chmod g+ws).",
    )


def _has_worker(session: Any) -> bool:
    """Tell whether a worker is ours already, though it has not done anything; not known of a server."""
    if not is_classic(session):
        return False
    counted = in_thread(lambda: session.sparkContext._jsc.sc().getExecutorMemoryStatus().size())
    wait([counted], _LOOK_SECONDS)
    # This process is one of them.
    return counted.done() and counted.exception() is None and counted.result() > 1
