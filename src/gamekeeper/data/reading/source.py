"""Data files: what is in them, how each kind is read, and their columns in batches.

Parquet is read in batches, or described so that an engine scans it in place. A folder of Parquet
files, such as others write in parts, is read as one file: its files in the order of their names, all
with the same columns.

Files of SPSS, Stata and SAS are read by pyreadstat in chunks, in a process of its own (`apart`). The
codes that the file declares as missing (of SPSS), and the extended missing values .a to .z (of Stata
and SAS), are read as missing unless they are to be kept; then they are values like others, with their
labels. Value labels of SAS are in a catalog: a file with the same name and the ending .sas7bcat is
read with it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from gamekeeper.arrow import pa, parquet
from gamekeeper.data.reading.apart import apart, limits_for, plain_of, send_plain
from gamekeeper.data.reading.columns import (
    Column,
    ColumnKind,
    is_text,
    kind_of,
    like,
    matched_names,
    unreadable,
    value_text,
)
from gamekeeper.data.reading.csv_file import PACKED, CsvFile, fingerprint_of, inner_suffix
from gamekeeper.data.reading.frames import Frame, is_path, read_workbook
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files import require_ordinary
from gamekeeper.wording import count_of, did_you_mean, quoted

_BATCH = 1 << 17
# The length of the footer, in four bytes, and the letters that a Parquet file ends in.
_TAIL = 8

PARQUET_SUFFIXES = (".parquet", ".pq")


class ParquetFile:
    """A Parquet file of flat columns, or a folder of such files.

    - `files`: the files in the order of their records: the one, or those of the folder by name.
    """

    kind = "parquet"
    decimal = "."
    detected: tuple[str, ...] = ()
    settings: ClassVar[Mapping[str, str]] = {}

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = parts_of(path) if path.is_dir() else (path,)
        error: InputError | None = None
        schemas: list[pa.Schema] = []
        n_records = 0
        try:
            for part in self.files:
                with parquet.ParquetFile(part) as file:
                    schemas.append(file.schema_arrow)
                    n_records += file.metadata.num_rows
        except _faults():
            error = self._broken()
        if error is not None:
            raise error
        self.schema: pa.Schema = schemas[0]
        self.n_records: int | None = n_records
        self._require_same(schemas)
        self.columns = tuple(Column(field.name, kind=kind_of(field.type)) for field in self.schema)

    @property
    def fingerprint(self) -> str:
        """The first digits of the hash of all bytes of the file."""
        digests: list[bytes] = []
        for part in self.files:
            with part.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").digest())
        whole = digests[0] if self.path.is_file() else hashlib.sha256(b"".join(digests)).digest()
        return whole.hex()[:16]

    @property
    def n_bytes(self) -> int:
        """The bytes of all its files."""
        return sum(part.stat().st_size for part in self.files)

    @property
    def fingerprint_of_footers(self) -> str:
        """The first digits of a hash of what its files say of themselves, and of their sizes.

        A footer has the rows, the bytes and, as a rule, the least and the largest value of every
        column chunk. Two files that differ in cells alone and agree in all of that have the same.
        """
        digest = hashlib.sha256()
        for part in self.files:
            with part.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(size - _TAIL)
                (length,) = struct.unpack("<I", file.read(4))
                file.seek(max(0, size - _TAIL - length))
                digest.update(size.to_bytes(8) + file.read(length))
        return digest.hexdigest()[:16]

    def place(self, column: str) -> int:
        """Return the place of a column in the file, from 0."""
        return self.schema.names.index(column)

    def in_place(self, column: str) -> bool:
        """Whether an engine can code the column without a copy: whole numbers and texts.

        Not where a path with wildcards would be read as a pattern of several files, and not where
        a column has the name that DuckDB gives to the numbers of records.
        """
        if any(wildcard in str(part) for part in self.files for wildcard in "*?["):
            return False
        if "file_row_number" in map(str.lower, self.schema.names):
            return False
        kind = self.schema.field(column).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        return is_text(kind) or (pa.types.is_integer(kind) and kind != pa.uint64())

    def is_number(self, column: str) -> bool:
        """Whether the column holds numbers, none of them wrapped in a dictionary."""
        kind = self.schema.field(column).type
        return kind_of(kind) is ColumnKind.NUMBER and not pa.types.is_dictionary(kind)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns in their own types."""
        error: InputError | None = None
        try:
            for part in self.files:
                with parquet.ParquetFile(part) as file:
                    for batch in file.iter_batches(_BATCH, columns=list(columns)):
                        yield batch.select(list(columns))
        except _faults():
            error = self._broken()
        if error is not None:
            raise error

    def _require_same(self, schemas: Sequence[pa.Schema]) -> None:
        first = [(field.name, field.type) for field in schemas[0]]
        problems = [
            Problem(
                Reason.WRONG_SCHEMA,
                f"file {quoted([part.name])}",
                "it has other columns, or columns of other types, than the first file.",
            )
            for part, schema in zip(self.files, schemas, strict=True)
            if [(field.name, field.type) for field in schema] != first
        ]
        if problems:
            raise InputError(
                Reason.WRONG_SCHEMA,
                f"The folder of Parquet files {quoted([self.path.name])} was to be read as one file.",
                f"{count_of(len(problems), 'file')} of {len(self.files)} cannot be a part of it.",
                "Put files of another kind elsewhere, or write them anew with the same columns.",
                problems=problems,
            )

    def _broken(self) -> InputError:
        return unreadable(
            self.path,
            "It is not a Parquet file, or it is damaged.",
            "Check the file; its kind is told from the end of its name.",
        )


