"""On a server: whoever is killed, a client or one of its processes, loses nothing acknowledged."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random
from typing import Any, cast

import psycopg
import pytest

from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.given.cases import THOROUGH
from tests.postgres import TestServer
from tests.store.database import children
from tests.store.database.children import heard_of, require_kept, said, start
from tests.store.database.conftest import WHO, small_environment

pytestmark = pytest.mark.slow

_WRITERS = 8


def as_path(address: str) -> Path:
    """Return an address as children take the path of a store."""
    return cast("Path", address)


def backends(postgres: TestServer) -> list[int]:
    question = "SELECT pid FROM pg_stat_activity WHERE application_name = 'gamekeeper'"
    return [pid for (pid,) in postgres.ask(question)]


def patiently(postgres: TestServer) -> None:
    """Wait for a server that recovers from a process that was killed."""
    until = time.monotonic() + 60
    while True:
        try:
            postgres.ask("SELECT 1")
        except psycopg.Error:
            assert time.monotonic() < until, "the server does not come back"
            time.sleep(0.05)
        else:
            return


def test_clients_that_are_killed(postgres: TestServer) -> None:
    address = postgres.address()
    EnvironmentStore.create(address, small_environment(), who=WHO).close()
    kept, rounds = 0, 30 if THOROUGH else 10
    for seed in range(rounds):
        rng = Random(seed)
        child, pipe = start(children.edit, as_path(address), seed)
        told = [pipe.recv() for _ in range(rng.choice([1, 2, 2, 3, 5]))]
        time.sleep(rng.choice([0, 0.01, 0.05, 0.1]) * rng.random())
        child.kill()
        kept += require_kept(as_path(address), told[1:] + heard_of(child, pipe))
    assert kept > rounds


def test_processes_of_the_server_that_are_killed(postgres: TestServer) -> None:
    address = postgres.address()
    store = EnvironmentStore.create(address, small_environment(), who=WHO)
    acknowledged: dict[str, int] = {}
    uncertain: list[str] = []
    for seed in range(12):
        rng = Random(seed)
        child, pipe = start(children.edit, as_path(address), 1_000 + seed)
        told = [pipe.recv() for _ in range(2)]
        time.sleep(0.1 * rng.random())
        # All of the server's processes end when one is killed, and it recovers.
        for pid in backends(postgres)[:1]:
            os.kill(pid, signal.SIGKILL)
        name = f"Form {seed}"
        try:
            acknowledged[name] = store.apply([AddForm(name=name)], who=WHO).number
        except GamekeeperError as error:
            if error.reason not in (Reason.UNREACHABLE, Reason.UNCERTAIN):
                raise
            uncertain.append(name)
        child.kill()
        patiently(postgres)
        require_kept(as_path(address), told[1:] + heard_of(child, pipe))
    patiently(postgres)
    history = {revision.number: revision.words for revision in store.history()}
    for name, number in acknowledged.items():
        assert f"'{name}'" in history[number][0]
    store.check()
    assert uncertain, "no edit was hit"
    store.close()


def test_eight_writers(postgres: TestServer) -> None:
    address = postgres.address()
    forms = [Form(f"Form {number}") for number in range(_WRITERS)]
    EnvironmentStore.create(address, Environment([], forms), who=WHO).close()
    begun = [start(children.mark, as_path(address), seed) for seed in range(_WRITERS)]
    reader = start(children.read, as_path(address), 1 + 10 * _WRITERS)
    made: list[Any] = []
    for child, pipe in begun:
        made += said(pipe)
        child.join()
        assert child.exitcode == 0
    assert said(reader[1])[-1] == ("done",)
    reader[0].join()
    assert sorted(number for number, *_ in made) == list(range(2, 2 + 10 * _WRITERS))
    with EnvironmentStore.open(address) as store:
        marks = [store.environment().form(form.name).metadata["mark"] for form in forms]
        assert marks == [9] * _WRITERS
        store.check()
