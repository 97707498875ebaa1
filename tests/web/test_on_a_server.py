"""The workbench over a store on a PostgreSQL server: pages hear of revisions that others make."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gamekeeper.errors import InputError
from gamekeeper.mapping.edits import AddForm
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.store.place import store_place
from gamekeeper.web import service as ticking
from gamekeeper.web.app import make_app
from gamekeeper.web.service import Server
from gamekeeper.web.serving import settings_of
from gamekeeper.web.settings import Settings
from gamekeeper.workbench.requests.shared import ServeRequest
from tests.postgres import TestServer
from tests.web.conftest import ADDRESS, edits, rename, small_environment


@pytest.mark.slow
def test_pages_hear_of_what_others_do(
    postgres: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only what the server tells is heard, never what somebody looks up now and then.
    monkeypatch.setattr(ticking, "_UNHEARD", 1e9)
    address = postgres.address()
    EnvironmentStore.create(address, small_environment(), who="ana").close()
    server = Server(Settings(store=store_place(address), state=tmp_path / "state", folders={}))
    told: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(server.events, "publish", lambda kind, **of: told.append((kind, of)))

    def heard(revision: int) -> None:
        until = time.monotonic() + 20
        while ("revision", {"revision": revision}) not in told:
            assert time.monotonic() < until, told
            time.sleep(0.01)

    with TestClient(make_app(server), base_url=ADDRESS, follow_redirects=False) as client:
        assert client.get(server.start_address.removeprefix(ADDRESS)).status_code == 303
        with EnvironmentStore.open(address) as other:
            other.apply([AddForm(name="Elsewhere")], who="ben")
        heard(2)
        assert client.post("/api/edits", json=edits(rename("Bank", "Banks"))).status_code == 200
        heard(3)
        assert client.get("/api/environment").json()["revision"] == 3
        # What goes wrong does not say which machine it is.
        refused = client.post("/api/edits", json=edits(rename("Bank", "Banks")))
        assert refused.status_code == 422
        assert str(postgres.folder) not in refused.text
        # Another store that was put in its place is seen.
        schema = address.rpartition("=")[2]
        postgres.ask(f"DROP SCHEMA {schema} CASCADE")
        EnvironmentStore.create(address, who="ana", name="Another").close()
        assert client.get("/api/environment").json()["name"] == "Another"


def test_a_private_folder_must_be_named(postgres: TestServer) -> None:
    address = postgres.address()
    EnvironmentStore.create(address, who="ana").close()
    with pytest.raises(InputError, match="--state"):
        settings_of(ServeRequest(store=store_place(address)))
