"""Codebooks as a table (`variable, code, label`), or as JSON (`{variable: {description, values}}`).

One row per code; a column with the question or a description of the variable is taken where there
is one. Codes stay text: zeros in front are kept.
"""

from __future__ import annotations

from typing import Any

from gamekeeper.importing.files.cleaning import clean
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.files.text_file import first_of
from gamekeeper.importing.proposed_question import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
)

_VARIABLE = [
    "variable",
    "variable name",
    "varname",
    "field",
    "column",
    "name",
    "merkmal",
    "variable_mnemonic",
]
_CODE = ["code", "value", "category code", "category_code", "schluessel", "wert", "codes"]
_LABEL = [
    "label",
    "category",
    "category label",
    "category_name",
    "value label",
    "meaning",
    "bezeichnung",
    "text",
]
_TEXT = [
    "question",
    "description",
    "variable label",
    "variable_label",
    "variable_name",
    "frage",
    "question text",
]
_RANGES = ("min", "max", "range")


def is_codebook_table(file: OpenedFile) -> bool:
    """Tell whether a file is a table of variables, codes and labels."""
    # With classifications of variables it is no instrument.
    return file.has_columns(_VARIABLE, _CODE, _LABEL) and not file.has_columns(["classification"])


def read_codebook_table(file: OpenedFile) -> Instrument:
    """Return the variables of a table as questions."""
    answers: dict[str, list[ProposedAnswer]] = {}
    texts: dict[str, str] = {}
    for row in file.table[1]:
        variable = clean(first_of(row, _VARIABLE))
        if not variable:
            continue
        code, label = clean(first_of(row, _CODE)), clean(first_of(row, _LABEL))
        own = answers.setdefault(variable, [])
        if label or code:
            own.append(ProposedAnswer(label or code, code))
        texts.setdefault(variable, clean(first_of(row, _TEXT)))
    return Instrument(
        file.path.stem,
        "codebook",
        tuple(
            ProposedQuestion(name, texts[name], answers=tuple(own), answering=_answering(own))
            for name, own in answers.items()
        ),
    )


def is_codebook_json(file: OpenedFile) -> bool:
    """Tell whether a file has variables with their values in JSON."""
    tree: Any = file.json if file.ending == ".json" else None
    return (
        isinstance(tree, dict)
        and bool(tree)
        and all(isinstance(part, dict) for part in tree.values())
        and any(isinstance(part.get("values"), dict) for part in tree.values())
    )


def read_codebook_json(file: OpenedFile) -> Instrument:
    """Return the variables of a JSON codebook as questions."""
    questions: list[ProposedQuestion] = []
    for name, part in file.json.items():
        text = clean(part.get("description") or part.get("label") or part.get("question"))
        values = part.get("values") if isinstance(part.get("values"), dict) else {}
        own = [
            ProposedAnswer(clean(label) or clean(code), clean(code))
            for code, label in values.items()
            if str(code).lower() not in _RANGES
        ]
        answering = Answering.NUMBER if any(c in values for c in _RANGES) else _answering(own)
        questions.append(
            ProposedQuestion(clean(name), text, answers=tuple(own), answering=answering)
        )
    return Instrument(file.path.stem, "codebook", tuple(questions))


def _answering(answers: list[ProposedAnswer]) -> Answering:
    return Answering.ONE if answers else Answering.TEXT
