"""The library, the command line and the server give the same document for the same request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from gamekeeper.cli.app import app
from gamekeeper.mapping.analysis.composite_keys import describe_map
from gamekeeper.mapping.environment.asked import MapOptions
from gamekeeper.results import document_of
from gamekeeper.workbench.environment import browsing
from gamekeeper.workbench.environment.mapping import map_target
from gamekeeper.workbench.requests.editing import MapRequest
from gamekeeper.workbench.requests.environment import GridRequest, Opened


def printed(*arguments: object) -> dict[str, Any]:
    told = CliRunner().invoke(app, [*map(str, arguments), "--format", "json"])
    assert told.exit_code == 0, told.output
    return timeless(json.loads(told.stdout))


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    document["provenance"].pop("seconds")
    return document


LISTS = {
    "forms": ("form", "list"),
    "grid": ("form", "grid"),
    "variables": ("variable", "list"),
    "groups": ("group", "list"),
    "history": ("env", "history"),
    "scenarios": ("scenario", "list"),
}


@pytest.mark.parametrize("what", LISTS)
def test_lists(client: TestClient, store: Path, what: str) -> None:
    sent = client.get(f"/api/export/{what}", params={"format": "json"}).json()
    assert timeless(sent) == printed(*LISTS[what], store)


def test_the_grid_is_that_of_the_library(client: TestClient, store: Path) -> None:
    made = browsing.grid(GridRequest(opened=Opened(environment=store)))
    grid = client.get("/api/forms").json()
    cells: dict[tuple[str, str], str] = {
        (grid["names"][row], column["name"]): column["codes"][cell]
        for column in grid["variables"]
        for row, cell in zip(column["rows"], column["cells"], strict=True)
    }
    header = made.columns
    expected = {
        (str(row[0]), header[place]): cell
        for row in made.rows
        for place, cell in enumerate(row)
        if place and cell is not None
    }
    assert cells == expected


def test_an_analysis(client: TestClient, store: Path) -> None:
    body = {"target": "Census", "prevalence": "1/3", "strict": False}
    sent = timeless(client.post("/api/analysis/export?format=json", json=body).json())
    assert sent == printed("map", store, "Census", "-p", "1/3", "--no-strict")
    question = MapOptions("Census", prevalence="1/3", strict=False)
    outcome, composite = map_target(MapRequest(opened=Opened(environment=store), question=question))
    made = document_of(outcome)
    assert sent["rows"] == list(made["rows"])
    # At every level, what the page shows is what the command line prints, to the digit.
    levels = client.post("/api/analysis", json=body).json()
    n_forms = len(levels["forms"]["names"])
    together = client.post("/api/analysis/together", json=body).json()
    assert [levels["sentences"][0], *together["sentences"]] == [
        describe_map(outcome),
        *composite.sentences,
    ]
    for key, row in zip(together["keys"], composite.keys, strict=True):
        assert [(part["variable"], part["code"]) for part in key["parts"]] == [
            (part.variable, part.code) for part in row.parts
        ]
        assert [levels["forms"]["names"][form] for form in key["forms"]] == list(row.forms)
    for forms in range(1, n_forms + 1):
        rows = {
            row["variable"]: row
            for row in printed("map", store, "Census", "-p", f"{forms}/{n_forms}", "--no-strict")[
                "rows"
            ]
        }
        for item in levels["variables"]:
            row = rows[item["variable"]["name"]]
            found = [one for one in item["levels"] if one["first"] <= forms <= one["last"]]
            assert (found[0]["codes"][0] if found else None) == row["code"]
            if found:
                assert found[0]["categories"] == row["categories"]
                assert found[0]["effective"] == row["effective"]
                assert found[0]["effective_exact"] == row["effective_exact"]
                meant = {one["code"]: one for one in item["maximal"]}[row["code"]]
                assert "; ".join(meant["categories"]) == row["in_words"]
            assert item["area"] == row["area"]
            assert item["area_exact"] == row["area_exact"]
            assert item["rank"] == row["rank"]


def test_csv_is_what_is_printed(client: TestClient, store: Path) -> None:
    told = CliRunner().invoke(app, ["form", "list", str(store), "--format", "csv"])
    assert client.get("/api/export/forms").text == told.stdout


def test_a_picture_is_the_one_that_is_drawn(client: TestClient, store: Path) -> None:
    from gamekeeper.web.wire import id_of

    drawn = store.with_name("drawn.svg")
    CliRunner().invoke(app, ["graph", str(store), "Age", "--kind", "partition", "-o", str(drawn)])
    sent = client.get(f"/api/variables/{id_of('Age')}/picture")
    assert sent.content == drawn.read_bytes()
