"""Text files of records: every cell is text, read in blocks, wanted columns only; packed ones as well.

Cells are never read as numbers, so that leading zeros survive. Quotes, line breaks in quotes and
empty lines are understood. A record with too few or too many cells is an error, never padded.

The encoding is decided on every byte of the file: UTF-8 when all of it is valid UTF-8, UTF-16 by its
byte order mark or its zero bytes, else Windows-1252, else Latin-1. Delimiter and decimal mark are
decided on the first records. A setting that is given is taken as it is.

Packed files (`.gz`, or the one file in a `.zip`) are unpacked block by block: nothing of them goes to
disk or is kept in memory. What would unpack to too much, in all or for its size, is refused while it
is read, after a block more than is allowed.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import hashlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gamekeeper.arrow import pa
from gamekeeper.data.reading.columns import Column, number_of, unreadable
from gamekeeper.errors import InputError, LimitError, Problem, Reason
from gamekeeper.wording import count_of, memory_text, quoted

MOST_BYTES = 16 << 30
"""What an archive may unpack to."""

_MOST_RATIO = 200
# Small files of few letters pack well.
_ANY_RATIO = 64 << 20
PACKED = (".gz", ".zip")
_UNREADABLE, _UNPACK = "It is damaged, or locked.", "Unpack it, and name the file."
DAMAGED = (
    OSError, EOFError, ValueError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What unpacking may raise where bytes have changed, or a password is asked for."""


def inner_suffix(path: Path) -> str:
    """Return the ending of the file that is packed, in small letters.

    >>> inner_suffix(Path("people.csv.gz"))
    '.csv'
    """
    if path.suffix.lower() == ".gz":
        return Path(path.stem).suffix.lower()
    return Path(_member(path)).suffix.lower()


def open_bytes(path: Path) -> io.BufferedReader:
    """Open a file for reading, unpacked where it is packed."""
    ending = path.suffix.lower()
    if ending == ".gz":
        return io.BufferedReader(_Unpacked(path, gzip.open(path, "rb")))  # type: ignore[arg-type]
    if ending == ".zip":
        return io.BufferedReader(_Unpacked(path, _opened(path)))  # type: ignore[arg-type]
    return path.open("rb")


def fingerprint_of(path: Path) -> str:
    """Return the first digits of the hash of all bytes of a file, unpacked where it is packed."""
    with open_bytes(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


class _Unpacked(io.RawIOBase):
    """Counts what is unpacked, and refuses when it is too much."""

    def __init__(self, path: Path, file: object) -> None:
        self._path, self._file, self._read = path, file, 0
        self._most = min(MOST_BYTES, max(_ANY_RATIO, _MOST_RATIO * path.stat().st_size))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        damaged = False
        data = b""
        try:
            data = self._file.read(len(buffer))  # pyright: ignore[reportAttributeAccessIssue]
        except DAMAGED:
            damaged = True
        if damaged:
            raise unreadable(self._path, _UNREADABLE, _UNPACK)
        self._read += len(data)
        if self._read > self._most:
            raise LimitError(
                Reason.TOO_LARGE,
                f"Data file {quoted([self._path.name])} was to be unpacked.",
                f"It unpacks to more than {memory_text(self._most)}.",
                "If you trust it, unpack it and name the file.",
            )
        buffer[: len(data)] = data
        return len(data)


def _opened(path: Path) -> IO[bytes]:
    name, file = _member(path), None
    with contextlib.suppress(*DAMAGED):
        file = zipfile.ZipFile(path).open(name)  # noqa: SIM115 - whoever reads it closes it
    if file is None:
        raise unreadable(path, _UNREADABLE, _UNPACK)
    return file


def _member(path: Path) -> str:
    names: list[str] = []
    damaged = False
    try:
        with zipfile.ZipFile(path) as archive:
            names = [item.filename for item in archive.infolist() if not item.is_dir()]
    except DAMAGED:
        damaged = True
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if damaged or len(names) != 1:
        found = "It is damaged." if damaged else f"It holds {len(names)} files."
        raise unreadable(path, found, _UNPACK)
    return names[0]


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
        digest.hexdigest()[:16], head, is_utf8, is_cp1252, has_zeros, has_quotes,
        max(line_feeds, returns),
    )  # fmt: skip


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


# A record may be as long as a block; one megabyte more or less does not change the speed.
_READ_BLOCK = 4 << 20
_FIRST_BYTES = 1 << 20


