"""Data files: what is in them, how they are read, and their columns in batches."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamekeeper.data.reading.columns import Column, like, matched_names, unreadable
from gamekeeper.data.reading.csv_file import PACKED, CsvFile, fingerprint_of, inner_suffix
from gamekeeper.data.reading.frames import Frame, is_path, read_workbook
from gamekeeper.data.reading.typed_files import (
    PARQUET_SUFFIXES,
    STATISTICAL_SUFFIXES,
    ParquetFile,
    StatisticalFile,
    parts_of,
)
from gamekeeper.errors import InputError, Problem, Reason, refuse
from gamekeeper.files import require_ordinary
from gamekeeper.wording import count_of, did_you_mean, quoted

if TYPE_CHECKING:
    import pyarrow as pa

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