def parts_of(folder: Path) -> tuple[Path, ...]:
    """Return the Parquet files of a folder by name; none where it is not such a folder.

    What begins with a dot or an underscore says that work is done and the like, and is left out.
    """
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith((".", "_"))]
    if any(entry.is_dir() for entry in entries):
        # Names of folders within may be values of a column, which no file has.
        return ()
    parts = [entry for entry in entries if entry.suffix.lower() in PARQUET_SUFFIXES]
    return tuple(sorted(parts, key=lambda part: part.name)) if parts else ()


def _faults() -> tuple[type[Exception], ...]:
    # Names of columns may be no text any more.
    return (pa.ArrowException, OSError, UnicodeDecodeError)


STATISTICAL_SUFFIXES = {
    ".sav": ("spss", "read_sav"),
    ".zsav": ("spss", "read_sav"),
    ".por": ("spss", "read_por"),
    ".dta": ("stata", "read_dta"),
    ".sas7bdat": ("sas", "read_sas7bdat"),
    ".xpt": ("sas", "read_xport"),
}
# Cells in memory at a time, as Python objects: some 200 megabytes, and no more than a budget allows.
# The reader cannot go on where it stopped but skips what it had, so that many small chunks would
# cost more than few large ones.
_CELLS = 1 << 22
_BYTES_A_CELL = 200
# What libraries take whatever they read.
_BYTES_BESIDES = 50_000_000
# So long a text takes as much again as a cell does.
_LONG_TEXT = 64
# Formats that show whole numbers with leading zeros: N of SPSS, Z of SAS, %0 of Stata.
_ZEROS = re.compile(r"(?:N|Z|%0)(\d{1,2})(?:\.0?)?(?:\.0)?[fg]?c?", re.IGNORECASE)
_SPSS_TEXT = re.compile(r"A\d+")
_DATES = re.compile(r"DATE|TIME|YY|MONTH|WKDAY|%-?t|%-?d", re.IGNORECASE)


