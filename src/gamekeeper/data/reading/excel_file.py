"""Excel workbooks (.xlsx): one sheet, read as a table in a process of its own (`apart`).

Whole numbers are read as whole numbers, texts as texts; leading zeros that are only a format of a
number are not in the file.
"""

from __future__ import annotations

import zipfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gamekeeper.data.reading.apart import apart
from gamekeeper.data.reading.column import unreadable
from gamekeeper.data.reading.packed import DAMAGED
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import count_of, quoted

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 14
# Numbers that are larger have no whole number of 64 bits, and are known to 15 digits anyway.
_WHOLE = 1 << 53


def read_workbook(path: Path, *, sheet: str | None = None, header: bool = True) -> pa.Table:
    """Return a sheet as a table, the only one that has cells unless one is named."""
    import pyarrow as pa

    with apart(
        write_sheet,
        str(path),
        sheet,
        header,
        path=path,
        asked=f"Data file {quoted([path.name])} was to be read.",
        do="Save it as CSV, or allow more (--memory): a cell far from all others makes a sheet large.",
        libraries=("pyarrow", "python_calamine"),
    ) as told:
        table = pa.ipc.open_stream(told).read_all()
    table.validate(full=True)
    return table


def write_sheet(out: BinaryIO, name: str, sheet: str | None, header: bool) -> None:
    """Write a sheet of a workbook as an Arrow stream."""
    import pyarrow as pa
    from python_calamine import CalamineWorkbook

    path = Path(name)
    _check(path)
    sheets: dict[str, Any] = {}
    failed = False
    try:
        with CalamineWorkbook.from_path(path) as book:
            for each in [sheet] if sheet and sheet in book.sheet_names else book.sheet_names:
                own = book.get_sheet_by_name(each)
                if own.height:
                    sheets[each] = own
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
    (found,) = sheets.values()
    table = pa.table(_columns(found, path, header=header))
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def _columns(sheet: Any, path: Path, *, header: bool) -> dict[str, pa.ChunkedArray]:
    """Return the columns of a sheet by name, made of some rows at a time."""
    rows = islice(sheet.iter_rows(), sheet.start[0], None)
    names = [str(cell).strip() for cell in next(rows)] if header else [""] * sheet.width
    names = [name or f"column {place}" for place, name in enumerate(names, 1)]
    if len(set(names)) < len(names):
        raise unreadable(path, "Columns have the same name.", "Give every column its own.")
    parts: list[list[pa.Array]] = [[] for _ in names]
    while some := list(islice(rows, _ROWS)):
        for part, cells in zip(parts, zip(*some, strict=True), strict=True):
            part.append(_column(cells))
    return {name: _joined(part) for name, part in zip(names, parts, strict=True)}


def _joined(parts: list[pa.Array]) -> pa.ChunkedArray:
    """Return the parts of a column as whole numbers where all are, else as texts."""
    import pyarrow as pa

    kinds = {part.type for part in parts if part.null_count < len(part)}
    kind = kinds.pop() if len(kinds) == 1 else pa.string()
    return pa.chunked_array([part.cast(kind) for part in parts], kind)


def _column(cells: tuple[Any, ...]) -> pa.Array:
    """Return cells as whole numbers where all are, else as texts."""
    import pyarrow as pa

    given = [None if cell is None or cell == "" else cell for cell in cells]
    if all(cell is None or _is_whole(cell) for cell in given):
        return pa.array([None if cell is None else int(cell) for cell in given], pa.int64())
    return pa.array([None if cell is None else _text(cell) for cell in given], pa.string())


def _is_whole(cell: Any) -> bool:
    return type(cell) in (int, float) and abs(cell) <= _WHOLE and float(cell).is_integer()


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _check(path: Path) -> None:
    """Refuse a workbook whose sums do not fit what it holds: it would be read with other figures."""
    is_damaged = False
    try:
        with zipfile.ZipFile(path) as archive:
            is_damaged = archive.testzip() is not None
    except DAMAGED:
        is_damaged = True
    if is_damaged:
        raise unreadable(path, "It is no Excel workbook, or it is damaged.", "Save it as CSV.")
