"""The formats of instruments that can be read, and how another is added.

A format is a name, a test whether a file is of it, and a reader from a file to an `Instrument`.
The first format whose test holds reads the file. Ours are tried in a process of its own, within
limits of memory and time (`data.reading.apart`); a format of one's own is one's own code, and reads
where it is called.

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
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from gamekeeper.data.reading.apart import plain_of, send_plain
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.importing import documents, files, surveys
from gamekeeper.importing.questions import Instrument, ProposedQuestion, instrument_of
from gamekeeper.wording import count_of, quoted

# Each takes a millisecond to be compared with what is known.
_MOST_QUESTIONS = 100_000


@dataclass(frozen=True, slots=True)
class Format:
    """A format of instruments."""

    name: str
    description: str
    holds: Callable[[files.OpenedFile], bool]
    read: Callable[[files.OpenedFile], Instrument]


FORMATS: tuple[Format, ...] = (
    Format("ddi", "DDI-Codebook 1.x and 2.x (XML)", documents.is_ddi, documents.read_ddi),
    Format("xlsform", "XLSForm (KoBo, ODK, SurveyCTO)", surveys.is_xlsform, surveys.read_xlsform),
    Format(
        "statistical",
        "SPSS, Stata and SAS files",
        documents.is_statistical,
        documents.read_statistical,
    ),
    Format("limesurvey", "LimeSurvey archive (.lss)", surveys.is_lss, surveys.read_lss),
    Format("redcap", "REDCap data dictionary (CSV)", surveys.is_redcap, surveys.read_redcap),
    Format(
        "limesurvey-csv",
        "LimeSurvey questions and answers (CSV)",
        surveys.is_lime_tables,
        surveys.read_lime_tables,
    ),
    Format(
        "questionnaire",
        "ONS questionnaire (JSON)",
        documents.is_questionnaire_json,
        documents.read_questionnaire_json,
    ),
    Format(
        "codebook",
        "table of variables, codes and labels (CSV)",
        documents.is_codebook_table,
        documents.read_codebook_table,
    ),
    Format(
        "codebook-json",
        "variables with values (JSON)",
        documents.is_codebook_json,
        documents.read_codebook_json,
    ),
)


def read_instrument(
    path: str | Path,
    *,
    format_name: str | None = None,
    most_megabytes: int = files.MOST_MEGABYTES,
    formats: Sequence[Format] = FORMATS,
) -> Instrument:
    """Read a file; nothing else is opened but the tables that belong to it, and nothing fetched.

    Questions of the same name are told apart by a number, and a note says so. A file without a
    question that asks anything is refused.
    """
    path = Path(path)
    named = _named_apart(_read(path, format_name, most_megabytes, formats))
    # Variables of a file of records may be known by their names alone.
    usable = named.questions if documents.is_statistical(files.OpenedFile(path)) else ()
    if not usable and not any(q.text or q.label or q.answers for q in named.questions):
        raise InputError(
            Reason.NOTHING_GIVEN,
            f"The questions of {quoted([path.name])} were to be read.",
            f"It has {count_of(len(named.questions), 'entry', 'entries')} and no question with words"
            " or answers.",
            "Export the questionnaire or the dictionary, not the records alone.",
        )
    return named


def _read(
    path: Path, name: str | None, most_megabytes: int, formats: Sequence[Format]
) -> Instrument:
    """Return what the first format makes of a file that holds, or has the name that was given."""
    file = files.OpenedFile(path, most_megabytes)
    # A file that cannot be opened is refused before it is looked at.
    files.require_file(path, None if documents.is_statistical(file) else most_megabytes)
    wanted = [known for known in formats if name in (None, known.name)]
    for are_ours, some in groupby(wanted, FORMATS.__contains__):
        if are_ours:
            found = plain_of(
                send_instrument, str(path), [known.name for known in some], name is not None,
                most_megabytes, path=path, asked=files.asked_to_import(path.name), do=files.WAY_AROUND,
            )  # fmt: skip
            if found is not None:
                return instrument_of(found)
            continue
        for known in some:
            if name is not None or known.holds(file):
                return known.read(file)
    raise InputError(
        Reason.WRONG_SCHEMA,
        f"The questions of {quoted([path.name])} were to be read.",
        "It is of no format that is known."
        if name is None
        else f"There is no format {quoted([name])}.",
        f"These are read: {'; '.join(f'{known.name} ({known.description})' for known in formats)}.",
    )


def send_instrument(
    out: BinaryIO, path: str, names: Sequence[str], is_named: bool, most_megabytes: int
) -> None:
    """Write what the first of some formats makes of a file, or nothing where none holds."""
    file = files.OpenedFile(Path(path), most_megabytes)
    some = (known for known in FORMATS if known.name in names)
    known = next((known for known in some if is_named or known.holds(file)), None)
    found = None if known is None else known.read(file)
    if found is not None and len(found.questions) > _MOST_QUESTIONS:
        raise LimitError(
            Reason.TOO_LARGE,
            files.asked_to_import(file.name),
            f"It has {len(found.questions):,} questions, and {_MOST_QUESTIONS:,} are the most.",
            "Import a part of it at a time.",
        )
    send_plain(out, None if found is None else asdict(found))


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
