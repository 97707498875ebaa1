"""REDCap data dictionaries: a CSV with one row per field.

Choices are written `1, Yes | 2, No`; a text may hold commas. `calc`, `descriptive` and `file` ask
nothing. The column `Identifier?` marks what identifies people. Newer exports have short column
names; other dictionaries of the same shape (ISARIC's ARC: `Variable`, `Question`, `Answer
Options`) are read as well.
"""

from __future__ import annotations

import re

from gamekeeper.importing.files.cleaning import clean
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.files.text_file import first_of
from gamekeeper.importing.proposed_question import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
)

_NAME = ["Variable / Field Name", "field_name", "Variable"]
_LABEL = ["Field Label", "field_label", "Question"]
_KIND = ["Field Type", "field_type", "Type"]
_CHOICES = [
    "Choices, Calculations, OR Slider Labels",
    "select_choices_or_calculations",
    "Choices OR Calculations",
    "Answer Options",
]
_VALIDATION = [
    "Text Validation Type OR Show Slider Number",
    "text_validation_type_or_show_slider_number",
    "Validation",
]
_HEADER = ["Section Header", "section_header", "Section"]
_PAGE = ["Form Name", "form_name", "Form"]
_ONE = ("radio", "dropdown", "yesno", "truefalse", "list", "user_list")
_SEVERAL = ("checkbox", "multi_list")
_ASKS_NOTHING = ("calc", "descriptive", "file", "sql", "slider")
_CODED = re.compile(r"\s*([^,|]{0,60}?)\s*,\s*(.*)", re.DOTALL)


def is_redcap(file: OpenedFile) -> bool:
    """Tell whether a file is a data dictionary of REDCap."""
    return file.has_columns(_NAME, _LABEL, _KIND, _CHOICES)


def read_redcap(file: OpenedFile) -> Instrument:
    """Return the fields of a data dictionary as questions."""
    _, rows = file.table
    questions: list[ProposedQuestion] = []
    section, form = "", ""
    for row in rows:
        header, page = clean(first_of(row, _HEADER)), clean(first_of(row, _PAGE))
        # A header stands at the first field of its section alone.
        section = header or (section if page == form else "")
        form = page
        if name := clean(first_of(row, _NAME)):
            questions.append(_question(row, name, " ".join(filter(None, (page, section)))))
    return Instrument(file.path.stem, "REDCap", tuple(questions))


def _question(row: dict[str, str], name: str, section: str) -> ProposedQuestion:
    kind = first_of(row, _KIND).strip().lower()
    choices = first_of(row, _CHOICES)
    answering, answers = Answering.TEXT, ()
    if kind in _SEVERAL or kind in _ONE:
        answering = Answering.SEVERAL if kind in _SEVERAL else Answering.ONE
        answers = _answers(choices)
        if kind == "yesno":
            answers = answers or (ProposedAnswer("Yes", "1"), ProposedAnswer("No", "0"))
        if kind == "truefalse":
            answers = answers or (ProposedAnswer("True", "1"), ProposedAnswer("False", "0"))
    elif kind in _ASKS_NOTHING:
        answering = Answering.NOTHING
    else:
        validation = f"{first_of(row, _VALIDATION)} {kind}".lower()
        if "date" in validation or "time" in validation:
            answering = Answering.DATE
        elif "number" in validation or "integer" in validation:
            answering = Answering.NUMBER
    return ProposedQuestion(
        name=name,
        text=clean(first_of(row, _LABEL)),
        answering=answering,
        answers=answers,
        universe=clean(
            first_of(
                row, ["Branching Logic (Show field only if...)", "branching_logic", "Skip Logic"]
            )
        ),
        section=section,
        is_identifier=first_of(row, ["Identifier?", "identifier"]).strip().lower() in ("y", "yes"),
    )


def _answers(choices: str) -> tuple[ProposedAnswer, ...]:
    """Return the answers of `code, text | code, text`; lines serve as bars in older exports."""
    parts = choices.split("|") if "|" in choices else choices.split("\n")
    found: list[ProposedAnswer] = []
    for part in parts:
        coded = _CODED.fullmatch(part)
        code, text = (clean(coded[1]), clean(coded[2])) if coded else ("", clean(part))
        if text or code:
            found.append(ProposedAnswer(text or code, code))
    return tuple(found)
