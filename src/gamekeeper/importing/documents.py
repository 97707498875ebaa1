"""Instruments from codebooks, DDI, questionnaires in JSON, and files of SPSS, Stata and SAS.

Codebooks are a table (`variable, code, label`), one row per code, with the question or a description
of the variable where there is one; or JSON (`{variable: {description, values}}`). Codes stay text:
zeros in front are kept.

DDI-Codebook (2.x, and 1.x as far as it is the same) has variables in `codeBook/dataDscr`, each with
a label, perhaps a question as it was put (`qstn/qstnLit`), a universe, and its categories (`catgry`
with `catValu` and `labl`). Categories marked missing are taken as such, and so are values within
`invalrng`. Some archives repeat an element per language (`xml:lang`): the first is the text, the
others are kept beside it.

Questionnaires of the Office for National Statistics' runner are sections, groups and blocks.
Question titles may depend on earlier answers and hold placeholders in braces, which are taken
out. An answer that opens a text box ('Other: please describe') stays one answer.

In a file of SPSS, Stata or SAS a variable whose values have labels is a question with these answers,
and every value of the file without a label is one more, printed as its number. Codes that the file
declares as missing are marked so. Values that occur are looked at, counted as far as a question can
use them, and never printed: a question whose values are many and without labels is one for a number
or a text. SAS keeps the labels of values in a catalog of formats, beside the data: the one of the
same name (`.sas7bcat`), one called `formats`, or the only one of the folder is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element

from gamekeeper.files import require_ordinary
from gamekeeper.importing.files import OpenedFile, clean, first_of, malformed, text_of
from gamekeeper.importing.questions import Answering, Instrument, ProposedAnswer, ProposedQuestion

_VARIABLE = [
    "variable", "variable name", "varname", "field", "column", "name", "merkmal",
    "variable_mnemonic",
]  # fmt: skip
_CODE = ["code", "value", "category code", "category_code", "schluessel", "wert", "codes"]
_LABEL = [
    "label", "category", "category label", "category_name", "value label", "meaning",
    "bezeichnung", "text",
]  # fmt: skip
_TEXT = [
    "question", "description", "variable label", "variable_label", "variable_name", "frage",
    "question text",
]  # fmt: skip
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


_TITLES = ("stdyDscr/citation/titlStmt/titl", "docDscr/citation/titlStmt/titl")


def is_ddi(file: OpenedFile) -> bool:
    """Tell whether a file is a codebook of DDI."""
    return file.ending in (".xml", ".ddi") and b"codeBook" in file.content[:20_000]


def read_ddi(file: OpenedFile) -> Instrument:
    """Return the variables of a codebook as questions."""
    root = file.xml
    if root.tag != "codeBook":
        raise malformed(file.name, "It has no codeBook.", "Export it as DDI-Codebook 2.5.")
    variables = [v for part in root.iter("dataDscr") for v in part.iter("var")]
    titles = [clean(text_of(root.find(path))) for path in _TITLES]
    return Instrument(
        title=next(filter(None, titles), file.path.stem),
        format="DDI-Codebook",
        language=root.get("lang", ""),
        questions=tuple(_ddi_question(var, number) for number, var in enumerate(variables, 1)),
    )


def _ddi_question(var: Element, number: int) -> ProposedQuestion:
    labels = _texts(var, "labl")
    literal = [text for q in var.findall("qstn") for text in _texts(q, "qstnLit")]
    literal += [clean(q.text) for q in var.findall("qstn") if clean(q.text)]
    answers = _ddi_answers(var)
    return ProposedQuestion(
        name=clean(var.get("name") or var.get("ID")) or f"variable {number}",
        text=next(iter(literal), "") or next(iter(labels), ""),
        label=next(iter(labels), ""),
        others=tuple(dict.fromkeys((*literal[1:], *labels[1:]))),
        answering=_ddi_answering(var, answers),
        answers=answers,
        universe=clean(text_of(var.find("universe"))),
        section=clean(text_of(var.find("concept"))),
    )


def _ddi_answering(var: Element, answers: tuple[ProposedAnswer, ...]) -> Answering:
    form = var.find("varFormat")
    is_text = form is not None and form.get("type") == "character"
    real = [answer for answer in answers if not answer.is_missing]
    if real and (var.get("intrvl") != "contin" or len(real) > 2):
        return Answering.ONE
    if form is not None and "date" in (form.get("category") or ""):
        return Answering.DATE
    return Answering.TEXT if is_text else Answering.NUMBER


def _ddi_answers(var: Element) -> tuple[ProposedAnswer, ...]:
    invalid = {
        clean(item.get("VALUE")) for part in var.findall("invalrng") for item in part.iter("item")
    }
    found: list[ProposedAnswer] = []
    for category in var.findall("catgry"):
        code = clean(text_of(category.find("catValu")))
        texts = _texts(category, "labl")
        missing = (category.get("missing") or "").upper() in ("Y", "YES", "TRUE") or code in invalid
        if texts or code:
            found.append(
                ProposedAnswer(texts[0] if texts else code, code, tuple(texts[1:]), missing)
            )
    return tuple(found)


def _texts(element: Element, tag: str) -> list[str]:
    """Return the texts of children; of labels, not those of other levels than the element's."""
    levels = (None, "variable", "category", "")
    found = [child for child in element.findall(tag) if child.get("level") in levels]
    return [text for child in found or element.findall(tag) if (text := clean(text_of(child)))]


