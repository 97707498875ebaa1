"""Long work as jobs, each in a process of its own, and the files of people that it may read.

A job is known to the server's database, goes on when the server ends, and is found again by the
next one. Whether its process lives is known by its number and by when it was started. One whose
process is gone without a word is interrupted, and can be run again: its seed makes that the same
run. To cancel is asked first, by way of progress, and then done by signals.

Files are read in place, in the folders that the administrator allows. What is not a plain file
there, in truth and not by way of a link, is not there. Neither is what is private, of this server
or another: stores, backups, studies, environments, what a server found or was sent. Names and sizes
are told, never what is in a file.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Thread
from typing import Any

from gamekeeper import files
from gamekeeper.web.settings import Database
from gamekeeper.web.wire import Refused, missing, refusal_of


def start_of(pid: int) -> str | None:
    """Return when a process was started, since its number is used again; None if there is none."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        # The name of the program, in brackets, may hold anything; the times come after it.
        told = stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self/stat").exists() else _start_by_ps(pid)
    return None if told[0] == "Z" else told[19]


def stop(pid: int, started: str | None, *, at_once: bool) -> None:
    """Ask a process and those that it started to end, or end them, if it is still the same."""
    if started is None or start_of(pid) != started:
        return
    # A job leads a session of its own, so that its number is that of its group.
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL if at_once else signal.SIGTERM)


