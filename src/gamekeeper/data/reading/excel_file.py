"""Excel workbooks (.xlsx): one sheet, read as a frame.

What a workbook would unpack to, and how many cells its sheets span, is looked at before any of it
is read. Whole numbers are read as whole numbers, texts as texts; leading zeros that are only a
format of a number are not in the file.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.data.reading.column import unreadable
from gamekeeper.data.reading.packed import DAMAGED
from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.wording import count_of, memory_text, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_BYTES = 1 << 30
_MOST_CELLS = 30_000_000
_CELL = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})(\d{1,7})"')


def read_workbook(path: Path, *, sheet: str | None = None, header: bool = True) -> pa.Table:
    """Return a sheet as a table, the only one that has cells unless one is named."""
    import pyarrow as pa

    _check(path)
    sheets, failed = {}, False
    try:
        from python_calamine import CalamineWorkbook

        with CalamineWorkbook.from_path(path) as book:
            for name in [sheet] if sheet and sheet in book.sheet_names else book.sheet_names:
                rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
                if rows:
                    sheets[name] = rows
    except Exception:  # noqa: BLE001 - the reader's own errors may quote cells
        failed = True
    if failed:
        raise unreadable(path, "It is no Excel workbook, or it is damaged.", "Save it as CSV.")
    if sheet and sheet not in sheets:
        raise InputError(
            Reason.UNKNOWN_NAME,
            f"Sheet {quoted([sheet])} of {quoted([path.name])} was to be read.",
            "There is none with cells.",
            f"There are: {quoted(list(sheets))}.",
        )
    if len(sheets) != 1:
        do = f"Name one of {quoted(list(sheets))} (--sheet)." if sheets else "Check the file."
        raise unreadable(path, f"It has {count_of(len(sheets), 'sheet')} with cells.", do)
    (rows,) = sheets.values()
    width = max(map(len, rows))
    first = [str(cell).strip() for cell in rows[0]] if header else [""] * width
    names = [name or f"column {place}" for place, name in enumerate(first, 1)]
    if len(set(names)) < len(names):
        raise unreadable(path, "Columns have the same name.", "Give every column its own.")
    body = rows[1:] if header else rows
    columns = {name: _column([row[place] for row in body]) for place, name in enumerate(names)}
    return pa.table(columns)


def _column(cells: list[Any]) -> pa.Array:
    """Return cells as whole numbers where all are, else as texts."""
    import pyarrow as pa

    given = [None if cell is None or cell == "" else cell for cell in cells]
    present = [cell for cell in given if cell is not None]
    if present and all(type(cell) in (int, float) and float(cell).is_integer() for cell in present):
        return pa.array([None if cell is None else int(cell) for cell in given], pa.int64())
    return pa.array([None if cell is None else _text(cell) for cell in given], pa.string())


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _check(path: Path) -> None:
    """Refuse what would unpack to too much, or span too many cells."""
    damaged = False
    total = cells = 0
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(item.file_size for item in archive.infolist())
            for item in archive.infolist() if total <= _MOST_BYTES else ():
                wide = high = 0
                with archive.open(item) as file:
                    tail = b""
                    # To the end, where the sum is checked: what is longer than it says is damaged.
                    while block := file.read(1 << 20):
                        for letters, row in _CELL.findall(tail + block):
                            wide, high = max(wide, _place(letters)), max(high, int(row))
                        tail = block[-200:]
                cells = max(cells, wide * high)
    except DAMAGED:
        damaged = True
    if damaged:
        raise unreadable(path, "It is no Excel workbook, or it is damaged.", "Save it as CSV.")
    if total > _MOST_BYTES or cells > _MOST_CELLS:
        found = (
            f"It unpacks to {memory_text(total)}."
            if total > _MOST_BYTES
            else f"A sheet spans {cells:,} cells."
        )
        raise LimitError(
            Reason.TOO_LARGE,
            f"Data file {quoted([path.name])} was to be read.",
            found,
            f"Save it as CSV; a workbook may have {memory_text(_MOST_BYTES)} and {_MOST_CELLS:,} cells.",
        )


def _place(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
