"""The published JSON Schema (draft 2020-12) of the files of an environment folder.

`python -m gamekeeper.store.schema docs/reference/schema` writes the published files anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from gamekeeper.store.models import VARIABLE_FILE, VERSION, EnvironmentFile, FormFile, GroupFile

__all__ = ["published_schemas"]

_PUBLISHED: dict[str, TypeAdapter[Any]] = {
    "environment": TypeAdapter(EnvironmentFile),
    "variable": VARIABLE_FILE,
    "form": TypeAdapter(FormFile),
    "group": TypeAdapter(GroupFile),
}


def published_schemas() -> dict[str, str]:
    """Return the text of every published schema by its file name.

    Examples
    --------
    >>> sorted(published_schemas())
    ['environment.json', 'form.json', 'group.json', 'variable.json']
    """
    texts: dict[str, str] = {}
    for name, shape in _PUBLISHED.items():
        schema = shape.json_schema()
        schema.pop("discriminator", None)  # a word of OpenAPI, not of JSON Schema
        described = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:gamekeeper:{name}:{VERSION}",
            "title": f"{name.capitalize()} file of a Gamekeeper environment, version {VERSION}",
        }
        # What follows has a title of its own, made from the name of a class.
        text = json.dumps({**schema, **described}, indent=1, ensure_ascii=False, sort_keys=True)
        texts[f"{name}.json"] = f"{text}\n"
    return texts


if __name__ == "__main__":
    for file, text in published_schemas().items():
        (Path(sys.argv[1]) / file).write_text(text, encoding="utf-8")