class StatisticalFile:
    """A file of a statistical package."""

    decimal = "."
    detected: tuple[str, ...] = ()

    def __init__(
        self, path: Path, *, encoding: str | None = None, keep_user_missing: bool = False
    ) -> None:
        self.path = path
        self.kind, self._reader = STATISTICAL_SUFFIXES[path.suffix.lower()]
        self.encoding = encoding
        """The one that was given; None where the file tells its own."""
        # The readers of portable SPSS and SAS transport files have no such option.
        self._keep = keep_user_missing and self._reader not in ("read_por", "read_xport")
        self._apart: dict[str, Any] = {
            "path": path,
            "asked": f"Data file {quoted([path.name])} was to be read.",
            "do": "Check the file, read fewer columns of it, or allow more memory (--memory).",
        }
        told = plain_of(
            send_description, str(path), encoding, **self._apart, libraries=("pyreadstat",)
        )
        self.n_records: int | None = told["n_records"]
        self.settings: Mapping[str, str] = {
            "encoding": encoding or told["encoding"],
            "user_missing": "kept" if self._keep else "missing",
            **({"catalog": told["catalog"]} if told["catalog"] else {}),
        }
        self.columns = tuple(
            replace(Column(**column), kind=ColumnKind(column["kind"]), order=())
            for column in told["columns"]
        )
        self._sizes: Mapping[str, int] = told["sizes"]

    @property
    def fingerprint(self) -> str:
        """The first digits of the hash of all bytes of the file."""
        return fingerprint_of(self.path)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns: numbers as numbers, texts as texts."""
        room = (limits_for(self.path)[0] - _BYTES_BESIDES) // _BYTES_A_CELL
        cells = min(_CELLS, room)
        with apart(
            write_batches,
            str(self.path),
            list(columns),
            max(1, cells // sum(self._sizes[name] for name in columns)),
            self._keep,
            self.encoding,
            **self._apart,
            libraries=("pyarrow", "pyreadstat"),
        ) as told:
            # A chunk is a stream of its own: a column that is missing in all of it has no type.
            while told.peek(1):
                for batch in pa.ipc.open_stream(told):
                    batch.validate(full=True)
                    yield batch


def send_description(out: BinaryIO, name: str, encoding: str | None) -> None:
    """Write what a file says of itself and of its columns, as plain values."""
    path = Path(name)
    reader = STATISTICAL_SUFFIXES[path.suffix.lower()][1]
    catalog = path.with_suffix(".sas7bcat")
    has_catalog = reader == "read_sas7bdat" and catalog.is_file()
    _, meta = _read(path, reader, encoding, metadataonly=True)
    if not all(meta.column_names):
        raise _wrong_encoding(path)
    labels: Mapping[str, Mapping[Any, str]] = meta.variable_value_labels
    if has_catalog:
        _, formats = _read(path, "read_sas7bcat", encoding, file=catalog)
        named = meta.variable_to_label.items()
        labels = {name: formats.value_labels.get(label, {}) for name, label in named}
    widths: Mapping[str, int] = meta.variable_storage_width or {}
    send_plain(
        out,
        {
            "n_records": meta.number_rows,
            "encoding": str(meta.file_encoding or ""),
            "catalog": catalog.name if has_catalog else "",
            "columns": [
                asdict(_column(meta, name, labels.get(name, {}))) for name in meta.column_names
            ],
            "sizes": {name: 1 + widths.get(name, 0) // _LONG_TEXT for name in meta.column_names},
        },
    )


def write_batches(
    out: BinaryIO, name: str, columns: Sequence[str], chunk: int, keep: bool, encoding: str | None
) -> None:
    """Write columns of a file, an Arrow stream per chunk of records."""
    path = Path(name)
    kept: dict[str, Any] = {"user_missing": True} if keep else {}
    offset, n_read = 0, chunk
    while n_read == chunk:
        cells, _ = _read(
            path, STATISTICAL_SUFFIXES[path.suffix.lower()][1], encoding, row_offset=offset,
            row_limit=chunk, usecols=list(columns), **kept,
        )  # fmt: skip
        n_read = len(cells[columns[0]])
        offset += n_read
        if n_read:
            arrays = [_array(cells[name]) for name in columns]
            batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
            with pa.ipc.new_stream(out, batch.schema) as stream:
                stream.write_batch(batch)


def _read(
    path: Path, reader: str, encoding: str | None, *, file: Path | None = None, **options: Any
) -> tuple[Mapping[str, list[Any]], Any]:
    """Read a file, or one that belongs to it; the reader's own faults are let go."""
    import pyreadstat

    if encoding:
        options["encoding"] = encoding
    read: Callable[..., tuple[Mapping[str, list[Any]], Any]] = getattr(pyreadstat, reader)
    reason = None
    try:
        require_ordinary(file or path)
        return read(str(file or path), output_format="dict", **options)
    except MemoryError:
        raise
    except (UnicodeDecodeError, LookupError):
        reason = Reason.WRONG_ENCODING
    except Exception as fault:  # noqa: BLE001 - the reader's faults have no common type
        texts = any(word in str(fault) for word in ("encoding", "character set"))
        reason = Reason.WRONG_ENCODING if texts else Reason.MALFORMED
    if reason is Reason.WRONG_ENCODING:
        raise _wrong_encoding(path)
    raise unreadable(
        path,
        f"It is not a file of {_NAMES[STATISTICAL_SUFFIXES[path.suffix.lower()][0]]} that can be read, or it is"
        " damaged.",
        "Check the file; its kind is told from the end of its name.",
    )


