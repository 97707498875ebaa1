"""What other processes do to a store while a test looks on, or until it kills them."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from hashlib import sha256
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from typing import Any

# Imported here so that no child spends its short life on it.
import alembic.command  # noqa: F401

from gamekeeper.errors import GamekeeperError
from gamekeeper.mapping.edits import AddForm, SetMetadata
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database import file
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.store.database.conftest import documents, small_environment
from tests.store.database.later import become_later

# Forked from a server that has all imported: a child starts in milliseconds.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])

_PATIENCE = 300.0

Job = Callable[[Connection, Path, int], None]


def start(job: Job, path: Path, seed: int) -> tuple[ForkServerProcess, Connection]:
    """Start a child, and return it with the pipe through which it tells what is done."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(target=job, args=(theirs, path, seed), daemon=True)
    child.start()
    theirs.close()
    return child, ours


def said(pipe: Connection) -> list[tuple[object, ...]]:
    """Return what a child that has ended had told."""
    told: list[tuple[object, ...]] = []
    try:
        while True:
            told.append(pipe.recv())
    except (EOFError, OSError):
        return told


def summary(environment: Environment) -> str:
    """Return few letters that are the same for the same documents."""
    return sha256(repr(documents(environment)).encode()).hexdigest()


def heard_of(child: ForkServerProcess, pipe: Connection) -> list[tuple[object, ...]]:
    """Return what a child that was killed had told."""
    told = said(pipe)
    pipe.close()
    child.join()
    assert child.exitcode == -9
    child.close()
    return told


def require_kept(path: Path, told: list[tuple[object, ...]]) -> int:
    """Require that all that was told is there, and that history and state agree."""
    with EnvironmentStore.open(path) as store:
        history = {revision.number: revision for revision in store.history()}
        for number, action, words, _ in told:
            assert isinstance(number, int)
            assert (history[number].action, history[number].words) == (action, words)
        for number, *_, seen in told[-5:]:
            assert isinstance(number, int)
            assert summary(store.environment(as_of=number)) == seen
        store.check()
    return len(told)


def edit(pipe: Connection, path: Path, seed: int) -> None:
    """Make edits, undo and redo, and tell each once it is acknowledged."""
    rng = Random(seed)
    with EnvironmentStore.open(path) as store:
        pipe.send(("ready",))
        number = 0
        while True:
            number += 1
            choice = rng.random()
            try:
                if choice < 0.2:
                    made = store.undo(who=str(seed), anyone=True)
                elif choice < 0.3:
                    made = store.redo(who=str(seed), anyone=True)
                else:
                    # Large ones take long to write, and are more often hit on the way.
                    large = {"x": rng.randbytes(rng.choice([10, 30_000])).hex()}
                    name = f"Form {number} of {seed}"
                    edits = [AddForm(name=name, metadata=large, variables={"Age": ()})]
                    made = store.apply(edits, who=str(seed))
                left = summary(store.environment())
            except GamekeeperError:
                # Nothing was done, or the server is gone before it could be looked at.
                continue
            pipe.send((made.number, made.action.value, made.words, left))


def edit_to_death(pipe: Connection, path: Path, seed: int) -> None:
    """Make edits until the process kills itself, somewhere within the work of the database."""
    steps = Random(seed).randrange(2_500)
    plain = file.connect

    def mortal(*given: Any, **how: Any) -> sqlite3.Connection:
        connection = plain(*given, **how)
        # With hardly any memory the pages of a transaction go to disk before its end.
        connection.execute("PRAGMA cache_size = 3")
        connection.set_progress_handler(one_step, 20)
        return connection

    def one_step() -> None:
        nonlocal steps
        steps -= 1
        if steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    file.connect = mortal
    edit(pipe, path, seed)


def create(pipe: Connection, path: Path, seed: int) -> None:
    """Create stores, and tell each once it is there."""
    pipe.send(("ready",))
    for number in range(10_000):
        name = f"{path.name}-{seed}-{number}"
        EnvironmentStore.create(path.with_name(name), small_environment(), who="x").close()
        pipe.send((name,))


def back_up(pipe: Connection, path: Path, seed: int) -> None:
    """Make edits, each with both kinds of backups, and tell when all is done."""
    with EnvironmentStore.open(path) as store:
        pipe.send(("ready",))
        for number in range(10_000):
            made = store.apply([AddForm(name=f"Backed {number} of {seed}")], who="x")
            assert store.renew_backup() is None
            store.backup()
            pipe.send((made.number,))


def migrate(pipe: Connection, path: Path, seed: int) -> None:
    """Open stores of today as a later version does, again and again."""
    old = path.with_name(f"old-{seed}")
    shutil.copy(path, old)
    become_later(path.with_name(f"child-{seed}"))
    pipe.send(("ready",))
    for number in range(10_000):
        new = path.with_name(f"new-{seed}-{number}")
        shutil.copy(old, new)
        pipe.send((new.name,))
        EnvironmentStore.open(new).close()


def mark(pipe: Connection, path: Path, seed: int) -> None:
    """Set a mark on a form of its own, ten times over."""
    with EnvironmentStore.open(path) as store:
        for number in range(10):
            edits = [SetMetadata(form=f"Form {seed}", values={"mark": number})]
            made = store.apply(edits, who=f"writer {seed}")
            pipe.send((made.number, seed, number))


def read(pipe: Connection, path: Path, seed: int) -> None:
    """Read all along; what is seen must be what history says of that revision."""
    last, started = 0, time.monotonic()
    with EnvironmentStore.open(path, readonly=True) as store:
        while last < seed:
            assert time.monotonic() - started < _PATIENCE, "the writers do not get on"
            environment = store.environment()
            number = store.revision
            assert number >= last
            assert documents(environment) == documents(store.environment(as_of=number))
            last = number
            pipe.send((number,))
            # A hundred of them would else leave the writers no processor.
            time.sleep(0.02)
    pipe.send(("done",))


def contend(pipe: Connection, path: Path, seed: int) -> None:
    """Edit the one form that others edit too, on the base that all have seen."""
    with EnvironmentStore.open(path) as store:
        store.environment()
        pipe.send(("ready",))
        edits = [SetMetadata(form="Form 0", values={"mark": f"contender {seed}"})]
        try:
            pipe.send(("won", store.apply(edits, who=f"contender {seed}", base=1).number))
        except GamekeeperError as error:
            pipe.send((error.reason.value, str(error)))


def create_large(pipe: Connection, path: Path, most_bytes: int) -> None:
    """Create a store where no file may grow so far."""
    _limited(pipe, most_bytes, lambda: EnvironmentStore.create(path.with_name("b"), who="x"))


def edit_large(pipe: Connection, path: Path, most_bytes: int) -> None:
    """Make a large edit where no file may grow so far."""
    store = EnvironmentStore.open(path)
    large = AddForm(name="L", metadata={"x": Random(1).randbytes(100_000).hex()})
    _limited(pipe, most_bytes, lambda: store.apply([large], who="x"))


def back_up_now(pipe: Connection, path: Path, most_bytes: int) -> None:
    """Make a backup where no file may grow so far."""
    _limited(pipe, most_bytes, EnvironmentStore.open(path).backup)


def _limited(pipe: Connection, most_bytes: int, work: Callable[[], object]) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    try:
        work()
    except GamekeeperError as error:
        pipe.send((error.reason.value, error.message))