class CsvFile:
    """A text file with the names of the columns in its first line."""

    kind = "csv"

    def __init__(
        self,
        path: Path,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        has_header: bool = True,
    ) -> None:
        self.path = path
        self.layout = detect_layout(
            path, delimiter=delimiter, encoding=encoding, decimal=decimal, has_header=has_header
        )
        self.columns = tuple(Column(name) for name in self.layout.names)
        self.fingerprint = self.layout.fingerprint
        self.decimal = self.layout.decimal
        self.detected = self.layout.detected
        self.n_records: int | None = None
        self.settings: Mapping[str, str] = {
            "delimiter": self.layout.delimiter,
            "encoding": self.layout.encoding,
            "decimal": self.layout.decimal,
        }

    def about_records(self) -> int | None:
        """Return how many records there may be, by the size of the file and its first lines.

        None where the size says nothing: what is packed, and a file that begins without line breaks.
        """
        if self.path.suffix.lower() in PACKED:
            return None
        with self.path.open("rb") as file:
            first = file.read(_FIRST_BYTES)
        n_lines = first.count(b"\n") or first.count(b"\r")
        return n_lines * self.path.stat().st_size // len(first) if n_lines else None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns as text, some thousand records at a time."""
        if not self.layout.has_records:
            return
        uneven = _UnevenRecords()
        n_read = 0
        error: InputError | None = None
        try:
            for batch in self._open(columns, uneven):
                n_read += batch.num_rows
                yield pa.RecordBatch.from_arrays(batch.columns, names=list(columns))
        except UnicodeDecodeError:
            error = wrong_encoding(self.path, self.layout.encoding)
        except pa.ArrowInvalid as fault:
            # The text of the fault quotes the record, so it is looked at and let go.
            error = self._broken()
            if "UTF8" in str(fault):
                error = wrong_encoding(self.path, self.layout.encoding)
        if error is not None:
            raise error
        if uneven.count:
            raise self._uneven(uneven, n_read + uneven.count)
        if self.layout.has_quotes and self.layout.n_line_ends > n_read + 1:
            self._check_quotes()

    def _open(self, columns: Sequence[str], uneven: _UnevenRecords) -> Any:
        from pyarrow import csv as pa_csv

        names = self.layout.names
        wanted = [str(names.index(name)) for name in columns]
        if self.path.suffix.lower() in PACKED:
            unpacked = open_bytes(self.path)
            unpacked.read(self.layout.start)
            file = pa.PythonFile(unpacked, mode="r")
        else:
            file = pa.OSFile(str(self.path))
            file.seek(self.layout.start)
        if self.layout.encoding not in ("utf-8", "ascii"):
            file = pa.transcoding_input_stream(file, self.layout.encoding, "utf-8")
        return pa_csv.open_csv(
            file,
            read_options=pa_csv.ReadOptions(
                # Without threads the reader knows the numbers of the records it refuses.
                use_threads=False,
                block_size=_READ_BLOCK,
                column_names=[str(place) for place in range(len(names))],
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                newlines_in_values=True,
                invalid_row_handler=uneven.add,
            ),
            convert_options=pa_csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                strings_can_be_null=False,
            ),
        )

    def _check_quotes(self) -> None:
        """Refuse quotes that swallow records: the reader in blocks takes them as they come.

        There are more lines than records, so that quotes may hold line breaks. Well-formed quotes
        do it on purpose; a stray one makes a cell of whole records.
        """
        found = ""
        try:
            with io.TextIOWrapper(
                open_bytes(self.path),
                encoding=self.layout.encoding.replace("utf-8", "utf-8-sig"),
                newline="",
            ) as file:
                for _ in csv.reader(file, delimiter=self.layout.delimiter, strict=True):
                    pass
        except csv.Error:
            found = "Some cells hold line breaks, and a quote stands alone or inside a cell."
        if found:
            raise unreadable(
                self.path,
                found,
                "Close every quote at the end of its cell; write a quote inside of quotes twice.",
            )

    def _broken(self) -> InputError:
        return unreadable(
            self.path,
            "Its records cannot be told apart.",
            f"Check the quotes, and that no record has more than {_READ_BLOCK:,} bytes.",
        )

    def _uneven(self, uneven: _UnevenRecords, n_records: int) -> InputError:
        how = "detected" if "delimiter" in self.layout.detected else "given"
        mark = {"\t": "tab"}.get(self.layout.delimiter, self.layout.delimiter)
        widths = sorted(uneven.widths)
        cells = count_of(widths[0], "cell")
        if len(widths) > 1:
            cells = f"between {widths[0]:,} and {count_of(widths[-1], 'cell')}"
        return unreadable(
            self.path,
            f"Its first line has {count_of(len(self.columns), 'column')}, but "
            f"{count_of(uneven.count, 'record')} of {n_records:,} have {cells}; "
            f"the first of them is record {uneven.first:,}.",
            f"Check these records and the delimiter ({quoted([mark])} was {how}); --delimiter sets it.",
        )


class _UnevenRecords:
    """Counts the records with a wrong number of cells and keeps nothing of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first = 0
        self.widths: set[int] = set()

    def add(self, row: Any) -> str:
        self.count += 1
        self.first = self.first or int(row.number)
        self.widths.add(int(row.actual_columns))
        return "skip"
