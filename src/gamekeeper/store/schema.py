"""The published JSON Schema (draft 2020-12): files of an environment folder, edits, printed results.

`python -m gamekeeper.store.schema docs/reference/schema` writes the published files anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from gamekeeper.files import write_file
from gamekeeper.mapping.edits import EDIT
from gamekeeper.mapping.scenario.document import SCENARIO
from gamekeeper.protection.recipe import recipe_schema
from gamekeeper.results import document_schema
from gamekeeper.store import file_shapes

_PUBLISHED: dict[str, TypeAdapter[Any]] = {
    "environment": TypeAdapter(file_shapes.EnvironmentFile),
    "variable": file_shapes.VARIABLE_FILE,
    "form": TypeAdapter(file_shapes.FormFile),
    "group": TypeAdapter(file_shapes.GroupFile),
    "scenario": SCENARIO,
    "edit": EDIT,
}


def published_schemas() -> dict[str, str]:
    """Return the text of every published schema by its file name.

    Examples
    --------
    >>> len(published_schemas()), "result.json" in published_schemas()
    (8, True)
    """
    texts = {"result.json": _text(document_schema()), "recipe.json": _text(recipe_schema())}
    for name, shape in _PUBLISHED.items():
        schema = _plain(shape.json_schema())
        what = "Edit" if name == "edit" else f"{name.capitalize()} file"
        described = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:gamekeeper:{name}:{file_shapes.VERSION}",
            "title": f"{what} of a Gamekeeper environment, version {file_shapes.VERSION}",
        }
        # What follows has a title of its own, made from the name of a class.
        texts[f"{name}.json"] = _text({**schema, **described})
    return texts


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _plain(schema: Any) -> Any:
    """Return a schema without `discriminator`, a word of OpenAPI and not of JSON Schema."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _plain(part)
        for key, part in schema.items()
        if key != "discriminator" or "propertyName" not in part
    }


if __name__ == "__main__":
    for file, text in published_schemas().items():
        write_file(Path(sys.argv[1]) / file, text.encode(), private=False)