_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|\{[a-z_]+\}")
_ONE_ONLY = re.compile(r"\bone (?:option|answer|box) only\b|\bonly one\b", re.IGNORECASE)
_KINDS = {
    "Radio": Answering.ONE, "Dropdown": Answering.ONE, "Relationship": Answering.ONE,
    "Checkbox": Answering.SEVERAL, "MutuallyExclusiveCheckbox": Answering.SEVERAL,
    "Number": Answering.NUMBER, "Integer": Answering.NUMBER, "Currency": Answering.NUMBER,
    "Percentage": Answering.NUMBER, "Unit": Answering.NUMBER, "Duration": Answering.NUMBER,
    "Date": Answering.DATE, "MonthYearDate": Answering.DATE, "YearDate": Answering.DATE,
}  # fmt: skip


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
    questions = [q for asked in _with_answers(tree) for q in _asked(asked)]
    return Instrument(
        clean(tree.get("title")) or file.path.stem,
        "ONS questionnaire",
        tuple(questions),
        clean(tree.get("language")),
    )


def _with_answers(tree: Any) -> Iterator[Mapping[str, Any]]:
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


_READERS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
_FORMATS = {".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS"}
_SAS = (".sas7bdat", ".xpt")
_MOST_RECORDS = 200_000
_MOST_CELLS = 5_000_000
_FEW_UNLABELLED = 2
_DATES = ("DATE", "TIME", "%T", "YYMM", "MMDD", "DDMM", "MONYY", "MOYR", "JULIAN")


def is_statistical(file: OpenedFile) -> bool:
    """Tell whether a file is one of SPSS, Stata or SAS."""
    return file.ending in _READERS


def read_statistical(file: OpenedFile) -> Instrument:
    """Return the variables of a file as questions."""
    import pyreadstat

    if not file.path.is_file():
        _ = file.content  # the same error as for any other file
    read: Callable[..., tuple[Mapping[str, list[Any]], Any]]
    read = getattr(pyreadstat, _READERS[file.ending])
    options: dict[str, Any] = {"output_format": "dict"}
    if file.ending not in (".xpt", ".por"):
        options["user_missing"] = True
    try:
        _, meta = read(str(file.path), metadataonly=True, **options)
        most = min(_MOST_RECORDS, _MOST_CELLS // max(len(meta.column_names), 1))
        cells, meta = read(str(file.path), row_limit=max(most, 1), **options)
    except Exception:  # noqa: BLE001 - the reader's faults have no common type, and may show values
        raise malformed(file.name, "It cannot be read, or is damaged.") from None
    labels = dict(meta.variable_value_labels or {})
    if file.ending in _SAS:
        labels.update(_catalog_labels(file, meta.original_variable_types or {}))
    questions = tuple(
        _statistical_question(name, meta, labels.get(name, {}), cells.get(name, []))
        for name in meta.column_names
    )
    title = clean(meta.file_label) or file.path.stem
    return Instrument(title, _FORMATS.get(file.ending, "SPSS"), questions)


def _catalog_labels(file: OpenedFile, formats: Mapping[str, Any]) -> dict[str, Mapping[Any, str]]:
    import pyreadstat

    beside = sorted(file.path.parent.glob("*.sas7bcat"))
    named = [path for path in beside if path.stem in (file.path.stem, "formats")]
    own = [path for path in named if path.stem == file.path.stem] or named
    chosen = own or (beside if len(beside) == 1 else [])
    if not chosen:
        return {}
    try:
        require_ordinary(chosen[0])
        _, catalog = pyreadstat.read_sas7bcat(str(chosen[0]), output_format="dict")
    except Exception:  # noqa: BLE001 - the reader's faults have no common type, and may show values
        raise malformed(chosen[0].name, "The catalog of formats cannot be read.") from None
    known: Mapping[str, Mapping[Any, str]] = catalog.value_labels
    return {name: known[form] for name, form in formats.items() if form in known}


def _statistical_question(
    name: str, meta: Any, labels: Mapping[Any, str], cells: Iterable[Any]
) -> ProposedQuestion:
    ranges = (meta.missing_ranges or {}).get(name, [])
    letters = set((meta.missing_user_values or {}).get(name, []))
    written = str((meta.original_variable_types or {}).get(name, "") or "")
    is_text = (meta.readstat_variable_types or {}).get(name) == "string"

    def missing(value: Any) -> bool:
        return value in letters or any(_within(value, part) for part in ranges)

    answers = [
        ProposedAnswer(clean(text) or clean(value), clean(value), is_missing=missing(value))
        for value, text in labels.items()
    ]
    real = [answer for answer in answers if not answer.is_missing]
    seen = {value for value in cells if value is not None and value == value}
    bare = sorted((v for v in seen if v not in labels and not missing(v)), key=str)
    answering = Answering.ONE
    if not real or len(bare) > max(_FEW_UNLABELLED, len(real)):
        # A label on the top value alone ('eight or more') does not make a list of answers.
        answering = Answering.TEXT if is_text else Answering.NUMBER
        if any(word in written.upper() for word in _DATES):
            answering = Answering.DATE
    elif not is_text and all(isinstance(v, int | float) for v in bare):
        answers += [ProposedAnswer(clean(value), clean(value)) for value in bare]
    label = clean((meta.column_names_to_labels or {}).get(name))
    return ProposedQuestion(
        name=clean(name), text=label, label=label, answering=answering, answers=tuple(answers)
    )


def _within(value: Any, part: Mapping[str, Any]) -> bool:
    try:
        return part["lo"] <= value <= part["hi"]
    except TypeError:
        return False