def _wrong_encoding(path: Path) -> InputError:
    return unreadable(
        path,
        "Its texts cannot be decoded.",
        "Give its encoding (--encoding), such as 'cp1252'.",
        Reason.WRONG_ENCODING,
    )


_NAMES = {"spss": "SPSS", "stata": "Stata", "sas": "SAS"}


def _column(meta: Any, name: str, value_labels: Mapping[Any, str]) -> Column:
    written = str(meta.original_variable_types.get(name, "") or "")
    is_text = meta.readstat_variable_types.get(name) == "string" or _SPSS_TEXT.fullmatch(written)
    zeros = None if is_text else _ZEROS.fullmatch(written)
    digits = int(zeros[1]) if zeros else 0
    labels = {
        text: str(label).strip()
        for value, label in value_labels.items()
        if (text := value_text(value, digits)) is not None and str(label).strip()
    }
    kind = ColumnKind.NUMBER
    if is_text:
        kind = ColumnKind.TEXT
    elif _DATES.search(written):
        kind = ColumnKind.DATE
    label = (meta.column_names_to_labels.get(name) or "").strip()
    return Column(name, label, kind, labels, digits)


def _array(cells: list[Any]) -> pa.Array:
    if any(isinstance(cell, str) for cell in cells) and any(
        isinstance(cell, int | float) for cell in cells
    ):
        # Numbers beside the letters of kept missing values.
        return pa.array([value_text(cell) for cell in cells], pa.string())
    return pa.array(cells)


TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".dat")
Reader = CsvFile | Frame | ParquetFile | StatisticalFile
"""What reads a kind of file, or a frame."""


