"""LimeSurvey: survey archives (`.lss`), and the question and answer tables of surveys kept as CSV.

An archive is a dump of tables. Questions with a parent are the rows of an array or the boxes of a
multiple choice; texts may lie in tables of their own, one row per language. Types: `L`, `!`, `O`
one of a list, `Y` yes or no, `G` female or male, `M` and `P` boxes, `N` and `K` numbers, `D` dates.
"""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element

from gamekeeper.importing.files.cleaning import clean
from gamekeeper.importing.files.limits import malformed
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.files.text_file import first_of
from gamekeeper.importing.proposed_question import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
)

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
        for question in _questions(row, below, texts, answers, own)
    ]
    title = next((clean(part.text) for part in root.iter("surveyls_title")), "")
    return Instrument(title or file.path.stem, "LimeSurvey", tuple(questions), own)


def _questions(
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
                question,
                name=f"{question.name}_{part.get('title', '')}",
                text=clean(f"{said[0]}: {words[0]}"),
                label=words[0],
                others=(),
                answering=Answering.ONE if listed else Answering.TEXT,
                answers=listed,
            )
            for part in parts
            if (words := _ordered(texts.get(part.get("qid", ""), {}), own))
        ]
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
                code,
                clean(first_of(row, ["question"])),
                answering=answering,
                answers=listed,
                others=tuple(filter(None, others)),
                universe=clean(first_of(row, ["condition"])),
            )
        )
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