def _start_by_ps(pid: int) -> str | None:
    ps = shutil.which("ps")
    if ps is None:
        return None
    asked = [ps, "-o", "lstart=", "-p", str(pid)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
    return told.stdout.strip() or None


ENDINGS = (
    ".csv", ".tsv", ".txt", ".parquet", ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt",
    ".xlsx", ".xls", ".ods", ".gz",
)  # fmt: skip
"""What the name of a file that is listed ends in."""
_MOST = 2_000


@dataclass(frozen=True, slots=True)
class AllowedFile:
    """A file that may be read: the folder by its name, and the path within it."""

    folder: str
    name: str
    size: int
    changed: float


def allowed_files(folders: Mapping[str, Path]) -> list[AllowedFile]:
    """Return the files that may be read, by folder and name."""
    found: list[AllowedFile] = []
    for label, folder in folders.items():
        for place in () if files.is_private_place(folder) else _within(folder, 4):
            if len(found) >= _MOST:
                return found
            try:
                seen = place.lstat()
            except OSError:
                continue
            if files.is_private_file(place):
                continue
            name = place.relative_to(folder).as_posix()
            found.append(AllowedFile(label, name, seen.st_size, seen.st_mtime))
    return found


def allowed_path(folders: Mapping[str, Path], folder: str, name: str) -> Path:
    """Return the path of a file that may be read; anything else is not there."""
    root = folders.get(folder)
    if root is None:
        raise _absent()
    try:
        # As the system sees it, with every link followed.
        place = (root / name).resolve(strict=True)
        fits = place.is_relative_to(root.resolve()) and stat.S_ISREG(place.stat().st_mode)
    except (OSError, ValueError, RuntimeError):
        fits, place = False, root
    if not fits or place.suffix.lower() not in ENDINGS or files.is_private(place):
        raise _absent()
    return place


def _within(folder: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in listed:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth > 1 and not files.is_private_folder(Path(entry.path)):
                yield from _within(Path(entry.path), depth - 1)
        elif entry.is_file(follow_symlinks=False) and (Path(entry.name).suffix.lower() in ENDINGS):
            yield Path(entry.path)


def _absent() -> Refused:
    found = "A file was asked for. There is none of that name in the folders that may be read."
    do = "Choose one from the list, or ask an administrator to allow its folder."
    return Refused(404, "not-found", found, do)


AT_ONCE = 2
_TERM_AFTER, _KILL_AFTER = 5.0, 10.0


class State(StrEnum):
    """How a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


ENDED = (State.DONE, State.FAILED, State.CANCELLED, State.INTERRUPTED)


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the database has it."""

    id: str
    kind: str
    who: str
    request: Mapping[str, Any]
    state: State
    made: float
    changed: float
    done: int
    total: int | None
    is_cancelled: bool
    error: Mapping[str, Any] | None


class Jobs:
    """The jobs of a server, and the folder with what they found."""

    def __init__(self, database: Database, folder: Path, *, keep_days: int) -> None:
        self._database = database
        self._folder = folder
        self._keep_seconds = keep_days * 24 * 3600
        files.make_private(folder)

    def submit(self, kind: str, request: Mapping[str, Any], who: str) -> Job:
        """Add a job; it begins when there is room for it."""
        made, now = secrets.token_hex(8), time.time()
        with self._database.at_work() as connection:
            (n_waiting,) = connection.execute(
                "SELECT COUNT(*) FROM job WHERE state = ?", (State.WAITING,)
            ).fetchone()
            if n_waiting >= 50:
                raise Refused(
                    429, "too-often", "Many jobs are waiting already.", "Cancel some, or wait."
                )
            connection.execute(
                "INSERT INTO job (id, kind, who, request, state, made, changed)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (made, kind, who, json.dumps(dict(request)), State.WAITING, now, now),
            )
        self.advance()
        return self.job(made)

    def job(self, asked: str) -> Job:
        """Return a job by its id."""
        with self._database.looking() as connection:
            row = connection.execute("SELECT * FROM job WHERE id = ?", (asked,)).fetchone()
        if row is None:
            raise missing("job")
        return _job(row)

    def all(self, kind: str = "") -> list[Job]:
        """Return all jobs, the newest first."""
        with self._database.looking() as connection:
            rows = connection.execute("SELECT * FROM job ORDER BY made DESC LIMIT 500").fetchall()
        return [_job(row) for row in rows if kind in ("", row["kind"])]

    def folder(self, asked: str) -> Path:
        """Return the private folder of a job."""
        return self._folder / self.job(asked).id

    def cancel(self, asked: str) -> Job:
        """Ask a job to stop; one that waits is cancelled at once."""
        job, now = self.job(asked), time.time()
        with self._database.at_work() as connection:
            connection.execute(
                "UPDATE job SET state = ?, changed = ? WHERE id = ? AND state = ?",
                (State.CANCELLED, now, job.id, State.WAITING),
            )
            connection.execute(
                "UPDATE job SET cancel = ?, changed = ? WHERE id = ? AND state = ? AND cancel IS NULL",
                (now, now, job.id, State.RUNNING),
            )
        return self.job(job.id)

    def run_again(self, asked: str, who: str) -> Job:
        """Run a job again that has ended, as a new one with the same request."""
        job = self.job(asked)
        if job.state not in ENDED:
            raise Refused(409, "at-work", "This job has not ended.", "Wait for it, or cancel it.")
        return self.submit(job.kind, job.request, who)

    def remove(self, asked: str) -> None:
        """Forget a job that has ended, and delete what it found."""
        job = self.job(asked)
        if job.state not in ENDED:
            raise Refused(409, "at-work", "This job has not ended.", "Cancel it first.")
        shutil.rmtree(self._folder / job.id, ignore_errors=True)
        with self._database.at_work() as connection:
            connection.execute("DELETE FROM job WHERE id = ?", (job.id,))

    def advance(self) -> list[Job]:
        """See to jobs: start, stop, find ended ones, delete what is old; return what changed."""
        since = time.time()
        with self._database.looking() as connection:
            asked = "SELECT * FROM job WHERE state = ?"
            running = connection.execute(asked, (State.RUNNING,)).fetchall()
        for row in running:
            self._look_after(row)
        self._begin_waiting()
        for job in self.all():
            if job.state in ENDED and job.changed < since - self._keep_seconds:
                self.remove(job.id)
        return [job for job in self.all() if job.changed >= since]

    def _begin_waiting(self) -> None:
        with self._database.at_work() as connection:
            (n_running,) = connection.execute(
                "SELECT COUNT(*) FROM job WHERE state = ?", (State.RUNNING,)
            ).fetchone()
            free = max(0, AT_ONCE - n_running)
            waiting = connection.execute(
                "SELECT id FROM job WHERE state = ? ORDER BY made LIMIT ?", (State.WAITING, free)
            ).fetchall()
            for row in waiting:
                connection.execute(
                    "UPDATE job SET state = ?, changed = ? WHERE id = ?",
                    (State.RUNNING, time.time(), row["id"]),
                )
        for row in waiting:
            self._begin(row["id"])

    def _begin(self, asked: str) -> None:
        try:
            files.make_private(self._folder / asked)
            child = self._started(asked)
        except OSError as error:
            told = refusal_of(files.refusal("A job was to be started.", error)).model_dump()
            with self._database.at_work() as connection:
                connection.execute(
                    "UPDATE job SET state = ?, changed = ?, error = ? WHERE id = ?",
                    (State.FAILED, time.time(), json.dumps(told), asked),
                )
            return
        # Whoever ends is waited for, or it would stay in the list of processes.
        Thread(target=child.wait, name=f"job-{asked}", daemon=True).start()
        with self._database.at_work() as connection:
            connection.execute(
                "UPDATE job SET pid = ?, started = ? WHERE id = ?",
                (child.pid, start_of(child.pid), asked),
            )

    def _started(self, asked: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own module, and an id that we made
            [sys.executable, "-m", "gamekeeper.web.job_work", str(self._database.path), asked],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder / asked,
            start_new_session=True,
        )

    def _look_after(self, row: sqlite3.Row) -> None:
        now = time.time()
        pid, started = row["pid"], row["started"]
        if pid is None:
            # Another server may be about to start it; one that died before it did is not.
            lives = now - row["changed"] < 10.0
        else:
            lives = started is not None and start_of(pid) == started
        if not lives:
            state = State.INTERRUPTED if row["cancel"] is None else State.CANCELLED
            with self._database.at_work() as connection:
                connection.execute(
                    "UPDATE job SET state = ?, changed = ? WHERE id = ? AND state = ?",
                    (state, now, row["id"], State.RUNNING),
                )
        elif pid is not None and row["cancel"] and now - row["cancel"] > _TERM_AFTER:
            stop(pid, started, at_once=now - row["cancel"] > _KILL_AFTER)


def _job(row: sqlite3.Row) -> Job:
    return Job(
        row["id"],
        row["kind"],
        row["who"],
        json.loads(row["request"]),
        State(row["state"]),
        row["made"],
        row["changed"],
        row["done"],
        row["total"],
        row["cancel"] is not None,
        json.loads(row["error"]) if row["error"] else None,
    )
