"""How a text file of records is laid out: encoding, delimiter, decimal mark, names of columns.

The encoding is decided on every byte of the file: UTF-8 when all of it is valid UTF-8, UTF-16 by
its byte order mark or its zero bytes, else Windows-1252, else Latin-1. Delimiter and decimal mark
are decided on the first records. A setting that is given is taken as it is.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gamekeeper.data.reading.column import unreadable
from gamekeeper.data.reading.numerals import number_of
from gamekeeper.data.reading.packed import open_bytes
from gamekeeper.errors import InputError, Problem, Reason
from gamekeeper.wording import count_of, quoted

DELIMITERS = (",", ";", "\t", "|")
_BLOCK = 1 << 20
_SAMPLE = 1000
# Codecs of Python that turn names or source text into others: no file is written in them.
_NOT_OF_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")
_NOT_IN_CP1252 = b"\x81\x8d\x8f\x90\x9d"
BYTE_ORDER_MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
_DECIMALS = {mark: re.compile(rf"[+-]?\d*\{mark}\d+", re.ASCII) for mark in ".,"}
_GROUPED = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)


@dataclass(frozen=True, repr=False)
class CsvLayout:
    """What there is to know about a text file of records before reading them."""

    names: tuple[str, ...]
    encoding: str
    delimiter: str
    decimal: str
    detected: tuple[str, ...]
    fingerprint: str
    start: int
    has_records: bool
    n_line_ends: int
    has_quotes: bool


@dataclass(repr=False)
class _Bytes:
    """What one pass over all bytes of a file tells."""

    fingerprint: str
    head: bytes
    is_utf8: bool
    is_cp1252: bool
    has_zeros: bool
    has_quotes: bool
    n_line_ends: int

    @property
    def is_all(self) -> bool:
        return len(self.head) < _BLOCK


def detect_layout(
    path: Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    has_header: bool = True,
) -> CsvLayout:
    """Return the layout of a file; what is given is not detected."""
    _check_options(delimiter, encoding, decimal)
    scanned = _scan(path)
    codec, order_mark = _codec(path, scanned, encoding)
    head = _decoded(path, scanned, codec, order_mark)
    if not head.strip():
        raise unreadable(path, "The file is empty.", "Check the file.", Reason.NOTHING_GIVEN)
    candidates = (delimiter,) if delimiter else DELIMITERS
    samples = {mark: _sample(head, mark, whole=scanned.is_all) for mark in candidates}
    best = max(candidates, key=lambda mark: _fit(samples[mark]))
    if not samples[best].records:
        raise unreadable(
            path,
            "No complete first line with the names of columns was found.",
            "Check the file; a quote that is opened must be closed.",
        )
    header, *records = samples[best].records
    length = samples[best].length
    if has_header:
        _check_header(path, header)
    else:
        records, length, header = [header, *records], 0, [""] * len(header)
    given = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    return CsvLayout(
        names=tuple(name.strip() or f"column {place}" for place, name in enumerate(header, 1)),
        encoding=codec,
        delimiter=best,
        decimal=decimal or _decimal_mark(records, best),
        detected=tuple(setting for setting, value in given.items() if value is None),
        fingerprint=scanned.fingerprint,
        start=len(order_mark) + len(head[:length].encode(codec)),
        has_records=not scanned.is_all or bool(head[length:].strip("\r\n")),
        n_line_ends=scanned.n_line_ends,
        has_quotes=scanned.has_quotes,
    )


def _check_options(delimiter: str | None, encoding: str | None, decimal: str | None) -> None:
    problems: list[Problem] = []

    def refuse(where: str, found: str, do: str) -> None:
        problems.append(Problem(Reason.BAD_OPTION, where, found, do))

    if delimiter is not None and (
        len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'
    ):
        refuse(
            "delimiter",
            f"{quoted([delimiter])} is not one character.",
            "Give ',' or ';' (--delimiter).",
        )
    if decimal is not None and decimal not in (".", ","):
        refuse(
            "decimal", f"{quoted([decimal])} is not a decimal mark.", "Give '.' or ',' (--decimal)."
        )
    if encoding is not None:
        try:
            codec = codecs.lookup(encoding)
            is_text = codec._is_text_encoding and codec.name not in _NOT_OF_FILES  # pyright: ignore[reportPrivateUsage]
        except (LookupError, ValueError):
            is_text = False
        if not is_text:
            refuse(
                "encoding",
                f"{quoted([encoding])} is not known.",
                "Give 'utf-8' or 'cp1252' (--encoding).",
            )
    if problems:
        raise InputError(
            Reason.BAD_OPTION,
            "A file was to be read with given settings.",
            f"{count_of(len(problems), 'setting')} cannot be used.",
            problems=problems,
        )


def _scan(path: Path) -> _Bytes:
    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder("utf-8")()
    head, is_utf8, is_cp1252, has_zeros, has_quotes = b"", True, True, False, False
    line_feeds = returns = 0
    with open_bytes(path) as file:
        while block := file.read(_BLOCK):
            head = head or block
            digest.update(block)
            line_feeds += block.count(b"\n")
            returns += block.count(b"\r")
            is_cp1252 = is_cp1252 and len(block.translate(None, _NOT_IN_CP1252)) == len(block)
            has_zeros = has_zeros or b"\0" in block
            has_quotes = has_quotes or b'"' in block
            if is_utf8:
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    is_utf8 = False
    if is_utf8:
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            is_utf8 = False
    return _Bytes(
        digest.hexdigest()[:16],
        head,
        is_utf8,
        is_cp1252,
        has_zeros,
        has_quotes,
        max(line_feeds, returns),
    )


def _codec(path: Path, scanned: _Bytes, given: str | None) -> tuple[str, bytes]:
    """Return the encoding and the byte order mark that the file begins with."""
    marks = [
        (mark, name) for name, mark in BYTE_ORDER_MARKS.items() if scanned.head.startswith(mark)
    ]
    if given is not None:
        codec = codecs.lookup(given).name
        codec = {"utf-8-sig": "utf-8", "utf-16": marks[0][1] if marks else "utf-16-le"}.get(
            codec, codec
        )
        return codec, next((mark for mark, name in marks if name == codec), b"")
    if marks and (marks[0][1] != "utf-8" or scanned.is_utf8):
        return marks[0][1], marks[0][0]
    if scanned.has_zeros:
        places = {
            "utf-16-be": scanned.head[0::2].count(0),
            "utf-16-le": scanned.head[1::2].count(0),
        }
        name = max(places, key=lambda name: places[name])
        text = scanned.head[: len(scanned.head) // 2 * 2].decode(name, errors="replace")
        if not {"\0", "\N{REPLACEMENT CHARACTER}"} & set(text[:-1]):
            return name, b""
        raise unreadable(
            path,
            "It holds zero bytes, so that it is not a file of text.",
            "Save it as CSV, Parquet, SPSS, Stata or SAS; an Excel file is saved as CSV.",
        )
    if scanned.is_utf8:
        return "utf-8", b""
    return ("cp1252" if scanned.is_cp1252 else "latin-1"), b""


def _decoded(path: Path, scanned: _Bytes, codec: str, mark: bytes) -> str:
    failed = False
    text = ""
    try:
        decoder = codecs.getincrementaldecoder(codec)()
        text = decoder.decode(scanned.head[len(mark) :], final=scanned.is_all)
    except UnicodeError:  # some codecs raise no narrower one
        failed = True
    if failed or (codec == "utf-8" and not scanned.is_utf8):
        raise wrong_encoding(path, codec)
    return text


def wrong_encoding(path: Path, codec: str) -> InputError:
    """Return the error for a text that is not in its encoding."""
    return unreadable(
        path,
        f"Its text is not encoded in {codec}.",
        "Give another encoding (--encoding), or none: then it is detected.",
        Reason.WRONG_ENCODING,
    )


@dataclass(repr=False)
class _Sample:
    """The first records that are not empty, as one delimiter cuts them."""

    records: list[list[str]]
    length: int = 0
    is_clean: bool = True


def _sample(head: str, delimiter: str, *, whole: bool) -> _Sample:
    """Cut the beginning of a file; its length is that of the text up to the end of the names."""
    strict = _cut(head, delimiter, whole=whole, strict=True)
    if strict.is_clean:
        return strict
    lenient = _cut(head, delimiter, whole=whole, strict=False)
    lenient.is_clean = False
    return lenient


def _cut(head: str, delimiter: str, *, whole: bool, strict: bool) -> _Sample:
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in io.StringIO(head, newline=""):
            read += len(line)
            yield line

    found = _Sample([])
    try:
        for cells in csv.reader(lines(), delimiter=delimiter, strict=strict):
            if not cells or (read == len(head) and not whole):
                continue
            found.records.append(cells)
            found.length = found.length or read
            if len(found.records) > _SAMPLE:
                break
    except csv.Error:
        # A quote inside of a cell, or one that is not closed; at the end of what was looked at,
        # that is as it should be.
        found.is_clean = read == len(head) and not whole
    return found


def _fit(sample: _Sample) -> tuple[bool, bool, float, int]:
    """Return how well a delimiter fits: several columns, in every record the same number."""
    if not sample.records:
        return False, False, 0.0, 0
    width = len(sample.records[0])
    alike = sum(len(cells) == width for cells in sample.records)
    return width > 1, sample.is_clean, alike / len(sample.records), width


def _decimal_mark(records: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return the mark that more columns have in their first cells; a point when none has any."""
    columns = {",": set[int](), ".": set[int]()}
    for cells in records:
        for place, cell in enumerate(cells):
            for mark, pattern in _DECIMALS.items():
                bare = cell.strip()
                if pattern.fullmatch(bare) and not (
                    # "1,234" between commas is a thousand, and so no evidence of a comma.
                    mark == "," and delimiter == "," and _GROUPED.fullmatch(bare)
                ):
                    columns[mark].add(place)
    return "," if len(columns[","]) > len(columns["."]) else "."


