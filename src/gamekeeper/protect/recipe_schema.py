"""The JSON Schema of recipes, as it is published."""

from __future__ import annotations

from typing import Any

from gamekeeper.data.keys.missing import Missing
from gamekeeper.protect.recipe import VERSION
from gamekeeper.protect.steps import STEPS


def recipe_schema() -> dict[str, Any]:
    """Return the JSON Schema of recipes.

    Examples
    --------
    >>> recipe_schema()["properties"]["recipe"]
    {'const': 1}
    """
    text: dict[str, Any] = {"type": "string"}
    texts: dict[str, Any] = {"type": "array", "items": text}
    pairs: dict[str, Any] = {"type": "object", "additionalProperties": text}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:gamekeeper:recipe:1",
        "title": "A recipe of protection, version 1",
        "description": "What is done to a file of microdata, so that it can be done again. No cell and"
        " no record is listed. Without seed, journal, targets and what was found for people outside.",
        "type": "object",
        "properties": {
            "recipe": {"const": VERSION},
            "made_by": text,
            "input": {
                "type": "object",
                "properties": {"fingerprint": text, "records": {"type": "integer"}, "file": text},
            },
            "scenario": {
                "type": "object",
                "properties": {"name": text, "environment": text, "fingerprint": text},
                "required": ["name"],
            },
            "keys": texts,
            "columns": {**pairs, "description": "VARIABLE: COLUMN, where these differ."},
            "checksum": {
                **text,
                "description": "Of all else; left out where it is edited by hand.",
            },
            "missing": {"enum": [each.value for each in Missing]},
            "weight": text,
            "strata": text,
            "household": text,
            "identifier": text,
            "fraction": text,
            "sensitive": texts,
            "response_knowledge": {
                "type": "boolean",
                "description": "Whether an intruder may know who is in the file; true unless told.",
            },
            "reading": {
                "type": "object",
                "description": "How the file is read, by the names of options.",
                "additionalProperties": {
                    "anyOf": [text, {"type": "boolean"}, texts],
                },
            },
            "seed": {"type": "integer", "minimum": 0},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "description": "A step: its name, options that are not at their default, what it"
                    " found, and the steps that do the same without searching.",
                    "properties": {
                        "do": {"enum": list(STEPS)},
                        "found": {"type": "object"},
                        "frozen": {"type": "array", "items": {"type": "object"}},
                    },
                    "required": ["do"],
                },
            },
            "targets": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "target": text,
                        "reached": {"type": ["number", "null"]},
                        "standing": {"enum": ["met", "not met", "not proven"]},
                        "why": text,
                    },
                    "required": ["target"],
                },
            },
            "candidates": {
                "type": "array",
                "description": "What was tried, for the map.",
                "items": {
                    "type": "object",
                    "properties": {
                        "candidate": {"type": "integer"},
                        "what": text,
                        "meets_targets": {"type": "boolean"},
                        "right_share": {"type": ["number", "null"]},
                        "lost_share": {"type": ["number", "null"]},
                        "chosen": {"type": "boolean"},
                    },
                    "required": ["candidate", "what"],
                },
            },
            "output": pairs,
            "journal": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": dict.fromkeys(("at", "who", "why", "previous"), text),
                },
            },
        },
        "required": ["recipe", "keys", "steps"],
        "additionalProperties": False,
    }
