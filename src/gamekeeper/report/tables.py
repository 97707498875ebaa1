"""Output written to files: tables for other programs, pictures, filled templates; endings of files.

Text in templates comes from anywhere: it is escaped, and free of what XML does not allow. An Excel
workbook has one sheet per table. A text that begins like a formula or looks like an address or a
number stays a text: cells are written by their type, and never by what they look like. Whole
numbers beyond 15 digits, which Excel would round, are written as text.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import jinja2
from markupsafe import Markup

from gamekeeper.arrow import pa, parquet, pc
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.files import PICTURE_ENDINGS, TABLE_ENDINGS, write_file
from gamekeeper.wording import NUMERAL, STARTS, quoted, short, shown_cell

palette = SimpleNamespace(
    INK="#1c2733",
    MUTED="#5b6875",
    EDGE="#8a96a3",
    ACCENT="#1f5f99",
    OBSERVED_FILL="#a9cdf0",
    OBSERVED_LINE="#1f5f99",
    HARMONIZATION_FILL="#ffe07a",
    HARMONIZATION_LINE="#9a7400",
    NODE_FILL="#ffffff",
    NODE_LINE="#5b6875",
    SINK_FILL="#e6ebf0",
    SINK_LINE="#a4afba",
    SELECTED_FILL="#f7a545",
    SELECTED_LINE="#b35f00",
    OUTSIDE_FILL="#fde3c4",
)
"""The few colours that drawings, plots and pages share; told apart in grey and by colour-blind eyes."""

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def visible(text: str) -> str:
    r"""Return a text with a replacement character for each that XML does not allow.

    >>> visible("a\0b")
    'a�b'
    """
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def render(template: str, **values: object) -> str:
    """Fill one of the templates of this room; every text is escaped unless it is `Markup`."""
    return _templates().get_template(template).render(**values)


def glossary(page: str) -> tuple[tuple[str, str], ...]:
    """Return what words mean that a page uses: each with its meaning, in the order of the page."""
    return tuple(_glossaries()[page].items())


@cache
def _glossaries() -> dict[str, dict[str, str]]:
    text = files("gamekeeper.report").joinpath("templates", "words.json").read_text("utf-8")
    return json.loads(text)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("gamekeeper.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalized(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def save_picture(path: str | Path, *, svg: Callable[[], str], png: Callable[[], bytes]) -> Path:
    """Write a picture in the format that the name of the file ends in, .svg or .png."""
    ending = require_ending("picture", path, PICTURE_ENDINGS)
    content = svg().encode() if ending == ".svg" else png()
    return write_file(path, content, private=False)


def require_ending(what: str, path: str | Path, endings: Sequence[str]) -> str:
    """Return the ending of a file in small letters, which must be one of those given."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise InputError(
            Reason.BAD_OPTION,
            f"A {what} in the file '{short(str(path), 300)}' was asked for.",
            f"Its name ends in {quoted([ending])}." if ending else "Its name has no ending.",
            f"Let it end in {' or '.join(endings)}.",
        )
    return ending


MOST_ROWS = 1_048_575
_MOST_COLUMNS = 16_384
_MOST_LETTERS = 32_767
_EXACT = 10**15
_OPTIONS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "in_memory": True,
}


def workbook(sheets: Mapping[str, pa.Table]) -> bytes:
    """Return tables as an Excel workbook (.xlsx), a sheet each.

    >>> import pyarrow as pa
    >>> workbook({"Risk": pa.table({"name": ["=1+1"]})})[:2]
    b'PK'
    """
    from xlsxwriter import Workbook

    for name, table in sheets.items():
        _require_room(name, table)
    content = io.BytesIO()
    with Workbook(content, _OPTIONS) as book:
        heading = book.add_format({"bold": True, "bottom": 1})
        for name, table in sheets.items():
            sheet = book.add_worksheet(name[:31])
            for place, column in enumerate(table.column_names):
                sheet.write_string(0, place, column, heading)
                for line, cell in enumerate(table[column].to_pylist(), 1):
                    _write(sheet, line, place, cell)
            sheet.freeze_panes(1, 0)
    return content.getvalue()


def _write(sheet: Any, line: int, place: int, cell: Any) -> None:
    if cell is None:
        return
    if isinstance(cell, bool):
        sheet.write_boolean(line, place, cell)
    elif isinstance(cell, int) and abs(cell) < _EXACT:
        sheet.write_number(line, place, cell)
    elif isinstance(cell, float):
        if math.isfinite(cell):
            sheet.write_number(line, place, cell)
        elif math.isinf(cell):
            sheet.write_string(line, place, "unbounded")
    else:
        sheet.write_string(line, place, str(cell)[:_MOST_LETTERS])


def _require_room(name: str, table: pa.Table) -> None:
    if table.num_rows > MOST_ROWS or table.num_columns > _MOST_COLUMNS:
        raise LimitError(
            Reason.TOO_LARGE,
            f"The sheet {quoted([name])} of an Excel workbook was to be written.",
            f"It has {table.num_rows:,} rows and {table.num_columns:,} columns; a sheet holds"
            f" {MOST_ROWS:,} rows and {_MOST_COLUMNS:,} columns.",
            "Let the name of the file end in .csv or .parquet.",
        )


def write_table(table: pa.Table, path: str | Path, *, raw: bool = False) -> Path:
    r"""Write a table in the format that the name of the file ends in, .csv, .parquet or .xlsx.

    In CSV, texts that a spreadsheet would run as formulas get an apostrophe before them, unless
    the table is to be `raw`, for programs.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_table(pa.table({"record": [1, 2]}), Path(folder, "risk.csv"))
    ...     Path(folder, "risk.csv").read_text()
    '"record"\n1\n2\n'
    """
    ending = require_ending("table", path, TABLE_ENDINGS)
    shown = table if raw or ending != ".csv" else _shown(table)
    return write_file(path, partial(_write_as[ending], shown), private=True)


def _shown(table: pa.Table) -> pa.Table:
    """Return a table whose texts a spreadsheet shows and does not run."""
    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    shown = [_shown_column(column) if _is_text(column.type) else column for column in columns]
    return pa.Table.from_arrays(shown, names=[shown_cell(name) for name in table.column_names])


def _shown_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    starts = pc.match_substring_regex(column, f"^'*[{re.escape(STARTS)}]")
    is_number = pc.match_substring_regex(column, NUMERAL, ignore_case=True)
    risky = pc.fill_null(pc.and_not(starts, is_number), False)
    if not pc.any(risky).as_py():
        return column
    marked = pc.binary_join_element_wise(
        pa.scalar("'", column.type), column, pa.scalar("", column.type)
    )
    return pc.if_else(risky, marked, column)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _write_csv(table: pa.Table, file: BinaryIO) -> None:
    import pyarrow.csv as csv

    csv.write_csv(table, file)


def _write_parquet(table: pa.Table, file: BinaryIO) -> None:
    parquet.write_table(table, file)


def _write_excel(table: pa.Table, file: BinaryIO) -> None:
    file.write(workbook({"Table": table}))


_write_as = {".csv": _write_csv, ".parquet": _write_parquet, ".xlsx": _write_excel}
