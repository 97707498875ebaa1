"""Instruments of survey programs: LimeSurvey, REDCap and XLSForm.

A survey archive of LimeSurvey (`.lss`) is a dump of tables. Questions with a parent are the rows of
an array or the boxes of a multiple choice; texts may lie in tables of their own, one row per
language. Types: `L`, `!`, `O` one of a list, `Y` yes or no, `G` female or male, `M` and `P` boxes,
`N` and `K` numbers, `D` dates. Surveys are also kept as CSV, in a table of questions and one of
answers.

A data dictionary of REDCap is a CSV with one row per field. Choices are written `1, Yes | 2, No`; a
text may hold commas. `calc`, `descriptive` and `file` ask nothing. The column `Identifier?` marks
what identifies people. Newer exports have short column names; other dictionaries of the same shape
(ISARIC's ARC: `Variable`, `Question`, `Answer Options`) are read as well.

An XLSForm (KoBo, ODK, SurveyCTO) has the sheets `survey` and `choices` in a workbook. A row of
`survey` has a type (`select_one LIST`, `select_multiple LIST`, `integer`, `text`, ...), a name and
labels, one column per language (`label::French (fr)`). `choices` has the answers of each list.
`begin_group` and `begin_repeat` are sections.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

from gamekeeper.importing.files import OpenedFile, clean, first_of, malformed, records
from gamekeeper.importing.questions import Answering, Instrument, ProposedAnswer, ProposedQuestion

_FIXED = {
    "Y": (("Y", "Yes"), ("N", "No")),
    "G": (("F", "Female"), ("M", "Male")),
    "C": (("Y", "Yes"), ("N", "No"), ("U", "Uncertain")),
    "E": (("I", "Increase"), ("S", "Same"), ("D", "Decrease")),
}
_ARRAYS = "FHABCE1:;Q"
_Rows = list[dict[str, str]]


def is_lss(file: OpenedFile) -> bool:
    """Tell whether a file is a survey archive."""
    return file.ending in (".lss", ".xml") and b"LimeSurveyDocType" in file.content[:5000]


def read_lss(file: OpenedFile) -> Instrument:
    """Return the questions of a survey archive in its first language."""
    root = file.xml
    if root.find("questions") is None:
        raise malformed(file.name, "It has no questions.", "Export the survey structure (.lss).")
    languages = [clean(part.text) for part in root.iterfind("languages/language")]
    own = languages[0] if languages else ""
    texts = _by_language(_table(root, "question_l10ns"), "qid", "question")
    answer_texts = _by_language(_table(root, "answer_l10ns"), "aid", "answer")
    every = _table(root, "questions")
    children = [row for row in _table(root, "subquestions") if row.get("qid")]
    children += [row for row in every if row.get("parent_qid", "0") not in ("", "0")]
    top = _first_language([r for r in every if r.get("parent_qid", "0") in ("", "0")], own)
    for row in [*every, *children]:
        if row.get("question"):
            texts.setdefault(row["qid"], {}).setdefault(row.get("language", ""), row["question"])
    answers: dict[str, dict[str, ProposedAnswer]] = {}
    for row in sorted(_table(root, "answers"), key=lambda r: _number(r.get("sortorder", ""))):
        words = dict(answer_texts.get(row.get("aid", ""), {}))
        if row.get("answer"):
            words.setdefault(row.get("language", ""), row["answer"])
        key = f"{row.get('scale_id', '0')}:{row.get('code', '')}"
        known = answers.setdefault(row.get("qid", ""), {}).get(key)
        said = [*([known.text, *known.others] if known else []), *_ordered(words, own)]
        if row.get("language") == own and known is not None:
            said = [*_ordered(words, own), *said]
        said = list(dict.fromkeys(said)) or [row.get("code", "")]
        answers[row.get("qid", "")][key] = ProposedAnswer(
            said[0], row.get("code", ""), tuple(said[1:])
        )
    below: dict[str, _Rows] = {}
    for row in _first_language(children, own):
        below.setdefault(row.get("parent_qid", ""), []).append(row)
    groups = _by_language(
        [*_table(root, "groups"), *_table(root, "group_l10ns")], "gid", "group_name"
    )
    questions = [
        replace(question, section=next(iter(_ordered(groups.get(row.get("gid", ""), {}), own)), ""))
        for row in top
        for question in _lss_questions(row, below, texts, answers, own)
    ]
    title = next((clean(part.text) for part in root.iter("surveyls_title")), "")
    return Instrument(title or file.path.stem, "LimeSurvey", tuple(questions), own)


def _lss_questions(
    row: dict[str, str],
    below: dict[str, _Rows],
    texts: dict[str, dict[str, str]],
    answers: dict[str, dict[str, ProposedAnswer]],
    own: str,
) -> list[ProposedQuestion]:
    qid, kind = row.get("qid", ""), row.get("type", "")
    said = _ordered(texts.get(qid, {}), own) or [""]
    listed = tuple(answers.get(qid, {}).values())
    if kind in _FIXED:
        listed = tuple(ProposedAnswer(text, code) for code, text in _FIXED[kind])
    universe = clean(row.get("relevance", "")) if row.get("relevance", "1") != "1" else ""
    question = ProposedQuestion(
        row.get("title", "") or qid, said[0], others=tuple(said[1:]), universe=universe
    )
    parts = below.get(qid, [])
    if kind in "MP" and kind:
        boxes = tuple(
            ProposedAnswer(words[0], part.get("title", ""), tuple(words[1:]))
            for part in parts
            if (words := _ordered(texts.get(part.get("qid", ""), {}), own))
        )
        return [replace(question, answering=Answering.SEVERAL, answers=boxes)]
    if kind in _ARRAYS and kind and parts:
        return [
            replace(
                question, name=f"{question.name}_{part.get('title', '')}",
                text=clean(f"{said[0]}: {words[0]}"), label=words[0], others=(),
                answering=Answering.ONE if listed else Answering.TEXT, answers=listed,
            )
            for part in parts
            if (words := _ordered(texts.get(part.get("qid", ""), {}), own))
        ]  # fmt: skip
    answering = Answering.TEXT
    if listed:
        answering = Answering.ONE
        if row.get("other") == "Y":
            listed = (*listed, ProposedAnswer("Other", "-oth-"))
    elif kind in ("N", "K"):
        answering = Answering.NUMBER
    elif kind == "D":
        answering = Answering.DATE
    elif kind in ("X", "*"):
        answering = Answering.NOTHING
    return [replace(question, answering=answering, answers=listed)]


def is_lime_tables(file: OpenedFile) -> bool:
    """Tell whether a file is the table of questions of a survey that is kept as CSV."""
    return file.ending == ".csv" and file.has_columns(["code"], ["question"], ["answer_format"])


def read_lime_tables(file: OpenedFile) -> Instrument:
    """Return the questions of a table, with the answers of the table beside it.

    The answers of `x_questions.csv` are in `x_answers.csv`, by the code of their question.
    """
    answers: dict[str, list[ProposedAnswer]] = {}
    notes: tuple[str, ...] = ()
    beside = file.neighbour(file.name.replace("questions", "answers"))
    if beside is None:
        notes = ("the table of answers is not beside it, so no question has answers",)
    else:
        for row in beside.table[1]:
            text = clean(first_of(row, ["answer", "label"])).strip('"').strip()
            if text:
                answers.setdefault(first_of(row, ["code", "question"]), []).append(
                    ProposedAnswer(text, first_of(row, ["n", "value"]))
                )
    questions: list[ProposedQuestion] = []
    for row in file.table[1]:
        if not (code := clean(first_of(row, ["code"]))):
            continue
        kind = first_of(row, ["answer_format"]).strip().upper()
        listed = tuple(answers.get(code, ()))
        answering = Answering.ONE if listed else Answering.TEXT
        if "MULTIPLE" in kind:
            answering = Answering.SEVERAL
        elif kind.startswith("Y/N"):
            answering, listed = (
                Answering.ONE,
                listed or (ProposedAnswer("Yes"), ProposedAnswer("No")),
            )
        others = [clean(text) for column, text in row.items() if column and "trans" in column]
        questions.append(
            ProposedQuestion(
                code, clean(first_of(row, ["question"])), answering=answering, answers=listed,
                others=tuple(filter(None, others)), universe=clean(first_of(row, ["condition"])),
            )
        )  # fmt: skip
    return Instrument(file.path.stem, "LimeSurvey CSV", tuple(questions), notes=notes)


def _table(root: Element, name: str) -> _Rows:
    return [
        {cell.tag: clean(cell.text) for cell in row} for row in root.iterfind(f"{name}/rows/row")
    ]


def _by_language(rows: _Rows, key: str, column: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.get(column):
            found.setdefault(row.get(key, ""), {})[row.get("language", "")] = row[column]
    return found


def _first_language(rows: _Rows, own: str) -> _Rows:
    """Return one row per question, that of the first language where there are several."""
    kept: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.get("qid", "") not in kept or row.get("language") == own:
            kept[row.get("qid", "")] = row
    return sorted(
        kept.values(),
        key=lambda row: (_number(row.get("gid", "")), _number(row.get("question_order", ""))),
    )


def _ordered(words: dict[str, str], own: str) -> list[str]:
    first = [words[own]] if own in words else []
    return list(dict.fromkeys([*first, *words.values()]))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


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
            questions.append(_redcap_question(row, name, " ".join(filter(None, (page, section)))))
    return Instrument(file.path.stem, "REDCap", tuple(questions))


def _redcap_question(row: dict[str, str], name: str, section: str) -> ProposedQuestion:
    kind = first_of(row, _KIND).strip().lower()
    choices = first_of(row, _CHOICES)
    answering, answers = Answering.TEXT, ()
    if kind in _SEVERAL or kind in _ONE:
        answering = Answering.SEVERAL if kind in _SEVERAL else Answering.ONE
        answers = _redcap_answers(choices)
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


def _redcap_answers(choices: str) -> tuple[ProposedAnswer, ...]:
    """Return the answers of `code, text | code, text`; lines serve as bars in older exports."""
    parts = choices.split("|") if "|" in choices else choices.split("\n")
    found: list[ProposedAnswer] = []
    for part in parts:
        coded = _CODED.fullmatch(part)
        code, text = (clean(coded[1]), clean(coded[2])) if coded else ("", clean(part))
        if text or code:
            found.append(ProposedAnswer(text or code, code))
    return tuple(found)


_SELECT = re.compile(
    r"(select|odk:select|select1|rank)[_ ]?(one|multiple)?(?:_external)?\s+(.+)", re.I
)
_KINDS = {
    "integer": Answering.NUMBER, "decimal": Answering.NUMBER, "range": Answering.NUMBER,
    "date": Answering.DATE, "datetime": Answering.DATE, "time": Answering.DATE,
    "text": Answering.TEXT, "string": Answering.TEXT, "geopoint": Answering.TEXT,
    "barcode": Answering.TEXT,
}  # fmt: skip
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
                    name=name, text=label, others=tuple(others), answering=answering,
                    answers=answers or (), universe=first_of(row, ["relevant", "relevance"]),
                    section=sections[-1] if sections else "",
                )
            )  # fmt: skip
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
