"""Files of others as plain values: text, sheets, XML and JSON, within limits and without surprises.

Texts are in whatever encoding and with whatever delimiter. Editors of forms save what people typed
with HTML, entities and marks of direction; what is left here is plain words, which may be a name in
an environment, with letters of any script as they are. Macros of a workbook are never run, formulas
never worked out. XML is read without external files or network. A document type may be there,
because old codebooks name one; it is never fetched. A document that declares entities of its own is
refused: they can be made to grow without end or to name files.
"""

from __future__ import annotations

import codecs
import csv
import html
import io
import json
import re
import struct
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from gamekeeper.errors import InputError, LimitError, Reason
from gamekeeper.files import require_ordinary
from gamekeeper.wording import quoted

MOST_MEGABYTES = 50
"""Instruments are at most a few megabytes; what is larger is usually a file of records."""


WAY_AROUND = "Import the dictionary without records, or save its sheets as CSV."
"""What to do with a file that takes more than it may."""


def asked_to_import(name: str) -> str:
    """Return what was asked, for an error about a file."""
    return f"The file {quoted([name])} was to be imported."


def require_file(path: Path, most_megabytes: int | None) -> None:
    """Refuse what is no file, cannot be opened, or is too large; None for any size."""
    asked = asked_to_import(path.name)
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise InputError(Reason.NOT_FOUND, asked, "It is not a file.", "Name the file itself.")
        if most_megabytes is not None and size > most_megabytes * 1_000_000:
            raise too_large(path.name, size, most_megabytes)
        require_ordinary(path)
        with path.open("rb"):
            pass
    except OSError as fault:
        reason = Reason.NOT_FOUND if isinstance(fault, FileNotFoundError) else Reason.NOT_READABLE
        found = "It is not there." if reason is Reason.NOT_FOUND else "It cannot be opened."
        raise InputError(reason, asked, found, "Check the path and its permissions.") from None


def open_bytes(path: Path, most_megabytes: int) -> bytes:
    """Return the bytes of a file that is not too large."""
    require_file(path, most_megabytes)
    return path.read_bytes()


def too_large(name: str, size: int, most_megabytes: int) -> LimitError:
    """Return the error about a file, or what it unpacks to, that is too large."""
    found = f"It comes to {size / 1_000_000:,.0f} MB, and {most_megabytes:,} MB are the most."
    do = "Import the dictionary without records, or raise --most-megabytes."
    return LimitError(Reason.TOO_LARGE, asked_to_import(name), found, do)


def malformed(name: str, found: str, do: str = "") -> InputError:
    """Return the error about a file that cannot be read as what it seems to be."""
    return InputError(
        Reason.MALFORMED,
        asked_to_import(name),
        found,
        do or "Export it again, or name its format (--file-format).",
    )


_SCRIPTS = re.compile(r"<(script|style)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>|<!--.*?-->", re.DOTALL)
_KEPT_FORMATS = "\u200c\u200d\u00ad"  # what writing systems need between letters
_LONGEST = 4000


def clean(text: object) -> str:
    r"""Return a text as one line of words.

    >>> clean("<p>Male &amp; <b>female</b>\n over 16</p>")
    'Male & female over 16'
    """
    if text is None or text == "":
        return ""
    if isinstance(text, float) and text.is_integer():
        text = int(text)  # sheets have every number as a decimal
    words = str(text)
    if "<" in words:
        words = _TAGS.sub(" ", _SCRIPTS.sub(" ", words))
    if "&" in words:
        words = html.unescape(words)
    words = words.replace("\ufeff", "").replace("\u00a0", " ").replace("\ufffd", "?")
    words = "".join(
        " " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c
        for c in words
        if unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn") or c in _KEPT_FORMATS
    )
    return " ".join(words.split())[:_LONGEST]


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


_DEEPEST = 200


class _Refused(Exception):  # noqa: N818 - ends the parser, never leaves this module
    pass


def parsed(content: bytes, name: str) -> Element:
    """Return the root of an XML document, every name without its namespace.

    >>> root = parsed(b'<c:a xmlns:c="x"><c:b id="1">text</c:b></c:a>', "a.xml")
    >>> root.tag, root[0].tag, root[0].text
    ('a', 'b', 'text')
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise _Refused(f"It is nested more than {_DEEPEST} deep.", "Export it again.")
        builder.start(_local(tag), {_local(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(tag))

    def entity(*_: object) -> None:
        do = "Export it again without them."
        raise _Refused("It declares entities, and these are not expanded.", do)

    def external(*_: object) -> int:
        return 1  # as if it were empty

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = entity
    parser.ExternalEntityRefHandler = external
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    try:
        parser.Parse(content, True)
        return builder.close()
    except _Refused as refusal:
        raise malformed(name, *refusal.args) from None
    except expat.ExpatError as fault:
        raise malformed(
            name, f"It is not well-formed XML: line {fault.lineno} is broken."
        ) from None
    except (AssertionError, LookupError, ValueError):
        raise malformed(name, "It is not well-formed XML.") from None


def _local(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2]


def text_of(element: Element | None) -> str:
    """Return all text within an element."""
    return "" if element is None else "".join(element.itertext())


class OpenedFile:
    """The content of a file in every shape that a reader may want; each is made when asked for."""

    def __init__(self, path: Path, most_megabytes: int = MOST_MEGABYTES) -> None:
        self.path = path
        self.name = path.name
        self.ending = path.suffix.casefold()
        self._most = most_megabytes

    @cached_property
    def content(self) -> bytes:
        """The bytes."""
        return open_bytes(self.path, self._most)

    @cached_property
    def text(self) -> str:
        """The text, decoded."""
        return decoded(self.content, self.name)

    @cached_property
    def rows(self) -> list[list[str]]:
        """Rows of a delimited text, the header first."""
        return rows_of(self.text, self.name)

    @cached_property
    def table(self) -> tuple[list[str], list[dict[str, str]]]:
        """Header and rows of a delimited text."""
        return table(self.rows)

    @cached_property
    def sheets(self) -> dict[str, list[list[str]]]:
        """The sheets of a workbook."""
        return sheets(self.content, self.name, self._most)

    @cached_property
    def xml(self) -> Element:
        """The root of an XML document."""
        return parsed(self.content, self.name)

    @cached_property
    def json(self) -> Any:
        """The value of a JSON document."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            raise malformed(self.name, "It is not JSON.") from None

    def has_columns(self, *choices: Sequence[str]) -> bool:
        """Tell whether it is a delimited text with at least one column of every choice."""
        return self.ending in TABLES and has_columns(self.table[0], *choices)

    def neighbour(self, name: str) -> OpenedFile | None:
        """Return another file of the same folder, if it is there."""
        path = self.path.with_name(name)
        return OpenedFile(path, self._most) if name != self.name and path.is_file() else None
