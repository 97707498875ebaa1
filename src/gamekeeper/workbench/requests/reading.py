"""How data files are read, where that is not told by the files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from gamekeeper.options import Option
from gamekeeper.workbench.requests.shared import Memory, NoRecords

_reading = partial(Option, panel="How the file is read")
_TAB = {"tab": "\t", "\\t": "\t"}


def _delimiter(typed: str) -> str:
    return _TAB.get(typed, typed)


Delimiter = Annotated[
    str | None,
    _reading(
        "Of a CSV file, if it is not detected rightly: ',', ';', 'tab' or '|'.", read=_delimiter
    ),
]
Encoding = Annotated[str | None, _reading("Of a CSV file: utf-8, cp1252, latin-1, utf-16.")]
Decimal = Annotated[str | None, _reading("Decimal mark of numbers.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read: what is missing, how texts are written, what memory may be used."""

    missing_values: Annotated[
        tuple[str, ...],
        _reading("A value to read as missing, besides the empty cell.", flags="--missing-value"),
    ] = ()
    keep_user_missing: Annotated[
        bool, _reading("Keep the user-missing codes of SPSS, Stata and SAS as values.")
    ] = False
    header: Annotated[
        bool,
        _reading(
            "Whether the first line of a text file or sheet has the names of the columns; without,"
            " they are called 'column 1', 'column 2' and so on.",
            flags="--header/--no-header",
        ),
    ] = True
    sheet: Annotated[
        str | None, _reading("Of an Excel workbook, where several sheets have cells.")
    ] = None
    delimiter: Delimiter = None
    encoding: Encoding = None
    decimal: Decimal = None
    memory: Memory = None
    no_records: NoRecords = False
