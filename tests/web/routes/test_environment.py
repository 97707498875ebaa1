"""What pages read of an environment: forms, variables, graphs, groups, scenarios, history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from gamekeeper.web.wire import id_of
from gamekeeper.workbench.environment.opening import held_at
from tests.web.conftest import edits, rename


def test_the_overview(client: TestClient) -> None:
    told = client.get("/api/environment").json()
    assert (told["name"], told["revision"], told["n_forms"]) == ("Small", 1, 4)
    (fault,) = told["faults"]
    assert (fault["form"]["name"], fault["variable"]["name"]) == ("Odd", "Age")
    assert "misses" in fault["fault"]
    assert told["changes"][0]["who"] == "ana"


def test_the_grid_has_every_cell(client: TestClient) -> None:
    grid = client.get("/api/forms").json()
    assert grid["names"] == ["Bank", "Census", "Odd", "Shop"]
    assert grid["ids"] == [id_of(name) for name in grid["names"]]
    cells = {
        (grid["names"][row], column["name"]): column["codes"][cell]
        for column in grid["variables"]
        for row, cell in zip(column["rows"], column["cells"], strict=True)
    }
    assert cells == {
        ("Census", "Age"): "C3.001",
        ("Bank", "Age"): "C2.001",
        ("Shop", "Age"): "C3.001",
        ("Odd", "Age"): "?",
        ("Census", "Place/of residence"): "C3.001",
        ("Shop", "Place/of residence"): "C2.001",
    }
    metadata = {column["key"]: column for column in grid["metadata"]}
    assert [metadata["year"]["cells"], metadata["year"]["values"]] == [
        [0, -1, 1, 2],
        [2030, 2031.5, 2031],
    ]
    assert metadata["note"]["values"] == [True]


def test_the_grid_is_sent_once_for_a_revision(client: TestClient) -> None:
    first = client.get("/api/forms")
    tag = {"If-None-Match": first.headers["etag"]}
    assert client.get("/api/forms", headers=tag).status_code == 304
    client.post("/api/edits", json=edits(rename("Bank", "Bank 2")))
    again = client.get("/api/forms", headers=tag)
    assert again.status_code == 200
    assert "Bank 2" in again.json()["names"]


def test_a_query_finds_forms_and_says_what_is_wrong_with_it(client: TestClient) -> None:
    assert client.get("/api/forms/found", params={"where": "year > 2030"}).json()["ids"] == [
        id_of("Odd"),
        id_of("Shop"),
    ]
    told = client.get("/api/forms/found", params={"where": "year >"})
    assert (told.status_code, told.json()["code"]) == (422, "bad-query")


def test_a_form_a_variable_and_its_graphs(client: TestClient) -> None:
    form = client.get(f"/api/forms/{id_of('Odd')}").json()
    assert form["variables"][0]["missed"] == ["16-64", "65+"]
    place = id_of("Place/of residence")
    told = client.get(f"/api/variables/{place}").json()
    assert [code["code"] for code in told["codes"]] == ["C2.001", "C3.001"]
    graph = client.get(f"/api/variables/{place}/graph").json()
    names = [category["name"] for category in graph["categories"]]
    drawn = {
        (category["name"], part)
        for category in graph["categories"]
        for part in category["children"]
    }
    assert drawn == {("UK", "England"), ("UK", "Wales")}
    uk = graph["categories"][names.index("UK")]
    assert (uk["n_sinks"], uk["is_sink"]) == (2, False)
    codes = client.get(f"/api/variables/{id_of('Age')}/harmonizations").json()["codes"]
    assert {(code["code"], code["n_forms"], code["n_below"]) for code in codes} == {
        ("C2.001", 1, 3),
        ("C3.001", 2, 2),
    }
    asked = {"code": ["C2.001", "C3.001"]}
    together = client.get(f"/api/variables/{id_of('Age')}/codes", params=asked).json()
    assert (together["code"], together["words"]) == ("C2.001", ["0-15", "16+"])
    assert [form["name"] for form in together["forms"]] == ["Bank"]


def test_a_draft_becomes_a_graph_and_its_faults_are_told(client: TestClient) -> None:
    bands = {"name": "Age", "scale": "interval", "bands": ["0-9", "10+"]}
    told = client.post(
        "/api/variables/draft", json={"definition": bands, "selected": ["10+"]}
    ).json()
    assert told["missed"] == ["0-9"]
    graph = {"A": ["B", "C"], "B": ["D"], "C": ["D"], "D": []}
    wrong = {"name": "X", "scale": "nominal", "categories": graph}
    told = client.post("/api/variables/draft", json={"definition": wrong})
    assert (told.status_code, told.json()["code"]) == (422, "not-a-partition-graph")


def test_groups_and_how_many_forms_a_definition_finds(client: TestClient) -> None:
    (group,) = client.get("/api/groups").json()["groups"]
    assert (group["name"], group["n_forms"]) == ("Late", 2)
    shown = client.get(f"/api/groups/{group['id']}").json()
    assert [form["name"] for form in shown["forms"]] == ["Odd", "Shop"]
    assert client.post("/api/groups/count", json={"where": "year = 2030"}).json()["n_forms"] == 1
    assert client.post("/api/groups/count", json={"union": ["Late"]}).json()["n_forms"] == 2
    assert client.post("/api/groups/count", json={"union": ["None"]}).status_code == 422


def test_a_scenario_is_saved_shown_and_reviewed(client: TestClient) -> None:
    asked = {"name": "Broker", "question": {"target": "Census", "strict": False}}
    saved = client.post("/api/scenarios", json=asked)
    assert saved.status_code == 201
    here = saved.json()["scenario"]["id"]
    assert client.get("/api/scenarios").json()["scenarios"][0]["n_keys"] == 2
    shown = client.get(f"/api/scenarios/{here}").json()
    assert [key["variable"] for key in shown["keys"]] == ["Age", "Place/of residence"]
    assert client.get(f"/api/scenarios/{here}/review").json()["is_current"]
    client.post("/api/edits", json=edits({"edit": "remove-form", "form": "Shop"}))
    assert not client.get(f"/api/scenarios/{here}/review").json()["is_current"]


def test_a_review_is_accepted(client: TestClient) -> None:
    asked = {"name": "Broker", "question": {"target": "Census", "strict": False}}
    here = client.post("/api/scenarios", json=asked).json()["scenario"]["id"]

    def is_stale() -> bool:
        (line,) = client.get("/api/scenarios").json()["scenarios"]
        assert (
            line["is_stale"] == client.get(f"/api/scenarios/{here}").json()["scenario"]["is_stale"]
        )
        return line["is_stale"]

    # Another revision alone is no reason.
    client.post("/api/edits", json=edits({"edit": "remove-group", "group": "Late"}))
    assert not is_stale()
    ask = {"edit": "ask-variable", "form": "Bank", "variable": "Age", "labels": []}
    client.post("/api/edits", json=edits(ask))
    assert is_stale()
    told = client.post(f"/api/scenarios/{here}/renew")
    assert told.status_code == 200
    assert told.json()["words"] == ["Save the scenario 'Broker' with 2 key variables for 'Census'."]
    assert not is_stale()
    assert client.get(f"/api/scenarios/{here}/review").json()["is_current"]
    client.post("/api/edits", json=edits({"edit": "remove-form", "form": "Census"}))
    refused = client.post(f"/api/scenarios/{here}/renew")
    assert refused.status_code == 409


def test_what_is_not_there_is_told(client: TestClient) -> None:
    for path in ("forms", "variables", "groups", "scenarios", "jobs"):
        told = client.get(f"/api/{path}/{'0' * 16}")
        assert (told.status_code, told.json()["code"]) == (404, "not-found")


def test_the_store_is_held_only_while_the_server_runs(client: TestClient, store: Path) -> None:
    assert held_at(store) is not None


def test_what_another_program_saves_is_seen(client: TestClient, store: Path) -> None:
    from gamekeeper.mapping.edits import AddForm
    from gamekeeper.store.database.environment_store import EnvironmentStore

    with EnvironmentStore.open(store) as other:
        other.apply([AddForm(name="From elsewhere")], who="bo")
    assert "From elsewhere" in client.get("/api/forms").json()["names"]


def test_a_store_that_was_put_in_its_place_is_read(client: TestClient, store: Path) -> None:
    from gamekeeper.mapping.environment.environment import Environment
    from gamekeeper.store.database.environment_store import EnvironmentStore

    other = store.with_name("other.gk")
    EnvironmentStore.create(other, Environment([], name="Another"), who="bo").close()
    assert client.get("/api/environment").json()["name"] == "Small"
    tag = client.get("/api/forms").headers["etag"]
    other.rename(store)
    assert client.get("/api/environment").json()["name"] == "Another"
    # The number of the revision is the same, and the forms are not.
    assert client.get("/api/forms", headers={"If-None-Match": tag}).json()["names"] == []
    assert (
        client.post("/api/edits", json=edits({"edit": "add-form", "name": "A"})).status_code == 200
    )
    assert client.get("/api/environment").json()["n_forms"] == 1


@pytest.mark.parametrize("how", ["csv", "json"])
@pytest.mark.parametrize("what", ["forms", "grid", "variables", "groups", "scenarios", "history"])
def test_lists_to_keep(client: TestClient, what: str, how: str) -> None:
    told = client.get(f"/api/export/{what}", params={"format": how})
    assert told.status_code == 200
    assert told.headers["content-disposition"] == f'attachment; filename="{what}.{how}"'
    if how == "json":
        assert json.loads(told.content)["schema"] == "urn:gamekeeper:result:1"
