"""A release written as the original is, or in another format: through the one gate for files.

It has the columns of the original in their order, without those that are left out, and its records
without those that a sample left out, in their order or in another one that is given: who stands beside
whom tells of households, streets and dates. It is a file of its own: the original is never replaced. It
carries no time of writing, so that the same input and the same changes are the same bytes.

A text file keeps delimiter, encoding, byte order mark and line ends; where every cell of the first line
of the original is in quotes, all cells are, else those that need them. Parquet keeps types, compression
and what the schema says besides.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gamekeeper.arrow import pa, parquet
from gamekeeper.data.reading.columns import is_text, value_texts
from gamekeeper.data.reading.csv_file import BYTE_ORDER_MARKS, CsvFile, fingerprint_of, open_bytes
from gamekeeper.data.reading.source import (
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    ParquetFile,
    Source,
    check_columns,
)
from gamekeeper.data.writing import released_cells
from gamekeeper.data.writing.statistical_writer import write_statistical
from gamekeeper.errors import InputError, Reason
from gamekeeper.files import write_file
from gamekeeper.wording import quoted

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
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if is_text(cells.type):
        return [text or "" for text in cells.to_pylist()]
    return [text or "" for text in value_texts(cells)]


# What pandas writes of types: it would be wrong of columns that have another one now.
_OF_PANDAS = b"pandas"


def write_parquet(
    file: BinaryIO,
    source: Source,
    names: Sequence[str],
    replacers: Mapping[str, released_cells.CellReplacer],
    batches: Iterator[pa.RecordBatch],
) -> None:
    """Write batches as a Parquet file; it carries no time, so that the same cells are the same bytes."""
    compression = "zstd"
    metadata: dict[bytes, bytes] = {}
    fields: dict[str, pa.Field] = {}
    if isinstance(source.reader, ParquetFile):
        fields = {item.name: item for item in source.reader.schema}
        metadata = dict(source.reader.schema.metadata or {})
        compression = _compression(source.reader)
    if replacers or len(names) < len(fields):
        metadata.pop(_OF_PANDAS, None)
    first = next(batches, None)
    kinds = {name: replacer.kind for name, replacer in replacers.items()}
    if first is not None:
        kinds = {name: first.schema.field(name).type for name in names} | kinds
    made = [
        pa.field(
            name,
            kinds.get(name, fields[name].type if name in fields else pa.string()),
            # A suppressed cell may be empty where none was before.
            nullable=name in replacers or name not in fields or fields[name].nullable,
            metadata=fields[name].metadata if name in fields else None,
        )
        for name in names
    ]
    schema = pa.schema(made, metadata or None)
    with parquet.ParquetWriter(file, schema, compression=compression) as writer:
        batch = first
        while batch is not None:
            writer.write_batch(batch.cast(schema))
            batch = next(batches, None)


def _compression(reader: ParquetFile) -> str:
    with parquet.ParquetFile(reader.files[0]) as file:
        if not file.metadata.num_row_groups or not file.metadata.num_columns:
            return "zstd"
        used = str(file.metadata.row_group(0).column(0).compression).lower()
    return "none" if used == "uncompressed" else used


STATISTICAL = (".sav", ".zsav", ".dta")
_DIGITS = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class WrittenRelease:
    """Where a release is, and the hash of its bytes (SHA-256)."""

    path: Path
    sha256: str
    n_records: int


def write_release(
    source: Source,
    path: str | Path,
    columns: Sequence[released_cells.ReleasedColumn],
    *,
    records: NDArray[np.int64] | None = None,
    order: NDArray[np.int64] | None = None,
    n_released: int,
    leave_out: Collection[str] = (),
    suppressed: released_cells.SuppressedCells = released_cells.SuppressedCells(),  # noqa: B008 - it is frozen
    replace: bool = False,
) -> WrittenRelease:
    r"""Write a release of a file.

    Parameters
    ----------
    source
        The original. It is read again, and refused if it changed since.
    path
        Where to; its ending says the format: text, Parquet, SPSS or Stata.
    columns
        The columns with changed cells; all others are released as they are.
    records
        The places of the records to release, from 0 and in their order; all when None.
    order
        Which of these is written first, second and so on; in their order when None.
    n_released
        How many records were protected.
    leave_out
        Columns that are not released, such as names and addresses.
    suppressed
        How suppressed cells look.
    replace
        Whether a file that is there already may be replaced; never the original.

    Raises
    ------
    InputError
        If the format cannot be written, a code for suppressed cells is a value of the file, or the
        file changed. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from gamekeeper.data.reading.source import open_source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("name;age\nAda;036\nBo;51\n")
    ...     stars = np.array([True, False])
    ...     age = released_cells.ReleasedColumn(
    ...         "age", stars, stars, np.array([0, 2]), ("", "036", "51")
    ...     )
    ...     source = open_source(file)
    ...     made = write_release(
    ...         source, Path(folder, "release.csv"), [age], n_released=2, leave_out=["name"]
    ...     )
    ...     made.path.read_text()
    'age\n""\n51\n'
    """
    path = Path(path)
    asked = f"A release of {source.words} was to be written to {quoted([path.name])}."
    ending, packed = _ending(path)
    _require_writable(asked, ending, packed=packed)
    check_columns(list(leave_out), source.names, f"of {source.words}")
    check_columns([column.name for column in columns], source.names, f"of {source.words}")
    if source.path is not None and path.exists() and path.samefile(source.path):
        raise InputError(
            Reason.NOT_WRITABLE, asked, "That is the original itself.", "Name another file."
        )
    names = [name for name in source.names if name not in set(leave_out)]
    if not names:
        raise InputError(
            Reason.NOTHING_GIVEN, asked, "Every column is left out.", "Leave some column in."
        )
    shown = [column for column in columns if column.name in set(names)]
    _require_unchanged(asked, source)
    content = _content(
        asked, source, ending, shown, names, records, order, n_released, suppressed, packed=packed
    )
    digest = hashlib.sha256()

    def write(file: Any) -> None:
        content(file)
        file.flush()
        file.seek(0)
        while block := file.read(1 << 20):
            digest.update(block)

    write_file(
        path, write, private=True, replace=replace, asked="The release {} was to be written."
    )
    return WrittenRelease(path, digest.hexdigest(), n_released)


def _ending(path: Path) -> tuple[str, bool]:
    if path.suffix.lower() == ".gz":
        return Path(path.stem).suffix.lower(), True
    return path.suffix.lower(), False


def _require_writable(asked: str, ending: str, *, packed: bool) -> None:
    known = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES, *STATISTICAL)
    if ending not in known or (packed and ending not in TEXT_SUFFIXES):
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            "Its format cannot be told from the end of its name, or is not written.",
            f"Let the name end in {', '.join((*STATISTICAL, '.csv', '.csv.gz'))} or .parquet.",
        )


def _require_unchanged(asked: str, source: Source) -> None:
    if not _DIGITS.fullmatch(source.fingerprint):
        return
    reader = source.reader
    now = fingerprint_of(reader.path) if isinstance(reader, CsvFile) else reader.fingerprint
    if now != source.fingerprint:
        raise InputError(
            Reason.STALE,
            asked,
            "The file changed since it was read.",
            "Protect it again, and write that.",
        )


def _content(
    asked: str,
    source: Source,
    ending: str,
    columns: Sequence[released_cells.ReleasedColumn],
    names: Sequence[str],
    records: NDArray[np.int64] | None,
    order: NDArray[np.int64] | None,
    n_released: int,
    stars: released_cells.SuppressedCells,
    *,
    packed: bool,
) -> Any:
    if ending in STATISTICAL:
        return write_statistical(source, ending, columns, names, records, order, stars)
    if stars.look == released_cells.CellLook.USER_MISSING and any(
        c.suppressed.any() for c in columns
    ):
        raise InputError(
            Reason.BAD_OPTION,
            asked,
            "Suppressed cells were to be user-missing, which this format does not have.",
            "Leave them empty, or give them a code.",
        )
    kinds = _kinds(source, names)
    replacers = {
        column.name: released_cells.CellReplacer(
            column, kinds[column.name], source.decimal, stars, source.missing
        )
        for column in columns
    }

    def write(file: Any) -> None:
        batches = released_cells.released_batches(
            source, names, replacers, records, order, n_released
        )
        if ending in PARQUET_SUFFIXES:
            write_parquet(file, source, names, replacers, batches)
            return
        style = style_of(source.reader) if isinstance(source.reader, CsvFile) else CsvStyle()
        write_csv(file, names, batches, style, packed=packed)

    return write


def _kinds(source: Source, names: Sequence[str]) -> dict[str, Any]:
    first = next(iter(source.batches(names)), None)
    return {name: pa.string() if first is None else first.schema.field(name).type for name in names}
