"""Text files written as the original is: delimiter, encoding, byte order mark, line ends, quotes.

Where every cell of the first line of the original is in quotes, all cells are; else those that need them.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from gamekeeper.data.reading.csv_file import CsvFile
from gamekeeper.data.reading.csv_layout import BYTE_ORDER_MARKS
from gamekeeper.data.reading.packed import open_bytes
from gamekeeper.data.reading.values import is_text, value_texts
from gamekeeper.errors import InputError, Reason
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 1 << 16


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """How a text file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    mark: bytes = b""
    line_end: str = "\n"
    all_quoted: bool = False
    has_header: bool = True


def style_of(reader: CsvFile) -> CsvStyle:
    """Return how a text file is written, as far as its first line shows."""
    layout = reader.layout
    with open_bytes(reader.path) as file:
        head = file.read(_HEAD)
    mark = BYTE_ORDER_MARKS.get(layout.encoding, b"")
    mark = mark if mark and head.startswith(mark) else b""
    text = head[len(mark) :].decode(layout.encoding, errors="ignore")
    line, _, rest = text.lstrip("\r\n").partition("\n")
    line_end = "\r\n" if line.endswith("\r") else "\n"
    if not rest and "\r" in line:
        line, line_end = line.split("\r")[0], "\r"
    bare = line.rstrip("\r")
    cells = bare.split(layout.delimiter)
    names = next(csv.reader([bare], delimiter=layout.delimiter), [])
    has_header = layout.start > len(mark)
    return CsvStyle(
        layout.delimiter,
        layout.encoding,
        mark,
        line_end,
        len(cells) == len(names) and all(c.startswith('"') and c.endswith('"') for c in cells),
        has_header,
    )


def write_csv(
    file: BinaryIO,
    names: Sequence[str],
    batches: Iterator[pa.RecordBatch],
    style: CsvStyle,
    *,
    packed: bool,
) -> None:
    """Write batches as a text file; packed ones carry no time and no name."""
    quoting = csv.QUOTE_ALL if style.all_quoted else csv.QUOTE_MINIMAL
    tables: Iterator[Iterable[Sequence[str]]] = (
        zip(*(_texts(column) for column in batch.columns), strict=True) for batch in batches
    )
    inner = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if packed else None
    unfit = False
    with inner or nullcontext(file) as out:
        out.write(style.mark)
        for rows in chain([[names]] if style.has_header else [], tables):
            lines = io.StringIO(newline="")
            csv.writer(
                lines, delimiter=style.delimiter, lineterminator=style.line_end, quoting=quoting
            ).writerows(rows)
            try:
                out.write(lines.getvalue().encode(style.encoding))
            except UnicodeEncodeError:
                unfit = True
                break
    if unfit:
        raise InputError(
            Reason.WRONG_ENCODING,
            f"A release was to be written in the encoding {quoted([style.encoding])} of the original.",
            "Some new category has letters that this encoding does not have.",
            "Name categories without such letters, or write Parquet (.parquet).",
        )


def _texts(cells: pa.Array) -> list[str]:
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if is_text(cells.type):
        return [text or "" for text in cells.to_pylist()]
    return [text or "" for text in value_texts(cells)]
