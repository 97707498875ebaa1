from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gamekeeper.mapping.variables.codes import is_code
from gamekeeper.store.schema import published_schemas

PUBLISHED = Path(__file__).parents[2] / "docs/reference/schema"
KINDS = ("variable", "form", "group", "scenario")
SHAPES = {f"{kind}s": f"{kind}.json" for kind in KINDS}


@cache
def validator(name: str) -> Draft202012Validator:
    schema = json.loads((PUBLISHED / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_published_schemas_are_not_stale() -> None:
    published = {path.name: path.read_text(encoding="utf-8") for path in PUBLISHED.iterdir()}
    assert published == published_schemas(), (
        "write them anew: python -m gamekeeper.store.schema docs/reference/schema"
    )


def test_a_written_environment_fits_the_published_schemas(folder: Path) -> None:
    checked = 0
    for path in folder.rglob("*.json"):
        name = SHAPES.get(path.parent.name, "environment.json")
        validator(name).validate(json.loads(path.read_text(encoding="utf-8")))
        checked += 1
    assert checked == 1 + 4 + 6 + 4 + 1


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("environment.json", {"format": "gamekeeper environment", "version": 2, "name": "x"}),
        ("environment.json", {"format": "gamekeeper environment", "version": 1}),
        ("form.json", {"name": "x", "variables": {"Age": [1]}}),
        ("form.json", {"name": "x", "variables": {}, "metadata": {"a": []}}),
        ("form.json", {"name": "x", "variables": {}, "more": 1}),
        ("group.json", {"name": "x"}),
        ("variable.json", {"name": "x", "scale": "nominal", "categories": {}}),
        ("variable.json", {"name": "x", "scale": "ordinal", "categories": {"a": []}}),
        ("variable.json", {"name": "x", "scale": "interval", "bands": ["0+"], "from": "0"}),
        (
            "variable.json",
            {"name": "x", "scale": "nominal", "categories": {"a": []}, "codes": {"K1": []}},
        ),
        (
            "variable.json",
            {"name": "x", "scale": "nominal", "categories": {"a": []}, "retired": ["K1"]},
        ),
    ],
)
def test_the_published_schemas_refuse_what_is_wrong(name: str, tree: dict[str, Any]) -> None:
    assert list(validator(name).iter_errors(tree))


@pytest.mark.parametrize("code", ["C0.001", "H12.1000", "c1.001", "C01.001", "C1.01", "X1.001"])
def test_the_schema_of_codes_agrees_with_codes(code: str) -> None:
    tree = {"name": "x", "scale": "nominal", "categories": {"a": []}, "codes": {code: []}}
    assert validator("variable.json").is_valid(tree) == is_code(code)
