"""Edits and questionnaires by way of the server: made, refused, taken back; read, reviewed, entered."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gamekeeper.store.database.environment_store import EnvironmentStore
from gamekeeper.workbench.demo_place import write_questionnaires
from tests.web.conftest import edits, rename

SPLIT = {
    "edit": "split-category",
    "variable": "Place/of residence",
    "category": "Elsewhere",
    "into": ["France", "Rest"],
}


def test_edits_are_made_together_or_not_at_all(client: TestClient) -> None:
    told = client.post("/api/edits", json=edits(rename("Bank", "B"), rename("Shop", "S"), note="x"))
    assert told.json()["revision"] == 2
    told = client.post("/api/edits", json=edits(rename("B", "C"), rename("nobody", "D")))
    assert (told.status_code, told.json()["code"]) == (422, "unknown-name")
    assert set(client.get("/api/forms").json()["names"]) == {"Census", "Odd", "B", "S"}
    assert client.get("/api/environment").json()["revision"] == 2


@pytest.mark.slow
def test_a_preview_says_what_would_be_and_writes_nothing(client: TestClient) -> None:
    told = client.post("/api/edits/preview", json=edits(SPLIT)).json()
    (line,) = told["words"]
    assert line.startswith("Split")
    assert all(name in line for name in ("Elsewhere", "France", "Rest"))
    remove = {"edit": "remove-form", "form": "Shop"}
    assert client.post("/api/edits/preview", json=edits(remove)).status_code == 200
    assert client.get("/api/environment").json()["revision"] == 1


def test_an_unrestricted_preview_says_which_forms_break(client: TestClient) -> None:
    remove = {"edit": "remove-category", "variable": "Place/of residence", "category": "Wales"}
    assert client.post("/api/edits/preview", json=edits(remove)).status_code == 422
    told = client.post("/api/edits/preview", json=edits(remove, unrestricted=True)).json()
    assert told["n_consequences"] > 0
    assert {row["form"]["name"] for row in told["consequences"] if row["form"]} >= {"Census"}


def test_a_stale_edit_says_who_and_when(client: TestClient) -> None:
    client.post("/api/edits", json=edits(rename("Bank", "Bank 2"), base=1))
    told = client.post("/api/edits", json=edits(rename("Bank", "Bank 3"), base=1))
    assert (told.status_code, told.json()["code"]) == (409, "stale")
    (change,) = told.json()["changes"]
    assert change["revision"] == 2
    assert change["words"] == ["Rename the form 'Bank' to 'Bank 2'."]
    assert change["who"]
    assert change["at"].startswith("20")
    # What others did not touch can still be changed.
    assert client.post("/api/edits", json=edits(rename("Shop", "S"), base=1)).status_code == 200


def test_the_same_save_is_made_once(client: TestClient, store: Path) -> None:
    asked = edits({"edit": "add-form", "name": "New"}, key="0123-abcd")
    first, again = (client.post("/api/edits", json=asked).json() for _ in range(2))
    assert first["revision"] == again["revision"] == 2
    assert client.get("/api/environment").json()["revision"] == 2
    with EnvironmentStore.open(store) as other:
        assert [revision.number for revision in other.history()] == [2, 1]


def test_a_save_whose_answer_was_lost_is_found_by_the_next_server(
    client: TestClient, store: Path
) -> None:
    from gamekeeper.mapping.edits import AddForm

    # The server made it, and was killed before it could say so.
    with EnvironmentStore.open(store) as died:
        died.apply([AddForm(name="New")], who="ana", key="lost")
    told = client.post("/api/edits", json=edits({"edit": "add-form", "name": "New"}, key="lost"))
    assert told.json()["revision"] == 2
    assert client.get("/api/environment").json()["n_forms"] == 5


def test_undo_and_redo(client: TestClient) -> None:
    client.post("/api/edits", json=edits(rename("Bank", "B")))
    assert client.post("/api/undo", json={}).json()["words"][0].startswith("Undo revision 2")
    assert "Bank" in client.get("/api/forms").json()["names"]
    assert client.post("/api/redo", json={}).status_code == 200
    assert "B" in client.get("/api/forms").json()["names"]
    told = client.post("/api/redo", json={})
    assert (told.status_code, told.json()["code"]) == (409, "nothing-to-undo")
    history = client.get("/api/history", params={"form": "B"}).json()
    assert [each["action"] for each in history["revisions"]] == ["redo", "undo", "edit"]


@pytest.mark.slow
def test_the_history_comes_in_pages(client: TestClient) -> None:
    for number in range(60):
        made = {"edit": "set-metadata", "form": "Bank", "values": {"year": number}}
        client.post("/api/edits", json=edits(made))
    first, second, none = (
        client.get("/api/history", params={"page": page}).json() for page in (1, 2, 3)
    )
    assert first["total"] == second["total"] == none["total"] == 61
    numbers = [each["number"] for told in (first, second, none) for each in told["revisions"]]
    assert numbers == list(range(61, 0, -1))
    late = client.get("/api/history", params={"since": "60", "form": "Bank"}).json()
    assert [each["number"] for each in late["revisions"]] == [61, 60]


def test_the_backup_waits_until_nobody_does(client: TestClient, store: Path) -> None:
    backup = store.with_name("forms.gk.backup")
    before = backup.stat().st_mtime_ns
    client.post("/api/edits", json=edits(rename("Bank", "B")))
    assert backup.stat().st_mtime_ns == before


def test_the_backup_is_renewed_when_the_server_ends(store: Path, server) -> None:
    from gamekeeper.store.database.file import backup_position
    from gamekeeper.web.app import make_app
    from tests.web.conftest import ADDRESS

    with TestClient(make_app(server), base_url=ADDRESS) as client:
        client.get(server.start_address.removeprefix(ADDRESS))
        client.post("/api/edits", json=edits(rename("Bank", "B")))
    found = backup_position(store)
    assert found is not None
    assert found[0] == 2


def test_a_questionnaire_is_read_reviewed_and_entered(client: TestClient, tmp_path: Path) -> None:
    write_questionnaires(tmp_path / "questionnaires")
    sent = client.post(
        "/api/imports",
        params={"name": "C:\\forms\\bank.xml"},
        content=(tmp_path / "questionnaires" / "bank.xml").read_bytes(),
        headers={"Content-Type": "application/octet-stream"},
    )
    assert sent.status_code == 200
    decisions = sent.json()["decisions"]
    (form,) = decisions["forms"]
    assert form["file"] == "bank.xml"
    by_name = {question["question"]: question for question in form["questions"]}
    age = by_name["AGE"]
    assert (age["variable"], age["status"], age["take"]) == ("Age", "sure", True)
    assert 0 < age["score"] <= 1
    assert age["reason"]
    for question in form["questions"]:
        question["take"] = question["question"] == "AGE"
    told = client.post("/api/imports/edits", json={"decisions": decisions}).json()
    assert [edit["edit"] for edit in told["edits"]] == ["add-bands", "add-form"]
    assert told["words"][1].startswith("Add the form 'Norland Savings Bank")
    assert client.get("/api/environment").json()["revision"] == 1
    assert client.post("/api/edits", json={"edits": told["edits"]}).status_code == 200
    assert client.get("/api/environment").json()["n_forms"] == 5


def test_what_is_not_decided_is_told(client: TestClient) -> None:
    question = {"question": "Q1", "take": True, "variable": "Nothing", "status": "unsure"}
    decisions = {"forms": [{"form": "New", "questions": [question]}]}
    told = client.post("/api/imports/edits", json={"decisions": decisions})
    assert told.status_code == 422
    assert "Nothing" in told.json()["problems"][0]["found"]
