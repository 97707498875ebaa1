"""A store on a server: what is heard, what is refused, and nothing of what the driver says."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, Queue

import psycopg
import pytest

from gamekeeper.errors import GamekeeperError, Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.store.database import environment_store, server
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.file import read_names
from gamekeeper.store.database.loading import read_state
from gamekeeper.store.database.restoration import copy_store
from gamekeeper.store.database.server import listening, lock_of, refusal_of
from gamekeeper.store.database.words import ServerRefusal
from gamekeeper.store.place import ServerPlace, store_place
from tests.postgres import TestServer
from tests.store.database.conftest import WHO, refusal, small_environment


@pytest.mark.slow
def test_revisions_are_heard(postgres: TestServer) -> None:
    address, heard = postgres.address(), Queue[int]()
    place = store_place(address)
    assert isinstance(place, ServerPlace)
    with EnvironmentStore.create(address, who=WHO) as store, listening(place, lambda: heard.put(1)):
        heard.get(timeout=20)  # it listens
        store.apply([AddForm(name="A")], who=WHO)
        heard.get(timeout=20)
        refusal(lambda: store.apply([AddForm(name="A")], who=WHO), Reason.DUPLICATE)
        with pytest.raises(Empty):
            heard.get(timeout=0.3)
        # After a connection that was lost whoever listens looks for itself.
        postgres.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        )
        heard.get(timeout=20)
        store.apply([AddForm(name="B")], who=WHO)
        heard.get(timeout=20)


def test_others_hear_the_number_and_no_more(postgres: TestServer) -> None:
    address = postgres.address()
    schema = address.rpartition("=")[2]
    with EnvironmentStore.create(address, who=WHO) as store, postgres.connect() as other:
        other.execute(f"LISTEN gamekeeper_{schema}")
        store.apply([AddForm(name="Secret form")], who=WHO)
        told = [note.payload for note in other.notifies(timeout=20, stop_after=1)]
    assert told == [f"{schema} 2"]


SECRET = "Hunter2-Zanzibar"
WORDS = ("psycopg", "SELECT", "INSERT", "FATAL", "relation", 'schema "', SECRET)


def refused(work: Callable[[], object], reason: Reason) -> GamekeeperError:
    """Do what must be refused, and return the error, which hides what the driver said."""
    begun = time.monotonic()
    with pytest.raises(GamekeeperError) as caught:
        work()
    error = caught.value
    assert error.reason is reason, str(error)
    assert error.do
    assert time.monotonic() - begun < 20
    shown = f"{error} {error.__cause__!r} {error.__context__!r}"
    assert not any(word in shown for word in WORDS), shown
    return error


@pytest.fixture
def address(postgres: TestServer) -> str:
    return postgres.address()


@pytest.fixture
def store(address: str) -> Iterator[EnvironmentStore]:
    with EnvironmentStore.create(address, small_environment(), who=WHO) as made:
        yield made


def schema_of(address: str) -> str:
    return address.rpartition("=")[2]


def end_connections(postgres: TestServer) -> None:
    postgres.ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'gamekeeper'"
    )


def test_every_way_in_says_that_nobody_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"postgresql://ana@127.0.0.1:{free.getsockname()[1]}/forms?schema=norland"
    ways: list[Callable[[], object]] = [
        lambda: EnvironmentStore.open(address),
        lambda: EnvironmentStore.create(address, who=WHO),
        lambda: read_state(address),
        lambda: read_names(address, "forms"),
        lambda: copy_store(address, "copy.gk"),
    ]
    for way in ways:
        assert "No server answers" in refused(way, Reason.UNREACHABLE).found


def test_who_is_not_let_in(postgres: TestServer, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = postgres.address(user="nobody")
    assert (
        "does not let" in refused(lambda: EnvironmentStore.open(nobody), Reason.UNREACHABLE).found
    )
    elsewhere = postgres.address(database="elsewhere")
    refused(lambda: EnvironmentStore.open(elsewhere), Reason.UNREACHABLE)
    postgres.ask(f"CREATE ROLE locked LOGIN PASSWORD '{SECRET}'")
    rules = postgres.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all locked scram-sha-256\n{before}")
    try:
        postgres.ask("SELECT pg_reload_conf()")
        locked = postgres.address(user="locked")
        monkeypatch.setenv("PGPASSFILE", "/nowhere/pgpass")
        error = refused(lambda: EnvironmentStore.open(locked), Reason.UNREACHABLE)
        assert "asks for a password" in error.found
        monkeypatch.setenv("PGPASSWORD", f"not {SECRET}")
        error = refused(lambda: EnvironmentStore.open(locked), Reason.UNREACHABLE)
        assert "does not let" in error.found
        monkeypatch.setenv("PGPASSWORD", SECRET)
        refused(lambda: EnvironmentStore.open(locked), Reason.NOT_FOUND)
    finally:
        rules.write_text(before)
        postgres.ask("SELECT pg_reload_conf()")


def test_a_database_that_holds_something_else(postgres: TestServer) -> None:
    postgres.ask("CREATE SCHEMA shop")
    empty = postgres.address("shop")
    refused(lambda: EnvironmentStore.open(empty), Reason.NOT_FOUND)
    postgres.ask(
        "CREATE TABLE shop.environment (id int); CREATE TABLE shop.alembic_version (x int)"
    )
    refused(lambda: EnvironmentStore.open(empty), Reason.WRONG_SCHEMA)
    refused(lambda: read_state(empty), Reason.WRONG_SCHEMA)
    refused(lambda: EnvironmentStore.create(empty, who=WHO), Reason.NOT_WRITABLE)
    assert postgres.ask("SELECT count(*) FROM shop.environment") == [(0,)]


def test_a_database_of_other_letters(postgres: TestServer) -> None:
    postgres.ask(
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", "postgres"
    )
    latin = postgres.address(database="latin")
    refused(lambda: EnvironmentStore.create(latin, who=WHO), Reason.WRONG_ENCODING)
    assert postgres.ask("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'store%'", "latin") == []


def test_a_role_without_rights(postgres: TestServer, store: EnvironmentStore, address: str) -> None:
    schema = schema_of(address)
    postgres.ask("CREATE ROLE guest LOGIN")
    guest = postgres.address(schema, user="guest")
    refused(lambda: EnvironmentStore.open(guest), Reason.READ_ONLY)
    refused(
        lambda: EnvironmentStore.create(postgres.address(user="guest"), who=WHO), Reason.READ_ONLY
    )
    postgres.ask(f"GRANT USAGE ON SCHEMA {schema} TO guest")
    refused(lambda: EnvironmentStore.open(guest), Reason.READ_ONLY)
    postgres.ask(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest")
    with EnvironmentStore.open(guest) as reader:
        assert reader.readonly
        assert len(reader.environment().forms) == 5
        refused(lambda: reader.apply([AddForm(name="A")], who=WHO), Reason.READ_ONLY)
    postgres.ask(f"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO guest")
    with EnvironmentStore.open(guest) as writer:
        assert writer.apply([AddForm(name="A")], who=WHO).number == 2


def test_an_empty_schema_that_was_given_is_taken(postgres: TestServer) -> None:
    postgres.ask("CREATE ROLE tenant LOGIN; CREATE SCHEMA given AUTHORIZATION tenant")
    given = postgres.address("given", user="tenant")
    with EnvironmentStore.create(given, small_environment(), who=WHO) as made:
        assert made.apply([AddForm(name="A")], who=WHO).number == 2


def test_a_connection_lost_within_an_edit(
    postgres: TestServer, store: EnvironmentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = environment_store.record

    def losing(*given: object) -> object:
        made = plain(*given)  # pyright: ignore[reportArgumentType]
        end_connections(postgres)
        return made

    monkeypatch.setattr(environment_store, "record", losing)
    error = refused(lambda: store.apply([AddForm(name="A")], who=WHO), Reason.UNREACHABLE)
    assert "Nothing was changed" in error.found
    monkeypatch.undo()
    # It goes on by itself when the server is back, and nothing of the edit is there.
    assert "A" not in store.environment().forms
    assert store.apply([AddForm(name="A")], who=WHO).number == 2


def test_a_connection_lost_while_it_is_committed(
    postgres: TestServer, store: EnvironmentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, hits = psycopg.Connection.commit, [0]

    def losing(self: psycopg.Connection[object]) -> None:
        # As if the answer to the commit was lost on its way.
        plain(self)
        hits[0] += 1
        if hits[0] == 2:
            self.close()
            raise psycopg.OperationalError(f"server closed the connection {SECRET}")

    monkeypatch.setattr(psycopg.Connection, "commit", losing)
    error = refused(lambda: store.apply([AddForm(name="A")], who=WHO, key="k"), Reason.UNCERTAIN)
    assert "not known" in error.found
    assert "Nothing was changed" not in str(error)
    monkeypatch.undo()
    # It was saved, and to send it again under its key does no harm.
    assert store.apply([AddForm(name="A")], who=WHO, key="k").number == 2


def test_a_server_that_went_away_and_came_back(
    postgres: TestServer, store: EnvironmentStore
) -> None:
    store.apply([AddForm(name="A")], who=WHO)
    end_connections(postgres)
    assert "A" in store.environment().forms
    end_connections(postgres)
    assert store.apply([AddForm(name="B")], who=WHO).number == 3


def test_a_disk_that_is_full(postgres: TestServer, store: EnvironmentStore, address: str) -> None:
    schema = schema_of(address)
    postgres.ask(
        f"CREATE FUNCTION {schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{SECRET}' USING ERRCODE = '53100'; END $$;"
        f"CREATE TRIGGER no_room BEFORE INSERT ON {schema}.touch FOR EACH ROW"
        f" EXECUTE FUNCTION {schema}.no_room()"
    )
    refused(lambda: store.apply([AddForm(name="A")], who=WHO), Reason.DISK_FULL)
    assert store.history()[0].number == 1
    postgres.ask(f"DROP TRIGGER no_room ON {schema}.touch")
    assert store.apply([AddForm(name="A")], who=WHO).number == 2


def test_what_the_database_prefers_does_not_matter(postgres: TestServer) -> None:
    postgres.ask("CREATE ROLE strict LOGIN SUPERUSER")
    postgres.ask("ALTER ROLE strict SET default_transaction_isolation = 'serializable'")
    postgres.ask("ALTER ROLE strict SET synchronous_commit = off")
    address = postgres.address(user="strict")
    EnvironmentStore.create(address, who=WHO).close()

    def edit(number: int) -> int:
        with EnvironmentStore.open(address) as own:
            return own.apply([AddForm(name=f"Form {number}")], who=WHO).number

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(edit, range(10))) == list(range(2, 12))


def test_somebody_who_writes_all_the_time(
    postgres: TestServer, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    EnvironmentStore.create(address, who=WHO).close()
    monkeypatch.setitem(server._SETTINGS, "lock_timeout", "300ms")
    place = store_place(address)
    assert isinstance(place, ServerPlace)
    with EnvironmentStore.open(address) as store:
        with postgres.connect() as other:
            other.execute(f"SELECT pg_advisory_lock({lock_of(place)})")
            refused(lambda: store.apply([AddForm(name="A")], who=WHO), Reason.BUSY)
            # Whoever only looks does not wait.
            assert list(store.environment().forms) == []
        assert store.apply([AddForm(name="A")], who=WHO).number == 2


def test_to_close_a_store_whose_server_is_gone(postgres: TestServer, address: str) -> None:
    store = EnvironmentStore.create(address, who=WHO)
    store.apply([AddForm(name="A")], who=WHO)
    postgres.ask(f"DROP SCHEMA {schema_of(address)} CASCADE")
    store.close()


def test_damage(postgres: TestServer, store: EnvironmentStore, address: str) -> None:
    postgres.ask(f"UPDATE {schema_of(address)}.form SET name = '{SECRET}' WHERE name = 'Bank'")
    error = refused(lambda: read_state(address), Reason.DAMAGED)
    assert "env restore" not in error.do
    refused(store.check, Reason.DAMAGED)
    refused(lambda: copy_store(address, "/tmp/never.gk"), Reason.DAMAGED)


def test_a_store_has_no_backups_beside_it(store: EnvironmentStore) -> None:
    error = refused(store.backup, Reason.BAD_OPTION)
    assert "env copy" in error.do


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("08006", Reason.UNREACHABLE),
        ("57P01", Reason.UNREACHABLE),
        ("55P03", Reason.BUSY),
        ("57014", Reason.BUSY),
        ("53100", Reason.DISK_FULL),
        ("53300", Reason.BUSY),
        ("42501", Reason.READ_ONLY),
        ("25006", Reason.READ_ONLY),
        ("40001", Reason.BUSY),
        ("40P01", Reason.BUSY),
        ("42P01", Reason.WRONG_SCHEMA),
        ("23505", Reason.DAMAGED),
        ("XX001", Reason.DAMAGED),
        ("0A000", Reason.NOT_WRITABLE),
    ],
)
def test_codes_of_the_server(state: str, reason: Reason) -> None:
    error = psycopg.errors.lookup(state)(SECRET) if state != "0A000" else _Odd(SECRET)
    told = refusal_of(error, False)
    assert isinstance(told, ServerRefusal)
    assert told.told[0] is reason
    assert SECRET not in str(told.told) + str(told)
    assert (refusal_of(error, True) or told).told[0] in (reason, Reason.UNCERTAIN)


class _Odd(psycopg.DatabaseError):
    sqlstate = "0A000"


def test_other_errors_are_not_taken_for_the_servers() -> None:
    assert refusal_of(ValueError("x"), False) is None
