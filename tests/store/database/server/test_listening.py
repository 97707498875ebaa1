"""New revisions are heard when they are committed, and not before."""

from __future__ import annotations

from queue import Empty, Queue

import pytest

from gamekeeper.errors import Reason
from gamekeeper.mapping.edits import AddForm
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.database.server.listening import listening
from gamekeeper.store.place import ServerPlace, store_place
from tests.postgres import TestServer
from tests.store.database.conftest import WHO, refusal


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
