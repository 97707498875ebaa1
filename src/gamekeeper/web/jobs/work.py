"""One job, in a process of its own: python -m gamekeeper.web.jobs.work DATABASE ID.

It writes what it finds to the folder that it is started in, and tells the database how far it is. What
goes wrong is told in our words or not at all: the process has no output.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gamekeeper.errors import Cancelled, GamekeeperError
from gamekeeper.web.database import Database
from gamekeeper.web.jobs.jobs import State
from gamekeeper.web.jobs.kinds import KINDS
from gamekeeper.web.wire.errors import fault_of_ours, refusal_of

_TOLD_EVERY = 0.2


class Teller:
    """Tells the database how far a job is, a few times a second, and whether it is to stop."""

    def __init__(self, database: Database, job: str) -> None:
        self._database = database
        self._job = job
        self._told = 0.0

    def __call__(self, done: int, total: int | None) -> None:
        """Tell how far it is."""
        now = time.time()
        if now - self._told < _TOLD_EVERY and done != total:
            return
        self._told = now
        with self._database.at_work() as connection:
            connection.execute(
                "UPDATE job SET done = ?, total = ?, changed = ? WHERE id = ?",
                (done, total, now, self._job),
            )
            row = connection.execute("SELECT cancel FROM job WHERE id = ?", (self._job,)).fetchone()
        if row is None or row["cancel"] is not None:
            raise Cancelled("A job was at work.")

    def end(self, state: State, error: Mapping[str, Any] | None = None) -> None:
        """Tell how it ended."""
        with self._database.at_work() as connection:
            connection.execute(
                "UPDATE job SET state = ?, changed = ?, error = ? WHERE id = ?",
                (state, time.time(), json.dumps(error) if error else None, self._job),
            )


def run(path: Path, job: str, kinds: Mapping[str, Callable[..., None]] = KINDS) -> None:
    """Run a job of a database in the folder that this process is in."""
    os.umask(0o077)
    database = Database(path)
    with database.looking() as connection:
        row = connection.execute("SELECT kind, request FROM job WHERE id = ?", (job,)).fetchone()
    if row is None:
        return
    tell = Teller(database, job)
    try:
        kinds[row["kind"]](json.loads(row["request"]), Path.cwd(), tell)
    except Cancelled:
        tell.end(State.CANCELLED)
    except GamekeeperError as error:
        tell.end(State.FAILED, refusal_of(error).model_dump())
    except MemoryError:
        tell.end(
            State.FAILED,
            {
                "code": "too-large",
                "message": "The work took more memory than there is.",
                "hint": "Choose fewer keys, or a machine with more memory.",
            },
        )
    except Exception as error:  # noqa: BLE001 - the last door: nothing of the data may pass it
        told = fault_of_ours(error)
        tell.end(State.FAILED, json.loads(bytes(told.body)))
    else:
        tell.end(State.DONE)


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2])
