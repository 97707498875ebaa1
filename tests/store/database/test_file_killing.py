"""In a file: a process that is killed at any moment loses nothing that was acknowledged (kill -9)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from gamekeeper.files import BACKUP
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.restoration import restore_store
from tests.given.cases import cases
from tests.store.database import children
from tests.store.database.children import Job, heard_of, require_kept, start
from tests.store.database.conftest import WHO, everything
from tests.store.database.later import become_later, raised

pytestmark = pytest.mark.skipif(
    not hasattr(children.CONTEXT, "set_forkserver_preload"), reason="needs a fork server"
)


def killed(job: Job, path: Path, seed: int) -> list[tuple[object, ...]]:
    """Let a child get some things done, kill it within the next, and return what it had told."""
    rng = Random(seed)
    child, pipe = start(job, path, seed)
    told = [pipe.recv() for _ in range(rng.choice([1, 2, 2, 3, 5]))]
    time.sleep(rng.choice([0, 0.01, 0.05, 0.1]) * rng.random())
    child.kill()
    return told[1:] + heard_of(child, pipe)


def after_edits(path: Path, seed: int) -> int:
    return require_kept(path, killed(children.edit, path, seed))


def after_death_within(path: Path, seed: int) -> int:
    told = heard_of(*start(children.edit_to_death, path, seed))
    return require_kept(path, told[1:])


def after_creating(path: Path, seed: int) -> int:
    told = killed(children.create, path, seed)
    made = {name for (name,) in told}
    found = {entry.name for entry in path.parent.glob(f"{path.name}-{seed}-*")}
    stores = {name for name in found if name.count("-") == 2 and BACKUP not in name}
    assert made <= stores
    assert len(stores - made) <= 1
    for name in stores:
        with EnvironmentStore.open(path.with_name(name)) as store:
            store.check()
            assert len(store.environment().forms) == 5
    return len(told)


def after_backups(path: Path, seed: int) -> int:
    told = killed(children.back_up, path, seed)
    with EnvironmentStore.open(path) as store:
        newest = store.revision
        store.check()
    if told:
        _, aside = restore_store(path)
        assert aside is not None
        with EnvironmentStore.open(path) as store:
            assert told[-1][0] in (store.revision, store.revision - 1)
            assert newest - 1 <= store.revision <= newest
            store.check()
        restore_store(path, f"revision-{told[-1][0]}")
        with EnvironmentStore.open(path) as store:
            assert store.revision == told[-1][0]
            store.check()
    return len(told)


def after_migrating(path: Path, seed: int) -> int:
    with EnvironmentStore.open(path) as store:
        before = everything(store.environment())
    told = killed(children.migrate, path, seed)
    with pytest.MonkeyPatch.context() as patch:
        become_later(path.with_name(f"parent-{seed}"), patch.setattr)
        for (name,) in told[-2:]:
            with EnvironmentStore.open(path.with_name(str(name))) as store:
                assert everything(store.environment()) == raised(before)
                store.check()
    return len(told)


ROUNDS: list[Callable[[Path, int], int]] = [
    after_edits,
    after_death_within,
    after_creating,
    after_backups,
    after_migrating,
]


def rounds(path: Path, environment: Environment, seeds: range) -> None:
    EnvironmentStore.create(path, environment, who=WHO).close()
    acknowledged = dict.fromkeys(ROUNDS, 0)
    for seed in seeds:
        job = ROUNDS[seed % len(ROUNDS)]
        acknowledged[job] += job(path, seed)
    # A child that never gets anything done would prove nothing.
    assert all(acknowledged.values()), acknowledged


@pytest.mark.slow
def test_nothing_acknowledged_is_lost(path: Path, environment: Environment) -> None:
    rounds(path, environment, range(10))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 1_000 + min(200, cases(25).max_examples), 25))
def test_nothing_acknowledged_is_lost_in_many_rounds(
    path: Path, environment: Environment, first: int
) -> None:
    rounds(path, environment, range(first, first + 25))
