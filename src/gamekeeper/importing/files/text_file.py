"""Text files and tables of text in whatever encoding and with whatever delimiter."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Mapping, Sequence

from gamekeeper.importing.files.limits import malformed

_DELIMITERS = ",;\t|"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Row = Mapping[str, str]

TABLES = (".csv", ".tsv", ".txt")
"""How the names of delimited texts end."""


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file: by its byte order mark, else UTF-8, else Windows-1252.

    Examples
    --------
    >>> decoded("Alter in Jahren: größer".encode("cp1252"), "x.csv")
    'Alter in Jahren: größer'
    """
    if b"\x00" in content[:4096] and not content.startswith(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    ):
        raise malformed(name, "It is not a text file.")
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                raise malformed(name, f"It starts like {encoding} and is not all of it.") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def table(rows: Sequence[Sequence[str]]) -> tuple[list[str], list[dict[str, str]]]:
    """Return the header of a delimited text and its other rows by column.

    A column whose name is there twice keeps its first values. Rows may be short or long.
    """
    header = [cell.strip().lstrip("\ufeff") for cell in rows[0]]
    found: list[dict[str, str]] = []
    for row in rows[1:]:
        if any(cell.strip() for cell in row):
            record: dict[str, str] = {}
            for column, cell in zip(header, row, strict=False):
                record.setdefault(column, cell)
            found.append(record)
    return header, found


def rows_of(text: str, name: str) -> list[list[str]]:
    """Return the rows of a delimited text, its header first; there is one at least."""
    head = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=head.count) if head else ","
    csv.field_size_limit(10_000_000)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        raise malformed(name, "It is not a table of text.") from None
    if not rows:
        raise malformed(name, "It is empty.", "Export it again.")
    return rows


def first_of(row: Row, names: Sequence[str]) -> str:
    """Return the first value that is there under one of some column names, in any case."""
    by_name = {_key(column): value for column, value in row.items()}
    return next((by_name[key] for n in names if by_name.get(key := _key(n), "").strip()), "")


def has_columns(header: Sequence[str], *choices: Sequence[str]) -> bool:
    """Tell whether a header has at least one column of every choice."""
    known = {_key(column) for column in header}
    return all(any(_key(name) in known for name in names) for names in choices)


def _key(column: str) -> str:
    return "".join(c for c in column.casefold() if c.isalnum())
