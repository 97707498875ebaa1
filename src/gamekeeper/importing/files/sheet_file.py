"""Sheets of a workbook as tables of values. Macros are never run, formulas never worked out."""

from __future__ import annotations

import io
import struct
import zipfile

from gamekeeper.importing.files.cleaning import clean
from gamekeeper.importing.files.limits import malformed, too_large
from gamekeeper.importing.files.text_file import table

_UNREADABLE = "It is not a workbook that can be read."


def sheets(content: bytes, name: str, most_megabytes: int) -> dict[str, list[list[str]]]:
    """Return the sheets of a workbook by name, in small letters, every cell as text."""
    size = 0
    try:
        # Python 3.14 looks further into an archive than others, and stumbles over a spoilt one.
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(part.file_size for part in archive.infolist())
    except (OSError, ValueError, RuntimeError, struct.error, zipfile.BadZipFile):
        raise malformed(name, _UNREADABLE) from None
    if size > most_megabytes * 10_000_000:
        raise too_large(name, size, most_megabytes * 10)
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        return {
            sheet.strip().casefold(): [
                [clean(cell) for cell in row] for row in book.get_sheet_by_name(sheet).iter_rows()
            ]
            for sheet in book.sheet_names
        }
    except (CalamineError, ValueError, OSError):
        raise malformed(name, _UNREADABLE) from None


def records(rows: list[list[str]]) -> list[dict[str, str]]:
    """Return the rows of a sheet by the names in its first row that is not empty."""
    start = next((i for i, row in enumerate(rows) if any(row)), None)
    if start is None:
        return []
    _, found = table(rows[start:])
    return [{column: cell for column, cell in record.items() if column} for record in found]
