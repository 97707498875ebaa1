"""A server on a small store, and a browser's part of the talk with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gamekeeper.algorithms.categories.partition_graph import PartitionGraph
from gamekeeper.mapping.environment.environment import Environment, Form, Group
from gamekeeper.mapping.variables.codes import Variable
from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.web.app import make_app
from gamekeeper.web.people import Role
from gamekeeper.web.service import Server
from gamekeeper.web.settings import Settings
from tests.given.stores import copy_of

ADDRESS = "http://127.0.0.1:8720"
PASSWORD = "correct horse battery"
CANARY = "Zanzibar-7391"


def small_environment() -> Environment:
    age = Variable.of_bands("Age", ["0-15", "16-64", "65+", "16+"])
    place = Variable(
        "Place/of residence",
        PartitionGraph({"UK": ["England", "Wales"], "Elsewhere": []}),
    )
    fine, coarse = ("0-15", "16-64", "65+"), ("0-15", "16+")
    forms = [
        Form("Census", {"Age": fine, "Place/of residence": ("England", "Wales", "Elsewhere")}),
        Form("Bank", {"Age": coarse}, {"sector": "bank", "year": 2030}),
        Form("Shop", {"Age": fine, "Place/of residence": ("UK", "Elsewhere")}, {"year": 2031}),
        Form("Odd", {"Age": ("0-15",)}, {"year": 2031.5, "note": True}),
    ]
    return Environment([age, place], forms, [Group("Late", where="year > 2030")], name="Small")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    def make(path: Path) -> None:
        EnvironmentStore.create(path, small_environment(), who="ana").close()

    return copy_of("web", tmp_path / "forms.gk", make)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    lines = ["age,sex,region", *(f"{20 + n % 7},{'fm'[n % 2]},r{n % 3}" for n in range(60))]
    (made / "people.csv").write_text("\n".join([*lines, f"91,f,{CANARY}"]) + "\n")
    return made


@pytest.fixture
def server(store: Path, folder: Path) -> Server:
    said: list[str] = []
    made = Server(
        Settings(store=store, state=store.parent / "state", folders={"files": folder.resolve()}),
        say=said.append,
    )
    return made


@pytest.fixture
def outside(server: Server) -> Iterator[TestClient]:
    """Somebody who is not signed in."""
    with TestClient(make_app(server), base_url=ADDRESS, follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(outside: TestClient, server: Server) -> TestClient:
    """Whoever started the server, signed in by the start address."""
    assert outside.get(server.start_address.removeprefix(ADDRESS)).status_code == 303
    return outside


@pytest.fixture
def team(server: Server) -> Server:
    for role in reversed(Role):
        server.accounts.add(role.word, role, PASSWORD)
    return server


def signed_in(outside: TestClient, role: Role) -> TestClient:
    outside.cookies.clear()
    told = outside.post("/api/session", json={"name": role.word, "password": PASSWORD})
    assert told.status_code == 201
    return outside


def edits(*given: dict[str, object], **others: object) -> dict[str, object]:
    return {"edits": list(given), **others}


def rename(form: str, to: str) -> dict[str, object]:
    return {"edit": "rename-form", "form": form, "to": to}
