"""Who may ask for what: the table of routes and roles as a whole, sign-in, hosts, origins."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from gamekeeper.web import people as session_times
from gamekeeper.web.app import POLICY, ROUTERS
from gamekeeper.web.people import Role
from gamekeeper.web.service import Needs, Server
from gamekeeper.web.wire import Refused
from tests.web.conftest import ADDRESS, PASSWORD, edits, rename, signed_in

ANYBODY, READER, EDITOR, ADMINISTRATOR = None, Role.READER, Role.EDITOR, Role.ADMINISTRATOR
TABLE = {
    ("GET", "/start"): ANYBODY,
    ("GET", "/api/session"): ANYBODY,
    ("POST", "/api/session"): ANYBODY,
    ("DELETE", "/api/session"): READER,
    ("GET", "/api/environment"): READER,
    ("GET", "/api/events"): READER,
    ("GET", "/api/forms"): READER,
    ("GET", "/api/forms/found"): READER,
    ("GET", "/api/forms/{form}"): READER,
    ("GET", "/api/variables"): READER,
    ("POST", "/api/variables/draft"): READER,
    ("GET", "/api/variables/{variable}"): READER,
    ("GET", "/api/variables/{variable}/graph"): READER,
    ("GET", "/api/variables/{variable}/harmonizations"): READER,
    ("GET", "/api/variables/{variable}/codes"): READER,
    ("GET", "/api/variables/{variable}/picture"): READER,
    ("GET", "/api/groups"): READER,
    ("POST", "/api/groups/count"): READER,
    ("GET", "/api/groups/{group}"): READER,
    ("GET", "/api/scenarios"): READER,
    ("POST", "/api/scenarios"): EDITOR,
    ("GET", "/api/scenarios/{scenario}"): READER,
    ("GET", "/api/scenarios/{scenario}/review"): READER,
    ("POST", "/api/scenarios/{scenario}/renew"): EDITOR,
    ("POST", "/api/edits"): EDITOR,
    ("POST", "/api/edits/preview"): READER,
    ("POST", "/api/undo"): EDITOR,
    ("POST", "/api/redo"): EDITOR,
    ("GET", "/api/history"): READER,
    ("POST", "/api/analysis"): READER,
    ("POST", "/api/analysis/together"): READER,
    ("POST", "/api/analysis/export"): READER,
    ("GET", "/api/export/{what}"): READER,
    ("POST", "/api/imports"): EDITOR,
    ("POST", "/api/imports/edits"): EDITOR,
    ("GET", "/api/files"): EDITOR,
    ("POST", "/api/jobs"): EDITOR,
    ("GET", "/api/jobs"): READER,
    ("GET", "/api/jobs/{job}"): READER,
    ("POST", "/api/jobs/{job}/cancel"): EDITOR,
    ("POST", "/api/jobs/{job}/again"): EDITOR,
    ("DELETE", "/api/jobs/{job}"): EDITOR,
    ("GET", "/api/jobs/{job}/result"): READER,
    ("GET", "/api/jobs/{job}/tables/{table}"): EDITOR,
    ("GET", "/api/jobs/{job}/files/{name}"): EDITOR,
    ("GET", "/api/accounts"): ADMINISTRATOR,
    ("POST", "/api/accounts"): ADMINISTRATOR,
    ("POST", "/api/accounts/{account}"): ADMINISTRATOR,
    ("DELETE", "/api/accounts/{account}"): ADMINISTRATOR,
    ("DELETE", "/api/accounts/{account}/sessions"): ADMINISTRATOR,
}


def role_needed(route: APIRoute) -> Role | None:
    needed = [each.call for each in route.dependant.dependencies if isinstance(each.call, Needs)]
    return max((each.role for each in needed), default=None)


def test_every_route_needs_the_role_of_the_table() -> None:
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    found = {
        (method, route.path): role_needed(route) for route in routes for method in route.methods
    }
    assert found == TABLE


def test_every_route_refuses_whoever_lacks_its_role(outside: TestClient, team: Server) -> None:
    held: list[Role | None] = [None, *Role]
    for role in held:
        if role is None:
            outside.cookies.clear()
        else:
            signed_in(outside, role)
        for (method, path), needed in TABLE.items():
            if path in ("/api/events", "/start", "/api/session"):
                continue
            body = {} if method == "POST" else None
            told = outside.request(method, re.sub(r"\{\w+\}", "nothing", path), json=body)
            if needed is not None and role is None:
                assert told.status_code == 401, path
            elif needed is not None and role is not None and role < needed:
                assert (told.status_code, told.json()["code"]) == (403, "not-allowed"), path
            else:
                assert told.status_code not in (401, 403, 500), (path, told.text)


def test_the_start_address_is_good_for_one_time(outside: TestClient, server: Server) -> None:
    first = server.start_address.removeprefix(ADDRESS)
    assert outside.get("/api/environment").status_code == 401
    assert outside.get("/start?token=wrong").headers["location"] == "/?used"
    told = outside.get(first)
    assert (told.status_code, told.headers["location"]) == (303, "/")
    cookie = told.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert outside.get("/api/environment").status_code == 200
    outside.cookies.clear()
    assert outside.get(first).headers["location"] == "/?used"
    assert outside.get("/api/environment").status_code == 401


def test_with_accounts_the_start_address_signs_nobody_in(outside: TestClient, team: Server) -> None:
    assert team.start_address == ADDRESS
    token = team._token
    assert outside.get(f"/start?token={token}").headers["location"] == "/?used"


def test_a_session_ends_when_it_is_signed_out_revoked_or_old(
    outside: TestClient, team: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(outside, EDITOR)
    kept = dict(outside.cookies)
    assert outside.delete("/api/session").status_code == 204
    outside.cookies.update(kept)
    assert outside.get("/api/environment").status_code == 401
    signed_in(outside, EDITOR)
    assert team.sessions.revoke("EDITOR") == 1
    assert outside.get("/api/environment").status_code == 401
    signed_in(outside, EDITOR)
    monkeypatch.setattr(session_times, "IDLE_SECONDS", -1)
    assert outside.get("/api/environment").status_code == 401


def test_another_role_or_password_ends_sessions(outside: TestClient, team: Server) -> None:
    signed_in(outside, EDITOR)
    team.accounts.change("editor", role=READER)
    assert outside.get("/api/environment").status_code == 401
    signed_in(outside, EDITOR)
    assert outside.post("/api/undo", json={}).status_code == 403


def test_wrong_passwords_have_to_wait(
    outside: TestClient, team: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    clock = SimpleNamespace(time=lambda: now)
    monkeypatch.setattr("gamekeeper.web.people.time", clock)
    for _ in range(5):
        told = outside.post("/api/session", json={"name": "editor", "password": "wrong password"})
        assert told.json()["code"] == "wrong-password"
        assert "retry-after" not in told.headers
    told = outside.post("/api/session", json={"name": "editor", "password": PASSWORD})
    assert (told.status_code, told.json()["code"]) == (429, "too-often")
    assert (told.headers["retry-after"], told.json()["hint"]) == (
        "2",
        "Wait 2 seconds, and try again.",
    )
    # Others at that address do not wait, and the account does not elsewhere.
    signed_in(outside, READER)
    assert team.accounts.sign_in("editor", PASSWORD, "10.0.0.9").role is EDITOR
    now += 2.5
    signed_in(outside, EDITOR)


def wait_of(server: Server, name: str, password: str, address: str) -> int:
    """Return how long somebody has to wait, 0 for whoever need not."""
    try:
        server.accounts.sign_in(name, password, address)
    except Refused as refused:
        found = refused
    else:
        return 0
    assert (found.wait > 0) == (found.status == 429)
    return found.wait


@pytest.mark.slow
def test_whoever_tries_many_accounts_or_from_many_addresses_has_to_wait_too(
    team: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gamekeeper.web.people._FREE_FOR_MANY", 8)
    monkeypatch.setattr("gamekeeper.web.people._verified", lambda _, given: given == PASSWORD)
    # One account, each time from elsewhere.
    waits = [wait_of(team, "editor", "wrong password", f"10.0.0.{n}") for n in range(10)]
    assert waits == [0] * 9 + [2]
    assert wait_of(team, "editor", PASSWORD, "10.0.1.1")
    assert not wait_of(team, "reader", PASSWORD, "10.0.0.3")
    # Many accounts from one address; who signs in rightly between them changes nothing.
    for n in range(9):
        assert not wait_of(team, f"nobody {n}", "wrong password", "10.0.2.1")
        if n < 8:
            assert not wait_of(team, "reader", PASSWORD, "10.0.2.1")
    assert wait_of(team, "nobody 10", "wrong password", "10.0.2.1")
    assert wait_of(team, "reader", PASSWORD, "10.0.2.1")
    assert not wait_of(team, "reader", PASSWORD, "10.0.2.2")


def test_a_name_that_is_not_known_is_told_as_a_wrong_password(
    outside: TestClient, team: Server
) -> None:
    told = [
        outside.post("/api/session", json={"name": name, "password": "wrong password"}).json()
        for name in ("editor", "nobody")
    ]
    assert told[0] == told[1]


def test_the_last_administrator_stays(outside: TestClient, team: Server) -> None:
    signed_in(outside, ADMINISTRATOR)
    listed = outside.get("/api/accounts").json()["accounts"]
    own = next(each["id"] for each in listed if each["role"] == "administrator")
    assert outside.delete(f"/api/accounts/{own}").status_code == 422
    assert outside.post(f"/api/accounts/{own}", json={"role": "reader"}).status_code == 422
    assert len(outside.get("/api/accounts").json()["accounts"]) == 3


def test_the_history_says_which_account_it_was(outside: TestClient, team: Server) -> None:
    signed_in(outside, EDITOR)
    asked = edits(rename("Bank", "Bank 2"), who="somebody else")
    assert outside.post("/api/edits", json=asked).status_code == 422
    del asked["who"]
    assert outside.post("/api/edits", json=asked).status_code == 200
    assert outside.get("/api/history").json()["revisions"][0]["who"] == "editor"


def test_another_host_is_refused(client: TestClient) -> None:
    for host in ("evil.example", "127.0.0.1:1", "127.0.0.1", ""):
        told = client.get("/api/environment", headers={"Host": host})
        assert (told.status_code, told.json()["code"]) == (421, "wrong-host")


def test_what_writes_must_come_from_a_page_of_this_server(client: TestClient) -> None:
    asked = edits(rename("Bank", "Bank 2"))
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        told = client.post("/api/edits", json=asked, headers=headers)
        assert (told.status_code, told.json()["code"]) == (403, "wrong-origin")
    form = client.post(
        "/api/edits", content="a=b", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert form.status_code == 415
    fine = {"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/edits", json=asked, headers=fine).status_code == 200


def test_every_answer_has_the_policy(client: TestClient) -> None:
    for path in ("/", "/api/environment", "/api/nothing", "/start", "/favicon.svg"):
        told = client.get(path)
        assert told.headers["content-security-policy"] == POLICY
        assert told.headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY
