"""SPSS, Stata and SAS files: variables with their labels, declared missing values, and labels of values.

A variable whose values have labels is a question with these answers, and every value of the file
without a label is one more, printed as its number. Codes that the file declares as missing are
marked so. Values that occur are looked at, counted as far as a question can use them, and never
printed: a question whose values are many and without labels is one for a number or a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_FORMATS = {".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS"}
_MOST_RECORDS = 200_000
_FEW_UNLABELLED = 2


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
    options: dict[str, Any] = {"output_format": "dict", "row_limit": _MOST_RECORDS}
    if file.ending != ".xpt":
        options["user_missing"] = True
    if file.ending == ".por":
        del options["user_missing"]
    try:
        cells, meta = read(str(file.path), **options)
    except Exception:  # noqa: BLE001 - the reader's faults have no common type, and may show values
        raise malformed(file.name, "It cannot be read, or is damaged.") from None
    labels = meta.variable_value_labels or {}
    questions = tuple(
        _question(name, meta, labels.get(name, {}), cells.get(name, []))
        for name in meta.column_names
    )
    title = clean(meta.file_label) or file.path.stem
    return Instrument(title, _FORMATS.get(file.ending, "SPSS"), questions)


def _question(
    name: str, meta: Any, labels: Mapping[Any, str], cells: Iterable[Any]
) -> ProposedQuestion:
    ranges = (meta.missing_ranges or {}).get(name, [])
    letters = set((meta.missing_user_values or {}).get(name, []))
    written = str((meta.original_variable_types or {}).get(name, "") or "")
    is_text = (meta.readstat_variable_types or {}).get(name) == "string"

    def missing(value: Any) -> bool:
        return value in letters or any(_within(value, part) for part in ranges)

    answers = [
        ProposedAnswer(clean(text) or _code(value), _code(value), is_missing=missing(value))
        for value, text in labels.items()
    ]
    real = [answer for answer in answers if not answer.is_missing]
    seen = {value for value in cells if value is not None and value == value}
    bare = sorted((v for v in seen if v not in labels and not missing(v)), key=str)
    answering = Answering.ONE
    if not real or len(bare) > max(_FEW_UNLABELLED, len(real)):
        # A label on the top value alone ('eight or more') does not make a list of answers.
        answering = Answering.TEXT if is_text else Answering.NUMBER
        if any(word in written.upper() for word in ("DATE", "TIME", "%T")):
            answering = Answering.DATE
    elif not is_text and all(isinstance(v, int | float) for v in bare):
        answers += [ProposedAnswer(_code(value), _code(value)) for value in bare]
    label = clean((meta.column_names_to_labels or {}).get(name))
    return ProposedQuestion(
        name=clean(name), text=label, label=label, answering=answering, answers=tuple(answers)
    )


def _within(value: Any, part: Mapping[str, Any]) -> bool:
    try:
        return part["lo"] <= value <= part["hi"]
    except TypeError:
        return False


def _code(value: Any) -> str:
    return clean(value)
