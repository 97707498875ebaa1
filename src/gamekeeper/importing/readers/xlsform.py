"""XLSForm: the sheets `survey` and `choices` of a workbook, as KoBo, ODK and SurveyCTO use them.

A row of `survey` has a type (`select_one LIST`, `select_multiple LIST`, `integer`, `text`, ...), a
name and labels, one column per language (`label::French (fr)`). `choices` has the answers of each
list. `begin_group` and `begin_repeat` are sections.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gamekeeper.importing.files.limits import malformed
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.files.sheet_file import records
from gamekeeper.importing.files.text_file import first_of
from gamekeeper.importing.proposed_question import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
)

_SELECT = re.compile(
    r"(select|odk:select|select1|rank)[_ ]?(one|multiple)?(?:_external)?\s+(.+)", re.I
)
_KINDS = {
    "integer": Answering.NUMBER,
    "decimal": Answering.NUMBER,
    "range": Answering.NUMBER,
    "date": Answering.DATE,
    "datetime": Answering.DATE,
    "time": Answering.DATE,
    "text": Answering.TEXT,
    "string": Answering.TEXT,
    "geopoint": Answering.TEXT,
    "barcode": Answering.TEXT,
}
_ENDINGS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")


def is_xlsform(file: OpenedFile) -> bool:
    """Tell whether a file is a workbook with a survey."""
    return file.ending in _ENDINGS and "survey" in file.sheets


def read_xlsform(file: OpenedFile) -> Instrument:
    """Return the questions of an XLSForm."""
    if "survey" not in file.sheets:
        raise malformed(file.name, "It has no sheet 'survey'.", "Give an XLSForm.")
    settings = next(iter(records(file.sheets.get("settings", []))), {})
    lists = _lists(records(file.sheets.get("choices", [])), _language(settings))
    sections: list[str] = []
    questions: list[ProposedQuestion] = []
    notes: list[str] = []
    for row in records(file.sheets["survey"]):
        kind = first_of(row, ["type"]).strip()
        label, *others = _labels(row, _language(settings)) or [""]
        name = first_of(row, ["name"])
        if kind.lower().startswith("begin"):
            sections.append(label or name)
        elif kind.lower().startswith("end") and len(kind) > 3:
            del sections[-1:]
        elif kind and name:
            answering, answers = _asked(kind, lists)
            if answers is None:
                notes.append(f"{name}: its list of choices is not in this workbook")
            questions.append(
                ProposedQuestion(
                    name=name,
                    text=label,
                    others=tuple(others),
                    answering=answering,
                    answers=answers or (),
                    universe=first_of(row, ["relevant", "relevance"]),
                    section=sections[-1] if sections else "",
                )
            )
    if file.ending == ".xlsm":
        notes.append("its macros were not run")
    title = first_of(settings, ["form_title", "title", "form_id"])
    return Instrument(
        title or file.path.stem,
        "XLSForm",
        tuple(questions),
        _language(settings),
        notes=tuple(notes),
    )


def _asked(
    kind: str, lists: Mapping[str, tuple[ProposedAnswer, ...]]
) -> tuple[Answering, tuple[ProposedAnswer, ...] | None]:
    if select := _SELECT.match(kind):
        several = (select[2] or "").lower() == "multiple" or select[1].lower() == "rank"
        listed = select[3].split(" or_other")[0].strip()
        answers = lists.get(listed)
        if answers is not None and select[3].strip() != listed:
            answers = (*answers, ProposedAnswer("Other"))
        return (Answering.SEVERAL if several else Answering.ONE), answers
    return _KINDS.get(kind.split()[0].lower(), Answering.NOTHING), ()


def _lists(rows: list[dict[str, str]], language: str) -> dict[str, tuple[ProposedAnswer, ...]]:
    found: dict[str, list[ProposedAnswer]] = {}
    for row in rows:
        listed = first_of(row, ["list_name", "list name"])
        code = first_of(row, ["name", "value"])
        texts = _labels(row, language) or [code]
        if listed and texts[0]:
            found.setdefault(listed, []).append(ProposedAnswer(texts[0], code, tuple(texts[1:])))
    return {listed: tuple(answers) for listed, answers in found.items()}


def _labels(row: Mapping[str, str], language: str) -> list[str]:
    """Return the labels of a row, that of the form's own language first."""
    texts = {
        column: text
        for column, text in row.items()
        if column.lower().split("::")[0].split(":")[0].strip() == "label" and text
    }
    own = [c for c in texts if language and language.lower() in c.lower()]
    ordered = [*own, *(c for c in texts if c not in own)]
    return list(dict.fromkeys(texts[column] for column in ordered))


def _language(settings: Mapping[str, str]) -> str:
    return first_of(settings, ["default_language"])
