"""Several processes on one store: no lost edit, no error, and readers see one state at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.store.database.environment_store import EnvironmentStore
from tests.given.cases import only_thoroughly
from tests.store.database import children
from tests.store.database.children import said, start
from tests.store.database.conftest import WHO


def marked_by_all(path: Path, n_writers: int, n_readers: int) -> None:
    forms = [Form(f"Form {number}") for number in range(n_writers)]
    EnvironmentStore.create(path, Environment([], forms), who=WHO).close()
    last = 1 + 10 * n_writers
    readers = [start(children.read, path, last) for _ in range(n_readers)]
    writers = [start(children.mark, path, number) for number in range(n_writers)]
    told = [said(pipe) for _, pipe in writers]
    seen = [said(pipe) for _, pipe in readers]
    for child, pipe in (*readers, *writers):
        child.join()
        assert child.exitcode == 0
        pipe.close()
        child.close()
    made = {entry[0]: entry[1:] for entries in told for entry in entries}
    assert sorted(made) == list(range(2, last + 1))
    assert all(entries[-1] == ("done",) for entries in seen)
    with EnvironmentStore.open(path) as store:
        for number, (form, mark) in made.items():
            assert store.environment(as_of=number).form(f"Form {form}").metadata["mark"] == mark
        assert {form.metadata["mark"] for form in store.environment().forms.values()} == {9}
        store.check()


def test_writers_of_different_forms_and_readers_all_along(path: Path) -> None:
    marked_by_all(path, 3, 3)


@pytest.mark.slow
@only_thoroughly
def test_a_hundred_readers_and_five_writers(path: Path) -> None:
    marked_by_all(path, 5, 100)


@pytest.mark.slow
def test_twenty_readers_and_five_writers(path: Path) -> None:
    marked_by_all(path, 5, 20)


def test_of_two_writers_on_the_same_part_one_wins(path: Path) -> None:
    EnvironmentStore.create(path, Environment([], [Form("Form 0")]), who=WHO).close()
    contenders = [start(children.contend, path, number) for number in range(4)]
    told = [said(pipe)[1:] for _, pipe in contenders]
    for child, pipe in contenders:
        child.join()
        pipe.close()
        child.close()
    (won,) = [number for number, entries in enumerate(told) if entries == [("won", 2)]]
    for number, entries in enumerate(told):
        if number != won:
            ((reason, message),) = entries
            assert reason == "stale"
            assert f"was changed in revision 2 by 'contender {won}'" in str(message)
    with EnvironmentStore.open(path) as store:
        assert store.environment().form("Form 0").metadata["mark"] == f"contender {won}"
        store.check()