class Source:
    """A data file or data frame that is ready to be read; made by `open_source`.

    - `missing`: the values that are read as missing, besides the empty cell.
    - `columns`, `names`: the columns of the file, in their order, and their names.
    - `path`, `kind`: the file, None for a data frame; csv, excel, parquet, spss, stata, sas or frame.
    - `settings`, `detected`: how the file is read: for a text file its delimiter, encoding and
      decimal mark. Which of these were detected rather than given.
    - `decimal`: the decimal mark of numbers that are written as text.
    - `n_records`: the number of records, where the file tells it without being read.
    """

    def __init__(self, reader: Reader, missing: frozenset[str] = frozenset()) -> None:
        self.reader = reader
        self.missing = missing
        self.columns = reader.columns
        self.names = tuple(column.name for column in reader.columns)
        self.path = reader.path
        self.kind = reader.kind
        self.settings = reader.settings
        self.detected = reader.detected
        self.decimal = reader.decimal
        self.n_records = reader.n_records

    @property
    def name(self) -> str:
        """The name of the file, without its folders; "data frame" for a frame."""
        return "data frame" if self.path is None else self.path.name

    @property
    def words(self) -> str:
        """What it is, as part of a sentence."""
        return "a data frame" if self.path is None else f"data file {quoted([self.path.name])}"

    def about_records(self) -> int | None:
        """Return the number of records, or for a text file about how many there may be."""
        if isinstance(self.reader, CsvFile):
            return self.reader.about_records()
        return self.n_records

    @cached_property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 hash of the file; empty for a frame."""
        return self.reader.fingerprint

    def column(self, name: str) -> Column:
        """Return the column with a name, whatever its case."""
        (exact,) = self.matched([name])
        return self.columns[self.names.index(exact)]

    def matched(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return names as the file has them; they may be written in any case.

        Where two columns differ only by case, the exact name is needed.
        """
        found = matched_names(names, self.names)
        self.check_names(found)
        return found

    def check_names(self, names: Sequence[str]) -> None:
        """Raise one error for all names that are not columns of the file, or twice in the list."""
        aside = self.reader.index_names if isinstance(self.reader, Frame) else ()
        is_frame = isinstance(self.reader, Frame)
        check_columns(names, self.names, f"of {self.words}", aside=aside, has_names=is_frame)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the wanted columns, as the file has them, some thousand records at a time."""
        self.check_names(columns)
        return self.reader.batches(columns)

    def __repr__(self) -> str:
        columns = count_of(len(self.columns), "column")
        return f"Source({quoted([self.name])}, {self.kind}, {columns})"


def open_source(
    path: str | os.PathLike[str] | Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] = (),
    keep_user_missing: bool = False,
    header: bool = True,
    sheet: str | None = None,
) -> Source:
    r"""Open a data file: text (CSV), Parquet, SPSS, Stata or SAS, told by the end of its name.

    A data frame of pandas, Polars, Arrow or DuckDB is opened as well. Its categories keep their
    order where they have one. Nothing is in memory yet.

    Parameters
    ----------
    path
        The file, or a frame.
    delimiter, encoding, decimal
        How a text file is written; detected when not given. The encoding also serves files of
        SPSS, Stata and SAS that do not tell theirs.
    missing
        Values that are read as missing, as they are written in the file, such as "-9" or "NA".
        The empty cell always is.
    keep_user_missing
        Whether the codes that an SPSS, Stata or SAS file declares as missing stay values.
    header
        Whether a text file or workbook begins with the names of its columns; else they are called
        "column 1", "column 2" and so on.
    sheet
        The sheet of a workbook, where several have cells.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("region;income\n007;1,5\n")
    ...     source = open_source(path)
    >>> source.names, dict(source.settings)
    (('region', 'income'), {'delimiter': ';', 'encoding': 'utf-8', 'decimal': ','})
    """
    unwanted = missing_texts(missing)
    if not is_path(path):
        return Source(Frame(path), unwanted)
    file = Path(path)
    _check_file(file)
    suffix = ".parquet" if file.is_dir() else file.suffix.lower()
    if suffix in PACKED:
        suffix = inner_suffix(file)
        if suffix not in TEXT_SUFFIXES:
            raise unreadable(
                file, "What is packed is no text file.", "Unpack it, and name the file."
            )
    known = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES, *STATISTICAL_SUFFIXES, ".xlsx", *PACKED)
    if suffix == ".xlsx":
        return _of_workbook(file, unwanted, sheet=sheet, header=header)
    if suffix in TEXT_SUFFIXES:
        reader: Reader = CsvFile(
            file, delimiter=delimiter, encoding=encoding, decimal=decimal, has_header=header
        )
    elif suffix in PARQUET_SUFFIXES:
        reader = ParquetFile(file)
    elif suffix in STATISTICAL_SUFFIXES:
        reader = StatisticalFile(file, encoding=encoding, keep_user_missing=keep_user_missing)
    else:
        raise unreadable(
            file,
            "Its kind cannot be told from the end of its name.",
            f"Known ends: {', '.join(known)}.",
            Reason.NOT_READABLE,
        )
    names = [column.name for column in reader.columns]
    if len(set(names)) < len(names):
        taken = count_of(len(names) - len(set(names)), "column has", "columns have")
        found = f"{taken} a name that is taken."
        raise unreadable(file, found, "Give every column its own name.", Reason.DUPLICATE)
    return Source(reader, unwanted)


def _of_workbook(file: Path, missing: frozenset[str], *, sheet: str | None, header: bool) -> Source:
    reader = Frame(read_workbook(file, sheet=sheet, header=header))
    reader.path, reader.kind, reader.fingerprint = file, "excel", fingerprint_of(file)
    return Source(reader, missing)


def missing_texts(missing: Sequence[str]) -> frozenset[str]:
    """Return the values that are read as missing, or raise when they are no list of texts."""
    if isinstance(missing, str) or not all(isinstance(value, str) for value in missing):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            Reason.BAD_OPTION,
            "Values were to be read as missing.",
            "They are not given as a list of texts.",
            'Give a list of texts, such as ["-9", "NA"].',
        )
    return frozenset(value.strip() for value in missing)


def check_columns(
    names: Sequence[str],
    known: Sequence[str],
    where: str,
    *,
    aside: Sequence[str] = (),
    has_names: bool = False,
) -> None:
    """Raise one error for all names that are not known, or twice in the list.

    `aside` names what is there, but is no column: the index of a frame. `has_names` says that the
    names of columns are names for certain.
    """
    there = set(known)
    # Where no name is right, the first line of the file may be a record and not a header.
    has_header = has_names or any(name in there for name in names)
    problems = [
        _unknown(name, known, aside, lists=has_header)
        for name in dict.fromkeys(names)
        if name not in there
    ]
    problems += [
        Problem(Reason.DUPLICATE, f"column {quoted([name])}", "It is asked for more than once.")
        for name, n in Counter(names).items()
        if n > 1
    ]
    refuse(
        problems,
        f"{count_of(len(names), 'column')} {where} {'was' if len(names) == 1 else 'were'}"
        " asked for.",
        f"{count_of(len(problems), 'name')} cannot be used.",
        "Check the names."
        if has_header
        else "None of them is there: has the file a line of names at its top? Check the names.",
    )


def _unknown(name: str, known: Sequence[str], aside: Sequence[str], *, lists: bool) -> Problem:
    where, found = f"column {quoted([name])}", "It is not in the data."
    if name in aside:
        do = "It is the index: make a column of it, frame.reset_index()."
        return Problem(Reason.UNKNOWN_NAME, where, found, do)
    several = like(name, known)
    if several:
        found = f"It could be any of {quoted(several)}."
        return Problem(Reason.UNKNOWN_NAME, where, found, "Write it exactly.")
    return Problem(Reason.UNKNOWN_NAME, where, found, did_you_mean(name, known, lists=lists))


def _check_file(file: Path) -> None:
    reason, found, do = None, "", "Check the path."
    try:
        if not file.exists():
            reason, found = Reason.NOT_FOUND, "There is no such file."
        elif file.is_dir():
            if parts_of(file):
                return
            reason = Reason.NOT_READABLE
            found = "It is a folder, and not one of Parquet files alone."
            do = "Name a file, or a folder with Parquet files in it and no folders."
        else:
            require_ordinary(file)
            with file.open("rb"):
                pass
    except OSError as error:
        reason, found = Reason.NOT_READABLE, f"It cannot be opened: {error.strerror}."
        if error.errno == errno.EINVAL:
            do = "It is read more than once: write it to a file first, and name that."
    if reason is not None:
        raise InputError(
            reason, f"Data file {quoted([str(file)], letters=200)} was to be read.", found, do
        )
