"""The formats of instruments that can be read, and how another is added.

A format is a name, a test whether a file is of it, and a reader from a file to an `Instrument`.
The first format whose test holds reads the file.

Examples
--------
A format of one's own, one question per line:

>>> import gamekeeper as gk
>>> def is_list(file):
...     return file.ending == ".questions"
>>> def read_list(file):
...     lines = enumerate(file.text.splitlines(), 1)
...     asked = tuple(gk.importing.ProposedQuestion(f"Q{number}", text) for number, text in lines)
...     return gk.importing.Instrument(file.path.stem, "list", asked)
>>> mine = gk.importing.Format("list", "questions, one per line", is_list, read_list)
>>> known = (*gk.importing.FORMATS, mine)

`propose_forms` and `read_instrument` take them as `formats=known`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gamekeeper.errors import InputError, Reason
from gamekeeper.importing.files.limits import MOST_MEGABYTES
from gamekeeper.importing.files.opened import OpenedFile
from gamekeeper.importing.proposed_question import Instrument, ProposedQuestion
from gamekeeper.importing.readers.codebook import (
    is_codebook_json,
    is_codebook_table,
    read_codebook_json,
    read_codebook_table,
)
from gamekeeper.importing.readers.ddi import is_ddi, read_ddi
from gamekeeper.importing.readers.limesurvey import (
    is_lime_tables,
    is_lss,
    read_lime_tables,
    read_lss,
)
from gamekeeper.importing.readers.questionnaire_json import (
    is_questionnaire_json,
    read_questionnaire_json,
)
from gamekeeper.importing.readers.redcap import is_redcap, read_redcap
from gamekeeper.importing.readers.statistical import is_statistical, read_statistical
from gamekeeper.importing.readers.xlsform import is_xlsform, read_xlsform
from gamekeeper.wording import count_of, quoted


@dataclass(frozen=True, slots=True)
class Format:
    """A format of instruments."""

    name: str
    description: str
    holds: Callable[[OpenedFile], bool]
    read: Callable[[OpenedFile], Instrument]


FORMATS: tuple[Format, ...] = (
    Format("ddi", "DDI-Codebook 1.x and 2.x (XML)", is_ddi, read_ddi),
    Format("xlsform", "XLSForm (KoBo, ODK, SurveyCTO)", is_xlsform, read_xlsform),
    Format("statistical", "SPSS, Stata and SAS files", is_statistical, read_statistical),
    Format("limesurvey", "LimeSurvey archive (.lss)", is_lss, read_lss),
    Format("redcap", "REDCap data dictionary (CSV)", is_redcap, read_redcap),
    Format(
        "limesurvey-csv", "LimeSurvey questions and answers (CSV)", is_lime_tables, read_lime_tables
    ),
    Format(
        "questionnaire", "ONS questionnaire (JSON)", is_questionnaire_json, read_questionnaire_json
    ),
    Format(
        "codebook",
        "table of variables, codes and labels (CSV)",
        is_codebook_table,
        read_codebook_table,
    ),
    Format("codebook-json", "variables with values (JSON)", is_codebook_json, read_codebook_json),
)


def read_instrument(
    path: str | Path,
    *,
    format_name: str | None = None,
    most_megabytes: int = MOST_MEGABYTES,
    formats: Sequence[Format] = FORMATS,
) -> Instrument:
    """Read a file; nothing else is opened but the tables that belong to it, and nothing fetched.

    Questions of the same name are told apart by a number, and a note says so. A file without a
    question that asks anything is refused.
    """
    path = Path(path)
    file = OpenedFile(path, most_megabytes)
    read = _format(file, format_name, formats).read(file)
    named = _named_apart(read)
    # Variables of a file of records may be known by their names alone.
    usable = named.questions if is_statistical(file) else ()
    if not usable and not any(q.text or q.label or q.answers for q in named.questions):
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"The questions of {quoted([path.name])} were to be read.",
            f"It has {count_of(len(named.questions), 'entry', 'entries')} and no question with words"
            " or answers.",
            "Export the questionnaire or the dictionary, not the records alone.",
        )
    return named


def _format(file: OpenedFile, name: str | None, formats: Sequence[Format]) -> Format:
    if name is None and not is_statistical(file):
        _ = file.content  # a file that cannot be opened is refused before it is looked at
    for known in formats:
        if known.name == name or (name is None and known.holds(file)):
            return known
    raise InputError(
        Reason.WRONG_SCHEMA,
        f"The questions of {quoted([file.name])} were to be read.",
        "It is of no format that is known."
        if name is None
        else f"There is no format {quoted([name])}.",
        f"These are read: {'; '.join(f'{known.name} ({known.description})' for known in formats)}.",
    )


def _named_apart(read: Instrument) -> Instrument:
    counts = Counter(question.name for question in read.questions)
    twice = {name for name, count in counts.items() if count > 1}
    if not twice:
        return read
    taken = set(counts)
    seen: Counter[str] = Counter()
    questions: list[ProposedQuestion] = []
    for question in read.questions:
        seen[question.name] += 1
        name = question.name
        if seen[question.name] > 1:
            number = seen[question.name]
            while (name := f"{question.name} ({number})") in taken:
                number += 1
            taken.add(name)
        questions.append(replace(question, name=name))
    note = f"{count_of(len(twice), 'name')} of questions is there more than once: {quoted(sorted(twice))}"
    return replace(read, questions=tuple(questions), notes=(*read.notes, note))
