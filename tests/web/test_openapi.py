"""The document of the interface, and what it promises, tried with random requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import just
from starlette.testclient import TestClient

from gamekeeper.web.app import document, main, make_app, text
from gamekeeper.web.service import Server
from gamekeeper.web.settings import Settings
from tests.given.cases import only_thoroughly
from tests.web.conftest import ADDRESS, small_environment

ROOT = Path(__file__).parents[2]


def test_the_document_that_is_kept_is_that_of_the_code() -> None:
    assert (ROOT / "frontend" / "openapi.json").read_text(encoding="utf-8") == text()


@pytest.mark.slow
def test_a_stale_document_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "openapi.json"
    assert main(["--check", str(path)]) == 1
    assert "make client" in capsys.readouterr().err
    assert main([str(path)]) == 0
    assert main(["--check", str(path)]) == 0


def test_every_kind_of_edit_is_told_apart() -> None:
    schemas = document()["components"]["schemas"]
    items = schemas["EditsAsked"]["properties"]["edits"]["items"]
    assert items["discriminator"]["propertyName"] == "edit"
    assert len(items["oneOf"]) > 25


@only_thoroughly
@pytest.mark.slow
def test_random_requests_are_answered_as_the_document_says(tmp_path: Path) -> None:
    from gamekeeper.store.database.environment_store import EnvironmentStore

    store = tmp_path / "forms.gk"
    EnvironmentStore.create(store, small_environment(), who="ana").close()
    server = Server(Settings(store=store, state=tmp_path / "state", folders={}), say=lambda _: None)
    how = settings(
        max_examples=50,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    schema = schemathesis.openapi.from_dict(document())
    with TestClient(make_app(server), base_url=ADDRESS) as client:
        client.get(server.start_address.removeprefix(ADDRESS))
        for result in schema.get_all_operations():
            operation = result.ok()
            if operation.path in ("/api/events", "/api/session"):
                continue

            def tried(case: schemathesis.Case, operation: Any) -> None:
                body = case.body if isinstance(case.body, dict | list | str | bytes) else None
                is_raw = isinstance(body, bytes)
                told = client.request(
                    case.method,
                    case.formatted_path,
                    params=case.query or None,
                    json=None if is_raw else body,
                    content=body if is_raw else None,
                    headers={"Content-Type": "application/octet-stream"} if is_raw else None,
                )
                assert told.status_code < 500 or told.status_code in (503, 507), told.text
                if told.status_code >= 400:
                    assert set(told.json()) >= {"code", "message", "problems", "hint"}
                else:
                    operation.validate_response(schemathesis.Response.from_any(told))

            how(given(case=operation.as_strategy(), operation=just(operation))(tried))()
