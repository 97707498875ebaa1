"""Questionnaires by way of the server: read, reviewed, entered."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from gamekeeper.workbench.demo.questionnaires import write_questionnaires


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
