"""Files of SPSS, Stata and SAS, with value labels and user-missing codes.

Read by pyreadstat in chunks, in a process of its own (`apart`). The codes that the file declares as
missing (of SPSS), and the extended missing values .a to .z (of Stata and SAS), are read as missing
unless they are to be kept; then they are values like others, with their labels. Value labels of SAS are in a catalog: a
file with the same name and the ending .sas7bcat is read with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gamekeeper.data.reading.apart import apart, limits_for, plain_of, send_plain
from gamekeeper.data.reading.column import Column, ColumnKind, unreadable
from gamekeeper.data.reading.packed import fingerprint_of
from gamekeeper.data.reading.values import value_text
from gamekeeper.errors import InputError, Reason
from gamekeeper.files.reading import require_ordinary
from gamekeeper.wording import quoted

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = {
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
        self.kind, self._reader = SUFFIXES[path.suffix.lower()]
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
            send_description,
            str(path),
            encoding,
            **self._apart,
            libraries=("pyreadstat",),
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
        import pyarrow as pa

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
    reader = SUFFIXES[path.suffix.lower()][1]
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
    import pyarrow as pa

    path = Path(name)
    kept: dict[str, Any] = {"user_missing": True} if keep else {}
    offset, n_read = 0, chunk
    while n_read == chunk:
        cells, _ = _read(
            path,
            SUFFIXES[path.suffix.lower()][1],
            encoding,
            row_offset=offset,
            row_limit=chunk,
            usecols=list(columns),
            **kept,
        )
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
        f"It is not a file of {_NAMES[SUFFIXES[path.suffix.lower()][0]]} that can be read, or it is"
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
    import pyarrow as pa

    if any(isinstance(cell, str) for cell in cells) and any(
        isinstance(cell, int | float) for cell in cells
    ):
        # Numbers beside the letters of kept missing values.
        return pa.array([value_text(cell) for cell in cells], pa.string())
    return pa.array(cells)