def _is_number(text: str) -> bool:
    return any(number_of(text, mark) is not None for mark in ".,")


def _check_header(path: Path, header: Sequence[str]) -> None:
    """Refuse a first line that is not one of names, without showing it: it may be a record."""
    names = [name.strip() for name in header]
    # The first name alone is often empty: the column of the names or numbers of records.
    odd = sum(_is_number(name) or (place > 0 and not name) for place, name in enumerate(names))
    if odd and 2 * odd >= len(names):
        raise unreadable(
            path,
            f"{odd} of the {count_of(len(names), 'cell')} of its first line are numbers or empty.",
            "The first line must have the names of the columns: add it. A file of records can also be"
            " read without one (--no-header).",
        )
    first = {}
    problems: list[Problem] = []
    for place, name in enumerate(names, 1):
        if name and name in first:
            where = f"column {place}"
            problems.append(
                Problem(Reason.DUPLICATE, where, f"It has the name of column {first[name]}.")
            )
        first.setdefault(name, place)
    if problems:
        raise InputError(
            Reason.DUPLICATE,
            f"Data file {quoted([path.name])} was to be read.",
            f"{count_of(len(problems), 'column has', 'columns have')} a name that is taken.",
            "Give every column its own name in the first line.",
            problems=problems,
        )
