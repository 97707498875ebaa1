"""SPSS, Stata and SAS files: variables with their labels, declared missing values, and labels of values.

A variable whose values have labels is a question with these answers, and every value of the file
without a label is one more, printed as its number. Codes that the file declares as missing are
marked so. Values that occur are looked at, counted as far as a question can use them, and never
printed: a question whose values are many and without labels is one for a number or a text.

SAS keeps the labels of values in a catalog of formats, beside the data: the one of the same name
(`.sas7bcat`), one called `formats`, or the only one of the folder is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gamekeeper.files.reading import require_ordinary
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
        labels.update(_of_catalog(file, meta.original_variable_types or {}))
    questions = tuple(
        _question(name, meta, labels.get(name, {}), cells.get(name, []))
        for name in meta.column_names
    )
    title = clean(meta.file_label) or file.path.stem
    return Instrument(title, _FORMATS.get(file.ending, "SPSS"), questions)


def _of_catalog(file: OpenedFile, formats: Mapping[str, Any]) -> dict[str, Mapping[Any, str]]:
    """Return the labels of values by variable, from the catalog of formats beside a file."""
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
