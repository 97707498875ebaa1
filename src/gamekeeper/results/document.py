"""What programs read of a result: the shape of the JSON that every command prints.

`SCHEMA` names its version. A later version may add keys and parts under the same name; one that
takes something away, or gives it another meaning, gets another name.
"""

from __future__ import annotations

from typing import Any

SCHEMA = "urn:gamekeeper:result:1"
"""The version of the documents that are printed for programs."""

_TEXTS = {"type": "array", "items": {"type": "string"}}
_ROWS = {
    "type": "array",
    "description": "One object per line, the same keys in each.",
    "items": {"type": "object"},
}
_PART = {
    "type": "object",
    "description": "A result of its own: its words and its lines.",
    "properties": {"summary": {"type": "object"}, "sentences": _TEXTS, "rows": _ROWS},
    "required": ["rows"],
    "additionalProperties": False,
}
_TABLE = {"$ref": "#/$defs/part"}
_RECODED = {"what_if": _TABLE}

PARTS: dict[str, dict[str, Any]] = {
    "KeyTable": {
        "file": {"type": "object"},
        "sizes": _TABLE,
        "larger_sizes": {"type": "object"},
        "anonymity": _TABLE,
        **_RECODED,
    },
    "Assessment": {
        "verdict": {"type": "object"},
        "policy": {"type": "object"},
        "chances": {"type": "object"},
        "classes": _TABLE,
        "anonymity": _TABLE,
        "guidance": _TABLE,
        "relative_risks": _TABLE,
        "variables": _TABLE,
        "categories": _TABLE,
        "sizes": _TABLE,
        "uniques": _TABLE,
        "models": _TABLE,
        "matching": _TABLE,
        "why": _TABLE,
        "explanations": {"type": "object", "additionalProperties": _TEXTS},
        **_RECODED,
    },
    "KeyVariableMap": {"evidence": _TABLE, "composite_keys": _TABLE},
    "RiskMeasures": {"unsafe": _TABLE, **_RECODED},
    "DisRisk": _RECODED,
    "UniquesRisk": {
        "file": _TABLE,
        "variables": _TABLE,
        "categories": _TABLE,
        "sizes": _TABLE,
        "why": _TABLE,
        "explanations": {"type": "object", "additionalProperties": _TEXTS},
        **_RECODED,
    },
    "SpecialUniques": {"properties": _TABLE, **_RECODED},
    "MatchingRisk": _RECODED,
    "ModelFit": _RECODED,
    "ModelRisk": {
        "variables": _TABLE,
        "categories": _TABLE,
        "attacks": _TABLE,
        "answers": _TABLE,
        **_RECODED,
    },
    "Comparison": {"attacks": _TABLE, **_RECODED},
    "SimulationResult": _RECODED,
    "FeasibleTables": {"tables": {"type": "array"}},
    "SubtractionAttack": {"where": _TABLE, "numbers_of_zeros": {"type": "array"}},
    "FileLinks": {
        "variables": _TABLE,
        "weights": _TABLE,
        "margins": _TABLE,
        "calibration": _TABLE,
        "carried": _TABLE,
    },
    "StructureLinks": {"clusterings": _TABLE},
    "FileLook": {"values": _TABLE},
    "Plan": {
        "candidates": {"type": "array", "items": {"type": "object"}},
        "targets_before": {"type": "array", "items": {"type": "object"}},
        "before": _TABLE,
    },
    "RiskUtilityMap": {"candidates": {"type": "array", "items": {"type": "object"}}},
    "ReleasedFile": {
        "targets": {"type": "array", "items": {"type": "object"}},
        "changes": _TABLE,
        "utility": _TABLE,
        "recipe": {"type": "object"},
    },
    "ReleaseAudit": {
        "targets": {"type": "array", "items": {"type": "object"}},
        "masked": _TABLE,
        "utility": _TABLE,
    },
    "EnvironmentCheck": {"faults": _TABLE},
}
"""What a document has besides the lines of its result, by the name of the result."""


def document_schema() -> dict[str, Any]:
    """Return the JSON Schema of what commands print for programs.

    Examples
    --------
    >>> document_schema()["properties"]["schema"]
    {'const': 'urn:gamekeeper:result:1'}
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "What a command prints with --format json, version 1",
        "description": "Whatever a command prints for people is in this document as well. Shares"
        " are between 0 and 1; a number without bound is the text 'unbounded', one that is not"
        " known is null.",
        "type": "object",
        "properties": {
            "schema": {"const": SCHEMA},
            "result": {"type": "string", "description": "The type of the result in Python."},
            "summary": {"type": "object", "description": "Headline numbers."},
            "sentences": {**_TEXTS, "description": "What was found, in words."},
            "notices": {**_TEXTS, "description": "What to know before it is believed."},
            "rows": _ROWS,
            "parts": {"type": "object", "description": "What is printed besides, by name."},
            "provenance": {
                "type": "object",
                "description": "How the result came about, so that it can be repeated.",
                "required": ["method", "parameters", "seed", "fingerprint", "version"],
            },
        },
        "required": [
            "schema", "result", "summary", "sentences", "notices", "rows", "parts", "provenance",
        ],
        "additionalProperties": False,
        "$defs": {"part": _PART},
        "allOf": [
            {
                "if": {"properties": {"result": {"const": name}}},
                "then": {
                    "properties": {"parts": {"properties": parts, "additionalProperties": False}}
                },
            }
            for name, parts in PARTS.items()
        ],
    }  # fmt: skip
