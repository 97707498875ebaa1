"""A held store: opened once, given to one at a time, and never closed by those who use it."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from gamekeeper.errors import InputError, Reason, StoreError
from gamekeeper.mapping.edits import AddForm
from gamekeeper.mapping.environment.environment import Environment, Form
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.workbench.demo_place import demo_environment
from gamekeeper.workbench.environment import opening as module
from gamekeeper.workbench.environment.editing import edit_store, preview
from gamekeeper.workbench.environment.opening import holding, opened, opened_store
from gamekeeper.workbench.requests.editing import Signature


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "forms.gk"
    EnvironmentStore.create(path, Environment([], [Form("Bank")]), who="ana").close()
    return path


def test_those_who_open_it_get_what_is_held(store: Path) -> None:
    with holding(store) as held:
        with opened(store) as place, opened_store(store) as again:
            assert place.store is again
        with held.at_work() as same:
            assert same is again
        edit_store(store, [AddForm(name="Shop")], Signature())
        with opened(store) as place:
            assert list(place.environment.forms) == ["Bank", "Shop"]
        with opened(store, as_of="1") as place:
            assert list(place.environment.forms) == ["Bank"]
    with opened(store) as place:
        assert place.store is not again


def test_a_preview_changes_nothing(store: Path) -> None:
    found = preview(store, [AddForm(name="Bank2")])
    assert found.words == ("Add the form 'Bank2' with 0 variables.",)
    with opened(store) as place:
        assert list(place.environment.forms) == ["Bank"]


def test_who_only_looks_waits_for_nobody(store: Path) -> None:
    with holding(store) as held:
        begun, done = Event(), Event()

        def at_work() -> None:
            with held.at_work():
                begun.set()
                done.wait(20)

        other = Thread(target=at_work)
        other.start()
        try:
            assert begun.wait(20)
            environment, revision, _ = held.seen()
            assert (list(environment.forms), revision) == (["Bank"], 1)
        finally:
            done.set()
            other.join()
        edit_store(store, [AddForm(name="Shop")], Signature())
        assert list(environment.forms) == ["Bank"]
        environment, revision, _ = held.seen()
        assert (list(environment.forms), revision) == (["Bank", "Shop"], 2)


def test_who_only_looks_sees_a_store_that_was_put_in_its_place(store: Path) -> None:
    other = store.with_name("other.gk")
    EnvironmentStore.create(other, Environment([], [Form("Club")]), who="bo").close()
    with holding(store) as held:
        # What was written last may be in the log beside the file, and not in the file yet.
        edit_store(store, [AddForm(name="Shop")], Signature())
        assert store.with_name("forms.gk-wal").stat().st_size > 0
        other.replace(store)
        assert list(held.seen()[0].forms) == ["Club"]
        edit_store(store, [AddForm(name="Pub")], Signature())
    with EnvironmentStore.open(store) as found:
        found.check()
        assert list(found.environment().forms) == ["Club", "Pub"]


def test_one_at_a_time(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.05)
    caught: list[StoreError] = []

    def other() -> None:
        try:
            with opened(store):
                pass
        except StoreError as error:
            caught.append(error)

    with holding(store), opened(store):
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert [error.reason for error in caught] == [Reason.BUSY]


def test_a_store_that_is_gone_is_told(store: Path) -> None:
    with holding(store):
        store.rename(store.with_name("elsewhere.gk"))
        with pytest.raises(InputError) as caught, opened(store):
            pass
        assert caught.value.reason is Reason.NOT_FOUND
        store.with_name("elsewhere.gk").rename(store)
        with opened(store) as place:
            assert list(place.environment.forms) == ["Bank"]


def test_codes_are_the_same_whoever_asks_at_once(tmp_path: Path) -> None:
    path = tmp_path / "demo.gk"
    EnvironmentStore.create(path, demo_environment(), who="ana").close()
    with opened(path) as place:
        names = list(place.environment.variables)[:6]
        expected = {name: list(place.environment.register(name)) for name in names}
    found: list[dict[str, list[str]]] = []

    def ask(turn: int) -> None:
        with opened(path) as place:
            order = names[turn:] + names[:turn]
            found.append({name: list(place.environment.register(name)) for name in order})
            place.keep_codes()

    with holding(path):
        threads = [Thread(target=ask, args=(turn,)) for turn in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [expected] * 6
    with EnvironmentStore.open(path) as store:
        store.check()
