"""Questionnaires of the Office for National Statistics' runner: JSON of sections, groups, blocks.

Question titles may depend on earlier answers and hold placeholders in braces, which are taken
out. An answer that opens a text box ('Other: please describe') stays one answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gamekeeper.importing.files.cleaning import clean
from gamekeeper.importing.files.limits import malformed
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.proposed_question import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
)

_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|\{[a-z_]+\}")
_ONE_ONLY = re.compile(r"\bone (?:option|answer|box) only\b|\bonly one\b", re.IGNORECASE)
_KINDS = {
    "Radio": Answering.ONE,
    "Dropdown": Answering.ONE,
    "Relationship": Answering.ONE,
    "Checkbox": Answering.SEVERAL,
    "MutuallyExclusiveCheckbox": Answering.SEVERAL,
    "Number": Answering.NUMBER,
    "Integer": Answering.NUMBER,
    "Currency": Answering.NUMBER,
    "Percentage": Answering.NUMBER,
    "Unit": Answering.NUMBER,
    "Duration": Answering.NUMBER,
    "Date": Answering.DATE,
    "MonthYearDate": Answering.DATE,
    "YearDate": Answering.DATE,
}


def is_questionnaire_json(file: OpenedFile) -> bool:
    """Tell whether a file is a questionnaire of the runner."""
    return (
        file.ending == ".json"
        and isinstance(file.json, dict)
        and ("sections" in file.json or "groups" in file.json)
    )


def read_questionnaire_json(file: OpenedFile) -> Instrument:
    """Return the questions of a questionnaire, one per answer that it asks for."""
    tree: Any = file.json
    if not isinstance(tree, dict):
        raise malformed(file.name, "It is not a questionnaire.")
    questions = [q for asked in _questions(tree) for q in _asked(asked)]
    return Instrument(
        clean(tree.get("title")) or file.path.stem,
        "ONS questionnaire",
        tuple(questions),
        clean(tree.get("language")),
    )


def _questions(tree: Any) -> Iterator[Mapping[str, Any]]:
    """Return everything that has answers, wherever it lies, in the order of the document."""
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if isinstance(item.get("answers"), list):
                yield item
            waiting += [
                value for value in reversed(item.values()) if isinstance(value, dict | list)
            ]
        elif isinstance(item, list):
            waiting += reversed(item)


def _asked(question: Mapping[str, Any]) -> Iterable[ProposedQuestion]:
    title = _words(question.get("title") or question.get("titles"))
    answers = [answer for answer in question["answers"] if isinstance(answer, dict)]
    for answer in answers:
        label = _words(answer.get("label"))
        kind = _KINDS.get(str(answer.get("type")), Answering.TEXT)
        if kind is Answering.SEVERAL and _ONE_ONLY.search(label):
            kind = Answering.ONE
        if not answer.get("id"):
            continue
        options = answer.get("options")
        yield ProposedQuestion(
            name=clean(answer["id"]),
            text=title if len(answers) == 1 or not label else clean(f"{title}: {label}"),
            label=label,
            answering=kind,
            answers=tuple(
                ProposedAnswer(_words(option.get("label")), clean(option.get("value")))
                for option in (options if isinstance(options, list) else ())
                if isinstance(option, dict) and _words(option.get("label"))
            ),
        )


def _words(value: Any) -> str:
    """Return a text, of a list of texts by condition the last, which has none."""
    if isinstance(value, list):
        value = value[-1] if value else ""
    if isinstance(value, dict):
        value = value.get("value") or value.get("text") or ""
    return clean(_PLACEHOLDER.sub(" ", str(value or "")))
