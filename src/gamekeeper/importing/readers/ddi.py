"""DDI-Codebook (2.x, and 1.x as far as it is the same): variables of `codeBook/dataDscr`.

A variable has a label, perhaps a question as it was put (`qstn/qstnLit`), a universe, and its
categories (`catgry` with `catValu` and `labl`). Categories marked missing are taken as such, and
so are values within `invalrng`. Some archives repeat an element per language (`xml:lang`): the
first is the text, the others are kept beside it.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from gamekeeper.importing.files.cleaning import clean
from gamekeeper.importing.files.limits import malformed
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.files.xml_file import text_of
from gamekeeper.importing.proposed_question import (
    Answering,
    Instrument,
    ProposedAnswer,
    ProposedQuestion,
)

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
        questions=tuple(_question(var, number) for number, var in enumerate(variables, 1)),
    )


def _question(var: Element, number: int) -> ProposedQuestion:
    labels = _texts(var, "labl")
    literal = [text for q in var.findall("qstn") for text in _texts(q, "qstnLit")]
    literal += [clean(q.text) for q in var.findall("qstn") if clean(q.text)]
    answers = _answers(var)
    return ProposedQuestion(
        name=clean(var.get("name") or var.get("ID")) or f"variable {number}",
        text=next(iter(literal), "") or next(iter(labels), ""),
        label=next(iter(labels), ""),
        others=tuple(dict.fromkeys((*literal[1:], *labels[1:]))),
        answering=_answering(var, answers),
        answers=answers,
        universe=clean(text_of(var.find("universe"))),
        section=clean(text_of(var.find("concept"))),
    )


def _answering(var: Element, answers: tuple[ProposedAnswer, ...]) -> Answering:
    form = var.find("varFormat")
    is_text = form is not None and form.get("type") == "character"
    real = [answer for answer in answers if not answer.is_missing]
    if real and (var.get("intrvl") != "contin" or len(real) > 2):
        return Answering.ONE
    if form is not None and "date" in (form.get("category") or ""):
        return Answering.DATE
    return Answering.TEXT if is_text else Answering.NUMBER


def _answers(var: Element) -> tuple[ProposedAnswer, ...]:
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
