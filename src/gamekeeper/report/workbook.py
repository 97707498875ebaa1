"""Excel workbooks: one sheet per table, text as text.

A text that begins like a formula or looks like an address or a number stays a text: cells are
written by their type, and never by what they look like. Whole numbers beyond 15 digits, which Excel
would round, are written as text.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gamekeeper.errors import LimitError, Reason
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS = 1_048_575
_MOST_COLUMNS = 16_384
_MOST_LETTERS = 32_767
_EXACT = 10**15
_SHEET_LETTERS = 31
_OPTIONS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "in_memory": True,
}


def workbook(sheets: Mapping[str, pa.Table]) -> bytes:
    """Return tables as an Excel workbook (.xlsx), a sheet each.

    Examples
    --------
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
            sheet = book.add_worksheet(name[:_SHEET_LETTERS])
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
