"""Questionnaires and classifications of others, brought into a store."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from random import Random

from gamekeeper.workbench.demo_place import write_questionnaires
from tests.fuzz.case import Case
from tests.fuzz.ingredients import maybe, world_files
from tests.fuzz.mutating import cells, leaves, some_bytes

_DDI = b"""<codeBook><dataDscr><var name="SEX"><labl>Sex</labl>
<qstn><qstnLit>What is your sex?</qstnLit></qstn>
<catgry><catValu>1</catValu><labl>male</labl></catgry>
<catgry missing="Y"><catValu>9</catValu><labl>Refused</labl></catgry></var>
<var name="AGE" intrvl="contin"><labl>Age</labl></var></dataDscr></codeBook>"""
_JSON = b"""{"title": "T", "sections": [{"blocks": [{"questions": [{"title": "What is your sex?",
"answers": [{"id": "sex", "type": "Radio", "options": [{"label": "F", "value": "f"}]}]}]}]}]}"""
_CODEBOOK = b"variable;code;label\nAGE;01;0-15\nAGE;02;16+\nSEX;1;male\n"
_SDMX = b"""<m:Structure xmlns:m="http://www.sdmx.org/x/message" xmlns:s="structure"><s:Codelists>
<s:Codelist id="CL"><s:Code id="U"><s:Name xml:lang="en">Urban</s:Name></s:Code>
<s:Code id="C"><s:Name>City</s:Name><s:Parent><Ref id="U"/></s:Parent></s:Code>
<s:Code id="R"><s:Name>Rural</s:Name></s:Code></s:Codelist></s:Codelists></m:Structure>"""
_CLASSIFICATIONS = {
    "a.xml": _SDMX,
    "a.hrc": b"Urban\n@City\n@Town\nRural\n",
    "levels.csv": b"level0,level1,level2\nCity,Urban,*\nTown,Urban,*\nRural,Rural,*\n",
    "parents.csv": b"code,label,parent\nU,Urban,\nC,City,U\nT1,Town,U\nR,Rural,\n",
}


@cache
def _questionnaires() -> dict[str, bytes]:
    """Return questionnaires in every format that we can write."""
    with tempfile.TemporaryDirectory() as folder:
        made = write_questionnaires(Path(folder))
        found = {path.name: path.read_bytes() for path in made.values()}
    return {**found, "q.xml": _DDI, "q.json": _JSON, "book.csv": _CODEBOOK}


def _spoilt(random: Random, name: str, content: bytes) -> bytes:
    for _ in range(random.choice((0, 1, 1, 2))):
        change = some_bytes
        if name.endswith(".csv") and random.random() < 0.8:
            change = cells
        elif name.endswith(".json") and random.random() < 0.8:
            change = leaves
        try:
            content = change(random, content)
        except ValueError:  # it was no JSON any more
            continue
    return content


def instrument_case(random: Random) -> Case:
    """A questionnaire, imported as a form."""
    name, content = random.choice(sorted(_questionnaires().items()))
    files = {"w.gk": world_files()["w.gk"], name: _spoilt(random, name, content)}
    arguments = ["form", "import", "{place}/w.gk", f"{{place}}/{name}"]
    more = (
        ("--take-sure",), ("--name", "New"), ("--save", "{place}/d.json"), ("--who", "fuzz"),
        ("--edits", "{place}/e.json"), ("--format", "json"), ("--new", "AGE=Alter"),
        ("--file-format", random.choice(("ddi", "redcap", "x"))), ("--most-megabytes", "1"),
    )  # fmt: skip
    return Case("instrument", tuple(maybe(random, arguments, *more)), files)


def classification_case(random: Random) -> Case:
    """A classification, imported as a variable."""
    name, content = random.choice(sorted(_CLASSIFICATIONS.items()))
    files = {"w.gk": world_files()["w.gk"], name: _spoilt(random, name, content)}
    arguments = ["variable", "import", "{place}/w.gk", f"{{place}}/{name}"]
    more = (
        ("--variable", "Place"), ("--only", "CL"), ("--who", "fuzz"), ("--format", "json"),
        ("--file-format", random.choice(("sdmx", "hrc", "x"))),
    )  # fmt: skip
    return Case("classification", tuple(maybe(random, arguments, *more)), files)
