"""Hostile names, shapes and sizes: nothing breaks, nothing is lost, nothing is told of a file."""

from __future__ import annotations

import json
import logging

import pytest
from starlette.testclient import TestClient

from gamekeeper.files import PRIVATE_MARK
from gamekeeper.web import app as guard
from gamekeeper.web.service import Server
from gamekeeper.web.wire import id_of
from tests.web.conftest import CANARY, edits, rename

NAMES = [
    "<script>alert(1)</script>",
    '=HYPERLINK("http://x")',
    "../../etc/passwd",
    "a/b?c#d%00",
    "n" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u200fRTL",
    "\U0001f4a5 emoji \U0001f468\u200d\U0001f469",
    "'; DROP TABLE form; --",
    "{{7*7}}${7*7}",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_saved_and_read(client: TestClient, name: str) -> None:
    made = edits(
        {"edit": "add-form", "name": name}, {"edit": "add-group", "name": name, "forms": [name]}
    )
    assert client.post("/api/edits", json=made).status_code == 200
    assert name in client.get("/api/forms").json()["names"]
    form = client.get(f"/api/forms/{id_of(name)}").json()
    assert (form["name"], form["groups"][0]["name"]) == (name, name)
    assert client.get(f"/api/groups/{id_of(name)}").json()["forms"][0]["name"] == name
    kept = client.get("/api/export/forms").text
    assert not any(line.startswith(("=", '"=')) for line in kept.splitlines())
    assert client.post("/api/undo", json={}).status_code == 200


@pytest.mark.parametrize("name", ["", " a", "a\u202eb", "a\nb", "\ud800", "n" * 30_000])
def test_a_name_that_is_none_is_refused(client: TestClient, name: str) -> None:
    body = json.dumps(edits({"edit": "add-form", "name": name}))
    told = client.post("/api/edits", content=body, headers={"Content-Type": "application/json"})
    assert told.status_code == 422
    assert client.get("/api/environment").json()["revision"] == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"edits": []}',
        b'{"edits": null}',
        b'{"edits": [{"edit": "add-form"}]}',
        b'{"edits": [{"edit": "nothing"}]}',
        b'{"edits": [{}]}',
        b'{"edits": [{"edit": "add-form", "name": 7}]}',
        b'{"edits": [{"edit": "add-form", "name": "a", "metadata": {"a": {"b": 1}}}]}',
        b'{"edits": [{"edit": "add-form", "name": "a", "metadata": {"a": NaN}}]}',
        b'{"edits": [{"edit": "add-form", "name": "a"}], "base": -1}',
        b'{"edits": [{"edit": "add-form", "name": "a"}], "base": 99}',
        b'{"edits": [{"edit": "add-form", "name": "a"}], "key": "/"}',
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"a":' * 200_000,
    ],
)
def test_what_is_no_edit_changes_nothing(client: TestClient, body: bytes) -> None:
    told = client.post("/api/edits", content=body, headers={"Content-Type": "application/json"})
    assert told.status_code in (400, 409, 422)
    assert set(told.json()) == {"code", "message", "problems", "hint", "changes"}
    assert client.get("/api/environment").json()["revision"] == 1


def test_nothing_that_was_sent_comes_back_in_an_error(client: TestClient) -> None:
    for body in (
        {"edits": [{"edit": CANARY}]},
        {"edits": [{"edit": "add-form", "name": 7, "metadata": CANARY}]},
        {"edits": CANARY},
        {"base": CANARY},
    ):
        told = client.post("/api/edits", json=body)
        assert told.status_code == 422
        assert CANARY not in told.text


def test_a_misspelt_field_is_told_once(client: TestClient) -> None:
    told = client.post(
        "/api/edits", json=edits({"edit": "rename-form", "form": "Bank", "too": "B"})
    )
    assert [each["where"] for each in told.json()["problems"]] == [
        "body.edits.0.rename-form.to",
        "body.edits.0.rename-form.too",
    ]


def test_a_body_that_is_too_large_is_not_read(client: TestClient) -> None:
    large = b'"' + b"a" * (guard.MOST_BYTES + 1) + b'"'
    json_body = {"Content-Type": "application/json"}
    told = client.post("/api/edits", content=large, headers=json_body)
    assert (told.status_code, told.json()["code"]) == (413, "too-large")

    def parts():
        for _ in range(10):
            yield large[: len(large) // 9]

    told = client.post("/api/edits", content=parts(), headers=json_body)
    assert told.status_code == 413
    told = client.get("/api/forms/found", params={"where": "a" * 30_000})
    assert told.status_code == 422


def test_a_fault_of_ours_is_told_without_values(
    client: TestClient, server: Server, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    def broken(*_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(server, "names", broken)
    with caplog.at_level(logging.DEBUG):
        told = client.get("/api/forms/found")
    assert (told.status_code, told.json()["code"]) == (500, "our-fault")
    assert CANARY not in told.text
    assert CANARY not in caplog.text
    assert "ValueError in seen" in caplog.text


def test_no_path_of_the_server_is_told(client: TestClient, server: Server) -> None:
    client.post("/api/edits", json=edits(rename("Bank", "B"), base=1))
    told = client.post("/api/edits", json=edits(rename("Bank", "C"), base=1))
    assert told.status_code == 409
    assert str(server.settings.store.parent) not in told.text
    assert "forms.gk" in told.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["../forms.gk", "%2e%2e/forms.gk", "assets/../../app.py", ".stamp", "api/nothing"]
)
def test_pages_are_the_built_ones_alone(client: TestClient, page: str) -> None:
    told = client.get(f"/{page}")
    assert told.status_code in (200, 404, 503)
    assert b"SQLite" not in told.content
    assert b"import" not in told.content[:200]


def test_questionnaires_that_are_none(client: TestClient) -> None:
    octets = {"Content-Type": "application/octet-stream"}
    for name, body in (
        ("a.xlsx", b"PK\x03\x04nothing"),
        ("a.xml", b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
        ("../../a.csv", b"\x00\xff"),
        ("", b"x"),
        ("a.csv", b""),
    ):
        told = client.post("/api/imports", params={"name": name}, content=body, headers=octets)
        assert told.status_code == 422, (name, told.text)
    state = list(client.app.state.server.settings.state.iterdir())
    known = {"server.db", "server.db-wal", "server.db-shm", "jobs", PRIVATE_MARK}
    assert {path.name for path in state} <= known
