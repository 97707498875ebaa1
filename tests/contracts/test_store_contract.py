"""Every store gives the same documents: the same work on a file and on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from gamekeeper.algorithms.categories.partitions import Partition
from gamekeeper.errors import Reason, StoreError
from gamekeeper.mapping.edits import AddForm, RenameForm, SetMetadata
from gamekeeper.mapping.environment.environment import Environment
from gamekeeper.store.database.engines import METADATA, reading
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.file import access_of, place_of, read_names
from gamekeeper.store.database.loading import read_state
from gamekeeper.store.database.restoration import copy_store
from gamekeeper.workbench.environment.opening import opened
from tests.postgres import TestServer
from tests.store.database.conftest import WHO, everything, refusal, small_environment
from tests.store.database.random_edits import allowed_edits

STRANGE = Partition.from_labels([0, 1, 0, 1])
KINDS = ["sqlite", "postgresql"]
Place = Path | str
Given = Callable[[], Place]


@pytest.fixture(params=KINDS)
def anew(request: pytest.FixtureRequest, tmp_path: Path) -> Given:
    """Gives places where there is no store yet."""
    if request.param == "sqlite":
        numbers = iter(range(100))
        return lambda: tmp_path / f"{next(numbers)}.gk"
    return request.getfixturevalue("postgres").address


@pytest.fixture
def place(anew: Given) -> Place:
    return anew()


@pytest.fixture
def store(place: Place) -> Iterator[EnvironmentStore]:
    with EnvironmentStore.create(place, small_environment(), who=WHO) as made:
        yield made


def rows(place: Place) -> dict[str, list[tuple[Any, ...]]]:
    """Return all tables of a store as they are kept."""
    engine = access_of(place_of(place), readonly=True).engine()
    try:
        with reading(engine) as connection:
            return {
                table.name: [tuple(r) for r in connection.execute(select(table).order_by(*table.primary_key))]
                for table in METADATA.sorted_tables
            }  # fmt: skip
    finally:
        engine.dispose()


def walked(store: EnvironmentStore, seed: int, steps: int) -> list[dict[str, object]]:
    """Edit, undo and redo at random, and return what was there after each step."""
    rng, seen = Random(seed), [everything(store.environment())]
    for _ in range(steps):
        choice = rng.random()
        try:
            if choice < 0.2:
                store.undo(who=WHO)
            elif choice < 0.35:
                store.redo(who=WHO)
            else:
                edits = allowed_edits(rng, store.environment(), unrestricted=choice > 0.8)
                if edits is None:
                    continue
                store.apply(edits, who=WHO, unrestricted=choice > 0.8)
        except StoreError as error:
            if error.reason is not Reason.NOTHING_TO_UNDO:
                raise
            continue
        seen.append(everything(store.environment()))
    return seen


@pytest.mark.slow
def test_any_edits_lead_to_the_same_documents_everywhere(
    postgres: TestServer, tmp_path: Path
) -> None:
    for seed in range(3):
        address = postgres.address()
        with (
            EnvironmentStore.create(tmp_path / f"{seed}.gk", small_environment(), who=WHO) as file,
            EnvironmentStore.create(address, small_environment(), who=WHO) as server,
        ):
            assert walked(file, seed, 12) == walked(server, seed, 12)
            assert [(r.number, r.action, r.words) for r in file.history()] == [
                (r.number, r.action, r.words) for r in server.history()
            ]
            for number in range(1, file.revision + 1):
                past = (everything(one.environment(as_of=number)) for one in (file, server))
                assert next(past) == next(past)
            server.check()
        state = read_state(address)
        assert state is not None
        assert everything(state.environment) == everything(
            file_environment(tmp_path / f"{seed}.gk")
        )


def file_environment(path: Path) -> Environment:
    with EnvironmentStore.open(path, readonly=True) as store:
        return store.environment()


@pytest.mark.slow
@settings(
    max_examples=min(settings.default.max_examples // 4, 60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(2, 10)
@given(st.integers(0, 10**6), st.integers(0, 6))
def test_a_copy_there_and_back_is_the_same(
    postgres: TestServer, tmp_path_factory: pytest.TempPathFactory, seed: int, steps: int
) -> None:
    folder, address = tmp_path_factory.mktemp("copies"), postgres.address()
    with EnvironmentStore.create(folder / "a.gk", small_environment(), who=WHO) as store:
        environment = store.environment()
        environment.code("Country", STRANGE)
        assert store.save_codes(environment) == 1
        walked(store, seed, steps)
        newest = store.revision
    assert copy_store(folder / "a.gk", address) == newest
    assert copy_store(address, folder / "b.gk") == newest
    assert rows(folder / "a.gk") == rows(address) == rows(folder / "b.gk")
    with EnvironmentStore.open(address) as copy:
        copy.check()
        assert everything(copy.environment()) == everything(file_environment(folder / "b.gk"))


def test_a_copy_goes_on_by_itself(anew: Given, store: EnvironmentStore, place: Place) -> None:
    other = anew()
    copy_store(place, other)
    with EnvironmentStore.open(other) as copy:
        copy.apply([AddForm(name="There")], who=WHO)
        assert "There" in copy.environment().forms
    assert "There" not in store.environment().forms
    refusal(lambda: copy_store(place, other), Reason.NOT_WRITABLE)


def test_looking_back(store: EnvironmentStore, place: Place) -> None:
    store.apply([AddForm(name="Zoo"), AddForm(name="abc"), AddForm(name="Ätna")], who="ben")
    store.apply([RenameForm(form="Zoo", to="zoo")], who=WHO, note="smaller")
    assert [r.who for r in store.history()] == [WHO, "ben", WHO]
    assert [r.number for r in store.history(touching=("form", "ZOO"))] == [3, 2]
    assert [r.number for r in store.history(who="ben")] == [2]
    assert store.content_revision() == 3
    assert "Zoo" in store.environment(as_of=2).forms
    # The order is that of bytes, whatever the database prefers.
    assert read_names(place, "forms") == sorted(store.environment().forms)
    assert read_names(place, "variables") == ["Age", "Country", "Health"]


def test_a_save_under_a_key_is_made_once(store: EnvironmentStore) -> None:
    first = store.apply([AddForm(name="A")], who=WHO, key="save 1")
    again = store.apply([AddForm(name="A")], who=WHO, key="save 1")
    assert (again.number, store.revision) == (first.number, 2)


def test_what_others_changed_is_not_overwritten(store: EnvironmentStore, place: Place) -> None:
    with EnvironmentStore.open(place) as other:
        other.environment()
        store.apply([SetMetadata(form="Bank", values={"x": 1})], who=WHO)
        stale = [SetMetadata(form="Bank", values={"x": 2})]
        refusal(lambda: other.apply(stale, who="ben", base=1), Reason.STALE)
        other.apply([SetMetadata(form="Shop", values={"x": 2})], who="ben", base=1)
    assert store.environment().form("Bank").metadata["x"] == 1


def test_codes_of_an_analysis_are_kept(store: EnvironmentStore, place: Place) -> None:
    environment = store.environment()
    environment.code("Country", STRANGE)
    assert store.save_codes(environment) == 1
    assert store.save_codes(environment) == 0
    state = read_state(place)
    assert state is not None
    assert everything(state.environment) == everything(environment)


def test_a_store_that_is_only_read(store: EnvironmentStore, place: Place) -> None:
    with EnvironmentStore.open(place, readonly=True) as reader:
        assert reader.readonly
        refusal(lambda: reader.apply([AddForm(name="A")], who=WHO), Reason.READ_ONLY)
    with opened(place) as here:
        assert everything(here.environment) == everything(store.environment())
    assert store.revision == 1


def test_a_place_is_taken_once(store: EnvironmentStore, place: Place, anew: Given) -> None:
    refusal(lambda: EnvironmentStore.create(place, who=WHO), Reason.NOT_WRITABLE)
    refusal(lambda: EnvironmentStore.open(anew()), Reason.NOT_FOUND)
    other = anew()

    def create(_: int) -> bool:
        try:
            EnvironmentStore.create(other, who=WHO).close()
        except StoreError as error:
            if error.reason is not Reason.NOT_WRITABLE:
                raise
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(create, range(4))) == [False, False, False, True]
    with EnvironmentStore.open(other) as made:
        made.check()


def test_an_error_leaves_nothing_behind(store: EnvironmentStore, place: Place) -> None:
    before = rows(place)
    refusal(
        lambda: store.apply([AddForm(name="New"), AddForm(name="Bank")], who=WHO), Reason.DUPLICATE
    )
    assert rows(place) == before


@pytest.mark.slow
def test_many_threads_lose_nothing(store: EnvironmentStore, place: Place) -> None:
    def edit(number: int) -> int:
        with closing(EnvironmentStore.open(place)) as own:
            return own.apply([AddForm(name=f"Form {number}")], who=WHO).number

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(edit, range(12))) == list(range(2, 14))
    assert len(store.environment().forms) == 5 + 12
    store.check()
